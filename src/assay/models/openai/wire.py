"""The wire format of chat completions: the requests, and the chunks of the answers.

Fields and their meanings follow OpenAI's API reference. Other servers leave fields out or send null, so every field of
a chunk has a default.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from typing import Any

import msgspec

from assay.core.messages import (
    REASONING_ROOM,
    Message,
    Profile,
    Request,
    Schema,
    ToolCall,
    ToolDefinition,
    tagged,
    untagged,
)
from assay.models.call_ids import with_accepted_ids
from assay.models.failures import ServiceFault
from assay.models.openai.chat_services import ChatService
from assay.models.openai.concessions import NO_CONCESSIONS, Concessions, allowed_choice
from assay.models.streams import decode

# The messages of a request, in the form of chat completions.

BRIDGE = {"role": "assistant", "content": "OK"}
"""Stands between a tool's result and a user message, for services that require the model to speak there."""

CALL_NOW = "Call a tool now: {names}. Do not answer in words."
NO_CALLS = "Answer in words now. Call no tool."
TOOLS_IN_WORDS = """You have tools. To call one, write nothing but a JSON object of this form:
{{"name": "NAME", "arguments": {{…}}}}
To call several at once, write a JSON list of such objects. Results come in the next message. The tools:
{tools}"""


def messages(request: Request, service: ChatService, concessions: Concessions = NO_CONCESSIONS) -> list[dict[str, Any]]:
    """The conversation, with the system text first; what the service does not accept is expressed in another way.

    A result without its call, which services refuse, becomes a user message.
    """
    chat_messages: list[dict[str, Any]] = [{"role": "system", "content": _system(request, concessions)}]
    source_messages = request.messages if concessions.tools else map(_calls_as_text, request.messages)
    for message in with_accepted_ids(source_messages, service.ids):
        if service.needs_bridge and message.role == "assistant" and not (message.text or message.calls):
            continue
        chat_message = _message(message)
        if service.needs_bridge and chat_message["role"] == "user" and chat_messages[-1]["role"] == "tool":
            chat_messages.append(BRIDGE)
        chat_messages.append(chat_message)
    if reminder := _reminder(request, concessions):
        chat_messages.append({"role": "user", "content": reminder})
    return chat_messages if concessions.system else _fold_conversation(chat_messages)


def _system(request: Request, concessions: Concessions) -> str:
    if concessions.tools or not request.tools or request.tool_choice == "none":
        return request.system
    tools = (
        msgspec.json.encode({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
        for tool in request.tools
    )
    return f"{request.system}\n\n{TOOLS_IN_WORDS.format(tools=chr(10).join(encoded.decode() for encoded in tools))}"


def _reminder(request: Request, concessions: Concessions) -> str:
    """The instruction to the model if its service cannot be told which tool to call."""
    if not request.tools or request.tool_choice == "auto":
        return ""
    if request.tool_choice == "none":
        return NO_CALLS if not (concessions.none and concessions.tools) else ""
    if concessions.tools and allowed_choice(request.tool_choice, concessions.choice) == request.tool_choice:
        return ""
    every = ", ".join(tool.name for tool in request.tools)
    return CALL_NOW.format(names=every if request.tool_choice == "required" else request.tool_choice)


def _calls_as_text(message: Message) -> Message:
    """A message with its calls written into its text, as a model without tools makes them."""
    if message.role != "assistant" or not message.calls:
        return message
    calls = [{"name": call.name, "arguments": call.arguments} for call in message.calls]
    calls_text = msgspec.json.encode(calls if len(calls) > 1 else calls[0]).decode()
    return Message(role="assistant", text=f"{message.text}\n{calls_text}".strip())


def _fold_conversation(chat_messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conversation with alternating speakers; the texts of system messages open the first user message."""
    turns: list[dict[str, Any]] = []
    for message in chat_messages:
        turn = message | {"role": "user"} if message["role"] == "system" else message
        last = turns[-1] if turns else {}
        plain = not (last.get("tool_calls") or turn.get("tool_calls") or turn["role"] == "tool")
        if plain and last.get("role") == turn["role"]:
            texts = (last["content"], turn["content"])
            turns[-1] = last | {"content": "\n\n".join(text for text in texts if text)}
        else:
            turns.append(turn)
    return turns


def _message(message: Message) -> dict[str, Any]:
    if message.calls:
        return {"role": "assistant", "content": message.text or None, "tool_calls": [*map(_call, message.calls)]}
    if message.role == "assistant":
        return {"role": "assistant", "content": message.text}
    if message.role == "tool" and message.call_id:
        return {"role": "tool", "tool_call_id": message.call_id, "content": untagged(message.text)}
    return {"role": "user", "content": tagged(message)}


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = call.malformed or msgspec.json.encode(call.arguments).decode()
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def request_fields(
    request: Request, model: str, profile: Profile, service: ChatService, concessions: Concessions = NO_CONCESSIONS
) -> dict[str, Any]:
    """The fields of a streamed request for `request`, as far as the model's service accepts them."""
    fields: dict[str, Any] = {
        "model": model,
        "messages": messages(request, service, concessions),
        "stream": True,
        concessions.cap or service.output: _output_limit(request, profile, concessions.most),
        **_reasoning_options(request, model, profile, service),
    }
    if service.counts:
        fields["stream_options"] = {"include_usage": True}
    if service.takes_cache_key and request.passing:
        fields["prompt_cache_key"] = _cache_key(request)
    if service.tells and isinstance(request.user, str):
        fields["user"] = request.user
    if isinstance(request.schema, Schema) and not request.tools:
        fields["response_format"] = _response_format(request.schema)
    choice = allowed_choice(request.tool_choice, concessions.choice)
    if request.tools and concessions.tools and (service.chooses or request.tool_choice != "none"):
        fields["tools"] = [_tool(tool) for tool in request.tools]
        if choice:
            fields["tool_choice"] = _choice(choice, service)
    if request.tool_choice == "none" and not concessions.none:
        fields.pop("tools", None)
        fields.pop("tool_choice", None)
    if "stream" in concessions.dropped:
        fields.pop("stream_options", None)
    return {name: value for name, value in fields.items() if name not in concessions.dropped}


def _response_format(schema: Schema) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": schema.name, "schema": schema.schema, "strict": True}}


def _reasoning_options(request: Request, model: str, profile: Profile, service: ChatService) -> dict[str, str]:
    if not profile.native_reasoning:
        return (
            {"reasoning_effort": "none"}
            if service.reasons_by_default and re.match(service.reasons_by_default, model)
            else {}
        )
    takes_effort = re.match(service.effort_models, model)
    return service.separate_reasoning | ({"reasoning_effort": service.effort or request.effort} if takes_effort else {})


def _cache_key(request: Request) -> str:
    """The same key for all requests of one loop, which begin alike, and another key for every loop."""
    stable_messages = request.messages[: len(request.messages) - request.passing]
    opening = tuple(itertools.takewhile(lambda message: message.role != "assistant", stable_messages))
    return hashlib.sha256(msgspec.json.encode((request.system, opening))).hexdigest()[:32]


def _output_limit(request: Request, profile: Profile, cap: int) -> int:
    default_room = REASONING_ROOM[request.effort] if profile.native_reasoning else 0
    room = max(default_room, request.room if isinstance(request.room, int) else 0)
    return max(1, min(request.max_tokens + room, profile.max_output, cap or profile.max_output))


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
    """Part of a call: its name comes once, its arguments as pieces of JSON or as one object."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The arguments as JSON."""
        arguments = self.arguments or ""
        return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()


class CallPart(msgspec.Struct, frozen=True):
    """Part of a tool call."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None


class ContentBlock(msgspec.Struct, frozen=True):
    """A block of content of a stated type: text, or thinking made of such blocks; other types are ignored."""

    type: str = ""
    text: str | None = None
    thinking: tuple[ContentBlock, ...] | None = None


class Detail(msgspec.Struct, frozen=True):
    """A piece of reasoning as OpenRouter and Snowflake send it: a text or a summary; an encrypted one has neither."""

    text: str | None = None
    summary: str | None = None


class ChatPart(msgspec.Struct, frozen=True):
    """A message or part of one. Native reasoning has one of three names (under OpenRouter two), or is in blocks."""

    content: str | tuple[ContentBlock, ...] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: tuple[Detail, ...] | None = None
    refusal: str | None = None
    tool_calls: tuple[CallPart, ...] | None = None

    @property
    def text(self) -> str:
        """The text it adds to the answer."""
        if isinstance(self.content, tuple):
            return "".join(block.text or "" for block in self.content if block.type == "text")
        return self.content or ""

    @property
    def reasoning_text(self) -> str:
        """The text it adds to the reasoning."""
        if isinstance(self.content, tuple):
            return "".join(part.text or "" for block in self.content for part in block.thinking or ())
        reasoning = self.reasoning_content or self.reasoning
        return reasoning or "".join(part.text or part.summary or "" for part in self.reasoning_details or ())


class Choice(msgspec.Struct, frozen=True):
    """Part of one answer, or all of it if the service does not stream; only one answer is requested."""

    delta: ChatPart | None = None
    message: ChatPart | None = None
    finish_reason: str | None = None
    error: ServiceFault | str | None = None


class PromptDetails(msgspec.Struct, frozen=True):
    """Input tokens read from the cache and written to it."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class CompletionDetails(msgspec.Struct, frozen=True):
    """Output tokens used for reasoning."""

    reasoning_tokens: int | None = None


class CompletionUsage(msgspec.Struct, frozen=True):
    """Tokens used; the details are parts of the totals."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None


class Extras(msgspec.Struct, frozen=True):
    """Fields that Groq sends beyond the format."""

    usage: CompletionUsage | None = None
    error: str | None = None


class CompletionChunk(msgspec.Struct, frozen=True):
    """One event of the stream."""

    choices: tuple[Choice, ...] | None = None
    usage: CompletionUsage | None = None
    error: ServiceFault | str | None = None
    x_groq: Extras | None = None

    @property
    def token_usage(self) -> CompletionUsage | None:
        """The tokens used so far, if this event states them."""
        return self.usage or (self.x_groq.usage if self.x_groq else None)

    @property
    def fault(self) -> ServiceFault | str | None:
        """The error in the middle of the stream, if this event states one."""
        error = next((choice.error for choice in self.choices or () if choice.error), None)
        return self.error or error or (self.x_groq.error if self.x_groq else None)


def decode_without_usage(data: str) -> CompletionChunk:
    """A chunk without its token counts, which are estimated then: a reply is not lost for counts in an unknown form.

    Raises:
        ValueError: it is not JSON, or no chunk either way.
    """
    chunk = decode(data, dict[str, Any])
    return msgspec.convert({name: value for name, value in chunk.items() if name != "usage"}, CompletionChunk)
