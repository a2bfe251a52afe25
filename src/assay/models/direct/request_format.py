"""A request of ours as pydantic-ai takes it: messages, tool definitions, settings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Literal, get_args

from pydantic_ai.messages import (
    CachePoint,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import CacheConfig, ModelSettings, ToolChoice
from pydantic_ai.tools import ToolDefinition as LibraryTool

from assay.core.messages import REASONING_ROOM, Message, Profile, Request, Schema, ToolCall, tagged, untagged
from assay.models.direct.direct_services import DirectService

Effort = Literal["low", "medium", "high"]

_EFFORTS: tuple[Effort, ...] = get_args(Effort)


def messages(request: Request, service: DirectService) -> list[ModelMessage]:
    """The conversation. Call ids which are not of the form the service takes (from a fallback of another make) get
    others.

    Messages to the model which follow one another become one request, in their order. A result of a call nobody
    made, which providers refuse, is told as a user's words.
    """
    said: list[ModelMessage] = []
    names: dict[str, str] = {}
    marked = _marked(request) if service.cached else ()
    for place, message in enumerate(request.messages):
        if message.role == "assistant":
            names |= {call.id: call.name for call in message.calls}
            said.append(ModelResponse(parts=_reply(message, service.ids)))
            continue
        parts = [_part(message, names, service.ids)]
        if place in marked:
            parts.append(UserPromptPart(content=[CachePoint()]))
        last = said[-1] if said else None
        if isinstance(last, ModelRequest):
            last.parts = [*last.parts, *parts]
        else:
            said.append(ModelRequest(parts=parts))
    return said


def _marked(request: Request) -> tuple[int, ...]:
    """After which messages a cache is written: where the last request of this loop ended, and where the next goes on.

    The first is there already; it is named because a provider looks for it no more than 20 blocks before the second.
    What is not said by a loop is asked once, and not worth writing.
    """
    end = len(request.messages) - request.passing
    if not request.passing or end < 1:
        return ()
    replies = [place for place in range(end) if request.messages[place].role == "assistant"]
    return tuple(place for place in (*(at - 1 for at in replies[-1:]), end - 1) if place >= 0)


def parameters(request: Request, library: ModelProfile) -> ModelRequestParameters:
    """The system text, the tools, and the form of the reply where the model can be held to one.

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
    """How to answer; `library` is what pydantic-ai knows of the model."""
    always = bool(library.get("thinking_always_enabled"))
    effort = _effort(request, service, profile, library)
    thinks = always or effort is not None
    known = REASONING_ROOM[effort or "low"] if thinks else 0
    room = max(known, request.room if isinstance(request.room, int) else 0)
    chosen = ModelSettings(max_tokens=max(1, min(request.max_tokens + room, profile.max_output)))
    chosen["thinking"] = effort or False
    chosen["framing_announcement"] = "never"  # our system text is ours: the library adds nothing to it
    if service.timed:
        chosen["timeout"] = max(request.timeout, request.first_token)
    if service.cached:
        # Writing to the cache costs a quarter more than reading input plainly, reading from it a tenth. The system text
        # and the tools are the same in every request of a kind; how far a history is, `messages` marks.
        chosen["cache"] = CacheConfig(messages=False)
    if request.tools:
        chosen["tool_choice"] = _choice(request.tool_choice, library, thinks=thinks)
    return chosen


def _effort(request: Request, service: DirectService, profile: Profile, library: ModelProfile) -> Effort | None:
    """How much to think; None for not at all, or as little as the model can.

    Not where a call is forced and the provider refuses both together; and not after tool results where the provider
    wants the thinking before the calls back, signed: our messages do not keep it. Nor more than leaves half of the
    output to the answer.
    """
    forced = bool(request.tools) and request.tool_choice not in ("auto", "none")
    if not profile.native_reasoning:
        return None
    if forced and (service.signed or not library.get("supports_forced_tool_choice_with_thinking", True)):
        return None
    if service.signed and any(message.role == "tool" for message in request.messages):
        return None
    fitting = [each for each in _EFFORTS if REASONING_ROOM[each] <= profile.max_output // 2]
    wanted = _EFFORTS[: _EFFORTS.index(request.effort) + 1]
    return next((each for each in reversed(wanted) if each in fitting), None)


def _choice(choice: str, library: ModelProfile, *, thinks: bool) -> ToolChoice:
    """As the library spells it: a tool is named in a list. Models which cannot be forced are asked."""
    if choice == "none":
        return "none"
    able = library.get("supports_forced_tool_choice", True)
    if choice == "auto" or not able or (thinks and not library.get("supports_forced_tool_choice_with_thinking", True)):
        return "auto"
    return "required" if choice == "required" else [choice]


def _part(message: Message, names: dict[str, str], ids: str) -> ModelRequestPart:
    if message.role == "tool" and message.call_id in names:
        id = _accepted(message.call_id, ids)
        return ToolReturnPart(tool_name=names[message.call_id], content=untagged(message.text), tool_call_id=id)
    return UserPromptPart(content=tagged(message))


def _reply(message: Message, ids: str) -> list[ModelResponsePart]:
    text: Iterable[ModelResponsePart] = [TextPart(content=message.text)] if message.text else []
    return [*text, *(_call(call, ids) for call in message.calls)]


def _call(call: ToolCall, ids: str) -> ToolCallPart:
    arguments = call.malformed or call.arguments
    return ToolCallPart(tool_name=call.name, args=arguments, tool_call_id=_accepted(call.id, ids))


def _accepted(id: str, ids: str) -> str:
    """`id`, or where it is not of the form `ids`, one made of it which every provider accepts."""
    return id if re.fullmatch(ids, id) else hashlib.sha256(id.encode()).hexdigest()[:9]
