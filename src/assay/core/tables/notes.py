"""The lines in which a tool shows a model computed results over a table: one writer, one reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from assay.core.lazy import regex

_LINE = regex(r"Computed from passages? (?P<places>\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*): (?P<text>\S.*)")
MOST = 1_000
"""The most passages that one line names."""


class Note(msgspec.Struct, frozen=True):
    """A computed sentence, and the ordinals of the passages it rests on."""

    text: str
    ordinals: tuple[int, ...]


def note_line(note: Note) -> str:
    """The line of a note."""
    word = "passage" if len(note.ordinals) == 1 else "passages"
    return f"Computed from {word} {_ranges(note.ordinals)}: {note.text}"


def read_notes(text: str) -> tuple[Note, ...]:
    """The notes in `text`, in order; other lines are skipped."""
    lines = (match for line in text.split("\n") if (match := _LINE.fullmatch(line)))
    return tuple(Note(match["text"], tuple(_numbers_in(match["places"]))) for match in lines)


def _ranges(ordinals: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for each in sorted(set(ordinals)):
        if runs and each == runs[-1][1] + 1:
            runs[-1][1] = each
        else:
            runs.append([each, each])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _numbers_in(places: str) -> Iterable[int]:
    left = MOST
    for part in places.split(", "):
        first, _, last = part.partition("-")
        run = range(int(first), int(last or first) + 1)[:left]
        left -= len(run)
        yield from run
