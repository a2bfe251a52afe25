"""The passages nearest to a question, among those which are kept: in memory, level with what others add."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from assay.search.vectors.matrix import Matrix, Place
from assay.search.vectors.matrix import Nearness as MatrixNearness
from assay.search.vectors.store import VectorStore


class NearestPassages(Protocol):
    """How near passages are to one question.

    `nearest` are the best of all passages in scope with their cosines, best first; `names` the hashes of documents by
    row, of those in `nearest` and of those which were looked up.
    """

    @property
    def nearest(self) -> Sequence[tuple[Place, float]]: ...

    @property
    def names(self) -> Mapping[int, str]: ...

    def rows(self, documents: Collection[str]) -> Mapping[str, int]:
        """The rows of these documents, by hash; of those in scope which have vectors."""
        ...

    def cosines(self, row: int) -> list[float]:
        """The cosines of the passages of a document which was looked up, in their order."""
        ...


class Neighbours(Protocol):
    """Vectors which can be asked for the nearest. For one thread at a time.

    Raises (all methods):
        SearchFailed: the database cannot be used.
    """

    @property
    def dimensions(self) -> int:
        """Numbers of a vector; 0 as long as there are none."""
        ...

    def level(self) -> None:
        """Take in what was added, and leave out what was taken out."""
        ...

    def near(self, query: bytes, scope: Collection[int] | None, most: int) -> NearestPassages:
        """The `most` nearest passages of the rows in `scope` (None: all)."""
        ...


class _InMemory:
    def __init__(self, found: MatrixNearness, names: Mapping[int, str]) -> None:
        self._found, self.names = found, names

    @property
    def nearest(self) -> Sequence[tuple[Place, float]]:
        return self._found.nearest

    def rows(self, documents: Collection[str]) -> Mapping[str, int]:
        return {name: row for row in self._found.bounds if (name := self.names[row]) in documents}

    def cosines(self, row: int) -> list[float]:
        return self._found.cosines(row)


class MemoryNeighbours:
    """All vectors in memory: `matrix` looks at each. Implements `Neighbours`."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._matrix, self._extent = Matrix(), (0, 0)
        self._names: dict[int, str] = {}

    @property
    def dimensions(self) -> int:
        """See the protocol."""
        return self._matrix.dimensions

    def level(self) -> None:
        """See the protocol."""
        highest, count = self._store.extent()
        if (highest, count) == self._extent:
            return
        added = highest - self._extent[0]
        if added < 0 or count - self._extent[1] != added:  # not only added
            self._matrix, self._extent = Matrix(), (0, 0)
        for row, sha256, passages, vectors in self._store.loaded(self._extent[0]):
            self._matrix.add(row, passages, vectors)
            self._names[row] = sha256
        self._extent = (highest, count)

    def near(self, query: bytes, scope: Collection[int] | None, most: int) -> NearestPassages:
        """See the protocol."""
        return _InMemory(self._matrix.near(query, scope, most), self._names)
