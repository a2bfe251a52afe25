"""The library: collections, their documents, additions, and the text of a document as Assay reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import quote

import msgspec
from starlette.datastructures import UploadFile
from starlette.responses import Response

from assay.core.errors import AssayError
from assay.core.ports import Addition, CollectionRow
from assay.core.ports.collections import SLASH
from assay.core.sources import PagePlaces
from assay.core.translation import N_
from assay.evidence.segment import segment
from assay.server.api import collections, documents
from assay.server.page.forms import EMPTY, PageForm, read_form
from assay.server.page.templates_environment import fault_values, go_to, is_fragment, screen, unread_reason
from assay.server.problems import Refusal, refusal, whole_number
from assay.server.wire import BODY_BYTES, RouteCall
from assay.services import places
from assay.services.shelves import Excerpt

UPLOAD_WAIT_SECONDS = 3.0
"""Seconds to wait for an upload; the rest is read in the background."""
MAX_ADDITIONS = 8
SHOWN_BYTES = 60_000
"""Bytes of a document shown at a time."""
CONTEXT_BYTES = 8_000
"""Bytes shown before and after a passage."""


async def show_library(call: RouteCall, form: PageForm = EMPTY, *, fault: str = "", status: int = 200) -> Response:
    """The collections."""
    values: dict[str, Any] = {
        "collections": (await collections.list_collections(call)).collections,
        "name": form.text("name"),
        "private": form.text("private"),
        "fault": fault,
    }
    latest = latest_additions(await call.assay.additions())
    return screen(call, "library.html", section="library", status=status, **latest, **values)


def latest_additions(additions: Sequence[Addition]) -> dict[str, Any]:
    """The latest additions for a screen, of files sent together those first that could not be read; and how many more.

    `additions` are the newest first.
    """
    batch = [one for one in additions if one.created_at[:16] == additions[0].created_at[:16]]
    shown = additions[: max(len(batch), MAX_ADDITIONS)]
    failed_first = sorted(shown, key=lambda one: one.state != "failed")
    return {"additions": failed_first[:MAX_ADDITIONS], "further": len(shown[MAX_ADDITIONS:])}


async def make_collection(call: RouteCall) -> Response:
    """Make a collection."""
    form = await read_form(call.request)
    name = form.text("name")
    if not name:
        raise refusal("invalid", N_("give the collection a name"))
    request = collections.CollectionWanted(private=bool(form.text("private")))
    try:
        await collections.mark_collection(call, name, request)
    except (Refusal, AssayError) as error:
        return await show_library(call, form, **fault_values(error))
    return go_to(_address(name))


async def show_collection(call: RouteCall, collection: str, *, fault: str = "", status: int = 200) -> Response:
    """A collection: its documents, or the results of a search in it."""
    query = call.request.query_params
    words = query.get("q", "").strip()
    offset = whole_number(query.get("offset", "")) or 0
    shelf = await collections.show_collection(call, collection)
    page = await collections.list_documents(call, collection, collections.Window(limit=50, offset=offset))
    hits = (await documents.search_documents(call, collection, documents.Searched(q=words))).hits if words else ()
    additions = [addition for addition in await call.assay.additions() if addition.collection == collection]
    return screen(
        call,
        "collection.html",
        section="library",
        status=status,
        shelf=shelf,
        documents=page.documents,
        total=page.total,
        next=page.next,
        words=words,
        hits=hits,
        **latest_additions(additions),
        origins=[origin for origin in shelf.origins if not origin.place.startswith("upload:")],
        going=any(addition.state in ("waiting", "reading") for addition in additions),
        upload_bytes=call.backend.settings.server.upload_mb * 1_000_000,
        fault=fault,
    )


async def upload(call: RouteCall, collection: str) -> Response:
    """Read files into a collection."""
    try:
        await collections.upload_documents(call, collection, collections.FileNamed(wait=UPLOAD_WAIT_SECONDS))
    except (Refusal, AssayError) as error:
        if is_fragment(call.request):
            raise
        return await show_collection(call, collection, **fault_values(error, (collection,)))
    return go_to(_address(collection))


def max_form_bytes(call: RouteCall) -> int:
    """The most bytes of a form with files beside its texts."""
    return call.backend.settings.server.upload_mb * 1_000_000 + BODY_BYTES


class FormFiles(msgspec.Struct, frozen=True):
    """Files that came with a form: their collection, and why some could not be read."""

    collection: str
    unread: tuple[str, ...]


async def store_files(call: RouteCall, files: Sequence[UploadFile], purpose: places.Purpose) -> FormFiles:
    """Put files sent with a form into a new collection, named after a purpose and the time, and wait for them.

    Raises:
        Refusal: nothing could be read of any.
    """
    collection = places.sent_collection_name(purpose)
    max_bytes = call.backend.settings.server.upload_mb * 1_000_000
    uploads = await collections.begin_uploads(call, files, collection, max_bytes)
    additions = (await documents.await_additions(call, uploads, documents.WAIT_SECONDS)).additions
    return FormFiles(
        collection, tuple(f"{one.name}: {unread_reason(one)}" for one in additions if one.state == "failed")
    )


class CollectionChoices(msgspec.Struct, frozen=True):
    """The collections that a form offers. `sent` are those of files that came with earlier forms: they are offered
    apart, since each such form made one.
    """

    kept: tuple[CollectionRow, ...]
    sent: tuple[CollectionRow, ...]
    ticked: frozenset[str]


async def collection_choices(call: RouteCall, ticked: frozenset[str] | None) -> CollectionChoices:
    """The collections with documents; a ticked one is never offered apart.

    `ticked` is None for a new form: it has all of one's own ticked but private ones, which not every model may see;
    or the only one.
    """
    rows = [row for row in await call.assay.collections() if row.documents]
    if ticked is None:
        permanent = [row for row in rows if not places.is_sent_collection(row)]
        ticked = frozenset(
            row.name for row in permanent if len(permanent) == 1 or not (row.private or SLASH in row.name)
        )
    sent = tuple(row for row in rows if places.is_sent_collection(row) and row.name not in ticked)
    return CollectionChoices(tuple(row for row in rows if row not in sent), sent[::-1], ticked)


async def add_places(call: RouteCall, collection: str) -> Response:
    """Read pages of the web, sites, or Git repositories into a collection."""
    form = await read_form(call.request)
    urls, kind = form.words("urls"), form.text("how")
    requests = [collections.AdditionWanted(urls=urls, wait=UPLOAD_WAIT_SECONDS)]
    if kind == "site":
        requests = [
            collections.AdditionWanted(crawl=_crawl(url, form.text("pages")), wait=UPLOAD_WAIT_SECONDS) for url in urls
        ]
    elif kind == "git":
        git_urls = tuple(url if url.startswith("git+") else f"git+{url}" for url in urls)
        requests = [collections.AdditionWanted(urls=git_urls, wait=UPLOAD_WAIT_SECONDS)]
    try:
        for request in requests:
            await collections.begin_addition(call, collection, request)
    except (Refusal, AssayError) as error:
        return await show_collection(call, collection, **fault_values(error, (collection,)))
    return go_to(_address(collection))


def _crawl(url: str, pages: str) -> collections.Crawl:
    max_pages = whole_number(pages)
    return collections.Crawl(url=url) if max_pages is None else collections.Crawl(url=url, pages=max_pages)


async def sync(call: RouteCall, collection: str) -> Response:
    """Look again at every place a collection was added from."""
    try:
        await collections.begin_addition(
            call, collection, collections.AdditionWanted(sync=True, wait=UPLOAD_WAIT_SECONDS)
        )
    except (Refusal, AssayError) as error:
        return await show_collection(call, collection, **fault_values(error, (collection,)))
    return go_to(_address(collection))


async def share(call: RouteCall, collection: str) -> Response:
    """Set who may read a collection, and whether remote models may see it."""
    form = await read_form(call.request)
    readers: tuple[str, ...] | Literal["all"] = "all" if form.text("who") == "all" else ()
    if form.text("who") == "some":
        readers = form.words("readers")
    request = collections.CollectionWanted(private=bool(form.text("private")), readers=readers)
    try:
        await collections.mark_collection(call, collection, request)
    except (Refusal, AssayError) as error:
        return await show_collection(call, collection, **fault_values(error, (collection,)))
    return go_to(_address(collection))


async def remove(call: RouteCall, collection: str) -> Response:
    """Remove a document from a collection."""
    form = await read_form(call.request)
    await collections.remove_document(call, collection, form.text("document"))
    return go_to(_address(collection))


async def drop(call: RouteCall, collection: str) -> Response:
    """Delete a collection."""
    await collections.drop_collection(call, collection)
    return go_to("/library")


async def show_document(call: RouteCall, document: str) -> Response:
    """The text of a document, or a passage marked in it."""
    query = call.request.query_params
    start, end, begin = (whole_number(query.get(name, "")) for name in ("start", "end", "from"))
    is_marked = start is not None and end is not None and end > start
    if is_marked:
        excerpt = await call.assay.excerpt(document, start or 0, end, CONTEXT_BYTES)
        page_places = await _page_places(call, excerpt)
        return screen(
            call,
            "document.html",
            section="library",
            excerpt=excerpt,
            marked=True,
            next=0,
            printed=page_places,
            pieces=(),
        )
    offset = begin or 0
    excerpt = await call.assay.excerpt(document, offset, offset, SHOWN_BYTES)
    shown_end = offset + len(excerpt.after.encode())
    shown_excerpt = msgspec.structs.replace(
        excerpt, start=offset, end=shown_end, before="", text=excerpt.after, after=""
    )
    next_offset = shown_end if shown_end < excerpt.document.size else 0
    pieces = await asyncio.to_thread(pieces_of, shown_excerpt) if query.get("passages") else ()
    values: dict[str, Any] = {
        "excerpt": shown_excerpt,
        "marked": False,
        "next": next_offset,
        "printed": None,
        "pieces": pieces,
    }
    return screen(call, "document.html", section="library", **values)


class TextPiece(msgspec.Struct, frozen=True, kw_only=True):
    """A span of a document: a citable passage, from a byte on, or the text between two."""

    text: str
    start: int = 0
    end: int = 0

    @property
    def is_passage(self) -> bool:
        """True if it may be cited."""
        return self.end > 0


def pieces_of(excerpt: Excerpt) -> tuple[TextPiece, ...]:
    """The shown part of a document, cut into passages as for citing."""
    data, position, pieces = excerpt.text.encode(), 0, []
    for span in segment(excerpt.text, excerpt.document.syntax):
        pieces.append(TextPiece(text=data[position : span.start].decode()))
        pieces.append(TextPiece(text=span.text, start=excerpt.start + span.start, end=excerpt.start + span.end))
        position = span.end
    return tuple(piece for piece in (*pieces, TextPiece(text=data[position:].decode())) if piece.text)


async def _page_places(call: RouteCall, passage: Excerpt) -> PagePlaces | None:
    """The place of a passage on the pages of a PDF; None if that cannot be shown."""
    if passage.document.media_type != "application/pdf":
        return None
    try:
        return await call.assay.page_places(passage.document.sha256, passage.start, passage.end)
    except AssayError:
        return None


def _address(collection: str) -> str:
    return f"/library/{quote(collection, safe='/')}"
