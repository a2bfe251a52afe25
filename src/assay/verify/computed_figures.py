"""Computes again the figures that a claim computed.

A figure that the claim computed (a sum, difference, product, change, share, mean, or the time between two dates) need
not be in the evidence. If the claim's words name the operation, the figure is computed again from the figures in the
evidence and compared at the claim's precision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal, localcontext
from functools import lru_cache
from itertools import combinations, groupby, pairwise, permutations
from typing import Literal, NamedTuple

import msgspec

from assay.core import measures
from assay.core.lazy import regex
from assay.core.tables.answers import is_total
from assay.core.tables.cells import ReadTable, TablePiece, TableRow, read_tables
from assay.core.tables.figures import Figure, figures_of, mean, sum_figures
from assay.core.tables.words import read_asking
from assay.core.text import words
from assay.verify.amounts import Amount, Day, Token, lead
from assay.verify.analyzed_text import AnalyzedText, Texts, Word, analyze_text, stem
from assay.verify.figures import is_same_amount

_FEW = 5
"""With more figures any result could be reached. Then only those are combined that the claim states too, those of one
sentence, and those of one column in the rows that the claim names.
"""
_MAX_FIGURES = 20
"""With this many of those, none are combined: three of them can be chosen in more than a thousand ways."""
_PERIODS = ("year", "date")
"""What figures of time measure; they do not count among the few."""
_MAX_ROWS = 2_000
"""Of a longer table only whole columns are computed."""
_TIMES = frozenset("day week month year decade century".split())
_YEAR = regex(r"1[5-9]\d\d|20\d\d")
Computations = Iterator[tuple[Decimal, str]]


class Input(msgspec.Struct, frozen=True):
    """A figure of the evidence: its value, how it is written, and what it measures; a date is its day's number."""

    value: Decimal
    text: str
    unit: str
    currency: str = ""


def recompute(
    claim: AnalyzedText, amount: Amount, texts: Texts, whole_tables: Callable[[], Sequence[ReadTable]] = tuple
) -> str:
    """How the amount follows from the evidence ("50 - 40"); empty if no operation that the claim names gives it.

    `whole_tables` reads the tables of which rows are cited.
    """
    context = f"{lead(claim.plain.text, amount)} {claim.plain.text[amount.start : amount.end + 60]}".lower()
    named = [operation for operation in _OPERATIONS if operation.gives(amount) and operation.cue.search(context)]
    tables = (*whole_tables(), *_tables(_pairs(texts))) if named else ()
    for inputs in _groups(claim, texts, tables) if named else ():
        for operation in named:
            units = operation.units or amount.units
            usable = [each for each in inputs if operation.takes(each, amount)]
            for value, formula in operation.compute(usable):
                if is_same_amount(amount, _result(amount, value, units)):
                    return formula
    return _explain_column_sum(claim, amount, tables)


def _groups(claim: AnalyzedText, texts: Texts, tables: Sequence[ReadTable]) -> Iterator[Sequence[Input]]:
    """The figures that may be combined: see `_FEW`."""
    every = _figures([word.token for reading in texts.readings for word in reading.words if word.token])
    said = {figure.value for figure in _figures([word.token for word in claim.words if word.token])}
    common = [figure for figure in every if figure.value in said]
    yield every if len(_few(every)) == len(every) else common if len(common) <= _MAX_FIGURES else []
    for table in tables:
        yield from _column_groups(claim, table)
    topics = {word.key for word in claim.words if word.kind != "sign" and not word.common and not word.token}
    for reading in texts.readings:
        for _, sentence in groupby(reading.words, key=lambda word: word.sentence):
            told = list(sentence)
            if any(word.key in topics for word in told):
                figures = _few(_figures([word.token for word in told if word.token]))
                yield figures
                yield _few([*figures, *(each for each in common if each not in figures)])
                yield from _changes(told)


def _changes(told: Sequence[Word]) -> Iterator[list[Input]]:
    """The figures of each "from A to B", however many others the sentence has."""
    figures = [(before.text.lower(), word.token) for before, word in pairwise(told) if word.token]
    for (before_first, first), (before_last, last) in pairwise(figures):
        if (before_first, before_last) == ("from", "to"):
            yield _figures([first, last])


def _column_groups(claim: AnalyzedText, table: ReadTable) -> Iterator[list[Input]]:
    """The figures of each column in the rows that the claim names, then with the sum of the column."""
    rows = [row for row in table.rows[: _MAX_ROWS + 1] if _is_named(row, claim)]
    for column, head in enumerate(table.heads) if rows and len(rows) < len(table.rows) <= _MAX_ROWS else ():
        cells = [analyze_text(f"{head}: {row.text(column)}") for row in rows if row.text(column)]
        figures = _few(_figures([word.token for cell in cells for word in cell.words[-1:] if word.token]))
        yield figures
        column_figures = figures_of(table, column)
        used = [each for each in column_figures.values if each is not None] if column_figures else []
        if figures and len(used) == len(table.rows) and len({each.unit for each in used}) == 1:
            yield [
                *figures,
                Input(sum_figures(used), f"sum of {len(used)} rows of {head}", figures[0].unit, figures[0].currency),
            ]


def _is_named(row: TableRow, claim: AnalyzedText) -> bool:
    """True if the claim has the first word of a cell of text."""
    firsts = (next(iter(words(cell.text)), "") for cell in row.cells.values())
    return any(first[:1].isalpha() and stem(first) in claim.places for first in firsts)


def _few(figures: Sequence[Input]) -> list[Input]:
    """The figures, without those of time and without the others, if they are too many."""
    times = [figure for figure in figures if figure.unit in _PERIODS]
    others = [figure for figure in figures if figure.unit not in _PERIODS]
    return [figure for kind in (others, times) if len(kind) <= _FEW for figure in kind]


def _figures(tokens: Sequence[Token]) -> list[Input]:
    figures: dict[tuple[Decimal, str], Input] = {}
    for token in tokens:
        for figure in _read(token):
            figures.setdefault((figure.value, figure.unit), figure)
    return list(figures.values())


def _read(token: Token) -> Iterator[Input]:
    if isinstance(token, Day):
        if token.year:
            yield Input(Decimal(token.year), str(token.year), "year")
        if token.year and token.month and token.day:
            with suppress(ValueError):  # 30 February
                yield Input(Decimal(date(token.year, token.month, token.day).toordinal()), token.text, "date")
    elif isinstance(token, Amount) and token.values and not token.ordinal:
        if not token.year:
            yield Input(token.values[0], token.text, token.units[0], token.currency)
        if token.year or _YEAR.fullmatch(token.text):
            yield Input(token.values[0], token.text, "year")


def _is_comparable(figure: Input, amount: Amount) -> bool:
    if "points" in amount.units:  # between percentages; one of the same number is an error of units
        return figure.unit == "%" and figure.value not in amount.values
    return figure.unit in (*amount.units, "") and figure.currency == amount.currency


def _result(amount: Amount, value: Decimal, units: tuple[str, ...]) -> Amount:
    """`value` as the evidence would state it, exactly."""
    literal, quantum = f"{value.normalize():f}", Decimal(1).scaleb(-9)
    return msgspec.structs.replace(amount, values=(value,), quantum=quantum, literal=literal, units=units, bound="")


def _sums(inputs: Sequence[Input]) -> Computations:
    for count in dict.fromkeys((2, 3, len(inputs))):
        for terms in combinations(inputs, count) if count > 1 else ():
            yield sum((term.value for term in terms), Decimal(0)), " + ".join(term.text for term in terms)


def _differences(inputs: Sequence[Input]) -> Computations:
    for first, second in combinations(inputs, 2):
        if first.unit != "year" and _YEAR.fullmatch(first.text) and _YEAR.fullmatch(second.text):
            continue  # the time between two years, which is in years
        high, low = (first, second) if first.value >= second.value else (second, first)
        yield high.value - low.value, f"{high.text} - {low.text}"


def _means(inputs: Sequence[Input]) -> Computations:
    for value, formula in _sums(inputs):
        count = formula.count(" + ") + 1
        yield value / count, f"({formula}) / {count}"


def _ratios(inputs: Sequence[Input]) -> Computations:
    for numerator, denominator in permutations(inputs, 2):
        if denominator.value and numerator.unit == denominator.unit and numerator.currency == denominator.currency:
            yield numerator.value / denominator.value, f"{numerator.text} / {denominator.text}"


def _shares(inputs: Sequence[Input]) -> Computations:
    return ((ratio * 100, f"{formula} in percent") for ratio, formula in _ratios(inputs))


def _rises(inputs: Sequence[Input]) -> Computations:
    return ((100 * (ratio - 1), f"{formula} - 1, in percent") for ratio, formula in _ratios(inputs) if ratio > 1)


def _falls(inputs: Sequence[Input]) -> Computations:
    return ((100 * (1 - ratio), f"1 - {formula}, in percent") for ratio, formula in _ratios(inputs) if ratio < 1)


def _years(inputs: Sequence[Input]) -> Computations:
    return _differences([figure for figure in inputs if figure.unit == "year"])


def _days(inputs: Sequence[Input]) -> Computations:
    return _differences([figure for figure in inputs if figure.unit == "date"])


def _products(inputs: Sequence[Input]) -> Computations:
    """A count of things times the measure of each."""
    for factor, measured in permutations(inputs, 2):
        if not (factor.unit or factor.currency) and (measured.unit or measured.currency):
            yield factor.value * measured.value, f"{factor.text} x {measured.text}"


def _quotients(inputs: Sequence[Input]) -> Computations:
    """An amount divided by a count of things."""
    for measured, factor in permutations(inputs, 2):
        if factor.value and not (factor.unit or factor.currency) and (measured.unit or measured.currency):
            yield measured.value / factor.value, f"{measured.text} / {factor.text}"


def _parts(inputs: Sequence[Input]) -> Computations:
    """A percentage of an amount."""
    for factor, measured in permutations(inputs, 2):
        if factor.unit == "%" and measured.unit != "%":
            yield factor.value * measured.value / 100, f"{factor.text} of {measured.text}"


def _guard(
    compute: Callable[[Sequence[Input]], Computations],
) -> Callable[[Sequence[Input]], list[tuple[Decimal, str]]]:
    def run(inputs: Sequence[Input]) -> list[tuple[Decimal, str]]:
        with localcontext() as context:
            context.prec = 40
            try:
                return list(compute(inputs))
            except ArithmeticError:  # numbers beyond all bounds
                return []

    return run


_TOTAL = "total(?:s|l?ing|l?ed)?|sum|combined|together|altogether|in all|insgesamt|zusammen|au total"


Result = Literal["", "%", "year", "day"]


class _Operation(NamedTuple):
    """How a figure is computed, and the words that name it.

    `result` is what it gives: a figure like its inputs (""), a percentage whatever they are, or a length of time;
    `mixes` says that its inputs measure different things.
    """

    cue: re.Pattern[str]
    compute: Callable[[Sequence[Input]], list[tuple[Decimal, str]]]
    result: Result = ""
    mixes: bool = False

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of the result if the inputs do not tell it."""
        return (self.result,) if self.result in ("year", "day") else ()

    def takes(self, figure: Input, amount: Amount) -> bool:
        """True if a figure may be an input: it measures what the amount does, unless the operation changes that."""
        is_factor = self.mixes and figure.unit in ("", "%") and not figure.currency
        return self.result != "" or is_factor or _is_comparable(figure, amount)

    def gives(self, amount: Amount) -> bool:
        """True if an amount may be such a result; a figure that looks like a year, only of a sum."""
        if self.units:
            return not _TIMES.isdisjoint(amount.units)
        looks_like_year = amount.year or _YEAR.fullmatch(amount.text) is not None
        return ("%" in amount.units) == (self.result == "%") and (not looks_like_year or self is _SUM)


_DIFFERENCE = (
    "difference|gap|apart|margin|by|more|fewer|less|longer|shorter|higher|lower|ahead|up|down|leav\\w+|left|remain\\w*|rest|"
    "others?|short|exceed\\w*|los[te]\\w*|gain\\w*|f[ea]ll\\w*|rose|ris\\w+|dropp?\\w*|shr[aiu]nk\\w*|narrow\\w*|"
    "widen\\w*|um|mehr|weniger|verl[oi]\\w+|st(?:ei|ie)g\\w*|s[ai]nk\\w*|plus|moins|perd\\w+|augment\\w*|baiss\\w*|diminu\\w*"
)


_SUM = _Operation(regex(rf"\b(?:{_TOTAL}|add up|both|cover\w*)\b"), _guard(_sums))
_OPERATIONS = (
    _SUM,
    _Operation(regex(rf"\b(?:{_DIFFERENCE})\b"), _guard(_differences)),
    _Operation(regex(r"\b(?:averag\w+|mean)\b"), _guard(_means)),
    _Operation(regex(r"\b(?:times|ratio|fold|twice|double)\b"), _guard(_ratios)),
    _Operation(regex(rf"\b(?:{_TOTAL}|each)\b"), _guard(_products), mixes=True),
    _Operation(regex(r"\b(?:each|every|per|apiece|je(?:de\w)?|chacun\w*|chaque)\b"), _guard(_quotients), mixes=True),
    _Operation(
        regex(r"\b(?:share|part|pa(?:id|y\w*)|zahl\w*|cover\w*|of (?:it|this|that|them|these|which)|davon|dont)\b"),
        _guard(_parts),
        mixes=True,
    ),
    _Operation(regex(r"\b(?:increas\w+|rose|ris\w+|gr[eo]w\w*|up|more|higher|gain\w*)\b"), _guard(_rises), "%"),
    _Operation(
        regex(r"\b(?:decreas\w+|fell|fall\w*|declin\w+|down|less|fewer|lower|drop\w*|los[st]\w*)\b"),
        _guard(_falls),
        "%",
    ),
    _Operation(
        regex(r"\b(?:share|proportion|account\w*|of (?:the|all|its|their|them|these|those))\b"), _guard(_shares), "%"
    ),
    _Operation(
        regex(r"\b(?:years?|decades?|after|later|between|lasted|span\w*|old|age[ds]?)\b"), _guard(_years), "year"
    ),
    _Operation(regex(r"\b(?:days?|weeks?|after|later|earlier|before|between|within|lasted)\b"), _guard(_days), "day"),
)


# Figures of a claim that are the sum or mean of a column, over the cited rows or all rows of their table.

MIN_SUMMED_ROWS = 2
"""The least rows of a column to add up."""


def _explain_column_sum(claim: AnalyzedText, amount: Amount, tables: Sequence[ReadTable]) -> str:
    """How the amount follows from a column of figures ("sum of 12 rows of price"); empty if it does not."""
    if not tables:
        return ""
    asked = read_asking(claim.plain.text).operations[0].operation
    operation = "sum" if asked == "cell" and _SUM.cue.search(claim.plain.text.lower()) else asked
    if operation not in ("sum", "mean"):
        return ""
    for table in tables:
        for column, figures in _columns(table, claim, amount):
            value = sum_figures(figures) if operation == "sum" else mean(figures)
            if is_same_amount(amount, _result(amount, value, amount.units)):
                return f"{operation} of {len(figures)} rows of {table.heads[column]}"
    return ""


def _pairs(texts: Texts) -> tuple[tuple[str, str], ...]:
    return tuple(zip(texts.passages, (reading.plain.text for reading in texts.readings), strict=True))


@lru_cache(maxsize=64)
def _tables(pairs: tuple[tuple[str, str], ...]) -> tuple[ReadTable, ...]:
    """The tables of the cited passages."""
    return read_tables(TablePiece(name, text) for name, text in pairs if "|" in text)


def _columns(table: ReadTable, claim: AnalyzedText, amount: Amount) -> Iterator[tuple[int, list[Figure]]]:
    """The columns of figures that the claim names by a word or the unit of their headers; if there is only one, that.

    Of each, all rows, then the rows that have one of the claim's numbers in another column ("in 2021").
    """
    able = [column for column in range(len(table.heads)) if figures_of(table, column) is not None]
    named_columns = [
        column
        for column in able
        if any(
            stem(word) in claim.places or measures.UNIT_NAMES.get(word.lower(), "") in set(amount.units) - {""}
            for word in words(table.heads[column])
        )
    ]
    numbers = [word.text for word in claim.words if word.token is not None] if len(table.rows) <= _MAX_ROWS else []
    for column in named_columns or (able if len(able) == 1 else []):
        figures = figures_of(table, column)
        assert figures is not None  # of those that can compute it
        pairs = list(zip(table.rows, figures.values, strict=True))
        for number in dict.fromkeys(("", *numbers)):
            used = [
                figure
                for row, figure in pairs
                if figure is not None and not is_total(row) and (not number or _has_beside(row, column, number))
            ]
            if len(used) >= MIN_SUMMED_ROWS and len({figure.unit for figure in used}) == 1:
                yield column, used


def _has_beside(row: TableRow, column: int, number: str) -> bool:
    return any(cell.text == number for other, cell in row.cells.items() if other != column)
