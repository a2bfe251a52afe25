"""Figures which the claim computed: sums, differences, changes, shares, means, and years between two dates.

A figure of that kind need not stand in the evidence. Where the claim's words name the operation, it is computed again
from the figures the evidence states, and compared at the claim's precision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, DivisionByZero, InvalidOperation, localcontext
from functools import lru_cache
from itertools import combinations, permutations

import msgspec

from assay.core.tables.answers import figures_of, is_total
from assay.core.tables.cells import ReadTable, TablePiece, read_tables
from assay.core.tables.figures import Figure, mean, total
from assay.core.tables.words import read_asking
from assay.core.text import words
from assay.verify.amounts import Amount, Day, Token, lead
from assay.verify.analyzed_text import AnalyzedText, Texts, stem
from assay.verify.equality import same

_FEW = 5
"""Of more figures any result could be had: then only those are combined which the claim states too."""
_MOST = 20
"""Of so many of these again none are: three of them can be chosen in more than a thousand ways."""
Computed = Iterator[tuple[Decimal, str]]


class Input(msgspec.Struct, frozen=True):
    """A figure of the evidence: its value, how it is written, and what it measures."""

    value: Decimal
    text: str
    unit: str
    currency: str


def recompute(claim: AnalyzedText, amount: Amount, stated: Sequence[Token]) -> str:
    """How the amount follows from what is stated ("50 - 40"); empty where no operation the claim names gives it."""
    around = f"{lead(claim.plain.text, amount)} {claim.plain.text[amount.start : amount.end + 60]}".lower()
    inputs = _inputs(stated, [word.token for word in claim.words if word.token])
    own = [each for each in inputs if _alike(each, amount)]
    for cue, compute, in_percent in _OPERATIONS:
        if ("%" in amount.units) == in_percent and cue.search(around):
            years = compute is _YEARS
            for value, shown in compute(inputs if in_percent or years else own):
                if same(amount, _result(amount, value, ("year",) if years else amount.units)):
                    return shown
    return ""


def _inputs(stated: Sequence[Token], told: Sequence[Token]) -> list[Input]:
    """What may be combined: all figures where they are few, else those which the claim states too, if few enough."""
    every = _figures(stated)
    if len(every) <= _FEW:
        return every
    values = {figure.value for figure in _figures(told)}
    both = [figure for figure in every if figure.value in values]
    return both if len(both) <= _MOST else []


def _figures(stated: Sequence[Token]) -> list[Input]:
    found: dict[tuple[Decimal, str], Input] = {}
    for token in stated:
        if isinstance(token, Day):
            if token.year:
                found.setdefault((Decimal(token.year), "year"), Input(Decimal(token.year), str(token.year), "year", ""))
        elif isinstance(token, Amount) and token.values and not token.ordinal:
            unit = "year" if token.year else token.units[0]
            found.setdefault((token.values[0], unit), Input(token.values[0], token.text, unit, token.currency))
    return list(found.values())


def _alike(given: Input, amount: Amount) -> bool:
    return given.unit in (*amount.units, "") and given.currency == amount.currency


def _result(amount: Amount, value: Decimal, units: tuple[str, ...]) -> Amount:
    """`value` as the evidence would state it, exactly."""
    literal, quantum = f"{value.normalize():f}", Decimal(1).scaleb(-9)
    return msgspec.structs.replace(amount, values=(value,), quantum=quantum, literal=literal, units=units, bound="")


def _sums(inputs: Sequence[Input]) -> Computed:
    for count in dict.fromkeys((2, 3, len(inputs))):
        for chosen in combinations(inputs, count) if count > 1 else ():
            yield sum((each.value for each in chosen), Decimal(0)), " + ".join(each.text for each in chosen)


def _differences(inputs: Sequence[Input]) -> Computed:
    for one, other in combinations(inputs, 2):
        high, low = (one, other) if one.value >= other.value else (other, one)
        yield high.value - low.value, f"{high.text} - {low.text}"


def _means(inputs: Sequence[Input]) -> Computed:
    for value, shown in _sums(inputs):
        count = shown.count(" + ") + 1
        yield value / count, f"({shown}) / {count}"


def _ratios(inputs: Sequence[Input]) -> Computed:
    for one, other in permutations(inputs, 2):
        if other.value and one.unit == other.unit and one.currency == other.currency:
            yield one.value / other.value, f"{one.text} / {other.text}"


def _shares(inputs: Sequence[Input]) -> Computed:
    return ((ratio * 100, f"{shown} in percent") for ratio, shown in _ratios(inputs))


def _rises(inputs: Sequence[Input]) -> Computed:
    return ((100 * (ratio - 1), f"{shown} - 1, in percent") for ratio, shown in _ratios(inputs) if ratio > 1)


def _falls(inputs: Sequence[Input]) -> Computed:
    return ((100 * (1 - ratio), f"1 - {shown}, in percent") for ratio, shown in _ratios(inputs) if ratio < 1)


def _years(inputs: Sequence[Input]) -> Computed:
    return _differences([each for each in inputs if each.unit == "year"])


def _guarded(compute: Callable[[Sequence[Input]], Computed]) -> Callable[[Sequence[Input]], list[tuple[Decimal, str]]]:
    def run(inputs: Sequence[Input]) -> list[tuple[Decimal, str]]:
        with localcontext() as context:
            context.prec = 40
            try:
                return list(compute(inputs))
            except (DivisionByZero, InvalidOperation):  # numbers beyond all measure
                return []

    return run


_YEARS = _guarded(_years)
_OPERATIONS = tuple(
    (re.compile(rf"\b(?:{cue})\b"), _YEARS if compute is _years else _guarded(compute), in_percent)
    for cue, compute, in_percent in (
        ("total(?:s|l?ing|l?ed)?|sum|combined|together|altogether|in all", _sums, False),
        ("difference|gap|margin|by|more|fewer|less|longer|shorter|higher|lower|ahead|up|down", _differences, False),
        ("averag\\w+|mean", _means, False),
        ("times|ratio|fold|twice|double", _ratios, False),
        ("increas\\w+|rose|ris\\w+|gr[eo]w\\w*|up|more|higher|gain\\w*", _rises, True),
        ("decreas\\w+|fell|fall\\w*|declin\\w+|down|less|fewer|lower|drop\\w*|los[st]\\w*", _falls, True),
        ("share|proportion|account\\w*|of (?:the|all|its|their|them|these|those)", _shares, True),
        ("years?|decades?|after|later|between|lasted|span\\w*|old", _years, False),
    )
)
"""The operation, the words which name it, and whether its result is in percent whatever its inputs are."""


# Figures of a claim which are the sum or the mean of a column of the rows it cites, or of all rows of their table.

FEWEST = 2
"""Rows a column is added up from."""


def added_up(claim: AnalyzedText, amount: Amount, texts: Texts) -> str:
    """How the amount follows from a column of the rows cited ("sum of 12 rows of price"); empty where it does not."""
    told = tuple(zip(texts.passages, (reading.plain.text for reading in texts.readings), strict=True))
    tables = _tables(told)
    operation = read_asking(claim.plain.text).ways[0].operation if tables else "cell"
    if operation not in ("sum", "mean"):
        return ""
    for table in tables:
        for column, figures in _columns(table, claim):
            value = total(figures) if operation == "sum" else mean(figures)
            if same(amount, _column_result(amount, value)):
                return f"{operation} of {len(figures)} rows of {table.heads[column]}"
    return ""


@lru_cache(maxsize=64)
def _tables(told: tuple[tuple[str, str], ...]) -> tuple[ReadTable, ...]:
    """The tables of the passages cited."""
    return read_tables(TablePiece(name, text) for name, text in told if "|" in text)


def _columns(table: ReadTable, claim: AnalyzedText) -> Iterator[tuple[int, list[Figure]]]:
    """The columns of figures the claim names by a word of their heads; the only one, where there is no other."""
    able = [column for column in range(len(table.heads)) if figures_of(table, column) is not None]
    named = [column for column in able if any(stem(word) in claim.places for word in words(table.heads[column]))]
    for column in named or (able if len(able) == 1 else []):
        figures = figures_of(table, column)
        assert figures is not None  # of those which are able
        found = zip(table.rows, figures.values, strict=True)
        used = [figure for row, figure in found if figure is not None and not is_total(row)]
        if len(used) >= FEWEST and len({figure.unit for figure in used}) == 1:
            yield column, used


def _column_result(amount: Amount, value: Decimal) -> Amount:
    """`value` as the evidence would state it, exactly."""
    literal, quantum = f"{value.normalize():f}", Decimal(1).scaleb(-9)
    return msgspec.structs.replace(amount, values=(value,), quantum=quantum, literal=literal, bound="")
