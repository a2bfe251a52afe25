"""Answers in Anthropic's streaming format (Messages API)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from chat_server import Answer, Piece
from provider_server import event

USAGE_IN = {"input_tokens": 20, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 10, "output_tokens": 1}
USAGE_OUT = {"output_tokens": 30, "output_tokens_details": {"thinking_tokens": 12}}


def _event(kind: str, **fields: Any) -> str:
    return event({"type": kind, **fields}, kind)


def start() -> str:
    """The opening event, which counts the input."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": USAGE_IN,
    }
    return _event("message_start", message=message)


def block(index: int, first: dict[str, Any], *deltas: dict[str, Any]) -> list[str]:
    """A content block from its start to its stop."""
    return [
        _event("content_block_start", index=index, content_block=first),
        *(_event("content_block_delta", index=index, delta=delta) for delta in deltas),
        _event("content_block_stop", index=index),
    ]


def text(index: int, *pieces: str) -> list[str]:
    """A block of text."""
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces))


def thinking(index: int, *pieces: str) -> list[str]:
    """A block of thinking, with its signature."""
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    first = {"type": "thinking", "thinking": "", "signature": ""}
    return block(index, first, *deltas, {"type": "signature_delta", "signature": "sig"})


def call(index: int, id: str, name: str, *pieces: str) -> list[str]:
    """A call whose arguments come in these pieces."""
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, {"type": "tool_use", "id": id, "name": name, "input": {}}, *deltas)


def stop(reason: str = "end_turn", usage: dict[str, Any] | None = None) -> list[str]:
    """The closing events, which count the output."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [_event("message_delta", delta=delta, usage=usage or USAGE_OUT), _event("message_stop")]


def ping() -> str:
    """A sign of life without content."""
    return _event("ping")


def broken(kind: str, message: str) -> str:
    """A fault told inside the stream."""
    return _event("error", error={"type": kind, "message": message})


def says(*pieces: str, reason: str = "end_turn") -> Answer:
    """A plain answer in these pieces."""
    return Answer([start(), ping(), *text(0, *pieces), *stop(reason)])


def streamed(*events: Piece | Sequence[Piece], cut: bool = False) -> Answer:
    """An answer of these events after the opening one."""
    pieces: list[Piece] = [start()]
    for each in events:
        pieces += [each] if isinstance(each, str | bytes | float) else each
    return Answer(pieces, cut=cut)


def fault(status: int, kind: str, message: str, **headers: str) -> Answer:
    """A refusal in Anthropic's words."""
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return Answer([json.dumps(body)], status, headers)
