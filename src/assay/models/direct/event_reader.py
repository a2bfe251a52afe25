"""The library's events become deltas at once, and a whole reply at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import StreamedResponse

from assay.core.errors import ModelError
from assay.core.messages import CallDelta, Delta, Reply, Request, StopReason, input_tokens
from assay.core.text import estimate_tokens
from assay.core.usage import Usage
from assay.models import failures
from assay.models.calls import Halves, PartialCall, PartialCalls, Written
from assay.models.direct.direct_services import DirectService
from assay.models.speech import ReplyText, Said

_STOPS: dict[str, StopReason] = {"length": "length", "content_filter": "refused"}
_REASONED = ("reasoning_tokens", "thoughts_tokens", "thinking_tokens")
"""The names providers have for tokens of reasoning."""


class EventReader:
    """Takes the events of one stream in order."""

    def __init__(self, service: DirectService) -> None:
        self._service = service
        self._speech = ReplyText()
        self._calls = PartialCalls()
        self._parts: dict[int, PartialCall] = {}
        self._halves = {"text": Halves(), "thought": Halves()}

    def take(self, event: ModelResponseStreamEvent) -> Iterator[Delta]:
        """What this event adds. Kinds which nobody asked for (a provider's own tools, files) add nothing."""
        if isinstance(event, PartDeltaEvent):
            delta = event.delta
            if isinstance(delta, TextPartDelta):
                yield from self._said(delta.content_delta)
            elif isinstance(delta, ThinkingPartDelta):
                yield from self._thought(delta.content_delta)
            elif isinstance(delta, ToolCallPartDelta) and event.index in self._parts:
                yield self._grow(event.index, delta.tool_name_delta, delta.tool_call_id, delta.args_delta)
                yield from self._calls.ready(final=False)
        elif isinstance(event, PartStartEvent):
            part = event.part
            if isinstance(part, TextPart):
                yield from self._said(part.content)
            elif isinstance(part, ThinkingPart):
                yield from self._thought(part.content)
            elif isinstance(part, ToolCallPart):
                self._begin(event.index)
                yield self._grow(event.index, part.tool_name, part.tool_call_id, part.args)
                yield from self._calls.ready(final=False)

    def end(self) -> Iterator[Delta]:
        """What was held back: the stream is over."""
        yield from self._spoken(self._speech.end(calls=bool(self._calls.all)))
        yield from self._calls.ready(final=True)

    def reply(self, request: Request, model: str, response: StreamedResponse) -> Reply:
        """The whole reply; to be asked for after `end`.

        Raises:
            ModelError: the stream was cut before the provider said why it stopped, or it stopped by a fault.
        """
        named = (response.provider_details or {}).get("finish_reason", "")
        if response.finish_reason is None and not named:
            raise ModelError("the stream was cut off")
        if response.finish_reason == "error":
            raise ModelError(f"{self._service.name} stopped with a fault: {failures.shortened(str(named))}")
        calls = self._calls.done()
        return Reply(
            text=self._speech.text,
            calls=calls,
            thinking=self._speech.thinking,
            usage=self._usage(request, response),
            stop=_STOPS.get(response.finish_reason or "", "calls" if calls else "end"),
            model=model,
        )

    def _said(self, text: str) -> Iterator[Delta]:
        yield from self._spoken(self._speech.take(self._halves["text"].take(text)))

    def _thought(self, text: str | None) -> Iterator[Delta]:
        yield from self._spoken(self._speech.thought(self._halves["thought"].take(text or "")))

    def _spoken(self, said: Iterable[Said]) -> Iterator[Delta]:
        for each in said:
            if isinstance(each, Written):
                yield self._calls.begin().add("", each.name, each.arguments)
            else:
                yield each

    def _begin(self, index: int) -> None:
        """The call which is the part at `index`, anew where the library starts one again which is not whole yet."""
        known = self._parts.get(index)
        if known is None or known.whole():
            self._parts[index] = self._calls.begin()
        else:
            known.again()

    def _grow(self, index: int, name: str | None, id: str | None, arguments: object) -> CallDelta:
        """More of the call which is the part at `index`; arguments come as text, or whole as an object."""
        text = (
            arguments
            if isinstance(arguments, str)
            else ""
            if not arguments
            else msgspec.json.encode(arguments).decode()
        )
        return self._parts[index].add(id or "", name or "", text)

    def _usage(self, request: Request, response: StreamedResponse) -> Usage:
        """As the provider counted; where it did not, an estimate on the safe side."""
        counted = response.usage
        written = (self._speech.text, self._speech.thinking, *("".join(call.pieces) for call in self._calls.all))
        return Usage(
            model_calls=1,
            input_tokens=counted.input_tokens or input_tokens(request),
            output_tokens=counted.output_tokens or sum(map(estimate_tokens, written)),
            cached_tokens=counted.cache_read_tokens,
            cache_write_tokens=counted.cache_write_tokens,
            reasoning_tokens=next((counted.details[name] for name in _REASONED if name in counted.details), 0),
        )
