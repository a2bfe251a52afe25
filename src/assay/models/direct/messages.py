"""Converts our requests for pydantic-ai, and the library's events into our deltas and one complete reply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import msgspec
from pydantic_ai.messages import (
    CachePoint,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import CacheConfig, ModelSettings, ToolChoice
from pydantic_ai.tools import ToolDefinition as LibraryTool

from assay.core.errors import ModelError
from assay.core.messages import (
    REASONING_ROOM,
    CallDelta,
    Delta,
    Message,
    Profile,
    Reply,
    Request,
    Schema,
    StopReason,
    ToolCall,
    input_tokens,
    tagged,
    untagged,
)
from assay.core.usage import Usage
from assay.models import failures
from assay.models.call_ids import with_accepted_ids
from assay.models.direct import DirectService
from assay.models.speech import ReplyText, begin_calls
from assay.models.streams import PartialCall, PartialCalls, SurrogateJoiner

Effort = Literal["low", "medium", "high"]

_EFFORTS: tuple[Effort, ...] = get_args(Effort)


def messages(request: Request, service: DirectService) -> list[ModelMessage]:
    """The conversation: consecutive messages to the model are one request, a result without its call a user's words."""
    model_messages: list[ModelMessage] = []
    names: dict[str, str] = {}
    cache_points = _cache_points(request) if service.caches_prompts else ()
    for index, message in enumerate(with_accepted_ids(request.messages, service.ids)):
        if message.role == "assistant":
            names |= {call.id: call.name for call in message.calls}
            model_messages.append(ModelResponse(parts=_reply(message)))
            continue
        parts = [_part(message, names)]
        if index in cache_points:
            parts.append(UserPromptPart(content=[CachePoint()]))
        last = model_messages[-1] if model_messages else None
        if isinstance(last, ModelRequest):
            last.parts = [*last.parts, *parts]
        else:
            model_messages.append(ModelRequest(parts=parts))
    return model_messages


def _cache_points(request: Request) -> tuple[int, ...]:
    """The messages after which a cache is written: the end of this loop's last request, and of this one.

    The first is cached already; it is named because a provider looks for it at most 20 blocks before the second. A
    request outside a loop is made once, and not worth caching.
    """
    end = len(request.messages) - request.passing
    if not request.passing or end < 1:
        return ()
    replies = [index for index in range(end) if request.messages[index].role == "assistant"]
    return tuple(index for index in (*(reply - 1 for reply in replies[-1:]), end - 1) if index >= 0)


def parameters(request: Request, library: ModelProfile) -> ModelRequestParameters:
    """The system text, the tools, and the schema of the reply if the model enforces it.

    The text is declared stable, so that it can be cached with the tools.
    """
    schema = request.schema if library.get("supports_json_schema_output") and not request.tools else None
    form = OutputObjectDefinition(schema.schema, schema.name, strict=True) if isinstance(schema, Schema) else None
    return ModelRequestParameters(
        output_mode="native" if form else "text",
        output_object=form,
        function_tools=[
            LibraryTool(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters)
            for tool in request.tools
        ],
        instruction_parts=[InstructionPart(content=request.system)] if request.system else [],
        allow_text_output=True,
    )


def settings(request: Request, service: DirectService, profile: Profile, library: ModelProfile) -> ModelSettings:
    """How to answer; `library` is what pydantic-ai knows about the model."""
    always = bool(library.get("thinking_always_enabled"))
    effort = _effort(request, service, profile, library)
    thinks = always or effort is not None
    default_room = REASONING_ROOM[effort or "low"] if thinks else 0
    room = max(default_room, request.room if isinstance(request.room, int) else 0)
    model_settings = ModelSettings(max_tokens=max(1, min(request.max_tokens + room, profile.max_output)))
    model_settings["thinking"] = effort or False
    model_settings["framing_announcement"] = "never"  # the system text is ours: the library adds nothing to it
    if service.has_timeout:
        model_settings["timeout"] = max(request.timeout, request.first_token)
    if service.caches_prompts:
        # Writing to the cache costs a quarter more than plain input, reading from it a tenth. The system text and the
        # tools are the same in every request of a kind; `messages` marks the stable part of a history.
        model_settings["cache"] = CacheConfig(messages=False)
    if request.tools:
        model_settings["tool_choice"] = _choice(request.tool_choice, library, thinks=thinks)
    return model_settings


def _effort(request: Request, service: DirectService, profile: Profile, library: ModelProfile) -> Effort | None:
    """How much to reason; None for not at all, or as little as the model can.

    Not if a call is forced and the provider refuses both together, and not after tool results if the provider wants the
    signed thinking before the calls back: our messages do not keep it. At most so much that half of the output is left
    for the answer.
    """
    forced = bool(request.tools) and request.tool_choice not in ("auto", "none")
    if not profile.native_reasoning:
        return None
    if forced and (service.signed_thinking or not library.get("supports_forced_tool_choice_with_thinking", True)):
        return None
    if service.signed_thinking and any(message.role == "tool" for message in request.messages):
        return None
    fitting_efforts = [effort for effort in _EFFORTS if REASONING_ROOM[effort] <= profile.max_output // 2]
    candidates = _EFFORTS[: _EFFORTS.index(request.effort) + 1]
    return next((effort for effort in reversed(candidates) if effort in fitting_efforts), None)


def _choice(choice: str, library: ModelProfile, *, thinks: bool) -> ToolChoice:
    """The choice in the library's form: a tool is named in a list. Models that cannot be forced are asked."""
    if choice == "none":
        return "none"
    able = library.get("supports_forced_tool_choice", True)
    if choice == "auto" or not able or (thinks and not library.get("supports_forced_tool_choice_with_thinking", True)):
        return "auto"
    return "required" if choice == "required" else [choice]


def _part(message: Message, names: dict[str, str]) -> ModelRequestPart:
    if message.role == "tool" and message.call_id:
        id = message.call_id
        return ToolReturnPart(tool_name=names[id], content=untagged(message.text), tool_call_id=id)
    return UserPromptPart(content=tagged(message))


def _reply(message: Message) -> list[ModelResponsePart]:
    text: Iterable[ModelResponsePart] = [TextPart(content=message.text)] if message.text else []
    return [*text, *map(_call, message.calls)]


def _call(call: ToolCall) -> ToolCallPart:
    return ToolCallPart(tool_name=call.name, args=call.malformed or call.arguments, tool_call_id=call.id)


# Events become deltas at once, and a complete reply at the end.

_STOPS: dict[str, StopReason] = {"length": "length", "content_filter": "refused"}
_REASONED = ("reasoning_tokens", "thoughts_tokens", "thinking_tokens")
"""The providers' names for tokens of reasoning."""


class EventReader:
    """Takes the events of one stream in order."""

    def __init__(self, service: DirectService) -> None:
        self._service = service
        self._speech = ReplyText()
        self._calls = PartialCalls()
        self._parts: dict[int, PartialCall] = {}
        self._halves = {"text": SurrogateJoiner(), "thought": SurrogateJoiner()}

    def feed(self, event: ModelResponseStreamEvent) -> Iterator[Delta]:
        """The deltas this event adds. Unrequested kinds (a provider's own tools, files) add nothing."""
        if isinstance(event, PartDeltaEvent):
            delta = event.delta
            if isinstance(delta, TextPartDelta):
                yield from self._text_deltas(delta.content_delta)
            elif isinstance(delta, ThinkingPartDelta):
                yield from self._thinking_deltas(delta.content_delta)
            elif isinstance(delta, ToolCallPartDelta) and event.index in self._parts:
                yield self._extend_call(event.index, delta.tool_name_delta, delta.tool_call_id, delta.args_delta)
                yield from self._calls.take_complete(final=False)
        elif isinstance(event, PartStartEvent):
            part = event.part
            if isinstance(part, TextPart):
                yield from self._text_deltas(part.content)
            elif isinstance(part, ThinkingPart):
                yield from self._thinking_deltas(part.content)
            elif isinstance(part, ToolCallPart):
                self._begin_call(event.index)
                yield self._extend_call(event.index, part.tool_name, part.tool_call_id, part.args)
                yield from self._calls.take_complete(final=False)

    def end(self) -> Iterator[Delta]:
        """The deltas held back: the stream is over."""
        yield from begin_calls(self._speech.end(calls=bool(self._calls.calls)), self._calls)
        yield from self._calls.take_complete(final=True)

    def reply(self, request: Request, model: str, response: StreamedResponse) -> Reply:
        """The complete reply; call it after `end`.

        Raises:
            ModelError: the stream was cut before the provider said why it stopped, or it stopped with an error.
        """
        finish_reason = (response.provider_details or {}).get("finish_reason", "")
        if response.finish_reason is None and not finish_reason:
            raise ModelError("the stream was cut off")
        if response.finish_reason == "error":
            raise ModelError(
                f"{self._service.name} stopped with an error: {failures.shorten_message(str(finish_reason))}"
            )
        calls = self._calls.tool_calls()
        return Reply(
            text=self._speech.text,
            calls=calls,
            thinking=self._speech.thinking,
            usage=self._usage(request, response),
            stop=_STOPS.get(response.finish_reason or "", "calls" if calls else "end"),
            model=model,
        )

    def _text_deltas(self, text: str) -> Iterator[Delta]:
        yield from begin_calls(self._speech.feed(self._halves["text"].feed(text)), self._calls)

    def _thinking_deltas(self, text: str | None) -> Iterator[Delta]:
        yield from begin_calls(self._speech.add_reasoning(self._halves["thought"].feed(text or "")), self._calls)

    def _begin_call(self, index: int) -> None:
        """The call that is the part at `index`; a new one if the library restarts an incomplete one."""
        call = self._parts.get(index)
        if call is None or call.is_complete():
            self._parts[index] = self._calls.begin()
        else:
            call.restart()

    def _extend_call(self, index: int, name: str | None, id: str | None, arguments: object) -> CallDelta:
        """More of the call that is the part at `index`; arguments are text, or complete as an object."""
        text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode() if arguments else ""
        return self._parts[index].add(id or "", name or "", text)

    def _usage(self, request: Request, response: StreamedResponse) -> Usage:
        """The provider's counts, or without them an estimate on the safe side."""
        usage = response.usage
        return Usage(
            model_calls=1,
            input_tokens=usage.input_tokens or input_tokens(request),
            output_tokens=usage.output_tokens or self._calls.estimate(self._speech.text, self._speech.thinking),
            cached_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            reasoning_tokens=next((usage.details[name] for name in _REASONED if name in usage.details), 0),
        )
