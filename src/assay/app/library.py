"""The class `DocumentLibrary`: documents, and everything done with them without a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from assay.app.home import MAX_UPLOAD_BYTES, BackgroundLibrary
from assay.core.lazy import lazy_module
from assay.core.ports import CollectionRow, Explanation, Hit, Origin
from assay.core.sources import Document
from assay.services.arguments import DEFAULT_COLLECTION, ProgressLog, Sources, checked_methods

if TYPE_CHECKING:
    from assay.app import embeddings, verification
    from assay.app.embeddings import EmbeddingStatus
    from assay.app.verification import VerifiedText
    from assay.core.sources import PagePlaces
    from assay.evidence.ingest import IngestResult
    from assay.search.vectors import BuildResult
    from assay.services import additions, collections, extraction, removal, shelves
    from assay.services.collections import Synced
    from assay.services.extraction import ReadPage, ReadResult
    from assay.services.shelves import DocumentFacts, Excerpt, PageText
else:
    additions = lazy_module("assay.services.additions")
    collections = lazy_module("assay.services.collections")
    embeddings = lazy_module("assay.app.embeddings")
    extraction = lazy_module("assay.services.extraction")
    removal = lazy_module("assay.services.removal")
    shelves = lazy_module("assay.services.shelves")
    verification = lazy_module("assay.app.verification")


@checked_methods
class DocumentLibrary(BackgroundLibrary):
    """A library of documents; see `Home` for how it is opened, `BackgroundLibrary` for additions in the background."""

    # adding and removing

    async def add(
        self, paths: Sources, collection: str | None = DEFAULT_COLLECTION, progress: ProgressLog | None = None
    ) -> IngestResult:
        """Read files, folders, globs, pages (http…) and what connectors understand into the library.

        Known files cost nothing. A collection stores what it was added from, for `sync`; without one the result names
        the collection of exactly these documents.

        Raises:
            UsageError: a path does not exist, the collection's name is not valid, or nothing could be read.
        """
        return await collections.add(self._context, paths, collection, progress)

    async def upload(
        self,
        name: str,
        pieces: AsyncIterable[bytes],
        collection: str = DEFAULT_COLLECTION,
        *,
        most: int = MAX_UPLOAD_BYTES,
        progress: ProgressLog | None = None,
    ) -> IngestResult:
        """Receive a file in pieces and read it into a collection; it is stored in the home, for `sync`.

        Args:
            name: its name, whose suffix says how to read it.
            pieces: its bytes, at most `most`.
            collection: the collection to add it to.
            most: the largest allowed size in bytes.
            progress: called with a line of text while it is read.

        Raises:
            TooLarge: it is larger; nothing of it is kept.
            UsageError: nothing in it could be read, or the name of the file or collection is not valid.
            StoreError: it cannot be stored.
        """
        return await additions.add_upload(self._context, name, pieces, collection, most, progress)

    async def crawl(
        self,
        url: str,
        collection: str = DEFAULT_COLLECTION,
        *,
        pages: int = 200,
        depth: int = 5,
        progress: ProgressLog | None = None,
    ) -> IngestResult:
        """Read the pages of one site into a collection: those on the host of `url`, at or below its path.

        If it is interrupted, what was read is kept, and a sync continues.

        Args:
            pages: the most pages to read.
            depth: the greatest distance from `url`, in links.

        Raises:
            UsageError: nothing could be read.
        """
        return await collections.crawl(self._context, url, collection, pages, depth, progress)

    async def sync(
        self,
        collection: str = DEFAULT_COLLECTION,
        progress: ProgressLog | None = None,
        *,
        only: Sequence[str] | None = None,
    ) -> Synced:
        """Look again at every place a collection was added from: new documents are added, missing or changed ones
        removed.

        With `only`, just at these places. A removed document stays in the library, for the reports that cite it. What
        cannot be reached now stays.

        Raises:
            UnknownName: there is no such collection.
            UsageError: the collection has no known places.
        """
        return await collections.sync(self._context, collection, progress, only)

    async def remove(self, references: Sequence[str | Path], collection: str = DEFAULT_COLLECTION) -> list[Document]:
        """Remove documents from a collection, by hash, name, address, title or path; a place or a folder removes
        all documents from it.

        A reference is the whole name or the start of the hash: a part of a name removes nothing. The documents stay in
        the library, for the reports that cite them; a sync does not bring them back.

        Raises:
            UnknownName: there is no such collection, or no such document in it.
            UsageError: a reference matches several.
        """
        return await removal.remove(self._context, [str(reference) for reference in references], collection)

    async def meant(self, references: Sequence[str | Path], collection: str = DEFAULT_COLLECTION) -> list[Document]:
        """Return the documents that `remove` would remove.

        Raises:
            UnknownName: there is no such collection, or no such document in it.
            UsageError: a reference matches several.
        """
        return await removal.documents_to_remove(
            self._context, [str(reference) for reference in references], collection
        )

    async def embed(self, progress: ProgressLog | None = None, *, anew: bool = False) -> BuildResult:
        """Make the missing vectors of the library's passages, with the embedder in the settings.

        Completed work is kept whenever it is interrupted. With `anew` all vectors are made again.

        Raises:
            UsageError: no embedder is named, or its costs are limited and its price unknown.
            SearchFailed: the embedder failed for good, or the vectors cannot be stored.
        """
        return await embeddings.embed(self._context, progress, anew=anew)

    async def embedding_status(self) -> EmbeddingStatus:
        """Return the progress of the vectors, and their cost.

        Raises:
            UsageError: no embedder is named.
        """
        return await embeddings.embedding_status(self._context)

    # contents

    async def collections(self) -> list[CollectionRow]:
        """The collections made by users, by name."""
        return await shelves.collections(self._context)

    async def check_collection(self, collection: str) -> None:
        """Make sure that there is such a collection.

        Raises:
            UnknownName: there is none; the message lists the existing ones.
        """
        await shelves.check_collection(self._context, collection)

    async def mark(self, collection: str, *, private: bool, create: bool = False) -> None:
        """Set whether a collection is private: hidden from remote models, and never in scope together with the web.

        With `create` the collection is created if it does not exist, to mark it before documents are added.

        Raises:
            UnknownName: there is no such collection.
            UsageError: the name of a new collection is not valid.
        """
        await shelves.mark(self._context, collection, private=private, create=create)

    async def private(self, collections: Sequence[str] = (), documents: Sequence[str] = ()) -> list[str]:
        """Return the private collections that are among `collections` or share a document with them.

        The documents in `documents` (hashes) count too: a private document stays private in every other collection.
        """
        return await shelves.private_collections(self._context, collections, documents)

    async def share(self, collection: str, readers: Sequence[str] | Literal["all"] = ()) -> None:
        """Set who may read a collection beside its owner: users by name, or all; empty ends the sharing.

        Others call it `OWNER/NAME`. What their runs have read of it stays with their reports.

        Raises:
            UnknownName: there is no such collection, or the home has users and a new reader is none of them.
            UsageError: it belongs to another user.
        """
        await shelves.share(self._context, collection, readers)

    async def check_readers(self, collection: str, readers: Sequence[str]) -> None:
        """Make sure that `share` accepts these readers; the collection may be missing.

        Raises:
            UnknownName: the home has users, and a new reader is none of them.
        """
        await shelves.check_readers(self._context, collection, readers)

    async def drop(self, collection: str) -> None:
        """Delete a collection; its documents stay in the library.

        Raises:
            UnknownName: there is none with that name.
        """
        await shelves.drop(self._context, collection)

    async def selection(self, documents: Sequence[str]) -> str:
        """Return the name of the collection of exactly these documents (hashes), creating it if necessary.

        Raises:
            UnknownName: there is no such document.
        """
        return await asyncio.to_thread(self._context.store.library.collection_for, documents)

    async def origins(self, collection: str = DEFAULT_COLLECTION) -> list[Origin]:
        """The places a collection was added from.

        Raises:
            UnknownName: there is no such collection.
        """
        return await shelves.origins(self._context, collection)

    async def documents(self, collection: str = DEFAULT_COLLECTION) -> list[Document]:
        """The documents of a collection, in the order they were added.

        Raises:
            UnknownName: there is no such collection.
        """
        return await shelves.documents(self._context, collection)

    async def copies(self, documents: Sequence[Document]) -> dict[str, tuple[str, ...]]:
        """The other files of this machine that gave each of these documents, by hash: their paths, as last read.

        A text is stored once, under the name of the file that gave it first.
        """
        return await shelves.copies(self._context, documents)

    async def search(
        self, text: str, limit: int = 10, collection: str | Sequence[str] = DEFAULT_COLLECTION
    ) -> list[Hit]:
        """The best documents of one or more collections for `text`, best first.

        Raises:
            UnknownName: there is no such collection.
        """
        return await shelves.search(self._context, text, limit, collection)

    async def explain(self, text: str, limit: int = 10, collection: str = DEFAULT_COLLECTION) -> list[Explanation]:
        """Return what `search` returns, each with the reasons for its rank."""
        return await shelves.explain(self._context, text, limit, collection)

    async def text(self, reference: str, collection: str | None = None) -> tuple[Document, str]:
        """Return a document of a collection (None: of any), by hash, name, address or title, with its text.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference matches several.
        """
        return await shelves.text(self._context, reference, collection)

    async def excerpt(self, reference: str, start: int = 0, end: int | None = None, around: int = 300) -> Excerpt:
        """Return bytes `start` to `end` (None: the last) of a document's text, with `around` bytes before and after
        them.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference matches several, or these bytes are not in it.
        """
        return await shelves.excerpt(self._context, reference, start, end, around)

    async def facts(self, reference: str) -> DocumentFacts:
        """Return metadata of a document: pages, bytes, its collections.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference matches several.
        """
        return await shelves.facts(self._context, reference)

    async def page_text(self, reference: str, number: int) -> PageText:
        """Return page `number` (from 1) of a document; a document without pages is one page.

        Raises:
            UnknownName: there is no such document, or it has no such page.
            UsageError: the reference matches several.
        """
        return await shelves.page_text(self._context, reference, number)

    async def page_picture(self, reference: str, number: int, width: int = 1000) -> bytes:
        """Draw page `number` (from 1) of a PDF as a PNG, `width` pixels wide.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference matches several, or this is not a PDF with such a page.
        """
        return await shelves.page_picture(self._context, reference, number, width)

    async def page_places(self, reference: str, start: int, end: int) -> PagePlaces:
        """Find the place of bytes `start` to `end` of a PDF's text: the page on which they begin, and a box for each
        line.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference matches several, this is not a PDF, or it has no such bytes.
        """
        return await shelves.page_places(self._context, reference, start, end)

    async def original(self, reference: str) -> tuple[Document, bytes]:
        """Return a document by hash, name, address or title, and the bytes it was read from.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference matches several.
        """
        return await shelves.original(self._context, reference)

    # reading and checking without storing

    def extract(self, path: str | Path) -> AsyncIterator[ReadResult]:
        """Yield the documents in a file (in all files, if `path` is a folder or a glob), in order; stores nothing.

        An unreadable file gives an `Unread` in its place; files in a folder that are not text are left out.
        """
        return extraction.extract(self._context, path)

    async def fetch(self, url: str, *, browser: bool = False) -> ReadPage:
        """Fetch a page as a run would read it; stores nothing. With `browser` it is rendered even if it has text
        already.

        Raises:
            FetchFailed: it cannot be fetched or read; the reason begins with its kind.
        """
        web = msgspec.structs.replace(self.settings.web, browser="always") if browser else self.settings.web
        async with extraction.open_fetcher(web, self._context.clock) as fetcher:
            return await extraction.read_page(fetcher, self._context.readers, url)

    async def verify(
        self,
        text: str,
        *,
        sources: Sources = (),
        folder: str | Path = ".",
        web: bool = False,
        find: bool | None = None,
        model: str | None = None,
        answers: Path | None = None,
        allow_private: bool = False,
        max_usd: float | None = None,
        max_tokens: int | None = None,
        progress: ProgressLog | None = None,
    ) -> VerifiedText:
        """Check every claim of a text with citations or links against the documents it names.

        Without `model` none is called.

        Args:
            text: Markdown or plain text, with its list of references if it cites by number.
            sources: files, folders, globs, pages and collections (`@NAME`) it may cite.
            folder: the folder that paths in the text are relative to.
            web: fetch cited pages that are not among `sources`, by the rules of the settings.
            find: search all documents for evidence of sentences without a citation; None: if the text has no citations.
            model: `PROVIDER:NAME` judges the claims that the rules do not decide.
            answers: the home in which the model's answers are stored, if not this one.
            allow_private: let a model that is not on this machine see private documents.
            max_usd: the most the model may cost, in US dollars; the remaining claims are unchecked. None: from the
                settings.
            max_tokens: the most tokens it may use, likewise.
            progress: called with a line of text while documents are read.

        Raises:
            UsageError: there are neither documents nor the web, a path does not exist, the text is too long, or the
                model cannot judge or would see private documents.
            UnknownName, ConfigError: there is no such model, or it is not set up correctly.
        """
        judge = verification.Judge(model, answers, allow_private, max_usd, max_tokens)
        text_sources = verification.TextSources(sources=sources, folder=folder, web=web, find=find)
        return await verification.check_text(self._context, text, text_sources, judge, progress)
