"""Finds the words of a question in a table: in its headers, its names, and the values of its cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from assay.core.lazy import regex
from assay.core.lexicon import MONTHS, stop_terms
from assay.core.relevance.topic_question import TopicQuestion, keys, near_keys, read_question
from assay.core.tables.cells import UNNAMED_COLUMN, ReadTable
from assay.core.tables.figures import all_readable, figures_of, is_missing, parse_date, parse_duration, read_figure
from assay.core.tables.words import AskedOperation, asked_kind, languages, phrase_pattern, read_language

LONGEST_VALUE = 12
"""The most keys of a cell that may be in a question."""
LONGEST_CELL = 120
ABBREVIATION_LETTERS = 2
LEAST_SHORT = 3
"""Letters of an abbreviation in a header: `temp`, `max`, `pop`."""

WORD_PARTS = regex(r"(?<=[a-zà-ÿ])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|[\W_]+")
ARTICLES = frozenset("the a an der die das den dem le la les el los las".split())
_NUMBERED = regex(r"^(?:[^\W\d_]+\s*)?\d+(?:\.\d+)*\s*[.:]\s+")
"""The number of a table or section before its name: "Table 3: Ports"."""
_DIGITS = regex(r"\d[\d.,/:-]*\d|\d")


class NamedValue(msgspec.Struct, frozen=True):
    """A cell's value in the question: its column, its texts, and the places of the question's keys that match it."""

    column: int
    texts: tuple[str, ...]
    places: frozenset[int]


class AskedTimes(msgspec.Struct, frozen=True):
    """The years of a question, and its months by their place in it."""

    years: frozenset[int]
    months: dict[int, int]

    def places(self, date: tuple[int, int, int], grams: dict[tuple[str, ...], frozenset[int]]) -> frozenset[int]:
        """The places of what the question says of a day: its month and its year, as far as it names such; else none."""
        year = grams.get((str(date[0]),), frozenset()) if date[0] in self.years else frozenset()
        month = frozenset(place for place, number in self.months.items() if number == date[1])
        if (self.years and not year) or (self.months and not month):
            return frozenset()
        return year | month


class TableWords:
    """The words of a question compared with a table: its keys in order, its significant words, and its names."""

    def __init__(self, question: str, asking: AskedOperation, table: ReadTable) -> None:
        self.table, self.asking = table, asking
        self.read: TopicQuestion = read_question(question)
        analysis = self.read.analysis
        stop = stop_terms(analysis)
        self.said = keys(asking.rest, analysis)
        self.telling = tuple(dict.fromkeys(key for key in self.said if key not in stop and key in self.read.keys))
        self.names = self.read.names & set(self.telling)
        self.heads = [self.name_keys("" if UNNAMED_COLUMN.fullmatch(head) else head) for head in table.heads]
        self.kind = asked_kind(asking.rest) if table.of_documents else ""  # documents rarely say what they all are
        self.around = self.name_keys(" ".join((table.title, table.caption, *table.heading, self.kind)))
        self.extra = frozenset(key for said in asking.said for key in keys(said, analysis)) - stop
        self.stop = stop
        self.folded = _fold(asking.rest)
        self.language = read_language(question)
        units = frozenset(keys(languages()[self.language].clock, analysis))
        plain = [len(head.split()) == 1 for head in table.heads]  # "Running time" says of what, "Time" does not
        self.asked_heads = [
            head | units if plain[at] and self.has_durations(at) else head for at, head in enumerate(self.heads)
        ]

    # words

    def name_keys(self, text: str) -> frozenset[str]:
        """The keys of a header or title, whose words may be joined: `UrbanPop`, `Cars93`, `body_mass_g`."""
        parted = " ".join(part for part in WORD_PARTS.split(text) if part)
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

    def row_names(self) -> frozenset[str]:
        """The keys of what the rows are called: of a caption or heading of which the question has every word; if there
        is neither, of the title, as in a file that is nothing but a table.
        """
        above = [name for name in (self.table.caption, *self.table.heading) if name]
        named = [self.name_keys(_NUMBERED.sub("", name)) - self.stop for name in above]
        whole = (name for name in named if self.matching_keys(name, frozenset(self.telling)) == name)
        return self.name_keys(self.kind if above else f"{self.table.title} {self.kind}").union(*whole)

    def values(self) -> list[NamedValue] | None:
        """The cell values in the question, longest first; none shares a word with another.

        None if one stands in several columns of which the question means none: "what did A pay B?".
        """
        found: dict[frozenset[int], dict[int, list[str]]] = {}
        grams = _grams(self.said)
        numbers = frozenset(_DIGITS.findall(self.asking.rest))
        times = self._asked_times(numbers)
        for column in range(len(self.table.heads)):
            for text in self._likely_texts(column, times):
                for places in self._places(text, column, grams, numbers, times):
                    found.setdefault(places, {}).setdefault(column, []).append(text)
        taken: list[NamedValue] = []
        ranks = {places: min((self._rank(column, places), column) for column in found[places]) for places in found}
        for places, (rank, column) in sorted(ranks.items(), key=lambda item: item[1]):
            if all(places.isdisjoint(other.places) for other in taken):
                texts = found[places][column]
                alike = [at for at in found[places] if self._rank(at, places) == rank and found[places][at] == texts]
                free = [at for at in alike if all(at != other.column for other in taken)] or [column]
                if len(free) > 1:
                    return None
                taken.append(NamedValue(free[0], tuple(texts), places))
        return taken

    def _asked_times(self, numbers: Iterable[str]) -> AskedTimes:
        """The years in a question, and the months that stand alone in it: "in March"."""
        years = frozenset(int(each) for each in numbers if each.isdigit() and len(each) == 4)
        within = phrase_pattern(self.language, "within").pattern
        named = re.finditer(rf"(?<!\w)(?:{within})\s+([^\W\d_]+)\b", self.asking.rest, re.IGNORECASE)
        months = {match[1]: MONTHS.get(match[1].casefold(), 0) for match in named if match[1][:1].isupper()}
        keyed = {keys(word, self.read.analysis): number for word, number in months.items() if number}
        return AskedTimes(
            years, {self.said.index(key[0]): number for key, number in keyed.items() if key[0] in self.said}
        )

    def _likely_texts(self, column: int, times: AskedTimes) -> Iterator[str]:
        """The different texts of a column that begin like something in the question; all days, if it names a time."""
        if (times.years or times.months) and self.has_dates(column):
            yield from dict.fromkeys(self.table.column(column))
            return
        for beginning, texts in _beginnings(self.table.column(column)).items():
            if beginning in self.folded:
                yield from texts

    def _rank(self, column: int, places: frozenset[int]) -> tuple[bool, int, bool]:
        """How well a column fits a value: the word before it is its header's ("to A"), or any other word is."""
        before = [key for key in self.said[: min(places)] if key not in ARTICLES][-1:]
        named = bool(self.matching_keys(self.telling, self.heads[column]))
        return (self.heads[column].isdisjoint(before), -len(places), not named)

    def _places(
        self,
        text: str,
        column: int,
        grams: dict[tuple[str, ...], frozenset[int]],
        numbers: frozenset[str],
        times: AskedTimes,
    ) -> Iterator[frozenset[int]]:
        """The places of a cell's value in the question."""
        if is_missing(text) or len(text) > LONGEST_CELL:
            return
        date = parse_date(text) if (times.years or times.months) and not text.isdigit() else None
        if date is not None and (within := times.places(date, grams)):
            yield within
            return
        if read_figure(text) is not None and text not in numbers:
            return
        if text in numbers and not self._can_select_rows(column):
            return
        said = keys(text, self.read.analysis)
        place = grams.get(said)
        if place is not None and not all(self.said[at] in self.stop for at in place):
            yield place

    def _can_select_rows(self, column: int) -> bool:
        """True if a column of figures may select rows: its header is asked for, or it has years or row numbers."""
        if self.matching_keys(self.telling, self.heads[column]):
            return True
        filled = [text for text in self.table.column(column) if text]
        return all(len(text) == 4 and text.isdigit() for text in filled) or (
            column == 0 and len(set(filled)) == len(filled)
        )

    # columns

    def has_figures(self, column: int) -> bool:
        """True if a column holds figures."""
        return figures_of(self.table, column) is not None

    def has_durations(self, column: int) -> bool:
        """True if a column holds durations."""
        return all_readable(self.table.column(column), parse_duration)

    def has_dates(self, column: int) -> bool:
        """True if a column holds dates."""
        return all_readable(self.table.column(column), parse_date)


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
        found.setdefault(_fold(text.lstrip()[: 2 * ABBREVIATION_LETTERS])[:ABBREVIATION_LETTERS], {})[text] = None
    return {beginning: tuple(texts) for beginning, texts in found.items() if beginning}


def _grams(said: Sequence[str]) -> dict[tuple[str, ...], frozenset[int]]:
    """Every run of a question's keys, and its places."""
    found: dict[tuple[str, ...], frozenset[int]] = {}
    for size in range(1, min(len(said), LONGEST_VALUE) + 1):
        for start in range(len(said) - size + 1):
            found.setdefault(tuple(said[start : start + size]), frozenset(range(start, start + size)))
    return found
