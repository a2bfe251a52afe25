"""The events of a run: a stream that can be resumed at any number, pages of it, or packets for a chat page.

Several chat pages draw research from packets with coordinates: `turn_index` is the block, `tab_index` the parallel
lane, `sub_turn_index` the part of the lane. They are a function of the log alone: whoever reads it again, at another
server or a year later, gets the same packets. docs/api.md says which events become which.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from assay.core import events as e
from assay.core.coordinates import Coordinates, Placer
from assay.core.events import Envelope, Event, decode
from assay.core.phrases import LIMIT_REASONS
from assay.core.plan import Plan
from assay.core.ports import FINAL
from assay.core.report import build_bibliography
from assay.core.sources import Source
from assay.core.view import ViewBuilder
from assay.server.api.run_details import RunShown, list_entry
from assay.server.broadcasts import MAX_LISTED_RUNS, RunStream
from assay.server.openai.text import answer_of, url_of
from assay.server.problems import refusal
from assay.server.representations import accepts
from assay.server.streams import (
    HEADERS,
    HEARTBEAT,
    HEARTBEAT_FRAME,
    RETRY_FRAME,
    STREAM,
    EventFilter,
    EventStream,
    event_frame,
    last_event_of,
    run_frames,
    type_filter,
)
from assay.server.wire import JSON, Endpoints, RouteCall

Obj = dict[str, Any]
"""The content of a packet: its `type`, and the fields of that type."""

START = Coordinates(0, 0, 0)
SEARCH, WRITE = "search", "write"


class Packet(msgspec.Struct, frozen=True, kw_only=True):
    """Something to draw, and where."""

    placement: Coordinates
    obj: Obj


class PlacedEvent(Envelope, frozen=True, kw_only=True):
    """An event, its place on a screen (None: the run as a whole), and what a chat page draws of it."""

    placement: Coordinates | None
    packets: tuple[Packet, ...]


class PacketProjection:
    """Takes the events of one run in order, from the first, and says what to draw of each."""

    def __init__(self) -> None:
        self._placer, self._folder = Placer(), ViewBuilder()
        self._last, self._lanes, self._last_plan, self._has_answered = START, dict[int, int](), "", False
        self._sources: dict[str, Source] = {}

    def add_event(self, envelope: Envelope) -> PlacedEvent:
        """The event with its place and packets."""
        self._folder.apply(envelope)
        placement = self._placer.place(envelope)
        if placement is not None:
            self._last = max(self._last, placement, key=lambda each: each.turn_index)
        event = decode(envelope)
        coordinates = placement or Coordinates(self._last.turn_index, 0, 0)
        packets = () if event is None else tuple(self._packets(event, coordinates))
        return PlacedEvent(
            **{name: getattr(envelope, name) for name in envelope.__struct_fields__},
            placement=placement,
            packets=packets,
        )

    def _packets(self, event: Event, coordinates: Coordinates) -> Iterator[Packet]:
        if isinstance(event, e.AgentsPlanned):
            yield from self._branches(event)
            return
        if isinstance(event, e.SourceAdded):
            self._sources[event.source.id] = event.source
        draw = _PACKET_MAKERS.get(type(event))
        objs = self._stateful_packets(event) if draw is None else draw(event)
        for obj in objs:
            yield Packet(placement=coordinates, obj=obj)

    def _branches(self, event: e.AgentsPlanned) -> Iterator[Packet]:
        """The number of parallel lanes, before anything of the second one."""
        block, lanes = self._placer.agents_of(event.cycle)
        if lanes > max(self._lanes.get(event.cycle, 1), 1):
            self._lanes[event.cycle] = lanes
            obj = {"type": "top_level_branching", "num_parallel_branches": lanes}
            yield Packet(placement=Coordinates(block, 0, 0), obj=obj)

    def _stateful_packets(self, event: Event) -> Iterator[Obj]:
        """Packets that need more than the event itself."""
        if isinstance(event, e.PlanProposed | e.PlanChanged | e.PlanApproved):
            yield from self._plan(event.plan)
        elif isinstance(event, e.ToolStarted):
            yield from self._tool(event)
        elif isinstance(event, e.PhaseFinished) and event.phase == WRITE and self._folder.view.report.text:
            yield _SECTION_END  # of the draft
        elif isinstance(event, e.SearchPerformed):
            yield {"type": "search_tool_queries_delta", "queries": [event.query]}
            documents = [{"document_id": id, "link": url} for url, id in event.found_ids]
            yield {"type": "search_tool_documents_delta", "documents": documents}
        elif isinstance(event, e.FindingAdded):
            ids = dict.fromkeys(passage.source for passage in event.passages)
            cited_documents = [_document(self._sources[id]) for id in ids if id in self._sources]
            yield {"type": "intermediate_report_cited_docs", "cited_docs": cited_documents}
            yield _SECTION_END
        elif isinstance(event, e.RunCompleted | e.RunCancelled | e.RunFailed):
            yield from self._end(event)

    def _tool(self, event: e.ToolStarted) -> Iterator[Obj]:
        brief = self._folder.view.brief
        if event.tool == SEARCH:
            yield {"type": "search_tool_start", "is_internet_search": bool(brief and brief.scope.web)}
        else:
            yield {"type": "custom_tool_start", "tool_name": event.tool}
            yield {"type": "custom_tool_args", "tool_name": event.tool, "tool_args": event.arguments}

    def _plan(self, plan: Plan) -> Iterator[Obj]:
        """The plan, whenever its steps differ from those drawn last."""
        text = "".join(f"{step.id}. {step.title}\n" for step in plan.steps)
        if text != self._last_plan:
            self._last_plan = text
            yield {"type": "deep_research_plan_start"}
            yield {"type": "deep_research_plan_delta", "content": text}
            yield _SECTION_END

    def _end(self, event: e.RunCompleted | e.RunCancelled | e.RunFailed) -> Iterator[Obj]:
        """The answer as it was checked, with its citations; then why the run stopped."""
        view = self._folder.view
        if isinstance(event, e.RunCompleted) and not self._has_answered:
            self._has_answered = True
            citations = [
                (entry.number, entry.source) for entry in build_bibliography(view).entries if entry.number is not None
            ]
            yield {"type": "message_start", "final_documents": [_document(source) for _, source in citations]}
            yield from ({"type": "message_delta", "content": piece} for piece in answer_of(view).pieces())
            for number, source in citations:
                yield {
                    "type": "citation_info",
                    "citation_number": number,
                    "document_id": source.document_sha256,
                }
            yield _SECTION_END
        if isinstance(event, e.RunFailed):
            yield {"type": "error", "exception": event.error}
        yield {"type": "stop", "stop_reason": _reason(event)}


def _reason(event: e.RunCompleted | e.RunCancelled | e.RunFailed) -> str:
    """`finished`, `limited` if a limit ended it early, `user_cancelled`, `failed`."""
    if isinstance(event, e.RunCancelled):
        return "user_cancelled"
    if isinstance(event, e.RunFailed):
        return "failed"
    return "limited" if event.stop_reason in LIMIT_REASONS else "finished"


def _document(source: Source) -> Obj:
    return {"document_id": source.document_sha256, "semantic_identifier": source.title, "link": url_of(source)}


_SECTION_END: Obj = {"type": "section_end"}


def _tool_finished(event: e.ToolFinished) -> Iterator[Obj]:
    if event.tool != SEARCH:  # whose documents were drawn already
        yield {"type": "custom_tool_delta", "tool_name": event.tool, "response_type": "text", "data": event.summary}
    yield _SECTION_END


def _tool_failed(event: e.ToolFailed) -> Iterator[Obj]:
    yield {"type": "custom_tool_delta", "tool_name": event.tool, "response_type": "error", "data": event.reason}
    yield _SECTION_END


_PACKET_MAKERS: dict[type[Event], Callable[[Any], Iterable[Obj]]] = {
    e.ThinkStarted: lambda _: [{"type": "reasoning_start"}],
    e.ThinkDelta: lambda event: [{"type": "reasoning_delta", "reasoning": event.text}],
    e.ThinkFinished: lambda _: [{"type": "reasoning_done"}, _SECTION_END],
    e.AgentStarted: lambda event: [{"type": "research_agent_start", "research_task": event.task}],
    e.AgentFinished: lambda _: [_SECTION_END],
    e.AgentFailed: lambda event: [{"type": "error", "exception": event.error}, _SECTION_END],
    e.AgentAbandoned: lambda _: [_SECTION_END],
    e.ToolFinished: _tool_finished,
    e.ToolFailed: _tool_failed,
    e.FindingStarted: lambda _: [{"type": "intermediate_report_start"}],
    e.FindingDelta: lambda event: [{"type": "intermediate_report_delta", "content": event.text}],
    e.ReportStarted: lambda _: [{"type": "intermediate_report_start"}],
    e.ReportDelta: lambda event: [{"type": "intermediate_report_delta", "content": event.text}],
    e.ClarifyRequested: lambda event: [
        {"type": "message_start", "final_documents": []},
        {"type": "message_delta", "content": "\n".join(event.questions)},
        _SECTION_END,
    ],
}
"""The packets of an event that contains everything needed."""


async def placed_frames(
    groups: AsyncIterator[Sequence[Envelope]], after: int, event_filter: EventFilter
) -> AsyncIterator[bytes]:
    """The log of a run, read from its first event, as frames with places and packets; those after `after`."""
    projection = PacketProjection()
    yield RETRY_FRAME
    async for group in groups:
        placed_events = [projection.add_event(envelope) for envelope in group]
        chunk = b"".join(
            event_frame(event) for event in placed_events if event.seq > after and event_filter(event.type)
        )
        if chunk or not group:
            yield chunk or HEARTBEAT_FRAME


MAX_EVENTS = 5_000
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
    last_seq = last_event_of(call.request)
    after = max(query.after or 0, 0) if last_seq is None else last_seq
    if after > row.last_seq:
        raise refusal("invalid", f"run {row.run_id} has no event {after}: its last is {row.last_seq}")
    type = accepts(call.request.headers, (STREAM, JSON))
    if not type:
        raise refusal("not-acceptable", f"events come as {STREAM} or {JSON}")
    if type == JSON and query.placement:
        raise refusal("invalid", f"placement is for streams: ask for {STREAM}")
    if type == JSON:
        return Response(msgspec.json.encode(await _page(call, row.run_id, after, query)), media_type=JSON)
    if row.status in FINAL and not await _has_more(call, row.run_id, after, query):
        return Response(status_code=204)
    if call.request.method == "HEAD":
        return Response(headers=HEADERS, media_type=STREAM)
    ticket, groups = (
        call.backend.streams.ticket(call.owner),
        call.backend.groups(call.owner, row.run_id, after, HEARTBEAT),
    )
    if query.placement:
        event_groups = call.backend.groups(call.owner, row.run_id, 0, HEARTBEAT)
        return EventStream(placed_frames(event_groups, after, type_filter(query.types)), ticket)
    frames = run_frames(groups, type_filter(query.types))
    if row.status in FINAL:
        return EventStream(frames, ticket)
    return RunStream(call.backend.broadcasts, (row.run_id, row.last_seq), (query.types, after), ticket, frames)


async def _has_more(call: RouteCall, run: str, after: int, query: EventsWanted) -> bool:
    """True if an ended run has more events after a number that match."""
    event_filter = type_filter(query.types)
    return any(event_filter(envelope.type) for envelope in await call.assay.events(run, after))


async def _page(call: RouteCall, run: str, after: int, query: EventsWanted) -> EventPage:
    limit = min(max(query.limit, 1), MAX_EVENTS)
    event_filter = type_filter(query.types)
    envelopes = await call.assay.events(run, after)
    matches = tuple(envelope for envelope in envelopes if event_filter(envelope.type))
    last = envelopes[-1].seq if envelopes else after
    page = matches[:limit]
    return EventPage(events=page, last_seq=last, next=page[-1].seq if len(matches) > limit else None)


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
        rows = (await assay.page(limit=MAX_LISTED_RUNS)).runs
        return {row.run_id: msgspec.json.encode(list_entry(row)) for row in rows}

    assay, limit = call.assay, min(max(query.limit, 1), MAX_LISTED_RUNS)
    return EventStream(call.backend.run_lists.frames(call.owner, read, limit), call.backend.streams.ticket(call.owner))
