"""Checks rises and falls by the figures: of a table between two years, or of the claim ("rose from 15 to 10").

A table has no word such as "rose". If a claim that cites one names two of its years, the figures of the column or row
it refers to show the direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import msgspec

from assay.core.lazy import regex
from assay.core.tables.cells import row_cells
from assay.verify.amounts import Amount, Day, Token, tokens
from assay.verify.analyzed_text import AnalyzedText, Word, analyze_text, fold_text
from assay.verify.evidence import ClaimEvidence, Outcome, SlotFinding, word_slot
from assay.verify.figures import as_measured
from assay.verify.rules.polarity import FALLS, RISES, denied_words

CHANGES = dict.fromkeys(RISES, 1) | dict.fromkeys(FALLS, -1)
_YEAR = regex(r"(?<![\d.,])(?:1[5-9]|20)\d\d(?![\d.,]?\d)")
_RANKS = frozenset(("rank", "place", "posit", "chart", "seed", "list"))
"""Rising from 10 to 5 is a rise with these."""
_BESIDE = 5
"""Words from one figure of "from A to B" to the other."""
_RULE = regex(r"[\s|:-]+")


class Change(msgspec.Struct, frozen=True):
    """The thing that a sentence of the claim says went up (1) or down (-1), by the word at `index`."""

    index: int
    direction: int
    words: tuple[Word, ...]


class KnownTable(msgspec.Struct, frozen=True):
    """The headers of a table's columns, and its known rows; `passage` is the one that cites a row."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    passage: str


def find(claim: AnalyzedText, evidence: ClaimEvidence) -> Iterator[SlotFinding]:
    """A finding for each change that figures show: those of the claim itself, or of a cited table."""
    changes = list(_changes(claim))
    if not changes or not evidence.passages:
        return
    tables: tuple[KnownTable, ...] | None = None
    for change in changes:
        own_direction = _own_direction(change)
        if own_direction is not None:
            if own_direction[0] != change.direction:
                yield _finding(claim, change, own_direction[1], evidence.passages[0].id)
            continue
        years = _compared_years(change)
        if len(years) != 2:
            continue
        tables = tuple(_tables(evidence)) if tables is None else tables
        directions = [
            observed for table in tables for observed in _figure_directions(table, change, years[0], years[1])
        ]
        if len({direction for direction, _, _ in directions}) == 1:
            direction, text, passage = directions[0]
            yield _finding(claim, change, text if direction != change.direction else "", passage)


def _finding(claim: AnalyzedText, change: Change, text: str, passage: str) -> SlotFinding:
    slot = word_slot(claim, change.index)
    outcome: Outcome = "conflict" if text else "stated"
    return SlotFinding(rule="direction", slot=slot, outcome=outcome, said=text, passage=passage, veto=bool(text))


def _changes(claim: AnalyzedText) -> Iterator[Change]:
    """The sentences of the claim that give the direction of one thing alone."""
    denied = denied_words(claim)
    for _, group in groupby(enumerate(claim.words), key=lambda pair: pair[1].sentence):
        sentence = list(group)
        indices = [index for index, word in sentence if word.kind == "word" and word.text.lower() in CHANGES]
        if len(indices) == 1 and indices[0] not in denied:
            direction = CHANGES[claim.words[indices[0]].text.lower()]
            yield Change(indices[0], direction, tuple(word for _, word in sentence))


def _compared_years(change: Change) -> list[int]:
    """The years of the sentence: as "from A to B" has them, else the earlier first."""
    years = [(before.text.lower(), year) for before, word in pairwise(change.words) for year in _years(word.text)]
    if [before for before, _ in years] == ["from", "to"]:
        return [year for _, year in years]
    return sorted({year for word in change.words for year in _years(word.text)})


# the claim itself


def _own_direction(change: Change) -> tuple[int, str] | None:
    """The direction of the figures in "from A to B", and both; None without them."""
    if any(word.key in _RANKS for word in change.words):
        return None
    figures = [
        (before.text.lower(), index, word.token)
        for index, (before, word) in enumerate(pairwise(change.words))
        if isinstance(word.token, Amount) and _is_figure(word.token)
    ]
    starts = [(index, token) for before, index, token in figures if before == "from"]
    ends = [(index, token) for before, index, token in figures if before == "to"]
    if len(starts) != 1 or len(ends) != 1 or abs(starts[0][0] - ends[0][0]) > _BESIDE:
        return None
    (_, first), (_, last) = starts[0], ends[0]
    direction = _direction(first, last)
    return (direction, f"{first.text}, {last.text}") if direction else None


def _is_figure(amount: Amount) -> bool:
    return len(amount.values) == 1 and not (amount.ordinal or amount.year or _years(amount.text))


def _direction(first: Amount, last: Amount) -> int:
    """1 if `last` is more than `first`, -1 if it is less, 0 if that is unclear."""
    if first.currency != last.currency and first.currency and last.currency:
        return 0
    directions = {
        (last.values[0] > value) - (last.values[0] < value)
        for values, _ in as_measured(last, first)
        for value in values[:1]
    }
    return directions.pop() if len(directions) == 1 else 0


# tables


def _tables(evidence: ClaimEvidence) -> Iterator[KnownTable]:
    """The tables of which the passages have rows; their headers are in them, or before them in their documents."""
    rows: dict[tuple[str, ...], tuple[list[tuple[str, ...]], str]] = {}
    for passage in evidence.passages:
        surroundings = evidence.surroundings.get(passage.id)
        for head, row in _rows(
            [*(surroundings.before if surroundings else "").splitlines(), *passage.text.splitlines()]
        ):
            known_rows, _ = rows.setdefault(head, ([], passage.id))
            if row not in known_rows:
                known_rows.append(row)
    return (KnownTable(head, tuple(known_rows), passage) for head, (known_rows, passage) in rows.items())


def _rows(lines: Sequence[str]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Each row below a header, with that header."""
    head: tuple[str, ...] = ()
    for line in lines:
        row = row_cells(line) if line.strip().startswith("|") else ()
        if not row or (head and len(row) != len(head)):
            head = row
        elif not _RULE.fullmatch(line):
            if head:
                yield head, row
            head = head or row


def _figure_directions(table: KnownTable, change: Change, first: int, last: int) -> Iterator[tuple[int, str, str]]:
    """The direction between two years of the figures the claim refers to, with both figures and the passage."""
    stems = {word.key for word in change.words if word.kind in ("word", "name") and not word.common}
    columns = tuple(zip(table.head, *table.rows, strict=True))
    for lines, labels in ((table.rows, table.head), (columns, columns[0])):
        by_year = {year: line for line in lines for year in _years(line[0])}
        column = _best_label(labels, stems)
        if not column or not {first, last} <= by_year.keys():
            continue
        before, after = by_year[first][column], by_year[last][column]
        first_figure, last_figure = _figure(before), _figure(after)
        if first_figure and last_figure and (direction := _direction(first_figure, last_figure)):
            yield direction, f"{before} ({first}), {after} ({last})", table.passage


def _best_label(labels: Sequence[str], stems: set[str]) -> int:
    """The label, apart from the first, with most words of the claim; 0 if there is none, or two are equal."""
    counts = [len(stems & {word.key for word in analyze_text(label).words}) for label in labels]
    counts[0] = 0
    best = max(counts)
    return counts.index(best) if best and counts.count(best) == 1 else 0


def _figure(cell: str) -> Amount | None:
    figures: list[Token] = [token for token in tokens(fold_text(cell).text) if not isinstance(token, Day)]
    first = figures[0] if len(figures) == 1 else None
    return first if isinstance(first, Amount) and first.values else None


def _years(text: str) -> tuple[int, ...]:
    return tuple(int(year) for year in _YEAR.findall(text))
