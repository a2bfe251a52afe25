"""How documents are read, stored and searched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import msgspec

from assay.core.messages import Rarity
from assay.core.ports.collections import Collections, DocumentMove, FileStamp, StoredPlace
from assay.core.sources import CollectionSummary, Document, Extracted, Fetched, PassageSpan, Snapshot
from assay.core.usage import Usage
from assay.core.web_addresses import ANYTHING, WebRules

if TYPE_CHECKING:  # only readers of tables need them, and loading takes a command 10 ms
    from assay.core.tables.cells import ReadTable


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A search: at most `limit` documents, in these collections; `language` is a hint (ISO 639-1).

    `rules` restrict pages of the web. A provider that cannot apply them returns more, and the caller filters
    afterwards.
    """

    text: str
    limit: int = 10
    collections: tuple[str, ...] = ("default",)
    language: str = ""
    rules: WebRules = WebRules()


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A document that answers a query. A higher `score` is better; scores compare within one answer only.

    `spans` are its best matching passages, best first.
    """

    document: Document
    score: float
    spans: tuple[PassageSpan, ...] = ()


WordField = Literal["text", "title", "name", "passage"]
"""Where a word counts: in a document's text, its title, its name or address, its best passage."""


class WordScore(msgspec.Struct, frozen=True, kw_only=True):
    """The share of one word of the question in a document's score; the search took `added` words from first results."""

    word: str
    field: WordField
    score: float
    added: bool = False


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a hit has its rank: its score and rank by words, and by the cosine of its nearest passage.

    A part is None if it was not asked or does not know the document. `words` are the parts of `lexical`, largest first;
    empty if the index does not report them. `hit.score` combines the ranks.
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
        """Return the best documents, best first.

        Raises:
            SearchFailed: the provider could not answer.
        """


@runtime_checkable
class RarityCounter(Protocol):
    """A search provider that can count how rare words are in what it searches. Not all can."""

    async def rarity(self, text: str, collections: Sequence[str]) -> Rarity:
        """Count the passages of these collections that hold each word of `text`, in every form the index may hold it.

        Raises:
            SearchFailed: the provider could not answer.
        """


@runtime_checkable
class AskedAhead(Protocol):
    """A search provider that may be asked before its answer is needed. Most may not."""

    @property
    def ahead(self) -> Literal["free", "paid", "never"]:
        """Say whether such a query is free, costs money, or would delay the queries that are needed now."""


@runtime_checkable
class MeteredSearch(Protocol):
    """A search provider that reports costs beyond the search itself. Not all have such costs."""

    async def search_with_usage(self, query: Query) -> tuple[list[Hit], Usage]:
        """Return what `search` returns, and its cost: the tokens of an embedder.

        Raises:
            SearchFailed: as `search`.
        """


class LibrarySearch(Search, Protocol):
    """Search over the library, with an index derived from it. Its other methods are blocking."""

    async def explain(self, query: Query) -> list[Explanation]:
        """Return what `search` returns, with the reasons for each rank. Takes longer.

        Raises:
            SearchFailed: as `search`.
        """

    def sync(self, progress: Callable[[str], None] | None = None) -> None:
        """Index what is in the library and not yet in the index. `progress` is called with sentences for the user.

        Raises:
            SearchFailed: the index cannot be written, or another process keeps it locked.
            StoreError: the library cannot be read.
        """

    def forget(self, rows: Sequence[int]) -> None:
        """Remove documents that are no longer in the library from the index.

        Raises:
            SearchFailed: the index cannot be written.
        """

    def reindex_names(self, rows: Sequence[int]) -> None:
        """Index the names and addresses of these documents again; those not indexed yet are left to `sync`.

        Raises:
            SearchFailed: the index cannot be written.
            StoreError: the library cannot be read.
        """

    def close(self) -> None:
        """Close connections."""


class Extractor(Protocol):
    """Turns a file's bytes into text. `name` includes a version ("html/1"); `suffixes` are lower case (".html").

    `isolated` asks for a separate process, for formats whose parsers may crash, hang or take too much memory. The class
    is created again there, without arguments, and a file that kills the process costs only that file.
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
        """Yield the documents in `data`; `name` is the file's name. Work may begin at the call or with the first
        document.

        Raises:
            ExtractError: nothing, or nothing more, can be read, with the reason. Raised by the iteration.
        """


class Fetcher(Protocol):
    """Fetches pages of the web."""

    async def fetch(self, url: str, rules: WebRules = ANYTHING) -> Fetched:
        """Fetch the page at `url`. Hosts that `rules` refuse are never contacted, not even by a redirect.

        Raises:
            FetchFailed: the page cannot be fetched; the reason begins with its kind ("blocked: …").
        """

    async def close(self) -> None:
        """Close connections."""


class KeptPage(msgspec.Struct, frozen=True, kw_only=True):
    """A cached page. Until `fresh_until` (seconds since 1970) its server need not be asked again."""

    page: Fetched
    fresh_until: float


class PageCache(Protocol):
    """Pages by the address they were found at. Blocking; call from a worker thread."""

    def get(self, url: str) -> KeptPage | None:
        """Return the page last stored for this address; None if there is none or it cannot be read any more."""

    def put(self, page: KeptPage) -> None:
        """Store a page under its `final_url`, replacing an older one.

        Raises:
            StoreError: it cannot be written.
        """

    def forget(self, url: str) -> None:
        """Delete the page of this address, if there is one.

        Raises:
            StoreError: it cannot be removed.
        """


class DocumentTexts(Protocol):
    """Texts, passages and tables of documents; the latest are cached for all callers. Blocking; thread-safe.

    Each method raises StoreError if the document's text is missing or damaged.
    """

    def text(self, document: Document) -> bytes:
        """The text, as UTF-8."""

    def spans(self, document: Document) -> tuple[PassageSpan, ...]:
        """The passages, in order."""

    def tables(self, document: Document) -> tuple[ReadTable, ...]:
        """The tables, in order; their cells refer to passages by ordinal."""


class Blobs(Protocol):
    """Bytes by their SHA-256, zstd-compressed at rest. Blocking; call from a worker thread."""

    def put(self, data: bytes) -> str:
        """Store `data` and return its hash. Storing the same bytes again costs one look-up."""

    def put_all(self, contents: Sequence[bytes]) -> list[str]:
        """Store several and return their hashes, in about the time that one takes where a request takes long."""

    def get(self, sha256: str) -> bytes:
        """Return the bytes, checked against their hash.

        Raises:
            StoreError: missing or damaged.
        """

    def has(self, sha256: str) -> bool: ...


class Cache(Protocol):
    """Results that cost something to compute, each under a hash of everything it depends on.

    Blocking; call from a worker thread. The value of a key never changes: the first one stored stays. Entries may be
    deleted at any time.
    """

    def recall(self, key: str) -> bytes | None:
        """Return what is stored under `key`, or None."""

    def keep(self, key: str, data: bytes) -> None:
        """Store `data` under `key`, unless there is something already."""

    def entries(self, prefix: str) -> dict[str, bytes]:
        """Return what is stored under all keys that begin with `prefix`, which must not be empty."""

    def forget(self, keys: Collection[str]) -> None:
        """Delete these keys."""


class Library(Collections, Protocol):
    """Documents, the collections they are in, and the files they came from. Blocking; call from a worker thread."""

    def add(
        self,
        documents: Sequence[tuple[Snapshot, Document]],
        collection: str,
        files: Sequence[FileStamp] = (),
        moves: Sequence[DocumentMove] = (),
    ) -> None:
        """Store documents (existing ones stay as they are) and add them to `collection`, in one transaction.

        `moves` changes the places of the owner's own documents in it.
        """

    def collection_for(self, documents: Iterable[str]) -> str:
        """Make sure that there is a collection of exactly these documents (hashes), and return its name, which depends
        only on the set.

        Raises:
            UnknownName: one is not in the library.
        """

    def include(self, documents: Iterable[str], collection: str) -> None:
        """Add stored documents to `collection`, in one transaction.

        Raises:
            UnknownName: one is not in the library.
        """

    def document(self, sha256: str) -> Document | None: ...

    def documents_by_hash(self, documents: Collection[str]) -> list[Document]:
        """Return those of these documents (hashes) that are in the library, in this order, each once."""

    def existing_documents(self, documents: Iterable[str]) -> set[str]:
        """Return which of these documents (hashes) are in the library."""

    def stored_places(self, documents: Iterable[str]) -> dict[str, StoredPlace]:
        """Return where those of these documents (hashes) were read that are the owner's own."""

    def snapshot(self, sha256: str) -> Snapshot | None: ...

    def find(self, reference: str, collections: Sequence[str]) -> list[Document]:
        """Find documents by hash (8 characters or more), name, URL or title, exact matches first; at most 20."""

    def documents(self, collections: Sequence[str], limit: int | None = None) -> list[Document]:
        """The documents in `collections`, in the order they were added."""

    def members(self, collections: Sequence[str]) -> set[int]:
        """The row numbers (see `documents_after`) of the documents in `collections`."""

    def count(self, collections: Sequence[str]) -> int:
        """The number of documents in `collections`."""

    def documents_after(self, row: int, limit: int) -> list[tuple[int, Document]]:
        """Return documents after `row`, by row number ascending, so that an index catches up; no number is reused."""

    def documents_at(self, rows: Collection[int]) -> dict[int, Document]:
        """Return the documents at these row numbers (at most a few hundred), by row; missing ones are left out."""

    def last_row(self) -> int:
        """The highest row number, 0 when empty."""

    def summary(self, collections: Sequence[str], names: int = 30) -> CollectionSummary: ...

    def stamps(self, paths: Sequence[str]) -> dict[str, FileStamp]:
        """Return the stamps of files (at most a few hundred) by path; unknown files are left out."""

    def files_of(self, documents: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the owner's files that gave each of these documents (hashes), by path; none for the others."""
