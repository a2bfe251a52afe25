"""What a survey found: rows, each of one document; merged, counted and written as the report by code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from assay.core.clean import escape_markdown, one_line
from assay.core.markers import strip
from assay.core.sources import PassageSpan
from assay.core.text import words
from assay.core.translation import gettext as _
from assay.core.translation import ngettext, number, state

SHOWN = 50
"""Documents which the report names; all are counted."""


class SurveyLine(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence, and the passages of its document which say it."""

    text: str
    spans: tuple[PassageSpan, ...]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What one document gives: its hash, what it is called, and lines about it; `place` is its place in the order.

    `named` says that the lines name the document themselves.
    """

    document: str
    place: int
    called: str
    lines: tuple[SurveyLine, ...]
    named: bool = False


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """How far a survey came: documents read, of all in scope; `what` was read of each; `parts` counts those cut.

    `counted` says that there was nothing to look for in them: all were counted.
    """

    read: int
    total: int
    what: str = ""
    parts: int = 0
    counted: bool = False


def merged(rows: Iterable[Row]) -> tuple[Row, ...]:
    """One row a document, in the documents' order; what is said of a document twice counts once."""
    found: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: row.place):
        known = found.get(row.document)
        lines = {tuple(words(line.text)): line for line in reversed((*(known.lines if known else ()), *row.lines))}
        found[row.document] = msgspec.structs.replace(row, lines=tuple(reversed(lines.values())))
    return tuple(found.values())


def first_line(rows: Sequence[Row], reached: Reached) -> str:
    """How many documents there are, and how many were read for it: counted by code."""
    count = len(rows)
    if reached.counted:
        said = ngettext(
            "{count} document is in scope, counted by code.", "{count} documents are in scope, counted by code.", count
        )
        return state(said.format(count=number(count)))
    matching = ngettext("{count} document matches", "{count} documents match", count).format(count=number(count))
    read = ngettext("{read} of {count} document was read", "{read} of {count} documents were read", reached.total)
    if reached.what:
        read = ngettext(
            "{what} of {read} of {count} document was read",
            "{what} of {read} of {count} documents were read",
            reached.total,
        )
    told = read.format(what=reached.what, read=number(reached.read), count=number(reached.total))
    return state(_("{text}.").format(text=_("; ").join((matching, told))))


def composed(rows: Sequence[Row], reached: Reached, asked: str, cite: Callable[[Row, SurveyLine], str]) -> str:
    """The report: the count, then the first rows with their citations, and how many are not shown.

    Args:
        asked: what was looked for, as a heading.
        cite: the marker of a line.
    """
    blocks = [first_line(rows, reached), f"## {escape_markdown(asked)}"]
    if not rows:
        blocks.append(_("None"))
    else:
        blocks.append("\n".join(part for row in rows[:SHOWN] for part in _item(row, cite)))
    if len(rows) > SHOWN:
        listed = _("The first {shown} of {count} documents are listed.")
        blocks.append(state(listed.format(shown=number(SHOWN), count=number(len(rows)))))
    return "\n\n".join(blocks)


def _item(row: Row, cite: Callable[[Row, SurveyLine], str]) -> list[str]:
    if row.named:
        return [f"- {_text(line)} {cite(row, line)}" for line in row.lines]
    return [f"- **{escape_markdown(row.called)}**", *(f"  - {_text(line)} {cite(row, line)}" for line in row.lines)]


def _text(line: SurveyLine) -> str:
    return one_line(strip(line.text))
