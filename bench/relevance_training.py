"""Trains the weights of `assay.core.relevance` and prints the file of weights, with what it was trained on.

    python bench/relevance_training.py record /tmp/recorded.pickle   # runs: what the built-in model was shown
    python bench/relevance_training.py train /tmp/recorded.pickle    # the weights, and figures by cross-validation

Questions of the training half of XQuAD's articles alone count (`answers.training`). Figures are of five folds by
article: each question is judged by weights which never saw its article. Unanswerable is a question asked of the other
half of the articles; one whose paragraph is taken away is reported beside, and not trained on. Needs scikit-learn,
which Assay does not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pickle
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from answers import Document, Question, data_folder, read, states, training
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from assay import Assay
from assay.core import relevance
from assay.core.relevance import scoring
from assay.core.relevance.features import NAMES, Features
from assay.core.relevance.statements import Statement
from assay.models.extractive import selecting

LANGUAGES = ("en", "de", "ru", "zh", "ar", "es", "tr", "vi", "hi", "th", "el", "ro")
FOLDS = 5
PRIOR = {"own": 4.0, "label": 3.0, "heading": 2.0, "title": 1.5, "neighbour": 1.3, "row": -0.2, "code": -0.6}
"""What features weigh before anything is seen: paragraphs of Wikipedia have no labels, headings, rows and code."""
PULL = 0.02
WITHIN = 0.95
"""The share of the right statements among the first which the margin keeps."""
LOST = 0.05
"""The share of the answerable questions which the bound may give up."""


class Case(NamedTuple):
    """A question with the statements the model was shown; `right` are those which answer, `own` its paragraph's."""

    language: str
    article: str
    question: relevance.Question
    statements: tuple[Statement, ...]
    right: tuple[bool, ...]
    own: tuple[bool, ...]


def record(path: Path, count: int) -> None:
    """Run the questions, and keep what was judged last in each run."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("skipped: no questions")
    cases: list[Case] = []
    for language in LANGUAGES:
        documents, questions = read(folder, language)
        chosen = [questions[at * len(questions) // count] for at in range(min(count, len(questions)))]
        cases += asyncio.run(_record(language, documents, chosen))
        for half in (True, False):
            others = [each for each in documents if training(each.id.rpartition("/")[0]) == half]
            foreign = [each for each in chosen if training(each.article) != half][: count // 5]
            cases += asyncio.run(_record(language, others, foreign))
        print(language, len(cases), file=sys.stderr, flush=True)
        path.write_bytes(pickle.dumps(cases))


async def _record(language: str, documents: Sequence[Document], questions: Sequence[Question]) -> list[Case]:
    judged: list[tuple[relevance.Question, Sequence[Statement]]] = []
    real = relevance.judge

    def listen(question: relevance.Question, statements: Sequence[Statement]) -> relevance.Judgement:
        judged.append((question, statements))
        return real(question, statements)

    cases = []
    selecting.judge = listen
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.jsonl"
        path.write_text("".join(json.dumps(vars(each)) + "\n" for each in documents))
        async with Assay(home=Path(folder) / "home") as assay:
            await assay.add([str(path)], None)
            for question in questions:
                judged.clear()
                await assay.start(question.text, sources=[str(path)], depth="light").report()
                if judged:
                    cases.append(_case(language, question, documents, *max(judged, key=lambda each: len(each[1]))))
    selecting.judge = real
    return cases


def _case(
    language: str,
    question: Question,
    documents: Sequence[Document],
    asked: relevance.Question,
    statements: Sequence[Statement],
) -> Case:
    text = next((" ".join(each.text.split()) for each in documents if each.id == question.document), "")
    own = tuple(" ".join(each.text.split()) in text for each in statements)
    right = tuple(mine and states(each.text, question.answers) for each, mine in zip(statements, own, strict=True))
    return Case(language, question.article, asked, tuple(statements), right, own)


def without(case: Case) -> Case:
    """The case with the paragraph which answers taken away."""
    kept = [at for at, own in enumerate(case.own) if not own]
    statements = tuple(case.statements[at] for at in kept)
    return case._replace(statements=statements, right=(False,) * len(kept), own=(False,) * len(kept))


class Seen(NamedTuple):
    """A case with its vectors."""

    case: Case
    features: Features
    vectors: np.ndarray


def see(case: Case) -> Seen:
    beside = "\n".join(each.text for each in case.statements[: selecting.LANGUAGE])
    features = Features(relevance.read_question(case.question.text, "", beside), case.statements)
    return Seen(case, features, np.array(features.vectors()))


def fit_statements(seen: Sequence[Seen]) -> np.ndarray:
    """Weights by logistic regression on differences: a statement which answers against each of the best others."""
    rows, weights = [], []
    first = np.array([4.0 if name == "own" else 1.0 if name in ("neighbour", "document") else 0.0 for name in NAMES])
    for each in seen:
        right = np.array(each.case.right)
        if not right.any() or right.all():
            continue
        good, bad = each.vectors[right], each.vectors[~right]
        bad = bad[np.argsort(-(bad @ first))[:25]]
        best = good[np.argmax(good @ first)]
        rows.append(best - bad)
        weights.append(np.full(len(bad), 1.0 / len(bad)))
    return logistic(np.concatenate(rows), np.concatenate(weights), np.array([PRIOR.get(name, 0.0) for name in NAMES]))


def logistic(x: np.ndarray, weights: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Weights with which the rows of `x` come out positive, near `prior` where the rows say nothing."""

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ w
        value = (weights * np.logaddexp(0.0, -z)).sum() + PULL * ((w - prior) ** 2).sum()
        slope = -(x * (weights / (1.0 + np.exp(z)))[:, None]).sum(axis=0) + 2 * PULL * (w - prior)
        return value, slope

    return minimize(loss, prior, jac=True, method="L-BFGS-B").x


def ranked(each: Seen, weights: np.ndarray) -> list[scoring.Judged]:
    scores = each.vectors @ weights
    return [scoring.Judged(int(at), float(scores[at])) for at in np.argsort(-scores, kind="stable")]


def answered(each: Seen, weights: np.ndarray, most: int) -> bool:
    return any(each.case.right[judged.place] for judged in ranked(each, weights)[:most])


def chance_vector(each: Seen, weights: np.ndarray) -> list[float]:
    return list(scoring.chances(each.features, [tuple(row) for row in each.vectors], ranked(each, weights)))


def fit_chance(seen: Sequence[Seen], weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Logistic regression on scaled features, the scale put back into the weights."""
    x = np.array([chance_vector(each, weights) for each in seen])
    y = np.array([any(each.case.own) for each in seen])
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-9
    model = LogisticRegression(C=0.3, max_iter=5000, class_weight="balanced").fit((x - mean) / scale, y)
    coefficients = model.coef_[0] / scale
    return coefficients, float(model.intercept_[0] - mean @ coefficients)


def chance(each: Seen, weights: np.ndarray, model: tuple[np.ndarray, float]) -> float:
    return float(1 / (1 + np.exp(-(np.array(chance_vector(each, weights)) @ model[0] + model[1]))))


def train(path: Path) -> None:
    """Print figures by cross-validation to stderr, the weights to stdout."""
    cases = [each for each in pickle.loads(path.read_bytes()) if each.statements]
    own = [see(each) for each in cases if training(each.article)]
    answerable = [each for each in own if any(each.case.own)]
    foreign = [each for each in own if not any(each.case.own)]
    bare = [see(taken) for each in answerable[::4] if (taken := without(each.case)).statements]
    languages = {each.case.language for each in own}
    articles = sorted({each.case.article for each in own})
    tops: dict[str, list[bool]] = {}
    chances: list[tuple[str, float]] = []
    for fold in range(FOLDS):
        held = set(articles[fold::FOLDS])
        seen = [each for each in answerable if each.case.article not in held]
        weights, model = _fit(seen, [each for each in foreign if each.case.article not in held])
        for kind, group in (("answerable", answerable), ("foreign", foreign), ("paragraph taken away", bare)):
            chances += [(kind, chance(e, weights, model)) for e in group if e.case.article in held]
        for each in answerable:
            if each.case.article in held:
                for most in (1, 2, 3):
                    tops.setdefault(f"{each.case.language} in {most}", []).append(answered(each, weights, most))
    for name, found in sorted(tops.items()):
        print(f"{name}: {100 * np.mean(found):.1f} % of {len(found)}", file=sys.stderr)
    kept = sorted(value for kind, value in chances if kind == "answerable")
    bound = kept[int(LOST * len(kept))]
    for kind in ("foreign", "paragraph taken away"):
        values = [value for name, value in chances if name == kind]
        print(f"{kind}: {100 * np.mean([v < bound for v in values]):.1f} % of {len(values)} below", file=sys.stderr)
    weights, (coefficients, bias) = _fit(answerable, foreign)
    margin = _margin(answerable, weights)
    provenance = (
        f"XQuAD (CC BY-SA 4.0), {len(answerable)} questions in {len(languages)} languages about {len(articles)}"
        f" articles, and {len(foreign)} without an answer; bench/relevance_training.py"
    )
    said = {
        "provenance": provenance,
        "statement": dict(zip(NAMES, [round(float(each), 3) for each in weights], strict=True)),
        "chance": dict(zip(scoring.CHANCE_NAMES, [round(float(each), 3) for each in coefficients], strict=True)),
        "bias": round(bias, 3),
        "bound": round(float(bound), 3),
        "margin": round(margin, 2),
    }
    print(json.dumps(said, indent=2))


def _margin(answerable: Sequence[Seen], weights: np.ndarray) -> float:
    """How far below the best the first right statement stands, in all but some of those where it is not the best."""
    below = []
    for each in answerable:
        best = ranked(each, weights)
        right = next((judged.score for judged in best[: scoring.TOGETHER] if each.case.right[judged.place]), None)
        if right is not None and right < best[0].score:
            below.append(best[0].score - right)
    return float(np.quantile(below, WITHIN))


def _fit(answerable: Sequence[Seen], others: Sequence[Seen]) -> tuple[np.ndarray, tuple[np.ndarray, float]]:
    weights = fit_statements(answerable)
    return weights, fit_chance([*answerable, *others], weights)


def main() -> None:
    """Record or train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("record", "train"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--count", type=int, default=200, help="questions a language to record")
    options = parser.parse_args()
    if options.do == "record":
        record(options.path, options.count)
    else:
        train(options.path)


if __name__ == "__main__":
    main()
