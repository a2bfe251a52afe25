"""Trains the weights of `assay.core.relevance` and prints the file of weights, with what it was trained on.

    python bench/relevance_training.py record /tmp/recorded.pickle   # runs: what the built-in model was shown
    python bench/relevance_training.py train /tmp/recorded.pickle    # the weights, and figures by cross-validation

Only questions of the training half of XQuAD's articles are used (`answers.training`). Figures come from five folds by
article: weights that never saw a question's article judge it. Unanswerable questions are asked of the other half of the
articles, without their paragraph, or of a single other document. All are asked again without the library's counts, and
of libraries of one to three sentences. Needs SciPy, which Assay does not.
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from answers import data_folder, read, training
from relevance_cases import (
    DATA,
    LANGUAGES,
    OTHERWISE,
    SMALL,
    TINY,
    Case,
    alone,
    asked_otherwise,
    first_alone,
    library,
    record,
    tiny,
    without,
)
from relevance_grading import Sample, bands, samples
from scipy.optimize import minimize

from assay.core import relevance
from assay.core.relevance import scores as relevance_scores
from assay.core.relevance.features import FEATURE_NAMES, Features
from assay.core.relevance.relevance_constants import ANSWER_STATEMENTS
from assay.core.relevance.topic_question import (
    analysis_for,
)
from assay.models.extractive import answers as extractive_answers

FOLDS = 5
PRIOR = {
    "own": 4.0,
    "label": 3.0,
    "heading": 4.0,
    "title": 1.5,
    "neighbour": 1.3,
    "row": -0.2,
    "opens": 0.5,
    "figures": 1.0,
    "measure": 0.5,
}
"""What features weigh before anything is seen: paragraphs of Wikipedia have no headings and rows."""
LIKELY = {
    "reach": 2.0,
    "rests": 1.5,
    "kind": 0.5,
    "unkind": -1.0,
    "figures": 1.0,
    "names": 1.0,
    "absent": -1.0,
    "measure": 2.0,
}
"""What the features of a chance weigh before anything is seen."""
AGAINST = frozenset(("absent", "unkind"))
FREE = frozenset(("bias", "keys", "sources", "count", "mass", "best"))
"""Features which say how much is asked and found, and speak neither for an answer nor against one."""
PULL = 0.02
WITHIN = 0.98
"""The share of the right statements among the first which the margin keeps."""
LOST = 0.05
"""The share of the answerable questions which the bound may give up."""


class Seen(NamedTuple):
    """A case with its vectors."""

    case: Case
    features: Features
    vectors: np.ndarray


def see(case: Case, counted: bool = True) -> Seen:
    """The vectors of a case; the words are those of its library, where that was `counted`."""
    beside = "\n".join(each.text for each in case.statements[: extractive_answers.LANGUAGE_STATEMENTS])
    question = relevance.read_question(case.question.text, "", beside)
    scope = library(case.language, case.half, question.analysis) if counted and case.half != SMALL else None
    features = Features(question, case.statements, scope)
    return Seen(case, features, np.array(features.vectors()))


def fit_statements(seen: Sequence[Seen]) -> np.ndarray:
    """Weights by logistic regression on differences: a statement which answers against each of the best others."""
    rows, weights = [], []
    first = np.array(
        [4.0 if name == "own" else 1.0 if name in ("neighbour", "document") else 0.0 for name in FEATURE_NAMES]
    )
    for each in seen:
        right = np.array(each.case.right)
        if not right.any() or right.all():
            continue
        good, bad = each.vectors[right], each.vectors[~right]
        bad = bad[np.argsort(-(bad @ first))[:25]]
        best = good[np.argmax(good @ first)]
        rows.append(best - bad)
        weights.append(np.full(len(bad), 1.0 / len(bad)))
    return logistic(
        np.concatenate(rows), np.concatenate(weights), np.array([PRIOR.get(name, 0.0) for name in FEATURE_NAMES])
    )


def logistic(x: np.ndarray, weights: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Weights with which the rows of `x` come out positive, near `prior` where the rows say nothing."""

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ w
        value = (weights * np.logaddexp(0.0, -z)).sum() + PULL * ((w - prior) ** 2).sum()
        slope = -(x * (weights / (1.0 + np.exp(z)))[:, None]).sum(axis=0) + 2 * PULL * (w - prior)
        return value, slope

    return minimize(loss, prior, jac=True, method="L-BFGS-B").x


def ranked(each: Seen, weights: np.ndarray) -> list[relevance_scores.ScoredStatement]:
    scores = each.vectors @ weights
    return [relevance_scores.ScoredStatement(int(at), float(scores[at])) for at in np.argsort(-scores, kind="stable")]


def answered(each: Seen, weights: np.ndarray, most: int) -> bool:
    return any(each.case.right[judged.index] for judged in ranked(each, weights)[:most])


def chance_vector(each: Seen, weights: np.ndarray) -> list[float]:
    vectors = [tuple(row) for row in each.vectors]
    return list(relevance_scores.chance_features(each.features, vectors, ranked(each, weights), tuple(weights)))


def fit_chance(seen: Sequence[Seen], weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Logistic regression near `LIKELY`, where no feature may count against what it stands for.

    Questions with an answer and those without weigh the same.
    """
    x = np.array([[*chance_vector(each, weights), 1.0] for each in seen])
    y = np.array([any(each.case.own) for each in seen])
    sign = np.where(y, 1.0, -1.0)
    share = np.where(y, 0.5 / y.sum(), 0.5 / (~y).sum()) * len(y)
    names = (*relevance_scores.CHANCE_NAMES, "bias")
    prior = np.array([LIKELY.get(name, 0.0) for name in names])
    bounds = [(None, None) if name in FREE else (None, 0.0) if name in AGAINST else (0.0, None) for name in names]
    pull = np.array([PULL if name != "bias" else 0.0 for name in names])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = sign * (x @ w)
        value = (share * np.logaddexp(0.0, -z)).sum() + len(y) * (pull * (w - prior) ** 2).sum() / 200
        slope = -(x * (share * sign / (1.0 + np.exp(z)))[:, None]).sum(axis=0) + len(y) * pull * (w - prior) / 100
        return value, slope

    found = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found[:-1], float(found[-1])


def chance(each: Seen, weights: np.ndarray, model: tuple[np.ndarray, float]) -> float:
    return float(1 / (1 + np.exp(-(np.array(chance_vector(each, weights)) @ model[0] + model[1]))))


Groups = dict[str, list[Seen]]


def train(path: Path) -> None:
    """Print figures by cross-validation to stderr, the weights to stdout."""
    if (folder := data_folder()) is None:
        raise SystemExit("skipped: no questions")
    DATA.update((language, read(folder, language)) for language in LANGUAGES)
    cases = [each for each in pickle.loads(path.read_bytes()) if each.statements]
    groups = _grouped([each for each in cases if training(each.article) and each.language in LANGUAGES])
    bound, bounds = _validated(groups)
    answerable = groups["answerable"]
    weights, (coefficients, bias) = _fit(groups)
    languages = {each.case.language for each in answerable}
    articles = {each.case.article for each in answerable}
    provenance = (
        f"XQuAD (CC BY-SA 4.0), {len(answerable)} questions in {len(languages)} languages about {len(articles)}"
        f" articles, and {len(groups['foreign'])} without an answer; bench/relevance_training.py"
    )
    metadata = {
        "provenance": provenance,
        "statement": dict(zip(FEATURE_NAMES, [round(float(each), 3) for each in weights], strict=True)),
        "chance": dict(
            zip(relevance_scores.CHANCE_NAMES, [round(float(each), 3) for each in coefficients], strict=True)
        ),
        "bias": round(bias, 3),
        "bound": round(bound, 3),
        "bounds": {language: round(each, 3) for language, each in bounds.items()},
        "margin": round(_margin(answerable, weights), 2),
        **bands(list(_samples()), FOLDS),
    }
    print(json.dumps(metadata, indent=2))


def _samples() -> Iterator[Sample]:
    for language, (documents, questions) in DATA.items():
        analysis = analysis_for("\n".join(each.text for each in documents[:3]))
        yield from samples(language, documents, questions, library(language, True, analysis))


def _grouped(shown: Sequence[Case]) -> Groups:
    """The cases by what is to be told apart: with an answer, and without one in several ways."""
    own = [see(each) for each in shown]
    answerable = [each for each in own if any(each.case.own)]
    return {
        "answerable": answerable,
        "foreign": [each for each in own if not any(each.case.own)],
        "paragraph taken away": [see(taken) for each in answerable[::4] if (taken := without(each.case)).statements],
        "one document": [see(alone(each)) for each in shown[1::2] if any(each.own)],
        "one other document": [see(taken) for each in shown[1::2] if (taken := first_alone(each)).statements],
        "uncounted": [see(each, counted=False) for each in shown[::3]],
        "tiny": [see(each) for language in LANGUAGES for each in tiny(language, TINY)],
        OTHERWISE: [see(each) for language in LANGUAGES for each in asked_otherwise(language, TINY)],
    }


def _validated(groups: Groups) -> tuple[float, dict[str, float]]:
    """The bound at which `LOST` of the answerable are given up, and lower ones of languages which lose more at it.

    Each is judged by weights which never saw its article.
    """
    articles = sorted({each.case.article for group in groups.values() for each in group})
    tops: dict[str, list[bool]] = {}
    chances: dict[str, list[float]] = {}
    seen: Groups = {}
    for fold in range(FOLDS):
        held = set(articles[fold::FOLDS])
        weights, model = _fit({k: [e for e in group if e.case.article not in held] for k, group in groups.items()})
        for kind, group in groups.items():
            out = [each for each in group if each.case.article in held]
            chances.setdefault(kind, []).extend(chance(each, weights, model) for each in out)
            seen.setdefault(kind, []).extend(out)
        for each in groups["answerable"]:
            for most in (1, 2, 3) if each.case.article in held else ():
                tops.setdefault(f"{each.case.language} in {most}", []).append(answered(each, weights, most))
    for name, right in sorted(tops.items()):
        print(f"{name}: {100 * np.mean(right):.1f} % of {len(right)}", file=sys.stderr)
    bound, bounds = _bounds(seen["answerable"], chances["answerable"])
    for kind, values in chances.items():
        for own in (True, False):
            found = [value for value, each in zip(values, seen[kind], strict=True) if any(each.case.own) == own]
            below = 100 * np.mean([value < bound for value in found]) if found else 0.0
            print(f"{kind}, {'with' if own else 'without'}: {below:.1f} % of {len(found)} below", file=sys.stderr)
    return bound, bounds


def _bounds(seen: Sequence[Seen], chances: Sequence[float]) -> tuple[float, dict[str, float]]:
    by_language: dict[str, list[float]] = {}
    for each, value in zip(seen, chances, strict=True):
        by_language.setdefault(each.case.language, []).append(value)
    bound = _lost(chances)
    return bound, {name: own for name, values in by_language.items() if (own := _lost(values)) < bound}


def _lost(chances: Sequence[float]) -> float:
    return float(sorted(chances)[int(LOST * len(chances))])


def _margin(answerable: Sequence[Seen], weights: np.ndarray) -> float:
    """How far below the best the first right statement stands, in all but some of those where it is not the best."""
    below = []
    for each in answerable:
        best = ranked(each, weights)
        right = next((judged.score for judged in best[:ANSWER_STATEMENTS] if each.case.right[judged.index]), None)
        if right is not None and right < best[0].score:
            below.append(best[0].score - right)
    return float(np.quantile(below, WITHIN))


def _fit(groups: Groups) -> tuple[np.ndarray, tuple[np.ndarray, float]]:
    weights = fit_statements(groups["answerable"])
    shown = [each for kind, group in groups.items() if kind != OTHERWISE for each in group]
    return weights, fit_chance(shown, weights)


def main() -> None:
    """Record or train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("record", "train"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--count", type=int, default=100, help="questions per language, each asked three times")
    options = parser.parse_args()
    if options.do == "record":
        record(options.path, options.count)
    else:
        train(options.path)


if __name__ == "__main__":
    main()
