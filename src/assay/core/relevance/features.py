"""The features of a statement for a question: numbers between about -1 and 2, to be weighted.

Rarity is the inverse document frequency (Spärck Jones 1972) over the statements found; a name has a feature of its own.
A statement's label counts as its text. What it does not say may be in the statement before or after it, in its heading,
in its title, or elsewhere in its document: each is a separate feature.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from assay.core.lazy import regex
from assay.core.lexicon import clauses
from assay.core.messages import Rarity
from assay.core.relevance.numbered_things import NumberedThings
from assay.core.relevance.relevance_constants import (
    DENSE_FACTOR,
    DENSE_KEYS,
    FEWEST_COUNTED,
    FEWEST_NAMING,
    FRESH_KEYS,
    LIGHT_WEIGHT,
    LONG_KEYS,
    MASS_SCALE,
    NEAR_VALUE,
    SHORT_KEYS,
    YEAR_AS_BOUND,
)
from assay.core.relevance.signs import (
    REASON,
    has_measure,
    has_name,
    has_number,
    stated_times,
    verb_keys,
)
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

_YEAR = regex(r"(?<!\d)1\d{3}(?!\d)|(?<!\d)20\d{2}(?!\d)|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_A_YEAR = regex(r"(?<![\d.,])(?:1\d{3}|20\d{2})(?![\d]|[.,]\d)")
_FIGURE = regex(r"(?<![\w.])v?(\d+(?:[.,:]\d+)*)(?![\w]|\.\d)")
_MARKS = ".,;:()?!¿¡“”„«»\"'؟،؛।"


class Features:
    """The vectors of `statements` for a question.

    `rarity` is that of all passages in scope; without it the statements themselves are counted.
    """

    def __init__(
        self, question: TopicQuestion, statements: Sequence[QuotableStatement], rarity: Rarity | None = None
    ) -> None:
        self.question, self.statements = question, statements
        self._asked = tuple(dict.fromkeys(question.keys))
        analysis = question.analysis
        self._keys = [(*keys(each.label, analysis), *keys(each.text, analysis)) for each in statements]
        self._sets = [frozenset(found) for found in self._keys]
        self._around = {text: frozenset(keys(text, analysis)) for each in statements for text in _context(each)}
        vocabulary = frozenset().union(*self._sets, *self._around.values())
        self._near = near_keys(self._asked, vocabulary)
        self.weights = self._rarity(rarity)
        self._total = sum(self.weights.values()) or 1.0
        words = (key for key in self._asked if not is_unspaced(key))
        self._negations = [key for key in words if any(no for _, no in clauses(key, question.negating))]
        self.numbered = NumberedThings(question, statements)
        self._held = [self._match_keys(found) | self._other_forms(at) for at, found in enumerate(self._sets)]
        self._sources = self._by_source()
        self._own = [self._weight_share(held) for held in self._held]
        self._best = max(self._own, default=0.0) or 1.0
        self._best_source = max((self._weight_share(held) for held in self._sources.values()), default=0.0)
        self._pairs = frozenset(pairwise(question.keys))
        titles = {each.source: each.title for each in statements}
        titled = Counter(key for title in titles.values() for key in self.matches_in(title))
        self.subjects = frozenset(key for key, count in titled.items() if count == 1 < len(titles))
        """The keys of the question that the title of just one of several documents has."""
        self._scope = rarity.holding if rarity is not None else {}
        self._passages = rarity.passages if rarity is not None else 0

    def vectors(self) -> list[Vector]:
        """A vector for each statement."""
        return [self.vector(at) for at in range(len(self.statements))]

    def matches(self, at: int) -> Mapping[str, float]:
        """The keys of the question in a statement, and how well each matches."""
        return self._held[at]

    def matches_around(self, at: int) -> dict[str, float]:
        """Those in it, its neighbours, its heading and its title together."""
        around = map(self.matches_in, _context(self.statements[at]))
        return _merge_matches((self._held[at], self._neighbour_features(at), *around))

    def absent_share(self) -> float:
        """The share of the question's weight that is in rare keys which nothing found has."""
        return 1.0 - sum(self.weights[key] for key in set[str]().union(*self._sources.values())) / self._total

    def document_features(self, at: int) -> tuple[float, float, float, float, float]:
        """The features of a statement's document: weight and number of keys, how much more than others, whether
        it has the rarest key of all; and the number of keys in the statement itself.
        """
        held = self._sources[self.statements[at].source]
        others = sorted(self._weight_share(each) for source, each in self._sources.items() if each is not held)
        usual = others[len(others) // 2] if others else 0.0
        rarest = max(self._asked, key=lambda key: self.weights[key])
        return (
            sum(self.weights[key] * value for key, value in held.items()) / MASS_SCALE,
            sum(held.values()) / MASS_SCALE,
            self._weight_share(held) - usual,
            held.get(rarest, 0.0),
            sum(self._held[at].values()) / MASS_SCALE,
        )

    def matches_in(self, text: str) -> dict[str, float]:
        """Those in a heading or title of one of the statements."""
        return self._match_keys(self._around[text])

    def names_share(self, at: int) -> float:
        """The share of the question's names in the document of a statement; 1 if there are none."""
        held = self._sources[self.statements[at].source]
        names = [key for key in self._asked if key in self.question.names]
        return sum(held.get(key, 0.0) for key in names) / len(names) if names else 1.0

    def matched_keys(self) -> frozenset[str]:
        """The keys of the question that any document has, in its text, title or address."""
        addresses = frozenset(each.address for each in self.statements if each.address)
        addressed = frozenset(key for each in addresses for key in keys(each, self.question.analysis))
        counted = frozenset(key for key in self._asked if self._scope.get(key))
        return counted.union(self._match_keys(addressed), *self._sources.values())

    def is_nowhere(self, key: str) -> bool:
        """True if a key was counted in the whole scope, which is not small, and no passage has it."""
        return self._passages >= FEWEST_NAMING and self._scope.get(key) == 0

    # matching keys

    def _match_keys(self, found: frozenset[str]) -> dict[str, float]:
        """How well each key of the question matches `found`, without keys that do not match at all."""
        held = {}
        for key in self._asked:
            if key in found:
                held[key] = 1.0
            elif key in self._near and not self._near[key].isdisjoint(found):
                held[key] = NEAR_VALUE
        return held

    def _other_forms(self, at: int) -> dict[str, float]:
        """The question's keys that a statement has in another form: a year within a time, a verb, a negation."""
        text = self.statements[at].text
        negations = self._negations if self._negations and self.denial_match(at) > 0 else ()
        told = verb_keys(self.question, text).intersection(self.question.keys) | self.numbered.stated_keys(at)
        meant = self.numbered.subject_keys(at) - self._sets[at]
        found = dict.fromkeys((*negations, *meant), NEAR_VALUE) | dict.fromkeys(told, 1.0)
        return found | self._years_within(at)

    def _years_within(self, at: int) -> dict[str, float]:
        """The question's years that are in a time which a statement bounds: "from 2013 until 2015"."""
        years = [key for key in self._asked if _A_YEAR.fullmatch(key) and key not in self._sets[at]]
        times = stated_times(self.statements[at].text) if years else []
        return {key: 1.0 for key in years if any(first <= int(key) <= last for first, last in times)}

    def _rarity(self, scope: Rarity | None) -> dict[str, float]:
        held = Counter(key for found in self._sets for key in self._match_keys(found))
        size = max(len(self.statements), FEWEST_COUNTED)
        found = {key: _inverse_frequency(size, held[key]) for key in self._asked}
        if scope is not None and scope.passages > len(self.statements):
            size = max(scope.passages, FEWEST_COUNTED)
            counted = (key for key in self._asked if key in scope.holding)
            found |= {key: _inverse_frequency(size, min(size, scope.holding[key])) for key in counted}
        return {key: weight * (LIGHT_WEIGHT if key in self.question.light else 1.0) for key, weight in found.items()}

    def _by_source(self) -> dict[int, dict[str, float]]:
        found: dict[int, dict[str, float]] = defaultdict(dict)
        for at, each in enumerate(self.statements):
            found[each.source] = _merge_matches(
                (found[each.source], self._held[at], *map(self.matches_in, _context(each)))
            )
        return found

    def _weight_share(self, held: Mapping[str, float]) -> float:
        return sum(self.weights[key] * value for key, value in held.items()) / self._total

    def _extra_share(self, held: Mapping[str, float], than: Mapping[str, float]) -> float:
        """The part of `held` beyond `than`."""
        return sum(self.weights[k] * max(0.0, v - than.get(k, 0.0)) for k, v in held.items()) / self._total

    # one vector

    def vector(self, at: int) -> Vector:
        """The features of a statement, in the order of `FEATURE_NAMES`."""
        each, own = self.statements[at], self._held[at]
        heading, title = map(self.matches_in, _context(each))
        beside = self._neighbour_features(at)
        rarest = max(self._asked, key=lambda key: self.weights[key] if key in self._sources[each.source] else -1.0)
        named = [key for key in self._asked if key in self.question.names]
        size = len(self._keys[at])
        fresh = self._without_question_words(at)
        return (
            self._own[at],
            own.get(rarest, 0.0),
            sum(own.get(key, 0.0) for key in named) / len(named) if named else self._own[at],
            self._extra_share(beside, own),
            self._extra_share(heading, own),
            self._extra_share(title, own),
            self._extra_share(self._sources[each.source], own),
            sum(1 for value in own.values() if value < 1.0) / len(self._asked),
            self._adjacent_pairs_share(at),
            self._closeness(at, own),
            min(1.0, sum(own.values()) / max(DENSE_KEYS, size) * DENSE_FACTOR),
            *self._kind_matches(at, fresh),
            max(0.0, 1.0 - size / SHORT_KEYS),
            max(0.0, min(1.0, size / LONG_KEYS - 1.0)),
            float(each.kind == "row"),
            float(each.place == 0),
            1.0 / (1.0 + each.source),
            float(each.source == 0),
            min(1.0, len(self._sets[at] - set(self._asked)) / FRESH_KEYS),
            self._own[at] / self._best,
            self._weight_share(self._sources[each.source]) / (self._best_source or 1.0),
            self._opening_share(at),
            self.number_match(at),
            self.topic_share(own),
            self.measure_match(at),
        )

    def _neighbour_features(self, at: int) -> dict[str, float]:
        """The features of the statements directly before and after."""
        return _merge_matches(self._held[other] for other in self._neighbours(at))

    def _adjacent_pairs_share(self, at: int) -> float:
        """The share of the question's pairs of words that are adjacent here too."""
        return len(self._pairs & set(pairwise(self._keys[at]))) / len(self._pairs) if self._pairs else 0.0

    def _closeness(self, at: int, own: Mapping[str, float]) -> float:
        """How close together the matching keys are: their number relative to the length they span."""
        places = [place for place, key in enumerate(self._keys[at]) if key in own]
        different = {self._keys[at][place] for place in places}
        return len(different) / (places[-1] - places[0] + 1) if len(places) > 1 else 0.0

    def _opening_share(self, at: int) -> float:
        """How many of the question's keys are at the very beginning: what is defined is named first."""
        asked = set(self._asked)
        return len(asked.intersection(self._keys[at][: len(asked) + 1])) / len(asked)

    def number_match(self, at: int) -> float:
        """1 if the question's numbers are there as whole numbers: "3.1" is not "3.12"; 0 if the question has none.

        -1 says that the number of another version, or another year, is in their place. They may also be in the
        statement's context.
        """
        asked = frozenset(_FIGURE.findall(self.question.text))
        if not asked:
            return 0.0
        each = self.statements[at]
        known = frozenset(_FIGURE.findall(each.text))
        around = known.union(*(_FIGURE.findall(text) for text in (each.label, *_context(each))))
        if asked & known or self._years_within(at):
            return 1.0
        if any("." in one and "." in other for one in asked for other in known):
            return -1.0
        if asked & around:
            return 0.5
        return -1.0 if self._of_another_year(at, asked) else -0.5

    def _of_another_year(self, at: int, asked: frozenset[str]) -> bool:
        """True if a statement names years, but neither it nor its neighbours one that the question names.

        A year between two stated ones counts as named. If the question asks for a date, or names the bounds of a time,
        another year may be it.
        """
        wanted = [int(figure) for figure in asked if _A_YEAR.fullmatch(figure)]
        open_ended = self.question.wanted == "date" or YEAR_AS_BOUND.search(self.question.text)
        stated = frozenset() if open_ended or not wanted else _years(self.statements[at].text)
        near = stated.union(*(_years(self.statements[other].text) for other in self._neighbours(at)))
        return bool(stated) and not any(min(near) <= year <= max(near) for year in wanted)

    def _neighbours(self, at: int) -> list[int]:
        """The statements directly before and after, in the same document."""
        here = self.statements[at]
        found = [other for other in (at - 1, at + 1) if 0 <= other < len(self.statements)]
        beside = ((other, self.statements[other]) for other in found)
        return [at for at, there in beside if there.source == here.source and abs(there.place - here.place) <= 1]

    def measure_match(self, at: int) -> float:
        """1 if a statement, or its label, has the measure asked for, -1 if not; 0 if none is asked for."""
        measure, each = self.question.measure, self.statements[at]
        return _sign(has_measure(measure, f"{each.label} {each.text}")) if measure else 0.0

    def has_measured_subject(self, places: Sequence[int]) -> bool:
        """True if one of these statements that tell the measure asked for is, with its context, about something that
        the question has beside the words for it: "later cancellations cost 35 pounds" says nothing of a crown.
        """
        about = frozenset(self._asked) - self.question.light
        told = [at for at in places if self.measure_match(at) > 0]
        return not told or not about or any(about & self.matches_around(at).keys() for at in told)

    def denial_match(self, at: int) -> float:
        """1 if a statement denies what the question denies, -1 if it only affirms it; else 0 (`denial`)."""
        return denial_score(self.question, self.statements[at], self._near) if self.question.denied else 0.0

    def topic_share(self, held: Mapping[str, float]) -> float:
        """The share of the matching keys that are not names: what is asked about the named thing."""
        rest = [key for key in self._asked if key not in self.question.names | self.question.light]
        return sum(held.get(key, 0.0) for key in rest) / len(rest) if rest else 1.0

    def _without_question_words(self, at: int) -> str:
        """The statement without the words of the question."""
        asked = {word.strip(_MARKS) for word in self.question.text.casefold().split()}
        return " ".join(word for word in self.statements[at].text.split() if word.casefold().strip(_MARKS) not in asked)

    def _kind_matches(self, at: int, fresh: str) -> tuple[float, float, float, float, float]:
        """For each kind: 1 if the thing asked for is there, -1 if not; 0 if another kind is asked for.

        The number that says how often may be a word: "daily".
        """
        wanted = self.question.wanted
        often = self.question.measure == "frequency"
        number = has_measure("frequency", fresh) if often else has_number(fresh, self.question.language)
        return (
            _sign(number) if wanted == "number" else 0.0,
            _sign(bool(_YEAR.search(fresh)) or (number and 0.3)) if wanted == "date" else 0.0,
            _sign(has_name(fresh)) if wanted == "name" else 0.0,
            float(bool(REASON.search(fresh))) if wanted == "reason" else 0.0,
            float(not number) if wanted == "number" else 0.0,
        )


def _years(text: str) -> frozenset[int]:
    return frozenset(int(match[0]) for match in _A_YEAR.finditer(text))


def _inverse_frequency(size: int, held: int) -> float:
    """The inverse frequency of a key in `held` of `size` statements."""
    return math.log(1 + (size - held + 0.5) / (held + 0.5))


def _sign(value: float | bool) -> float:
    return 2.0 * float(value) - 1.0


def _context(each: QuotableStatement) -> tuple[str, str]:
    return each.heading, each.title


def _merge_matches(several: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for held in several:
        for key, value in held.items():
            found[key] = max(value, found.get(key, 0.0))
    return found
