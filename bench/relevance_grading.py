"""Trains the bands in which sentences of a report answer a question, are related to it, or are unrelated.

`bench/relevance_training.py train` calls this. A sentence with the answer answers; one of the question's paragraph or
article is related; one of another article (half of them the article with the most similar words) is unrelated. Each is
shown with one to three sentences as the cited passage, and half of them with the title.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from answers import Baseline, Document, Question, states, training
from scipy.optimize import minimize

from assay.core import relevance
from assay.core.messages import Rarity
from assay.core.relevance.features import Vector
from assay.core.relevance.grades import GRADE_NAMES, CitedSentence, grade_features
from assay.core.text import sentences

ASKED = 60
"""Questions a language."""
LOST = 0.10
"""The share of the questions none of whose answers is called one at the bound."""
ALARMS = 0.05
"""The share of the sentences of other articles which are called related at the bound."""
PULL = 0.02
AGAINST = frozenset(("unnumbered", "short", "missing", "bare"))
FREE = frozenset(("bias", "held", "keys", "plain"))
Kind = Literal["answers", "related", "unrelated"]


class Sample(NamedTuple):
    """The sentences held against one question: what each is, and its features."""

    language: str
    article: str
    kinds: tuple[Kind, ...]
    vectors: tuple[Vector, ...]


def samples(
    language: str, documents: Sequence[Document], questions: Sequence[Question], scope: Rarity | None
) -> Iterator[Sample]:
    """Questions of the training half, each with sentences of four or five paragraphs of that half."""
    chance = random.Random(language)
    asked = [each for each in questions if training(each.article)]
    documents = [each for each in documents if training(article_of(each))]
    for question in chance.sample(asked, min(ASKED, len(asked))):
        others = [each for each in documents if not states(each.text, question.answers)]
        beside = [each for each in others if article_of(each) == question.article]
        away = [each for each in others if article_of(each) != question.article]
        nearest = Baseline(away).answer(question.text)[0]
        own = next(each for each in documents if each.id == question.document)
        shown = [own, *beside[:1], next(each for each in away if each.id == nearest), chance.choice(away)]
        samples_, kinds = [], list[Kind]()
        for each in shown:
            cited = [" ".join(each.text[start:end].split()) for start, end in sentences(each.text)]
            for at, text in enumerate(cited):
                answers = each is own and states(text, question.answers)
                kinds.append(
                    "answers" if answers else "related" if article_of(each) == question.article else "unrelated"
                )
                samples_.append(_cited_sentence(chance, cited, at, each.title))
        read = relevance.read_question(question.text, "", "\n".join(each.text for each in samples_))
        counted = scope if chance.random() < 0.7 else None
        if read.keys:
            yield Sample(language, question.article, tuple(kinds), tuple(grade_features(read, samples_, counted)))


def _cited_sentence(chance: random.Random, sentences: Sequence[str], at: int, title: str) -> CitedSentence:
    first = max(0, at - chance.randrange(3))
    cited = " ".join(sentences[first : max(at + 1, first + chance.randrange(1, 4))])
    return CitedSentence(text=sentences[at], cited_text=cited, title=title if chance.random() < 0.5 else "Notes")


def article_of(document: Document) -> str:
    """The article a paragraph is of."""
    return document.id.rpartition("/")[0]


class Model(NamedTuple):
    """Weights in the order of `GRADE_NAMES`, and what is added."""

    weights: np.ndarray
    bias: float

    def chance(self, vectors: Sequence[Vector]) -> np.ndarray:
        return 1 / (1 + np.exp(-(np.array(vectors) @ self.weights + self.bias)))


def fit(found: Sequence[Sample], positive: frozenset[Kind]) -> Model:
    """Logistic regression in which no feature counts against what it stands for; both classes weigh the same."""
    x = np.array([[*vector, 1.0] for each in found for vector in each.vectors])
    y = np.array([kind in positive for each in found for kind in each.kinds])
    sign, share = np.where(y, 1.0, -1.0), np.where(y, 0.5 / y.sum(), 0.5 / (~y).sum())
    names = (*GRADE_NAMES, "bias")
    pull = np.array([PULL / 200 if name != "bias" else 0.0 for name in names])
    bounds = [(None, None) if name in FREE else (None, 0.0) if name in AGAINST else (0.0, None) for name in names]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = sign * (x @ w)
        value = (share * np.logaddexp(0.0, -z)).sum() + (pull * w**2).sum()
        return value, -(x * (share * sign / (1.0 + np.exp(z)))[:, None]).sum(axis=0) + 2 * pull * w

    best = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", bounds=bounds).x
    return Model(best[:-1], float(best[-1]))


POSITIVE: dict[str, frozenset[Kind]] = {
    "answers": frozenset(("answers",)),
    "related": frozenset(("answers", "related")),
}


def bands(found: Sequence[Sample], folds: int) -> dict[str, dict[str, object]]:
    """Both bands as they are stored; the figures, by cross-validation over articles, go to stderr."""
    articles = sorted({each.article for each in found})
    out = {}
    for name, positive in POSITIVE.items():
        chances: list[tuple[Sample, np.ndarray]] = []
        for fold in range(folds):
            held = set(articles[fold::folds])
            model = fit([each for each in found if each.article not in held], positive)
            chances += [(each, model.chance(each.vectors)) for each in found if each.article in held]
        bound = _lost(chances) if name == "answers" else _alarms(chances)
        for kind in ("answers", "related", "unrelated"):
            values = np.concatenate([values[np.array(each.kinds) == kind] for each, values in chances])
            line = f"{name}: {100 * np.mean(values >= bound):.1f} % of {len(values)} sentences which are {kind!r}"
            print(line, file=sys.stderr)
        model = fit(found, positive)
        weights = {key: round(float(value), 3) for key, value in zip(GRADE_NAMES, model.weights, strict=True)}
        out[name] = {"weights": weights, "bias": round(model.bias, 3), "bound": round(bound, 3)}
    return out


def _lost(chances: Sequence[tuple[Sample, np.ndarray]]) -> float:
    """The bound at which `LOST` of the questions with an answer have none left."""
    best = [values[np.array(each.kinds) == "answers"].max() for each, values in chances if "answers" in each.kinds]
    return float(np.quantile(best, LOST))


def _alarms(chances: Sequence[tuple[Sample, np.ndarray]]) -> float:
    """The bound at which `ALARMS` of the sentences of other articles are called related."""
    values = np.concatenate([values[np.array(each.kinds) == "unrelated"] for each, values in chances])
    return float(np.quantile(values, 1 - ALARMS))
