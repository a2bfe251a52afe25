"""Compares numbers, dates and names with digits: does one state the other, could it stand in its place?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.core import measures
from assay.core.periods import read_period
from assay.verify.amounts import Amount, Day, Literal, Token
from assay.verify.figures import is_same_amount, is_same_day


def states(evidence: Token, claim: Token, evidence_tokens: Sequence[Token]) -> bool:
    """True if `evidence` states what `claim` does, at its precision; `evidence_tokens` are all tokens beside it."""
    if isinstance(claim, Day):
        return isinstance(evidence, Day) and _same_day(claim, evidence, evidence_tokens)
    if _names_century(claim, evidence):
        return True
    if isinstance(claim, Literal):
        return _literal(claim.text) == _literal(evidence.text)
    if isinstance(evidence, Amount):
        is_fraction_term = (
            not claim.terms and claim.units == ("",) and any(value in evidence.terms for value in claim.values)
        )
        if claim.fiscal and evidence.fiscal and len(claim.values) == len(evidence.values):
            return claim.literal == evidence.literal  # 2024/25 and 2023/24 have a year in common
        return is_fraction_term or is_same_amount(claim, evidence)
    if isinstance(evidence, Day):
        return evidence.year > 0 and _is_year(claim) and claim.literal == str(evidence.year)
    return claim.literal == _literal(evidence.text)


def may_be_another_year(claim: Token, evidence: Token) -> bool:
    """True if one of two equal years is fiscal, or a fiscal year of two, and the other is not: they may be different
    times. So may the year of a day.
    """
    fiscal = evidence.literal if isinstance(evidence, Amount) and evidence.fiscal else ""
    return isinstance(claim, Amount) and not claim.ordinal and (claim.literal if claim.fiscal else "") != fiscal


def _names_century(claim: Token, evidence: Token) -> bool:
    """True if the claim names the century of a year or decade: the 16th century for 1567 and for "the 1500s"."""
    if not isinstance(claim, Amount) or not claim.ordinal or "century" not in claim.units:
        return False
    year = _year_of(evidence)
    return year > 0 and claim.values[0] == (year + 99) // 100


def _year_of(token: Token) -> int:
    """The year that a token names, or the second of a decade; 0 if it names none."""
    if isinstance(token, Day):
        return token.year
    if isinstance(token, Amount):
        return int(token.literal) if _is_year(token) else 0
    return int(token.text[:4]) + 1 if re.fullmatch(r"\d{4}(?: ?')?s", token.text) else 0


def _literal(text: str) -> str:
    """A token in the form in which it is compared: "third quarter" is Q3, "v3.11" is 3.11."""
    period = read_period(text)
    return period.code if period else re.sub(r"^v(?=\d)", "", text.lower().replace(" '", "").replace("'", ""))


def _is_year(amount: Amount) -> bool:
    return len(amount.literal) == 4 and amount.literal.isdecimal() and amount.text.isdecimal()


def _same_day(claim: Day, evidence: Day, evidence_tokens: Sequence[Token]) -> bool:
    """True if the date agrees; a year missing in the evidence's date may be beside it."""
    if not is_same_day(claim, evidence):
        return False
    return not claim.year or evidence.year > 0 or has_year(claim.year, evidence_tokens)


def has_year(year: int, evidence_tokens: Sequence[Token]) -> bool:
    """True if one of the tokens is that year, or a date in it."""
    return any(
        token.year == year if isinstance(token, Day) else _is_year(token) and token.literal == str(year)
        for token in evidence_tokens
        if not isinstance(token, Literal)
    )


def could_replace(claim: Token, other: Token) -> bool:
    """True if both could fill one slot: dates, years, amounts of one kind, tokens of one shape.

    Amounts in two currencies could if the number is the same: €5 may be a changed $5.
    """
    if isinstance(claim, Day) or isinstance(other, Day):
        return _names_year(claim) and _names_year(other)
    if isinstance(claim, Literal) or isinstance(other, Literal):
        return isinstance(claim, Literal) and isinstance(other, Literal) and _shape(claim) == _shape(other)
    if (claim.year, claim.ordinal) != (other.year, other.ordinal):
        return False
    if claim.currency != other.currency:
        return bool(claim.currency and other.currency) and claim.values == other.values
    return any(
        claim_unit == other_unit
        or measures.are_comparable(claim_unit, other_unit)
        or {"share", "points"} == {_dimension(claim_unit), _dimension(other_unit)}
        for claim_unit in claim.units
        for other_unit in other.units
    )


def _names_year(token: Token) -> bool:
    """True if the token names a year: dates are compared with dates and years."""
    return (isinstance(token, Day) and token.year > 0) or (isinstance(token, Amount) and token.year)


def _dimension(unit: str) -> str:
    return measures.MEASURES[unit].dimension if unit else ""


def _shape(token: Literal) -> str:
    return re.sub(r"\d+", "0", _literal(token.text))
