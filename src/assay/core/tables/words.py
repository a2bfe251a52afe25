"""The words of a question over a table: operations that it asks for, and its words in headers, names and values.

Each language has words for operations and degrees ("longest": the largest of a length), never for what tables are about
(`operations.json`). A word ending in `*` stands for all words with that beginning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from importlib import resources
from typing import Literal

import msgspec

from assay.core.languages import of_question
from assay.core.lexicon import stop_terms
from assay.core.relevance.topic_question import TopicQuestion, keys, near_keys, read_question
from assay.core.tables.cells import UNNAMED, ReadTable
from assay.core.tables.figures import figures_of, is_missing, moment, read_figure

Operation = Literal["cell", "sum", "mean", "count", "max", "min"]
Named = Literal["sum", "mean", "count", "max", "min"]
NAMED: tuple[Named, ...] = ("sum", "mean", "count", "max", "min")

DATED = "@date"
"""Stands for a column of dates among the measures of a degree."""
_NUMBER = r"(?P<number>[+\-−]?\d[\d.,'\u00a0\u202f]*\d|\d)(?:\s*(?P<scale>[^\W\d_]+\.?))?"
_WORD = re.compile(r"[^\W_]+")


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """One language's words: phrases separated by commas; `degrees` map one to operations with the nouns they measure.

    `inverse` are words for what is not computed here, or that reverse a condition.
    """

    sum: str
    mean: str
    count: str
    max: str
    min: str
    above: str
    below: str
    inverse: str
    rows: str
    degrees: dict[str, str]


class Measured(msgspec.Struct, frozen=True):
    """An operation that words ask for, and the nouns it measures; none if the question itself names what is
    measured.
    """

    operation: Operation
    measures: tuple[str, ...] = ()


class Limit(msgspec.Struct, frozen=True):
    """A condition on a figure: above (1) or below (-1) a number."""

    way: int
    number: Decimal


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """A question's operation, with the words for it, and `rest`, the question without them.

    `ways` are the operations it may mean: only one, unless words of degree have several measures. `said` are the words
    that named them; `noun` is what follows "how many". `beyond` are words for what is not computed here.
    """

    ways: tuple[Measured, ...]
    rest: str
    said: tuple[str, ...] = ()
    noun: str = ""
    limits: tuple[Limit, ...] = ()
    beyond: tuple[str, ...] = ()


@cache
def languages() -> dict[str, Language]:
    """The words of every language, by its code."""
    data = resources.files(__package__).joinpath("operations.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, Language])


class _Phrase(msgspec.Struct, frozen=True):
    pattern: re.Pattern[str]
    ways: tuple[Measured, ...]


@cache
def _phrases(language: str) -> tuple[_Phrase, ...]:
    known = languages()[language]
    found: list[tuple[str, tuple[Measured, ...]]] = [
        (phrase, (Measured(name),)) for name in NAMED for phrase in _split(getattr(known, name))
    ]
    found += [(phrase, tuple(_ways(told))) for phrase, told in known.degrees.items()]
    found.sort(key=lambda pair: -len(pair[0]))
    return tuple(_Phrase(_pattern(phrase), ways) for phrase, ways in found)


def _ways(told: str) -> Iterator[Measured]:
    for part in _split(told):
        name, *measures = part.split()
        yield Measured("min" if name == "min" else "max", tuple(measures))


def _split(phrases: str) -> list[str]:
    return [phrase.strip() for phrase in phrases.split(",")]


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word).replace(r"\*", r"\w*") for word in phrase.split())
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


@cache
def _any(language: str, name: Literal["above", "below", "inverse"]) -> re.Pattern[str]:
    phrases = sorted(_split(getattr(languages()[language], name)), key=len, reverse=True)
    return re.compile("|".join(f"(?:{_pattern(phrase).pattern})" for phrase in phrases), re.IGNORECASE)


def read_asking(question: str) -> Asking:
    """Read what a question asks of a table. Its language is detected from its words; else the languages are tried in
    turn.
    """
    told = of_question(question)
    found = [_read(question, each) for each in ([told] if told in languages() else languages())]
    return next((each for each in found if each.ways[0].operation != "cell"), found[0])


def _read(question: str, language: str) -> Asking:
    limits, text = _limits(question, language)
    taken: list[tuple[int, int, _Phrase]] = []
    for phrase in _phrases(language):
        for match in phrase.pattern.finditer(text):
            if all(match.end() <= start or match.start() >= end for start, end, _ in taken):
                taken.append((*match.span(), phrase))
    taken.sort(key=lambda each: each[0])
    chosen = next((each for each in taken if each[2].ways[0].operation != "count"), taken[0] if taken else None)
    used = [each for each in taken if each is chosen or each[2].ways[0].operation == "count"]
    rest = text
    for start, end, _phrase in reversed(used):
        rest = f"{rest[:start]} {rest[end:]}"
    counted = next((each for each in taken if each[2].ways[0].operation == "count"), None)
    noun = _WORD.search(text, counted[1]) if counted is not None else None
    return Asking(
        ways=chosen[2].ways if chosen is not None else (Measured("cell"),),
        rest=rest,
        said=tuple(text[start:end] for start, end, _ in used),
        noun=noun[0] if noun is not None else "",
        limits=limits,
        beyond=tuple(match[0] for match in _any(language, "inverse").finditer(rest)),
    )


def _limits(question: str, language: str) -> tuple[tuple[Limit, ...], str]:
    """The bounds a question sets on figures, and the question without them."""
    found: list[Limit] = []
    text = question
    for way, phrases in ((1, _any(language, "above")), (-1, _any(language, "below"))):
        pattern = re.compile(rf"(?:{phrases.pattern})\s+{_NUMBER}", re.IGNORECASE)
        for match in reversed(list(pattern.finditer(text))):
            figure = read_figure(f"{match['number']} {match['scale'] or ''}".strip())
            figure = figure or read_figure(match["number"], ",")
            if figure is not None:
                found.append(Limit(way, figure.value))
                unit = f" {match['scale']} " if match["scale"] and figure.unit else " "
                text = text[: match.start()] + unit + text[match.end() :]
    return tuple(found), text


# The words of a question in a table: in its headers, its names, and the values of its cells.

LONGEST_VALUE = 12
"""The most keys of a cell that may be in a question."""
LONGEST_CELL = 120
BEGINNING = 2
LEAST_SHORT = 3
"""Letters of an abbreviation in a header: `temp`, `max`, `pop`."""

PARTS = re.compile(r"(?<=[a-zà-ÿ])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|[\W_]+")
_DIGITS = re.compile(r"\d[\d.,/:-]*\d|\d")


class NamedValue(msgspec.Struct, frozen=True):
    """A cell's value in the question: its column, its texts, and the places of the question's keys that match it."""

    column: int
    texts: tuple[str, ...]
    places: frozenset[int]


class TableWords:
    """The words of a question compared with a table: its keys in order, its significant words, and its names."""

    def __init__(self, question: str, asking: Asking, table: ReadTable) -> None:
        self.table, self.asking = table, asking
        self.read: TopicQuestion = read_question(question)
        analysis = self.read.analysis
        stop = stop_terms(analysis)
        self.said = keys(asking.rest, analysis)
        self.telling = tuple(dict.fromkeys(key for key in self.said if key not in stop and key in self.read.keys))
        self.names = self.read.names & set(self.telling)
        self.heads = [self.name_keys("" if UNNAMED.fullmatch(head) else head) for head in table.heads]
        self.around = self.name_keys(" ".join((table.title, table.caption, *table.heading)))
        self.extra = frozenset(key for said in asking.said for key in keys(said, analysis)) - stop
        self.stop = stop
        self.folded = _fold(asking.rest)

    # words

    def name_keys(self, text: str) -> frozenset[str]:
        """The keys of a header or title, whose words may be joined: `UrbanPop`, `Cars93`, `body_mass_g`."""
        parted = " ".join(part for part in PARTS.split(text) if part)
        return frozenset((*keys(parted, self.read.analysis), *keys(text, self.read.analysis)))

    def matching_keys(self, wanted: Iterable[str], held: frozenset[str]) -> frozenset[str]:
        """The keys of `wanted` in `held`: equal, near, or abbreviated."""
        asked = frozenset(wanted)
        near = near_keys(asked, held)
        short = {
            key for key in asked for other in held
            if len(other) >= LEAST_SHORT and other.isalpha() and len(key) > len(other) and key.startswith(other)
        }  # fmt: skip
        return (asked & held) | frozenset(near) | short

    # rows

    def values(self) -> list[NamedValue]:
        """The cell values in the question, longest first; none shares a word with another."""
        found: dict[tuple[int, frozenset[int]], list[str]] = {}
        grams = _grams(self.said)
        numbers = frozenset(_DIGITS.findall(self.asking.rest))
        years = frozenset(int(each) for each in numbers if each.isdigit() and len(each) == 4)
        for column in range(len(self.table.heads)):
            for text in self._likely(column):
                for places in self._places(text, column, grams, numbers, years):
                    found.setdefault((column, places), []).append(text)
        taken: list[NamedValue] = []
        for (column, places), texts in sorted(found.items(), key=lambda item: self._rank(*item[0])):
            if all(places.isdisjoint(other.places) for other in taken):
                taken.append(NamedValue(column, tuple(texts), places))
        return taken

    def _likely(self, column: int) -> Iterator[str]:
        """The different texts of a column that begin like something in the question."""
        for beginning, texts in _beginnings(self.table.column(column)).items():
            if beginning in self.folded:
                yield from texts

    def _rank(self, column: int, places: frozenset[int]) -> tuple[int, bool, int]:
        named = bool(self.matching_keys(self.telling, self.heads[column]))
        return (-len(places), not named, column)

    def _places(
        self,
        text: str,
        column: int,
        grams: dict[tuple[str, ...], frozenset[int]],
        numbers: frozenset[str],
        years: frozenset[int],
    ) -> Iterator[frozenset[int]]:
        """The places of a cell's value in the question."""
        if is_missing(text) or len(text) > LONGEST_CELL:
            return
        date = moment(text) if years and not text.isdigit() else None
        if date is not None and date[0] in years:
            place = grams.get((str(date[0]),))
            if place is not None:
                yield place
            return
        if read_figure(text) is not None and text not in numbers:
            return
        if text in numbers and not self._keyed(column):
            return
        said = keys(text, self.read.analysis)
        place = grams.get(said)
        if place is None and len(said) > 1 and any(each.isdigit() for each in said):
            place = self._beginning(said, grams)  # "20.04 LTS" for "20.04"
        if place is not None and not all(self.said[at] in self.stop for at in place):
            yield place

    def _beginning(self, said: tuple[str, ...], grams: dict[tuple[str, ...], frozenset[int]]) -> frozenset[int] | None:
        """The place of the figures a cell begins with, if letters follow them."""
        size = next((at for at, each in enumerate(said) if not each.isdigit()), len(said))
        return grams.get(said[:size]) if size else None

    def _keyed(self, column: int) -> bool:
        """True if a column of figures may select rows: its header is asked for, or it has years or row numbers."""
        if self.matching_keys(self.telling, self.heads[column]):
            return True
        filled = [text for text in self.table.column(column) if text]
        return all(len(text) == 4 and text.isdigit() for text in filled) or (
            column == 0 and len(set(filled)) == len(filled)
        )

    # columns

    def figured(self, column: int) -> bool:
        """True if a column holds figures."""
        return figures_of(self.table, column) is not None

    def dated(self, column: int) -> bool:
        """True if a column holds dates."""
        filled = [text for text in self.table.column(column) if not is_missing(text)]
        return bool(filled) and all(moment(text) is not None for text in filled)


def _fold(text: str) -> str:
    """Lower case without accents."""
    text = text.casefold()
    if text.isascii():
        return text
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


@lru_cache(maxsize=1024)
def _beginnings(column: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The different texts of a column by their first letters, which a stem shares with its word."""
    found: dict[str, dict[str, None]] = {}
    for text in column:
        found.setdefault(_fold(text.lstrip()[: 2 * BEGINNING])[:BEGINNING], {})[text] = None
    return {beginning: tuple(texts) for beginning, texts in found.items() if beginning}


def _grams(said: Sequence[str]) -> dict[tuple[str, ...], frozenset[int]]:
    """Every run of a question's keys, and its places."""
    found: dict[tuple[str, ...], frozenset[int]] = {}
    for size in range(1, min(len(said), LONGEST_VALUE) + 1):
        for start in range(len(said) - size + 1):
            found.setdefault(tuple(said[start : start + size]), frozenset(range(start, start + size)))
    return found
