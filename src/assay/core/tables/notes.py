"""The lines in which a tool shows a model computed results over a table: one writer, one reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from assay.core.lazy import regex

_PLACE = r"(?:\d+/)?\d+(?:-\d+)?"
_LINE = regex(rf"Computed from passages? (?P<places>{_PLACE}(?:, {_PLACE})*): (?P<text>\S.*)")
MOST = 1_000
"""The most passages that one line names."""


class Note(msgspec.Struct, frozen=True):
    """A computed sentence, and the ordinals of the passages it rests on.

    `documents` says for each passage in which of the documents shown above it is, from 1; empty if there is one.
    """

    text: str
    ordinals: tuple[int, ...]
    documents: tuple[int, ...] = ()


def note_line(note: Note) -> str:
    """The line of a note."""
    word = "passage" if len(note.ordinals) == 1 else "passages"
    apart = zip(note.documents, note.ordinals, strict=True) if note.documents else ()
    places = ", ".join(f"{document}/{ordinal}" for document, ordinal in apart) or _ranges(note.ordinals)
    return f"Computed from {word} {places}: {note.text}"


def read_notes(text: str) -> tuple[Note, ...]:
    """The notes in `text`, in order; other lines are skipped."""
    lines = (match for line in text.split("\n") if (match := _LINE.fullmatch(line)))
    return tuple(_note(match["text"], match["places"]) for match in lines)


def _note(text: str, places: str) -> Note:
    if "/" not in places:
        return Note(text, tuple(_numbers_in(places)))
    pairs = [place.rpartition("/") for place in places.split(", ")[:MOST]]
    known = [(int(document or 1), int(ordinal)) for document, _, ordinal in pairs if "-" not in ordinal]
    return Note(text, tuple(ordinal for _, ordinal in known), tuple(document for document, _ in known))


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
