"""Scores statements: which answer a question best, and the chance that the best ones do.

Both are logistic models (`weights.json` has the weights and their training data): one over the features of a statement,
one over how much of the question the best statements, and all documents found, contain together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from statistics import median

import msgspec

from assay.core.messages import Rarity
from assay.core.relevance.conversations import lacks_said_topic, said_by_others
from assay.core.relevance.counted_things import lacks_count
from assay.core.relevance.document_parts import back_matter_losses, only_announces
from assay.core.relevance.doers import lacks_predicate
from assay.core.relevance.features import FEATURE_NAMES, Features, Vector
from assay.core.relevance.named_things import (
    definition_gains,
    entry_gains,
    has_missing_name,
    is_complete_row,
    is_row_on_subject,
)
from assay.core.relevance.other_things import rows_of_others, under_other_names
from assay.core.relevance.relevance_constants import (
    ANSWER_STATEMENTS,
    DENIAL_WEIGHT,
    FURTHER_SHARE,
    MAX_RANKED_STATEMENTS,
    MEANING_NEUTRAL,
    MEANING_ODDS,
    MEANING_SURE,
    MEANING_WEIGHT,
    MIN_COMPARED_STATEMENTS,
    NAMED_FACTOR,
    OTHER_DOCUMENT_MARGIN,
    PARTIAL_FACTOR,
    PARTIAL_SHARE,
    PREFILTER_STATEMENTS,
    STEM_START,
    SURE_CHANCE,
)
from assay.core.relevance.signs import is_question, tells_who
from assay.core.relevance.topic_question import (
    QuotableStatement,
    TopicQuestion,
    is_unspaced,
    keys,
    with_plain_digits,
)

# The weight of meaning in addition to words, if an embedder has compared statements with the question.

Cosine = float | None


def blend_scores(scores: Sequence[float], cosines: Sequence[Cosine]) -> list[float]:
    """Scores by words, adjusted by meaning. A statement that was not compared gets a medium value."""
    known_cosines = [cosine for cosine in cosines if cosine is not None]
    if not known_cosines or max(known_cosines) == min(known_cosines):
        return list(scores)
    low, high = min(known_cosines), max(known_cosines)
    parts = (0.5 if cosine is None else (cosine - low) / (high - low) for cosine in cosines)
    return [score + MEANING_WEIGHT * part for score, part in zip(scores, parts, strict=True)]


def rank_by_both(shares: Sequence[float], cosines: Sequence[float]) -> list[int]:
    """The places of passages, best first: half of the score are the question's words, half is meaning."""
    if not shares:
        return []
    max_share, high, low = max(shares) or 1.0, max(cosines), min(cosines)
    closeness = [(cosine - low) / (high - low) if high > low else 0.0 for cosine in cosines]
    scores = [share / max_share + part for share, part in zip(shares, closeness, strict=True)]
    return sorted(range(len(scores)), key=lambda index: (-scores[index], index))


def adjust_chance(chance: float, cosines: Sequence[Cosine], best: Sequence[int], first: int) -> float:
    """The chance that statements answer, adjusted by meaning.

    Args:
        chance: the chance by words.
        cosines: how similar each statement is to the question.
        best, first: the places of the best statements by words, and of the best by words and meaning.
    """
    known_cosines = [cosine for cosine in cosines if cosine is not None]
    if len(known_cosines) < MIN_COMPARED_STATEMENTS or median(known_cosines) >= 1.0:
        return chance
    usual = median(known_cosines)
    above = {
        index: (cosine - usual) / (1.0 - usual) for index in {*best, first} if (cosine := cosines[index]) is not None
    }
    best_values = [above[index] for index in best if index in above]
    if best_values and 0.0 < chance < 1.0:
        odds = math.log(chance / (1.0 - chance)) + MEANING_ODDS * (max(best_values) - MEANING_NEUTRAL)
        chance = 1.0 / (1.0 + math.exp(-odds))
    return max(chance, SURE_CHANCE) if above.get(first, 0.0) >= MEANING_SURE else chance


OTHER_VERSION = -1.0
"""The feature `figures` of a statement about another version or year than the question's: it answers nothing."""
CHANCE_NAMES = (
    "best", "margin", "own", "absent", "names", "keys", "pairs", "close", "kind", "mass", "count", "contrast", "rarest",
    "said", "sources", "unkind", "measure",
)  # fmt: skip
"""The features of a chance, in the order of a vector."""


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """A logistic model over the features of a sentence, and the chance from which it gives its grade."""

    weights: dict[str, float]
    bias: float
    bound: float


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """The weights with their provenance.

    `bound` is the chance from which statements are an answer; `bounds` has lower ones for languages in which it
    rejected too many questions. `margin` is how far below the best score others may be; `answers` and `related`
    are the bands for the sentences of a report.
    """

    provenance: str
    statement: dict[str, float]
    chance: dict[str, float]
    bias: float
    bound: float
    bounds: dict[str, float]
    margin: float
    answers: Band
    related: Band


class ScoredStatement(msgspec.Struct, frozen=True):
    """A statement: its `index` among the given ones, its score (higher is better), and its document.

    `own_share` is the share of the question's weight that it has itself; `has_kind` tells whether it has a thing of the
    kind asked for: a number, a date, a name, a reason, a measure.
    """

    index: int
    score: float
    source: int = 0
    own_share: float = 1.0
    has_kind: bool = False


class Judgement(msgspec.Struct, frozen=True):
    """All statements, best first, and the chance (0 to 1) that the best of them answer; their `language`."""

    ranked: tuple[ScoredStatement, ...]
    chance: float
    language: str = ""

    def is_answered(self, named: bool = False) -> bool:
        """True if the best statements count as an answer; if their document is named, a lower chance is enough."""
        model = weights()
        bound = model.bounds.get(self.language, model.bound)
        return bool(self.ranked) and self.chance >= bound * (NAMED_FACTOR if named else 1.0)

    @property
    def top_statements(self) -> tuple[ScoredStatement, ...]:
        """The best statement, and those with similar scores that have words of the question themselves: not far fewer,
        unless they have what is asked for.

        Statements of other documents only count if their score is hardly below the best.
        """
        if not self.ranked:
            return ()
        best, margin = self.ranked[0], weights().margin
        return tuple(
            statement
            for statement in self.ranked
            if statement is best
            or (
                statement.own_share > 0
                and (statement.has_kind or statement.own_share >= FURTHER_SHARE * best.own_share)
                and best.score - statement.score
                <= margin * (1.0 if statement.source == best.source else OTHER_DOCUMENT_MARGIN)
            )
        )

    @property
    def best_per_source(self) -> tuple[ScoredStatement, ...]:
        """The best statement of each document whose score is near the best of all: for "which of them …?"."""
        by_source: dict[int, ScoredStatement] = {}
        for statement in self.ranked:
            if statement.own_share > 0 and self.ranked[0].score - statement.score <= weights().margin:
                by_source.setdefault(statement.source, statement)
        return tuple(by_source.values())


@cache
def weights() -> Weights:
    """The trained weights."""
    data = resources.files(__package__).joinpath("weights.json").read_bytes()
    return msgspec.json.decode(data, type=Weights)


def judge(
    question: TopicQuestion,
    statements: Sequence[QuotableStatement],
    rarity: Rarity | None = None,
    cosines: Sequence[Cosine] = (),
) -> Judgement:
    """How well each of `statements` answers `question`, and whether they do; `rarity` is that of the whole scope.

    `cosines` say how similar in meaning each statement is to the question, if an embedder compared them.

    If the question asks for an age, a length, how often, a price or a share and the best statements do not say it, they
    do not answer, nor if it denies something ("which providers need no key?") that they only affirm. Nothing answers if
    a name of the question is nowhere, if they tell the measure of something else, name nobody who did it, or do not
    count what is to be counted. Others cannot answer at all (`_answering_places`).
    """
    if not statements or not question.keys:
        return Judgement((), 0.0)
    statements = with_plain_digits(statements)
    features = Features(question, statements, rarity)
    vectors = features.vectors()
    row = tuple(weights().statement.get(name, 0.0) for name in FEATURE_NAMES)
    denials = [features.denial_match(index) for index in range(len(statements))]
    scores = [
        sum(map(float.__mul__, row, vector)) + DENIAL_WEIGHT * denial
        for vector, denial in zip(vectors, denials, strict=True)
    ]
    own = [vector[_AT["own"]] for vector in vectors]
    has_kind = [any(vector[_AT[name]] > 0 for name in _KINDS) for vector in vectors]
    able = _answering_places(features, vectors)

    def rank_statements(ranking_scores: Sequence[float]) -> tuple[ScoredStatement, ...]:
        order = sorted(able, key=lambda index: (-ranking_scores[index], index))
        return tuple(
            ScoredStatement(index, ranking_scores[index], statements[index].source, own[index], has_kind[index])
            for index in order
        )

    if not able:
        return Judgement((), 0.0)
    by_words = rank_statements(scores)
    vector = chance_features(features, vectors, by_words, row)
    best = [scored.index for scored in by_words[:ANSWER_STATEMENTS]]
    wrong = _cannot_answer(features, vectors, denials, best) or not features.has_measured_subject(best)
    sure = SURE_CHANCE if is_complete_row(features, best[0]) else 0.0
    partial = PARTIAL_FACTOR if _is_partial(features, best) else 1.0
    chance = 0.0 if wrong else max(partial * _chance(vector), sure)

    def with_measure(order: tuple[ScoredStatement, ...]) -> tuple[ScoredStatement, ...]:
        """Only those with the measure asked for, if one is asked for and they have it: the others cannot answer."""
        return tuple(scored for scored in order if vectors[scored.index][_AT["measure"]] >= 0) or order

    adjusted_scores = _adjust_scores(question, statements, scores)
    if not cosines:
        return Judgement(with_measure(rank_statements(adjusted_scores)), chance, question.language)
    by_both = rank_statements(blend_scores(adjusted_scores, cosines))
    combined_chance = adjust_chance(chance, cosines, best, by_both[0].index)
    best_by_both = [scored.index for scored in by_both[:ANSWER_STATEMENTS]]
    combined_chance = 0.0 if _cannot_answer(features, vectors, denials, best_by_both) else combined_chance
    return Judgement(with_measure(by_both), combined_chance, question.language)


def _cannot_answer(
    features: Features, vectors: Sequence[Vector], denials: Sequence[float], indices: Sequence[int]
) -> bool:
    """True if the best statements lack the measure, the count or the doer asked for, or affirm what is denied."""
    best = [features.statements[index] for index in indices]
    texts = [f"{statement.label} {statement.text}" for statement in best]
    spoken = [statement.text for statement in best if statement.speaker]
    lacks_measure = max(vectors[index][_AT["measure"]] for index in indices) < 0
    only_affirms = max(denials[index] for index in indices) < 0
    lacks = lacks_measure or lacks_count(features, indices) or has_missing_name(features)
    lacks = lacks or lacks_predicate(features, indices) or lacks_said_topic(features, indices)
    return lacks or only_affirms or not tells_who(features.question, texts, spoken)


def _is_partial(features: Features, best: Sequence[int]) -> bool:
    """True if the two best statements, with their headings, have less than half of the question's words.

    Not for a row, which has few words, nor where no spaces tell words apart: the keys are then pairs of letters.
    """
    is_row = features.statements[best[0]].kind == "row"
    return not (is_row or is_unspaced(features.question.text)) and features.word_share(best[:2]) < PARTIAL_SHARE


def _answering_places(features: Features, vectors: Sequence[Vector]) -> list[int]:
    """The places of the statements that may answer.

    Not those about another version, year or edition, rows and sections of another thing, questions, nor what only says
    what a part of a document is about: the answer is what follows.
    """
    question, statements = features.question, features.statements
    others = rows_of_others(question, statements) | under_other_names(question, statements)
    others |= said_by_others(question, statements)
    return [
        index
        for index, statement in enumerate(statements)
        if vectors[index][_AT["figures"]] > OTHER_VERSION
        and not features.numbered_things.is_other_number(index)
        and index not in others
        and is_row_on_subject(features, index)
        and not is_question(statement.text)
        and not only_announces(question.text, statement.text)
    ]


def _adjust_scores(
    question: TopicQuestion, statements: Sequence[QuotableStatement], scores: Sequence[float]
) -> list[float]:
    """The scores for the order: with what definitions and entries add, and back matter takes away."""
    gains = zip(scores, definition_gains(question, statements), entry_gains(question, statements), strict=True)
    losses = back_matter_losses(question.text, statements)
    return [gain[0] - loss if loss else sum(gain) for gain, loss in zip(gains, losses, strict=True)]


def rank(question: TopicQuestion, statements: Sequence[QuotableStatement], limit: int) -> list[int]:
    """The places of the `limit` best statements with a word of the question; what cannot answer alone comes last."""
    may = _quick_filter(question) if len(statements) > PREFILTER_STATEMENTS else None
    key_sets = [
        _words_of(question, statement) if may is None or may(statement) else set[str]() for statement in statements
    ]
    counts = Counter(key for matched_keys in key_sets for key in matched_keys)
    weighted_indices = sorted(
        (-sum(1 / counts[key] for key in matched_keys), index)
        for index, matched_keys in enumerate(key_sets)
        if matched_keys
    )
    indices = sorted(index for _, index in weighted_indices[:MAX_RANKED_STATEMENTS])
    able = [indices[statement.index] for statement in judge(question, [statements[index] for index in indices]).ranked]
    return list(dict.fromkeys([*able, *(index for _, index in weighted_indices[:MAX_RANKED_STATEMENTS])]))[:limit]


def _quick_filter(question: TopicQuestion) -> Callable[[QuotableStatement], bool]:
    """A quick look at whether a statement may have a word of the question; true for other letters than A to Z."""
    starts = [key[:STEM_START] for key in question.keys]

    def may_match(statement: QuotableStatement) -> bool:
        text = f"{statement.text} {statement.heading}".lower()
        return not text.isascii() or any(start in text for start in starts)

    return may_match


def _words_of(question: TopicQuestion, statement: QuotableStatement) -> set[str]:
    """The keys of the question in a statement and its heading."""
    statement_keys = {*keys(statement.text, question.analysis), *keys(statement.heading, question.analysis)}
    return statement_keys.intersection(question.keys)


def _chance(vector: Vector) -> float:
    model = weights()
    parts = (model.chance.get(name, 0.0) * value for name, value in zip(CHANCE_NAMES, vector, strict=True))
    total = model.bias + sum(parts)
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


KIND_FEATURES = ("number", "date", "name", "reason", "unnumbered", "measure")
"""What tells the kind of answer. A chance counts it by itself: where little is found, it is found by chance."""


def _kind_score(row: Vector, vector: Vector) -> float:
    """What a statement's score owes to the kind of thing it has, by the weights in `row`."""
    return sum(row[_AT[name]] * vector[_AT[name]] for name in KIND_FEATURES)


_AT = {name: place for place, name in enumerate(FEATURE_NAMES)}
_KINDS = ("number", "date", "name", "reason", "measure")


def chance_features(
    features: Features, vectors: Sequence[Vector], ranked: Sequence[ScoredStatement], row: Vector
) -> Vector:
    """The features of a chance; `row` are the weights of a statement."""
    best = [vectors[statement.index] for statement in ranked[:ANSWER_STATEMENTS]]
    top = best[0]
    kinds = [sum(vector[_AT[kind]] for kind in ("number", "date", "name")) for vector in best]
    later = ranked[min(len(ranked), 2 * ANSWER_STATEMENTS) - 1].score
    return (
        ranked[0].score - _kind_score(row, top),
        ranked[0].score - later,
        max(vector[_AT["own"]] for vector in vectors),
        features.absent_share(),
        features.names_share(ranked[0].index),
        math.log(1 + len(set(features.question.keys))),
        top[_AT["pairs"]],
        top[_AT["close"]],
        max(kinds),
        *features.document_features(ranked[0].index),
        min(1.0, (len({statement.source for statement in features.statements}) - 1) / 4),
        float(max(kinds) < 0),
        min(0.0, max(vector[_AT["measure"]] for vector in best)),
    )
