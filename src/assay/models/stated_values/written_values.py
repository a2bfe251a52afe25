"""How values are written in sentences: dates, numbers and names, and which of several is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.core.languages import of_question
from assay.core.patterns import regex
from assay.core.tables.figures import read_figures

SAMPLE = 2_000
"""Code points used to detect the language of numbers."""
BEFORE = 6
"""How many words farther away a value before the field's words counts than one after them."""
ELSEWHERE = 8
"""How many words a comma or the like between them counts for."""
Span = tuple[int, int]

DATE = regex(
    r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}(?:st|nd|rd|th)?[-. ]+(?:of |de )?[^\W\d_]{3,10}[-., ]+(?:de )?\d{4}"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2}\.\d{1,2}\.\d{4})\b"
)
_SCALE = (
    r"thousand|million|billion|trillion|tausend|millionen|mio\.?|milliarden?|mrd\.?|mille|milliers|millions|milliards?"
    r"|mil|millones|millón"
)
_DIGITS = r"(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,']\d+)*)"
NUMBER = regex(rf"(?<![\w.,])(?<![^\W\d_][-‑])[-−]?{_DIGITS}(?![\w]|[.,]\d)(?:\s(?:{_SCALE})(?!\w))?", re.IGNORECASE)
"""A number, but none that a hyphen joins to a name ("MX-7")."""
YEAR = regex(r"(?:1[5-9]|20)\d{2}")
SCALED = regex(rf"(?<!\w)(?:{_SCALE}|millions?)(?!\w)", re.IGNORECASE)
WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*")
_CAPITAL = r"(?:(?:[A-Z]\.)+(?= [A-Z])|[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я][\w'’&-]*(?:\.(?= [A-Z]))?)"
NAME = regex(rf"(?<!\w){_CAPITAL}(?:(?: (?:of|de|du|la|van|von|der|den|zu))? {_CAPITAL})*")
_BREAK = regex(r"[,;:()]|\b(?:after|and|but|while|nach|und|aber|après|et|mais|después|y|pero)\b")


def named(question: str) -> tuple[str, ...]:
    """The names in a question: runs of capitalized words inside it."""
    return tuple(match[0] for match in NAME.finditer(question) if match.start() > 0)


def plain(value: str, beside: str) -> str | None:
    """A number in plain digits; `beside` shows its decimal sign."""
    known = (match[0] for match in NUMBER.finditer(beside))
    figures = read_figures([value], of_question(beside[:SAMPLE]), known)
    return f"{figures.values[0].value:f}" if figures is not None and figures.values[0] is not None else None


def nearest(text: str, at: Sequence[Span], found: Iterable[re.Match[str]]) -> str | None:
    """Of the matches in a sentence, the one nearest to the words at these places, preferably after them."""
    chosen = nearest_of(text, at, found)
    return None if chosen is None else chosen[0].strip()


def nearest_of(text: str, at: Sequence[Span], found: Iterable[re.Match[str]]) -> re.Match[str] | None:
    """As `nearest`, the match itself."""
    return min(found, key=lambda match: (min(_apart(text, span, match) for span in at), match.start()), default=None)


def _apart(text: str, word: Span, match: re.Match[str]) -> int:
    """The distance of a match from a word, in words; breaks between them count more."""
    behind = match.start() >= word[1]
    between = text[word[1] : match.start()] if behind else text[match.end() : word[0]]
    breaks = ELSEWHERE * len(_BREAK.findall(between))
    return len(WORD.findall(between)) + breaks + (0 if behind else BEFORE)
