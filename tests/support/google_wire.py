"""Answers in Google's streaming format (streamGenerateContent over server-sent events)."""

from __future__ import annotations

import json
from typing import Any

from chat_server import Answer, Piece
from provider_server import event

USAGE = {
    "promptTokenCount": 120,
    "cachedContentTokenCount": 90,
    "candidatesTokenCount": 18,
    "thoughtsTokenCount": 12,
    "totalTokenCount": 150,
}


def chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> str:
    """One chunk with these parts."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return event({"candidates": [candidate], "modelVersion": "gemini-test", "responseId": "r1", **more})


def text(words: str) -> dict[str, Any]:
    """A part of text."""
    return {"text": words}


def thought(words: str) -> dict[str, Any]:
    """A part of thinking."""
    return {"text": words, "thought": True}


def call(name: str, arguments: dict[str, Any], id: str = "") -> dict[str, Any]:
    """A call, which comes whole."""
    return {"functionCall": {"name": name, "args": arguments} | ({"id": id} if id else {})}


def says(*pieces: str, finish: str = "STOP") -> Answer:
    """A plain answer in these pieces."""
    return streamed(*(chunk(text(piece)) for piece in pieces), chunk(finish=finish, usageMetadata=USAGE))


def streamed(*pieces: Piece, cut: bool = False) -> Answer:
    """An answer of these chunks."""
    return Answer(pieces, cut=cut)


def fault(code: int, status: str, message: str, **headers: str) -> Answer:
    """A refusal in Google's words."""
    return Answer([json.dumps({"error": {"code": code, "message": message, "status": status}})], code, headers)
