"""Repairs the mistakes that models make in tool calls, as far as they can still be understood."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from assay.core.json_decoders import UNREADABLE
from assay.core.lazy import regex
from assay.core.messages import Reply, ToolCall

FENCE = regex(r"(`{3,20}+|~{3,20}+)[ \t]*[a-zA-Z0-9]*[^\S\n]*+\n(.*?)(?:\n[ \t]*\1|\1[ \t]*(?:\n|\Z))", re.DOTALL)
_FUNCTION = regex(r"<function=([\w.-]+)>(.*?)(?:</function>|(?=<function=)|\Z)", re.DOTALL)
_PARAMETER = regex(r"<parameter=([\w.-]+)>(.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
MOST_READ = 20
"""How often one text is scanned for JSON: an opening bracket may never be closed."""
_OPENING = regex(r"[{\[]")
_STRUCTURE = regex(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)
"""Brackets and strings."""


def mend(reply: Reply, tools: Collection[str]) -> tuple[ToolCall, ...]:
    """Return the calls of a reply, each with its own id, with arguments decoded where possible.

    If there are none, read calls of `tools` out of the text.
    """
    calls = reply.calls or tuple(_calls_in_text(reply.text, tools))
    used: set[str] = set()
    mended = []
    for place, call in enumerate(calls):
        id = call.id if call.id and call.id not in used else f"{call.id or 'call'}-{place}"
        while id in used:
            id += "x"
        used.add(id)
        mended.append(decoded(msgspec.structs.replace(call, id=id)))
    return tuple(mended)


def decoded(call: ToolCall) -> ToolCall:
    """Decode arguments that are encoded twice or inside a fence. Leave others as they are."""
    if not call.malformed:
        return call
    value = read_json(call.malformed)
    if isinstance(value, str):
        value = read_json(value)
    return msgspec.structs.replace(call, arguments=value, malformed="") if isinstance(value, dict) else call


def _calls_in_text(text: str, tools: Collection[str]) -> Iterator[ToolCall]:
    """Find `{"name": "search", "arguments": {…}}` in a reply's text: alone, in a list, or several in a row.

    Also in the form of Llama and Qwen, if their server does not parse it: `<function=search>{…}</function>`.
    """
    for name, body in _FUNCTION.findall(text):
        parameters = {field: _read(value.strip()) for field, value in _PARAMETER.findall(body)}
        call = _call({"name": name, "arguments": parameters or read_json(body)}, tools)
        if call is not None:
            yield call
    for value in json_values(_FUNCTION.sub("", text)):
        for each in value if isinstance(value, list) else [value]:
            call = _call(each, tools)
            if call is not None:
                yield call


def _call(value: object, tools: Collection[str]) -> ToolCall | None:
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    value = inner if isinstance(inner, dict) else value
    name = value.get("name") or value.get("tool")
    arguments = value.get("arguments", value.get("parameters", value.get("args", {})))
    if isinstance(arguments, str):
        arguments = read_json(arguments)
    if not isinstance(name, str) or name not in tools or not isinstance(arguments, dict):
        return None
    return ToolCall(id="", name=name, arguments=arguments)


def _read(text: str) -> Any:
    """A parameter's value: parsed if it is a JSON object, list or number, else the text."""
    try:
        return msgspec.json.decode(text)
    except UNREADABLE:
        return text


def read_json(text: str) -> Any:
    """Return the JSON value in `text`: alone, in a code fence, or between other words. None if there is none.

    Of several it is the last object: before it a model thinks aloud or quotes.
    """
    try:
        return msgspec.json.decode(text.strip())
    except UNREADABLE:
        found = list(json_values(text))
        return next((value for value in reversed(found) if isinstance(value, dict)), next(iter(found), None))


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON objects and lists in `text` in order, without nested ones."""
    fenced = [value for _, inside in FENCE.findall(text) for value in _values(inside)]
    yield from fenced or _values(text)


def _values(text: str) -> Iterator[Any]:
    place, read = 0, 0
    while read <= MOST_READ * len(text) and (opening := _OPENING.search(text, place)):
        start, place = opening.span()
        end = _closing(text, start)
        read += (end or len(text)) - start
        if not end:
            continue
        try:
            yield msgspec.json.decode(text[start:end])
        except UNREADABLE:
            continue
        place = end


def _closing(text: str, start: int) -> int:
    """The index after the bracket that closes the one at `start`, 0 if there is none. Ignores brackets in strings."""
    depth = 0
    for sign in _STRUCTURE.finditer(text, start):
        depth += (sign[0] in "{[") - (sign[0] in "}]")
        if not depth:
            return sign.end()
    return 0
