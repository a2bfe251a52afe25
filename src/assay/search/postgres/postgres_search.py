"""The search provider over an index in PostgreSQL: updates it from the library, and searches it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from assay.core.errors import ConfigError, SearchAway, SearchError, StoreError
from assay.core.lexicon import STEMMERS, UNSTEMMED, analysis_of
from assay.core.ports import Explanation, Hit, Library, Query
from assay.core.sources import Document, PassageSpan
from assay.search.local.intake import SearchWaits
from assay.search.local.local_search import BEST, scope_of
from assay.search.local.words import Naming, Words
from assay.search.postgres import tables
from assay.search.postgres.postgres_ranks import IndexQuery, extent
from assay.search.postgres.tables import Lot, forget

try:
    import psycopg
except ImportError as missing:
    raise ConfigError(f"an index in Postgres needs the extra: pip install 'assay[workers]' ({missing})") from missing

log = logging.getLogger(__name__)

PAGE, PASSAGES, LOT_SECONDS = 200, 20_000, 5.0
"""The most documents or passages of a lot, or its longest time: the most a killed process loses.

A single document may exceed it. A lot is read before the lock is taken: others only wait for its writing.
"""
TURN_SECONDS, PAUSE_SECONDS = 10.0, 0.1
"""Seconds the index may stand still before other processes read for it out of turn; and between their checks."""
QUERY_SECONDS = 60
"""Seconds one statement of a query may take."""
FAULTS = (SQLAlchemyError, psycopg.Error)
AWAY = (OperationalError, psycopg.OperationalError)
"""Temporary errors of the connection or the server."""

_ANALYSES = """SELECT known FROM unnest(%(known)s::text[]) AS known
    WHERE EXISTS (SELECT 1 FROM {0}_documents WHERE analysis = known)"""

Say = Callable[[str], None]


class PostgresSearch:
    """Full-text search with one index for all machines. Implements `core.ports.LibrarySearch`.

    The index is beside the library and derived from it. Each search updates it first: several machines take turns, with
    a lot of documents each. `segmenter` names how documents were cut into passages: each version has its own tables.
    """

    name = "local"

    def __init__(
        self,
        engine: Engine,
        library: Library,
        spans: Callable[[Document], Sequence[PassageSpan]],
        segmenter: str,
        turns: Engine | None = None,
    ) -> None:
        """`turns` connects to the server directly if `engine` uses a pooler: turns belong to a session."""
        self._engine, self._library, self._spans = engine, library, spans
        self._turns = turns or engine
        self._prefix = tables.prefix_of(segmenter)
        self._made = False

    async def search(self, query: Query) -> list[Hit]:
        """Return the best documents, with their best passages; for documents named in the question also the header
        fields.

        Raises:
            SearchError: the index or the library cannot be read or written.
        """
        return await asyncio.to_thread(self.find, query)

    def find(self, query: Query) -> list[Hit]:
        """`search`, blocking."""
        if query.limit < 1:
            return []
        try:
            scope = scope_of(self._library, query.collections)
            if scope is not None and not scope:
                return []  # a run over the web alone need not wait until its own pages are indexed
            self.sync(SearchWaits())
            with self._engine.begin() as connection:
                connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{QUERY_SECONDS}s'")
                return self._found(connection, query, scope)
        except StoreError as error:
            raise SearchError(f"local search: {error}") from error
        except FAULTS as error:
            raise _failed(error) from error

    async def explain(self, query: Query) -> list[Explanation]:
        """Return what `search` returns, with ranks, but without the contribution of each word."""
        return await asyncio.to_thread(self.explained, query)

    def explained(self, query: Query) -> list[Explanation]:
        """`explain`, blocking."""
        hits = enumerate(self.find(query), 1)
        return [Explanation(hit=hit, lexical=hit.score, lexical_rank=rank) for rank, hit in hits]

    def sync(self, progress: Say | None = None) -> None:
        """See the port."""
        say, added = progress or _silent, 0
        try:
            self._make()
            while (more := self._index_some()) is not None:
                added += more
                if not more:
                    continue  # another process was faster
                say(f"indexed {added:,} document{'s' if added != 1 else ''}")
        except FAULTS as error:
            raise _failed(error) from error

    def forget(self, rows: Sequence[int]) -> None:
        """See the port."""
        if not rows:
            return
        try:
            self._make()
            with self._engine.begin() as connection:
                tables.lock(connection, self._prefix)
                forget(connection, self._prefix, rows)
        except FAULTS as error:
            raise _failed(error) from error

    def close(self) -> None:
        """See the port."""
        self._engine.dispose()

    def _make(self) -> None:
        if not self._made:
            with self._engine.begin() as connection:
                tables.make(connection, self._prefix)
            self._made = True

    def _index_some(self) -> int | None:
        """Index the next documents, or wait for another process; return how many, None if the index is up to date."""
        row = self._row()
        if row >= self._library.last_row():
            return None
        with (
            self._turns.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
            tables.turn(connection, self._prefix) as mine,
        ):
            if mine and self._row() == row:
                return self._add(row, self._read(row))
        return 0 if self._moved(row) else self._add(row, self._read(row))

    def _row(self) -> int:
        with self._engine.begin() as connection:
            return extent(connection, self._prefix).row

    def _moved(self, row: int) -> bool:
        """True if the index moves on from `row` by itself, in the time others are given."""
        end = time.monotonic() + TURN_SECONDS
        while self._row() == row:
            if time.monotonic() > end:
                return False
            time.sleep(PAUSE_SECONDS)
        return True

    def _read(self, row: int) -> Lot:
        """The next documents after `row`, with their passages. Slow if bytes are remote, so no lock is held."""
        lot, end = Lot(), time.monotonic() + LOT_SECONDS
        for number, document in self._library.after(row, PAGE):
            lot.add(number, document, self._passages_of(document))
            if lot.passages >= PASSAGES or time.monotonic() > end:
                break
        return lot

    def _add(self, row: int, lot: Lot) -> int | None:
        """Write the documents after `row`, if neither they nor the index changed since; return how many."""
        if not lot.rows:
            return None
        with self._engine.begin() as connection:
            tables.lock(connection, self._prefix)
            if extent(connection, self._prefix).row != row or len(self._library.at(lot.rows)) != len(lot.rows):
                return 0
            lot.write(connection, self._prefix)
        return len(lot.rows)

    def _passages_of(self, document: Document) -> Sequence[PassageSpan]:
        """A document that cannot be read any more is still found by its title; the others are not affected."""
        try:
            return self._spans(document)
        except StoreError as error:
            log.warning("%s is indexed by its title only: %s", document.name, error)
            return ()

    def _found(self, connection: Connection, query: Query, scope: set[int] | None) -> list[Hit]:
        known = {"known": [*STEMMERS, UNSTEMMED]}
        analyses = set(connection.exec_driver_sql(_ANALYSES.format(self._prefix), known).scalars())
        words = Words(query.text, {*analyses, analysis_of(query.language)})
        question, asked = IndexQuery(connection, self._prefix, words, scope), Naming(query.text)
        ranked = question.rank(query.limit, BEST)
        hashes = question.hashes([found.row for found in ranked])
        documents = self._library.at([found.row for found in ranked])
        hits = []
        for found in ranked:
            document = documents.get(found.row)
            if document is not None and document.sha256 == hashes.get(found.row):  # else it is no longer in the library
                more = question.fields(found.row) if asked.names(document) else ()
                hits.append(
                    Hit(document=document, score=found.score, spans=tuple(dict.fromkeys((*found.spans, *more))))
                )
        return hits


def _failed(error: BaseException) -> SearchError:
    message = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    kind = SearchAway if isinstance(error, AWAY) else SearchError
    return kind(f"local search: the index in PostgreSQL cannot be used: {message}")


def _silent(_: str) -> None:
    """Report to nobody."""
