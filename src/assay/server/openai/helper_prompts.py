"""Prompts which chat clients send beside those of their users: for titles, tags, next questions, completions.

Each would be a whole run, which nobody asked for and somebody pays. They are known by what they ask for, not by the
client: a form to be filled in about the conversation, or a title in few words. The answer is made of the conversation
by code; where nothing can be said without a model, it is the empty form, which clients take for "nothing".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from assay.core.milestones import shorten
from assay.server.openai.requests import ChatRequest, Format, text_of

SMALLEST = 50
"""Tokens of an answer below which no report fits: so small a cap is how clients try out a connection."""
TITLE_WORDS = 6
TITLE = 60
"""Code points of a title."""
HEAD = 700
"""Code points at the start of a prompt in which it says what it wants."""

_TASK = re.compile(r"\s*#{2,4}\s*Task\s*:", re.IGNORECASE)
_HISTORY = re.compile(r"<chat_history>", re.IGNORECASE)
_TITLE = re.compile(r"\btitle\b", re.IGNORECASE)
_ABOUT = re.compile(r"\b(?:conversation|chat|dialogue|discussion|user'?s? messages?|session)\b", re.IGNORECASE)
_SHORT = re.compile(r"\b(?:words?|characters?|concise|short|brief)\b", re.IGNORECASE)
_FORM = re.compile(r"""\{\s*["'](\w+)["']\s*:\s*(\[|["'])""")
_USER = re.compile(r"^[ \t>*-]*(?:user|human)\b[^:\n]{0,20}:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)

Finish = Literal["stop", "length"]


class Helped(msgspec.Struct, frozen=True):
    """The answer to a prompt which starts no research."""

    text: str
    finish: Finish = "stop"


def helped(request: ChatRequest) -> Helped | None:
    """The answer to a helper's prompt; None for a question of the user."""
    told = [text_of(each.content) for each in request.messages if each.role in ("system", "developer")]
    users = [text_of(each.content) for each in request.messages if each.role == "user"]
    prompt = users[-1] if users else ""
    if _is_helper(prompt) or any(_wants_title(text) for text in told[:1]):
        instruction = prompt if _is_helper(prompt) else told[0]
        title = _title(prompt, users)
        return Helped(_filled(instruction, request.response_format, title))
    cap = request.max_completion_tokens or request.max_tokens
    if cap is not None and cap < SMALLEST:
        return Helped(f"No report fits into {cap} tokens: leave max_tokens out.", "length")
    return None


def _is_helper(prompt: str) -> bool:
    return bool(_TASK.match(prompt) or _HISTORY.search(prompt) or _wants_title(prompt))


def _wants_title(text: str) -> bool:
    """Whether a text asks for a short title of a conversation."""
    head = text[:HEAD]
    return all(pattern.search(head) for pattern in (_TITLE, _ABOUT, _SHORT))


def _filled(instruction: str, format: Format | None, title: str) -> str:
    """The form which is asked for, filled as far as code can; the title, where none is."""
    fields = _fields(instruction, format)
    if not fields:
        return title
    return msgspec.json.encode({name: [] if many else title * (name == "title") for name, many in fields}).decode()


def _fields(instruction: str, format: Format | None) -> Sequence[tuple[str, bool]]:
    """The names of a form's fields, and whether each is a list."""
    schema = format.json_schema.schema if format and format.json_schema else None
    if schema:
        properties = schema.get("properties", {})
        return [(name, isinstance(kind, dict) and kind.get("type") == "array") for name, kind in properties.items()]
    found = _FORM.search(instruction)
    return [(found[1], found[2] == "[")] if found else []


def _title(prompt: str, users: Sequence[str]) -> str:
    """The first thing a user said, in few words."""
    quoted = _USER.search(prompt)
    said = quoted[1] if quoted else next((text for text in users if not _is_helper(text)), "New chat")
    return shorten(" ".join(said.split()[:TITLE_WORDS]).rstrip("?!.,;:"), TITLE)
