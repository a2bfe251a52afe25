"""Judging statements: which answer a question best, and the chance that the best do.

Both are logistic models (weights in `weights.json`, with what they were trained on): one over the features of a
statement, and one over what the best statements and all documents found hold of the question together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources

import msgspec

from assay.core.relevance.asking import Question
from assay.core.relevance.features import NAMES, Features, Vector
from assay.core.relevance.statements import Statement, keys

OTHER = -1.0
"""The feature `figures` of a statement about another version than that asked about: it answers nothing."""
NAMED = 0.25
"""What the bound is multiplied with where the question names the document: whether it is the right one is settled."""
ELSEWHERE = 0.4
"""The share of the margin which a statement of another document than the best may be below it."""
TOGETHER = 3
"""Statements which answer together."""
CHANCE_NAMES = (
    "best", "margin", "own", "together", "reach", "document", "absent", "names", "keys", "pairs", "close", "kind",
    "mass", "count", "contrast", "rarest", "said", "figures", "rest", "rests", "sources", "unkind",
)  # fmt: skip
"""The features of a chance, in the order of a vector."""


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """The weights with their provenance.

    `bound` is the chance from which statements are an answer, `margin` how far below the best score others still are.
    """

    provenance: str
    statement: dict[str, float]
    chance: dict[str, float]
    bias: float
    bound: float
    margin: float


class Judged(msgspec.Struct, frozen=True):
    """The statement at `place` of those given, how well it answers (higher is better), and its document.

    `said` tells whether it has a word of the question itself.
    """

    place: int
    score: float
    source: int = 0
    said: bool = True


class Judgement(msgspec.Struct, frozen=True):
    """All statements, best first, and the chance (0 to 1) that the best of them answer."""

    ranked: tuple[Judged, ...]
    chance: float

    def answers(self, named: bool = False) -> bool:
        """Whether the best statements are to be taken for an answer; less will do where their document is `named`."""
        return bool(self.ranked) and self.chance >= weights().bound * (NAMED if named else 1.0)

    @property
    def near(self) -> tuple[Judged, ...]:
        """The best statement, and those not far below it which say a word of the question themselves.

        Of other documents those count which are hardly below it.
        """
        if not self.ranked:
            return ()
        best, margin = self.ranked[0], weights().margin
        return tuple(
            each
            for each in self.ranked
            if each is best
            or (each.said and best.score - each.score <= margin * (1.0 if each.source == best.source else ELSEWHERE))
        )


@cache
def weights() -> Weights:
    """The weights which were trained."""
    data = resources.files(__package__).joinpath("weights.json").read_bytes()
    return msgspec.json.decode(data, type=Weights)


def judge(question: Question, statements: Sequence[Statement]) -> Judgement:
    """How well each of `statements` answers `question`, and whether they do."""
    if not statements or not question.keys:
        return Judgement((), 0.0)
    features = Features(question, statements)
    vectors = features.vectors()
    row = tuple(weights().statement.get(name, 0.0) for name in NAMES)
    scores = [sum(map(float.__mul__, row, vector)) for vector in vectors]
    order = sorted(range(len(statements)), key=lambda at: (-scores[at], at))
    able = (at for at in order if vectors[at][_AT["figures"]] > OTHER and features.is_about(at))
    ranked = tuple(Judged(at, scores[at], statements[at].source, vectors[at][_AT["own"]] > 0) for at in able)
    if not ranked:
        return Judgement((), 0.0)
    return Judgement(ranked, _chance(chances(features, vectors, ranked)))


LOOKED_AT = 80
"""Statements judged of more, those which hold most of the question's words."""


def rank(question: Question, statements: Sequence[Statement], limit: int) -> list[int]:
    """The places of the best `limit` statements which have a word of the question, best first."""
    held = [_words_of(question, each) for each in statements]
    seen = Counter(key for found in held for key in found)
    weighed = sorted((-sum(1 / seen[key] for key in found), at) for at, found in enumerate(held) if found)
    places = sorted(at for _, at in weighed[:LOOKED_AT])
    judged = judge(question, [statements[at] for at in places])
    return [places[each.place] for each in judged.ranked[:limit]]


def _words_of(question: Question, each: Statement) -> set[str]:
    """The keys of the question in a statement and its heading."""
    said = {*keys(each.text, question.analysis), *keys(each.heading, question.analysis)}
    return said.intersection(question.keys)


def _chance(vector: Vector) -> float:
    held = weights()
    total = held.bias + sum(
        held.chance.get(name, 0.0) * value for name, value in zip(CHANCE_NAMES, vector, strict=True)
    )
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


_AT = {name: place for place, name in enumerate(NAMES)}


def chances(features: Features, vectors: Sequence[Vector], ranked: Sequence[Judged]) -> Vector:
    """The features of a chance."""
    best = [vectors[each.place] for each in ranked[:TOGETHER]]
    top = best[0]
    reach = (sum(top[_AT[name]] for name in ("own", "neighbour", "heading", "title")),)
    kinds = [sum(vector[_AT[kind]] for kind in ("number", "date", "name")) for vector in best]
    later = ranked[min(len(ranked), 2 * TOGETHER) - 1].score
    return (
        ranked[0].score,
        ranked[0].score - later,
        max(vector[_AT["own"]] for vector in vectors),
        features.together([each.place for each in ranked[:TOGETHER]]),
        *reach,
        features.best_source(),
        features.absent(),
        features.names_held(ranked[0].place),
        math.log(1 + len(set(features.question.keys))),
        top[_AT["pairs"]],
        top[_AT["close"]],
        max(kinds),
        *features.held_by_best(ranked[0].place),
        top[_AT["figures"]],
        top[_AT["rest"]],
        features.rest_around([each.place for each in ranked[:TOGETHER]]),
        min(1.0, (len({each.source for each in features.statements}) - 1) / 4),
        float(max(kinds) < 0),
    )
