"""Similarity in meaning: the stored passages nearest to a question, and the similarity of any texts."""

from __future__ import annotations

import asyncio
import heapq
import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Protocol

import msgspec
import simsimd

from assay.core.errors import SearchError
from assay.core.ports import Cosines, Embedder, TextKind
from assay.core.text import estimate_tokens
from assay.core.usage import Usage
from assay.search.vectors.store import MAX_TEXT_CHARS, VectorStore, embed, key_of, quantize

# All vectors of a library in memory, and the search for the nearest.

Place = tuple[int, int]
"""A passage: its document's row, and its place among the document's vectors."""


class Nearness(msgspec.Struct, frozen=True):
    """Nearness of passages to a question: by document's row, and the nearest of all passages, best first.

    `distances` (1 - cosine) are of all passages examined; `bounds` are the first and last place of each document, by
    row.
    """

    distances: array[float]
    bounds: Mapping[int, tuple[int, int]]
    nearest: tuple[tuple[Place, float], ...]

    def cosines(self, row: int) -> list[float]:
        """The cosines of a document's passages, in their order."""
        start, end = self.bounds[row]
        return [1.0 - distance for distance in self.distances[start:end]]


class Matrix:
    """Vectors, one after another, by document; `dimensions` is 0 while there are none. Not thread-safe."""

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

    def find_nearest(self, query: bytes, scope: Collection[int] | None, most: int) -> Nearness:
        """The cosines of a question with all passages of the rows in `scope` (None: all), and the `most`
        nearest.
        """
        rows = [row for row in self._where if scope is None or row in scope]
        if not rows:
            return Nearness(array("d"), {}, ())
        whole = len(rows) == len(self._where)
        vectors = self._vectors if whole else b"".join(map(self._vectors_of, rows))
        distances = _distances(query, vectors, self.dimensions)
        starts = [0, *accumulate(self._where[row][1] for row in rows)]
        nearest = []
        for index in heapq.nsmallest(most, range(len(distances)), key=distances.__getitem__):
            document = bisect_right(starts, index) - 1
            nearest.append(((rows[document], index - starts[document]), 1.0 - distances[index]))
        return Nearness(distances, dict(zip(rows, pairwise(starts), strict=True)), tuple(nearest))

    def _vectors_of(self, row: int) -> memoryview:
        start, count = self._where[row]
        return memoryview(self._vectors)[start * self.dimensions : (start + count) * self.dimensions]


def cosines(one: bytes, others: bytes) -> list[float]:
    """The cosines of a vector with others of the same length, stored one after another."""
    return [1.0 - distance for distance in _distances(one, others, len(one))]


def _distances(query: bytes, vectors: bytes | bytearray, dimensions: int) -> array[float]:
    """1 minus the cosine of a vector with each of many; 1 for a vector of zeros, which is near to nothing."""
    one = memoryview(query).cast("b", shape=(1, dimensions))
    all_of_them = memoryview(vectors).cast("b", shape=(len(vectors) // dimensions, dimensions))
    found: Any = simsimd.cdist(one, all_of_them, metric="cosine")  # a buffer of float64, whatever its types say
    distances = array("d")
    distances.frombytes(memoryview(found).cast("B"))
    return distances


class NearestPassages(Protocol):
    """Nearness of passages to one question.

    `nearest` are the best of all passages in scope with their cosines, best first; `names` the hashes of documents by
    row, of those in `nearest` and of those looked up.
    """

    @property
    def nearest(self) -> Sequence[tuple[Place, float]]: ...

    @property
    def names(self) -> Mapping[int, str]: ...

    def rows(self, documents: Collection[str]) -> Mapping[str, int]:
        """The rows of these documents, by hash, if they are in scope and have vectors."""

    def cosines(self, row: int) -> list[float]:
        """The cosines of the passages of a looked-up document, in order."""


class Neighbours(Protocol):
    """Vectors that can be searched for the nearest. For one thread at a time.

    Raises (all methods):
        SearchError: the database cannot be used.
    """

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 while there are none."""

    def update(self) -> None:
        """Include added vectors, and drop removed ones."""

    def find_nearest(self, query: bytes, scope: Collection[int] | None, most: int) -> NearestPassages:
        """The `most` nearest passages of the rows in `scope` (None: all)."""


class _InMemory:
    def __init__(self, found: Nearness, names: Mapping[int, str]) -> None:
        self._found, self.names = found, names

    @property
    def nearest(self) -> Sequence[tuple[Place, float]]:
        return self._found.nearest

    def rows(self, documents: Collection[str]) -> Mapping[str, int]:
        return {name: row for row in self._found.bounds if (name := self.names[row]) in documents}

    def cosines(self, row: int) -> list[float]:
        return self._found.cosines(row)


class MemoryNeighbours:
    """All vectors in memory: `matrix` examines each. Implements `Neighbours`."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._matrix, self._extent = Matrix(), (0, 0)
        self._names: dict[int, str] = {}

    @property
    def dimensions(self) -> int:
        return self._matrix.dimensions

    def update(self) -> None:
        highest, count = self._store.highest_id_and_count()
        if (highest, count) == self._extent:
            return
        added = highest - self._extent[0]
        if added < 0 or count - self._extent[1] != added:  # not only additions
            self._matrix, self._extent = Matrix(), (0, 0)
        for _, row, sha256, passages, vectors in self._store.documents(self._extent[0]):
            self._matrix.add(row, passages, vectors)
            self._names[row] = sha256
        self._extent = (highest, count)

    def find_nearest(self, query: bytes, scope: Collection[int] | None, most: int) -> NearestPassages:
        return _InMemory(self._matrix.find_nearest(query, scope, most), self._names)


# Texts: by cached vectors, and by an embedder for the others.

MAX_CACHE_BYTES = 64_000_000
"""Bytes of cached vectors."""
ATTEMPTS = 2
"""How often an embedder is tried while a run waits."""


class RecentVectors:
    """The vectors of recent texts, by kind and hash of the text. Thread-safe."""

    def __init__(self, most: int = MAX_CACHE_BYTES) -> None:
        self._vectors: OrderedDict[tuple[TextKind, bytes], bytes] = OrderedDict()
        self._most, self._size, self._guard = most, 0, threading.Lock()

    def get(self, kind: TextKind, key: bytes) -> bytes | None:
        """The vector of a text; None if it is not cached."""
        with self._guard:
            if (kind, key) in self._vectors:
                self._vectors.move_to_end((kind, key))
            return self._vectors.get((kind, key))

    def keep(self, kind: TextKind, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Cache vectors, by the keys of their texts; the oldest are dropped."""
        with self._guard:
            for key, vector in vectors:
                self._size += len(vector) - len(self._vectors.pop((kind, key), b""))
                self._vectors[kind, key] = vector
            while self._size > self._most:
                self._size -= len(self._vectors.popitem(last=False)[1])


class EmbedderSimilarity:
    """Implements `core.ports.Similarity`. `told` says at each call whether the embedder may see this run's texts."""

    def __init__(
        self, embedder: Embedder, store: VectorStore, remembered: RecentVectors, told: Callable[[], bool], batch: int
    ) -> None:
        self.name = embedder.name
        self._embedder, self._store, self._remembered, self._told = embedder, store, remembered, told
        self._batch = batch

    def max_usage(self, texts: Sequence[str]) -> Usage:
        """Their cost if none of their vectors is cached."""
        return self._cost(sum(estimate_tokens(text[:MAX_TEXT_CHARS]) for text in texts))

    async def cosines(self, texts: Sequence[str], others: Sequence[str], kind: TextKind = "passage") -> Cosines:
        """See the port. Of a long text the beginning counts.

        Raises:
            SearchError: the embedder does not answer, or may not be told of these texts; or vectors of another length
                than those kept come back.
        """
        return await asyncio.to_thread(self._compute_cosines, texts, others, kind)

    def _compute_cosines(self, texts: Sequence[str], others: Sequence[str], kind: TextKind) -> Cosines:
        if not texts or not others:
            return Cosines(tuple(() for _ in texts))
        if not self._told():
            raise SearchError(f"{self.name} must not receive private documents")
        ones, first = self._vectors(texts, kind)
        rest, second = self._vectors(others, "passage")
        if len({len(vector) for vector in (*ones, *rest)}) > 1:
            raise SearchError(
                f"{self.name} now gives vectors of another length than the stored ones: `assay docs embed --anew` makes"
                " all of them again"
            )
        return Cosines(tuple(tuple(cosines(one, b"".join(rest))) for one in ones), self._cost(first + second))

    def _vectors(self, texts: Sequence[str], kind: TextKind) -> tuple[list[bytes], int]:
        """The vectors of texts, and the tokens that the embedder counted for them."""
        keys = [key_of(text[:MAX_TEXT_CHARS]) for text in texts]
        known = {key: self._remembered.get(kind, key) for key in keys}
        new = {key: text[:MAX_TEXT_CHARS] for key, text in zip(keys, texts, strict=True) if known[key] is None}
        ordered = sorted(new, key=lambda key: (len(new[key]), key))
        made: dict[bytes, bytes] = {}
        tokens = 0
        try:
            for start in range(0, len(ordered), self._batch):
                some = ordered[start : start + self._batch]
                answer = embed(self._embedder, [new[key] for key in some], kind, attempts=ATTEMPTS)
                made |= zip(some, map(quantize, answer.vectors), strict=True)
                tokens += answer.tokens
        finally:  # what was paid for is counted and cached, whatever happened to the rest
            self._remembered.keep(kind, made.items())
            if tokens:
                self._store.add_cost(tokens, self._cost(tokens).usd)
        return [known[key] or made[key] for key in keys], tokens

    def _cost(self, tokens: int) -> Usage:
        return Usage(input_tokens=tokens, usd=tokens * (self._embedder.price or 0.0) / 1e6)
