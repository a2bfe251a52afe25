"""Whether two statements of a number or a date are the same, at the precision of the first."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal, localcontext

from assay.verify import number_words
from assay.verify.amounts import Amount, Day

_APART = ("share", "points")
"""Dimensions whose unit is never left out: 37 is not 37 %."""
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
"""How far from a value a round number may be with such a word before it, as a share of the value."""


_NEAR = {"": (-1, 1), "about": (-3, 3), "nearly": (-3, 0), "over": (0, 20), "least": (0, 20)} | {
    "under": (-20, 0),
    "most": (-20, 0),
}
"""How far from a fraction a percentage may be which it rounds: points below and above, and of a small fraction no more
than so many hundredths of 30."""


def same(claim: Amount, evidence: Amount) -> bool:
    """Whether `evidence` states the amount of `claim`, at the precision the claim states it.

    A bare decimal counts as written (3.1 is not 3.10); an amount with a unit, a currency or a scale by its value,
    rounded as far as the claim rounds. Sign, unit and currency must agree; units of one dimension are converted. A
    unit of measure may be left out on one side, a percent sign not. A year is no quantity.
    """
    if not claim.values:
        return claim.literal == evidence.literal
    if claim.terms:
        return "%" in evidence.units and any(_is_near(claim, value) for value in evidence.values)
    if claim.currency and evidence.currency and claim.currency != evidence.currency:
        return False
    if claim.year and not evidence.year and ("," in evidence.text or evidence.currency or evidence.units != ("",)):
        return False
    return any(_equal(claim, values, quantum, evidence) for values, quantum in as_measured(claim, evidence))


def _is_near(claim: Amount, value: Decimal) -> bool:
    """Whether the fraction of `claim` rounds the percentage: two thirds 66 % and 67.5 %, "nearly half" 48 %."""
    below, above = _NEAR[claim.bound]
    scale = min(Decimal(1), claim.values[0] / 30)
    apart = value - claim.values[0]
    return below * scale <= apart <= above * scale


def entails(claim: Amount, evidence: Amount) -> bool:
    """Whether what `evidence` states lies beyond the bound of `claim`: "over 100" where it says 757.

    That both speak of the same has to be known from elsewhere. Ten times as much is not meant, nor what the evidence
    bounds itself ("at least 4 days" says less than "at least 4 weeks", and something else).
    """
    way = {"over": 1, "least": 1, "under": -1, "most": -1}.get(claim.bound, 0)
    if not way or not claim.values or evidence.bound or claim.year or claim.currency != evidence.currency:
        return False
    return any(
        all(_beyond(value * way, own * way) for value in values for own in claim.values)
        for values, _ in as_measured(claim, evidence)
        if values
    )


def _beyond(value: Decimal, bound: Decimal) -> bool:
    return value > bound and abs(value) < 10 * abs(bound) and abs(bound) < 10 * abs(value)


def as_measured(claim: Amount, evidence: Amount) -> Iterator[tuple[tuple[Decimal, ...], Decimal]]:
    """The evidence's values, and the step of its last digit, in each unit which the claim may mean."""
    for unit in claim.units:
        for other in evidence.units:
            if unit == other or (not (unit and other) and not _apart(unit or other)):
                yield evidence.values, evidence.quantum
            elif number_words.comparable(unit, other):
                step = abs(
                    number_words.convert(evidence.quantum, other, unit) - number_words.convert(Decimal(0), other, unit)
                )
                yield tuple(_converted(value, other, unit) for value in evidence.values), step


def _apart(unit: str) -> bool:
    measure = number_words.MEASURES.get(unit)
    return measure is not None and measure.dimension in _APART


def _converted(value: Decimal, unit: str, to: str) -> Decimal:
    """Months and years count as 30.4 days and twelve months: what comes out is rounded to a hundredth."""
    exact = number_words.convert(value, unit, to)
    return exact.quantize(Decimal("0.01")) if {unit, to} <= _CALENDAR and abs(exact) < 10**12 else exact


def _equal(claim: Amount, values: tuple[Decimal, ...], quantum: Decimal, evidence: Amount) -> bool:
    measured = claim.scaled or claim.bound or claim.currency or claim.units != ("",)
    if not measured and not evidence.scaled and claim.quantum < 1 and len(claim.values) == 1:
        return claim.literal == evidence.literal or (claim.values[0] in values and evidence.quantum >= 1)
    if set(claim.values) & set(values):
        return True
    converted = values is not evidence.values
    if not measured or (quantum >= claim.quantum and not converted and not claim.bound):
        return False
    if converted and quantum > claim.quantum * 20:
        return False
    return any(_rounds(value, claim) for value in values)


def _rounds(value: Decimal, claim: Amount) -> bool:
    with localcontext() as context:
        context.prec = 60
        return any(
            (rounded := (value / step).to_integral_value(way) * step) in claim.values
            and (not claim.bound or abs(rounded - value) <= _LOOSE[claim.bound] * abs(value))
            for step in _steps(claim)
            for way in _WAYS[claim.bound]
        )


def _steps(claim: Amount) -> Iterator[Decimal]:
    """How far the claim may round: to its last digit, and with a word such as "about" to its last digit but zeros."""
    yield claim.quantum
    if claim.bound and claim.values and claim.values[0]:
        yield Decimal(1).scaleb(int(claim.values[0].normalize().as_tuple().exponent))


def same_day(claim: Day, evidence: Day) -> bool:
    """Whether every part which the claim states agrees; a year which the evidence lacks is left open."""
    orders = {(claim.month, claim.day)} | ({(claim.day, claim.month)} if claim.swapped else set())
    theirs = {(evidence.month, evidence.day)} | ({(evidence.day, evidence.month)} if evidence.swapped else set())
    agree = any(
        month in (0, their_month) and day in (0, their_day)
        for month, day in orders
        for their_month, their_day in theirs
    )
    return agree and (not claim.year or not evidence.year or claim.year == evidence.year)
