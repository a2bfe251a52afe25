"""How near texts are in meaning, as a run asks: by vectors which are kept, and by an embedder for the others."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from assay.core.errors import SearchError
from assay.core.ports import Cosines, Embedder, TextKind
from assay.core.text import estimate_tokens
from assay.core.usage import Usage
from assay.search.vectors.neighbours import cosines
from assay.search.vectors.store import VectorStore
from assay.search.vectors.texts import LONGEST, embed, key_of, quantized

MOST_BYTES = 64_000_000
"""Bytes of vectors which are kept in memory."""
ATTEMPTS = 2
"""How often an embedder is asked while a run waits."""


class Remembered:
    """The vectors of texts which were seen of late, by kind and hash of the text. Any thread may use it."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._vectors: OrderedDict[tuple[TextKind, bytes], bytes] = OrderedDict()
        self._most, self._size, self._guard = most, 0, threading.Lock()

    def of(self, kind: TextKind, key: bytes) -> bytes | None:
        """The vector of a text; None where it is not known."""
        with self._guard:
            if (kind, key) in self._vectors:
                self._vectors.move_to_end((kind, key))
            return self._vectors.get((kind, key))

    def keep(self, kind: TextKind, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep vectors, by the keys of their texts; what was seen longest ago goes."""
        with self._guard:
            for key, vector in vectors:
                self._size += len(vector) - len(self._vectors.pop((kind, key), b""))
                self._vectors[kind, key] = vector
            while self._size > self._most:
                self._size -= len(self._vectors.popitem(last=False)[1])


class EmbedderSimilarity:
    """Implements `core.ports.Similarity`. `told` is asked each time whether the embedder may be told of this run."""

    def __init__(
        self,
        embedder: Embedder,
        store: VectorStore,
        remembered: Remembered,
        told: Callable[[], bool],
        batch: int,
    ) -> None:
        self.name = embedder.name
        self._embedder, self._store, self._remembered, self._told = embedder, store, remembered, told
        self._batch = batch

    def most(self, texts: Sequence[str]) -> Usage:
        """What they cost where no vector of them is known."""
        return self._cost(sum(estimate_tokens(text[:LONGEST]) for text in texts))

    async def cosines(self, texts: Sequence[str], others: Sequence[str], kind: TextKind = "passage") -> Cosines:
        """See the port. Of a long text the beginning counts.

        Raises:
            SearchError: the embedder does not answer, or may not be told of these texts; or vectors of another length
                than those kept come back.
        """
        return await asyncio.to_thread(self._compared, texts, others, kind)

    def _compared(self, texts: Sequence[str], others: Sequence[str], kind: TextKind) -> Cosines:
        if not texts or not others:
            return Cosines(tuple(() for _ in texts))
        if not self._told():
            raise SearchError(f"{self.name} may not be told of private documents")
        ones, first = self._vectors(texts, kind)
        rest, second = self._vectors(others, "passage")
        if len({len(vector) for vector in (*ones, *rest)}) > 1:
            raise SearchError(
                f"{self.name} gives vectors of another length now than those kept: `assay docs embed --anew` makes all"
                " of them again"
            )
        return Cosines(tuple(tuple(cosines(one, b"".join(rest))) for one in ones), self._cost(first + second))

    def _vectors(self, texts: Sequence[str], kind: TextKind) -> tuple[list[bytes], int]:
        """The vectors of texts, and the tokens the embedder counted for them."""
        keys = [key_of(text[:LONGEST]) for text in texts]
        known = {key: self._remembered.of(kind, key) for key in keys}
        new = {key: text[:LONGEST] for key, text in zip(keys, texts, strict=True) if known[key] is None}
        ordered = sorted(new, key=lambda key: (len(new[key]), key))
        made: dict[bytes, bytes] = {}
        tokens = 0
        try:
            for start in range(0, len(ordered), self._batch):
                some = ordered[start : start + self._batch]
                answer = embed(self._embedder, [new[key] for key in some], kind, attempts=ATTEMPTS)
                made |= zip(some, map(quantized, answer.vectors), strict=True)
                tokens += answer.tokens
        finally:  # what was paid for is counted and kept, whatever became of the rest
            self._remembered.keep(kind, made.items())
            if tokens:
                self._store.count(tokens, self._cost(tokens).usd)
        return [known[key] or made[key] for key in keys], tokens

    def _cost(self, tokens: int) -> Usage:
        return Usage(input_tokens=tokens, usd=tokens * (self._embedder.price or 0.0) / 1e6)
