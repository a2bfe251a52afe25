"""Which sources to open: those which stand highest in several searches together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from assay.agents.history import CallResult
from assay.core.passage_context import read

RANK_SMOOTHING = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def best(results: Sequence[CallResult], most: int) -> list[str]:
    """The ids of the sources that stand highest in several results together, by reciprocal rank fusion."""
    rated: defaultdict[str, float] = defaultdict(float)
    for result in results:
        for rank, source in enumerate(read(result.text), 1):
            rated[source.id] += 1 / (RANK_SMOOTHING + rank)
    return sorted(rated, key=lambda source: -rated[source])[:most]
