"""All vectors of a library in memory, and which of them point where a question does.

Every passage is looked at: 100,000 of 384 numbers take 7 ms (docs/benchmarks.md), and nothing near is missed.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_right
from collections.abc import Collection, Mapping
from itertools import accumulate
from typing import Any

import msgspec
import simsimd

Place = tuple[int, int]
"""A passage: its document's row, and its place among the document's vectors."""


class Nearness(msgspec.Struct, frozen=True):
    """How near passages are to a question: cosines by document's row, and the nearest of all passages, best first."""

    cosines: Mapping[int, array[float]]
    nearest: tuple[tuple[Place, float], ...]

    def best(self, row: int) -> float:
        """The cosine of a document's nearest passage."""
        return max(self.cosines[row])


class Matrix:
    """Vectors, one after another, by document; `dimensions` is 0 as long as there are none. Not for several threads."""

    def __init__(self) -> None:
        self.dimensions = 0
        self._vectors = bytearray()
        self._where: dict[int, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._vectors) // self.dimensions if self.dimensions else 0

    @property
    def rows(self) -> Collection[int]:
        """The documents."""
        return self._where.keys()

    def add(self, row: int, count: int, vectors: bytes) -> None:
        """Append a document's vectors."""
        self.dimensions = len(vectors) // count
        self._where[row] = (len(self), count)
        self._vectors += vectors

    def near(self, query: bytes, scope: Collection[int] | None, most: int) -> Nearness:
        """The cosines of a question with all passages of the rows in `scope` (None: all), and the `most` nearest."""
        rows = [row for row in self._where if scope is None or row in scope]
        if not rows:
            return Nearness({}, ())
        whole = len(rows) == len(self._where)
        vectors = self._vectors if whole else b"".join(map(self._of, rows))
        cosines = _cosines(query, vectors, self.dimensions)
        counts = [self._where[row][1] for row in rows]
        starts = [0, *accumulate(counts)]
        by_row = {row: cosines[start : start + count] for row, start, count in zip(rows, starts, counts, strict=False)}
        nearest = []
        for index in heapq.nlargest(most, range(len(cosines)), key=cosines.__getitem__):
            document = bisect_right(starts, index) - 1
            nearest.append(((rows[document], index - starts[document]), cosines[index]))
        return Nearness(by_row, tuple(nearest))

    def _of(self, row: int) -> memoryview:
        start, count = self._where[row]
        return memoryview(self._vectors)[start * self.dimensions : (start + count) * self.dimensions]


def _cosines(query: bytes, vectors: bytes | bytearray, dimensions: int) -> array[float]:
    """The cosine of a vector with each of many. A vector of zeros is near to nothing."""
    one = memoryview(query).cast("b", shape=(1, dimensions))
    all_of_them = memoryview(vectors).cast("b", shape=(len(vectors) // dimensions, dimensions))
    found: Any = simsimd.cdist(one, all_of_them, metric="cosine")  # a buffer of float64, whatever its types say
    distances = array("d")
    distances.frombytes(memoryview(found).cast("B"))
    return array("d", [1.0 - distance for distance in distances])
