"""Compares figures: whether two state the same at the precision of the first, and which were computed.

A figure that the claim computed (a sum, difference, change, share, mean, or the years between two dates) need not be in
the evidence. If the claim's words name the operation, the figure is computed again from the figures in the evidence and
compared at the claim's precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal, DivisionByZero, InvalidOperation, localcontext
from functools import lru_cache
from itertools import combinations, permutations

import msgspec

from assay.core import measures
from assay.core.lazy import regex
from assay.core.tables.answers import is_total
from assay.core.tables.cells import ReadTable, TablePiece, read_tables
from assay.core.tables.figures import Figure, figures_of, mean, sum_figures
from assay.core.tables.words import read_asking
from assay.core.text import words
from assay.verify.amounts import Amount, Day, Token, lead
from assay.verify.analyzed_text import AnalyzedText, Texts, stem

_APART = ("share", "points")
"""Dimensions whose unit may not be left out: 37 is not 37 %."""
_CALENDAR = frozenset(("day", "week", "month", "year", "decade", "century"))
_WAYS = {
    "over": (ROUND_DOWN,),
    "least": (ROUND_DOWN,),
    "under": (ROUND_UP,),
    "most": (ROUND_UP,),
    "nearly": (ROUND_UP,),
    "about": (ROUND_HALF_UP, ROUND_DOWN, ROUND_UP),
    "": (ROUND_HALF_UP,),
}
_LOOSE = dict.fromkeys(("over", "least", "under", "most"), Decimal("0.35")) | dict.fromkeys(
    ("about", "nearly"), Decimal("0.15")
)
"""How far a round number after such a word may be from a value, as a share of the value."""


_NEAR = {"": (-1, 1), "about": (-3, 3), "nearly": (-3, 0), "over": (0, 20), "least": (0, 20)} | {
    "under": (-20, 0),
    "most": (-20, 0),
}
"""How far a percentage may be from the fraction that rounds it: points below and above; for a small fraction at most so
many hundredths of 30.
"""


def is_same_amount(claim: Amount, evidence: Amount) -> bool:
    """True if `evidence` states the amount of `claim`, at the precision of the claim.

    A bare decimal counts as written (3.1 is not 3.10); an amount with a unit, a currency or a scale by its value,
    rounded as the claim rounds. Sign, unit and currency must agree; units of one dimension are converted. A unit of
    measure may be missing on one side, a percent sign may not. A year is not a quantity.
    """
    if not claim.values:
        return claim.literal == evidence.literal
    if claim.terms:
        return "%" in evidence.units and any(_is_near(claim, value) for value in evidence.values)
    if claim.currency and evidence.currency and claim.currency != evidence.currency:
        return False
    if claim.year and not evidence.year and ("," in evidence.text or evidence.currency or evidence.units != ("",)):
        return False
    return any(_is_equal(claim, values, quantum, evidence) for values, quantum in as_measured(claim, evidence))


def _is_near(claim: Amount, value: Decimal) -> bool:
    """True if the fraction of `claim` rounds the percentage: two thirds 66 % and 67.5 %, "nearly half" 48 %."""
    below, above = _NEAR[claim.bound]
    scale = min(Decimal(1), claim.values[0] / 30)
    apart = value - claim.values[0]
    return below * scale <= apart <= above * scale


def entails(claim: Amount, evidence: Amount) -> bool:
    """True if the value in `evidence` is beyond the bound of `claim`: "over 100" if it says 757.

    Whether both are about the same must be known from elsewhere. Ten times as much is not meant, nor an amount that the
    evidence bounds itself ("at least 4 days" says less than "at least 4 weeks", and something else).
    """
    direction = {"over": 1, "least": 1, "under": -1, "most": -1}.get(claim.bound, 0)
    if not direction or not claim.values or evidence.bound or claim.year or claim.currency != evidence.currency:
        return False
    return any(
        all(_is_beyond(value * direction, claim_value * direction) for value in values for claim_value in claim.values)
        for values, _ in as_measured(claim, evidence)
        if values
    )


def _is_beyond(value: Decimal, bound: Decimal) -> bool:
    return value > bound and abs(value) < 10 * abs(bound) and abs(bound) < 10 * abs(value)


def as_measured(claim: Amount, evidence: Amount) -> Iterator[tuple[tuple[Decimal, ...], Decimal]]:
    """The evidence's values, and the step of its last digit, in each unit that the claim may mean."""
    for unit in claim.units:
        for evidence_unit in evidence.units:
            if unit == evidence_unit or (not (unit and evidence_unit) and not _needs_unit(unit or evidence_unit)):
                yield evidence.values, evidence.quantum
            elif measures.are_comparable(unit, evidence_unit):
                step = abs(
                    measures.convert(evidence.quantum, evidence_unit, unit)
                    - measures.convert(Decimal(0), evidence_unit, unit)
                )
                yield tuple(_convert_value(value, evidence_unit, unit) for value in evidence.values), step


def _needs_unit(unit: str) -> bool:
    measure = measures.MEASURES.get(unit)
    return measure is not None and measure.dimension in _APART


def _convert_value(value: Decimal, unit: str, to: str) -> Decimal:
    """Convert; months and years count as 30.4 days and twelve months, so the result is rounded to a hundredth."""
    exact = measures.convert(value, unit, to)
    return exact.quantize(Decimal("0.01")) if {unit, to} <= _CALENDAR and abs(exact) < 10**12 else exact


def _is_equal(claim: Amount, values: tuple[Decimal, ...], quantum: Decimal, evidence: Amount) -> bool:
    has_measure = claim.scaled or claim.bound or claim.currency or claim.units != ("",)
    if not has_measure and not evidence.scaled and claim.quantum < 1 and len(claim.values) == 1:
        return claim.literal == evidence.literal or (claim.values[0] in values and evidence.quantum >= 1)
    if set(claim.values) & set(values):
        return True
    is_converted = values is not evidence.values
    if not has_measure or (quantum >= claim.quantum and not is_converted and not claim.bound):
        return False
    if is_converted and quantum > claim.quantum * 20:
        return False
    return any(_rounds_to(value, claim) for value in values)


def _rounds_to(value: Decimal, claim: Amount) -> bool:
    with localcontext() as context:
        context.prec = 60
        return any(
            (rounded := (value / step).to_integral_value(rounding) * step) in claim.values
            and (not claim.bound or abs(rounded - value) <= _LOOSE[claim.bound] * abs(value))
            for step in _steps(claim)
            for rounding in _WAYS[claim.bound]
        )


def _steps(claim: Amount) -> Iterator[Decimal]:
    """How far the claim may round: to its last digit; with a word such as "about", to its last digit other than 0."""
    yield claim.quantum
    if claim.bound and claim.values and claim.values[0]:
        yield Decimal(1).scaleb(int(claim.values[0].normalize().as_tuple().exponent))


def is_same_day(claim: Day, evidence: Day) -> bool:
    """True if every part that the claim states agrees; a year that the evidence lacks stays open."""
    orders = {(claim.month, claim.day)} | ({(claim.day, claim.month)} if claim.swappable else set())
    theirs = {(evidence.month, evidence.day)} | ({(evidence.day, evidence.month)} if evidence.swappable else set())
    agree = any(
        month in (0, their_month) and day in (0, their_day)
        for month, day in orders
        for their_month, their_day in theirs
    )
    return agree and (not claim.year or not evidence.year or claim.year == evidence.year)


# Figures that the claim computed from the evidence.

_FEW = 5
"""With more figures any result could be reached: then only those are combined that the claim states too."""
_MAX_FIGURES = 20
"""With this many of those, none are combined: three of them can be chosen in more than a thousand ways."""
Computations = Iterator[tuple[Decimal, str]]


class Input(msgspec.Struct, frozen=True):
    """A figure of the evidence: its value, how it is written, and what it measures."""

    value: Decimal
    text: str
    unit: str
    currency: str


def recompute(claim: AnalyzedText, amount: Amount, evidence_tokens: Sequence[Token]) -> str:
    """How the amount follows from the evidence ("50 - 40"); empty if no operation that the claim names gives it."""
    context = f"{lead(claim.plain.text, amount)} {claim.plain.text[amount.start : amount.end + 60]}".lower()
    inputs = _inputs(evidence_tokens, [word.token for word in claim.words if word.token])
    comparable = [figure for figure in inputs if _is_comparable(figure, amount)]
    for cue, compute, in_percent in _OPERATIONS:
        if ("%" in amount.units) == in_percent and cue.search(context):
            years = compute is _YEARS
            for value, formula in compute(inputs if in_percent or years else comparable):
                if is_same_amount(amount, _result(amount, value, ("year",) if years else amount.units)):
                    return formula
    return ""


def _inputs(evidence_tokens: Sequence[Token], claim_tokens: Sequence[Token]) -> list[Input]:
    """The figures to combine: all if they are few, else those that the claim states too, if these are few enough."""
    every = _figures(evidence_tokens)
    if len(every) <= _FEW:
        return every
    values = {figure.value for figure in _figures(claim_tokens)}
    common = [figure for figure in every if figure.value in values]
    return common if len(common) <= _MAX_FIGURES else []


def _figures(tokens: Sequence[Token]) -> list[Input]:
    figures: dict[tuple[Decimal, str], Input] = {}
    for token in tokens:
        if isinstance(token, Day):
            if token.year:
                figures.setdefault(
                    (Decimal(token.year), "year"), Input(Decimal(token.year), str(token.year), "year", "")
                )
        elif isinstance(token, Amount) and token.values and not token.ordinal:
            unit = "year" if token.year else token.units[0]
            figures.setdefault((token.values[0], unit), Input(token.values[0], token.text, unit, token.currency))
    return list(figures.values())


def _is_comparable(figure: Input, amount: Amount) -> bool:
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


def _guard(
    compute: Callable[[Sequence[Input]], Computations],
) -> Callable[[Sequence[Input]], list[tuple[Decimal, str]]]:
    def run(inputs: Sequence[Input]) -> list[tuple[Decimal, str]]:
        with localcontext() as context:
            context.prec = 40
            try:
                return list(compute(inputs))
            except (DivisionByZero, InvalidOperation):  # numbers beyond all bounds
                return []

    return run


_YEARS = _guard(_years)
_OPERATIONS = tuple(
    (regex(rf"\b(?:{cue})\b"), _YEARS if compute is _years else _guard(compute), in_percent)
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
"""The operation, the words that name it, and whether its result is in percent whatever its inputs are."""


# Figures of a claim that are the sum or mean of a column, over the cited rows or all rows of their table.

MIN_SUMMED_ROWS = 2
"""The least rows of a column to add up."""


def explain_column_sum(claim: AnalyzedText, amount: Amount, texts: Texts) -> str:
    """How the amount follows from a column of the cited rows ("sum of 12 rows of price"); empty if it does not."""
    pairs = tuple(zip(texts.passages, (reading.plain.text for reading in texts.readings), strict=True))
    tables = _tables(pairs)
    operation = read_asking(claim.plain.text).operations[0].operation if tables else "cell"
    if operation not in ("sum", "mean"):
        return ""
    for table in tables:
        for column, figures in _columns(table, claim):
            value = sum_figures(figures) if operation == "sum" else mean(figures)
            if is_same_amount(amount, _result(amount, value, amount.units)):
                return f"{operation} of {len(figures)} rows of {table.heads[column]}"
    return ""


@lru_cache(maxsize=64)
def _tables(pairs: tuple[tuple[str, str], ...]) -> tuple[ReadTable, ...]:
    """The tables of the cited passages."""
    return read_tables(TablePiece(name, text) for name, text in pairs if "|" in text)


def _columns(table: ReadTable, claim: AnalyzedText) -> Iterator[tuple[int, list[Figure]]]:
    """The columns of figures that the claim names by a word of their headers; if there is only one column, that."""
    able = [column for column in range(len(table.heads)) if figures_of(table, column) is not None]
    named_columns = [
        column for column in able if any(stem(word) in claim.places for word in words(table.heads[column]))
    ]
    for column in named_columns or (able if len(able) == 1 else []):
        figures = figures_of(table, column)
        assert figures is not None  # of those that can compute it
        pairs = zip(table.rows, figures.values, strict=True)
        used = [figure for row, figure in pairs if figure is not None and not is_total(row)]
        if len(used) >= MIN_SUMMED_ROWS and len({figure.unit for figure in used}) == 1:
            yield column, used
