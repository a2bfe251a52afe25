"""The messages of a request, as chat completions take them."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from assay.core.messages import Message, Request, ToolCall
from assay.core.tags import tagged, untagged
from assay.models.openai.services import Service

BRIDGE = {"role": "assistant", "content": "OK"}
"""What is put between a tool's result and a user's words, where a service wants the model to speak there."""


def messages(request: Request, service: Service) -> list[dict[str, Any]]:
    """The conversation, the system text first.

    Call ids which are not of the form the service takes (from a fallback of another make) get others. A result of a
    call nobody made, which services refuse, is told as a user's words.
    """
    said: list[dict[str, Any]] = [{"role": "system", "content": request.system}]
    made: set[str] = set()
    for message in request.messages:
        if message.role == "assistant":
            made |= {call.id for call in message.calls}
            if service.bridged and not (message.text or message.calls):
                continue
        spoken = _message(message, made, service.ids)
        if service.bridged and spoken["role"] == "user" and said[-1]["role"] == "tool":
            said.append(BRIDGE)
        said.append(spoken)
    return said


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
