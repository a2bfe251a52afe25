"""What indexes over the library share: turns to write them, their feed, and how an index on a server is asked.

Each owner queries a part of an index, and processes take turns to write it. The turns here are among the processes of a
home; `postgres.tables` has those among the machines of a database.
"""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.core.errors import SearchError, StoreError
from assay.core.lazy import lazy_module
from assay.core.messages import Rarity
from assay.core.ports import Explanation, Hit, Library, LibrarySearch, MeteredSearch, Query, RarityCounter
from assay.core.sources import BlockKind, Document, PassageSpan
from assay.core.usage import Usage

if TYPE_CHECKING:
    import filelock

    from assay.search.local.words import TitleMatcher
else:
    filelock = lazy_module("filelock")

log = logging.getLogger(__name__)

ProgressLog = Callable[[str], None]
"""Tells a user of progress."""
WriteTurn = Callable[[ProgressLog], AbstractContextManager[object]]
"""The right to write; while another process has it, the caller is told."""

PATIENCE_SECONDS = 3_600.0
"""Seconds to wait for another process."""


class SharedWork(msgspec.Struct, frozen=True, kw_only=True):
    """An index that one process writes at a time.

    `lock` is its advisory lock in PostgreSQL, `pause` the seconds between two checks there, `patience` the longest
    wait.
    """

    name: str
    lock: int = 0
    pause: float = 1.0
    patience: float = PATIENCE_SECONDS


VECTORS_WORK = SharedWork(name="the vectors", lock=0x61737369)
INDEX_WORK = SharedWork(name="the search index", lock=0x61737368, pause=0.05)


def without_lock(say: ProgressLog) -> AbstractContextManager[None]:
    """The right to write something that is not shared."""
    return nullcontext()


@contextmanager
def file_lock(file: Path, work: SharedWork, say: ProgressLog) -> Iterator[filelock.FileLock]:
    """The right of one process of a home, by a lock file beside `file`; it may be released in another thread.

    Raises:
        SearchError: another process has it too long.
    """
    lock = filelock.FileLock(file.with_suffix(".lock"), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        say(waiting_message(work))
        try:
            lock.acquire(timeout=work.patience)
        except filelock.Timeout:
            raise SearchError(f"another process has held {lock.lock_file} for {work.patience:.0f} s") from None
    try:
        yield lock
    finally:
        lock.release()


def waiting_message(work: SharedWork) -> str:
    """The message to a waiting caller."""
    return f"waiting for another process to finish {work.name}"


# What feeds an index: passages of documents on demand, and word to those who wait.

OneSpans = Callable[[Document], Sequence[PassageSpan]]
EachSpans = Callable[[Iterable[Document]], Iterator[Sequence[PassageSpan] | StoreError]]
"""Yields the passages of many documents, in order, or why one cannot be read; it may work ahead."""

SILENT_SECONDS = 5.0
"""A search that waits this long for its index says so, and again after each such time."""


class SearchWaits:
    """Logs the progress of an index that a search must wait for, if that takes longer than one expects of a search."""

    def __init__(self) -> None:
        self._due = time.monotonic() + SILENT_SECONDS

    def __call__(self, line: str) -> None:
        """Log a line of progress if it is time."""
        if (now := time.monotonic()) >= self._due:
            self._due = now + SILENT_SECONDS
            log.warning("a search waits for the index of the documents: %s so far", line)


def spans_one_by_one(spans: OneSpans, documents: Iterable[Document]) -> Iterator[Sequence[PassageSpan] | StoreError]:
    """Do the same as `EachSpans`, one document at a time."""
    for document in documents:
        try:
            yield spans(document)
        except StoreError as error:
            yield error


def documents_after(
    library: Library, row: int, each_spans: EachSpans, page: int, limit: int | None = None
) -> Iterator[tuple[int, Document, Sequence[PassageSpan]]]:
    """The documents after `row` with their rows and passages, read `page` at a time, about `limit` in all."""
    pending: deque[tuple[int, Document]] = deque()  # those whose passages `each_spans` still works on

    def read_documents() -> Iterator[Document]:
        last, count = row, 0
        while (limit is None or count < limit) and (batch := library.documents_after(last, min(page, limit or page))):
            for last, document in batch:
                pending.append((last, document))
                yield document
            count += len(batch)

    for spans in each_spans(read_documents()):
        number, document = pending.popleft()
        yield number, document, spans_or_title_only(spans, document)


def spans_or_title_only(spans: Sequence[PassageSpan] | StoreError, document: Document) -> Sequence[PassageSpan]:
    """A document that cannot be read any more is still found by its title; the others are not affected."""
    if not isinstance(spans, StoreError):
        return spans
    log.warning("%s is indexed by its title only: %s", document.name, spans)
    return ()


UNFOUND_KINDS: frozenset[BlockKind] = frozenset(("heading", "navigation"))
"""Kinds of passages that are not found by themselves."""


def first_passages(each_spans: EachSpans, document: Document) -> tuple[PassageSpan, ...]:
    """The first passages of a document: all that can be shown of one whose title or name alone has the words."""
    spans = (span for group in each_spans([document]) for span in spans_or_title_only(group, document))
    return tuple(islice((span for span in spans if span.kind not in UNFOUND_KINDS), PASSAGES_PER_HIT))


def ignore_progress(_: str) -> None:
    """Report to nobody."""


PASSAGES_PER_HIT = 5
"""Passages per hit."""


def scope_of(library: Library, collections: Sequence[str]) -> set[int] | None:
    """The rows to search, None for all. Counting them is faster than listing them."""
    if not collections:
        return set()
    if library.count(collections) >= library.last_row():
        return None
    return library.members(collections)


# A full-text index on a server, for all machines.


class IndexMatch(msgspec.Struct, frozen=True):
    """A document in an index, by row, with its score for a question and its best passages, best first."""

    row: int
    score: float
    spans: tuple[PassageSpan, ...]


class ServerIndex(ABC):
    """What the searches over OpenSearch and PostgreSQL share; half of `core.ports.LibrarySearch`."""

    name = "local"

    def __init__(self, library: Library) -> None:
        self._library = library

    async def search(self, query: Query) -> list[Hit]:
        return await asyncio.to_thread(self.search_blocking, query)

    async def explain(self, query: Query) -> list[Explanation]:
        """Without the share of each word."""
        return await asyncio.to_thread(self.explain_blocking, query)

    def explain_blocking(self, query: Query) -> list[Explanation]:
        hits = enumerate(self.search_blocking(query), 1)
        return [Explanation(hit=hit, lexical=hit.score, lexical_rank=rank) for rank, hit in hits]

    def search_blocking(self, query: Query) -> list[Hit]:
        if query.limit < 1:
            return []
        try:
            scope = scope_of(self._library, query.collections)
            if scope is not None and not scope:
                return []  # a run over the web alone need not wait until its own pages are indexed
            return self.answer(query, scope)
        except StoreError as error:
            raise SearchError(f"local search: {error}") from error

    @abstractmethod
    def answer(self, query: Query, scope: set[int] | None) -> list[Hit]:
        """Update the index, and search it in the rows of `scope`; None: all.

        Raises:
            SearchError: the index cannot be read or written.
            StoreError: the library cannot be read.
        """

    def to_hits(
        self,
        matcher: TitleMatcher,
        matches: Sequence[IndexMatch],
        hashes: Mapping[int, str],
        fields: Callable[[int], Sequence[PassageSpan]],
        each_spans: EachSpans,
    ) -> list[Hit]:
        """The documents as hits, by their hashes when they were indexed; those that have left the library are skipped.

        `fields` returns the header fields in a row, for documents that `matcher` finds by name.
        """
        documents = self._library.documents_at([match.row for match in matches])
        hits = []
        for match in matches:
            document = documents.get(match.row)
            if document is None or document.sha256 != hashes.get(match.row):
                continue
            best = match.spans or first_passages(each_spans, document)
            header_fields = fields(match.row) if matcher.is_named(document) else ()
            hits.append(Hit(document=document, score=match.score, spans=tuple(dict.fromkeys((*best, *header_fields)))))
        return hits


# An index over the library of all owners, as one of them may query it.


class OwnedSearch:
    """Implements `core.ports.Search`, `Counting` and `Metered`, with collections as the owner of `library` names them.

    Collections that do not exist or that the owner may not read are removed from the query before it reaches the index.
    """

    def __init__(self, index: LibrarySearch, library: Library) -> None:
        self._index, self._library = index, library

    @property
    def name(self) -> str:
        return self._index.name

    async def search(self, query: Query) -> list[Hit]:
        return await self._index.search(await self._scoped_query(query))

    async def search_with_usage(self, query: Query) -> tuple[list[Hit], Usage]:
        scoped = await self._scoped_query(query)
        if isinstance(self._index, MeteredSearch):
            return await self._index.search_with_usage(scoped)
        return await self._index.search(scoped), Usage()

    async def explain(self, query: Query) -> list[Explanation]:
        return await self._index.explain(await self._scoped_query(query))

    async def rarity(self, text: str, collections: Sequence[str]) -> Rarity:
        scoped = await self._scoped_query(Query(text=text, collections=tuple(collections)))
        return (
            await self._index.rarity(text, scoped.collections) if isinstance(self._index, RarityCounter) else Rarity()
        )

    async def _scoped_query(self, query: Query) -> Query:
        try:
            collections = await asyncio.to_thread(self._library.resolve_names, query.collections)
        except StoreError as error:
            raise SearchError(f"{self.name} search: {error}") from error
        return msgspec.structs.replace(query, collections=collections)
