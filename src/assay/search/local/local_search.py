"""The local search provider: updates its index from the library and searches it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.errors import AssayError, IndexDamaged, SearchError, StoreError
from assay.core.lexicon import analysis_of
from assay.core.messages import Rarity
from assay.core.ports import Explanation, Hit, Library, Query
from assay.core.sources import Document
from assay.search.local.index import (
    INDEX_FORMAT,
    DocumentsDeleted,
    IndexWriter,
    LocalIndex,
    close_after_merges,
    index_errors,
    remove,
    unwritable_error,
)
from assay.search.local.local_ranks import IndexSnapshot, shown_spans
from assay.search.local.scope_index import scope_index
from assay.search.local.slips import rarity_of
from assay.search.local.words import TITLE_MEANT, TitleMatcher, Words
from assay.search.shared_index import (
    PASSAGES_PER_HIT,
    EachSpans,
    OneSpans,
    ProgressLog,
    SearchWaits,
    SharedWork,
    documents_after,
    file_lock,
    first_passages,
    ignore_progress,
    scope_of,
    spans_one_by_one,
    spans_or_title_only,
)

if TYPE_CHECKING:
    from filelock import FileLock

log = logging.getLogger(__name__)

PAGE_DOCUMENTS = 200
"""Documents read from the library at a time."""
BACKLOG_DOCUMENTS = 500
"""From this number of unindexed documents on they are indexed in the background, even if no search needs them."""
BACKGROUND_DOCUMENTS = 50
"""Documents indexed at a time in the background: a search waits for them."""
COMMIT_EVERY = 2_000
"""Documents; the most a killed process loses."""
INDEX_WORK = SharedWork(name="the search index", patience=600.0)


class LocalSearch:
    """Full-text search over the library's documents. Implements `core.ports.LibrarySearch`.

    The index under `path` (None: in memory) is derived from the library and may be deleted at any time. It catches up
    by row numbers before a search that needs what it lacks; pages that runs read are in no search's scope and wait
    until there are many. One process writes, the others wait for its lock; reading needs no lock. `spans` returns a
    document's passages, `each_spans` those of many, if that is faster. An index belongs to one version of the
    segmenter, so put that version into `path`.
    """

    name = "local"

    def __init__(
        self, path: Path | None, library: Library, spans: OneSpans, each_spans: EachSpans | None = None
    ) -> None:
        self._path = None if path is None else path / INDEX_FORMAT
        self._library, self._each_spans = library, each_spans or partial(spans_one_by_one, spans)
        self._merge_thread: threading.Thread | None = None
        self._index: LocalIndex | None = None
        self._guard = threading.RLock()
        self._backlog_thread: threading.Thread | None = None
        self._closed = False

    async def search(self, query: Query) -> list[Hit]:
        return await asyncio.to_thread(self.search_blocking, query)

    async def explain(self, query: Query) -> list[Explanation]:
        return await asyncio.to_thread(self.explain_blocking, query)

    async def rarity(self, text: str, collections: Sequence[str]) -> Rarity:
        """A passage counts with the heading above it."""
        return await asyncio.to_thread(self._rarity, text, collections)

    def _rarity(self, text: str, collections: Sequence[str]) -> Rarity:
        try:
            scope = self._scope(collections)
            if scope is not None and not scope:
                return Rarity()
            with index_errors():
                with self._guard:
                    view, scope = self._snapshot(self._open_index(), scope)
                return rarity_of(view, text, scope)
        except (StoreError, OSError, IndexDamaged) as error:
            raise SearchError(f"local search: {error}") from error

    def search_blocking(self, query: Query) -> list[Hit]:
        return [explanation.hit for explanation in self._explanations(query, explain=False)]

    def explain_blocking(self, query: Query) -> list[Explanation]:
        """`explain`, blocking."""
        return self._explanations(query, explain=True)

    def _explanations(self, query: Query, *, explain: bool) -> list[Explanation]:
        if query.limit < 1:
            return []
        try:
            scope = self._scope(query.collections)
            if scope is not None and not scope:
                return []
            try:
                return self._search(query, scope, explain)
            except DocumentsDeleted as error:
                self.forget(error.rows)
            except IndexDamaged as error:
                with self._guard, self._lock(ignore_progress) as lock:
                    self._rebuild(str(error), lock, ignore_progress)
            return self._search(query, self._scope(query.collections), explain)  # of what is left
        except (StoreError, OSError, IndexDamaged) as error:
            raise SearchError(f"local search: {error}") from error

    def sync(self, progress: ProgressLog | None = None) -> None:
        """Index what is in the library and not in the index. `progress` is called with sentences for the user.

        Raises:
            SearchError: another process kept the index locked for ten minutes, or the index cannot be written.
            StoreError: a document cannot be read.
        """
        say = progress or ignore_progress
        try:
            with self._guard:
                if self._is_up_to_date():
                    return
                with self._lock(say) as lock:
                    try:
                        self._catch_up(lock, say)
                    except IndexDamaged as error:
                        self._rebuild(str(error), lock, say)
        except OSError as error:
            raise unwritable_error(self._path, error) from error

    def forget(self, rows: Sequence[int]) -> None:
        """Remove documents that are no longer in the library. Blocking.

        Raises:
            SearchError: another process kept the index locked for ten minutes, or the index cannot be written.
        """

        def edit(writer: IndexWriter) -> None:
            for row in rows:
                writer.forget(row, row)

        if rows and self._path is not None and self._path.exists():
            self._edit(edit)

    def reindex_names(self, rows: Sequence[int]) -> None:
        if not rows or (self._index is None if self._path is None else not self._path.exists()):
            return

        def edit(writer: IndexWriter) -> None:
            for first in range(0, len(rows), PAGE_DOCUMENTS):
                documents = self._library.documents_at(rows[first : first + PAGE_DOCUMENTS])
                for (row, document), spans in zip(documents.items(), self._each_spans(documents.values()), strict=True):
                    writer.renew(row, document, spans_or_title_only(spans, document))

        self._edit(edit)

    def close(self) -> None:
        """End background work; nothing else stays open longer than a search."""
        self._closed = True
        if self._backlog_thread is not None:
            self._backlog_thread.join()
        self._wait_for_merges()

    # updating

    def _scope(self, collections: Sequence[str]) -> set[int] | None:
        """The rows to search, None for all, after updating the index for them, or for the whole library only if
        necessary.

        Indexing every page a run has read before its next search took a fifth of the run's processor time.
        """
        scope = scope_of(self._library, collections)
        if scope is None or not self._covers(scope):
            self.sync(SearchWaits())
        return scope

    def _covers(self, scope: set[int]) -> bool:
        """True if the index has these rows; those beyond it are left to the background, if there are many."""
        if not scope:
            return True
        with self._guard:
            if self._index is None and self._path is not None and (self._path / "documents" / "meta.json").exists():
                try:
                    with index_errors():
                        self._index = LocalIndex(self._path)
                except IndexDamaged:
                    return False
            index = self._index
            if index is None or not index.exists or max(scope) > index.last_row:
                return False
        if self._library.last_row() - index.last_row >= BACKLOG_DOCUMENTS:
            self._start_background_indexing()
        return True

    def _start_background_indexing(self) -> None:
        with self._guard:
            if self._closed or (self._backlog_thread is not None and self._backlog_thread.is_alive()):
                return
            self._backlog_thread = threading.Thread(target=self._index_backlog, name="search index", daemon=True)
            self._backlog_thread.start()

    def _index_backlog(self) -> None:
        """Index what no search needed, a little at a time; the next search over it reports errors."""
        try:
            while not self._closed:
                with self._guard:
                    if self._is_up_to_date():
                        return
                    with self._lock(ignore_progress) as lock:
                        self._catch_up(lock, ignore_progress, BACKGROUND_DOCUMENTS)
        except (AssayError, OSError) as error:
            log.debug("the search index is not level: %s", error)

    def _is_up_to_date(self) -> bool:
        """True if the index is open, and has everything in the library and nothing after it."""
        index = self._index
        if index is None or not index.exists:
            return False
        if index.last_row < self._library.last_row():
            try:
                with index_errors():
                    index.reload()
            except IndexDamaged:
                self._index = None
                return False
        return index.last_row == self._library.last_row()

    @contextmanager
    def _lock(self, say: ProgressLog) -> Iterator[FileLock | None]:
        """The lock for writing the index; waits for another process with a message to the user."""
        self._wait_for_merges()
        if self._path is None:
            yield None
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(self._path, INDEX_WORK, say) as lock:
            yield lock

    def _merge_in_background(self, writer: IndexWriter, lock: FileLock | None) -> None:
        """Close a writer when its merges are done, without waiting: its commits are visible already.

        Merges happen every few commits, and sometimes rewrite the whole index: a second for 400,000 passages.
        """
        if lock is not None:
            lock.acquire()  # counted: held until the last release
        self._merge_thread = threading.Thread(
            target=close_after_merges, args=(writer, lock), name="search index merges"
        )
        self._merge_thread.start()

    def _wait_for_merges(self) -> None:
        merge_thread = self._merge_thread
        if merge_thread is not None:
            merge_thread.join()

    def _catch_up(self, lock: FileLock | None, say: ProgressLog, limit: int | None = None) -> None:
        """Index what is missing, at most `limit` documents."""
        with index_errors():
            index = self._open_index()
            index.reload()
        total = self._library.last_row()
        if index.last_row > total:
            self._drop_after(index, total, lock)
        if index.last_row == total:
            return
        with index_errors():
            writer = index.writer()
        try:
            self._add_all(writer, index.last_row, say, limit)
        finally:
            self._merge_in_background(writer, lock)
        with index_errors():
            index.reload()

    def _drop_after(self, index: LocalIndex, row: int, lock: FileLock | None) -> None:
        """Remove the documents after a row, the last one of the library: another machine has deleted them.

        Raises:
            IndexDamaged: the index belongs to another library.
        """
        document = self._library.documents_at([row]).get(row)
        with index_errors():
            if document is None or index.hash_of(row) != document.sha256:
                raise IndexDamaged("it knows documents the library does not have")
            writer = index.writer()
            writer.forget(row + 1)
            writer.commit()
            writer.close()
            index.reload()

    def _add_all(self, writer: IndexWriter, row: int, say: ProgressLog, limit: int | None) -> None:
        """Add the documents after `row`, with progress messages, and a commit."""
        added = 0
        for added, entry in enumerate(documents_after(self._library, row, self._each_spans, PAGE_DOCUMENTS, limit), 1):
            writer.add(*entry)
            if added % PAGE_DOCUMENTS == 0:
                say(f"indexed {added:,} documents")
            if added % COMMIT_EVERY == 0:
                writer.commit()
        if added % PAGE_DOCUMENTS:
            say(f"indexed {added:,} document{'s' if added != 1 else ''}")
        writer.commit()

    def _edit(self, edit: Callable[[IndexWriter], None]) -> None:
        """Change what is in the index about some documents."""
        try:
            with self._guard, self._lock(ignore_progress) as lock:
                try:
                    with index_errors():
                        index = self._open_index()
                        writer = index.writer()
                        try:
                            edit(writer)
                            writer.commit()
                        finally:
                            self._merge_in_background(writer, lock)
                        index.reload()
                except IndexDamaged as error:
                    self._rebuild(str(error), lock, ignore_progress)
        except OSError as error:
            raise unwritable_error(self._path, error) from error

    def _open_index(self) -> LocalIndex:
        if self._index is None or not self._index.exists:
            self._index = LocalIndex(self._path)
        return self._index

    def _rebuild(self, reason: str, lock: FileLock | None, say: ProgressLog) -> None:
        """Rebuild a damaged index; the caller holds the lock."""
        log.warning("the search index is unusable (%s); building it again", reason)
        say("the search index is unusable; building it again")
        self._index = None
        self._wait_for_merges()  # of the writer that found it damaged: they would write into the new one
        if self._path is not None:
            remove(self._path)
        self._catch_up(lock, say)

    # answering

    def _snapshot(self, index: LocalIndex, scope: set[int] | None) -> tuple[IndexSnapshot, set[int] | None]:
        """What to search, and in which rows of it; None: all."""
        rows = range(1, index.last_row + 1) if scope is None and index.has_deleted else scope
        own = None if rows is None else scope_index(index, self._library, rows)
        return (IndexSnapshot(index), scope) if own is None else (IndexSnapshot(own), None)

    def _search(self, query: Query, scope: set[int] | None, explain: bool) -> list[Explanation]:
        with self._guard:
            if self._index is None:
                raise IndexDamaged("another thread found it so")
            with index_errors():
                view, scope = self._snapshot(self._index, scope)
        words = Words(query.text, {*view.analyses, analysis_of(query.language)})
        matcher = TitleMatcher(query.text)

        def feedback_documents(rows: Sequence[int]) -> Mapping[int, Document]:
            best = self._library.documents_at(rows)
            is_named = rows[0] in best and matcher.is_named(best[rows[0]], TITLE_MEANT)
            return {} if is_named else {row: best[row] for row in rows if row in best}

        with index_errors():
            results, weights = view.rank_documents(words, scope, query.limit, PASSAGES_PER_HIT, feedback_documents)
            why = view.word_shares(words, weights, [result.row for result in results]) if explain and results else {}
        documents = self._library.documents_at([result.row for result in results])
        if deleted := [result.row for result in results if result.row not in documents]:
            raise DocumentsDeleted(deleted)
        explanations = []
        for rank, result in enumerate(results, 1):
            document = documents[result.row]
            first = () if result.spans else first_passages(self._each_spans, document)
            hit = Hit(
                document=document, score=result.score, spans=(*first, *shown_spans(view, result, matcher, document))
            )
            scores = why.get(result.row, ())
            explanations.append(Explanation(hit=hit, words=scores, lexical=result.score, lexical_rank=rank))
        return explanations
