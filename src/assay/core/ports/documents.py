"""Documents: how they are read, stored and searched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal, Protocol, runtime_checkable

import msgspec

from assay.core.messages import Rarity
from assay.core.ports.collections import Collections
from assay.core.sources import CollectionSummary, Document, Extracted, Fetched, PassageSpan, Snapshot
from assay.core.tables.cells import ReadTable
from assay.core.usage import Usage
from assay.core.web_addresses import ANYTHING, WebRules


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for: at most `limit` documents, in these collections; `language` is a hint (ISO 639-1).

    Of the web only what `rules` let through; a provider which cannot tell gives more, and is sorted out afterwards.
    """

    text: str
    limit: int = 10
    collections: tuple[str, ...] = ("default",)
    language: str = ""
    rules: WebRules = WebRules()


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A document that answers a query, best first; higher `score` is better, comparable within one answer only.

    `spans` are its passages that match best, best first.
    """

    document: Document
    score: float
    spans: tuple[PassageSpan, ...] = ()


WordField = Literal["text", "title", "name", "passage"]
"""Where a word counts: in a document's text, its title, its name or address, its best passage."""


class WordScore(msgspec.Struct, frozen=True, kw_only=True):
    """What a word of the question gave a document; `added` says that the search took it from what it found first."""

    word: str
    field: WordField
    score: float
    added: bool = False


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a hit stands where it stands: its score and rank by words, and by the cosine of its nearest passage.

    What was not asked, or does not know the document, is None. `words` are the parts of `lexical`, the largest first;
    none where the index does not tell them. `hit.score` is what the ranks were made of together.
    """

    hit: Hit
    words: tuple[WordScore, ...] = ()
    lexical: float | None = None
    lexical_rank: int | None = None
    cosine: float | None = None
    cosine_rank: int | None = None


class Search(Protocol):
    """A search provider."""

    @property
    def name(self) -> str: ...

    async def search(self, query: Query) -> list[Hit]:
        """The best documents.

        Raises:
            SearchFailed: the provider could not answer.
        """
        ...


@runtime_checkable
class Counting(Protocol):
    """A search provider which can count how rare words are in what it searches. Not all can."""

    async def rarity(self, text: str, collections: Sequence[str]) -> Rarity:
        """How many passages of these collections hold each word of `text`, in every form the index may hold it.

        Raises:
            SearchFailed: the provider could not answer.
        """
        ...


@runtime_checkable
class AskedAhead(Protocol):
    """A search provider which may be asked before anybody wants its answer. Most may not."""

    @property
    def ahead(self) -> Literal["free", "paid", "never"]:
        """Whether such a question is free, costs money, or would keep those waiting who have one."""
        ...


@runtime_checkable
class Metered(Protocol):
    """A search provider which says what a question cost beyond the search itself. Not all have such costs."""

    async def metered(self, query: Query) -> tuple[list[Hit], Usage]:
        """What `search` gives, and what it cost: tokens of an embedder.

        Raises:
            SearchFailed: as `search`.
        """
        ...


class LibrarySearch(Search, Protocol):
    """Search over the library, with an index that is derived from it. Its other methods are blocking."""

    async def explain(self, query: Query) -> list[Explanation]:
        """What `search` gives, with why. It takes longer.

        Raises:
            SearchFailed: as `search`.
        """
        ...

    def sync(self, progress: Callable[[str], None] | None = None) -> None:
        """Index what the library has and the index has not. `progress` is given sentences for the user.

        Raises:
            SearchFailed: the index cannot be written, or another process did not let go of it for long.
            StoreError: the library cannot be read.
        """
        ...

    def forget(self, rows: Sequence[int]) -> None:
        """Take documents out which the library does not have any more.

        Raises:
            SearchFailed: the index cannot be written.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


class Extractor(Protocol):
    """Turns a file's bytes into text. `name` carries its version ("html/1"); `suffixes` in lower case (".html").

    `isolated` asks for a process of its own: for formats whose readers may crash, hang or take too much memory. The
    class is then made anew there, without arguments, and a file which ends the process costs that file alone.
    """

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    @property
    def media_type(self) -> str: ...

    @property
    def isolated(self) -> bool: ...

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """The documents in `data`; `name` is the file's name. Work may begin at the call, or with the first document.

        Raises:
            ExtractError: nothing, or nothing more, can be read, with the reason; raised by the iteration.
        """
        ...


class ArchiveMember(msgspec.Struct, frozen=True, kw_only=True):
    """A file in an archive: its path there, made printable, and its bytes; or the `problem` which keeps it closed."""

    name: str
    data: bytes = b""
    problem: str = ""


class Fetcher(Protocol):
    """Fetches pages of the web."""

    async def fetch(self, url: str, rules: WebRules = ANYTHING) -> Fetched:
        """The page at `url`; no host is asked on the way which `rules` refuse.

        Raises:
            FetchFailed: it cannot be had; the reason begins with its kind ("blocked: …").
        """
        ...

    async def close(self) -> None:
        """Let go of the connections."""
        ...


class KeptPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page kept for the next time; until `fresh_until` (seconds since 1970) its server need not be asked again."""

    page: Fetched
    fresh_until: float


class PageCache(Protocol):
    """Pages by the address they were at. Blocking; call from a worker thread."""

    def get(self, url: str) -> KeptPage | None:
        """The page last kept of this address; None too where it cannot be read any more."""
        ...

    def put(self, kept: KeptPage) -> None:
        """Keep a page under its `final_url`, in the place of an older one.

        Raises:
            StoreError: it cannot be written.
        """
        ...

    def forget(self, url: str) -> None:
        """Keep nothing of this address any more; nothing is wrong with there being nothing.

        Raises:
            StoreError: it cannot be removed.
        """
        ...


class Archive(Protocol):
    """Opens files which hold files. `name` carries its version ("zip/1"); `suffixes` in lower case (".zip")."""

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    def members(self, data: bytes, name: str, largest: int) -> Iterator[ArchiveMember]:
        """The files in `data`, in their order there, unpacked one at a time; folders and hidden ones left out.

        A member of more than `largest` bytes has a problem; sizes are counted while unpacking, not believed.

        Raises:
            ExtractError: it cannot be opened, or unpacks to more than is sane; raised by the iteration.
        """
        ...


class DocumentTexts(Protocol):
    """Texts, passages and tables of documents, the latest kept in memory for all who ask. Blocking; in any thread.

    Each raises StoreError where the document's text is not there, or damaged.
    """

    def text(self, document: Document) -> bytes:
        """The text, as UTF-8."""
        ...

    def spans(self, document: Document) -> tuple[PassageSpan, ...]:
        """The passages, in order."""
        ...

    def tables(self, document: Document) -> tuple[ReadTable, ...]:
        """The tables, in order; their pieces are called by the ordinals of the passages."""
        ...


class Blobs(Protocol):
    """Bytes by their SHA-256, zstd-compressed at rest. Blocking; call from a worker thread."""

    def put(self, data: bytes) -> str:
        """Store `data`; its hash. Storing the same bytes again costs a look-up."""
        ...

    def get(self, sha256: str) -> bytes:
        """The bytes, checked against their hash.

        Raises:
            StoreError: not there, or damaged.
        """
        ...

    def has(self, sha256: str) -> bool: ...


class Cache(Protocol):
    """What was found out before and costs to find out again, each under a hash of all it depends on.

    Blocking; call from a worker thread. What is kept under a key never changes: whoever kept it first was right. It may
    be forgotten.
    """

    def recall(self, key: str) -> bytes | None:
        """What was kept under `key`."""
        ...

    def keep(self, key: str, data: bytes) -> None:
        """Keep `data` under `key`, unless there is something already."""
        ...

    def known(self, prefix: str) -> dict[str, bytes]:
        """What was kept under all keys which begin with `prefix`, which is not empty."""
        ...

    def forget(self, keys: Collection[str]) -> None:
        """Keep nothing under these keys any more."""
        ...


class FileStamp(msgspec.Struct, frozen=True, kw_only=True):
    """How a file looked when it was read, and which documents it gave: an unchanged file is not read twice.

    `extractor` names the version which read it, since a newer one reads it again. `warnings` are what was said about
    a file of which only a part could be read: what is known is as incomplete the next time.
    """

    path: str
    size: int
    mtime_ns: int
    documents: tuple[str, ...]
    extractor: str = ""
    warnings: tuple[str, ...] = ()


class Library(Collections, Protocol):
    """Documents, the collections they are in, and the files they came from. Blocking; call from a worker thread."""

    def add(
        self, documents: Sequence[tuple[Snapshot, Document]], collection: str, files: Sequence[FileStamp] = ()
    ) -> None:
        """Add documents (known ones are left as they are) and put them into `collection`, in one transaction."""
        ...

    def select(self, documents: Iterable[str]) -> str:
        """The name of the collection which holds exactly these documents (hashes); made when it is not there.

        The name depends on the set alone.
        """
        ...

    def include(self, documents: Iterable[str], collection: str) -> None:
        """Put known documents into `collection`, in one transaction."""
        ...

    def document(self, sha256: str) -> Document | None: ...

    def snapshot(self, sha256: str) -> Snapshot | None: ...

    def find(self, reference: str, collections: Sequence[str]) -> list[Document]:
        """Documents by hash (8 characters or more), name, URL or title, exact matches first; at most 20."""
        ...

    def documents(self, collections: Sequence[str], limit: int | None = None) -> list[Document]:
        """In the order of adding."""
        ...

    def members(self, collections: Sequence[str]) -> set[int]:
        """The row numbers (see `after`) of the documents in `collections`."""
        ...

    def count(self, collections: Sequence[str]) -> int:
        """How many documents are in `collections`."""
        ...

    def after(self, row: int, limit: int) -> list[tuple[int, Document]]:
        """Documents by row number, ascending, from `row` exclusive: how an index catches up. Rows are never reused."""
        ...

    def at(self, rows: Collection[int]) -> dict[int, Document]:
        """The documents at these row numbers (at most some hundred), by row; those which are not there are left out."""
        ...

    def last_row(self) -> int:
        """The highest row number, 0 when empty."""
        ...

    def summary(self, collections: Sequence[str], names: int = 30) -> CollectionSummary: ...

    def stamps(self, paths: Sequence[str]) -> dict[str, FileStamp]:
        """How files (some hundred at most) looked when they were read, by their paths; unknown ones are left out."""
        ...
