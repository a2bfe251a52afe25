"""The wire format of chat completions: what is sent, and the chunks which come back.

Fields and their meaning are those of OpenAI's API reference; other servers leave fields out or send null, so
every field of a chunk has a default.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from typing import Any

import msgspec

from assay.core.messages import REASONING_ROOM, Profile, Request, Schema, ToolDefinition
from assay.models.failures import ServiceFault
from assay.models.openai.chat_messages import messages
from assay.models.openai.chat_services import ChatService
from assay.models.openai.concessions import NONE, Concessions, allowed


def fields(
    request: Request, model: str, profile: Profile, service: ChatService, without: Concessions = NONE
) -> dict[str, Any]:
    """The fields of a streamed request for `request`, as far as the model's service takes them."""
    made: dict[str, Any] = {
        "model": model,
        "messages": messages(request, service, without),
        "stream": True,
        without.cap or service.output: _output(request, profile, without.most),
        **_reasoning(request, model, profile, service),
    }
    if service.counts:
        made["stream_options"] = {"include_usage": True}
    if service.keyed and request.passing:
        made["prompt_cache_key"] = _cache_key(request)
    if service.tells and isinstance(request.user, str):
        made["user"] = request.user
    if isinstance(request.schema, Schema) and not request.tools:
        made["response_format"] = _format(request.schema)
    choice = allowed(request.tool_choice, without.choice)
    if request.tools and without.tools and (service.chooses or request.tool_choice != "none"):
        made["tools"] = [_tool(tool) for tool in request.tools]
        if choice:
            made["tool_choice"] = _choice(choice, service)
    if request.tool_choice == "none" and not without.none:
        made.pop("tools", None)
        made.pop("tool_choice", None)
    if "stream" in without.dropped:
        made.pop("stream_options", None)
    return {name: value for name, value in made.items() if name not in without.dropped}


def _format(schema: Schema) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": schema.name, "schema": schema.schema, "strict": True}}


def _reasoning(request: Request, model: str, profile: Profile, service: ChatService) -> dict[str, str]:
    if not profile.native_reasoning:
        return {"reasoning_effort": "none"} if service.silenced and re.match(service.silenced, model) else {}
    graded = re.match(service.graded, model)
    return service.parted | ({"reasoning_effort": service.effort or request.effort} if graded else {})


def _cache_key(request: Request) -> str:
    """The same for all requests of one loop, which begin alike, and another for every loop."""
    lasting = request.messages[: len(request.messages) - request.passing]
    opening = tuple(itertools.takewhile(lambda message: message.role != "assistant", lasting))
    return hashlib.sha256(msgspec.json.encode((request.system, opening))).hexdigest()[:32]


def _output(request: Request, profile: Profile, most: int) -> int:
    known = REASONING_ROOM[request.effort] if profile.native_reasoning else 0
    room = max(known, request.room if isinstance(request.room, int) else 0)
    return max(1, min(request.max_tokens + room, profile.max_output, most or profile.max_output))


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _choice(choice: str, service: ChatService) -> str | dict[str, Any]:
    if choice == "required":
        return service.required
    if choice in ("auto", "none"):
        return choice
    return {"type": "function", "function": {"name": choice}}


class Function(msgspec.Struct, frozen=True):
    """Part of a call: its name comes once, its arguments in pieces of JSON, or whole as an object."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The arguments as JSON."""
        said = self.arguments or ""
        return said if isinstance(said, str) else msgspec.json.encode(said).decode()


class CallPart(msgspec.Struct, frozen=True):
    """Part of a tool call."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None


class ContentBlock(msgspec.Struct, frozen=True):
    """Content which says of what kind it is: text, or thinking made of such blocks; others are nothing we asked for."""

    type: str = ""
    text: str | None = None
    thinking: tuple[ContentBlock, ...] | None = None


class Detail(msgspec.Struct, frozen=True):
    """A piece of reasoning as OpenRouter and Snowflake tell it: its text or a summary; encrypted it has neither."""

    text: str | None = None
    summary: str | None = None


class ChatPart(msgspec.Struct, frozen=True):
    """A message, or part of one. Native reasoning has three names, or is in blocks; OpenRouter gives it under two."""

    content: str | tuple[ContentBlock, ...] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: tuple[Detail, ...] | None = None
    refusal: str | None = None
    tool_calls: tuple[CallPart, ...] | None = None

    @property
    def text(self) -> str:
        """What it adds to the answer."""
        if isinstance(self.content, tuple):
            return "".join(block.text or "" for block in self.content if block.type == "text")
        return self.content or ""

    @property
    def thought(self) -> str:
        """What it adds to the reasoning."""
        if isinstance(self.content, tuple):
            return "".join(each.text or "" for block in self.content for each in block.thinking or ())
        told = self.reasoning_content or self.reasoning
        return told or "".join(each.text or each.summary or "" for each in self.reasoning_details or ())


class Choice(msgspec.Struct, frozen=True):
    """Part of one of the answers, or, of a service which does not stream, the whole of it; only one is asked for."""

    delta: ChatPart | None = None
    message: ChatPart | None = None
    finish_reason: str | None = None
    error: ServiceFault | str | None = None


class PromptDetails(msgspec.Struct, frozen=True):
    """Of the input tokens, how many were read from the cache, and how many written to it."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class CompletionDetails(msgspec.Struct, frozen=True):
    """Of the output tokens, how many were reasoning."""

    reasoning_tokens: int | None = None


class CompletionUsage(msgspec.Struct, frozen=True):
    """Tokens used; the details are parts of the totals."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None


class Extras(msgspec.Struct, frozen=True):
    """What Groq tells beside the format."""

    usage: CompletionUsage | None = None
    error: str | None = None


class CompletionChunk(msgspec.Struct, frozen=True):
    """One event of the stream."""

    choices: tuple[Choice, ...] | None = None
    usage: CompletionUsage | None = None
    error: ServiceFault | str | None = None
    x_groq: Extras | None = None

    @property
    def counted(self) -> CompletionUsage | None:
        """The tokens used so far, where this event says them."""
        return self.usage or (self.x_groq.usage if self.x_groq else None)

    @property
    def fault(self) -> ServiceFault | str | None:
        """What went wrong in the middle of the stream."""
        told = next((choice.error for choice in self.choices or () if choice.error), None)
        return self.error or told or (self.x_groq.error if self.x_groq else None)
