"""Documents on their way into collections: read in the background, with progress."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress

import msgspec
from starlette.responses import Response

from assay.core.ports import Addition
from assay.core.ports.collections import AdditionState
from assay.evidence.ingest import UPLOADED
from assay.server.problems import refusal
from assay.server.streams import BEAT, BEGIN, HEADERS, HEARTBEAT, EventStream, frame
from assay.server.wire import Endpoints, RouteCall
from assay.services.additions import FOLDER

routes = Endpoints("documents")

WAIT, LONGEST_WAIT = 60.0, 600.0
"""Seconds a request waits until its documents are read."""
LOOK_SECONDS = 0.5
ENDED = ("done", "failed")
STREAM = "text/event-stream"

_PLACE = re.compile(rf"/[^\n;]*?/{FOLDER}/[0-9a-f]{{16}}{re.escape(UPLOADED)}/")
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


async def await_additions(call: RouteCall, made: list[Addition], wait: float) -> AdditionList:
    """The additions when they have ended, or after `wait` seconds.

    Raises:
        Refusal: nothing could be read of any.
    """
    now = {each.id: each for each in made}
    with suppress(TimeoutError):
        async with asyncio.timeout(min(max(wait, 0.0), LONGEST_WAIT)):
            for begun in made:
                async for standing in call.assay.follow_addition(begun.id):
                    now[begun.id] = standing
    found = list(now.values())
    if all(each.state == "failed" for each in found):
        raise refusal("nothing-read", "; ".join(named_alone(each.error) for each in found))
    call.status = 201 if all(each.state in ENDED for each in found) else 202
    return AdditionList(additions=tuple(map(_addition_shown, found)))


@routes.get("/additions")
async def list_additions(call: RouteCall) -> AdditionList:
    """List additions in progress and those of the last days, newest first."""
    return AdditionList(additions=tuple(map(_addition_shown, await call.assay.additions())))


@routes.get("/additions/{addition}")
async def show_addition(call: RouteCall, addition: str) -> AdditionShown:
    """Show an addition."""
    return _addition_shown(await call.assay.addition(addition))


@routes.get("/additions/{addition}/events", media=(STREAM,), pages=AdditionShown)
async def addition_events(call: RouteCall, addition: str) -> Response:
    """Stream the progress of an addition until it has ended; each frame is the addition at that moment."""
    await call.assay.addition(addition)
    if call.request.method == "HEAD":
        return Response(headers=HEADERS, media_type=STREAM)
    return EventStream(_progress(call, addition), call.backend.streams.ticket(call.owner))


async def _progress(call: RouteCall, addition: str) -> AsyncIterator[bytes]:
    last, silent = 0, 0.0
    yield BEGIN
    while not call.backend.closing.is_set():
        now = await call.assay.addition(addition)
        silent = 0.0 if now.seq != last else silent + LOOK_SECONDS
        if now.seq != last:
            yield frame(msgspec.json.encode(_addition_shown(now)), event="addition", id=str(now.seq))
        elif silent >= HEARTBEAT:
            silent = 0.0
            yield BEAT
        last = now.seq
        if now.state in ENDED:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(call.backend.closing.wait(), LOOK_SECONDS)
    yield BEGIN


def _addition_shown(addition: Addition) -> AdditionShown:
    said = {
        "line": named_alone(addition.line),
        "error": named_alone(addition.error),
        "warnings": tuple(map(named_alone, addition.warnings)),
    }
    return msgspec.convert(msgspec.structs.asdict(addition) | said, AdditionShown)


def named_alone(text: str) -> str:
    """A text with uploaded files by name only: their paths on the server are not shown."""
    return _PLACE.sub("", text)
