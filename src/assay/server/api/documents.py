"""Documents: on their way into collections, found, described, read, downloaded; and texts checked against them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from assay.app.verification import VerifiedText
from assay.core.lazy import regex
from assay.core.ports import Addition, Hit
from assay.core.ports.collections import ADDITION_ENDED, AdditionState
from assay.core.sources import PagePlaces
from assay.core.usage import Budget
from assay.evidence.ingest import UPLOAD_SUFFIX
from assay.server.api.run_requests import AddedScope, RequestBody, models_by_role, sources_of
from assay.server.guards import SANDBOX
from assay.server.problems import refusal
from assay.server.streams import (
    HEADERS,
    HEARTBEAT,
    HEARTBEAT_FRAME,
    RETRY_FRAME,
    STREAM,
    EventStream,
    frame,
    last_event_of,
)
from assay.server.wire import Endpoints, RouteCall, struct_from
from assay.services.additions import UPLOADS_FOLDER
from assay.services.shelves import DocumentFacts, Excerpt, PageText

routes = Endpoints("documents")

MAX_HITS = 100
"""Hits of one search."""


class Searched(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A search."""

    q: str
    limit: int = 10


class SearchWanted(RequestBody, frozen=True, kw_only=True):
    """A search, and the collections to search; by default all that the user may read."""

    q: str
    collections: tuple[str, ...] = ()
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_HITS)] = 10


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
    return Hits(hits=tuple(await call.assay.search(query.q, min(max(query.limit, 1), MAX_HITS), collection)))


@routes.get("/documents/{document}")
async def show_document(call: RouteCall, document: str) -> DocumentFacts:
    """Describe a document: its title, type, size, dates, hashes, and how many pages it has."""
    return await call.assay.facts(document)


@routes.get("/documents/{document}/pages/{number:number}")
async def read_page(call: RouteCall, document: str, number: int) -> PageText:
    """Read a page of a document, from 1, and its place in the text; a document without pages is one page."""
    return await call.assay.page_text(document, number)


@routes.get("/documents/{document}/pages/{number:number}/picture", media=("image/png",))
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
    original, data = await call.assay.original(document)
    name = quote(original.name or original.sha256[:12], safe="")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        "Content-Security-Policy": SANDBOX,
        "ETag": f'"{original.snapshot_sha256}"',
    }
    return Response(data, headers=headers, media_type="application/octet-stream")


WAIT_SECONDS, MAX_WAIT_SECONDS = 60.0, 600.0
"""Seconds a request waits until its documents are read."""
LOOK_SECONDS = 0.5

_PLACE = regex(rf"/[^\n;]*?/{UPLOADS_FOLDER}/[0-9a-f]{{16}}{re.escape(UPLOAD_SUFFIX)}/")
"""The folder of an uploaded file."""


class AdditionShown(msgspec.Struct, frozen=True, kw_only=True):
    """Documents on their way into a collection. `seq` counts its updates; `line` is the latest progress message.

    `documents` counts those found so far, `added` those new to the library. `error` says why it failed.
    """

    id: str
    collection: str
    name: str
    state: AdditionState
    seq: int
    line: str
    documents: int
    added: int
    warnings: tuple[str, ...]
    error: str
    created_at: str
    updated_at: str


class AdditionList(msgspec.Struct, frozen=True, kw_only=True):
    """Additions: those just begun, or the newest first."""

    additions: tuple[AdditionShown, ...]


async def await_additions(call: RouteCall, additions: list[Addition], wait: float) -> AdditionList:
    """The additions when they have ended, or after `wait` seconds.

    Raises:
        Refusal: nothing could be read of any.
    """
    latest = {item.id: item for item in additions}
    with suppress(TimeoutError):
        async with asyncio.timeout(min(max(wait, 0.0), MAX_WAIT_SECONDS)):
            for addition in additions:
                async for update in call.assay.follow_addition(addition.id):
                    latest[addition.id] = update
    results = list(latest.values())
    if all(item.state == "failed" for item in results):
        raise refusal("nothing-read", "; ".join(hide_upload_paths(item.error) for item in results))
    call.status = 201 if all(item.state in ADDITION_ENDED for item in results) else 202
    return AdditionList(additions=tuple(map(_addition_shown, results)))


@routes.get("/additions")
async def list_additions(call: RouteCall) -> AdditionList:
    """List additions in progress and those of the last days, newest first."""
    return AdditionList(additions=tuple(map(_addition_shown, await call.assay.additions())))


@routes.get("/additions/{addition}")
async def show_addition(call: RouteCall, addition: str) -> AdditionShown:
    """Show an addition."""
    return _addition_shown(await call.assay.addition(addition))


@routes.get("/additions/{addition}/events", media=(STREAM,), headers=("Last-Event-ID",), pages=AdditionShown)
async def addition_events(call: RouteCall, addition: str) -> Response:
    """Stream the progress of an addition until it has ended; each frame is the addition at that moment.

    To resume a stream, send the number of the last frame in `Last-Event-ID`; after the last one the answer is 204.
    """
    current, last = await call.assay.addition(addition), last_event_of(call.request) or 0
    if current.state in ADDITION_ENDED and current.seq == last:
        return Response(status_code=204)
    if call.request.method == "HEAD":
        return Response(headers=HEADERS, media_type=STREAM)
    return EventStream(_progress(call, addition, last), call.backend.streams.ticket(call.owner))


async def _progress(call: RouteCall, addition: str, last: int) -> AsyncIterator[bytes]:
    silent_seconds = 0.0
    yield RETRY_FRAME
    while not call.backend.closing.is_set():
        current = await call.assay.addition(addition)
        silent_seconds = 0.0 if current.seq != last else silent_seconds + LOOK_SECONDS
        if current.seq != last:
            yield frame(msgspec.json.encode(_addition_shown(current)), event="addition", id=str(current.seq))
        elif silent_seconds >= HEARTBEAT:
            silent_seconds = 0.0
            yield HEARTBEAT_FRAME
        last = current.seq
        if current.state in ADDITION_ENDED:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(call.backend.closing.wait(), LOOK_SECONDS)
    yield RETRY_FRAME


def _addition_shown(addition: Addition) -> AdditionShown:
    line, error = hide_upload_paths(addition.line), hide_upload_paths(addition.error)
    return struct_from(
        AdditionShown, addition, line=line, error=error, warnings=tuple(map(hide_upload_paths, addition.warnings))
    )


def hide_upload_paths(text: str) -> str:
    """A text with uploaded files by name only: their paths on the server are not shown."""
    return _PLACE.sub("", text)


check_routes = Endpoints("verification")


class TextWanted(RequestBody, frozen=True, kw_only=True):
    """A text (Markdown or plain) to check against documents, and against the pages it cites if `web` is set.

    `find` searches all documents for evidence of sentences without a citation; None: if the text has no citations.
    `model` judges what the rules do not decide; without it no model is called.
    """

    text: str
    scope: AddedScope = AddedScope()
    web: bool = False
    find: bool | None = None
    model: str | None = None
    allow_private: bool = False
    budget: Budget = Budget()


@check_routes.post("/verify")
async def verify_text(call: RouteCall, body: TextWanted) -> VerifiedText:
    """Check every claim of a text with citations or links against the documents it names."""
    models_by_role(body.model, {})  # refuses models that clients may not name
    return await call.assay.verify(
        body.text,
        sources=sources_of(body.scope, call.backend.settings) or (),
        web=body.web,
        find=body.find,
        model=body.model,
        allow_private=body.allow_private,
        max_usd=body.budget.usd,
        max_tokens=body.budget.tokens,
    )
