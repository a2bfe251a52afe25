"""The local search provider: keeps its index level with the library and answers questions from it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from filelock import FileLock, Timeout

from assay.core.errors import AssayError, IndexDamaged, SearchError, StoreError
from assay.core.messages import Rarity
from assay.core.ports import Explanation, Hit, Library, Query
from assay.core.relevance.analysis import DEFAULT, analysis_of, name_terms
from assay.core.sources import Document, PassageSpan
from assay.search.local.index import FORMAT, IndexWriter, LocalIndex, reading, remove
from assay.search.local.local_ranks import IndexSnapshot, RankedDocument
from assay.search.local.words import MOST_CHARACTERS, Words

log = logging.getLogger(__name__)

BEST = 5
"""Passages per hit."""
MOSTLY = 0.8
"""The share of a title's words which a question must have to name it."""
PARTLY = 0.6
"""The share with which it may mean that title: the best document is then not doubted."""
PAGE = 200
"""Documents taken from the library at a time."""
BACKLOG = 500
"""Documents not indexed yet from which on they are in the background, though no search is over them."""
AT_ONCE = 50
"""Documents indexed at a time in the background: a search waits for them."""
COMMIT_EVERY = 2_000
"""Documents; what a killed process loses at most."""
PATIENCE = 600.0
"""Seconds to wait for another process which writes the index."""

Say = Callable[[str], None]


class LocalSearch:
    """Full-text search over the library's documents. Implements `core.ports.LibrarySearch`.

    The index under `path` (None: in memory) is derived from the library and may be deleted at any time. It
    catches up by row numbers before a search over what it lacks; pages which runs read are in no search's scope and
    wait until there are many of them. One process writes, the others wait for its lock; reading needs no lock.
    `spans` gives a document's passages; the index must live beside others of the same segmenter
    version only, so put that version into `path`.
    """

    name = "local"

    def __init__(self, path: Path | None, library: Library, spans: Callable[[Document], Sequence[PassageSpan]]) -> None:
        self._path = None if path is None else path / FORMAT
        self._library, self._spans = library, spans
        self._index: LocalIndex | None = None
        self._guard = threading.RLock()
        self._behind: threading.Thread | None = None
        self._closed = False

    async def search(self, query: Query) -> list[Hit]:
        """The best documents, with their best passages; of documents the question names also the header fields.

        Raises:
            SearchError: the index or the library cannot be read or written.
        """
        return await asyncio.to_thread(self.find, query)

    async def explain(self, query: Query) -> list[Explanation]:
        """What `search` gives, with what each word of the question gave each document.

        Raises:
            SearchError: the index or the library cannot be read or written.
        """
        return await asyncio.to_thread(self.explained, query)

    async def rarity(self, text: str, collections: Sequence[str]) -> Rarity:
        """See `core.ports.Counting`; a passage counts with the heading above it.

        Raises:
            SearchError: the index or the library cannot be read or written.
        """
        return await asyncio.to_thread(self._rarity, text, collections)

    def _rarity(self, text: str, collections: Sequence[str]) -> Rarity:
        try:
            scope = self._scope(collections)
            if not self._is_searched(scope):
                return Rarity()
            with reading():
                view = IndexSnapshot(self._opened())
                return view.rarity(Words(text, view.analyses), scope)
        except (StoreError, OSError, IndexDamaged) as error:
            raise SearchError(f"local search: {error}") from error

    def find(self, query: Query) -> list[Hit]:
        """`search`, blocking."""
        return [each.hit for each in self._asked(query, explain=False)]

    def explained(self, query: Query) -> list[Explanation]:
        """`explain`, blocking."""
        return self._asked(query, explain=True)

    def _asked(self, query: Query, *, explain: bool) -> list[Explanation]:
        if query.limit < 1:
            return []
        try:
            scope = self._scope(query.collections)
            if not self._is_searched(scope):
                return []
            try:
                return self._found(query, scope, explain)
            except IndexDamaged as error:
                self._mend(str(error))
                return self._found(query, scope, explain)
        except (StoreError, OSError, IndexDamaged) as error:
            raise SearchError(f"local search: {error}") from error

    def sync(self, progress: Say | None = None) -> None:
        """Index what the library has and the index has not. `progress` is given sentences for the user.

        Raises:
            SearchError: another process did not let go of the index within ten minutes.
            StoreError: a document cannot be read.
            OSError: the index cannot be written.
        """
        say = progress or _silent
        with self._guard:
            if self._level():
                return
            with self._lock(say):
                try:
                    self._catch_up(say)
                except IndexDamaged as error:
                    self._rebuild(str(error), say)

    def forget(self, rows: Sequence[int]) -> None:
        """Take documents out which the library does not have any more. Blocking.

        Raises:
            SearchError: another process did not let go of the index within ten minutes.
            OSError: the index cannot be written; the next search makes it anew.
        """
        if not rows or self._path is None or not self._path.exists():
            return
        with self._guard, self._lock(_silent):
            try:
                with reading():
                    writer = self._opened().writer()
                    for row in rows:
                        writer.forget(row)
                    writer.commit()
                    writer.close()
                    self._opened().reload()
            except IndexDamaged as error:
                self._rebuild(str(error), _silent)

    def close(self) -> None:
        """End what goes on in the background; nothing else is held open for longer than a search."""
        self._closed = True
        if self._behind is not None:
            self._behind.join()

    # keeping level

    def _scope(self, collections: Sequence[str]) -> set[int] | None:
        """The rows to search, None for all, and the index level with them: with the whole library only where need be.

        Indexing every page a run has read before its next search took a fifth of the run's processor time.
        """
        scope = scope_of(self._library, collections)
        if scope is None or not self._covers(scope):
            self.sync()
        return scope

    @staticmethod
    def _is_searched(scope: set[int] | None) -> bool:
        return scope is None or bool(scope)

    def _covers(self, scope: set[int]) -> bool:
        """Whether the index holds these rows; those beyond it are left to the background, where they are many."""
        if not scope:
            return True
        with self._guard:
            if self._index is None and self._path is not None and (self._path / "documents" / "meta.json").exists():
                try:
                    with reading():
                        self._index = LocalIndex(self._path)
                except IndexDamaged:
                    return False
            index = self._index
            if index is None or not index.there or max(scope) > index.last_row:
                return False
        if self._library.last_row() - index.last_row >= BACKLOG:
            self._begin_behind()
        return True

    def _begin_behind(self) -> None:
        with self._guard:
            if self._closed or (self._behind is not None and self._behind.is_alive()):
                return
            self._behind = threading.Thread(target=self._work_off, name="search index", daemon=True)
            self._behind.start()

    def _work_off(self) -> None:
        """Index what no search was over, a little at a time; what goes wrong, the next search over it says."""
        try:
            while not self._closed:
                with self._guard:
                    if self._level():
                        return
                    with self._lock(_silent):
                        self._catch_up(_silent, AT_ONCE)
        except (AssayError, OSError) as error:
            log.debug("the search index is not level: %s", error)

    def _level(self) -> bool:
        """Whether the index is open and has all the library has."""
        index = self._index
        if index is None or not index.there:
            return False
        if index.last_row < self._library.last_row():
            try:
                with reading():
                    index.reload()
            except IndexDamaged:
                self._index = None
                return False
        return index.last_row >= self._library.last_row()

    @contextmanager
    def _lock(self, say: Say) -> Iterator[None]:
        """The right to write the index; waits for another process with a word to the user."""
        if self._path is None:
            yield
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._path.with_name(f"{FORMAT}.lock"))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say("waiting for another process to finish the search index")
            _acquire(lock)
        try:
            yield
        finally:
            lock.release()

    def _catch_up(self, say: Say, most: int | None = None) -> None:
        """Index what is missing, `most` documents of it."""
        with reading():
            index = self._opened()
            index.reload()
        if index.last_row > self._library.last_row():
            raise IndexDamaged("it knows documents the library does not have")
        total = self._library.last_row()
        if index.last_row == total:
            return
        with reading():
            writer = index.writer()
        try:
            self._add_all(writer, index.last_row, say, most)
        finally:
            writer.close()
        with reading():
            index.reload()

    def _add_all(self, writer: IndexWriter, row: int, say: Say, most: int | None) -> None:
        """Add the documents after `row`, with a word at each page and a commit now and then."""
        added = waiting = 0
        while (most is None or added < most) and (page := self._library.after(row, min(PAGE, most or PAGE))):
            for row, document in page:
                writer.add(row, document, self._passages_of(document))
            added, waiting = added + len(page), waiting + len(page)
            say(f"indexed {added:,} document{'s' if added != 1 else ''}")
            if waiting >= COMMIT_EVERY:
                writer.commit()
                waiting = 0
        writer.commit()

    def _passages_of(self, document: Document) -> Sequence[PassageSpan]:
        """A document which cannot be read any more is still found by its title; the others do not suffer."""
        try:
            return self._spans(document)
        except StoreError as error:
            log.warning("%s is indexed by its title only: %s", document.name, error)
            return ()

    def _opened(self) -> LocalIndex:
        if self._index is None or not self._index.there:
            self._index = LocalIndex(self._path)
        return self._index

    def _mend(self, reason: str) -> None:
        with self._guard, self._lock(_silent):
            self._rebuild(reason, _silent)

    def _rebuild(self, reason: str, say: Say) -> None:
        """Make a damaged index anew; the caller holds the lock."""
        log.warning("the search index is unusable (%s); building it again", reason)
        say("the search index is unusable; building it again")
        self._index = None
        if self._path is not None:
            remove(self._path)
        self._catch_up(say)

    # answering

    def _found(self, query: Query, scope: set[int] | None, explain: bool) -> list[Explanation]:
        with self._guard:
            if self._index is None:
                raise IndexDamaged("another thread found it so")
            with reading():
                view = IndexSnapshot(self._index)
        words = Words(query.text, {*view.analyses, analysis_of(query.language)})
        asked = Naming(query.text)

        def look(rows: Sequence[int]) -> Mapping[int, Document]:
            best = self._library.at(rows)
            named = rows[0] in best and asked.names(best[rows[0]], PARTLY)
            return {} if named else {row: best[row] for row in rows if row in best}

        with reading():
            ranked, weights = view.weighed(words, scope, query.limit, BEST, look)
            why = view.explained(words, weights, [found.row for found in ranked]) if explain and ranked else {}
        documents = self._library.at([found.row for found in ranked])
        if len(documents) < len(ranked):  # another machine cleaned the library up
            raise IndexDamaged("it knows documents the library does not have")
        explanations = []
        for rank, found in enumerate(ranked, 1):
            document = documents[found.row]
            hit = Hit(document=document, score=found.score, spans=_shown(view, found, asked, document))
            given = why.get(found.row, ())
            explanations.append(Explanation(hit=hit, words=given, lexical=found.score, lexical_rank=rank))
        return explanations


def scope_of(library: Library, collections: Sequence[str]) -> set[int] | None:
    """The rows to search, None for all. Counting them is quicker than listing them."""
    if library.count(collections) >= library.last_row():
        return None
    return library.members(collections)


class Naming:
    """Tells whether a question names a document: most of its title, or a word of its name and the number after it."""

    def __init__(self, text: str) -> None:
        words = name_terms(text[:MOST_CHARACTERS].encode(errors="replace").decode(), DEFAULT)
        self._words = set(words)
        self._numbered = {(word, number) for word, number in pairwise(words) if number.isdigit()}

    def names(self, document: Document, share: float = MOSTLY) -> bool:
        """Whether `document` is named: by this share of its title, or by its number."""
        title = set(name_terms(document.title, DEFAULT))
        if title and len(title & self._words) >= share * len(title):
            return True
        name = title.union(name_terms(f"{document.name} {document.url}", DEFAULT))
        return any(word in name and number in name for word, number in self._numbered)


def _shown(view: IndexSnapshot, found: RankedDocument, asked: Naming, document: Document) -> tuple[PassageSpan, ...]:
    """The best passages, then the header fields of a document which the question names.

    Raises:
        IndexDamaged: the index belongs to another library.
    """
    with reading():
        if not view.is_of(found, document.sha256):
            raise IndexDamaged("it belongs to another library")
        if not asked.names(document):
            return found.spans
        return tuple(dict.fromkeys((*found.spans, *view.fields(found))))


def _acquire(lock: FileLock) -> None:
    try:
        lock.acquire(timeout=PATIENCE)
    except Timeout:
        raise SearchError(f"another process has held {lock.lock_file} for {PATIENCE:.0f} s") from None


def _silent(_: str) -> None:
    """Nobody listens."""
