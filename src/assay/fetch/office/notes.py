"""Footnotes and endnotes: each stands where a reader meets it, behind the sentence or the cell that refers to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from assay.core.lazy import regex
from assay.core.text import ends_sentence, sentences
from assay.fetch.text_form import TextBuilder

MAX_NAMED_CHARS = 80
"""The longest text that a note is named by."""
MAX_FORM_VALUE_CHARS = 300
"""The longest value in a form that stands on the line of its label."""
_MARK = regex(r"\x02(\d+)\x03")

Notes = Mapping[int, str]


def note_mark(number: int) -> str:
    """What stands for the reference to note `number` until it is written; XML cannot hold these characters."""
    return f"\x02{number}\x03"


def write_with_notes(text: str, notes: Notes, write: Callable[[str], None], builder: TextBuilder) -> None:
    """Write a block by `write`, each note behind its sentence; notes to what is no sentence are paragraphs below it."""
    plain, places = _split_marks(text)
    if not places:
        write(text)
        return
    spans = sentences(plain) or [(0, 0)]
    written, below = list[str](), list[tuple[str, str]]()
    for index, (start, end) in enumerate(spans):
        following = spans[index + 1][0] if index + 1 < len(spans) else len(plain)
        own = [notes[number] for place, number in places if (not index or place > start) and place <= following]
        sentence = plain[start:end]
        written.append(sentence)
        if ends_sentence(sentence):
            written += [f"Note: {note}" if ends_sentence(note) else f"Note: {note}." for note in own]
        else:
            below += [(sentence, note) for note in own]
    write(" ".join(written))
    _write_below(below, builder)


def write_table_with_notes(
    rows: Sequence[Sequence[str]], notes: Notes, builder: TextBuilder, *, has_head: bool = True
) -> None:
    """Write a table, which may have a head, and below it the notes to its cells."""
    below = list[tuple[str, str]]()
    plain_rows: list[list[str]] = []
    for row in rows:
        pairs = [_split_marks(cell) for cell in row]
        plain_rows.append([plain for plain, _ in pairs])
        below += [(plain, notes[number]) for plain, places in pairs for _, number in places]
    builder.table(plain_rows, has_head=has_head)
    _write_below(dict.fromkeys(below), builder)  # a merged cell stands in several rows


def write_form_with_notes(rows: Sequence[Sequence[str]], notes: Notes, builder: TextBuilder) -> None:
    """Write rows of a label and a value as lines `label: value`; as a table without a head, if a value is long."""
    if any(len(value) > MAX_FORM_VALUE_CHARS for _, value in rows):
        write_table_with_notes(rows, notes, builder, has_head=False)
        return
    for label, value in rows:
        line = f"{' '.join(label.split()).rstrip(':： ')}: {value}"
        write_with_notes(line, notes, builder.paragraph, builder)


def _write_below(below: Iterable[tuple[str, str]], builder: TextBuilder) -> None:
    for text, note in below:
        name = " ".join(text.split())
        builder.paragraph(f"Note on “{name}”: {note}" if 0 < len(name) <= MAX_NAMED_CHARS else f"Note: {note}")


def _split_marks(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A text without the marks of notes, and where each was, with its number."""
    places: list[tuple[int, int]] = []
    pieces: list[str] = []
    start = length = 0
    for match in _MARK.finditer(text):
        pieces.append(text[start : match.start()])
        length += match.start() - start
        places.append((length, int(match[1])))
        start = match.end()
    return "".join((*pieces, text[start:])), places
