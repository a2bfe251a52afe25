"""Collections and their documents: add, list, search, read, remove."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import msgspec
from starlette.datastructures import UploadFile

from assay.core.errors import UnknownName
from assay.core.ports import Addition, CollectionRow, Origin
from assay.core.sources import Document
from assay.evidence.ingest import UPLOAD_SUFFIX, address
from assay.server.api.documents import WAIT_SECONDS, AdditionList, await_additions, hide_upload_paths
from assay.server.api.run_requests import AddedScope, RequestBody, body_error, sources_of
from assay.server.guards import body_of, form_of
from assay.server.problems import refusal
from assay.server.wire import Endpoints, RouteCall, struct_from
from assay.services.collections import Synced

routes = Endpoints("documents")

MAX_PAGE_SIZE = 1_000
PIECE = 1 << 20
FILES = ("application/octet-stream", "multipart/form-data")
MORE_FILES = "send fewer or smaller files at a time; the setting server.upload_mb allows larger ones"


class CollectionNames(msgspec.Struct, frozen=True, kw_only=True):
    """The collections made by users, by name."""

    collections: tuple[CollectionRow, ...]


class CollectionShown(msgspec.Struct, frozen=True, kw_only=True):
    """A collection: its owner, its readers (all, if it is `open`), and the places it was added from."""

    name: str
    documents: int
    private: bool
    owner: str
    open: bool
    readers: tuple[str, ...]
    origins: tuple[Origin, ...]


class CollectionWanted(RequestBody, frozen=True, kw_only=True):
    """The properties of a collection, which is created if it does not exist.

    `readers` may read it beside its owner: users by name, or `all`; None leaves that unchanged.
    """

    private: bool = False
    readers: tuple[str, ...] | Literal["all"] | None = None


class NewCollection(CollectionWanted, frozen=True, kw_only=True):
    """A collection to create, by name."""

    name: str


class Window(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of a list."""

    limit: int = 100
    offset: int = 0


class DocumentPage(msgspec.Struct, frozen=True, kw_only=True):
    """Documents in the order they were added; `next` is the offset of the next ones, None at the end."""

    documents: tuple[Document, ...]
    total: int
    next: int | None


class FileNamed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The name of the uploaded file, if the body is the file itself, and how many seconds to wait until it is read.

    What is not read by then is read in the background: see `/additions`.
    """

    name: str = ""
    wait: float = WAIT_SECONDS


class Crawl(RequestBody, frozen=True, kw_only=True):
    """A site to read: pages at and below `url`, with a limit on pages and on the distance in links."""

    url: str
    pages: int = 200
    depth: int = 5


class Places(RequestBody, frozen=True, kw_only=True):
    """The places to read into a collection: pages, and files on the server in the allowed folders."""

    urls: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    wait: float = WAIT_SECONDS


class AdditionWanted(RequestBody, frozen=True, kw_only=True):
    """One of: pages to read, a site to crawl, or a sync of all places the collection was added from."""

    urls: tuple[str, ...] = ()
    crawl: Crawl | None = None
    sync: bool = False
    wait: float = 0.0


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """The result of adding: how many documents were found, and how many are new; warnings are sentences."""

    collection: str
    documents: int
    added: int
    files: int
    warnings: tuple[str, ...]


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """The documents removed; they stay in the library for the reports that cite them."""

    documents: tuple[Document, ...]


@routes.get("/collections")
async def list_collections(call: RouteCall) -> CollectionNames:
    """List the collections."""
    return CollectionNames(collections=tuple(await call.assay.collections()))


@routes.post("/collections", status=201)
async def create_collection(call: RouteCall, body: NewCollection) -> CollectionShown:
    """Create an empty collection, and set who may read it; an existing name is refused."""
    if body.name in {row.name for row in await call.assay.collections()}:
        raise refusal("wrong-state", f"there is a collection {body.name!r} already: change it by PUT, or add to it")
    call.set_subject(body.name)
    collection = await mark_collection(call, body.name, body)
    call.headers["Location"] = f"/api/v1/collections/{quote(body.name)}"
    return collection


@routes.get("/collections/{collection:path}/documents")
async def list_documents(call: RouteCall, collection: str, query: Window) -> DocumentPage:
    """List the documents of a collection, in the order they were added."""
    await call.assay.check_collection(collection)
    documents = await call.assay.documents(collection)
    start, limit = max(query.offset, 0), min(max(query.limit, 1), MAX_PAGE_SIZE)
    end = start + limit
    return DocumentPage(
        documents=tuple(documents[start:end]), total=len(documents), next=end if end < len(documents) else None
    )


@routes.post("/collections/{collection:path}/documents", status=201, takes=FILES)
async def upload_documents(call: RouteCall, collection: str, query: FileNamed) -> AdditionList:
    """Read an uploaded file into a collection: the body itself, with a `name`, or the files of a form.

    The answer comes when they are read (201), or after `wait` seconds (202): then they are read in the background.
    """
    max_bytes = call.backend.settings.server.upload_mb * 1_000_000
    body = body_of(call.request)
    body.max_bytes, body.instead = max_bytes + 100_000, MORE_FILES  # a form has more than its files
    type = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if type == "multipart/form-data":
        return await await_additions(call, await _form(call, collection, max_bytes), query.wait)
    if not query.name:
        raise refusal("invalid", "give the name of the file: ?name=report.pdf, or send a form (multipart/form-data)")
    pieces, kind = call.request.stream(), "" if type in FILES else type
    addition = await call.assay.begin_upload(query.name, pieces, collection, media_type=kind, most=max_bytes)
    return await await_additions(call, [addition], query.wait)


async def _form(call: RouteCall, collection: str, max_bytes: int) -> list[Addition]:
    """The files of a form, which are on disk by then."""
    form = await form_of(call.request, fields=10)
    try:
        files = [value for _, value in form.multi_items() if not isinstance(value, str)]
        if not files:
            raise refusal("invalid", "the form has no file")
        return await begin_uploads(call, files, collection, max_bytes)
    finally:
        await form.close()


async def begin_uploads(
    call: RouteCall, files: Iterable[UploadFile], collection: str, max_bytes: int
) -> list[Addition]:
    """Begin to read the files of a form, of at most so many bytes each; they are on disk by then."""
    upload = call.assay.begin_upload
    return [await upload(file.filename or "", _pieces(file), collection, most=max_bytes) for file in files]


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(PIECE):
        yield piece


@routes.post("/collections/{collection:path}/places", status=201)
async def add_places(call: RouteCall, collection: str, body: Places) -> AdditionList:
    """Read pages and files on the server into a collection, like uploaded ones; a sync looks at them again."""
    sources = sources_of(AddedScope(urls=body.urls, paths=body.paths), call.backend.settings)
    if not sources:
        raise body_error("", "the body names nothing to read: urls or paths")
    return await await_additions(call, [await call.assay.begin_add(sources, collection)], body.wait)


@routes.post("/collections/{collection:path}/crawl", status=201)
async def crawl_site(call: RouteCall, collection: str, body: Crawl) -> Added:
    """Read a site into a collection; the answer comes when it is read. If it is interrupted, what was read is kept."""
    sources_of(AddedScope(urls=(body.url,)), call.backend.settings)
    result = await call.assay.crawl(body.url, collection, pages=_pages(body), depth=_depth(body))
    return struct_from(Added, result)


@routes.post("/collections/{collection:path}/additions", status=202)
async def begin_addition(call: RouteCall, collection: str, body: AdditionWanted) -> AdditionList:
    """Read pages, a site or changes in the background; `/additions` shows the progress.

    The answer comes at once, or after `wait` seconds.
    """
    if (body.crawl is not None) + body.sync + bool(body.urls) != 1:
        raise body_error("", "say one thing to do: urls, crawl or sync")
    if body.sync:
        addition = await call.assay.begin_sync(collection)
    elif body.crawl is not None:
        sources_of(AddedScope(urls=(body.crawl.url,)), call.backend.settings)
        addition = await call.assay.begin_crawl(
            body.crawl.url, collection, pages=_pages(body.crawl), depth=_depth(body.crawl)
        )
    else:
        sources = sources_of(AddedScope(urls=body.urls), call.backend.settings) or []
        addition = await call.assay.begin_add(sources, collection)
    return await await_additions(call, [addition], body.wait)


@routes.post("/collections/{collection:path}/sync")
async def sync_collection(call: RouteCall, collection: str) -> Synced:
    """Look again at every place a collection was added from."""
    result = await call.assay.sync(collection)
    return msgspec.structs.replace(result, warnings=tuple(map(hide_upload_paths, result.warnings)))


def _pages(crawl: Crawl) -> int:
    return min(max(crawl.pages, 1), 10_000)


def _depth(crawl: Crawl) -> int:
    return min(max(crawl.depth, 0), 50)


@routes.delete("/collections/{collection:path}/documents/{document}")
async def remove_document(call: RouteCall, collection: str, document: str) -> Removed:
    """Remove a document from a collection, by hash or name; a sync does not bring it back."""
    return Removed(documents=tuple(await call.assay.remove([document], collection)))


@routes.get("/collections/{collection:path}")
async def show_collection(call: RouteCall, collection: str) -> CollectionShown:
    """Show a collection, and the places it was added from."""
    await call.assay.check_collection(collection)
    row = next(row for row in await call.assay.collections() if row.name == collection)
    return struct_from(CollectionShown, row, origins=tuple(map(_hide_places, await call.assay.origins(collection))))


def _hide_places(origin: Origin) -> Origin:
    """An origin for others, without the paths of uploaded files on the server."""
    path = Path(origin.place)
    if origin.kind == "files" and path.parent.suffix == UPLOAD_SUFFIX:
        public_address = address(path)
        skipped = tuple(
            msgspec.structs.replace(file, path=file.path.replace(origin.place, public_address, 1))
            for file in origin.skipped
        )
        return msgspec.structs.replace(origin, place=public_address, skipped=skipped)
    return origin


@routes.put("/collections/{collection:path}")
async def mark_collection(call: RouteCall, collection: str, body: CollectionWanted) -> CollectionShown:
    """Create a collection if needed, set whether it is private (hidden from remote models), and who may read it.

    New readers must be users: whoever gets an unused name later would read it too.
    """
    if body.readers not in (None, "all"):
        await _check_readers(call, collection, body.readers)
    await call.assay.mark(collection, private=body.private, create=True)
    if body.readers is not None:
        await call.assay.share(collection, body.readers)
    return await show_collection(call, collection)


async def _check_readers(call: RouteCall, collection: str, readers: Sequence[str]) -> None:
    """Make sure that readers who are not named already are users of the server.

    Raises:
        Refusal: one is not.
    """
    try:
        await call.assay.check_readers(collection, readers)
    except UnknownName as error:
        name, index = error.name, list(readers).index(error.name)
        detail = f"{name[:64]!r} is not a user of this server: check the name, or ask an admin to add them"
        raise body_error(f"/readers/{index}", detail) from None


@routes.delete("/collections/{collection:path}", status=204)
async def drop_collection(call: RouteCall, collection: str) -> None:
    """Delete a collection; its documents stay in the library."""
    await call.assay.drop(collection)
