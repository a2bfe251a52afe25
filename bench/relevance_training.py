"""Trains the weights of `assay.core.relevance` and prints the file of weights, with what it was trained on.

    python bench/relevance_training.py record /tmp/recorded.pickle   # runs: what the built-in model was shown
    python bench/relevance_training.py train /tmp/recorded.pickle    # the weights, and figures by cross-validation

Questions of the training half of XQuAD's articles alone count (`answers.training`). Figures are of five folds by
article: each question is judged by weights which never saw its article. Unanswerable is a question asked of the other
half of the articles, one whose paragraph is taken away, and one of which a single other document is left. Needs
scikit-learn, which Assay does not.
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

import msgspec
import numpy as np
from answers import Document, Question, data_folder, read, states, training
from scipy.optimize import minimize

from assay import Assay
from assay.core import relevance
from assay.core.relevance import scoring
from assay.core.relevance.features import NAMES, Features
from assay.core.relevance.statements import Statement
from assay.models.extractive import selecting

LANGUAGES = ("en", "de", "ru", "zh", "ar", "es", "tr", "vi")
FOLDS = 5
PRIOR = {
    "own": 4.0,
    "label": 3.0,
    "heading": 2.0,
    "title": 1.5,
    "neighbour": 1.3,
    "row": -0.2,
    "code": -0.6,
    "opens": 0.5,
    "figures": 1.0,
}
"""What features weigh before anything is seen: paragraphs of Wikipedia have no headings, rows and code."""
LIKELY = {"reach": 2.0, "rests": 1.5, "kind": 0.5, "unkind": -1.0, "figures": 1.0, "names": 1.0, "absent": -1.0}
"""What the features of a chance weigh before anything is seen."""
AGAINST = frozenset(("absent", "unkind"))
FREE = frozenset(("bias", "keys", "sources", "count", "mass", "best"))
"""Features which say how much is asked and found, and speak neither for an answer nor against one."""
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


def alone(case: Case) -> Case:
    """The case with one document alone: that which answers, else the first."""
    sources = {statement.source for statement, own in zip(case.statements, case.own, strict=True) if own} or {0}
    kept = [at for at, statement in enumerate(case.statements) if statement.source in sources]
    statements = tuple(msgspec.structs.replace(case.statements[at], source=0) for at in kept)
    return case._replace(
        statements=statements, right=tuple(case.right[at] for at in kept), own=tuple(case.own[at] for at in kept)
    )


def _first(case: Case) -> Case:
    """The case without its paragraph and with the first document left alone."""
    bare = without(case)
    first = min((statement.source for statement in bare.statements), default=0)
    found = (statement for statement in bare.statements if statement.source == first)
    kept = tuple(msgspec.structs.replace(statement, source=0) for statement in found)
    return bare._replace(statements=kept, right=(False,) * len(kept), own=(False,) * len(kept))


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
    """Logistic regression near `LIKELY`, where no feature may count against what it stands for.

    Questions with an answer and those without weigh the same.
    """
    x = np.array([[*chance_vector(each, weights), 1.0] for each in seen])
    y = np.array([any(each.case.own) for each in seen])
    sign = np.where(y, 1.0, -1.0)
    share = np.where(y, 0.5 / y.sum(), 0.5 / (~y).sum()) * len(y)
    names = (*scoring.CHANCE_NAMES, "bias")
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
    cases = [each for each in pickle.loads(path.read_bytes()) if each.statements]
    groups = _grouped([each for each in cases if training(each.article) and each.language in LANGUAGES])
    bound = _validated(groups)
    answerable = groups["answerable"]
    weights, (coefficients, bias) = _fit(groups)
    languages = {each.case.language for each in answerable}
    articles = {each.case.article for each in answerable}
    provenance = (
        f"XQuAD (CC BY-SA 4.0), {len(answerable)} questions in {len(languages)} languages about {len(articles)}"
        f" articles, and {len(groups['foreign'])} without an answer; bench/relevance_training.py"
    )
    said = {
        "provenance": provenance,
        "statement": dict(zip(NAMES, [round(float(each), 3) for each in weights], strict=True)),
        "chance": dict(zip(scoring.CHANCE_NAMES, [round(float(each), 3) for each in coefficients], strict=True)),
        "bias": round(bias, 3),
        "bound": round(bound, 3),
        "margin": round(_margin(answerable, weights), 2),
    }
    print(json.dumps(said, indent=2))


def _grouped(shown: Sequence[Case]) -> Groups:
    """The cases by what is to be told apart: with an answer, and without one in several ways."""
    own = [see(each) for each in shown]
    answerable = [each for each in own if any(each.case.own)]
    return {
        "answerable": answerable,
        "foreign": [each for each in own if not any(each.case.own)],
        "paragraph taken away": [see(taken) for each in answerable[::4] if (taken := without(each.case)).statements],
        "one document": [see(alone(each)) for each in shown[1::2] if any(each.own)],
        "one other document": [see(taken) for each in shown[1::2] if (taken := _first(each)).statements],
    }


def _validated(groups: Groups) -> float:
    """The bound at which `LOST` of the answerable are given up.

    Each is judged by weights which never saw its article.
    """
    articles = sorted({each.case.article for group in groups.values() for each in group})
    tops: dict[str, list[bool]] = {}
    chances: dict[str, list[float]] = {}
    for fold in range(FOLDS):
        held = set(articles[fold::FOLDS])
        weights, model = _fit({k: [e for e in group if e.case.article not in held] for k, group in groups.items()})
        for kind, group in groups.items():
            found = [chance(each, weights, model) for each in group if each.case.article in held]
            chances.setdefault(kind, []).extend(found)
        for each in groups["answerable"]:
            for most in (1, 2, 3) if each.case.article in held else ():
                tops.setdefault(f"{each.case.language} in {most}", []).append(answered(each, weights, most))
    for name, right in sorted(tops.items()):
        print(f"{name}: {100 * np.mean(right):.1f} % of {len(right)}", file=sys.stderr)
    kept = sorted(chances["answerable"])
    bound = float(kept[int(LOST * len(kept))])
    for kind, values in chances.items():
        below = 100 * np.mean([value < bound for value in values])
        print(f"{kind}: {below:.1f} % of {len(values)} below", file=sys.stderr)
    return bound


def _margin(answerable: Sequence[Seen], weights: np.ndarray) -> float:
    """How far below the best the first right statement stands, in all but some of those where it is not the best."""
    below = []
    for each in answerable:
        best = ranked(each, weights)
        right = next((judged.score for judged in best[: scoring.TOGETHER] if each.case.right[judged.place]), None)
        if right is not None and right < best[0].score:
            below.append(best[0].score - right)
    return float(np.quantile(below, WITHIN))


def _fit(groups: Groups) -> tuple[np.ndarray, tuple[np.ndarray, float]]:
    weights = fit_statements(groups["answerable"])
    return weights, fit_chance([each for group in groups.values() for each in group], weights)


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
