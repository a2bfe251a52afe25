"""Full-text search over the library, with one index for all machines in PostgreSQL, updated before each search."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from assay.core.errors import ConfigError, SearchAway, SearchError
from assay.core.lexicon import STEMMERS, UNSTEMMED, analysis_of
from assay.core.ports import Hit, Library, Query
from assay.search.local.words import TitleMatcher, Words
from assay.search.postgres import tables
from assay.search.postgres.postgres_ranks import IndexQuery, read_extent
from assay.search.postgres.tables import DocumentLot, delete_documents
from assay.search.shared_index import (
    PASSAGES_PER_HIT,
    OneSpans,
    ProgressLog,
    SearchWaits,
    ServerIndex,
    ignore_progress,
    spans_one_by_one,
    spans_or_title_only,
)

try:
    import psycopg
except ImportError as missing:
    raise ConfigError(f"an index in Postgres needs the extra: pip install 'assay[workers]' ({missing})") from missing

log = logging.getLogger(__name__)

LOT_DOCUMENTS, LOT_PASSAGES, LOT_SECONDS = 200, 20_000, 5.0
"""The most documents or passages of a lot, or its longest time: the most a killed process loses.

A single document may exceed it. A lot is read before the lock is taken: others only wait for its writing.
"""
TURN_SECONDS, PAUSE_SECONDS = 10.0, 0.1
"""Seconds the index may stand still before other processes read for it out of turn; and between their checks."""
QUERY_SECONDS = 60
"""Seconds one statement of a query may take."""
FAULTS = (SQLAlchemyError, psycopg.Error)
CONNECTION_ERRORS = (OperationalError, psycopg.OperationalError)
"""Temporary errors of the connection or the server."""

_ANALYSES = """SELECT known FROM unnest(%(known)s::text[]) AS known
    WHERE EXISTS (SELECT 1 FROM {0}_documents WHERE analysis = known)"""


class PostgresSearch(ServerIndex):
    """Full-text search with one index for all machines. Implements `core.ports.LibrarySearch`.

    The index is beside the library and derived from it. Each search updates it first: several machines take turns, with
    a lot of documents each. `segmenter` names how documents were cut into passages: each version has its own tables.
    """

    def __init__(
        self, engine: Engine, library: Library, spans: OneSpans, segmenter: str, turns: Engine | None = None
    ) -> None:
        """`turns` connects to the server directly if `engine` uses a pooler: turns belong to a session."""
        super().__init__(library)
        self._engine, self._spans = engine, spans
        self._turns = turns or engine
        self._prefix = tables.prefix_of(segmenter)
        self._tables_exist = False

    def answer(self, query: Query, scope: set[int] | None) -> list[Hit]:
        """See `ServerIndex`."""
        self.sync(SearchWaits())
        with _explain_errors(), self._engine.begin() as connection:
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{QUERY_SECONDS}s'")
            return self._find_hits(connection, query, scope)

    def sync(self, progress: ProgressLog | None = None) -> None:
        say, added = progress or ignore_progress, 0
        with _explain_errors():
            self._create_tables()
            while (count := self._index_some()) is not None:
                added += count
                if not count:
                    continue  # another process was faster
                say(f"indexed {added:,} document{'s' if added != 1 else ''}")

    def forget(self, rows: Sequence[int]) -> None:
        if not rows:
            return
        with _explain_errors():
            self._create_tables()
            with self._engine.begin() as connection:
                tables.lock_index(connection, self._prefix)
                delete_documents(connection, self._prefix, rows)

    def reindex_names(self, rows: Sequence[int]) -> None:
        with _explain_errors():
            self._create_tables()
            for first in range(0, len(rows), LOT_DOCUMENTS):
                documents = self._library.documents_at(rows[first : first + LOT_DOCUMENTS])
                with self._engine.begin() as connection:
                    tables.lock_index(connection, self._prefix)
                    tables.update_names(connection, self._prefix, documents)

    def close(self) -> None:
        self._engine.dispose()

    def _create_tables(self) -> None:
        if not self._tables_exist:
            with self._engine.begin() as connection:
                tables.create_tables(connection, self._prefix)
            self._tables_exist = True

    def _index_some(self) -> int | None:
        """Index the next documents, or wait for another process; return how many, None if the index is up to date."""
        row = self._last_row()
        if row >= self._library.last_row():
            return None
        with (
            self._turns.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
            tables.try_indexing_lock(connection, self._prefix) as mine,
        ):
            if mine and self._last_row() == row:
                return self._add_documents(row, self._read_documents(row))
        return 0 if self._is_progressing(row) else self._add_documents(row, self._read_documents(row))

    def _last_row(self) -> int:
        with self._engine.begin() as connection:
            return read_extent(connection, self._prefix).row

    def _is_progressing(self, row: int) -> bool:
        """True if the index moves on from `row` by itself, in the time others are given."""
        end = time.monotonic() + TURN_SECONDS
        while self._last_row() == row:
            if time.monotonic() > end:
                return False
            time.sleep(PAUSE_SECONDS)
        return True

    def _read_documents(self, row: int) -> DocumentLot:
        """The next documents after `row`, with their passages. Slow if bytes are remote, so no lock is held."""
        lot, end = DocumentLot(), time.monotonic() + LOT_SECONDS
        for number, document in self._library.documents_after(row, LOT_DOCUMENTS):
            lot.add(number, document, spans_or_title_only(next(spans_one_by_one(self._spans, (document,))), document))
            if lot.passages >= LOT_PASSAGES or time.monotonic() > end:
                break
        return lot

    def _add_documents(self, row: int, lot: DocumentLot) -> int | None:
        """Write the documents after `row`, if neither they nor the index changed since; return how many."""
        if not lot.rows:
            return None
        with self._engine.begin() as connection:
            tables.lock_index(connection, self._prefix)
            if read_extent(connection, self._prefix).row != row or len(self._library.documents_at(lot.rows)) != len(
                lot.rows
            ):
                return 0
            lot.write(connection, self._prefix)
        return len(lot.rows)

    def _find_hits(self, connection: Connection, query: Query, scope: set[int] | None) -> list[Hit]:
        parameters = {"known": [*STEMMERS, UNSTEMMED]}
        analyses = set(connection.exec_driver_sql(_ANALYSES.format(self._prefix), parameters).scalars())
        words = Words(query.text, {*analyses, analysis_of(query.language)})
        question = IndexQuery(connection, self._prefix, words, scope)
        matches = question.rank(query.limit, PASSAGES_PER_HIT)
        hashes = question.hashes([match.row for match in matches])
        return self.to_hits(
            TitleMatcher(query.text), matches, hashes, question.fields, partial(spans_one_by_one, self._spans)
        )


@contextmanager
def _explain_errors() -> Iterator[None]:
    """Raise the driver's errors as what they mean for a search."""
    try:
        yield
    except FAULTS as error:
        message = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        kind = SearchAway if isinstance(error, CONNECTION_ERRORS) else SearchError
        raise kind(f"local search: the index in PostgreSQL cannot be used: {message}") from error
