"""The figures of a column, read together, since one cell alone may not show whether a comma is decimal.

Signs that are no part of an amount (footnote marks, "ca.", "est.") are left out. Nothing is converted: amounts of one
column in different units are not comparable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from functools import lru_cache
from itertools import islice
from typing import Literal

import msgspec

from assay.core.document_dates import whole_date
from assay.core.lazy import regex
from assay.core.lexicon import SCALES
from assay.core.tables.cells import ReadTable

NEIGHBOUR_ROWS = 50
"""Rows whose other cells show the decimal sign."""
NEIGHBOUR_CELLS = 2_000
"""The most of these cells, with a point or a comma, that are read: a table may have thousands of columns."""
DecimalSign = Literal[".", ","]
"""The decimal sign of a column."""

DECIMAL_SIGNS: tuple[DecimalSign, ...] = (".", ",")
COMMA_LANGUAGES = frozenset("cs da de el es fi fr hu id it nb nl no pl pt ro ru sk sl sv tr uk vi".split())
"""The languages which write a decimal comma (CLDR)."""
MIN_FIGURES_SHARE = 0.6
"""The share of a column's filled cells that must be figures for all of it to be read as figures."""
MAX_DIGITS = 28
"""A number with more digits than this is an identifier."""
MAX_AMOUNT_CHARS = 60
"""Code points of an amount with its unit."""
MAX_MARKED_AMOUNT_CHARS = 200
"""Code points of an amount with the marks of its footnotes."""
MAX_DATE_CHARS = 30
MAX_EXPONENT = 60
"""Of a number in scientific notation; sums and means are exact in `PRECISION` digits."""
PRECISION = 200

_MISSING = frozenset(
    "na n/a nan null none nil unknown tbd tba k.a. s.d. s/d nd n.d. n.a. - -- – — … ... .. ? x".split()
)
_MISSING |= {"not available", "keine angabe", "no data", "k. a.", "sin datos"}
_NOTES = regex(
    r"(?:\s*+(?:\[[^\]]{1,12}\]|[*†‡§¶#¹²³⁰⁴⁵⁶⁷⁸⁹]++|\((?:est\.?|estimate|estimated|approx\.?|provisional|p|e|r|[a-z])\)))+$",
    re.IGNORECASE,
)
_ABOUT = regex(r"^(?:~|≈|c\.|ca\.?|about|approx\.?|around|circa|etwa|rund|environ|env\.|unos|aprox\.?)\s*", re.I)
_SPACES = "\u00a0\u2007\u2009\u202f '’_"
_UNIT = r"(?:[%‰°€$£¥₹]|[^\W\d_])[^\d\s]{0,15}[²³]?(?: [^\d\s]{1,15}){0,2}"
_AMOUNT = regex(
    rf"(?P<open>\()?(?P<sign>[+\-−–])?\s*(?P<front>[$€£¥₹]|[A-Z]{{3}}(?=[ \d])|US\$)?\s*(?P<sign2>[+\-−–])?"
    rf"(?P<digits>\d[\d.,{_SPACES}]*\d|\d)(?P<exponent>[eE][+\-]?\d{{1,3}})?(?(open)\))\s*(?P<unit>{_UNIT})?"
)
_GROUPED = {
    ".": regex(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?|\d+(?:\.\d+)?"),
    ",": regex(r"\d{1,3}(?:\.\d{2,3})*\.\d{3}(?:,\d+)?|\d+(?:,\d+)?"),
}
_SPACED = regex(rf"(?<=\d)[{_SPACES}](?=\d{{3}}(?!\d))")
_ISO = regex(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?(?:[ T].*)?")
_CLOCK = regex(r"(?:(?P<hours>\d{1,3}):)?(?P<minutes>\d{1,2}):(?P<seconds>[0-5]\d(?:[.,]\d{1,3})?)")


class Figure(msgspec.Struct, frozen=True, gc=False):
    """An amount: its value, its unit as written ("" for none), and the digits after its decimal sign."""

    value: Decimal
    unit: str = ""
    decimals: int = 0


class Figures(msgspec.Struct, frozen=True):
    """A column of figures: one per row, None if there is none. `thousands_sign` says how thousands are separated.

    Of durations, which are in seconds, `clocks` has the most colons in one.
    """

    values: tuple[Figure | None, ...]
    point: DecimalSign = "."
    thousands_sign: str = ""
    clocks: int = 0

    def units(self) -> frozenset[str]:
        return frozenset(figure.unit for figure in self.values if figure is not None)


def is_missing(text: str) -> bool:
    """True if a cell says that it has no value."""
    return not text.strip() or text.strip().casefold() in _MISSING


def read_figures(texts: Sequence[str], language: str = "", neighbour_texts: Iterable[str] = ()) -> Figures | None:
    """The figures of a column's cells, None if most filled cells are not figures.

    `language` and `neighbour_texts`, cells of other columns, show the decimal sign if the column itself does not.
    """
    cells = [text for text in texts if not is_missing(text)]
    if not cells:
        return None
    point = (
        _find_decimal_sign(cells)
        or _find_decimal_sign(neighbour_texts)
        or ("," if language in COMMA_LANGUAGES else ".")
    )
    values = tuple(None if is_missing(text) else read_figure(text, point) for text in texts)
    if sum(value is not None for value in values) < MIN_FIGURES_SHARE * len(cells):
        return None
    return Figures(values, point, _thousands_sign(cells, point))


def figures_of(table: ReadTable, column: int) -> Figures | None:
    """The figures of a column, None if it has others; the decimal sign follows from the whole table."""
    neighbour_texts = (
        cell.text
        for row in table.rows[:NEIGHBOUR_ROWS]
        for index, cell in row.cells.items()
        if index != column and ("." in cell.text or "," in cell.text)
    )
    return _figures(table.column(column), table.language, tuple(islice(neighbour_texts, NEIGHBOUR_CELLS)))


_figures = lru_cache(maxsize=1024)(read_figures)


def read_figure(text: str, point: DecimalSign = ".") -> Figure | None:
    """The amount a cell states, None for any other text, including dates."""
    parts = _split_amount(text)
    if parts is None:
        return None
    match, digits = parts
    if not _GROUPED[point].fullmatch(digits):
        return None
    plain = digits.replace(",", "") if point == "." else digits.replace(".", "").replace(",", ".")
    exponent = int((match["exponent"] or "e0")[1:])
    if sum(sign.isdigit() for sign in plain) > MAX_DIGITS or abs(exponent) > MAX_EXPONENT:
        return None
    signs = {match["sign"] or "", match["sign2"] or ""} & {"-", "−", "–"}
    value = Decimal(plain).scaleb(exponent)
    unit, scale = _parse_unit(match["front"] or "", match["unit"] or "")
    decimals = max(0, len(plain.partition(".")[2]) - exponent)
    return Figure((-value if signs or match["open"] else value) * scale, unit, decimals if scale == 1 else 0)


def _split_amount(text: str) -> tuple[re.Match[str], str] | None:
    stripped = text.strip()
    bare = _ABOUT.sub("", _NOTES.sub("", stripped)) if len(stripped) <= MAX_MARKED_AMOUNT_CHARS else stripped
    if len(bare) > MAX_AMOUNT_CHARS or (parse_date(bare) is not None and not bare.isdigit()):
        return None
    match = _AMOUNT.fullmatch(bare)
    if match is None or (match["open"] and match["unit"]):
        return None
    return match, _SPACED.sub("", match["digits"])


def _parse_unit(front: str, behind: str) -> tuple[str, Decimal]:
    """The unit, and the factor from the words of scale before it."""
    word, _, remainder = behind.partition(" ")
    power = SCALES.get(word.casefold().rstrip("."), 0) if len(word) > 1 else 0  # "m" are metres
    return f"{front} {remainder if power else behind}".strip().casefold(), Decimal(10) ** power


def _find_decimal_sign(texts: Iterable[str]) -> DecimalSign | None:
    """The decimal sign with which alone all figures can be read; None if both work, or neither."""
    able = dict.fromkeys(DECIMAL_SIGNS, 0)
    count = 0
    for text in texts:
        parts = _split_amount(text)
        if parts is None or not {".", ","} & set(parts[1]):
            continue
        count += 1
        for point in DECIMAL_SIGNS:
            able[point] += _GROUPED[point].fullmatch(parts[1]) is not None
    if able["."] == able[","]:
        return None
    best: DecimalSign = "." if able["."] > able[","] else ","
    return best if able[best] > MIN_FIGURES_SHARE * count else None


def _thousands_sign(texts: Sequence[str], point: DecimalSign) -> str:
    other_sign = "," if point == "." else "."
    signs = Counter(sign for text in texts for sign in re.findall(rf"(?<=\d)[{other_sign}{_SPACES}](?=\d{{3}})", text))
    return signs.most_common(1)[0][0] if signs else ""


def format_amount(value: Decimal, like: Figures, unit: str) -> str:
    """An amount with its unit, written like those of the column: decimal sign, thousands; or as a clock shows it."""
    if like.clocks:
        return _format_duration(value, like.clocks)
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    integer, _, decimals = text.partition(".")
    sign, integer = ("-", integer[1:]) if integer.startswith("-") else ("", integer)
    if like.thousands_sign:
        integer = f"{int(integer):,}".replace(",", like.thousands_sign)
    return f"{sign}{integer}{like.point if decimals else ''}{decimals} {unit}".strip()


def sum_figures(figures: Iterable[Figure]) -> Decimal:
    """The exact sum."""
    with localcontext() as context:
        context.prec = PRECISION
        return sum((figure.value for figure in figures), Decimal(0))


def mean(figures: Sequence[Figure]) -> Decimal:
    """The mean to two more digits than the figures have."""
    with localcontext() as context:
        context.prec = PRECISION
        decimals = max(figure.decimals for figure in figures) + 2
        return (sum_figures(figures) / len(figures)).quantize(Decimal(1).scaleb(-decimals)) + 0


def all_readable(texts: Iterable[str], reader: Callable[[str], object]) -> bool:
    """True if `reader` reads each of a column's filled cells."""
    cells = [text for text in texts if not is_missing(text)]
    return bool(cells) and all(reader(text) is not None for text in cells)


def parse_duration(text: str) -> Decimal | None:
    """The seconds of a duration as clocks show it, `6:21` or `1:02:33`; None for any other text."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    hours, minutes = int(match["hours"] or 0), int(match["minutes"])
    return hours * 3600 + minutes * 60 + Decimal(match["seconds"].replace(",", "."))


def amounts_of(table: ReadTable, column: int, *, days: bool = False) -> Figures | None:
    """The amounts of a column: the seconds of durations, else its figures; with `days` dates too, in their order."""
    texts = table.column(column)
    if all_readable(texts, parse_duration):
        return _read_as(parse_duration, texts, clocks=max(text.count(":") for text in texts))
    if days and all_readable(texts, parse_date) and not any(map(str.isdigit, texts)):
        return _read_as(_day, texts)
    return figures_of(table, column)


def _read_as(reader: Callable[[str], Decimal | None], texts: Iterable[str], clocks: int = 0) -> Figures:
    values = (reader(text) for text in texts)
    return Figures(tuple(None if value is None else Figure(value) for value in values), clocks=clocks)


def _day(text: str) -> Decimal | None:
    date = parse_date(text)
    return None if date is None else Decimal(date[0] * 10_000 + date[1] * 100 + date[2])


def _format_duration(seconds: Decimal, colons: int) -> str:
    """A duration as its column writes them, with one colon or two."""
    whole_seconds, fraction = divmod(seconds, 1)
    head, low = divmod(int(whole_seconds), 60)
    parts = [*divmod(head, 60), low] if colons > 1 else [head, low]
    decimals = f"{fraction.normalize():f}"[1:] if fraction else ""
    return ":".join([str(parts[0]), *(f"{part:02}" for part in parts[1:])]) + decimals


def parse_date(text: str) -> tuple[int, int, int] | None:
    """Year, month and day of a date in figures or words, 0 for missing parts; None for any other text."""
    text = text.strip()
    if (iso := _ISO.fullmatch(text)) is None and (len(text) > MAX_DATE_CHARS or not text[-4:].isdigit()):
        return None
    parts = iso.groups("0") if iso is not None else (*whole_date(text).split("-"), "0")
    year, month, day = (int(part or 0) for part in (*parts, "0")[:3])
    return (year, month, day) if 1000 <= year <= 2999 and month <= 12 and day <= 31 else None
