"""A source cited as a whole: which of its passages a statement means.

Used for findings, the check of a run, the check of a text with references, and the section on conflicts.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from assay.core.citations.value_spellings import SpelledValue, contains_phrase, spelled_values
from assay.core.function_words import STOP_WORDS
from assay.core.relevance.topic_question import analysis_for, keys, language_of
from assay.core.sources import Passage, ordinal_of

MAX_PASSAGES = 4
"""The most passages of a source that a statement can mean."""
JUDGED_PASSAGES = MAX_PASSAGES
"""The least passages shown to a judge, who must find in them what a statement says in other words.

They hold the answer to 98 % of the questions below, in German 94 %; those picked for their words alone to 90 and 88 %.
"""
SAMPLE = 5
"""Passages from which the language of a source is detected."""
_WORTH = 0.08
"""Each passage must add at least this share of the statement's weight. Chosen by hand."""
_AGAIN = 0.25
"""The part of its weight that a word counts again in a further passage. Chosen by hand."""
_FUNCTION_WORD = 0.25
"""The part of its weight that a word without a topic counts: in a short source, "also" is as rare as any name.

Of 319 questions in English over twelve articles of XQuAD's training part the first passage holds the answer to 268
instead of 256, with 1.6 passages instead of 2.1; in German, Spanish and Russian to 5 to 7 more.
"""


class TermPlaces:
    """The places of words in texts, which are counted from 0; a word weighs more if fewer texts have it.

    Inverse document frequency (Spärck Jones 1972), over the given texts.
    """

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        """`texts` are the words of each."""
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self.count = 0
        for index, words in enumerate(texts):
            for word in sorted(set(words)):
                self._places[word].append(index)
            self.count = index + 1

    def places(self, word: str) -> Sequence[int]:
        """The texts that contain a word, in order."""
        return self._places.get(word, ())

    def places_of_all(self, words: Iterable[str]) -> list[int]:
        """The texts that contain all of `words`."""
        fewest, *other_places = sorted(map(self.places, words), key=len)
        return [
            index
            for index in fewest
            if all(indices[min(bisect_left(indices, index), len(indices) - 1)] == index for indices in other_places)
        ]

    def set_places(self, word: str, indices: Iterable[int]) -> None:
        """Let `word` stand for the texts at `indices`."""
        self._places[word] = sorted(indices)

    def weight(self, word: str) -> float:
        """The weight of a word: above 0, even if no text has it."""
        return math.log(1 + self.count / (1 + len(self.places(word))))


class WholeSource:
    """A source, or several that one citation names, with the passages that it may mean.

    The order in which passages of a source were shown makes no difference.
    """

    def __init__(self, passages: Iterable[Passage]) -> None:
        by_source: dict[str, list[Passage]] = {}
        for passage in passages:
            by_source.setdefault(passage.source, []).append(passage)
        in_order = (sorted(group, key=lambda item: ordinal_of(item.id)) for group in by_source.values())
        self.passages = [item for group in in_order for item in group]
        sample = "\n".join(passage.text for passage in self.passages[:SAMPLE])
        self._analysis = analysis_for(sample)
        self._function_words = frozenset(keys(STOP_WORDS.get(language_of(sample), ""), self._analysis))
        self._rarity = TermPlaces(map(self._passage_keys, range(len(self.passages))))
        self._values: dict[str, bool] = {}

    def best_passages(self, statement: str, least: int = 0) -> tuple[Passage, ...]:
        """The passages that together have most of the statement's words, best first; none if no word is shared.

        At most `MAX_PASSAGES`; each adds words that those before it lack. Numbers are looked for whatever they weigh: a
        statement fails by one number that its passages lack. A day or an amount counts as one word, in whatever form a
        passage writes it, if any does. With `least`, the next best are added if there are fewer.
        """
        all_weights = {word: self._weight(word) for word in self._key_words(statement)}
        weights, total = all_weights, sum(all_weights.values())
        best_indices: list[int] = []
        while weights and len(best_indices) < MAX_PASSAGES:
            best, gain = self._best_passage(weights, all_weights)
            if gain < _WORTH * total:
                weights = {word: weight for word, weight in weights.items() if any(map(str.isdigit, word))}
                best, _ = self._best_passage(weights, all_weights)
            if best < 0:
                break
            best_indices.append(best)
            weights = {word: weight for word, weight in weights.items() if best not in self._rarity.places(word)}
        if len(best_indices) < least:
            best_indices = list(dict.fromkeys((*best_indices, *self._rank_passages(all_weights))))[:least]
        return tuple(self.passages[index] for index in best_indices)

    def _rank_passages(self, weights: Mapping[str, float]) -> list[int]:
        """The passages with any of these words, by the weight of those they have."""
        totals = self._totals(weights)
        return sorted(totals, key=lambda index: (-round(totals[index], 9), index))

    def _weight(self, word: str) -> float:
        return self._rarity.weight(word) * (_FUNCTION_WORD if word in self._function_words else 1.0)

    def _totals(self, weights: Mapping[str, float]) -> dict[int, float]:
        """For each passage that has any of these words, their weight."""
        totals: dict[int, float] = {}
        for word in sorted(weights):
            for index in self._rarity.places(word):
                totals[index] = totals.get(index, 0.0) + weights[word]
        return totals

    def _key_words(self, statement: str) -> set[str]:
        """The words of a statement, and its days and amounts, each instead of its own words if a passage has it."""
        remaining = statement
        key_words: set[str] = set()
        for value in spelled_values(statement):
            if self._has_value(value):
                key_words.add(value.name)
                remaining = f"{remaining[: value.start]}{' ' * (value.end - value.start)}{remaining[value.end :]}"
        return key_words | set(keys(remaining, self._analysis))

    def _passage_keys(self, index: int) -> tuple[str, ...]:
        return keys(" ".join((*self.passages[index].heading, self.passages[index].text)), self._analysis)

    def _has_value(self, value: SpelledValue) -> bool:
        """True if a passage has a value; then its name stands for it among the words."""
        if value.name not in self._values:
            forms = [form for text in value.forms if (form := keys(text, self._analysis))]
            likely = {words: self._rarity.places_of_all(words) for words in set(map(frozenset, forms))}
            indices = {
                index
                for form in forms
                for index in likely[frozenset(form)]
                if contains_phrase(form, self._passage_keys(index))
            }
            self._values[value.name] = bool(indices)
            self._rarity.set_places(value.name, indices)
        return self._values[value.name]

    def _best_passage(self, weights: Mapping[str, float], all_weights: Mapping[str, float]) -> tuple[int, float]:
        """The passage with the most of `weights`, the first of equals, and their weight.

        The other words of the statement count for a part: a row with its names and its date says more than a date.
        """
        gains = self._totals(weights)
        extra_gains = dict.fromkeys(gains, 0.0)
        for word in sorted(all_weights.keys() - weights.keys()):
            for index in self._rarity.places(word):
                if index in extra_gains:
                    extra_gains[index] += _AGAIN * all_weights[word]
        best = max(gains, key=lambda index: (round(gains[index] + extra_gains[index], 9), -index), default=-1)
        return best, gains.get(best, 0.0)
