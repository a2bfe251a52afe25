"""Findings as units to quote: what the text of a finding cites, grounded in the passages at hand."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from assay.core import markers
from assay.core.turns import is_said
from assay.models.questions.words import stems
from assay.models.shown_documents.passages import PassageSentence, one_line
from assay.models.shown_documents.shelf import QuotableUnit, ShownSources, frame_field
from assay.models.shown_documents.tabular import is_in_rows, is_row_of

Finding = tuple[str, list[QuotableUnit]]
"""An agent's task and its findings, best first."""


def parse_finding(text: str) -> Finding:
    """A finding's task, and its lines as units; text that cites nothing is left out."""
    first, _, rest = text.partition("\n")
    task = first.removeprefix("Task:").strip() if first.startswith("Task:") else ""
    body = rest if task else text
    return task, [unit for line in body.splitlines() for unit in _cited_pieces(line)]


def _cited_pieces(line: str) -> list[QuotableUnit]:
    """The pieces of a line up to each marker, with the passages that it names."""
    units: list[QuotableUnit] = []
    start = 0
    for marker in markers.parse_markers(line):
        text = line[start : marker.start].strip().removeprefix("- ").strip()
        start = marker.end
        if text and marker.passages:
            source = marker.passages[0].partition(".")[0]
            units.append(QuotableUnit(text=text, passages=marker.passages, source=source))
        elif units and marker.passages and not text:
            passages = tuple(dict.fromkeys((*units[-1].passages, *marker.passages)))
            units[-1] = msgspec.structs.replace(units[-1], passages=passages)
    return units


def quotable_units(units: Sequence[QuotableUnit], shelf: ShownSources) -> list[QuotableUnit]:
    """`units` whose words the evidence has, or that are one of its frames; others by their citations."""
    return [grounded for unit in units for grounded in _ground(unit, shelf)]


def _ground(unit: QuotableUnit, shelf: ShownSources) -> list[QuotableUnit]:
    book = shelf.by_passage.get(unit.passages[0])
    if book is None:
        return []
    texts = {passage.id: one_line(passage.text) for passage in book.passages}
    if any(unit.text in texts.get(passage, "") for passage in unit.passages) or is_row_of(unit, shelf):
        return [unit]
    if is_said(unit.text, ((passage.id, passage.text) for passage in book.passages if passage.id in unit.passages)):
        return [unit]
    if is_in_rows(unit, shelf):
        return [replace(unit, frame=True)]
    for field in book.fields:
        frame = frame_field(book, field)
        if frame.text == unit.text:
            return [frame]
    cited_sentences = [sentence for sentence in book.sentences if sentence.passage in unit.passages]
    rows = [row for sentence in cited_sentences if (row := _without_name(unit, sentence)) is not None]
    if any(row.text in texts.get(passage, "") for row in rows for passage in row.passages) or any(
        is_row_of(row, shelf) for row in rows
    ):
        return [unit]
    unit_keys = frozenset(stems(unit.text))
    best = sorted(cited_sentences, key=lambda sentence: -len(unit_keys.intersection(stems(sentence.text))))[:1]
    return [
        QuotableUnit(text=candidate.text, passages=(candidate.passage,), source=book.id)
        for candidate in best
        if unit_keys.intersection(stems(candidate.text))
    ]


def _without_name(unit: QuotableUnit, sentence: PassageSentence) -> QuotableUnit | None:
    """A unit without the name before it; None if it has none."""
    text = sentence.without_name(unit.text)
    return msgspec.structs.replace(unit, text=text) if text != unit.text else None


def distinct_units(units: Sequence[QuotableUnit]) -> list[QuotableUnit]:
    """The units in order, of those with the same text the first."""
    return list({unit.text: unit for unit in reversed(units)}.values())[::-1]


# sections
