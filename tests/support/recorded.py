"""Replies of real model services, recorded, and a loopback server which gives them again.

Most were recorded whole. Assay always asks for a stream; a whole reply of chat completions is served as it is, since
some services ignore that wish; those of other formats are cut into the events their services stream.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from chat_server import Answer
from provider_server import event

DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[3] / "shared" / "data")) / "wire"
SSE = "text/event-stream"


class Row:
    """One recorded reply."""

    def __init__(self, row: dict[str, Any], file: str) -> None:
        self.id, self.file, self.status = f"{file}:{row['id']}", file, int(row["status"])
        self.host, self.path = urlsplit(row["uri"]).netloc, urlsplit(row["uri"]).path
        self.stream, self.retry_after = bool(row["stream"]), row["retry_after"]
        found = row["response"]
        self.text: str = found if isinstance(found, str) else json.dumps(found)
        request = row["request"]
        self.request: dict[str, Any] = json.loads(request) if isinstance(request, str) else request or {}

    @property
    def body(self) -> dict[str, Any]:
        """The reply where it was recorded whole."""
        found: dict[str, Any] = json.loads(self.text)
        return found


def rows() -> list[Row]:
    """All of them; none where the recordings are absent."""
    files = sorted(DATA.glob("*.jsonl.gz"))
    return [Row(json.loads(line), path.name.split(".")[0]) for path in files for line in gzip.open(path, "rt")]


def expected(row: Row) -> tuple[str, str, list[tuple[str, Any]]]:
    """The text, the thinking and the calls which a reader of the recording finds in it, white space aside."""
    found = _READERS.get(row.file, _chat)(row)
    text, thinking, calls = "", "", []
    for kind, value in found:
        if kind == "text":
            text += value
        elif kind == "think":
            thinking += value
        else:
            calls.append(value)
    if text.lstrip().startswith("<think>"):
        inner, _, text = text.lstrip().removeprefix("<think>").partition("</think>")
        thinking += inner
    return text.strip(), thinking.strip(), calls


Recording = Iterable[tuple[str, Any]]


def _chat(row: Row) -> Recording:
    chunks = [json.loads(line[6:]) for line in row.text.splitlines() if line.startswith("data: {")]
    calls: dict[int, list[str]] = {}
    for body in chunks if row.stream else [row.body]:
        for choice in body.get("choices") or ():
            part = choice.get("delta") or choice.get("message") or {}
            yield from _chat_part(part)
            for place, call in enumerate(part.get("tool_calls") or ()):
                known = calls.setdefault(call.get("index", place), ["", ""])
                known[0] = call["function"].get("name") or known[0]
                known[1] += call["function"].get("arguments") or ""
    yield from (("call", (name, json.loads(arguments or "{}"))) for name, arguments in calls.values())


def _chat_part(part: dict[str, Any]) -> Recording:
    details = part.get("reasoning_details") or ()
    text = "".join(each.get("text") or each.get("summary") or "" for each in details)
    yield "think", part.get("reasoning_content") or part.get("reasoning") or text
    content = part.get("content") or ""
    if isinstance(content, str):
        yield "text", content
    else:
        for block in content:
            yield "text", block.get("text") or ""
            yield "think", "".join(each.get("text", "") for each in block.get("thinking", ()))


def _anthropic(row: Row) -> Recording:
    if row.stream:
        yield from _anthropic_stream(row)
        return
    for block in row.body["content"]:
        yield from _anthropic_block(block)


def _anthropic_block(block: dict[str, Any]) -> Recording:
    match block["type"]:
        case "text":
            yield "text", block["text"]
        case "thinking":
            yield "think", block["thinking"]
        case "tool_use":
            yield "call", (block["name"], block["input"])


def _anthropic_stream(row: Row) -> Recording:
    for line in row.text.splitlines():
        if line.startswith("data: "):
            delta = json.loads(line[6:]).get("delta", {})
            if delta.get("type") == "text_delta":
                yield "text", delta["text"]
            elif delta.get("type") == "thinking_delta":
                yield "think", delta["thinking"]


def _google(row: Row) -> Recording:
    for part in (row.body["candidates"][0].get("content") or {}).get("parts", ()):
        if "functionCall" in part:
            yield "call", (part["functionCall"]["name"], part["functionCall"].get("args") or {})
        elif "text" in part:
            yield "think" if part.get("thought") else "text", part["text"]


def _cohere(row: Row) -> Recording:
    message = row.body["message"]
    for block in message.get("content") or ():
        yield "text", block.get("text", "")
    for call in message.get("tool_calls") or ():
        yield "call", (call["function"]["name"], json.loads(call["function"]["arguments"]))


_READERS: dict[str, Callable[[Row], Recording]] = {"anthropic": _anthropic, "google": _google, "cohere": _cohere}


def answer(row: Row) -> Answer:
    """What the loopback server sends for a recording."""
    headers = {"retry-after": str(row.retry_after)} if row.retry_after else {}
    if row.status != 200 or row.stream or row.file not in _CUTS:
        return Answer([row.text], row.status, headers)
    return Answer(_CUTS[row.file](row.body), row.status, headers)


def _anthropic_events(body: dict[str, Any]) -> list[str]:
    kept = {"content": [], "stop_reason": None, "stop_sequence": None}
    events = [{"type": "message_start", "message": body | kept}]
    for index, block in enumerate(body["content"]):
        first, deltas = _anthropic_cut(block)
        events.append({"type": "content_block_start", "index": index, "content_block": first})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": body.get("stop_sequence")}
    events += [{"type": "message_delta", "delta": delta, "usage": body["usage"]}, {"type": "message_stop"}]
    return [event(each, each["type"]) for each in events]


def _anthropic_cut(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match block["type"]:
        case "text":
            return block | {"text": ""}, [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        case "thinking":
            found = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            return block | {"thinking": "", "signature": ""}, found
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            pieces = _pieces(json.dumps(block["input"]))
            return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        case _:
            return block, []


def _google_events(body: dict[str, Any]) -> list[str]:
    return [event(body)]


def _cohere_events(body: dict[str, Any]) -> list[str]:
    message = body["message"]
    events: list[dict[str, Any]] = [
        {"type": "message-start", "id": body["id"], "delta": {"message": {"role": "assistant"}}}
    ]
    for index, block in enumerate(message.get("content") or ()):
        start = {"message": {"content": {"type": "text", "text": ""}}}
        events.append({"type": "content-start", "index": index, "delta": start})
        for piece in _pieces(block["text"]):
            delta = {"message": {"content": {"text": piece}}}
            events.append({"type": "content-delta", "index": index, "delta": delta})
        events.append({"type": "content-end", "index": index})
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        first = call | {"function": function | {"arguments": ""}}
        events.append({"type": "tool-call-start", "index": index, "delta": {"message": {"tool_calls": first}}})
        for piece in _pieces(function["arguments"]):
            delta = {"message": {"tool_calls": {"function": {"arguments": piece}}}}
            events.append({"type": "tool-call-delta", "index": index, "delta": delta})
        events.append({"type": "tool-call-end", "index": index})
    end = {"finish_reason": body["finish_reason"], "usage": body["usage"]}
    events.append({"type": "message-end", "id": body["id"], "delta": end})
    return [event(each, each["type"]) for each in events]


def _pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


_CUTS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "anthropic": _anthropic_events,
    "google": _google_events,
    "cohere": _cohere_events,
}
