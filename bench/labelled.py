"""Claims labelled by people: read from $ASSAY_DATA/grounding, and split into a training and a report part.

Claims that share a document or their words are in the same part, by hash; in a set where that connects nearly all
claims (climate-fever), those that share their words.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[2] / "shared" / "data")) / "grounding"
MACRO = ("attributionbench", "wice", "summedits", "bump", "fever-symmetric", "factcheck-gpt", "climate-fever")
"""The sets of the macro-average: cited reports beside edited sentences and retrieved passages."""
EDITED = ("summedits", "bump", "fever-symmetric")
TRAINING = 60
"""Per cent of the groups."""
LARGEST = 0.1
"""Of a set; what hangs together in a larger group is split by claim."""


class Row(NamedTuple):
    """A claim, what it is held against, and whether that supports it."""

    id: str
    dataset: str
    group: str
    doc: str
    claim: str
    label: bool


def rows() -> list[Row]:
    """All rows, in the order of files and lines, with the group each belongs to."""
    found = [json.loads(line) for path in sorted(DATA.glob("*.jsonl.gz")) for line in _lines(path)]
    groups = _groups(found)
    sizes, totals = Counter(groups), Counter(row["dataset"] for row in found)
    return [
        Row(
            row["id"],
            row["dataset"],
            group if sizes[group] <= LARGEST * totals[row["dataset"]] else _key(row, "claim"),
            row["doc"],
            row["claim"],
            row["label"] == 1,
        )
        for row, group in zip(found, groups, strict=True)
    ]


def in_training(row: Row) -> bool:
    """Whether a row may be looked at when features, weights and thresholds are chosen."""
    return _number(row.group) % 100 < TRAINING


def fold(row: Row, folds: int) -> int:
    """Which of `folds` parts of the training part a row is in."""
    return _number("fold " + row.group) % folds


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def _groups(found: Sequence[dict[str, str]]) -> list[str]:
    """For each row the least key it hangs together with (union-find)."""
    parents: dict[str, str] = {}

    def root(key: str) -> str:
        while parents.setdefault(key, key) != key:
            parents[key] = parents[parents[key]]
            key = parents[key]
        return key

    for row in found:
        first, second = sorted((root(_key(row, "doc")), root(_key(row, "claim"))))
        parents[second] = first
    return [root(_key(row, "doc")) for row in found]


def _key(row: dict[str, str], what: str) -> str:
    return f"{row['dataset']} {what} {hashlib.sha256(row[what].encode()).hexdigest()}"


def _number(key: str) -> int:
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16)
