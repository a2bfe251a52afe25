"""The events of a run, as a stream that can be resumed at any number, or as pages."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from assay.core.events import Envelope
from assay.core.ports import FINAL
from assay.server.api.run_details import RunShown, listed
from assay.server.broadcasts import MOST as MOST_RUNS
from assay.server.broadcasts import RunStream
from assay.server.packets import placed_frames
from assay.server.problems import refusal
from assay.server.streams import HEADERS, HEARTBEAT, EventStream, picked, run_frames
from assay.server.wire import JSON, Endpoints, RouteCall, accepts

STREAM = "text/event-stream"
MOST = 5_000
"""Events of one page."""

routes = Endpoints("events")


class EventsWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events: those after number `after`, only of `types` (`report.delta`, or a group: `report.*`).

    `limit` is for pages. To resume a stream, send the number in `Last-Event-ID`. With `placement`, each event of a
    stream has its place on a screen, and the packets that a chat page draws.
    """

    after: int | None = None
    types: tuple[str, ...] = ()
    limit: int = 1_000
    placement: bool = False


class EventPage(msgspec.Struct, frozen=True, kw_only=True):
    """Events in order; `next` is the value of `after` for more, None if there are none so far."""

    events: tuple[Envelope, ...]
    last_seq: int
    next: int | None


@routes.get("/runs/{run}/events", media=(STREAM, JSON), headers=("Last-Event-ID",), pages=EventPage)
async def run_events(call: RouteCall, run: str, query: EventsWanted) -> Response:
    """Stream the events of a run, or list them if `Accept` asks for JSON.

    Each frame's `id` is the event's number, its `event` the event's type, its `data` the whole event. A comment comes
    at least every 15 seconds. The stream ends with the run; a later request is answered with 204, which tells an
    EventSource to stop. A lost connection ends nothing: reconnect with `Last-Event-ID` or `after`.
    """
    row = await call.assay.find(run)
    after = _after(call, query)
    if after > row.last_seq:
        raise refusal("invalid", f"run {row.run_id} has no event {after}: its last is {row.last_seq}")
    type = accepts(call.request.headers, (STREAM, JSON))
    if not type:
        raise refusal("not-acceptable", f"events come as {STREAM} or {JSON}")
    if type == JSON and query.placement:
        raise refusal("invalid", f"placement is for streams: ask for {STREAM}")
    if type == JSON:
        return Response(msgspec.json.encode(await _page(call, row.run_id, after, query)), media_type=JSON)
    if row.status in FINAL and not await _more(call, row.run_id, after, query):
        return Response(status_code=204)
    if call.request.method == "HEAD":
        return Response(headers=HEADERS, media_type=STREAM)
    ticket, groups = (
        call.backend.streams.ticket(call.owner),
        call.backend.groups(call.owner, row.run_id, after, HEARTBEAT),
    )
    if query.placement:
        whole = call.backend.groups(call.owner, row.run_id, 0, HEARTBEAT)
        return EventStream(placed_frames(whole, after, picked(query.types)), ticket)
    alone = run_frames(groups, picked(query.types))
    if row.status in FINAL:
        return EventStream(alone, ticket)
    return RunStream(call.backend.broadcasts, (row.run_id, row.last_seq), (query.types, after), ticket, alone)


def _after(call: RouteCall, query: EventsWanted) -> int:
    """The number of the last known event; a browser that reconnects sends it itself."""
    said = call.request.headers.get("last-event-id", "").strip()
    if said:
        try:
            return max(int(said), 0)
        except ValueError:
            raise refusal("invalid", f"Last-Event-ID is the number of an event, not {said[:40]!r}") from None
    return max(query.after or 0, 0)


async def _more(call: RouteCall, run: str, after: int, query: EventsWanted) -> bool:
    """Whether an ended run has more events after a number that match."""
    wanted = picked(query.types)
    return any(wanted(each.type) for each in await call.assay.events(run, after))


async def _page(call: RouteCall, run: str, after: int, query: EventsWanted) -> EventPage:
    limit = min(max(query.limit, 1), MOST)
    wanted = picked(query.types)
    behind = await call.assay.events(run, after)
    found = tuple(each for each in behind if wanted(each.type))
    last = behind[-1].seq if behind else after
    page = found[:limit]
    return EventPage(events=page, last_seq=last, next=page[-1].seq if len(found) > limit else None)


class ChangesWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The number of the newest runs to watch."""

    limit: int = 50


@routes.get("/events", media=(STREAM,), pages=RunShown)
async def all_events(call: RouteCall, query: ChangesWanted) -> Response:
    """Stream the state of a user's runs: each of the newest at first, then whenever one begins, changes or ends.

    Each frame's `event` is `run`, its `data` the run as in lists. Texts are only in the events of each run.
    """
    if call.request.method == "HEAD":
        return Response(headers=HEADERS, media_type=STREAM)

    async def read() -> dict[str, bytes]:
        rows = (await assay.page(limit=MOST_RUNS)).runs
        return {row.run_id: msgspec.json.encode(listed(row)) for row in rows}

    assay, limit = call.assay, min(max(query.limit, 1), MOST_RUNS)
    return EventStream(call.backend.run_lists.frames(call.owner, read, limit), call.backend.streams.ticket(call.owner))
