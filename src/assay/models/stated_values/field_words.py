"""The field that is asked for, how far a sentence has its words, and how values are written there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from assay.core.dimensions import dimension_of
from assay.core.languages import question_language
from assay.core.lazy import regex
from assay.core.lexicon import NUMBER_WORDS, ORDINALS, SCALES, TENS, stop_terms
from assay.core.measures import CURRENCIES, UNIT_NAMES
from assay.core.relevance.topic_question import keys, near_keys
from assay.core.tables.figures import read_figures
from assay.core.text import words
from assay.models.stated_values.number_words import numbers_in_words, value_of

# How values are written in sentences: dates, numbers and names, and which of several is meant.

LANGUAGE_SAMPLE_CHARS = 2_000
"""Code points used to detect the language of numbers."""
BEFORE = 6
"""How many words farther away a value before the field's words counts than one after them."""
Span = tuple[int, int]

DATE = regex(
    r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}(?:st|nd|rd|th)?[-. ]+(?:of |de )?[^\W\d_]{3,10}[-., ]+(?:de )?\d{4}"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2}\.\d{1,2}\.\d{4})\b"
)
_SCALE = rf"(?:{'|'.join(word for word in SCALES if len(word) > 1)})\.?"
_DIGITS = r"(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,']\d+)*)"
NUMBER = regex(rf"(?<![\w.,])(?<![^\W\d_][-‑])[-−]?{_DIGITS}(?![\w]|[.,]\d)(?:\s{_SCALE}(?!\w))?", re.IGNORECASE)
"""A number, but none that a hyphen joins to a name ("MX-7")."""
_ONES, _TENS = "|".join(list(NUMBER_WORDS)[:9]), "|".join(TENS)
_SPELLED = rf"(?:(?:{_TENS})(?:[- ](?:{_ONES}))?|{'|'.join([*NUMBER_WORDS][:0:-1])})"
_SCALES = {word: SCALES[word] for word in ("hundred", "thousand", "million", "billion")}
_SCALE_WORDS, _FRACTIONS = "|".join(_SCALES), "half|halves|quarters?|thirds|fifths"
SPELLED = regex(
    rf"(?<![\w-])(?<!\w and )(?P<count>{_SPELLED}|one(?= (?:{_SCALE_WORDS})(?!\w)))(?: (?P<scale>{_SCALE_WORDS}))?"
    rf"(?![\w])(?!-(?!(?:year|month|week|day|hour|minute)s?\b))"
    rf"(?! (?:and )?(?:an? )?(?:{_SPELLED}|one|{'|'.join(ORDINALS)}|{_FRACTIONS}|{_SCALE_WORDS})(?!\w))"
    r"(?: \(\d{1,9}\))?",
    re.IGNORECASE,
)
"""A number in English words, with digits that repeat it ("three (3)"), but no part of a longer one or of a fraction:
"two and a half". A bare "one" is mostly no number.
"""
YEAR = regex(r"(?:1[5-9]|20)\d{2}")
SCALED = regex(rf"(?<!\w){_SCALE}(?!\w)", re.IGNORECASE)
WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*")
_CAPITAL = r"(?:(?:[A-Z]\.)+(?= [A-Z])|[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я][\w'’&-]*(?:\.(?= [A-Z]))?)"
NAME = regex(rf"(?<!\w){_CAPITAL}(?:(?: (?:of|de|du|la|van|von|der|den|zu))? {_CAPITAL})*")

_GENITIVE = regex(r"['’]s\Z")


def capitalized_names(question: str) -> tuple[str, ...]:
    """The names in a question: runs of capitalized words inside it, "Skerry Line" of "Skerry Line's"."""
    return tuple(_GENITIVE.sub("", match[0]) for match in NAME.finditer(question) if match.start() > 0)


def numbers_in(text: str) -> list[re.Match[str]]:
    """The numbers in a text, in digits and in words."""
    spelled = list(SPELLED.finditer(text)) or list(numbers_in_words(text))
    digits = (
        number
        for number in NUMBER.finditer(text)
        if not any(other.start() <= number.start() < other.end() for other in spelled)
    )
    return sorted((*spelled, *digits), key=lambda number: number.start())


def plain_digits(value: str, context: str) -> str | None:
    """A number in plain digits; `context` shows its decimal sign."""
    if (spelled := SPELLED.fullmatch(value)) is not None:
        parts = spelled["count"].lower().replace("-", " ").split()
        scale = _SCALES[spelled["scale"].lower()] if spelled["scale"] else 0
        return str(sum(TENS.get(part, 0) + NUMBER_WORDS.get(part, 0) for part in parts) * 10**scale)
    if (number := value_of(value)) is not None:
        return str(number)
    numbers = (match[0] for match in NUMBER.finditer(context))
    figures = read_figures([value], question_language(context[:LANGUAGE_SAMPLE_CHARS]), numbers)
    return f"{figures.values[0].value:f}" if figures is not None and figures.values[0] is not None else None


def nearest_text(text: str, spans: Sequence[Span], matches: Iterable[re.Match[str]]) -> str | None:
    """Of the matches in a sentence, the one nearest to the words at these places, preferably after them."""
    nearest = nearest_match(text, spans, matches)
    return None if nearest is None else nearest[0].strip()


def nearest_match(text: str, spans: Sequence[Span], matches: Iterable[re.Match[str]]) -> re.Match[str] | None:
    """As `nearest_text`, the match itself."""
    return min(
        matches,
        key=lambda match: (min(_word_distance(text, span, match) for span in spans), match.start()),
        default=None,
    )


def _word_distance(text: str, word: Span, match: re.Match[str]) -> int:
    """The distance of a match from a word, in words; one directly before it is nearest of all ("96 plots")."""
    is_after = match.start() >= word[1]
    gap = text[word[1] : match.start()] if is_after else text[match.end() : word[0]]
    return len(WORD.findall(gap)) + (0 if is_after else BEFORE) if gap.strip() or is_after else -1


# The field that is asked for, and how far a sentence has its words.

MIN_NAME_SHARE = 0.5
"""The least share of a measured thing's words that stand beside its number."""
MIN_DESCRIPTION_SHARE = 0.75
"""The least share of the words of a field's description that a sentence must have: it has more than the name."""
KINDS = frozenset("name number no count amount value total date day time person people company list of per".split())
"""Words of a field's name that say what kind of value it has; no sentence has to say them."""


_BOUNDS = (
    (
        frozenset("max maximum highest most limit".split()),
        regex(r"\b(?:up to|at most|no more than|bis zu|höchstens|jusqu'à|hasta)\b"),
    ),
    (
        frozenset("min minimum lowest least".split()),
        regex(r"\b(?:at least|no less than|mindestens|au moins|al menos)\b"),
    ),
)
"""Words of a field's name that a sentence may say with others."""
DATE_WORDS = frozenset("date day when time on which datum tag wann jour quand fecha cuándo".split())
"""Words of a description that only ask for a date; no sentence with one has to say them."""


class TargetField(msgspec.Struct, frozen=True, kw_only=True):
    """A field: its name in words, the schema's description, the names in the question, and the question's `topics`.

    `unit` is the unit in which its label counts, as written there; `label` is without it.
    """

    label: str
    description: str
    names: tuple[str, ...]
    schema: Mapping[str, Any]
    topics: str = ""
    unit: str = ""

    @property
    def text(self) -> str:
        """All of these, as a question would say them."""
        return " ".join((self.description or self.label, *self.names))


class StatedValue(NamedTuple):
    """A value as written, or the values of a list, and its passage."""

    value: str | list[str]
    passage: str


def member(target: TargetField, text: str) -> Any:
    """The only member of the field's enum whose words a text has; None without one."""
    padded_text = f" {' '.join(words(text))} "
    members = [value for value in target.schema["enum"] if f" {' '.join(words(str(value)))} " in padded_text]
    return members[0] if len(members) == 1 else None


def match_field(target: TargetField, text: str, analysis: str) -> tuple[float, list[Span]]:
    """How far a sentence has the words of a field's name, all of them, or else of its description, and where; nowhere
    if too few.

    The description of a measure ("length in metres") does not say whose it is.
    """
    share, spans = _words_share(text, _telling_words(target.label, target, text), analysis)
    if share == 1.0 or dimension_of(f"{target.label} {target.description}"):
        return share, spans if share == 1.0 else []
    description = _telling_words(target.description, target, text)
    share, spans = _words_share(text, description, analysis)
    return share, spans if share >= MIN_DESCRIPTION_SHARE and len(spans) > 1 else []


def _telling_words(phrase: str, target: TargetField, text: str) -> str:
    """The words of a name or a description that a sentence has to say: without kinds of values, scales and units, and
    without a bound that it says otherwise ("up to 60" is a maximum).
    """
    kinds = KINDS | SCALES.keys() | CURRENCIES.keys() | UNIT_NAMES.keys()
    if target.schema.get("format") in ("date", "date-time"):
        kinds |= DATE_WORDS
    if target.schema.get("type") in ("integer", "number"):
        kinds |= frozenset(("year",)).union(*(bound for bound, says in _BOUNDS if says.search(text)))
    for left_out in (kinds, KINDS):
        if telling := " ".join(word for word in phrase.split() if word.casefold() not in left_out):
            return telling
    return phrase


def _words_share(text: str, phrase: str, analysis: str) -> tuple[float, list[Span]]:
    """The share of the words wanted that a sentence has, and where they stand in it; a year alone is not enough."""
    phrase_keys = frozenset(keys(phrase, analysis)) - stop_terms(analysis)
    matches = WORD.finditer(text) if phrase_keys else ()
    matched_keys = {word.span(): key for word in matches if (key := _matching_key(word[0], phrase_keys, analysis))}
    if all(map(str.isdigit, matched_keys.values())) and not all(map(str.isdigit, phrase_keys)):
        return 0.0, []
    return len(set(matched_keys.values())) / max(len(phrase_keys), 1), list(matched_keys)


def _matching_key(word: str, phrase_keys: frozenset[str], analysis: str) -> str:
    """The key that a word has, exactly or nearly; "" for none."""
    word_keys = frozenset(keys(word, analysis))
    close_keys = near_keys(phrase_keys, word_keys)
    return next((key for key in sorted(phrase_keys) if key in word_keys or key in close_keys), "")
