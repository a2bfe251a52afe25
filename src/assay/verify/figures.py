"""Compares figures: whether two state the same at the precision of the first."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal, localcontext

from assay.core import measures
from assay.verify.amounts import Amount, Day

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
