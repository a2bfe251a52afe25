"""The search provider over an index in PostgreSQL: brings it level with the library, and answers from it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from assay.core.errors import ConfigError, SearchFailed, StoreError
from assay.core.ports import Hit, Library, Query
from assay.core.sources import Document, Span
from assay.search.local.analysis import STEMMERS, UNSTEMMED, analysis_of
from assay.search.local.search import BEST, Naming, scope_of
from assay.search.local.words import Words
from assay.search.postgres import tables
from assay.search.postgres.ranking import Question, extent
from assay.search.postgres.writing import Lot, forget

try:
    import psycopg
except ImportError as missing:
    raise ConfigError(f"an index in Postgres needs the extra: pip install 'assay[workers]' ({missing})") from missing

log = logging.getLogger(__name__)

PAGE = 200
"""Documents indexed in one transaction: what a killed process loses at most."""
FAULTS = (SQLAlchemyError, psycopg.Error)

_ANALYSES = """SELECT known FROM unnest(%(known)s::text[]) AS known
    WHERE EXISTS (SELECT 1 FROM {0}_documents WHERE analysis = known)"""

Say = Callable[[str], None]


class PostgresSearch:
    """Full-text search with one index for all machines. Implements `core.ports.LibrarySearch`.

    The index lies beside the library and is derived from it. Whoever searches brings it level first: several machines
    take turns, a lot of documents each. `segmenter` names how documents were cut into passages: another one's lie in
    other tables.
    """

    name = "local"

    def __init__(
        self, engine: Engine, library: Library, spans: Callable[[Document], Sequence[Span]], segmenter: str
    ) -> None:
        self._engine, self._library, self._spans = engine, library, spans
        self._prefix = tables.prefix_of(segmenter)
        self._made = False

    async def search(self, query: Query) -> list[Hit]:
        """The best documents, with their best passages; of documents the question names also the header fields.

        Raises:
            SearchFailed: the index or the library cannot be read or written.
        """
        return await asyncio.to_thread(self.find, query)

    def find(self, query: Query) -> list[Hit]:
        """`search`, blocking."""
        if query.limit < 1:
            return []
        try:
            self.sync()
            scope = scope_of(self._library, query.collections)
            with self._engine.begin() as connection:
                return self._found(connection, query, scope)
        except StoreError as error:
            raise SearchFailed(f"local search: {error}") from error
        except FAULTS as error:
            raise _failed(error) from error

    def sync(self, progress: Say | None = None) -> None:
        """See the port."""
        say, added = progress or _silent, 0
        try:
            self._make()
            while more := self._index_some():
                added += more
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

    def _index_some(self) -> int:
        """Index the next documents; how many. One machine at a time."""
        last = self._library.last_row()
        with self._engine.begin() as connection:
            if extent(connection, self._prefix).row >= last:
                return 0
        with self._engine.begin() as connection:
            tables.lock(connection, self._prefix)
            page = self._library.after(extent(connection, self._prefix).row, PAGE)
            lot = Lot()
            for row, document in page:
                lot.add(row, document, self._passages_of(document))
            lot.write(connection, self._prefix)
        return len(page)

    def _passages_of(self, document: Document) -> Sequence[Span]:
        """A document which cannot be read any more is still found by its title; the others do not suffer."""
        try:
            return self._spans(document)
        except StoreError as error:
            log.warning("%s is indexed by its title only: %s", document.name, error)
            return ()

    def _found(self, connection: Connection, query: Query, scope: set[int] | None) -> list[Hit]:
        known = {"known": [*STEMMERS, UNSTEMMED]}
        analyses = set(connection.exec_driver_sql(_ANALYSES.format(self._prefix), known).scalars())
        words = Words(query.text, {*analyses, analysis_of(query.language)})
        question, asked = Question(connection, self._prefix, words, scope), Naming(query.text)
        ranked = question.rank(query.limit, BEST)
        hashes = question.hashes([found.row for found in ranked])
        hits = []
        for found in ranked:
            document = self._library.document(hashes.get(found.row, ""))
            if document is not None:  # else the library does not have it any more
                more = question.fields(found.row) if asked.names(document) else ()
                hits.append(
                    Hit(document=document, score=found.score, spans=tuple(dict.fromkeys((*found.spans, *more))))
                )
        return hits


def _failed(error: BaseException) -> SearchFailed:
    said = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    return SearchFailed(f"local search: the index in PostgreSQL cannot be used: {said}")


def _silent(_: str) -> None:
    """Nobody listens."""
