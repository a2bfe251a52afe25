"""The contents of the library: its collections, their documents, search, and pages of PDFs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from assay.core.errors import ExtractError, UnknownName, UsageError
from assay.core.ports import CollectionRow, Explanation, Hit, Origin, Query
from assay.core.ports.collections import SLASH, others_collection_error, unfit_name
from assay.core.sources import Document, Extracted, PageAsked, PagePlaces
from assay.evidence.documents import passage_with_surroundings
from assay.services import places
from assay.services.argument_types import check_least
from assay.services.arguments import DEFAULT_COLLECTION
from assay.services.context import Context

PAGE_END = b"\f"
"""Ends a page in the text of a document that has pages."""
MAX_HITS = 1_000_000
"""The most documents a search gives; what searches can count."""
MAX_NAMED = 5
"""Of many candidates, so many are named in an error."""


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes `start` to `end` of a document's text, and the text before and after them."""

    document: Document
    start: int
    end: int
    before: str
    text: str
    after: str


class DocumentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts known about a document besides its text.

    `pages` is 0 if its format has none; `bytes` is the size of what it was read from, `document.size` that of its text.
    `collections` are those it is in, as far as the caller may read them.
    """

    document: Document
    pages: int
    bytes: int
    collections: tuple[str, ...]


class PageText(msgspec.Struct, frozen=True, kw_only=True):
    """Page `number` (from 1) of the `pages` of a document: bytes `start` to `end` of its text."""

    sha256: str
    number: int
    pages: int
    start: int
    end: int
    text: str


async def drop(context: Context, collection: str) -> None:
    """Delete a collection; its documents stay in the library; see `DocumentLibrary.drop`."""
    await check_collection(context, collection)
    removed = await documents(context, collection)
    await asyncio.to_thread(context.store.library.drop, collection)
    await asyncio.to_thread(forget_pages, context, removed)


def forget_pages(context: Context, documents: Iterable[Document]) -> None:
    """Delete removed documents from the page cache, so that the next run fetches them again. Blocking."""
    snapshots = (context.store.library.snapshot(document.snapshot_sha256) for document in documents)
    for snapshot in snapshots:
        if snapshot is not None and snapshot.status:
            context.page_cache.forget(snapshot.url)


async def collections(context: Context) -> list[CollectionRow]:
    """The collections made by users, by name."""
    rows = await asyncio.to_thread(context.store.library.collections)
    return [row for row in rows if places.is_user_collection(row)]


async def origins(context: Context, collection: str) -> list[Origin]:
    """The places a collection was added from."""
    origins = await asyncio.to_thread(context.store.library.origins, collection)
    if not origins:
        await _check_exist(context, [collection])
    return origins


async def check_name(context: Context, collection: str) -> None:
    """Make sure that documents can be added to a collection with this name: an existing one, or a new one.

    Raises:
        UsageError: the name is not valid, or it is another user's collection.
    """
    places.check_collection_name(collection)
    if SLASH not in collection or context.owner is None:
        return
    rows = await asyncio.to_thread(context.store.library.collections)
    owner = next((row.owner for row in rows if row.name == collection), None)
    if owner is None:
        raise unfit_name(collection)
    if owner != context.owner:
        raise others_collection_error(collection)


async def mark(context: Context, collection: str, *, private: bool, create: bool) -> None:
    """Set whether a collection is private; see `DocumentLibrary.mark`."""
    await (check_name if create else check_collection)(context, collection)
    await asyncio.to_thread(context.store.library.mark, collection, private=private)


async def private_collections(context: Context, collections: Sequence[str], documents: Sequence[str]) -> list[str]:
    """The private collections among these, or that share a document with them or `documents`."""
    return await asyncio.to_thread(context.store.library.private_among, collections, documents)


async def share(context: Context, collection: str, readers: Sequence[str] | Literal["all"]) -> None:
    """Set who may read a collection; see `DocumentLibrary.share`."""
    await check_collection(context, collection)
    names = () if readers == "all" else readers
    await check_readers(context, collection, names)
    await asyncio.to_thread(context.store.library.share, collection, open=readers == "all", readers=names)


async def check_readers(context: Context, collection: str, readers: Sequence[str]) -> None:
    """Make sure that new readers are users: whoever gets an unused name later would read the collection too.

    A home without any user belongs to a program that knows its own users, and takes their names as they are.

    Raises:
        UnknownName: one is no user; its `known` are empty, since not everybody may see the names of all users.
    """
    if not all(name.strip() for name in readers):
        raise UnknownName("user", "", hint="(name the readers, or share with all)")
    rows = await asyncio.to_thread(context.store.library.collections)
    before = next((row.readers for row in rows if row.name == collection), ())
    new = [name for name in readers if name not in before]
    if not new or context.store.users is None:
        return
    users = {user.name for user in await context.users.all()}
    if users and (unknown := next((name for name in new if name not in users), None)):
        raise UnknownName("user", unknown, hint="(assay users add makes one)")


async def check_collection(context: Context, collection: str) -> None:
    """Make sure that there is such a collection; see `DocumentLibrary.check_collection`."""
    names = [row.name for row in await collections(context)]
    if collection not in names:
        raise places.unknown_collection(collection, names)


async def text(context: Context, reference: str, collection: str | None) -> tuple[Document, str]:
    """A document with its text; see `DocumentLibrary.text`."""
    names = [collection] if collection else [row.name for row in await collections(context)]
    document = single_document(await asyncio.to_thread(context.store.library.find, reference, names), reference, names)
    body = await asyncio.to_thread(context.store.blobs.get, document.sha256)
    return document, body.decode()


async def original(context: Context, reference: str) -> tuple[Document, bytes]:
    """A document, and the bytes it was read from; see `DocumentLibrary.original`."""
    document = await _find_document(context, reference)
    return document, await asyncio.to_thread(context.store.blobs.get, document.snapshot_sha256)


async def excerpt(context: Context, reference: str, start: int, end: int | None, around: int) -> Excerpt:
    """A span of a document in its context; see `DocumentLibrary.excerpt`."""
    document = await _find_document(context, reference)
    stop = document.size if end is None else end
    try:
        before, text, after = await asyncio.to_thread(
            passage_with_surroundings, context.reader, document, start, stop, around
        )
    except (ValueError, UnicodeDecodeError) as error:
        raise UsageError(f"this is not a part of the document ({error}): name bytes within it") from error
    return Excerpt(document=document, start=start, end=stop, before=before, text=text, after=after)


async def facts(context: Context, reference: str) -> DocumentFacts:
    """Metadata of a document; see `DocumentLibrary.facts`."""
    document = await _find_document(context, reference)
    library = context.store.library
    snapshot = await asyncio.to_thread(library.snapshot, document.snapshot_sha256)
    names = [row.name for row in await collections(context)]
    holding_names = [name for name in names if await asyncio.to_thread(library.find, document.sha256, [name])]
    is_paged = document.syntax == "pages"
    text = await asyncio.to_thread(context.reader.text, document) if is_paged else b""
    return DocumentFacts(
        document=document,
        pages=text.count(PAGE_END) + 1 if is_paged else 0,
        bytes=snapshot.size if snapshot is not None else 0,
        collections=tuple(holding_names),
    )


async def page_text(context: Context, reference: str, number: int) -> PageText:
    """A page of a document; see `DocumentLibrary.page_text`."""
    document = await _find_document(context, reference)
    text = await asyncio.to_thread(context.reader.text, document)
    pages = text.split(PAGE_END) if document.syntax == "pages" else [text]
    if not 1 <= number <= len(pages):
        raise UnknownName("page", str(number), hint=f"in this document: it has {len(pages)}")
    start = sum(len(page) + len(PAGE_END) for page in pages[: number - 1])
    page = pages[number - 1]
    return PageText(
        sha256=document.sha256,
        number=number,
        pages=len(pages),
        start=start,
        end=start + len(page),
        text=page.decode(),
    )


async def _find_document(context: Context, reference: str) -> Document:
    """A document by its whole hash, or as `text` finds it in all collections."""
    exact = await asyncio.to_thread(context.store.library.document, reference)
    if exact is not None:
        return exact
    names = [row.name for row in await collections(context)]
    return single_document(await asyncio.to_thread(context.store.library.find, reference, names), reference, names)


async def documents(context: Context, collection: str) -> list[Document]:
    """The documents of a collection, in the order they were added."""
    found = await asyncio.to_thread(context.store.library.documents, [collection])
    if not found:
        await _check_exist(context, [collection])
    return found


async def copies(context: Context, documents: Sequence[Document]) -> dict[str, tuple[str, ...]]:
    """The other files that gave these documents; see `DocumentLibrary.copies`."""
    return await asyncio.to_thread(_copies, context, documents)


def _copies(context: Context, documents: Sequence[Document]) -> dict[str, tuple[str, ...]]:
    paths = context.store.library.files_of([document.sha256 for document in documents])
    files = {sha: [Path(path) for path in file_paths if os.path.exists(path)] for sha, file_paths in paths.items()}
    copies_of_documents = (
        (document, [path for path in files.get(document.sha256, ()) if not is_from_file(document.url, path)])
        for document in documents
    )
    return {document.sha256: tuple(map(os.fspath, copies)) for document, copies in copies_of_documents if copies}


def is_from_file(url: str, file: Path) -> bool:
    """True if an address is that of a file, or of something in it."""
    suffix = url.removeprefix(file.resolve().as_uri())
    return suffix != url and not suffix[:1].strip("/#!?")


async def search(context: Context, text: str, limit: int, collection: str | Sequence[str]) -> list[Hit]:
    """The best documents of one or more collections for `text`, best first."""
    names = (collection,) if isinstance(collection, str) else tuple(collection)
    hits = await context.wiring.owned_search(context).search(
        Query(text=text, limit=_check_limit(limit), collections=names)
    )
    if not hits or len(names) > 1:
        await _check_exist(context, names)
    return hits


async def explain(context: Context, text: str, limit: int, collection: str) -> list[Explanation]:
    """The same documents, each with the reasons for its rank."""
    query = Query(text=text, limit=_check_limit(limit), collections=(collection,))
    explanations = await context.wiring.owned_search(context).explain(query)
    if not explanations:
        await _check_exist(context, [collection])
    return explanations


def _check_limit(limit: int) -> int:
    check_least(0, limit=limit)
    return min(limit, MAX_HITS)


async def _check_exist(context: Context, names: Iterable[str]) -> None:
    """Make sure that there are collections with these names; the default one need not exist yet.

    Raises:
        UnknownName: there is none with one of them.
    """
    existing = {row.name for row in await asyncio.to_thread(context.store.library.collections)} | {DEFAULT_COLLECTION}
    for name in names:
        if name not in existing:
            raise places.unknown_collection(name, [row.name for row in await collections(context)])


def is_exact_reference(document: Document, reference: str) -> bool:
    """True if a reference is a document's whole hash, name, address or title."""
    return reference in (document.sha256, document.name, document.url, document.title)


def single_document(matches: Sequence[Document], reference: str, collections: Sequence[str]) -> Document:
    """The one document that a reference means.

    Raises:
        UnknownName: there is none.
        UsageError: there are several, and it names none of them exactly.
    """
    if not matches:
        where = ", ".join(collections) or "the library, which is empty"
        raise UnknownName("document", reference, hint=f"in {where} (assay docs list shows what there is)")
    exact = [document for document in matches if is_exact_reference(document, reference)]
    candidates = exact or matches
    if len(candidates) > 1:
        examples = ", ".join(
            f"{document.sha256[:8]} ({document.title or document.name})" for document in candidates[:MAX_NAMED]
        )
        raise UsageError(f"{reference!r} means {len(candidates)} documents: {examples}; name one by its number")
    return candidates[0]


# Pages of stored PDFs: their pictures, and the places of passages on them.

MIN_WIDTH_PIXELS, MAX_WIDTH_PIXELS = 100, 2000
"""Width of a picture in pixels."""
PDF_HEAD_BYTES = 1024
"""Bytes in which a PDF identifies itself."""


async def page_picture(context: Context, reference: str, number: int, width: int) -> bytes:
    """A page as a PNG; see `DocumentLibrary.page_picture`."""
    document, data = await _require_pdf(context, reference)
    pages = (await asyncio.to_thread(context.reader.text, document)).count(PAGE_END) + 1
    if not 1 <= number <= pages:
        raise UnknownName("page", str(number), hint=f"in this document: it has {pages}")
    page_request = PageAsked(number=number, width=min(max(width, MIN_WIDTH_PIXELS), MAX_WIDTH_PIXELS))
    return (await _read_pdf_page(context, document, data, page_request)).body or b""


async def page_places(context: Context, reference: str, start: int, end: int) -> PagePlaces:
    """Where a passage is printed; see `DocumentLibrary.page_places`."""
    document, data = await _require_pdf(context, reference)
    text = await asyncio.to_thread(context.reader.text, document)
    if not 0 <= start < end <= len(text):
        raise UsageError(f"the document has no bytes {start} to {end}: it has {len(text)}; name some within it")
    begin = text.rfind(PAGE_END, 0, start) + 1
    stop = text.find(PAGE_END, start)
    page_request = PageAsked(
        number=text.count(PAGE_END, 0, start) + 1,
        passage=text[start : min(end, stop if stop >= 0 else end)].decode(errors="replace"),
        before=text[begin:start].decode(errors="replace"),
    )
    return msgspec.json.decode((await _read_pdf_page(context, document, data, page_request)).text, type=PagePlaces)


async def _require_pdf(context: Context, reference: str) -> tuple[Document, bytes]:
    """A document that was read from a PDF, and that PDF."""
    document, data = await original(context, reference)
    if document.syntax != "pages" or b"%PDF-" not in data[:PDF_HEAD_BYTES]:
        raise UsageError(
            f"{document.name or document.title!r} is not a PDF, so it has no page images: read its text instead"
        )
    return document, data


async def _read_pdf_page(context: Context, document: Document, data: bytes, page_request: PageAsked) -> Extracted:
    pages = context.readers.pdf_page_reader()

    def work() -> Extracted:
        return next(iter(pages.extract(data, msgspec.json.encode(page_request).decode())))

    try:
        return await asyncio.to_thread(work)
    except ExtractError as error:
        name = document.name or document.title
        raise UsageError(
            f"page {page_request.number} of {name!r} cannot be shown ({error}): read its text instead"
        ) from error
