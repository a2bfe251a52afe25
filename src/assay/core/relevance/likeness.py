"""Keys which are near to each other: forms a stemmer keeps apart, and parts of compounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from assay.core.relevance.statements import is_unspaced

LEAST = 4
"""Letters two near keys have in common at their beginning."""
SHARE = 0.7
"""The same, as a share of the longer one."""
LEAST_PART = 5
"""Letters of a key which is found inside another: `system` in `nervensystem`."""
NEAR = 0.6
"""What a near key counts."""


def near_keys(wanted: Iterable[str], held: Iterable[str]) -> dict[str, frozenset[str]]:
    """For each key which is wanted, the other keys held which are near to it."""
    asked = {key for key in wanted if _is_word(key) and not is_unspaced(key)}
    found: dict[str, set[str]] = defaultdict(set)
    for other in filter(_is_word, set(held)):
        for key in asked:
            if key != other and _is_near(key, other):
                found[key].add(other)
    return {key: frozenset(others) for key, others in found.items()}


def _is_word(key: str) -> bool:
    """Whether a key is long enough, and has no digit: vowel signs of Indic scripts are no letters, and belong to it."""
    return len(key) >= LEAST and (key.isalpha() or not any(map(str.isdigit, key)))


def _is_near(one: str, other: str) -> bool:
    if one[:LEAST] == other[:LEAST] and _common(one, other) >= SHARE * max(len(one), len(other)):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= LEAST_PART and short in long


def _common(one: str, other: str) -> int:
    """The length of the beginning which both have."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
