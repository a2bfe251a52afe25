"""Values of fields out of prose: the sentence which answers best, and in it the value of the field's type.

Sentences are judged as answers are (`core.relevance`): where the best are probably none, the field stays empty. Of
several values of the type in a sentence the one nearest to the field's own words is taken, rather one behind them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from assay.core.languages import of_question
from assay.core.lexicon.analysis import stop_terms
from assay.core.relevance import judge, read_question
from assay.core.relevance.topic_question import keys, near_keys
from assay.core.tables.figures import read_figures
from assay.models.extractive.shelf import SourcePassages

SAMPLE = 2_000
"""Code points by which the language of numbers is told."""
LOOKED = 12
"""Sentences looked at, the best first."""
SHARE = 0.5
"""The share of a field's words which a sentence, or what stands above it, has to have."""
BEFORE = 6
"""What a value before the field's words counts further away, in words, than one behind them."""
ELSEWHERE = 8
"""What a comma's like between them counts, in words."""
LONGEST = 8
"""Words of a value which is no name."""

DATE = re.compile(
    r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}(?:st|nd|rd|th)?[-. ]+(?:of |de )?[^\W\d_]{3,10}[-., ]+(?:de )?\d{4}"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2}\.\d{1,2}\.\d{4})\b"
)
_SCALE = (
    r"thousand|million|billion|trillion|tausend|millionen|mio\.?|milliarden?|mrd\.?|mille|milliers|millions|milliards?"
    r"|mil|millones|millón"
)
_DIGITS = r"(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,']\d+)*)"
NUMBER = re.compile(rf"(?<![\w.,])[-−]?{_DIGITS}(?![\w]|[.,]\d)(?:\s(?:{_SCALE})(?!\w))?", re.IGNORECASE)
_YEAR = re.compile(r"(?:1[5-9]|20)\d{2}")
_SCALED = re.compile(rf"(?<!\w)(?:{_SCALE}|millions?)(?!\w)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я][\w'’&-]*(?:\.(?= [A-Z]))?"
_NAME = re.compile(rf"(?<!\w){_CAPITAL}(?:(?: (?:of|de|du|la|van|von|der|den|zu))? {_CAPITAL})*")
_SAYS = re.compile(
    r"\W{0,3}(?:(?:is|are|was|were|ist|sind|war|lautet|est|sont|était|es|son|era)\b|[:=])\s*"
    r"(?:(?:an?|the|der|die|das|le|la|el)\s+)?(?P<value>[^.,;:!?()]{2,120})",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,;:()]|\b(?:after|and|but|while|nach|und|aber|après|et|mais|después|y|pero)\b")


class FieldAsked(msgspec.Struct, frozen=True, kw_only=True):
    """A field: its name in words, what its schema says of it, and the names of what it is a field of."""

    label: str
    description: str
    names: tuple[str, ...]
    schema: Mapping[str, Any]

    @property
    def text(self) -> str:
        """All of it, as a question would say it."""
        return " ".join((self.description or self.label, *self.names))


class StatedValue(msgspec.Struct, frozen=True):
    """A value as it is written, and the passage it stands in."""

    value: str
    passage: str


def stated(asked: FieldAsked, books: Sequence[SourcePassages]) -> StatedValue | None:
    """What prose says of a field; None where nothing probably does, or nothing of its type."""
    placed = [(at, book, sentence) for at, book in enumerate(books) for sentence in book.sentences]
    statements = [sentence.statement(at, book.title) for at, book, sentence in placed]
    beside = "\n".join(each.text for each in statements[:5])
    question = read_question(asked.text, beside=beside)
    judgement = judge(question, statements)
    if not judgement.answers():
        return None
    own = _own_keys(asked, question.analysis)
    names = frozenset(key for name in asked.names for key in keys(name, question.analysis))
    about = {id(book) for _, book, _ in placed if names & _said(book, question.analysis)}
    best: tuple[float, int, StatedValue] | None = None
    for rank, each in enumerate(judgement.ranked[:LOOKED]):
        _, book, sentence = placed[each.place]
        words = list(_WORD.finditer(sentence.text))
        at = [place for place, word in enumerate(words) if _among(word[0], own, question.analysis)]
        share = len({_among(words[place][0], own, question.analysis) for place in at}) / len(own) if own else 0.0
        if (names and about and id(book) not in about) or share < SHARE:
            continue
        value = _value(asked, sentence.text, words, at, " ".join(p.text for p in book.passages))
        if value is not None and (best is None or (share, -rank) > best[:2]):
            best = (share, -rank, StatedValue(value, sentence.passage))
    return best[2] if best is not None else None


def _own_keys(asked: FieldAsked, analysis: str) -> frozenset[str]:
    return frozenset(keys(asked.label, analysis)) - stop_terms(analysis)


def _said(book: SourcePassages, analysis: str) -> frozenset[str]:
    return frozenset(
        key for text in (book.title, *(each.text for each in book.passages)) for key in keys(text, analysis)
    )


def _among(word: str, own: frozenset[str], analysis: str) -> str:
    """Which of the keys a word is, exactly or nearly; "" for none."""
    found = frozenset(keys(word, analysis))
    near = near_keys(own, found)
    return next((key for key in sorted(own) if key in found or key in near), "")


def named(question: str) -> tuple[str, ...]:
    """What a question names: runs of words with capitals inside it."""
    return tuple(match[0] for match in _NAME.finditer(question) if match.start() > 0)


# values


def _value(asked: FieldAsked, text: str, words: Sequence[re.Match[str]], at: Sequence[int], beside: str) -> str | None:
    """The value of the field's type which stands nearest to its words; `beside` is the text with its other numbers."""
    kind, form = asked.schema.get("type"), asked.schema.get("format")
    if "enum" in asked.schema or kind not in ("string", "integer", "number"):
        return None
    if form in ("date", "date-time"):
        return _nearest(text, words, at, DATE.finditer(text))
    if kind in ("integer", "number"):
        return _number(asked, text, words, at, beside)
    return _text(asked, text, words, at)


def _number(asked: FieldAsked, text: str, words: Sequence[re.Match[str]], at: Sequence[int], beside: str) -> str | None:
    """A number in plain digits, times its scale unless the field is counted in that; a year where there is no other."""
    dated = [match.span() for match in DATE.finditer(text)]
    found = [each for each in NUMBER.finditer(text) if not any(a <= each.start() < b for a, b in dated)]
    others = [each for each in found if not _YEAR.fullmatch(each[0])]
    value = _nearest(text, words, at, others or found)
    if value is None:
        return None
    if _SCALED.search(f"{asked.label} {asked.description}"):
        value = _SCALED.sub("", value).strip()
    known = (match[0] for match in NUMBER.finditer(beside))
    figures = read_figures([value], of_question(beside[:SAMPLE]), known)
    return f"{figures.values[0].value:f}" if figures is not None and figures.values[0] is not None else None


def _text(asked: FieldAsked, text: str, words: Sequence[re.Match[str]], at: Sequence[int]) -> str | None:
    """A name, else what is said right behind the field's words."""
    known = {word.casefold() for name in (*asked.names, asked.label) for word in _WORD.findall(name)}
    names = [match for match in _NAME.finditer(text) if _is_name(match, known)]
    near = _nearest(text, words, at, names)
    if near is not None:
        return near.rstrip(".")
    said = _SAYS.match(text, words[at[-1]].end())
    return said["value"].strip() if said is not None and len(said["value"].split()) <= LONGEST else None


def _is_name(match: re.Match[str], known: set[str]) -> bool:
    """Whether words with capitals are a name of something else than the subject: not what begins the sentence."""
    return match.start() > 0 and not any(word.casefold() in known for word in _WORD.findall(match[0]))


def _nearest(
    text: str,
    words: Sequence[re.Match[str]],
    at: Sequence[int],
    found: Iterator[re.Match[str]] | Sequence[re.Match[str]],
) -> str | None:
    """Of what was found in a sentence, what stands nearest to the words at these places."""
    rated = [(_apart(text, words, at, match), match.start(), match[0].strip()) for match in found]
    return min(rated)[2] if rated else None


def _apart(text: str, words: Sequence[re.Match[str]], at: Sequence[int], match: re.Match[str]) -> int:
    """How far a match stands from the nearest of the words, in words; breaks between them count more."""
    apart: list[int] = []
    for place in at:
        word = words[place]
        behind = match.start() >= word.end()
        between = text[word.end() : match.start()] if behind else text[match.end() : word.start()]
        distance = len(_WORD.findall(between)) + ELSEWHERE * len(_BREAK.findall(between))
        apart.append(distance + (0 if behind else BEFORE))
    return min(apart, default=0)
