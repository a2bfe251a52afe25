"""Headings of the entries of a log: the version of a list of changes ("3.2.1 (2026-08-02)"), the day of a diary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.core.lazy import regex
from assay.core.lexicon import MONTHS

_MONTH = rf"(?:{'|'.join(sorted(map(re.escape, MONTHS), key=len, reverse=True))})\.?"
_ORDINAL = r"(?:st|nd|rd|th|er|\.)?"
_DAY = (
    r"(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    rf"|\d{{1,2}}{_ORDINAL}\s(?:of\s|de\s)?{_MONTH}(?:,?\s(?:de\s)?\d{{4}})?"
    rf"|{_MONTH}\s\d{{1,2}}{_ORDINAL}(?:,?\s\d{{4}})?)(?![\w])"
)
PRERELEASE = r"(?:[-.+~]?[a-z]+[-.]?\d*|[-+~]\d+)?"
"""A version may end so: "1.0.0-rc1", "3.2.3-1"."""
_NUMBER = rf"(?P<{{0}}>\d+(?:\.\d+){{{{{{1}},4}}}}{PRERELEASE})"
_VERSION = regex(
    rf"\W*(?:(?:(?:version|release|ver\.?)\s|v\.?\s?){_NUMBER.format('said', 0)}|{_NUMBER.format('bare', 2)}"
    rf"|(?:[^\W\d][\w-]*\s){{0,2}}v?{_NUMBER.format('dated', 1)}(?=\W+{_DAY}))"
    rf"(?:\W+{_DAY})?(?:\W+(?:yanked|unreleased|lts|beta|stable|latest))?\W*",
    re.IGNORECASE,
)
"""A version and perhaps its day, and nothing else."""
_DATED = regex(rf"\W*(?:[^\W\d]{{2,12}}\W{{1,3}})?{_DAY}\W*", re.IGNORECASE)
"""A day, and perhaps its weekday."""
_NAMED_DAY = regex(
    rf"(?<![\w.])(?:\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\w)|(?P<before>\d{{1,2}}){_ORDINAL}\s(?:of\s|de\s)?(?P<month>{_MONTH})"
    rf"|(?P<name>{_MONTH})\s(?P<behind>\d{{1,2}}){_ORDINAL})(?:,?\s(?:de\s)?(?P<year>\d{{4}}))?(?!\w)",
    re.IGNORECASE,
)


class LoggedDay(NamedTuple):
    """A day, with its year if that is stated, else 0."""

    year: int
    month: int
    day: int

    def may_equal(self, other: LoggedDay) -> bool:
        """True if both may be the same day."""
        return self[1:] == other[1:] and (not self.year or not other.year or self.year == other.year)


def days_named(text: str) -> Iterator[LoggedDay]:
    """The days in a text whose months are certain."""
    for match in _NAMED_DAY.finditer(text):
        if name := match["month"] or match["name"]:
            month = MONTHS[name.removesuffix(".").casefold()]
            yield LoggedDay(int(match["year"] or 0), month, int(match["before"] or match["behind"]))
        else:
            yield LoggedDay(*map(int, match[0].split("-")))


def version_above(heading: str) -> str:
    """The version that a heading is; "" if it is none."""
    match = _VERSION.fullmatch(heading)
    return next(filter(None, match.groups()), "") if match else ""


def is_day(heading: str) -> bool:
    """True if a heading is a day."""
    return _DATED.fullmatch(heading) is not None


def log_entry(headings: Sequence[str]) -> str:
    """The headings from the innermost that is a version or a day down, as a name; "" if none is."""
    starts = (index for index in reversed(range(len(headings))) if _is_log_heading(headings[index]))
    return " > ".join(headings[next(starts, len(headings)) :])


def _is_log_heading(heading: str) -> bool:
    return bool(version_above(heading)) or is_day(heading)
