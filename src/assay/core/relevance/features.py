"""The features of a statement for a question: numbers between about -1 and 2, to be weighted.

Rarity is the inverse document frequency (Spärck Jones 1972) over the statements found; a name has a feature of its own.
A statement's label and its speaker count as its text. What it does not say may be in the statement before or after it,
in its heading, in its title, or elsewhere in its document: each is a separate feature.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from assay.core.lazy import regex
from assay.core.lexicon import clauses
from assay.core.messages import Rarity
from assay.core.relevance.former_states import with_former_states
from assay.core.relevance.numbered_things import NumberedThings, is_under_another
from assay.core.relevance.relevance_constants import (
    DENSE_FACTOR,
    DENSE_KEYS,
    FRESH_KEYS,
    LIGHT_WEIGHT,
    LONG_KEYS,
    MASS_SCALE,
    MIN_NAMING_STATEMENTS,
    MIN_RARITY_STATEMENTS,
    NEAR_VALUE,
    SHORT_KEYS,
    YEAR_AS_BOUND,
)
from assay.core.relevance.signs import as_sign, has_measure, kind_features, stated_times, verb_keys
from assay.core.relevance.topic_question import (
    QuotableStatement,
    TopicQuestion,
    denial_score,
    is_unspaced,
    keys,
    near_keys,
)

FEATURE_NAMES = (
    "own", "rarest", "names", "neighbour", "heading", "title", "document", "near", "pairs", "close", "density",
    "number", "date", "name", "reason", "unnumbered", "short", "long", "row", "first", "rank", "leading",
    "fresh", "relative", "source", "opens", "figures", "rest",
    "measure",
)  # fmt: skip
"""The features, in the order of a vector."""
Vector = tuple[float, ...]

_A_YEAR = regex(r"(?<![\d.,])(?:1\d{3}|20\d{2})(?![\d]|[.,]\d)")
_FIGURE = regex(r"(?<![\w.])v?(\d+(?:[.,:]\d+)*)(?![\w]|\.\d)")
_AMOUNT = regex(r"(?<=\s)\d+(?:[.,'’]\d+)*(?=[\s.,;]*(?:\s|$))")
"""A number within a sentence."""
_MARKS = ".,;:()?!¿¡“”„«»\"'؟،؛।"


class Features:
    """The vectors of `statements` for a question.

    `rarity` is that of all passages in scope; without it the statements themselves are counted.
    """

    def __init__(
        self, question: TopicQuestion, statements: Sequence[QuotableStatement], rarity: Rarity | None = None
    ) -> None:
        self.question, self.statements = question, statements
        self._question_keys = tuple(dict.fromkeys(question.keys))
        analysis = question.analysis
        stated = (f"{statement.label} {statement.speaker} {statement.text}" for statement in statements)
        self._keys = [keys(text, analysis) for text in stated]
        self._sets = [frozenset(statement_keys) for statement_keys in self._keys]
        self._context_keys = {
            text: frozenset(keys(text, analysis)) for statement in statements for text in _context(statement)
        }
        vocabulary = frozenset().union(*self._sets, *self._context_keys.values())
        self._near_keys = near_keys(self._question_keys, vocabulary)
        self.weights = self._rarity(rarity)
        self._total = sum(self.weights.values()) or 1.0
        words = (key for key in self._question_keys if not is_unspaced(key))
        self._negations = [key for key in words if any(no for _, no in clauses(key, question.negation_language))]
        self.numbered_things = NumberedThings(question, statements)
        matches = [self._match_keys(own_keys) | self._other_forms(index) for index, own_keys in enumerate(self._sets)]
        self._matches = with_former_states(question, statements, matches)
        self._sources = self._by_source()
        self._own_shares = [self._weight_share(matches) for matches in self._matches]
        self._best = max(self._own_shares, default=0.0) or 1.0
        self._best_source = max((self._weight_share(matches) for matches in self._sources.values()), default=0.0)
        self._pairs = frozenset(pairwise(question.keys))
        titles = {statement.source: statement.title for statement in statements}
        title_counts = Counter(key for title in titles.values() for key in self.matches_in(title))
        self.subjects = frozenset(key for key, count in title_counts.items() if count == 1 < len(titles))
        """The keys of the question that the title of just one of several documents has."""
        self._scope = rarity.holding if rarity is not None else {}
        self._passages = rarity.passages if rarity is not None else 0

    def vectors(self) -> list[Vector]:
        """A vector for each statement."""
        return [self.vector(index) for index in range(len(self.statements))]

    def matches(self, index: int) -> Mapping[str, float]:
        """The keys of the question in a statement, and how well each matches."""
        return self._matches[index]

    def matches_around(self, index: int) -> dict[str, float]:
        """Those in it, its neighbours, its heading and its title together."""
        context_matches = map(self.matches_in, _context(self.statements[index]))
        return _merge_matches((self._matches[index], self._neighbour_features(index), *context_matches))

    def word_share(self, indices: Sequence[int]) -> float:
        """The share of the question's words in these statements and their headings, whatever they weigh."""
        headings = (self.matches_in(self.statements[index].heading) for index in indices)
        matches = _merge_matches((*(self._matches[index] for index in indices), *headings))
        return sum(matches.values()) / len(self._question_keys)

    def absent_share(self) -> float:
        """The share of the question's weight that is in rare keys which nothing found has."""
        return 1.0 - sum(self.weights[key] for key in set[str]().union(*self._sources.values())) / self._total

    def document_features(self, index: int) -> tuple[float, float, float, float, float]:
        """The features of a statement's document: weight and number of keys, how much more than others, whether
        it has the rarest key of all; and the number of keys in the statement itself.
        """
        matches = self._sources[self.statements[index].source]
        other_shares = sorted(
            self._weight_share(other_matches)
            for source, other_matches in self._sources.items()
            if other_matches is not matches
        )
        usual = other_shares[len(other_shares) // 2] if other_shares else 0.0
        rarest = max(self._question_keys, key=lambda key: self.weights[key])
        return (
            sum(self.weights[key] * value for key, value in matches.items()) / MASS_SCALE,
            sum(matches.values()) / MASS_SCALE,
            self._weight_share(matches) - usual,
            matches.get(rarest, 0.0),
            sum(self._matches[index].values()) / MASS_SCALE,
        )

    def matches_in(self, text: str) -> dict[str, float]:
        """Those in a heading or title of one of the statements."""
        return self._match_keys(self._context_keys[text])

    def names_share(self, index: int) -> float:
        """The share of the question's names in the document of a statement; 1 if there are none."""
        matches = self._sources[self.statements[index].source]
        names = [key for key in self._question_keys if key in self.question.names]
        return sum(matches.get(key, 0.0) for key in names) / len(names) if names else 1.0

    def matched_keys(self) -> frozenset[str]:
        """The keys of the question that any document has, in its text, title or address."""
        addresses = frozenset(statement.address for statement in self.statements if statement.address)
        address_keys = frozenset(key for address in addresses for key in keys(address, self.question.analysis))
        scope_keys = frozenset(key for key in self._question_keys if self._scope.get(key))
        return scope_keys.union(self._match_keys(address_keys), *self._sources.values())

    def is_nowhere(self, key: str) -> bool:
        """True if a key was counted in the whole scope, which is not small, and no passage has it."""
        return self._passages >= MIN_NAMING_STATEMENTS and self._scope.get(key) == 0

    # matching keys

    def _match_keys(self, statement_keys: frozenset[str]) -> dict[str, float]:
        """How well each key of the question matches `statement_keys`, without keys that do not match at all."""
        matches = {}
        for key in self._question_keys:
            if key in statement_keys:
                matches[key] = 1.0
            elif key in self._near_keys and not self._near_keys[key].isdisjoint(statement_keys):
                matches[key] = NEAR_VALUE
        return matches

    def _other_forms(self, index: int) -> dict[str, float]:
        """The question's keys that a statement has in another form: a year within a time, a verb, a negation."""
        text = self.statements[index].text
        negations = self._negations if self._negations and self.denial_match(index) > 0 else ()
        stated = self.numbered_things.stated_keys(index)
        implied = self.numbered_things.subject_keys(index) - self._sets[index]
        near = dict.fromkeys((*negations, *implied), NEAR_VALUE) | verb_keys(self.question, text)
        return near | dict.fromkeys(stated, 1.0) | self._years_within(index)

    def _years_within(self, index: int) -> dict[str, float]:
        """The question's years that are in a time which a statement bounds: "from 2013 until 2015"."""
        years = [key for key in self._question_keys if _A_YEAR.fullmatch(key) and key not in self._sets[index]]
        times = stated_times(self.statements[index].text) if years else []
        return {key: 1.0 for key in years if any(first <= int(key) <= last for first, last in times)}

    def _rarity(self, scope: Rarity | None) -> dict[str, float]:
        counts = Counter(key for statement_keys in self._sets for key in self._match_keys(statement_keys))
        size = max(len(self.statements), MIN_RARITY_STATEMENTS)
        weights = {key: _inverse_frequency(size, counts[key]) for key in self._question_keys}
        if scope is not None and scope.passages > len(self.statements):
            size = max(scope.passages, MIN_RARITY_STATEMENTS)
            scope_keys = (key for key in self._question_keys if key in scope.holding)
            weights |= {key: _inverse_frequency(size, min(size, scope.holding[key])) for key in scope_keys}
        return {key: weight * (LIGHT_WEIGHT if key in self.question.light else 1.0) for key, weight in weights.items()}

    def _by_source(self) -> dict[int, dict[str, float]]:
        by_source: dict[int, dict[str, float]] = defaultdict(dict)
        for index, statement in enumerate(self.statements):
            by_source[statement.source] = _merge_matches(
                (by_source[statement.source], self._matches[index], *map(self.matches_in, _context(statement)))
            )
        return by_source

    def _weight_share(self, matches: Mapping[str, float]) -> float:
        return sum(self.weights[key] * value for key, value in matches.items()) / self._total

    def _extra_share(self, matches: Mapping[str, float], baseline: Mapping[str, float]) -> float:
        """The part of `matches` beyond `baseline`."""
        return sum(self.weights[k] * max(0.0, v - baseline.get(k, 0.0)) for k, v in matches.items()) / self._total

    # one vector

    def vector(self, index: int) -> Vector:
        """The features of a statement, in the order of `FEATURE_NAMES`."""
        statement, matches = self.statements[index], self._matches[index]
        heading, title = map(self.matches_in, _context(statement))
        neighbour_matches = self._neighbour_features(index)
        rarest = max(
            self._question_keys, key=lambda key: self.weights[key] if key in self._sources[statement.source] else -1.0
        )
        names = [key for key in self._question_keys if key in self.question.names]
        size = len(self._keys[index])
        fresh = self._without_question_words(index)
        return (
            self._own_shares[index],
            matches.get(rarest, 0.0),
            sum(matches.get(key, 0.0) for key in names) / len(names) if names else self._own_shares[index],
            self._extra_share(neighbour_matches, matches),
            self._extra_share(heading, matches),
            self._extra_share(title, matches),
            self._extra_share(self._sources[statement.source], matches),
            sum(1 for value in matches.values() if value < 1.0) / len(self._question_keys),
            self._adjacent_pairs_share(index),
            self._closeness(index, matches),
            min(1.0, sum(matches.values()) / max(DENSE_KEYS, size) * DENSE_FACTOR),
            *kind_features(self.question, fresh),
            max(0.0, 1.0 - size / SHORT_KEYS),
            max(0.0, min(1.0, size / LONG_KEYS - 1.0)),
            float(statement.kind == "row"),
            float(statement.position == 0),
            1.0 / (1.0 + statement.source),
            float(statement.source == 0),
            min(1.0, len(self._sets[index] - set(self._question_keys)) / FRESH_KEYS),
            self._own_shares[index] / self._best,
            self._weight_share(self._sources[statement.source]) / (self._best_source or 1.0),
            self._opening_share(index),
            self.number_match(index),
            self.topic_share(matches),
            self.measure_match(index),
        )

    def _neighbour_features(self, index: int) -> dict[str, float]:
        """The features of the statements directly before and after."""
        return _merge_matches(self._matches[neighbour] for neighbour in self._neighbours(index))

    def _adjacent_pairs_share(self, index: int) -> float:
        """The share of the question's pairs of words that are adjacent here too."""
        return len(self._pairs & set(pairwise(self._keys[index]))) / len(self._pairs) if self._pairs else 0.0

    def _closeness(self, index: int, matches: Mapping[str, float]) -> float:
        """How close together the matching keys are: their number relative to the length they span."""
        positions = [position for position, key in enumerate(self._keys[index]) if key in matches]
        different = {self._keys[index][position] for position in positions}
        return len(different) / (positions[-1] - positions[0] + 1) if len(positions) > 1 else 0.0

    def _opening_share(self, index: int) -> float:
        """How many of the question's keys are at the very beginning: what is defined is named first."""
        question_keys = set(self._question_keys)
        return len(question_keys.intersection(self._keys[index][: len(question_keys) + 1])) / len(question_keys)

    def number_match(self, index: int) -> float:
        """1 if the question's numbers are there as whole numbers: "3.1" is not "3.12"; 0 if the question has none.

        -1 says that the number of another version, or another year, is in their place. They may also be in the
        statement's context.
        """
        question_figures = frozenset(_FIGURE.findall(self.question.text))
        if not question_figures:
            return 0.0
        statement = self.statements[index]
        figures = frozenset(_FIGURE.findall(statement.text))
        context_figures = figures.union(*(_FIGURE.findall(text) for text in (statement.label, *_context(statement))))
        if question_figures & figures or self._years_within(index):
            return 1.0
        if any("." in question_figure and "." in figure for question_figure in question_figures for figure in figures):
            return -1.0
        if is_under_another(self.question.text, statement.heading):
            return -1.0
        if question_figures & context_figures:
            return 0.5
        return -1.0 if self._of_another_year(index, question_figures) else -0.5

    def _of_another_year(self, index: int, question_figures: frozenset[str]) -> bool:
        """True if a statement names years, but neither it nor its neighbours one that the question names.

        A year between two stated ones counts as named. If the question asks for a date, or names the bounds of a time,
        another year may be it.
        """
        question_years = [int(figure) for figure in question_figures if _A_YEAR.fullmatch(figure)]
        open_ended = self.question.answer_kind == "date" or YEAR_AS_BOUND.search(self.question.text)
        stated_years = frozenset() if open_ended or not question_years else _years(self.statements[index].text)
        nearby_years = stated_years.union(
            *(_years(self.statements[neighbour].text) for neighbour in self._neighbours(index))
        )
        return bool(stated_years) and not any(min(nearby_years) <= year <= max(nearby_years) for year in question_years)

    def _neighbours(self, index: int) -> list[int]:
        """The statements directly before and after, in the same document."""
        statement = self.statements[index]
        indices = [neighbour for neighbour in (index - 1, index + 1) if 0 <= neighbour < len(self.statements)]
        neighbours = ((neighbour, self.statements[neighbour]) for neighbour in indices)
        return [
            index
            for index, neighbour_statement in neighbours
            if neighbour_statement.source == statement.source
            and abs(neighbour_statement.position - statement.position) <= 1
        ]

    def measure_match(self, index: int) -> float:
        """1 if a statement, or its label, has the measure asked for, -1 if not; 0 if none is asked for.

        A number without a unit has that of the sentence before: "They raised 900 euros. Of these 300 went to repairs."
        """
        if not self.question.measure:
            return 0.0
        return as_sign(
            self._states_measure(index) or (self._has_bare_amount(index) and self._states_measure(index - 1))
        )

    def _states_measure(self, index: int) -> bool:
        statement = self.statements[index]
        return has_measure(self.question.measure, f"{statement.label} {statement.text}")

    def _has_bare_amount(self, index: int) -> bool:
        """True if a sentence has an amount that may be in the unit of the sentence before."""
        before, statement = index - 1, self.statements[index]
        is_prose = before in self._neighbours(index) and {statement.kind, self.statements[before].kind} == {"prose"}
        return is_prose and any(not _A_YEAR.fullmatch(amount) for amount in _AMOUNT.findall(statement.text))

    def has_measured_subject(self, indices: Sequence[int]) -> bool:
        """True if one of these statements that tell the measure asked for is, with its context, about something that
        the question has beside the words for it: "later cancellations cost 35 pounds" says nothing of a crown.
        """
        subject_keys = frozenset(self._question_keys) - self.question.light
        stating = [index for index in indices if self.measure_match(index) > 0]
        return (
            not stating
            or not subject_keys
            or any(subject_keys & self.matches_around(index).keys() for index in stating)
        )

    def denial_match(self, index: int) -> float:
        """1 if a statement denies what the question denies, -1 if it only affirms it; else 0 (`denial`)."""
        return (
            denial_score(self.question, self.statements[index], self._near_keys) if self.question.denied_keys else 0.0
        )

    def topic_share(self, matches: Mapping[str, float]) -> float:
        """The share of the matching keys that are not names: what is asked about the named thing."""
        topic_keys = [key for key in self._question_keys if key not in self.question.names | self.question.light]
        return sum(matches.get(key, 0.0) for key in topic_keys) / len(topic_keys) if topic_keys else 1.0

    def _without_question_words(self, index: int) -> str:
        """The statement without the words of the question."""
        question_words = {word.strip(_MARKS) for word in self.question.text.casefold().split()}
        return " ".join(
            word for word in self.statements[index].text.split() if word.casefold().strip(_MARKS) not in question_words
        )


def _years(text: str) -> frozenset[int]:
    return frozenset(int(match[0]) for match in _A_YEAR.finditer(text))


def _inverse_frequency(size: int, count: int) -> float:
    """The inverse frequency of a key in `count` of `size` statements."""
    return math.log(1 + (size - count + 0.5) / (count + 0.5))


def _context(statement: QuotableStatement) -> tuple[str, str]:
    return statement.heading, statement.title


def _merge_matches(all_matches: Iterable[Mapping[str, float]]) -> dict[str, float]:
    merged: dict[str, float] = {}
    for matches in all_matches:
        for key, value in matches.items():
            merged[key] = max(value, merged.get(key, 0.0))
    return merged
