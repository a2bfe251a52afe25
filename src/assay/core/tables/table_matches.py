"""Finds the words of a question in a table: in its headers, its names, and the values of its cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from assay.core.function_words import MORE_STOP_WORDS
from assay.core.lazy import regex
from assay.core.lexicon import MONTHS, stop_terms
from assay.core.periods import Period, periods_in, read_period
from assay.core.relevance.topic_question import TopicQuestion, keys, near_keys, read_question
from assay.core.tables.cells import UNNAMED_COLUMN, ReadTable
from assay.core.tables.figures import all_readable, figures_of, is_missing, parse_date, parse_duration, read_figure
from assay.core.tables.words import AskedOperation, asked_kind, languages, phrase_pattern, read_language

MAX_VALUE_KEYS = 12
"""The most keys of a cell that may be in a question."""
MAX_CELL_CHARS = 120
ABBREVIATION_LETTERS = 2
MIN_HEADER_LETTERS = 3
"""Letters of an abbreviation in a header: `temp`, `max`, `pop`."""

WORD_PARTS = regex(r"(?<=[a-zà-ÿ])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|[\W_]+")
ARTICLES = frozenset("the a an der die das den dem le la les el los las".split())
_NUMBERED = regex(r"^(?:[^\W\d_]+\s*)?\d+(?:\.\d+)*\s*[.:]\s+")
"""The number of a table or section before its name: "Table 3: Ports"."""
_KIND_MARK = regex(r"[,()]")
"""What sets a word for its kind off behind a value's name."""
_DIGITS = regex(r"\d[\d.,/:-]*\d|\d")


class NamedValue(msgspec.Struct, frozen=True):
    """A cell's value in the question: its column, its texts, and the places of the question's keys that match it."""

    column: int
    texts: tuple[str, ...]
    positions: frozenset[int]


class AskedTimes(msgspec.Struct, frozen=True):
    """The years of a question, and its months by their place in it."""

    years: frozenset[int]
    months: dict[int, int]

    def places(self, date: tuple[int, int, int], grams: dict[tuple[str, ...], frozenset[int]]) -> frozenset[int]:
        """The places of what the question says of a day: its month and its year, as far as it names such; else none."""
        year = grams.get((str(date[0]),), frozenset()) if date[0] in self.years else frozenset()
        month = frozenset(position for position, number in self.months.items() if number == date[1])
        if (self.years and not year) or (self.months and not month):
            return frozenset()
        return year | month


class TableWords:
    """The words of a question compared with a table: its keys in order, its significant words, and its names."""

    def __init__(self, question: str, asked_operation: AskedOperation, table: ReadTable) -> None:
        self.table, self.asked_operation = table, asked_operation
        self.topic_question: TopicQuestion = read_question(question)
        analysis = self.topic_question.analysis
        stop = stop_terms(analysis)
        self.question_keys = keys(asked_operation.remaining_text, analysis)
        self.topic_keys = tuple(
            dict.fromkeys(key for key in self.question_keys if key not in stop and key in self.topic_question.keys)
        )
        self.names = self.topic_question.names & set(self.topic_keys)
        self.heads = [self.name_keys("" if UNNAMED_COLUMN.fullmatch(head) else head) for head in table.heads]
        # documents rarely say what they all are
        self.kind = asked_kind(asked_operation.remaining_text) if table.of_documents else ""
        self.context_keys = self.name_keys(" ".join((table.title, table.caption, *table.heading, self.kind)))
        self.extra = frozenset(key for phrase in asked_operation.phrases for key in keys(phrase, analysis)) - stop
        self.stop = stop
        self.folded_text = _fold(asked_operation.remaining_text)
        self.periods = tuple(periods_in(asked_operation.remaining_text))
        self.language = read_language(question)
        units = frozenset(keys(languages()[self.language].clock, analysis))
        plain = [len(head.split()) == 1 for head in table.heads]  # "Running time" says of what, "Time" does not
        self.asked_heads = [
            head | units if plain[index] and self.has_durations(index) else head
            for index, head in enumerate(self.heads)
        ]

    # words

    def name_keys(self, text: str) -> frozenset[str]:
        """The keys of a header or title, whose words may be joined: `UrbanPop`, `Cars93`, `body_mass_g`."""
        split_text = " ".join(part for part in WORD_PARTS.split(text) if part)
        return frozenset((*keys(split_text, self.topic_question.analysis), *keys(text, self.topic_question.analysis)))

    def matching_keys(self, wanted_keys: Iterable[str], other_keys: frozenset[str]) -> frozenset[str]:
        """The keys of `wanted_keys` in `other_keys`: equal, near, or abbreviated."""
        unique_keys = frozenset(wanted_keys)
        nearby = near_keys(unique_keys, other_keys)
        short_keys = [key for key in other_keys if len(key) >= MIN_HEADER_LETTERS and key.isalpha()]
        short = {key for key in unique_keys for start in short_keys if len(key) > len(start) and key.startswith(start)}
        return (unique_keys & other_keys) | frozenset(nearby) | short

    def function_words(self) -> Iterator[str]:
        """The words of the question that have no topic in any document."""
        return (
            word
            for word in self.asked_operation.remaining_text.strip("?").split()
            if word.casefold() in MORE_STOP_WORDS
        )

    def keys_of(self, texts: Iterable[str]) -> frozenset[str]:
        return frozenset(key for text in texts for key in keys(text, self.topic_question.analysis))

    # rows

    def row_names(self) -> frozenset[str]:
        """The keys of what the rows are called: of a caption or heading of which the question has every word; if there
        is neither, of the title, as in a file that is nothing but a table.
        """
        above = [name for name in (self.table.caption, *self.table.heading) if name]
        named = [self.name_keys(_NUMBERED.sub("", name)) - self.stop for name in above]
        whole = (name for name in named if self.matching_keys(name, frozenset(self.topic_keys)) == name)
        return self.name_keys(self.kind if above else f"{self.table.title} {self.kind}").union(*whole)

    def values(self) -> list[NamedValue] | None:
        """The cell values in the question, longest first; none shares a word with another.

        None if one stands in several columns of which the question means none: "what did A pay B?".
        """
        candidates: dict[frozenset[int], dict[int, list[str]]] = {}
        grams = _grams(self.question_keys)
        numbers = frozenset(_DIGITS.findall(self.asked_operation.remaining_text))
        times = self._asked_times(numbers)
        for column in range(len(self.table.heads)):
            for text in self._likely_texts(column, times):
                for positions in self._places(text, column, grams, numbers, times):
                    candidates.setdefault(positions, {}).setdefault(column, []).append(text)
        chosen: list[NamedValue] = []
        ranks = {
            positions: min((self._rank(column, positions), column) for column in candidates[positions])
            for positions in candidates
        }
        for positions, (rank, column) in sorted(ranks.items(), key=lambda item: item[1]):
            if all(positions.isdisjoint(chosen_value.positions) for chosen_value in chosen):
                texts = candidates[positions][column]
                alike = [
                    index
                    for index in candidates[positions]
                    if self._rank(index, positions) == rank and candidates[positions][index] == texts
                ]
                free = [index for index in alike if all(index != chosen_value.column for chosen_value in chosen)] or [
                    column
                ]
                if len(free) > 1:
                    return None
                chosen.append(NamedValue(free[0], tuple(texts), positions))
        return chosen

    def are_listed(self, values: Sequence[NamedValue]) -> bool:
        """True if all values of one column are alternatives: beside one another, or with "and" or "or" between them."""
        joining = self.keys_of(languages()[self.language].joining.split(", "))
        by_place = sorted(values, key=lambda value: (value.column, min(value.positions)))
        gaps = (
            self.question_keys[max(first.positions) + 1 : min(second.positions)]
            for first, second in pairwise(by_place)
            if first.column == second.column
        )
        return all(not gap or not joining.isdisjoint(gap) for gap in gaps)

    def _asked_times(self, numbers: Iterable[str]) -> AskedTimes:
        """The years in a question, and the months that stand alone in it: "in March"."""
        years = frozenset(
            int(number_text) for number_text in numbers if number_text.isdigit() and len(number_text) == 4
        )
        within_pattern = phrase_pattern(self.language, "within").pattern
        matches = re.finditer(
            rf"(?<!\w)(?:{within_pattern})\s+([^\W\d_]+)\b", self.asked_operation.remaining_text, re.IGNORECASE
        )
        months = {match[1]: MONTHS.get(match[1].casefold(), 0) for match in matches if match[1][:1].isupper()}
        numbers_by_keys = {
            keys(word, self.topic_question.analysis): number for word, number in months.items() if number
        }
        return AskedTimes(
            years,
            {
                self.question_keys.index(key[0]): number
                for key, number in numbers_by_keys.items()
                if key[0] in self.question_keys
            },
        )

    def _likely_texts(self, column: int, times: AskedTimes) -> Iterator[str]:
        """The different texts of a column that begin like something in the question; all days, if it names a time."""
        is_day = (times.years or times.months) and self.has_dates(column)
        if is_day or (self.periods and self.has_periods(column)):
            yield from dict.fromkeys(self.table.column(column))
            return
        for beginning, texts in _beginnings(self.table.column(column)).items():
            if beginning in self.folded_text:
                yield from texts

    def _rank(self, column: int, positions: frozenset[int]) -> tuple[bool, int, bool]:
        """How well a column fits a value: the word before it is its header's ("to A"), or any other word is."""
        before = [key for key in self.question_keys[: min(positions)] if key not in ARTICLES][-1:]
        is_named = bool(self.matching_keys(self.topic_keys, self.heads[column]))
        return (self.heads[column].isdisjoint(before), -len(positions), not is_named)

    def _places(
        self,
        text: str,
        column: int,
        grams: dict[tuple[str, ...], frozenset[int]],
        numbers: frozenset[str],
        times: AskedTimes,
    ) -> Iterator[frozenset[int]]:
        """The places of a cell's value in the question."""
        if is_missing(text) or len(text) > MAX_CELL_CHARS:
            return
        date = parse_date(text) if (times.years or times.months) and not text.isdigit() else None
        if date is not None and (time_positions := times.places(date, grams)):
            yield time_positions
            return
        if self.periods and (period := self._period(text, column)) is not None:
            yield from self._period_places(period, grams)
            return
        if read_figure(text) is not None and text not in numbers:
            return
        if text in numbers and not self._can_select_rows(column):
            return
        positions = grams.get(keys(text, self.topic_question.analysis)) or self._turned_places(text, grams)
        if positions and not all(self.question_keys[position] in self.stop for position in positions):
            yield positions

    def _turned_places(self, text: str, grams: dict[tuple[str, ...], frozenset[int]]) -> frozenset[int]:
        """The places of a value with a word for its kind behind: "Rain gauge, heated" for a "heated rain gauge"."""
        parts = [part for part in map(str.strip, _KIND_MARK.split(text)) if part]
        if len(parts) < 2:
            return frozenset()
        places = [grams.get(keys(part, self.topic_question.analysis), frozenset[int]()) for part in parts]
        together = frozenset[int]().union(*places)
        return together if all(places) and max(together) - min(together) + 1 == len(together) else frozenset()

    def _period(self, text: str, column: int) -> Period | None:
        """The week, quarter or the like that a cell is, perhaps with its header: "20" below "Week"."""
        return read_period(text) or read_period(f"{self.table.heads[column]} {text}")

    def _period_places(self, period: Period, grams: dict[tuple[str, ...], frozenset[int]]) -> Iterator[frozenset[int]]:
        """The places of what the question says of a period, if it may be the same."""
        for asked in self.periods:
            if asked.may_equal(period) and (positions := grams.get((asked.code,))):
                yield positions | (grams.get((str(period.year),), frozenset()) if asked.year else frozenset())

    def _can_select_rows(self, column: int) -> bool:
        """True if a column of figures may select rows: its header is asked for, or it has years or row numbers."""
        if self.matching_keys(self.topic_keys, self.heads[column]):
            return True
        cells = [text for text in self.table.column(column) if text]
        return all(len(text) == 4 and text.isdigit() for text in cells) or (
            column == 0 and len(set(cells)) == len(cells)
        )

    # columns

    def has_figures(self, column: int) -> bool:
        return figures_of(self.table, column) is not None

    def has_durations(self, column: int) -> bool:
        return all_readable(self.table.column(column), parse_duration)

    def has_periods(self, column: int) -> bool:
        """True if a column holds weeks, quarters or the like."""
        return all_readable(self.table.column(column), lambda text: self._period(text, column))

    def has_dates(self, column: int) -> bool:
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
    texts_by_beginning: dict[str, dict[str, None]] = {}
    for text in column:
        texts_by_beginning.setdefault(_fold(text.lstrip()[: 2 * ABBREVIATION_LETTERS])[:ABBREVIATION_LETTERS], {})[
            text
        ] = None
    return {beginning: tuple(texts) for beginning, texts in texts_by_beginning.items() if beginning}


def _grams(question_keys: Sequence[str]) -> dict[tuple[str, ...], frozenset[int]]:
    """Every run of a question's keys, and its places."""
    grams: dict[tuple[str, ...], frozenset[int]] = {}
    for size in range(1, min(len(question_keys), MAX_VALUE_KEYS) + 1):
        for start in range(len(question_keys) - size + 1):
            grams.setdefault(tuple(question_keys[start : start + size]), frozenset(range(start, start + size)))
    return grams
