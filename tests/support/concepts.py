"""Vectors for tests: words which mean the same point the same way, and all others somewhere of their own."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence

MEANINGS = {
    "car": "vehicle",
    "automobile": "vehicle",
    "serviced": "maintain",
    "maintenance": "maintain",
    "often": "period",
    "months": "period",
    "twelve": "period",
    "physician": "doctor",
    "surgeon": "doctor",
    "paid": "money",
    "salary": "money",
    "wage": "money",
}
DIMENSIONS = 64


def vector(text: str) -> list[float]:
    """A vector of `DIMENSIONS` numbers of length 1."""
    numbers = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        digest = hashlib.sha256(MEANINGS.get(word, word).encode()).digest()
        weight = 3.0 if word in MEANINGS else 0.3
        numbers[digest[0] % DIMENSIONS] += weight if digest[1] % 2 else -weight
    length = math.sqrt(sum(number * number for number in numbers)) or 1.0
    return [number / length for number in numbers]


def vectors(texts: Sequence[str]) -> list[list[float]]:
    """One vector for each text."""
    return [vector(text) for text in texts]
