"""The class `DocumentLibrary`: documents, and what is done with them without a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.app.background import LARGEST, BackgroundLibrary
from assay.core.later import later
from assay.core.ports import CollectionRow, Explanation, Hit, Origin
from assay.core.sources import Document
from assay.services.arguments import DEFAULT, Say, Sources

if TYPE_CHECKING:
    from assay.app import embeddings, verification
    from assay.app.embeddings import EmbeddingStatus
    from assay.app.verification import VerifiedText
    from assay.core.sources import PagePlaces
    from assay.evidence.ingest import Ingested
    from assay.search.vectors import Built
    from assay.services import additions, collections, extraction, pages, shelves
    from assay.services.collections import Synced
    from assay.services.extraction import Reading
    from assay.services.pages import ReadPage
    from assay.services.shelves import DocumentFacts, Excerpt, PageText
else:
    additions = later("assay.services.additions")
    collections = later("assay.services.collections")
    embeddings = later("assay.app.embeddings")
    extraction = later("assay.services.extraction")
    pages = later("assay.services.pages")
    shelves = later("assay.services.shelves")
    verification = later("assay.app.verification")


class DocumentLibrary(BackgroundLibrary):
    """A library of documents; see `Home` for what it is made with, `BackgroundLibrary` for what goes on
    beside.
    """

    # coming and going

    async def add(self, paths: Sources, collection: str | None = DEFAULT, progress: Say | None = None) -> Ingested:
        """Read files, folders, globs, pages (http…) and what connectors understand into the library.

        What is known already costs nothing. A collection remembers what it was added from, for `sync`; without one the
        answer names the collection which holds exactly these documents.

        Raises:
            UsageError: a path that does not exist, a name no collection can have, or nothing could be read.
        """
        return await collections.add(self._context, paths, collection, progress)

    async def upload(
        self,
        name: str,
        pieces: AsyncIterable[bytes],
        collection: str = DEFAULT,
        *,
        most: int = LARGEST,
        progress: Say | None = None,
    ) -> Ingested:
        """Read a file which comes piece by piece into a collection; it is kept in the home, for `sync`.

        Args:
            name: what it is called; its end says how it is read.
            pieces: its bytes, at most `most`.
            collection: where it comes in.
            most: bytes it may have.
            progress: told in a line how the reading goes.

        Raises:
            TooLarge: it has more bytes; nothing of it is kept.
            UsageError: nothing in it could be read, or this is no name of a file or collection.
            StoreError: it cannot be stored.
        """
        return await additions.add(self._context, name, pieces, collection, most, progress)

    async def crawl(
        self, url: str, collection: str = DEFAULT, *, pages: int = 200, depth: int = 5, progress: Say | None = None
    ) -> Ingested:
        """Read the pages of one site into a collection: those of the host of `url`, at or below its path.

        Args:
            pages: at most so many are read.
            depth: how many links away from `url`.

        What was read when it is interrupted is kept, and a sync goes on.

        Raises:
            UsageError: nothing could be read.
        """
        return await collections.crawl(self._context, url, collection, pages, depth, progress)

    async def sync(
        self, collection: str = DEFAULT, progress: Say | None = None, *, only: Sequence[str] | None = None
    ) -> Synced:
        """Look again at all a collection was added from: what is new comes in, what is gone or changed leaves.

        With `only` just at these of the places it was added from.

        A document which leaves stays in the library, for the reports which cite it. What cannot be reached now stays.

        Raises:
            UnknownName: there is no such collection.
            UsageError: nothing is known of what it was added from.
        """
        return await collections.sync(self._context, collection, progress, only)

    async def remove(self, references: Sequence[str], collection: str = DEFAULT) -> list[Document]:
        """Take documents out of a collection, by hash, name, address, title or path; a place takes out all it gave.

        They stay in the library, for the reports which cite them; a sync does not bring them back.

        Raises:
            UnknownName: there is no such collection, or no such document in it.
            UsageError: a reference means several.
        """
        return await collections.remove(self._context, references, collection)

    async def meant(self, references: Sequence[str], collection: str = DEFAULT) -> list[Document]:
        """The documents `remove` would take out.

        Raises:
            UnknownName: there is no such collection, or no such document in it.
            UsageError: a reference means several.
        """
        return await collections.meant(self._context, references, collection)

    async def embed(self, progress: Say | None = None, *, anew: bool = False) -> Built:
        """Make the vectors which the library's passages do not have yet, with the embedder of the settings.

        What is done is kept whenever it is interrupted. With `anew` all are made again.

        Raises:
            UsageError: no embedder is named, or its costs are limited and nobody knows its price.
            SearchFailed: the embedder failed for good, or the vectors cannot be kept.
        """
        return await embeddings.embed(self._context, progress, anew=anew)

    async def embedding_status(self) -> EmbeddingStatus:
        """How far the vectors have come, and what they have cost.

        Raises:
            UsageError: no embedder is named.
        """
        return await embeddings.status(self._context)

    # as it is

    async def collections(self) -> list[CollectionRow]:
        """The collections people have made, by name."""
        return await shelves.collections(self._context)

    async def check_collection(self, collection: str) -> None:
        """Make sure that there is such a collection.

        Raises:
            UnknownName: there is none; the message names those there are.
        """
        await shelves.check_collection(self._context, collection)

    async def mark(self, collection: str, *, private: bool) -> None:
        """Say whether a collection is private: never shown to models elsewhere, nor in scope while the web is searched.

        Raises:
            UsageError: no collection can have that name.
        """
        await shelves.mark(self._context, collection, private=private)

    async def private(self, collections: Sequence[str] = (), documents: Sequence[str] = ()) -> list[str]:
        """The names of the private collections which are among `collections`, or hold one of their documents or of
        `documents` (hashes): what is private stays so in whatever collection it is too.
        """
        return await shelves.private(self._context, collections, documents)

    async def share(self, collection: str, readers: Sequence[str] | Literal["all"] = ()) -> None:
        """Say who may read a collection of yours beside you: users by name, or all; none ends it for everybody.

        It is called `OWNER/NAME` by them. What their runs have read of it stays with their reports.

        Raises:
            UnknownName: there is no such collection.
            UsageError: it is another user's.
        """
        await shelves.share(self._context, collection, readers)

    async def drop(self, collection: str) -> None:
        """Forget a collection; its documents stay in the library.

        Raises:
            UnknownName: there is none of that name.
        """
        await shelves.drop(self._context, collection)

    async def selection(self, documents: Sequence[str]) -> str:
        """The name of the collection which holds exactly these documents (hashes); it is made where there is none.

        Raises:
            UnknownName: there is no such document.
        """
        return await asyncio.to_thread(self._context.store.library.select, documents)

    async def origins(self, collection: str = DEFAULT) -> list[Origin]:
        """Where a collection was added from."""
        return await shelves.origins(self._context, collection)

    async def documents(self, collection: str = DEFAULT) -> list[Document]:
        """The documents of a collection, in the order of adding."""
        return await shelves.documents(self._context, collection)

    async def search(self, text: str, limit: int = 10, collection: str | Sequence[str] = DEFAULT) -> list[Hit]:
        """The best documents of one or more collections for `text`, best first."""
        return await shelves.search(self._context, text, limit, collection)

    async def explain(self, text: str, limit: int = 10, collection: str = DEFAULT) -> list[Explanation]:
        """What `search` gives, each with why it stands where it stands."""
        return await shelves.explain(self._context, text, limit, collection)

    async def text(self, reference: str, collection: str | None = None) -> tuple[Document, str]:
        """A document of a collection (None: of any), by hash, name, address or title, with its text.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference means several.
        """
        return await shelves.text(self._context, reference, collection)

    async def excerpt(self, reference: str, start: int = 0, end: int | None = None, around: int = 300) -> Excerpt:
        """Bytes `start` to `end` (None: the last) of a document's text, with `around` bytes before and after them.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference means several, or these bytes are not in it.
        """
        return await shelves.excerpt(self._context, reference, start, end, around)

    async def facts(self, reference: str) -> DocumentFacts:
        """What is known of a document beside its text: pages, bytes, the collections it is in.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference means several.
        """
        return await shelves.facts(self._context, reference)

    async def page_text(self, reference: str, number: int) -> PageText:
        """Page `number` (from 1) of a document; one without pages is its first page.

        Raises:
            UnknownName: there is no such document, or it has no such page.
            UsageError: the reference means several.
        """
        return await shelves.page_text(self._context, reference, number)

    async def page_picture(self, reference: str, number: int, width: int = 1000) -> bytes:
        """Page `number` (from 1) of a PDF as it is printed: a PNG, `width` dots wide.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference means several, or this is no PDF with such a page.
        """
        return await shelves.page_picture(self._context, reference, number, width)

    async def page_places(self, reference: str, start: int, end: int) -> PagePlaces:
        """Where bytes `start` to `end` of a PDF's text are printed: the page on which they begin, a box for each line.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference means several, this is no PDF, or it has no such bytes.
        """
        return await shelves.page_places(self._context, reference, start, end)

    async def original(self, reference: str) -> tuple[Document, bytes]:
        """A document by hash, name, address or title, and the bytes it was read from.

        Raises:
            UnknownName: there is no such document.
            UsageError: the reference means several.
        """
        return await shelves.original(self._context, reference)

    # read and checked, and nothing kept

    def extract(self, path: str | Path) -> AsyncIterator[Reading]:
        """The documents in a file (in all files, where `path` is a folder or a glob), in order; nothing is kept.

        What cannot be read comes as an `Unread` in its place; files of a folder which are no text are left out.
        """
        return extraction.extract(self._context, path)

    async def fetch(self, url: str, *, browser: bool = False) -> ReadPage:
        """A page as a run would read it; nothing is kept. With `browser` it is rendered though it has text already.

        Raises:
            FetchFailed: it cannot be had or read; the reason begins with its kind.
        """
        web = self.settings.web.model_copy(update={"browser": "always"}) if browser else self.settings.web
        async with pages.fetching(web, self._context.clock) as fetcher:
            return await pages.read_page(fetcher, self._context.readers, url)

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
        progress: Say | None = None,
    ) -> VerifiedText:
        """Check every claim of a text with citations or links against the documents it names.

        Without `model` none is asked.

        Args:
            text: Markdown or plain text, with its list of references where it cites by number.
            sources: files, folders, globs, pages and collections (`@NAME`) it may cite.
            folder: what paths in the text are relative to.
            web: fetch the pages it cites which are not among `sources`, by the rules of the settings.
            find: look in all documents for sentences without a citation; None: where the text cites nothing.
            model: `PROVIDER:NAME` judges the claims which the rules do not decide.
            answers: the home in which the model's answers are remembered, where that is not this one.
            allow_private: let a model which is not on this machine see private documents.
            max_usd: US dollars the model may cost; claims which are left over are unchecked. None: the settings.
            max_tokens: tokens it may use, likewise.
            progress: told in a line how the reading of documents goes.

        Raises:
            UsageError: neither documents nor the web, a path that does not exist, a text which is too long; a model
                which cannot judge, or would see private documents.
            UnknownName, ConfigError: there is no such model, or it cannot be reached as it is set up.
        """
        judge = verification.Judge(model, answers, allow_private, max_usd, max_tokens)
        against = verification.TextSources(sources=sources, folder=folder, web=web, find=find)
        return await verification.checked(self._context, text, against, judge, progress)
