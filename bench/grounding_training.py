"""Trains the embedded verifier's model on the training part of the labelled claims.

Needs scikit-learn, which nothing else here does. The report part is not read. What is written: `frequencies.txt` (how
rare each word is) and `model.json` in `assay.verify.embedded`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from labelled import MACRO, Row, fold
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import assay.verify.embedded
from assay.core.text import sentences
from assay.verify.deciding import evidence_of, objection
from assay.verify.embedded import index as indexing
from assay.verify.embedded.features import features
from assay.verify.embedded.sight import sights
from assay.verify.embedded.tokens import tokens
from assay.verify.embedded.verdicts import edited

FOLDS = 5
ROUNDS = 150
PRECISE = 0.88
"""Precision of "supported" on the held-out folds, sets and labels weighing the same, without what no score supports."""
REFUTED = 0.75
"""Precision of "unsupported", likewise."""
PROVENANCE = {
    "weights": "labelled claims, the training part (bench/labelled.py): 60 % of the groups of each set, by hash",
    "calibration": "Platt, on five held-out folds of the training part, sets and labels weighing the same; citations "
    "by number are taken out of claims",
    "supported": "the lowest bound with a precision of 0.88 on the held-out folds, of claims without a sign of an edit",
    "unsupported": "the highest bound with a precision of 0.75 on the held-out folds",
}
READ = 20_000
"""Characters of a document counted for the table of frequencies."""

Weights = Any


def train(rows: Sequence[Row]) -> str:
    """Fit, calibrate on held-out folds, choose the thresholds, write both files; what was chosen, in words."""
    folder = Path(assay.verify.embedded.__file__).parent
    (folder / "frequencies.txt").write_text(_frequencies(rows), encoding="utf-8")
    indexing._weights.cache_clear()
    table = [(row, found) for row in rows if (found := _features(row))]
    names = tuple(table[0][1])
    x = np.array([[found[name] for name in names] for _, found in table], dtype=float)
    y = np.array([row.label for row, _ in table])
    sets = np.array([row.dataset for row, _ in table])
    folds = np.array([fold(row, FOLDS) for row, _ in table])
    held_out = np.zeros(len(y))
    for number in range(FOLDS):
        inside = folds != number
        parts = _fit(x[inside], y[inside], _weights(y[inside], sets[inside]))
        held_out[~inside] = _log_odds(parts, x[~inside])
    objected = np.array([objection(row.claim, evidence_of(row.doc)) is not None for row, _ in table])
    slope, veto, offset = _calibrated(held_out, objected, y, _weights(y, sets))
    scores = 1 / (1 + np.exp(-(slope * held_out + offset)))
    open = np.array([not edited(row.claim, row.doc) for row, _ in table]) & ~objected
    supported, unsupported = _thresholds(scores, y, sets, open)
    written = _written(names, _fit(x, y, _weights(y, sets)))
    written |= {"slope": slope, "offset": offset, "veto": veto, "supported": supported, "unsupported": unsupported}
    written |= {"provenance": PROVENANCE}
    (folder / "model.json").write_text(json.dumps(written, separators=(",", ":")) + "\n", encoding="utf-8")
    return f"{len(y)} rows, {len(names)} features; supported from {supported}, unsupported below {unsupported}"


def _features(row: Row) -> dict[str, float]:
    index = indexing.index(row.doc)
    found = sights(row.claim, index)
    return features(found, index) if found else {}


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


def _thresholds(scores: Weights, y: Weights, sets: Weights, open: Weights) -> tuple[float, float]:
    """The lowest score from which "supported" is precise enough, and the highest below which "unsupported" is.

    Claims which are not `open` are never called supported, whatever they score.
    """
    macro = np.isin(sets, MACRO)
    weights = _weights(y, sets)
    grid = np.arange(0.02, 0.99, 0.01)
    enough = [cut for cut in grid if _precise((scores >= cut) & open, y, weights, macro, PRECISE)]
    low = [cut for cut in grid if _precise(scores < cut, ~y, weights, macro, REFUTED)]
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
