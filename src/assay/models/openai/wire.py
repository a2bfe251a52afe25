"""The wire format of chat completions: what is sent, and the chunks which come back.

Fields and their meaning are those of OpenAI's API reference; other servers leave fields out or send null, so
every field of a chunk has a default.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import msgspec

from assay.core.messages import Message, Profile, Request, ToolDefinition
from assay.models.catalogue import REASONING_ROOM
from assay.models.failures import Fault
from assay.models.framing import framed
from assay.models.openai.services import Service


def body(request: Request, model: str, profile: Profile, service: Service) -> bytes:
    """The JSON of a streamed request for `request`."""
    fields: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": request.system}, *map(_message, request.messages)],
        "stream": True,
        "stream_options": {"include_usage": True},
        service.output: _output(request, profile),
    }
    if profile.native_reasoning:
        fields["reasoning_effort"] = request.effort
    if service.keyed and request.passing:
        fields["prompt_cache_key"] = _cache_key(request)
    if request.tools and (service.chooses or request.tool_choice != "none"):
        fields["tools"] = [_tool(tool) for tool in request.tools]
        fields["tool_choice"] = _choice(request.tool_choice)
    return msgspec.json.encode(fields)


def _cache_key(request: Request) -> str:
    """The same for all requests of one loop, which begin alike, and another for every loop."""
    lasting = request.messages[: len(request.messages) - request.passing]
    opening = tuple(itertools.takewhile(lambda message: message.role != "assistant", lasting))
    return hashlib.sha256(msgspec.json.encode((request.system, opening))).hexdigest()[:32]


def _output(request: Request, profile: Profile) -> int:
    room = REASONING_ROOM[request.effort] if profile.native_reasoning else 0
    return max(1, min(request.max_tokens + room, profile.max_output))


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if message.role == "user":
        return {"role": "user", "content": framed(message)}
    said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.malformed or msgspec.json.encode(call.arguments).decode(),
                },
            }
            for call in message.calls
        ]
    elif not message.text:
        said["content"] = ""  # null is for messages with calls alone
    return said


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _choice(choice: str) -> str | dict[str, Any]:
    if choice in ("auto", "required", "none"):
        return choice
    return {"type": "function", "function": {"name": choice}}


class Function(msgspec.Struct, frozen=True):
    """Part of a call: its name comes once, its arguments in pieces."""

    name: str | None = None
    arguments: str | None = None


class CallPart(msgspec.Struct, frozen=True):
    """Part of a tool call."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None


class Part(msgspec.Struct, frozen=True):
    """Part of a message. Native reasoning has two names: `reasoning_content` and `reasoning`."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: tuple[CallPart, ...] | None = None


class Choice(msgspec.Struct, frozen=True):
    """Part of one of the answers; only one is ever asked for."""

    delta: Part | None = None
    finish_reason: str | None = None


class PromptDetails(msgspec.Struct, frozen=True):
    """Of the input tokens, how many were read from the cache, and how many written to it."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class CompletionDetails(msgspec.Struct, frozen=True):
    """Of the output tokens, how many were reasoning."""

    reasoning_tokens: int | None = None


class Counted(msgspec.Struct, frozen=True):
    """Tokens used; the details are parts of the totals."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None


class Chunk(msgspec.Struct, frozen=True):
    """One event of the stream."""

    choices: tuple[Choice, ...] | None = None
    usage: Counted | None = None
    error: Fault | str | None = None
