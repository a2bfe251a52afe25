"""Weeks, quarters, halves and fiscal years in texts, in one form: "week 20", `2025-W20` and "KW 20" are all `w20`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.core.lazy import regex

_ORDINALS = (
    r"(?:first|1st|1\.|erste[nrs]?|premier|1er|primer|1º|primo)",
    r"(?:second|2nd|2\.|zweite[nrs]?|deuxième|2e|2ème|second|segundo|2º|secondo)",
    r"(?:third|3rd|3\.|dritte[nrs]?|troisième|3e|3ème|tercer|3º|terzo)",
    r"(?:fourth|4th|4\.|vierte[nrs]?|quatrième|4e|4ème|cuarto|4º|quarto)",
)
_YEAR = r"(?:19|20)\d{2}"
_OF = r"(?:\s*[,/-]\s*|\s+(?:of|in|von|de|des|del|d['’])\s*|\s+)"
_ORDINAL = "|".join(f"(?P<{{0}}{number}>{words})" for number, words in enumerate(_ORDINALS, 1))
_WEEK = r"(?:(?:calendar |kalender)?(?:week|wk|woche|semaine|semana|settimana|(?-i:KW|Kw|kw)))"  # "kW" are kilowatts
_QUARTER = r"(?:quarters?|quartal(?:e?s)?|trimestre)"
_FISCAL = r"(?:fy\s?['’]?|(?:fiscal|financial)\s+(?:year\s+)?)"
_HALF = (
    rf"(?:half(?:[ -]year)?(?={_OF}(?:the\s+year|(?:year\s+)?{_YEAR}|{_FISCAL}\d{{2}}))"
    r"|half[ -]year|halbjahr(?:e?s)?|semestre)"
)
_PAIRS = "|".join(f"{year:02}(?:[/–-]|to)(?:19|20)?{(year + 1) % 100:02}" for year in range(100))
_BARE_PAIRS = "|".join(
    f"{year:02}(?:/(?:19|20)?{(year + 1) % 100:02}" + (f"|[–-]{year + 1})" if 12 <= year < 99 else ")")
    for year in range(100)
)
"""Years that follow each other, as of a fiscal year or a season; "2010-11" may be a month."""
_PERIOD = regex(
    rf"(?<![\w.,])(?:(?P<y1>{_YEAR})(?:\s*[-/]\s*|\.|\s+)?)?"
    r"(?P<core>"
    rf"(?:{_WEEK}[ .:#-]{{0,2}}|w)0?(?P<week>[1-9]|[1-4]\d|5[0-3])"
    rf"|(?:q|{_QUARTER}[ :#-]{{0,2}})(?P<quarter>[1-4])|(?P<back_quarter>[1-4])q(?=[ /-]?{_YEAR})"
    rf"|(?:{_ORDINAL.format('q')})\s+{_QUARTER}"
    rf"|h(?P<half>[12])|(?P<back_half>[12])h(?=[ /-]?{_YEAR})"  # "2h" are two hours
    rf"|(?:{'|'.join(f'(?P<h{number}>{words})' for number, words in enumerate(_ORDINALS[:2], 1))})\s+{_HALF}"
    rf"|(?:fy\s?['’]?|(?:fiscal(?: year)?|financial year|geschäftsjahr|exercice|ejercicio)\s+(?=19|20))"
    rf"(?P<fy>(?:19|20)?(?:{_PAIRS}|\d{{2}}))"
    rf"|(?<![/-])(?P<pair>(?:19|20)(?:{_BARE_PAIRS}))(?![/-]))"
    rf"(?![^\W_]|[.,]\d|/(?!{_YEAR}\b)\d)"
    rf"(?(y1)|(?(fy)|(?(pair)|(?:{_OF}(?:the\s+year\s+)?(?P<y2>{_YEAR})(?![\w]|[.,/-]\d))?)))",
    re.IGNORECASE,
)
_BEFORE_YEAR = regex(rf"{_OF}(?:{_FISCAL}\d{{2}}|{_YEAR}|['’]\d{{2}}\b)", re.IGNORECASE)
_HINTS = "week woche kw wk sema settim quart trimes half halbj semest fiscal financ fy gesch exerc ejerc".split()
_CODE = regex(r"[qhw]\d|\d[qh]|(?:19|20)\d{2}[/–-](?:19|20)?\d{2}(?![\d-])")
"""Each period has one of these, in lower case: they are found in a tenth of the time."""
PERIOD_WORDS = frozenset(
    """
    week wk kw kalenderwoche woche semaine semana settimana quarter quarters quartal quartals quartales trimestre half
    halbjahr halbjahrs halbjahres semestre fiscal financial fy geschäftsjahr exercice ejercicio
    """.split()
).union(
    (f"{letter}{number}" for letter, last in (("q", 4), ("h", 2), ("w", 53)) for number in range(1, last + 1)),
    (f"w0{number}" for number in range(1, 10)),
    (f"{number}{letter}" for letter, last in (("q", 4), ("h", 2)) for number in range(1, last + 1)),
    (f"fy{number:02}" for number in range(100)),
    (f"fy{number}" for number in range(1900, 2100)),
)
"""Each period has one of these words, in lower case."""


class Period(NamedTuple):
    """A part of a year, `w20`, `q3` or `h1`, with its year if it is stated, else 0; or a fiscal year, `fy2024`.

    A fiscal year of two years is `fy2024to2025`, and `year` the first.

    It stands at `[start, end)` of the text, at `[first, last)` without the year of `w20`.
    """

    code: str
    year: int
    start: int
    end: int
    first: int
    last: int

    def may_equal(self, other: Period) -> bool:
        """True if both may be the same time: one may leave out the year."""
        return self.code == other.code and (not self.year or not other.year or self.year == other.year)


def periods_in(text: str) -> Iterator[Period]:
    """The periods in a text, in order. "H2" is one only with a year: else it may be a gas or a heading."""
    for period in _periods(text):
        if (
            period.year
            or period.last - period.first > 2
            or period.code[0] != "h"
            or _BEFORE_YEAR.match(text, period.end)
        ):
            yield period


def _periods(text: str) -> Iterator[Period]:
    folded = text.casefold()
    if not (_CODE.search(folded) or any(hint in folded for hint in _HINTS)):
        return
    for match in _PERIOD.finditer(text):
        code = _code(match)
        year = code[2:6] if code.startswith("fy") else match["y1"] or match["y2"] or 0
        yield Period(code, int(year), *match.span(), *match.span("core"))


def read_period(text: str) -> Period | None:
    """The period that all of a text is; None if it is none."""
    period = next(_periods(text.strip()), None)
    return period if period is not None and period.end - period.start == len(text.strip()) else None


def spell_periods(text: str) -> str:
    """A text in which each period has the one form of its kind: "2025 q3" for "the third quarter of 2025"."""
    pieces, start = list[str](), 0
    for period in periods_in(text):
        pieces += [text[start : period.start], f"{period.year} {period.code}" if period.year else period.code]
        start = period.end
    return "".join((*pieces, text[start:])) if pieces else text


def _code(match: re.Match[str]) -> str:
    found = {name: value for name, value in match.groupdict().items() if value and name != "core" and name[0] != "y"}
    ((name, value),) = found.items()
    if name in ("fy", "pair"):
        years = re.split("[/–-]|to", value.lower())
        first = int(years[0]) + 2000 * (len(years[0]) == 2)
        return f"fy{first}to{first + 1}" if len(years) > 1 else f"fy{first}"
    if name[1:].isdigit():  # an ordinal
        return name
    return f"{name.removeprefix('back_')[0]}{value}"
