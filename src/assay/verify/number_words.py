"""Words around numbers: currencies, bounds, fractions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, localcontext
from typing import Literal

import msgspec

from assay.core import measures
from assay.core.lazy import regex
from assay.core.lexicon import NUMBER_WORDS, ORDINALS, SCALES

MONEY = [name for name in measures.CURRENCIES if name.isalpha() and name.isascii()]
Bound = Literal["", "about", "nearly", "over", "least", "under", "most"]
BOUNDS: dict[Bound, str] = {
    "least": r"\bat least|\bno (?:less|fewer) than|\bminimum(?: of)?|≥|>="
    r"|\b(?:mindestens|wenigstens|au moins|al menos|por lo menos|pelo menos|almeno|minstens|ten minste|co najmniej"
    r"|не менее|не меньше|как минимум|не менше)|至少|最少|少なくとも|最低",
    "most": r"\bat (?:the )?most|\bup to|\bno(?:t)? more than|\bmaximum(?: of)?|\bas (?:many|much) as|≤|<="
    r"|\b(?:höchstens|bis zu|au plus|au maximum|jusqu'à|como máximo|a lo sumo|hasta|até|no máximo|al massimo|fino a"
    r"|hoogstens|maximaal|co najwyżej|не более|не больше|максимум|не більше)|最多|至多|最大",
    "over": r"\bover|\b(?:more|greater|higher|larger) than|\babove|\bexceed(?:s|ed|ing)?|\bupwards? of|>"
    r"|\b(?:über|mehr als|plus d[e']|más de|mais de|più di|oltre|meer dan|ruim|ponad|więcej niż|более|больше|свыше"
    r"|понад|більше)|超过|超過|多于|逾",
    "under": r"\bunder|\b(?:less|fewer|lower|smaller) than|\bbelow|<"
    r"|\b(?:unter|weniger als|moins d[e']|menos de|meno di|minder dan|mniej niż|poniżej|менее|меньше|менше)"
    r"|不到|少于|不足",
    "nearly": r"\bnearly|\balmost|\bjust (?:under|short of)|\bclose to"
    r"|\b(?:fast|beinahe|nahezu|knapp|presque|près de|casi|quase|quasi|bijna|prawie|niemal|почти|майже)"
    r"|(?<!最)近|将近|接近|ほぼ",
    "about": r"\babout|\baround|\broughly|\bapprox(?:imately|\.)?|\bc(?:irc)?a\.?|\bsome|\bestimated(?: at)?|~|≈"
    r"|\b(?:etwa|ungefähr|rund|zirka|environ|à peu près|quelque|unos|unas|cerca de|alrededor de|aproximadamente"
    r"|por volta de|ongeveer|zowat|około|mniej więcej|примерно|около|приблизительно|приблизно|близько)|大约|大約|约|約",
}
"""Words directly before a number that say how exact it is; the first matching pattern counts."""


# Fractions in words: "two thirds", "half of", "one in five".

_PARTS = {"half": 2, "quarter": 4, **{word: value for word, value in ORDINALS.items() if value <= 10}}
_PLURALS = {"halves": 2, **{f"{word}s": value for word, value in _PARTS.items() if word != "half"}}
_WHOLES = {**{word: value for word, value in NUMBER_WORDS.items() if value <= 10}, "twenty": 20, "hundred": 100}
_COUNT = rf"(?:{'|'.join(list(NUMBER_WORDS)[:10])}|\d)"
_NO_PART = r"(?<!\bfirst )(?<!\bsecond )(?<!\bthird )(?<!\blatter )(?<!\blast )(?<!\bother )(?<!\ba )(?<!\bthe )"
_TIMES = r"(?:second|minute|hour|day|week|month|quarter|year|decade)s?\b"
_SHARE = regex(
    rf"\b(?P<count>{_COUNT})[- ](?P<plural>{'|'.join(word for word in _PLURALS if word != 'quarters')})\b"
    rf"|\b(?P<quarters>{_COUNT})(?:-quarters\b|[ ]quarters(?= of\b))"
    r"|\bone[- ](?P<one>half|third|fifth|sixth|seventh|eighth|ninth|tenth)\b"
    rf"|\b(?:an?|one)[- ](?P<of>{'|'.join(word for word in _PARTS if word != 'half')})(?= of\b)"
    rf"|{_NO_PART}\b(?P<half>half)(?= (?:of|the|all|its|their|our)\b(?! (?:a |an )?(?:the )?(?:{_TIMES}|\d)))",
    re.IGNORECASE,
)
_SIGNS = ("hal", *(word for word in _PARTS if word != "half"))
"""A text without any of these, in lower case, has no such fraction: a much faster test."""
_OUT_OF = regex(
    rf" (?:in|out of) (?:every |an? )?(?P<whole>{'|'.join(_WHOLES)}|10{{1,3}}|[2-9])\b"
    rf"(?! ?(?:%|per ?cent|{_TIMES})|[.,:/-]\d)",
    re.IGNORECASE,
)
_SOME = regex(rf"\b(?P<some>{_COUNT}|ten)\Z", re.IGNORECASE)
_REACH = 8
"""Code points before " in five" that contain the other number."""

_PERCENT = r"(?:(?<!\d)(?<!\d )%|(?<![^\W_])(?:pct|percent(?:age)?|per ?cent)(?![^\W_]))"
PERCENT_NAME = regex(_PERCENT, re.IGNORECASE)
PERCENT_COLUMN = regex(rf"(?:\A|[|\n])[^|:\n]{{0,60}}?{_PERCENT}[^|:\n]{{0,40}}: ?\Z", re.IGNORECASE)
"""A column's name before a cell, as rows of data files are read: `change_pct: 6.5`, `Change (%): 6.5`."""


_HEAD = regex(r"(?:\A|[|\n])([^|:\n]{1,80}): ?\Z")
"""A column's name before a cell."""
_HEAD_WORD = regex(r"[^\W\d_]+|[$€£¥₹]")
_SHORT_SCALE = regex(r"(?:[$€£¥₹]|\b(?:eur|usd|gbp|chf)) ?(?:([kmb])\b|['’]?(000))", re.IGNORECASE)
"""A scale in one letter or three noughts behind a currency: "£m", "EUR k", "$'000"."""
_FIRST_CELL = regex(r"\|? ?(?P<head>[^|:\n]{1,80}): (?P<text>[^\W\d_][^|\n]*?) \|")
MAX_HEAD_CHARS = 110


class ColumnMeasure(msgspec.Struct, frozen=True):
    """What a column's name says of its figures: the units they may have, the currency, the power of ten they are in."""

    units: tuple[str, ...] = ("",)
    currency: str = ""
    power: int = 0


def column_measure(before: str) -> ColumnMeasure:
    """What the column's name directly before a cell says: `Price (EUR million): `, `Length (m): `."""
    if PERCENT_COLUMN.search(before):
        return ColumnMeasure(("", "%"))
    head = _HEAD.search(before)
    if head is None:
        return ColumnMeasure()
    words = [word.casefold() for word in _HEAD_WORD.findall(head[1])]
    words = words if measures.is_measure_name(head[1]) else words[-2:]
    currency = next((measures.CURRENCIES[word] for word in reversed(words) if word in measures.CURRENCIES), "")
    short = _SHORT_SCALE.search(head[1])
    power = next((SCALES[word] for word in words if word in SCALES and word not in measures.ONE_LETTER_SCALES), 0)
    power = power or (SCALES[(short[1] or "k").casefold()] if short else 0)
    unit = "" if currency else measures.split_label(head[1]).unit.lower()
    return ColumnMeasure((measures.UNIT_NAMES[unit] if unit else "",), currency, power)


def row_measure(before: str) -> ColumnMeasure:
    """What a row says of a cell's figures, by the text before it: the column's name, else that of the first column, if
    it is nothing but a measure (`£ million: Net debt | 2025: `), or the first cell (`Net debt (£ million) | 2025: `).
    """
    own = column_measure(before[-MAX_HEAD_CHARS:])
    first = _FIRST_CELL.match(before) if own == ColumnMeasure() else None
    if first is None:
        return own
    if measures.is_measure_name(first["head"]):
        return column_measure(f"{first['head']}: ")
    shared = column_measure(f"{first['text']}: ") if first["text"].endswith(")") else own
    return shared if shared.currency or shared.power or "%" in shared.units else own


class Share(msgspec.Struct, frozen=True):
    """`[start, end)` of a text says `count` parts of `whole`."""

    start: int
    end: int
    count: int
    whole: int

    @property
    def percent(self) -> Decimal:
        with localcontext() as context:
            context.prec = 28
            return Decimal(100 * self.count) / self.whole


def shares(text: str) -> Iterator[Share]:
    """The fractions in `text` (folded), without parts of a year and a possible count of "three quarters"."""
    lower = text.lower()
    for match in _SHARE.finditer(text) if any(sign in lower for sign in _SIGNS) else ():
        count, whole = _terms({name: value.lower() for name, value in match.groupdict().items() if value})
        if 0 < count < whole:
            yield Share(match.start(), match.end(), count, whole)
    for match in _OUT_OF.finditer(text):
        count_match = _SOME.search(text, max(0, match.start() - _REACH), match.start())
        if count_match and 0 < (count := _number(count_match["some"].lower())) < (
            whole := _number(match["whole"].lower())
        ):
            yield Share(count_match.start(), match.end(), count, whole)


def _terms(parts: dict[str, str]) -> tuple[int, int]:
    if "plural" in parts:
        return _number(parts["count"]), _PLURALS[parts["plural"]]
    if "quarters" in parts:
        return _number(parts["quarters"]), 4
    (part,) = parts.values()
    return 1, _PARTS[part]


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else _WHOLES[text]


# Fiscal years.

_YEAR = r"(?:19|20)\d{2}"
_FISCAL_YEARS = regex(
    rf"(?<![\w.,-])(?P<before>{_YEAR})[ -](?:fiscal|financial) years?\b"
    rf"|\b(?:fiscal|financial) years (?P<list>{_YEAR}(?:(?:,|,? and|,? or| to| ?-) ?{_YEAR})*)",
    re.IGNORECASE,
)


def fiscal_years(text: str) -> Iterator[tuple[int, int, str]]:
    """The place of each fiscal year in `text` (folded) that is no period, "2024 fiscal year" or in a list; the year."""
    for match in _FISCAL_YEARS.finditer(text) if "year" in text.lower() else ():
        if match["before"]:
            yield match.start(), match.end(), match["before"]
        for year in re.finditer(_YEAR, match["list"] or ""):
            yield match.start("list") + year.start(), match.start("list") + year.end(), year[0]
