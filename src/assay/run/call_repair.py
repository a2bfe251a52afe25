"""Repairs the mistakes that models make in tool calls, as far as they can still be understood."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

import msgspec

from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import regex
from assay.core.messages import Reply, ToolCall

FENCE = regex(r"(`{3,20}+|~{3,20}+)[ \t]*[a-zA-Z0-9]*[^\S\n]*+\n(.*?)(?:\n[ \t]*\1|\1[ \t]*(?:\n|\Z))", re.DOTALL)
_FUNCTION = regex(r"<function=([\w.-]+)>(.*?)(?:</function>|(?=<function=)|\Z)", re.DOTALL)
_PARAMETER = regex(r"<parameter=([\w.-]+)>(.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_INVOKE = regex(r'<invoke name="([\w.-]+)">(.*?)(?:</invoke>|\Z)', re.DOTALL)
_NAMED = regex(r'<parameter name="([\w.-]+)"[^<>]{0,40}>(.*?)(?:</parameter>|(?=<parameter name)|\Z)', re.DOTALL)
_TOLD = regex(r"<tool_call>\s*+([\w.-]++)\s*+(?=<arg_key>|</tool_call>)(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_PAIR = regex(r"<arg_key>([^<>]{1,80})</arg_key>\s*+<arg_value>(.*?)(?:</arg_value>|(?=<arg_key>)|\Z)", re.DOTALL)
_TAGGED = ((_FUNCTION, _PARAMETER), (_INVOKE, _NAMED), (_TOLD, _PAIR))
"""Calls between tags, with a pair of tags for each argument: of Llama and Qwen, of MiniMax, of GLM."""
_BEFORE_ARGUMENTS = regex(
    r"(?<![\w.-])(?:functions\.)?([\w-]++)(?::\d+)?"
    r"(?:\s*+(?:<[^<>\n]{1,40}>|\[ARGS\]|`{3,20}(?:json)?|Action Input:))++\s*+(?=\{)",
    re.IGNORECASE,
)
"""A name with what stands between it and its arguments: of Mistral (`[ARGS]`), DeepSeek and Kimi (tokens between
`<` and `>`), of prompts for ReAct (`Action Input:`).
"""
_IN_PYTHON = regex(r"\s*(?:`{3,20}\w*\s)?\s*(\[?[A-Za-z_]\w*\(.*\)\]?)\s*(?:`{3,20})?\s*", re.DOTALL)
_NO_DATA = regex(r'("(?:[^"\\]|\\.)*+")|//[^\n]*|/\*.{0,1000}?\*/|,(?=\s*[}\]])', re.DOTALL)
"""A string of JSON; or a comment, or a comma before a closing bracket, which JSON has not."""
MAX_LENIENT_CHARS = 20_000
"""The most characters of what is read as Python, or as JSON with mistakes."""
MAX_SCANS = 20
"""How often one text is scanned for JSON: an opening bracket may never be closed."""
_OPENING = regex(r"[{\[]")
_STRUCTURE = regex(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)
"""Brackets and strings."""


def read_calls(reply: Reply, tools: Collection[str]) -> tuple[ToolCall, ...]:
    """Return the calls of a reply, each with its own id, with arguments decoded where possible.

    If there are none, read calls of `tools` out of the text.
    """
    calls = reply.calls or tuple(_calls_in_text(reply.text, tools))
    used: set[str] = set()
    repaired = []
    for index, call in enumerate(calls):
        id = call.id if call.id and call.id not in used else f"{call.id or 'call'}-{index}"
        while id in used:
            id += "x"
        used.add(id)
        repaired.append(decode_arguments(msgspec.structs.replace(call, id=id)))
    return tuple(repaired)


def decode_arguments(call: ToolCall) -> ToolCall:
    """Decode arguments that are encoded twice, inside a fence or another object, or with mistakes that can be
    understood. Leave others as they are.
    """
    value = read_json(call.malformed) if call.malformed else call.arguments
    if isinstance(value, str):
        value = read_json(value)
    if not isinstance(value, dict):
        return call
    inner = value.get("arguments")
    value = inner if len(value) == 1 and isinstance(inner, dict) else value
    return msgspec.structs.replace(call, arguments=value, malformed="")


def _calls_in_text(text: str, tools: Collection[str]) -> Iterator[ToolCall]:
    """Find `{"name": "search", "arguments": {…}}` in a reply's text: alone, in a list, or several in a row.

    Also in the forms that models are trained to write, if their server does not parse them.
    """
    for calls, parts in _TAGGED:
        for name, body in calls.findall(text):
            arguments = {field.strip(): _read(value.strip()) for field, value in parts.findall(body)}
            yield from _call({"name": name, "arguments": arguments or (read_json(body) if body.strip() else {})}, tools)
        text = calls.sub("", text)
    named_calls = _calls_after_names(text, tools)
    yield from named_calls
    for value in [] if named_calls else [*json_values(text), *_python_calls(text)]:
        for item in value if isinstance(value, list) else [value]:
            yield from _call(item, tools)


def _calls_after_names(text: str, tools: Collection[str]) -> list[ToolCall]:
    """Calls whose tool is named before the JSON of its arguments."""
    calls, last, read_length = list[ToolCall](), 0, 0
    for match in _BEFORE_ARGUMENTS.finditer(text):
        if match[1] not in tools or match.start() < last or read_length > MAX_SCANS * len(text):
            continue
        end = _closing_index(text, match.end())
        read_length += (end if end > 0 else len(text)) - match.end()
        arguments = read_json(text[match.end() : end]) if end > 0 else None
        if isinstance(arguments, dict) and not any(_call(arguments, tools)):
            calls.append(ToolCall(id="", name=match[1], arguments=arguments))
            last = end
    return calls


def _python_calls(text: str) -> Iterator[dict[str, Any]]:
    """Calls as in Python, if a text is nothing else: `search(query="tide")`, on lines, in a list or in a fence."""
    match = _IN_PYTHON.fullmatch(text) if len(text) <= MAX_LENIENT_CHARS and "\\" not in text else None
    with suppress(*_NOT_PYTHON):
        lines = [line.value for line in ast.parse(match[1]).body if isinstance(line, ast.Expr)] if match else []
        for node in chain.from_iterable(line.elts if isinstance(line, ast.List) else [line] for line in lines):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
                arguments = {key.arg: ast.literal_eval(key.value) for key in node.keywords}
                yield {"name": node.func.id, "arguments": _json_value(arguments)}


_NOT_PYTHON = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)


_NAMES, _ARGUMENTS = ("name", "tool", "action"), ("arguments", "parameters", "args", "tool_input", "action_input")


def _call(value: object, tools: Collection[str]) -> Iterator[ToolCall]:
    """The call that a value of JSON is, if it is one."""
    if not isinstance(value, dict):
        return
    inner = value.get("function")
    value = inner if isinstance(inner, dict) else value
    name = next((value[key] for key in _NAMES if value.get(key)), None)
    arguments: object = next((value[key] for key in _ARGUMENTS if key in value), {})
    if isinstance(arguments, str):
        arguments = read_json(arguments)
    if isinstance(name, str) and name in tools and isinstance(arguments, dict):
        yield ToolCall(id="", name=name, arguments=arguments)


def _read(text: str) -> Any:
    """A parameter's value: parsed if it is a JSON object, list or number, else the text."""
    try:
        return msgspec.json.decode(text)
    except DECODE_ERRORS:
        return text


def read_json(text: str) -> Any:
    """Return the JSON value in `text`: alone, in a code fence, or between other words. None if there is none.

    Of several it is the last object: before it a model thinks aloud or quotes.
    """
    try:
        return _decode(text.strip())
    except DECODE_ERRORS:
        values = list(json_values(text))
        return next((value for value in reversed(values) if isinstance(value, dict)), next(iter(values), None))


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON objects and lists in `text` in order, without nested ones."""
    fenced_values = [value for _, inside in FENCE.findall(text) for value in _values(inside)]
    yield from fenced_values or _values(text)


def _values(text: str) -> Iterator[Any]:
    position, read_length = 0, 0
    while read_length <= MAX_SCANS * len(text) and (opening := _OPENING.search(text, position)):
        start, position = opening.span()
        end = _closing_index(text, start)
        read_length += (end or len(text)) - start
        if not end:
            continue
        try:
            yield _decode(text[start:end])
        except DECODE_ERRORS:
            continue
        position = end


def _decode(text: str) -> Any:
    """A value of JSON, also with the mistakes of models: commas before a closing bracket, comments, line ends in
    strings, typographic quotes, or all as Python writes it.

    Raises as `msgspec.json.decode`.
    """
    try:
        return msgspec.json.decode(text)
    except DECODE_ERRORS:
        if text[:1] not in ("{", "[") or len(text) > MAX_LENIENT_CHARS:
            raise
        plain = text if '"' in text else text.translate(_STRAIGHT)
        with suppress(*_NOT_PYTHON):
            return _json_value(json.loads(_NO_DATA.sub(lambda found: found[1] or "", plain), strict=False))
        if "\\" not in text:  # an escape that Python does not know would print a warning
            with suppress(*_NOT_PYTHON):
                return _json_value(ast.literal_eval(text))
        raise


def _json_value(value: Any) -> Any:
    """A value as JSON has it: no half of a surrogate pair, no infinite number, no tuple.

    Raises:
        ValueError: it has a half.
        TypeError: it is nothing that JSON has.
    """
    return msgspec.json.decode(msgspec.json.encode(value))


_STRAIGHT = str.maketrans("“”„", '"""')


def _closing_index(text: str, start: int) -> int:
    """The index after the bracket that closes the one at `start`, 0 if there is none. Ignores brackets in strings."""
    depth = 0
    for sign in _STRUCTURE.finditer(text, start):
        depth += (sign[0] in "{[") - (sign[0] in "}]")
        if not depth:
            return sign.end()
    return 0
