"""Documents in any collection: search, describe, read by page or span, download."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from assay.core.ports import Hit
from assay.core.sources import PagePlaces
from assay.server.api.run_requests import RequestBody
from assay.server.guards import SANDBOX
from assay.server.wire import Endpoints, RouteCall
from assay.services.shelves import DocumentFacts, Excerpt, PageText

routes = Endpoints("documents")

MOST = 100
"""Hits of one search."""


class Searched(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to search for."""

    q: str
    limit: int = 10


class SearchWanted(RequestBody, frozen=True, kw_only=True):
    """What to search for, and in which collections; by default all that the user may read."""

    q: str
    collections: tuple[str, ...] = ()
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST)] = 10


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """Documents, best first, with their best passages."""

    hits: tuple[Hit, ...]


class TextRange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bytes `start` to `end` of a document's text, with `around` bytes before and after; the whole text without
    `end`.
    """

    start: int = 0
    end: int | None = None
    around: int = 300


class PassageRange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bytes `start` to `end` of a document's text."""

    start: int
    end: int


class PictureWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The width of a picture in pixels, 100 to 2,000."""

    width: int = 1000


@routes.post("/search", scope="read")
async def search_all(call: RouteCall, body: SearchWanted) -> Hits:
    """Search several collections at once, or all, without starting a run."""
    for name in body.collections:
        await call.assay.check_collection(name)
    names = body.collections or tuple(row.name for row in await call.assay.collections())
    return Hits(hits=tuple(await call.assay.search(body.q, body.limit, names)) if names else ())


@routes.get("/collections/{collection:path}/search")
async def search_documents(call: RouteCall, collection: str, query: Searched) -> Hits:
    """Search a collection without starting a run."""
    await call.assay.check_collection(collection)
    return Hits(hits=tuple(await call.assay.search(query.q, min(max(query.limit, 1), MOST), collection)))


@routes.get("/documents/{document}")
async def show_document(call: RouteCall, document: str) -> DocumentFacts:
    """Describe a document: its title, type, size, dates, hashes, and how many pages it has."""
    return await call.assay.facts(document)


@routes.get("/documents/{document}/pages/{number:int}")
async def read_page(call: RouteCall, document: str, number: int) -> PageText:
    """Read a page of a document, from 1, and its place in the text; a document without pages is one page."""
    return await call.assay.page_text(document, number)


@routes.get("/documents/{document}/pages/{number:int}/picture", media=("image/png",))
async def draw_page(call: RouteCall, document: str, number: int, query: PictureWanted) -> Response:
    """Draw a page of a PDF, from 1, as a PNG. Other documents have no pictures."""
    picture = await call.assay.page_picture(document, number, query.width)
    return Response(picture, headers={"Cache-Control": "private, max-age=3600"}, media_type="image/png")


@routes.get("/documents/{document}/places")
async def find_printed(call: RouteCall, document: str, query: PassageRange) -> PagePlaces:
    """Find the place of a passage on the pages of a PDF: the page on which it begins, and a box for each of its lines.

    Boxes are shares of the page's width and height, from the upper left corner.
    """
    return await call.assay.page_places(document, query.start, query.end)


@routes.get("/documents/{document}/text")
async def read_document(call: RouteCall, document: str, query: TextRange) -> Excerpt:
    """Read a document's text, or a span of it in its context; offsets are bytes of its UTF-8."""
    return await call.assay.excerpt(document, query.start, query.end, min(max(query.around, 0), 10_000))


@routes.get("/documents/{document}/file", media=("application/octet-stream",))
async def show_file(call: RouteCall, document: str) -> Response:
    """Return the bytes from which a document was read, as they were fetched or uploaded."""
    found, data = await call.assay.original(document)
    name = quote(found.name or found.sha256[:12], safe="")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        "Content-Security-Policy": SANDBOX,
        "ETag": f'"{found.snapshot_sha256}"',
    }
    return Response(data, headers=headers, media_type="application/octet-stream")
