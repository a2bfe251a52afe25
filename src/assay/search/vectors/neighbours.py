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

PassageKey = tuple[int, int]
"""A passage: its document's row, and its place among the document's vectors."""


class Nearness(msgspec.Struct, frozen=True):
    """Nearness of passages to a question: by document's row, and the nearest of all passages, best first.

    `distances` (1 - cosine) are of all passages examined; `bounds` are the first and last place of each document, by
    row.
    """

    distances: array[float]
    bounds: Mapping[int, tuple[int, int]]
    nearest: tuple[tuple[PassageKey, float], ...]

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

    def find_nearest(self, query: bytes, scope: Collection[int] | None, limit: int) -> Nearness:
        """The cosines of a question with all passages of the rows in `scope` (None: all), and the `limit`
        nearest.
        """
        rows = [row for row in self._where if scope is None or row in scope]
        if not rows:
            return Nearness(array("d"), {}, ())
        covers_all = len(rows) == len(self._where)
        vectors = self._vectors if covers_all else b"".join(map(self._vectors_of, rows))
        distances = _distances(query, vectors, self.dimensions)
        starts = [0, *accumulate(self._where[row][1] for row in rows)]
        nearest = []
        for index in heapq.nsmallest(limit, range(len(distances)), key=distances.__getitem__):
            document = bisect_right(starts, index) - 1
            nearest.append(((rows[document], index - starts[document]), 1.0 - distances[index]))
        return Nearness(distances, dict(zip(rows, pairwise(starts), strict=True)), tuple(nearest))

    def _vectors_of(self, row: int) -> memoryview:
        start, count = self._where[row]
        return memoryview(self._vectors)[start * self.dimensions : (start + count) * self.dimensions]


def cosines(vector: bytes, vectors: bytes) -> list[float]:
    """The cosines of a vector with others of the same length, stored one after another."""
    return [1.0 - distance for distance in _distances(vector, vectors, len(vector))]


def _distances(query: bytes, vectors: bytes | bytearray, dimensions: int) -> array[float]:
    """1 minus the cosine of a vector with each of many; 1 for a vector of zeros, which is near to nothing."""
    query_view = memoryview(query).cast("b", shape=(1, dimensions))
    all_of_them = memoryview(vectors).cast("b", shape=(len(vectors) // dimensions, dimensions))
    result: Any = simsimd.cdist(query_view, all_of_them, metric="cosine")  # a buffer of float64, whatever its types say
    distances = array("d")
    distances.frombytes(memoryview(result).cast("B"))
    return distances


class NearestPassages(Protocol):
    """Nearness of passages to one question.

    `nearest` are the best of all passages in scope with their cosines, best first; `names` the hashes of documents by
    row, of those in `nearest` and of those looked up.
    """

    @property
    def nearest(self) -> Sequence[tuple[PassageKey, float]]: ...

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

    def find_nearest(self, query: bytes, scope: Collection[int] | None, limit: int) -> NearestPassages:
        """The `limit` nearest passages of the rows in `scope` (None: all)."""


class _InMemory:
    def __init__(self, nearness: Nearness, names: Mapping[int, str]) -> None:
        self._nearness, self.names = nearness, names

    @property
    def nearest(self) -> Sequence[tuple[PassageKey, float]]:
        return self._nearness.nearest

    def rows(self, documents: Collection[str]) -> Mapping[str, int]:
        return {name: row for row in self._nearness.bounds if (name := self.names[row]) in documents}

    def cosines(self, row: int) -> list[float]:
        return self._nearness.cosines(row)


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

    def find_nearest(self, query: bytes, scope: Collection[int] | None, limit: int) -> NearestPassages:
        return _InMemory(self._matrix.find_nearest(query, scope, limit), self._names)


# Texts: by cached vectors, and by an embedder for the others.

MAX_CACHE_BYTES = 64_000_000
"""Bytes of cached vectors."""
ATTEMPTS = 2
"""How often an embedder is tried while a run waits."""


class RecentVectors:
    """The vectors of recent texts, by kind and hash of the text. Thread-safe."""

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._vectors: OrderedDict[tuple[TextKind, bytes], bytes] = OrderedDict()
        self._max_bytes, self._size, self._guard = max_bytes, 0, threading.Lock()

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
            while self._size > self._max_bytes:
                self._size -= len(self._vectors.popitem(last=False)[1])


class EmbedderSimilarity:
    """Implements `core.ports.Similarity`. `is_allowed` says at each call whether the embedder may see this run's
    texts.
    """

    def __init__(
        self, embedder: Embedder, store: VectorStore, recent: RecentVectors, is_allowed: Callable[[], bool], batch: int
    ) -> None:
        self.name = embedder.name
        self._embedder, self._store, self._recent, self._is_allowed = embedder, store, recent, is_allowed
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
        if not self._is_allowed():
            raise SearchError(f"{self.name} must not receive private documents")
        text_vectors, first = self._vectors(texts, kind)
        other_vectors, second = self._vectors(others, "passage")
        if len({len(vector) for vector in (*text_vectors, *other_vectors)}) > 1:
            raise SearchError(
                f"{self.name} now gives vectors of another length than the stored ones: `assay docs embed --anew` makes"
                " all of them again"
            )
        return Cosines(
            tuple(tuple(cosines(text_vector, b"".join(other_vectors))) for text_vector in text_vectors),
            self._cost(first + second),
        )

    def _vectors(self, texts: Sequence[str], kind: TextKind) -> tuple[list[bytes], int]:
        """The vectors of texts, and the tokens that the embedder counted for them."""
        keys = [key_of(text[:MAX_TEXT_CHARS]) for text in texts]
        cached = {key: self._recent.get(kind, key) for key in keys}
        new = {key: text[:MAX_TEXT_CHARS] for key, text in zip(keys, texts, strict=True) if cached[key] is None}
        missing_keys = sorted(new, key=lambda key: (len(new[key]), key))
        computed: dict[bytes, bytes] = {}
        tokens = 0
        try:
            for start in range(0, len(missing_keys), self._batch):
                batch = missing_keys[start : start + self._batch]
                answer = embed(self._embedder, [new[key] for key in batch], kind, attempts=ATTEMPTS)
                computed |= zip(batch, map(quantize, answer.vectors), strict=True)
                tokens += answer.tokens
        finally:  # what was paid for is counted and cached, whatever happened to the rest
            self._recent.keep(kind, computed.items())
            if tokens:
                self._store.add_cost(tokens, self._cost(tokens).usd)
        return [cached[key] or computed[key] for key in keys], tokens

    def _cost(self, tokens: int) -> Usage:
        return Usage(input_tokens=tokens, usd=tokens * (self._embedder.price or 0.0) / 1e6)
