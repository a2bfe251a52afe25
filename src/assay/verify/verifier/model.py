"""The shipped model: a logistic regression and boosted trees over the features, read from `model.json`.

It is trained by `bench/grounding.py train`; docs/verification.md says on what, and how well it does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

import msgspec


class Tree(msgspec.Struct, frozen=True):
    """Nodes in arrays, the root first: at a leaf `feature` is -1; a value up to `threshold` goes left."""

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def of(self, row: Sequence[float]) -> float:
        node = 0
        while (feature := self.feature[node]) >= 0:
            node = self.left[node] if row[feature] <= self.threshold[node] else self.right[node]
        return self.value[node]


class VerifierModel(msgspec.Struct, frozen=True, kw_only=True):
    """`mean`, `scale`, `weight` and `bias` are the regression's, `trees` and `base` the boosted trees'.

    The mean of both log-odds is calibrated by `slope` and `offset` (Platt 1999), for as many supported claims as
    others; `veto` is added to the log-odds of a claim to which a deterministic rule objects. At `supported` and above
    a claim is called supported, below `unsupported` unsupported. `provenance` says what each was fitted on.
    """

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weight: tuple[float, ...]
    bias: float
    base: float
    trees: tuple[Tree, ...]
    slope: float
    offset: float
    veto: float
    supported: float
    unsupported: float
    provenance: dict[str, str] = {}

    def probability(self, features: Mapping[str, float]) -> float:
        """How probable it is that a claim with these features is supported."""
        row = [float(features[name]) for name in self.features]
        scaled = zip(row, self.mean, self.scale, self.weight, strict=True)
        linear = self.bias + sum((value - mean) / scale * weight for value, mean, scale, weight in scaled)
        boosted = self.base + sum(tree.of(row) for tree in self.trees)
        return _probability(self.offset + self.slope * (linear + boosted) / 2)

    def vetoed(self, score: float) -> float:
        """The probability, when a deterministic rule objects as well."""
        return _probability(math.log(score / (1 - score)) + self.veto)


def _probability(log_odds: float) -> float:
    """Between 0.001 and 0.999: words alone never make sure."""
    return 1 / (1 + math.exp(-min(6.9, max(-6.9, log_odds))))


@cache
def model() -> VerifierModel:
    """The shipped model."""
    data = resources.files(__package__).joinpath("model.json").read_bytes()
    return msgspec.json.decode(data, type=VerifierModel)
