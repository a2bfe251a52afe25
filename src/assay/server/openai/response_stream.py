"""A run's log as a response: the events of its stream, and the response at any time.

It is a function of the log (and of `include`) alone: whoever reads the log again, in another process or a year later,
gets the same parts with the same numbers. So a stream can be resumed from any number.

What was sent in a stream cannot be taken back, while a report changes: sentences are repaired, re-cited, removed. So
progress is sent as it comes, as a summary of reasoning, and the text when it has been checked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

import msgspec

from assay.core.brief import Brief
from assay.core.clean import make_inactive
from assay.core.coordinates import lane_of
from assay.core.events import (
    Envelope,
    Event,
    RunCancelled,
    RunCompleted,
    RunCreated,
    RunFailed,
    RunResumed,
    RunStarted,
    SearchFailed,
    SearchPerformed,
    SourceAdded,
    ToolFinished,
    ToolStarted,
)
from assay.core.milestones import milestone_line
from assay.core.phrases import LIMIT_REASONS
from assay.core.sources import Source
from assay.core.view import RunView, ViewBuilder
from assay.locale.english import EnglishEvents
from assay.server.openai import stream_parts as p
from assay.server.openai.objects import (
    FileSearchItem,
    FoundFile,
    Incomplete,
    Item,
    ItemStatus,
    MessageItem,
    OutputText,
    ReasoningItem,
    ResponseFault,
    ResponseObject,
    SearchAction,
    Status,
    SummaryText,
    UrlSource,
    WebSearchItem,
    claims_of,
    response_of,
    status_of,
    usage_of,
)
from assay.server.openai.requests import CLAIMS
from assay.server.openai.text import answer_of, file_name, no_report_reason, request_label, url_of

LOCAL = "local"
"""The search provider of the library."""
SOURCES = "web_search_call.action.sources"
RESULTS = "file_search_call.results"
PHASES = {
    "triage": "Reading the question",
    "background": "Looking around",
    "plan": "Planning",
    "research": "Researching",
    "write": "Writing",
    "verify": "Checking the report",
}


class ResponseProjection:
    """Takes the events of one run in order, and returns the parts of its stream and the response so far."""

    def __init__(self, include: Collection[str] = ()) -> None:
        self._include = frozenset(include)
        self._folder, self._events = ViewBuilder(), EnglishEvents()
        self._run = ""
        self._sources: dict[str, Source] = {}
        self._open_calls: dict[str, str] = {}
        self._items: list[Item] = []
        self._base: ResponseObject | None = None
        self._number = 0
        self._reasoning: ReasoningItem | None = None
        self._title = ""
        self._lines: list[str] = []
        self.ended = False

    @property
    def response(self) -> ResponseObject | None:
        """The response so far; None before the run was created."""
        if self._base is None:
            return None
        view = self._folder.view
        status = status_of(view, LIMIT_REASONS)
        return msgspec.structs.replace(
            self._base,
            status=status,
            output=tuple(self._items),
            completed_at=_seconds(view.finished_at) if status in ("completed", "incomplete") else None,
            error=ResponseFault(code="server_error", message=no_report_reason(view)) if status == "failed" else None,
            incomplete_details=Incomplete() if status == "incomplete" else None,
            usage=usage_of(view.usage.total) if self.ended else None,
        )

    def add_event(self, envelope: Envelope) -> list[p.StreamPart]:
        """The events one more event adds to the stream.

        A failed run may be resumed, and its stream continues; whoever left it need not come back.
        """
        self._folder.apply(envelope)
        if self.ended and envelope.type != RunResumed.kind:
            return []
        self.ended = False
        return list(self._project(envelope))

    def _project(self, envelope: Envelope) -> Iterator[p.StreamPart]:
        event = self._events.decode(envelope)
        match event:
            case RunCreated():
                yield from self._creation_parts(envelope, event.brief)
            case RunStarted():
                yield self._response_part("response.in_progress", "in_progress")
            case SearchPerformed() | SearchFailed() | ToolStarted() | ToolFinished() | SourceAdded():
                yield from self._tool_item(event)
            case RunCompleted() | RunFailed() | RunCancelled():
                yield from self._end()
            case Event():
                if line := milestone_line(event):
                    yield from self._summary_line(_title(envelope), line)

    def _tool_item(self, event: Event) -> Iterator[p.StreamPart]:
        match event:
            case SearchPerformed() if not event.shared:
                yield from self._search(event.query, event.provider, event.found_ids, "completed")
            case SearchFailed():
                yield from self._search(event.query, event.provider, [], "failed")
            case SourceAdded():
                self._sources[event.source.id] = event.source
            case ToolStarted() if event.tool == "open":
                self._open_calls[event.call] = event.arguments
            case ToolFinished() if event.call in self._open_calls:
                yield from self._opened_pages(self._open_calls.pop(event.call))

    # the response

    def _creation_parts(self, envelope: Envelope, brief: Brief) -> Iterator[p.StreamPart]:
        queued = bool(request_label(brief, "background"))
        status: Status = "queued" if queued else "in_progress"
        self._run = envelope.run_id
        self._base = response_of(envelope.run_id, _seconds(envelope.at) or 0, brief, status)
        self._include |= {name for name in request_label(brief, "include").split(",") if name}
        yield self._response_part("response.created", status)
        if queued:
            yield self._response_part("response.queued", status)

    def _response_part(self, type: str, status: Status) -> p.StreamPart:
        assert self._base is not None
        response = msgspec.structs.replace(self._base, status=status, output=tuple(self._items))
        return p.ResponsePart(type=type, sequence_number=self._next(), response=response)

    def _end(self) -> Iterator[p.StreamPart]:
        self.ended = True
        yield from self._finish_summary()
        view = self._folder.view
        status = status_of(view, LIMIT_REASONS)
        if status in ("completed", "incomplete") or view.report.text.strip():
            yield from self._message(view, status)
        if status == "failed":
            yield p.ErrorPart(
                type="error", sequence_number=self._next(), code="server_error", message=no_report_reason(view)
            )
        kind = {"completed": "completed", "failed": "failed"}.get(status, "incomplete")
        response = self.response
        assert response is not None
        yield p.ResponsePart(type=f"response.{kind}", sequence_number=self._next(), response=response)

    # progress

    def _summary_line(self, title: str, line: str) -> Iterator[p.StreamPart]:
        """A line of the summary of reasoning; lines under the same title share a part."""
        if self._reasoning is None:
            self._reasoning = ReasoningItem(id=f"rs_{self._run}_{len(self._items)}")
            yield self._item("added", self._reasoning)
        if self._lines and title != self._title:
            yield from self._close_part()
        if not self._lines:
            self._title = title
            self._lines = [f"**{title}**\n\n"]
            yield self._summary("added", SummaryText())
            yield self._delta(self._lines[0])
        self._lines.append(f"{make_inactive(line)}\n")
        yield self._delta(self._lines[-1])

    def _close_part(self) -> Iterator[p.StreamPart]:
        assert self._reasoning is not None
        text, index = "".join(self._lines), len(self._reasoning.summary)
        kind = "reasoning_summary_text.done"
        yield self._part(p.SummaryDone, kind, item_id=self._reasoning.id, text=text, summary_index=index)
        summary = SummaryText(text=text)
        yield self._summary("done", summary)
        self._reasoning = msgspec.structs.replace(self._reasoning, summary=(*self._reasoning.summary, summary))
        self._lines = []

    def _finish_summary(self) -> Iterator[p.StreamPart]:
        """Complete the summary so far as an item."""
        if self._reasoning is None:
            return
        if self._lines:
            yield from self._close_part()
        yield self._item("done", msgspec.structs.replace(self._reasoning, status="completed"))
        self._reasoning = None

    def _summary(self, stage: str, part: SummaryText) -> p.StreamPart:
        assert self._reasoning is not None
        id, index = self._reasoning.id, len(self._reasoning.summary)
        kind = f"reasoning_summary_part.{stage}"
        return self._part(p.SummaryPart, kind, item_id=id, summary_index=index, part=part)

    def _delta(self, text: str) -> p.StreamPart:
        assert self._reasoning is not None
        id, index = self._reasoning.id, len(self._reasoning.summary)
        return self._part(p.SummaryDelta, "reasoning_summary_text.delta", item_id=id, summary_index=index, delta=text)

    # tools

    def _search(
        self, query: str, provider: str, found: list[tuple[str, str]], status: ItemStatus
    ) -> Iterator[p.StreamPart]:
        """A search; each result of `found` is an address and an id."""
        yield from self._finish_summary()
        id_suffix = f"{self._run}_{len(self._items)}"
        if provider == LOCAL:
            results = tuple(FoundFile(file_id=id, filename=file_name(url)) for url, id in found)
            yield from self._call(
                FileSearchItem(
                    id=f"fs_{id_suffix}",
                    status=status,
                    queries=(query,),
                    results=results if RESULTS in self._include else None,
                )
            )
            return
        sources = tuple(UrlSource(url=url) for url, _id in found)
        action = SearchAction(
            type="search",
            query=query,
            queries=(query,),
            sources=sources if SOURCES in self._include else msgspec.UNSET,
        )
        yield from self._call(WebSearchItem(id=f"ws_{id_suffix}", status=status, action=action))

    def _opened_pages(self, arguments: str) -> Iterator[p.StreamPart]:
        for url in _addresses(arguments, self._sources):
            yield from self._finish_summary()
            action = SearchAction(type="open_page", url=url)
            yield from self._call(
                WebSearchItem(id=f"ws_{self._run}_{len(self._items)}", status="completed", action=action)
            )

    def _call(self, item: WebSearchItem | FileSearchItem) -> Iterator[p.StreamPart]:
        """A completed call, as reported by its event."""
        yield self._item("added", msgspec.structs.replace(item, status="in_progress"))
        last = ("searching", "completed") if item.status == "completed" else ("searching",)
        for step in ("in_progress", *last):
            yield self._part(p.CallStep, f"{item.type}.{step}", item_id=item.id)
        yield self._item("done", item)

    # the answer

    def _message(self, view: RunView, status: Status) -> Iterator[p.StreamPart]:
        answer = answer_of(view)
        item_status: ItemStatus = "completed" if status == "completed" else "incomplete"
        item = MessageItem(id=f"msg_{view.run_id}")
        yield self._item("added", item)
        yield self._content("added", item.id, OutputText())
        for piece in answer.pieces():
            yield self._part(p.AnswerDelta, "output_text.delta", item_id=item.id, delta=piece)
        for index, annotation in enumerate(answer.annotations):
            fields = {"item_id": item.id, "annotation_index": index, "annotation": annotation}
            yield self._part(p.AnnotationPart, "output_text.annotation.added", **fields)
        yield self._part(p.AnswerDone, "output_text.done", item_id=item.id, text=answer.text)
        part = OutputText(text=answer.text, annotations=answer.annotations)
        yield self._content("done", item.id, part)
        yield self._item("done", msgspec.structs.replace(item, status=item_status, content=(part,)))
        if CLAIMS in self._include:
            for claim in claims_of(view):
                yield p.ClaimPart(sequence_number=self._next(), output_index=len(self._items), item=claim)
                yield self._item("added", claim)
                yield self._item("done", claim)

    def _content(self, stage: str, item_id: str, part: OutputText) -> p.StreamPart:
        return self._part(p.ContentPart, f"content_part.{stage}", item_id=item_id, part=part)

    # numbers and places

    def _part(self, kind: type[p.StreamPart], type: str, **fields: Any) -> p.StreamPart:
        """A part about the item that is in progress."""
        numbers = {"sequence_number": self._next(), "output_index": len(self._items)}
        return kind(type=f"response.{type}", **numbers, **fields)

    def _item(self, stage: str, item: Item) -> p.StreamPart:
        part = self._part(p.ItemPart, f"output_item.{stage}", item=item)
        if stage == "done":
            self._items.append(item)
        return part

    def _next(self) -> int:
        self._number += 1
        return self._number - 1


class _Opening(msgspec.Struct, frozen=True):
    """The arguments of `open` that are read."""

    documents: list[str] = []


def _addresses(arguments: str, sources: dict[str, Source]) -> list[str]:
    try:
        names = msgspec.json.decode(arguments, type=_Opening, strict=False).documents
    except msgspec.DecodeError:  # as models write it
        return []
    urls = [url_of(sources[name]) if name in sources else name for name in names]
    return [url for url in dict.fromkeys(urls) if url.startswith(("http://", "https://"))]


def _title(envelope: Envelope) -> str:
    lane = lane_of(envelope.path)
    if lane is not None:
        return f"Agent {lane}"
    return PHASES.get(envelope.path[0] if envelope.path else "", "The run")


def _seconds(timestamp: str) -> int | None:
    return int(datetime.fromisoformat(timestamp).timestamp()) if timestamp else None
