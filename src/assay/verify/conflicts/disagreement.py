"""Decides whether two statements give different values of one thing.

Precision comes before recall: a reader who is shown a false conflict trusts the next one less. So whatever could
explain the difference (another time, rounding, another unit, a later version of the document, a subject that is only
similar) ends the comparison.
"""

from __future__ import annotations

from collections.abc import Collection
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import lru_cache

from assay.core import measures
from assay.core.sources import Source
from assay.core.web_addresses import canonical_url
from assay.verify.amounts import Amount, Day
from assay.verify.conflicts.statements import SourceStatement, Value, is_year, years_in
from assay.verify.evidence import EvidenceSpan, slot_context
from assay.verify.figures import as_measured, is_same_amount, is_same_day

# Precision before recall: tightened after false conflicts in `bench conflicts` (docs/verification.md, Where sources
# disagree), each read by a person; no part is kept apart for fitting.

MIN_FIT = 0.62
"""How well each value must fit the place of the other, by the words around both."""
ALIKE = 0.5
"""The share of the significant words of both sentences that both must have."""
ABOUT, BEYOND = 2, 10
"""The factor from which a value is no longer "about" another, and the one beyond which "over" or "at least" it is not
meant.
"""
ALIKE_NAMELESS = 0.75
"""The same as `ALIKE`, for sentences without a name."""
KNOWN = 3
"""The least words of a statement of a date, without the titles of persons: there were many Lady Rodneys."""
TITLES = frozenset("ladi lord sir mr mrs ms dr king queen princ princess duke duchess earl baron count pope st".split())
"""As stems."""
NAMELESS_WORDS = 4
"""The words that sentences without a name must have in common: words alone identify a subject less well."""


def disagree(statement: SourceStatement, other: SourceStatement, *, copies: bool) -> bool:
    """True if `statement` and `other` give different values of the same subject, measure and time.

    Args:
        statement: a statement.
        other: a statement of another document.
        copies: whether the two documents are near-copies. Then only sentences that are equal except for the value
            count.
    """
    first, second = statement.value, other.value
    return (
        statement.passage.document_sha256 != other.passage.document_sha256
        and first.scope == second.scope
        and first.counted_noun == second.counted_noun
        and _have_one_subject(statement, other, copies=copies)
        and _say_otherwise(first, second)
        and _have_one_time(statement, other)
        and not _is_version(statement.source, other.source, copies=copies)
    )


@lru_cache(maxsize=8192)
def _say_otherwise(value: Value, other: Value) -> bool:
    """True if two sentences by themselves say one thing with two values; cached, as many sources have the same two."""
    return (
        value.defines == other.defines
        and _differ(value.token, other.token)
        and _value_fit(value, other) >= MIN_FIT
        and _value_fit(other, value) >= MIN_FIT
        and not _differ_elsewhere(value, other)
    )


def _differ(value: Amount | Day, other: Amount | Day) -> bool:
    """True if the values are of one kind, and differ at the precision of either."""
    if isinstance(value, Day) or isinstance(other, Day):
        return _days_differ(value, other)
    if not _are_one_kind(value, other) or is_year(value) != is_year(other):
        return False
    if is_year(value):
        return value.literal != other.literal
    if value.bound or other.bound:
        return _is_beyond_bound(value, other)
    return not (
        is_same_amount(value, other)
        or is_same_amount(other, value)
        or _is_rounding(value, other)
        or _is_rounding(other, value)
    )


def _is_beyond_bound(amount: Amount, other: Amount) -> bool:
    """True if a bounded value ("about", "over") is too far from the other for what such a word may mean."""
    apart = ABOUT if {amount.bound, other.bound} <= {"", "about", "nearly"} else BEYOND
    other_values = [value for values, _ in as_measured(amount, other) for value in values]
    return bool(other_values and amount.values) and all(
        first * second > 0 and max(first / second, second / first) >= apart
        for first in amount.values
        for second in other_values
    )


def _days_differ(value: Amount | Day, other: Amount | Day) -> bool:
    if isinstance(value, Day) and isinstance(other, Day):
        return bool(value.year and other.year) and not (is_same_day(value, other) or is_same_day(other, value))
    day, year = (value, other) if isinstance(value, Day) else (other, value)
    return isinstance(day, Day) and isinstance(year, Amount) and bool(day.year) and str(day.year) != year.literal


def _are_one_kind(amount: Amount, other: Amount) -> bool:
    """True if both have the same dimension and currency; a number without a unit has none."""
    if amount.currency != other.currency:
        return False
    return any(
        first == second or measures.are_comparable(first, second) for first in amount.units for second in other.units
    )


def _is_rounding(rough: Amount, exact: Amount) -> bool:
    """True if `rough` may be `exact` rounded to the last digit of `rough` that is not 0."""
    with localcontext() as context:
        context.prec = 60
        for value in rough.values:
            if not value:
                continue
            step = Decimal(1).scaleb(int(value.normalize().as_tuple().exponent))
            if any(_is_rounded_from(value, exact_value, step) for exact_value in exact.values):
                return True
    return False


def _is_rounded_from(value: Decimal, exact: Decimal, step: Decimal) -> bool:
    """True if `exact` rounded to `step` is `value`; a step of a third of the value would forgive everything."""
    if step * 3 > abs(value):
        step /= 10
    return (exact / step).to_integral_value(ROUND_HALF_UP) * step == value


def _have_one_subject(statement: SourceStatement, other: SourceStatement, *, copies: bool) -> bool:
    first, second = statement.value, other.value
    if copies:
        return first.names == second.names and first.significant_words == second.significant_words
    common = len(first.keys & second.keys)
    similarity = common / (len(first.keys) + len(second.keys) - common)
    if similarity < ALIKE:
        return False
    if first.is_date and len(first.keys - TITLES) < KNOWN:
        return False
    if first.defines and first.names != second.names:
        return False  # a sequel names what it follows
    if first.is_own or second.is_own:
        return bool(statement.titles) and statement.titles == other.titles
    if first.names and second.names and _has_whole_names(first, second) and _has_whole_names(second, first):
        smaller, larger = sorted((first.names, second.names), key=len)
        return smaller <= larger and 2 * len(smaller) >= len(larger)
    return not (first.names or second.names) and similarity >= ALIKE_NAMELESS and common >= NAMELESS_WORDS


def _has_whole_names(value: Value, other: Value) -> bool:
    """True if `other` has each name of `value` completely or not at all: part of a name is somebody else.

    The numbers in names must be the same.
    """
    numbered_names = {name for name in value.names ^ other.names if " " in name}
    return not numbered_names and all(run <= other.names or not run & other.names for run in value.runs)


def _have_one_time(statement: SourceStatement, other: SourceStatement) -> bool:
    """True if both are about the same time, as far as they say; if neither does, by the dates of their documents.

    A statement without a time has that of its document.
    """
    times, other_times = statement.value.times, other.value.times
    if times or other_times:
        if times == other_times:
            return True
        first, second = (_years(times) or _document_years(statement)), (_years(other_times) or _document_years(other))
        return bool(first) and first == second and not (times and other_times)
    first, second = _document_years(statement), _document_years(other)
    if not (first and second):
        return True
    return abs(int(max(first)) - int(max(second))) <= 1


def _years(times: Collection[str]) -> frozenset[str]:
    return frozenset(year for time in times for year in years_in(time))


def _document_years(statement: SourceStatement) -> frozenset[str]:
    """The time of a document: the years in its title and headings, else in its date."""
    titles = (statement.source.title if statement.source else "", *statement.passage.heading)
    years = frozenset(year for text in titles for year in years_in(text))
    return years or (years_in(statement.source.published[:4]) if statement.source else frozenset())


def _is_version(source: Source | None, other: Source | None, *, copies: bool) -> bool:
    """True if two documents are versions of one: the same page read twice, or an updated text."""
    if source is None or other is None:
        return False
    if canonical_url(source.url) == canonical_url(other.url):
        return True
    return copies and source.published != other.published and bool(source.published and other.published)


def _value_fit(value: Value, other: Value) -> float:
    """How well the words around `value` fit `other`; 0 if another value there fits better."""
    context = slot_context(value.reading, (value.index,))
    fit = context.fit([other.reading], EvidenceSpan(0, other.index))
    rivals = (
        index
        for index, word in enumerate(other.reading.words)
        if index != other.index and isinstance(word.token, Amount | Day) and _are_comparable(value.token, word.token)
    )
    return 0.0 if any(context.fit([other.reading], EvidenceSpan(0, index)) > fit for index in rivals) else fit


def _are_comparable(value: Amount | Day, other: Amount | Day) -> bool:
    if isinstance(value, Day) or isinstance(other, Day):
        return isinstance(value, Day) and isinstance(other, Day)
    return _are_one_kind(value, other)


def _differ_elsewhere(value: Value, other: Value) -> bool:
    """True if the sentences differ in another value too: then they are about different things."""
    first, second = _other_amounts(value), _other_amounts(other)
    unmatched = [
        token
        for token in first
        if not any(is_same_amount(token, amount) or is_same_amount(amount, token) for amount in second)
    ]
    return bool(unmatched) and bool(second) and len(second) >= len(unmatched)


def _other_amounts(value: Value) -> list[Amount]:
    return [
        word.token
        for index, word in enumerate(value.reading.words)
        if index != value.index and isinstance(word.token, Amount) and not word.token.year
    ]
