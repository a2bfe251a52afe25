"""What was said in a thread before a run, and answers given before they are asked for."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Literal

import msgspec

from assay.core.text import estimate_tokens, sentences, words

USER_MESSAGES = 5
"""A run is told this many of the last messages its user wrote, with the replies between."""
LONGEST = 4_000
"""Code points kept of a message; the rest is cut off at the end of a sentence."""
ALIKE = 0.8
"""How near a question must come to the one an answer was given to (difflib's ratio)."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a thread. `questions` says that it asks the user to make clear what is meant."""

    by: Literal["user", "assistant"]
    text: str
    questions: bool = False


class GivenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer given before its question was asked: to the question named, or to the next where none is."""

    text: str
    question: str = ""


def latest(said: Sequence[Said]) -> tuple[Said, ...]:
    """The last messages of a thread: those of the user up to `USER_MESSAGES`, and the replies between and after."""
    kept: list[Said] = []
    users = 0
    for each in reversed(said):
        users += each.by == "user"
        if users > USER_MESSAGES:
            break
        kept.append(msgspec.structs.replace(each, text=shortened(each.text, LONGEST)))
    return tuple(reversed(kept))


def fitted(said: Sequence[Said], tokens: int) -> tuple[Said, ...]:
    """The messages in `tokens`: replies are shortened together, then the oldest messages left out."""
    kept, length = list(said), LONGEST
    while kept and _size(kept) > tokens:
        if length > 200:
            length //= 2
            kept = [_short(each, length) for each in kept]
        else:
            kept = kept[1:]
    return tuple(kept)


def _short(said: Said, length: int) -> Said:
    return said if said.by == "user" else msgspec.structs.replace(said, text=shortened(said.text, length))


def _size(said: Sequence[Said]) -> int:
    return estimate_tokens(msgspec.json.encode(said).decode())


def shortened(text: str, length: int) -> str:
    """`text` within `length` code points: as many whole sentences as fit, else cut at a space."""
    text = text.strip()
    if len(text) <= length:
        return text
    ends = [end for _, end in sentences(text[:length]) if end < length]
    cut = text[: ends[-1]] if ends else text[: length - 2].rpartition(" ")[0] or text[: length - 2]
    return f"{cut.rstrip()} …" if len(cut) + 2 <= length else f"{cut[: length - 2].rstrip()} …"


def matched(questions: Sequence[str], given: Sequence[GivenAnswer]) -> tuple[str | None, ...]:
    """The answer given to each question, None where there is none.

    An answer goes to the question it names, in these or nearly these words; answers which name none are taken in order
    by the questions left.
    """
    named = {_plain(each.question): each.text for each in given if each.question}
    unnamed = iter([each.text for each in given if not each.question])
    found: list[str | None] = [_named(question, named) for question in questions]
    return tuple(next(unnamed, None) if answer is None else answer for answer in found)


def _named(question: str, named: dict[str, str]) -> str | None:
    near = difflib.get_close_matches(_plain(question), named, n=1, cutoff=ALIKE)
    return named[near[0]] if near else None


def _plain(text: str) -> str:
    return " ".join(words(text))
