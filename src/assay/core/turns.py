"""Turns of a conversation, as chats, transcripts and subtitles write them: a speaker stands before what he says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from assay.core.clean import one_line
from assay.core.lazy import regex
from assay.core.text import sentences

_TURN = regex(
    r"^[ \t]*(?P<stamp>[\[(]?\d[\d\-./:, TZ+]*(?:[ap]m\b)?[\])]?[\s–—-]*)?[*_]{0,2}"
    r"(?:<(?P<nick>[^<>\s]{2,30})>|(?P<name>(?-i:[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-ЯЁ])[\w'’.-]+"
    r"(?:\s[\w'’.&-]+){0,3}(?:\s?\([^()\n]{1,30}\))?)[*_]{0,2}:)[*_]{0,2}[ \t]+(?P<words>\S.*)",
    re.MULTILINE | re.IGNORECASE,
)
"""A time or none, a name before a colon or in angle brackets, as logs of IRC have it, and what is said."""


class SpokenTurn(msgspec.Struct, frozen=True):
    """What somebody says without a break: his name, that with the time before it (`prefix`), what he says, and where
    the turn begins, all in the text on one line.
    """

    speaker: str
    prefix: str
    said: str
    start: int


def turns_in(text: str) -> list[SpokenTurn]:
    """The turns in a text, each up to the next."""
    matches = list(_TURN.finditer(text))
    ends = [*(match.start() for match in matches[1:]), len(text)]
    return [_turn(match, text, end) for match, end in zip(matches, ends, strict=False)]


def _turn(match: re.Match[str], text: str, end: int) -> SpokenTurn:
    speaker = one_line(match["nick"] or match["name"])
    return SpokenTurn(
        speaker=speaker,
        prefix=one_line(f"{match['stamp'] or ''}{speaker}"),
        said=one_line(text[match.start("words") : end]),
        start=len(one_line(f"{text[: match.start()]} .")) - 1,
    )


def is_said(text: str, passages: Iterable[tuple[str, str]]) -> bool:
    """True if a text is a sentence of a turn behind the speaker's name: `passages` (ids and texts) have the turn from
    its beginning on.
    """
    for turn, said in _said_parts(passages):
        for name in (turn.prefix, turn.speaker):
            words = text.removeprefix(f"{name}: ")
            if words != text and words in {said[start:end].strip() for start, end in sentences(said)}:
                return True
    return False


def _said_parts(passages: Iterable[tuple[str, str]]) -> Iterator[tuple[SpokenTurn, str]]:
    """The turns, each with what is said in one passage: a turn goes on in the passage that directly follows."""
    turn, place = None, ("", 0)
    for id, text in sorted(passages, key=lambda passage: _place(passage[0])):
        turns, line, source, ordinal = turns_in(text), one_line(text), *_place(id)
        if turn is not None and place == (source, ordinal - 1):
            yield turn, line[: turns[0].start] if turns else line
        elif not turns:
            turn = None
        yield from ((each, each.said) for each in turns)
        turn, place = turns[-1] if turns else turn, (source, ordinal)


def _place(id: str) -> tuple[str, int]:
    source, _, ordinal = id.partition(".")
    return source, int(ordinal) if ordinal.isdecimal() else 0
