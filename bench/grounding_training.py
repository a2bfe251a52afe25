"""Trains the built-in verifier's model on the training part of the labelled claims.

Needs scikit-learn, which nothing else here does. It does not read the report part. It writes `frequencies.txt` (how
rare each word is) and `model.json` in `assay.verify.verifier`.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from labelled import DATA, MACRO, Row, fold
from mutating import BREAKING
from mutations import DOCUMENTS, pairs, plainly
from paraphrasing import FAITHFUL
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import assay.verify.verifier
from assay.core.text import sentences
from assay.verify import checks
from assay.verify.claim_check import without_citations
from assay.verify.evidence import reword_numbers, text_evidence
from assay.verify.rules.quotes import verbatim_passage
from assay.verify.verifier import index as indexing
from assay.verify.verifier.index import tokens
from assay.verify.verifier.signs import claim_words, is_edited
from assay.verify.verifier.verdicts import features

FOLDS = 5
ROUNDS = 150
MADE = 0.04
"""What the rows made by code weigh, as a share of what the labelled ones do."""
EDITED_A_WAY = 300
PRECISE = 0.88
"""Precision of "supported" on the held-out folds, sets and labels weighing the same, without what no score supports."""
REFUTED = 0.75
"""Precision of "unsupported", likewise."""
PROVENANCE = {
    "weights": "labelled claims, the training part (bench/labelled.py): 60 % of the groups of each set, by hash; "
    "and edits of true claims by code (bench/mutating.py, bench/paraphrasing.py), of the training half of the pairs",
    "calibration": "Platt, on five held-out folds of the training part, sets and labels weighing the same; citations "
    "by number are taken out of claims",
    "supported": "the lowest bound with a precision of 0.88 on the held-out folds, sets and labels weighing the "
    "same, of claims to which nothing objects",
    "unsupported": "the highest bound with a precision of 0.75 on the held-out folds",
}
READ = 20_000
"""Characters of a document counted for the table of frequencies."""

Weights = Any


class Part(NamedTuple):
    """Rows as the learners take them: features, labels, sets, folds, and what weighs each."""

    x: Weights
    y: Weights
    sets: Weights
    folds: Weights
    weights: Weights

    def among(self, chosen: Weights) -> Part:
        return Part(*(column[chosen] for column in self))


class LabelledFeatures(NamedTuple):
    """What the rules and the words say of a row, as `decide` asks them."""

    row: Row
    found: dict[str, float]
    objected: bool
    vetoed: bool
    edited: bool


def train(rows: Sequence[Row]) -> str:
    """Fit, calibrate on held-out folds, choose the thresholds, write both files; what was chosen, in words."""
    folder = Path(assay.verify.verifier.__file__).parent
    (folder / "frequencies.txt").write_text(_frequencies(rows), encoding="utf-8")
    indexing._weights.cache_clear()
    examples = [each for row in rows if (each := _features_of(row))]
    names = tuple(examples[0].found)
    real = _part(examples, names)
    real = real._replace(weights=_weights(real.y, real.sets))
    made = _made_part(rows, names)
    held_out = _held_out(real, made, real.folds)
    objected, vetoed = (np.array([each[at] for each in examples]) for at in (2, 3))
    slope, veto, offset = _calibrated(held_out, objected, real.y, real.weights)
    scores = 1 / (1 + np.exp(-(slope * held_out + offset)))
    open = ~objected & ~np.array([each.edited for each in examples])
    supported, unsupported = _thresholds(scores, real, open)
    written = _written(names, _fit(*_joined(real, made)))
    written |= {"slope": slope, "offset": offset, "veto": veto, "supported": supported, "unsupported": unsupported}
    written |= {"provenance": PROVENANCE}
    (folder / "model.json").write_text(json.dumps(written, separators=(",", ":")) + "\n", encoding="utf-8")
    counts = f"{len(real.y)} rows, {len(made.y)} made by code, {len(names)} features"
    return "\n".join(
        (
            f"{counts}; supported from {supported}, unsupported below {unsupported}",
            _held_out_said("folds held out", held_out, real, open & ~vetoed, supported, (slope, offset)),
            _held_out_said(
                "sets held out",
                _held_out(real, made, np.array([_family(name) for name in real.sets])),
                real,
                open & ~vetoed,
                supported,
                (slope, offset),
            ),
        )
    )


def _features_of(row: Row) -> LabelledFeatures | None:
    evidence = text_evidence(row.doc)
    claim = without_citations(row.claim, row.doc)
    findings = checks.examine(claim, evidence)
    index = indexing.index_evidence(row.doc)
    seen = claim_words(reword_numbers(claim, findings), index)
    if not seen:
        return None
    objected = checks.objection(findings, evidence) is not None
    vetoed = checks.veto(claim, findings, evidence) is not None
    found = features(seen, index)
    return LabelledFeatures(row, found, objected, vetoed, is_edited(seen, found))


def _part(examples: Sequence[LabelledFeatures], names: Sequence[str]) -> Part:
    return Part(
        np.array([[each.found[name] for name in names] for each in examples], dtype=float),
        np.array([each.row.label for each in examples]),
        np.array([each.row.dataset for each in examples]),
        np.array([fold(each.row, FOLDS) for each in examples]),
        np.ones(len(examples)),
    )


def _made_part(rows: Sequence[Row], names: Sequence[str]) -> Part:
    """Edits of true claims, as far as they come to be weighed: false ones, and others which leave them true.

    Only of the half of the pairs which `mutations` trains on, and of no labelled row of the report part. Ways weigh by
    the root of what they gave, the labels the same, and all together `MADE` of what the labelled rows weigh.
    """
    known = {plainly(row.claim, row.doc): row for row in rows}
    examples: list[LabelledFeatures] = []
    ways: list[str] = []
    for pair in pairs(DATA.parent, "train"):
        row = known.get((pair.claim, pair.passage))
        if row is None and pair.origin not in DOCUMENTS:
            continue
        for way, edit in (*BREAKING.items(), *FAITHFUL.items()):
            if ways.count(way) >= EDITED_A_WAY:
                continue
            text = edit(pair.claim, pair.passage, random.Random(f"{way} {pair.claim}"))
            if not text or text == pair.claim or verbatim_passage(text, text_evidence(pair.passage)):
                continue
            group = row.group if row else pair.passage
            each = _features_of(Row(way, pair.origin, group, pair.passage, text, way in FAITHFUL))
            if each and not each.vetoed:
                examples.append(each)
                ways.append(way)
    part = _part(examples, names)
    weights = np.array([1 / math.sqrt(ways.count(way)) for way in ways])
    for label in (False, True):
        weights[part.y == label] /= weights[part.y == label].sum()
    return part._replace(weights=weights / 2)


def _joined(real: Part, made: Part) -> tuple[Weights, Weights, Weights]:
    """Features, labels and weights of both."""
    weights = np.r_[_weights(real.y, real.sets), made.weights / made.weights.sum() * MADE * len(real.y)]
    return np.vstack([real.x, made.x]), np.r_[real.y, made.y], weights


def _held_out(real: Part, made: Part, groups: Weights) -> Weights:
    """The log-odds of each row by a model which was fitted without the rows of its group."""
    found = np.zeros(len(real.y))
    for group in sorted(set(groups)):
        here = groups == group
        others = (
            made.folds != group if groups is real.folds else np.array([_family(name) != group for name in made.sets])
        )
        found[here] = _log_odds(_fit(*_joined(real.among(~here), made.among(others))), real.x[here])
    return found


def _family(name: str) -> str:
    """Sets which are parts of one set."""
    return "begin" if name.startswith("begin") else name


def _held_out_said(
    title: str, log_odds: Weights, real: Part, open: Weights, supported: float, platt: tuple[float, float]
) -> str:
    slope, offset = platt
    scores = 1 / (1 + np.exp(-(slope * log_odds + offset)))
    called = (scores >= supported) & open
    among = np.isin(real.sets, MACRO)
    verdict, likely = (
        np.mean([_balanced(chosen[real.sets == name], real.y[real.sets == name]) for name in MACRO])
        for chosen in (called, scores >= 0.5)
    )
    right = real.y[called & among]
    return (
        f"{title}: macro {verdict:.3f} at the verdict, {likely:.3f} at likely; "
        f"supported right {right.sum()}/{len(right)}; all sets {real.y[called].sum()}/{called.sum()}"
    )


def _balanced(called: Weights, y: Weights) -> float:
    return float((called[y].mean() + (~called)[~y].mean()) / 2)


def _frequencies(rows: Sequence[Row]) -> str:
    """How many sentences each stem stands in, as tenths of nats; stems in fewer than three are left out."""
    counts: Counter[str] = Counter()
    total = 0
    for doc in sorted({row.doc for row in rows}):
        for start, end in sentences(doc[:READ]):
            words = {token.stem for token in tokens(doc[start:end])}
            counts.update(words)
            total += bool(words)
    by_weight: dict[int, list[str]] = {}
    for stem, count in sorted(counts.items()):
        if count > 2:
            by_weight.setdefault(round(10 * math.log(total / count)), []).append(stem)
    return "".join(f"{tenths} {' '.join(stems)}\n" for tenths, stems in sorted(by_weight.items()))


def _weights(y: Weights, sets: Weights) -> Weights:
    """Labels of a set weigh the same; sets by the root of their size, those of the macro-average twice."""
    weights = np.zeros(len(y))
    for name in set(sets):
        for label in (False, True):
            here = (sets == name) & (y == label)
            weights[here] = (1 + (name in MACRO)) * math.sqrt(min((sets == name).sum(), 1500)) / max(1, here.sum())
    return weights * len(y) / weights.sum()


def _fit(x: Weights, y: Weights, weights: Weights) -> tuple[Any, Any, Any]:
    scaler = StandardScaler().fit(x)
    linear = LogisticRegression(C=0.02, max_iter=500).fit(scaler.transform(x), y, sample_weight=weights)
    boosted = HistGradientBoostingClassifier(
        max_iter=ROUNDS,
        learning_rate=0.05,
        max_leaf_nodes=8,
        min_samples_leaf=40,
        l2_regularization=5.0,
        max_features=0.3,
        early_stopping=False,
        random_state=0,
    ).fit(x, y, sample_weight=weights)
    return scaler, linear, boosted


def _log_odds(parts: tuple[Any, Any, Any], x: Weights) -> Weights:
    scaler, linear, boosted = parts
    return (linear.decision_function(scaler.transform(x)) + boosted.decision_function(x)) / 2


def _calibrated(log_odds: Weights, objected: Weights, y: Weights, weights: Weights) -> tuple[float, float, float]:
    """Slope, what an objection adds, and offset."""
    columns = np.column_stack([log_odds, objected])
    fitted = LogisticRegression(C=1e6).fit(columns, y, sample_weight=weights)
    slope, veto = fitted.coef_[0]
    return round(float(slope), 4), round(float(veto), 4), round(float(fitted.intercept_[0]), 4)


def _thresholds(scores: Weights, real: Part, open: Weights) -> tuple[float, float]:
    """The lowest score from which "supported" is precise enough, and the highest below which "unsupported" is.

    Claims which are not `open` are never called supported, whatever they score.
    """
    macro = np.isin(real.sets, MACRO)
    weights = _weights(real.y, real.sets)
    grid = np.arange(0.02, 0.99, 0.01)
    enough = [cut for cut in grid if _precise((scores >= cut) & open, real.y, weights, macro, PRECISE)]
    low = [cut for cut in grid if _precise(scores < cut, ~real.y, weights, macro, REFUTED)]
    return round(float(min(enough, default=0.99)), 2), round(float(max(low, default=0.01)), 2)


def _precise(called: Weights, right: Weights, weights: Weights, among: Weights, wanted: float) -> bool:
    called = called & among
    return called.sum() >= 50 and (weights * right)[called].sum() / weights[called].sum() >= wanted


def _written(names: Sequence[str], parts: tuple[Any, Any, Any]) -> dict[str, Any]:
    scaler, linear, boosted = parts
    return {
        "features": names,
        "mean": _rounded(scaler.mean_),
        "scale": _rounded(scaler.scale_),
        "weight": _rounded(linear.coef_[0]),
        "bias": round(float(linear.intercept_[0]), 5),
        "base": round(float(boosted._baseline_prediction.ravel()[0]), 5),
        "trees": [_tree(each[0].nodes) for each in boosted._predictors],
    }


def _tree(nodes: Any) -> dict[str, Any]:
    leaf = nodes["is_leaf"].astype(bool)
    return {
        "feature": [-1 if end else int(at) for at, end in zip(nodes["feature_idx"], leaf, strict=True)],
        "threshold": [0.0 if end else float(f"{at:.6g}") for at, end in zip(nodes["num_threshold"], leaf, strict=True)],
        "left": [int(at) for at in nodes["left"]],
        "right": [int(at) for at in nodes["right"]],
        "value": [round(float(at), 5) if end else 0.0 for at, end in zip(nodes["value"], leaf, strict=True)],
    }


def _rounded(values: Any) -> list[float]:
    return [float(f"{value:.6g}") for value in values]
