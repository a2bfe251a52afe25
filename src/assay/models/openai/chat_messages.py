"""The messages of a request, as chat completions take them."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from assay.core.messages import Message, Request, ToolCall, tagged, untagged
from assay.models.openai.chat_services import ChatService
from assay.models.openai.concessions import NONE, Concessions, allowed

BRIDGE = {"role": "assistant", "content": "OK"}
"""What is put between a tool's result and a user's words, where a service wants the model to speak there."""


CALL_NOW = "Call a tool now: {names}. Do not answer in words."
NO_CALLS = "Answer in words now. Call no tool."
IN_WORDS = """You have tools. To call one, write nothing but a JSON object of this form:
{{"name": "NAME", "arguments": {{…}}}}
To call several at once, write a JSON list of such objects. Results come in the next message. The tools:
{tools}"""


def messages(request: Request, service: ChatService, without: Concessions = NONE) -> list[dict[str, Any]]:
    """The conversation, the system text first; what the service does without is said in another way.

    Call ids which are not of the form the service takes (from a fallback of another make) get others. A result of a
    call nobody made, which services refuse, is told as a user's words.
    """
    said: list[dict[str, Any]] = [{"role": "system", "content": _system(request, without)}]
    made: set[str] = set()
    for message in request.messages if without.tools else map(_worded, request.messages):
        if message.role == "assistant":
            made |= {call.id for call in message.calls}
            if service.bridged and not (message.text or message.calls):
                continue
        spoken = _message(message, made, service.ids)
        if service.bridged and spoken["role"] == "user" and said[-1]["role"] == "tool":
            said.append(BRIDGE)
        said.append(spoken)
    if reminder := _reminder(request, without):
        said.append({"role": "user", "content": reminder})
    return said if without.system else _folded(said)


def _system(request: Request, without: Concessions) -> str:
    if without.tools or not request.tools or request.tool_choice == "none":
        return request.system
    tools = (
        msgspec.json.encode({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
        for tool in request.tools
    )
    return f"{request.system}\n\n{IN_WORDS.format(tools=chr(10).join(each.decode() for each in tools))}"


def _reminder(request: Request, without: Concessions) -> str:
    """What is said to the model where its service cannot be told which tool is to be called."""
    if not request.tools or request.tool_choice == "auto":
        return ""
    if request.tool_choice == "none":
        return NO_CALLS if not (without.none and without.tools) else ""
    if without.tools and allowed(request.tool_choice, without.choice) == request.tool_choice:
        return ""
    every = ", ".join(tool.name for tool in request.tools)
    return CALL_NOW.format(names=every if request.tool_choice == "required" else request.tool_choice)


def _worded(message: Message) -> Message:
    """A message with its calls written into its text, as a model without tools makes them."""
    if message.role != "assistant" or not message.calls:
        return message
    calls = [{"name": call.name, "arguments": call.arguments} for call in message.calls]
    written = msgspec.json.encode(calls if len(calls) > 1 else calls[0]).decode()
    return Message(role="assistant", text=f"{message.text}\n{written}".strip())


def _folded(said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conversation without a system message, in which speakers take turns: its texts open that of the user."""
    turns: list[dict[str, Any]] = []
    for message in said:
        spoken = message | {"role": "user"} if message["role"] == "system" else message
        last = turns[-1] if turns else {}
        plain = not (last.get("tool_calls") or spoken.get("tool_calls") or spoken["role"] == "tool")
        if plain and last.get("role") == spoken["role"]:
            texts = (last["content"], spoken["content"])
            turns[-1] = last | {"content": "\n\n".join(each for each in texts if each)}
        else:
            turns.append(spoken)
    return turns


def _message(message: Message, made: set[str], ids: str) -> dict[str, Any]:
    if message.role == "assistant":
        return _reply(message, ids)
    if message.role == "tool" and message.call_id in made:
        id = _accepted(message.call_id, ids)
        return {"role": "tool", "tool_call_id": id, "content": untagged(message.text)}
    return {"role": "user", "content": tagged(message)}


def _reply(message: Message, ids: str) -> dict[str, Any]:
    if not message.calls:
        return {"role": "assistant", "content": message.text}
    calls = [_call(call, ids) for call in message.calls]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def _call(call: ToolCall, ids: str) -> dict[str, Any]:
    arguments = call.malformed or msgspec.json.encode(call.arguments).decode()
    function = {"name": call.name, "arguments": arguments}
    return {"id": _accepted(call.id, ids), "type": "function", "function": function}


def _accepted(id: str, ids: str) -> str:
    """`id`, or where it is not of the form `ids`, one made of it which every service accepts."""
    return id if not ids or re.fullmatch(ids, id) else hashlib.sha256(id.encode()).hexdigest()[:9]
