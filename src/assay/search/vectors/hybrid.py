"""Hybrid search: combines the results of a word index and of vectors into one order.

It works with any index over the library. If vectors cannot be used (there are none yet, the embedder does not answer,
or it may not see a private collection), the answer is exactly that of the index.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

import msgspec

from assay.core.errors import ConfigError, SearchError, StoreError
from assay.core.messages import Rarity
from assay.core.ports import Counting, Embedder, Explanation, Hit, Library, LibrarySearch, Query
from assay.core.sources import PassageSpan
from assay.core.usage import Usage
from assay.search.local.index import unpack
from assay.search.local.words import MOST_CHARACTERS
from assay.search.shared_index import PASSAGES_PER_HIT, Say, scope_of
from assay.search.vectors.neighbours import MemoryNeighbours, NearestPassages, Neighbours, RecentVectors
from assay.search.vectors.store import VectorStore, embed, quantize

# Combines two rankings: by words, and by meaning.

T = TypeVar("T")
RANK_CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


class FusedRank(msgspec.Struct, frozen=True):
    """Why a document has its rank: score and rank by words, cosine and rank by meaning, and the combination.

    `document` is its hash. What a ranking does not know is None.
    """

    document: str
    score: float
    lexical: float | None
    lexical_rank: int | None
    cosine: float | None
    cosine_rank: int | None


def fuse_scores(lexical: Mapping[str, float], cosines: Mapping[str, float], weight: float) -> list[FusedRank]:
    """All candidates, best first. `weight` is that of meaning, from 0 to 1.

    A document without vectors counts as near as its words say: it neither gains nor loses.
    """
    most = max(lexical.values(), default=0.0)
    high, low = max(cosines.values(), default=0.0), min(cosines.values(), default=0.0)
    scores = {}
    for each in lexical.keys() | cosines.keys():
        words = lexical.get(each, 0.0) / most if most else 0.0
        meaning = (cosines[each] - low) / (high - low) if each in cosines and high > low else words
        scores[each] = (1 - weight) * words + weight * meaning
    by_words, by_meaning = _ranks(lexical), _ranks(cosines)
    ordered = sorted(scores, key=lambda each: (-scores[each], each))
    return [
        FusedRank(each, scores[each], lexical.get(each), by_words.get(each), cosines.get(each), by_meaning.get(each))
        for each in ordered
    ]


def merge_rankings(first: Sequence[T], second: Sequence[T]) -> list[T]:
    """Merge two rankings by reciprocal ranks, with common elements once."""
    scores: dict[T, float] = {}
    for ranking in (first, second):
        for rank, each in enumerate(ranking, 1):
            scores[each] = scores.get(each, 0.0) + 1 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda each: -scores[each])


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    ordered = sorted(scores, key=lambda each: (-scores[each], each))
    return {each: rank for rank, each in enumerate(ordered, 1)}


log = logging.getLogger(__name__)
CANDIDATE_DOCUMENTS = 60
"""Documents of each ranking that are combined; four times the limit if that is more."""
PASSAGES_PER_CANDIDATE = 10
"""Passages examined per candidate by meaning, on average."""
CACHED_QUESTIONS = 256
"""Questions whose vectors are cached: agents repeat them."""


class WordIndex(LibrarySearch, Protocol):
    """A search over the library by words that can be called from a thread."""

    def search_blocking(self, query: Query) -> list[Hit]:
        """`search`, blocking."""

    def explain_blocking(self, query: Query) -> list[Explanation]:
        """`explain`, blocking."""


class HybridSearch:
    """Search by words and by meaning over the library. Implements `core.ports.LibrarySearch`.

    `allowed` says whether the embedder may see queries over the given collections.
    """

    name = "local"

    def __init__(
        self,
        index: WordIndex,
        store: VectorStore,
        embedder: Embedder,
        library: Library,
        allowed: Callable[[Sequence[str]], bool],
        weight: float,
    ) -> None:
        self.index, self._store, self._embedder, self._library = index, store, embedder, library
        self._allowed, self._weight = allowed, weight
        self.neighbours: Neighbours = MemoryNeighbours(store)
        self._questions: OrderedDict[str, bytes] = OrderedDict()
        self._guard = threading.RLock()
        self._asked = threading.local()  # the tokens of this thread's question
        self.remembered = RecentVectors()

    async def search(self, query: Query) -> list[Hit]:
        return await asyncio.to_thread(self.search_blocking, query)

    async def search_with_usage(self, query: Query) -> tuple[list[Hit], Usage]:

        def work() -> tuple[list[Hit], Usage]:
            self._asked.tokens = 0
            hits = self.search_blocking(query)
            tokens = int(self._asked.tokens)
            return hits, Usage(input_tokens=tokens, usd=tokens * (self._embedder.price or 0.0) / 1e6)

        return await asyncio.to_thread(work)

    async def rarity(self, text: str, collections: Sequence[str]) -> Rarity:
        return await self.index.rarity(text, collections) if isinstance(self.index, Counting) else Rarity()

    async def explain(self, query: Query) -> list[Explanation]:
        return await asyncio.to_thread(self.explain_blocking, query)

    def search_blocking(self, query: Query) -> list[Hit]:
        """`search`, blocking."""
        ranked = self.rank_documents(query)
        return self.index.search_blocking(query) if ranked is None else [hit for hit, _ in ranked]

    def rank_documents(self, query: Query) -> list[tuple[Hit, FusedRank]] | None:
        """The best documents with their ranks, blocking; None if only the index can be used."""
        with _library_errors():
            near = self._nearest_passages(query)
            if near is None:
                return None
            hits = self.index.search_blocking(msgspec.structs.replace(query, limit=_candidates_per_ranking(query)))
            return self._fuse_rankings(hits, near, query)

    def explain_blocking(self, query: Query) -> list[Explanation]:
        """`explain`, blocking."""
        with _library_errors():
            near = self._nearest_passages(query)
            if near is None:
                return self.index.explain_blocking(query)
            explained = self.index.explain_blocking(
                msgspec.structs.replace(query, limit=_candidates_per_ranking(query))
            )
            fused_hits = self._fuse_rankings([each.hit for each in explained], near, query)
        words = {each.hit.document.sha256: each.words for each in explained}
        return [
            Explanation(
                hit=hit,
                words=words.get(fused.document, ()),
                lexical=fused.lexical,
                lexical_rank=fused.lexical_rank,
                cosine=fused.cosine,
                cosine_rank=fused.cosine_rank,
            )
            for hit, fused in fused_hits
        ]

    def sync(self, progress: Say | None = None) -> None:
        """Vectors are made by `VectorBuilder`, not here."""
        self.index.sync(progress)

    def forget(self, rows: Sequence[int]) -> None:
        self.index.forget(rows)
        self._store.forget(rows)

    def reindex_names(self, rows: Sequence[int]) -> None:
        """Vectors do not depend on names and addresses."""
        self.index.reindex_names(rows)

    def close(self) -> None:
        self._embedder.close()
        self._store.close()
        self.index.close()

    # by meaning

    def _nearest_passages(self, query: Query) -> NearestPassages | None:
        """The passages near to a question; None if vectors cannot be used."""
        text = query.text[:MOST_CHARACTERS].strip()
        if query.limit < 1 or not any(map(str.isalnum, text)) or not self._allowed(query.collections):
            return None
        try:
            with self._guard:
                self.neighbours.update()
                if not self.neighbours.dimensions:
                    return None
                vector = self._vector(text)
                if len(vector) != self.neighbours.dimensions:
                    raise SearchError(
                        f"{self._embedder.name} now gives vectors of {len(vector)} numbers, and the stored ones have"
                        f" {self.neighbours.dimensions}: `assay docs embed --anew` makes all of them again"
                    )
                most = PASSAGES_PER_CANDIDATE * _candidates_per_ranking(query)
                return self.neighbours.find_nearest(vector, scope_of(self._library, query.collections), most)
        except (SearchError, ConfigError) as failed:
            log.warning("searching by words alone: %s", failed)
            return None

    def _vector(self, text: str) -> bytes:
        if text in self._questions:
            self._questions.move_to_end(text)
            return self._questions[text]
        answer = embed(self._embedder, [text], "query", attempts=1)
        self._asked.tokens = getattr(self._asked, "tokens", 0) + answer.tokens
        self._store.add_cost(answer.tokens, answer.tokens * (self._embedder.price or 0.0) / 1e6)
        self._questions[text] = quantize(answer.vectors[0])
        while len(self._questions) > CACHED_QUESTIONS:
            self._questions.popitem(last=False)
        return self._questions[text]

    # together

    def _fuse_rankings(self, hits: Sequence[Hit], near: NearestPassages, query: Query) -> list[tuple[Hit, FusedRank]]:
        found = {hit.document.sha256: hit for hit in hits}
        nearest = dict.fromkeys(near.names[row] for (row, _), _ in near.nearest)
        candidates = dict.fromkeys([*found, *list(nearest)[: _candidates_per_ranking(query)]])
        rows = near.rows(candidates)
        cosines = {each: max(near.cosines(rows[each])) for each in candidates if each in rows}
        best: list[tuple[Hit, FusedRank]] = []
        for fused in fuse_scores({each: hit.score for each, hit in found.items()}, cosines, self._weight):
            hit = found.get(fused.document) or self._hit_without_words(fused, rows[fused.document])
            if hit is not None:
                best.append((hit, fused))
            if len(best) == query.limit:
                break
        passages = self._passages([rows[fused.document] for _, fused in best if fused.document in rows], near)
        return [(_fuse_hit(hit, fused, passages.get(fused.document, ())), fused) for hit, fused in best]

    def _hit_without_words(self, fused: FusedRank, row: int) -> Hit | None:
        """A document without any word of the question.

        None if it is not near, is gone from the library, or belongs to another one, whose rows say nothing about the
        scope.
        """
        if fused.score <= 0 or (fused.cosine or 0.0) <= 0:
            return None
        document = self._library.documents_at([row]).get(row)
        if document is None or document.sha256 != fused.document:
            return None
        return Hit(document=document, score=0.0)

    def _passages(self, rows: Sequence[int], near: NearestPassages) -> Mapping[str, list[PassageSpan]]:
        """The nearest passages of each document, best first."""
        packed = self._store.spans(rows)
        self.remembered.keep("passage", self._store.texts(rows))  # what is found is compared next
        found = {}
        for row, spans in packed.items():
            cosines = near.cosines(row)
            order = sorted(range(len(spans)), key=lambda place: (-cosines[place], place))[:PASSAGES_PER_HIT]
            found[near.names[row]] = [unpack(spans[place]) for place in order]
        return found


@contextmanager
def _library_errors() -> Iterator[None]:
    """Turn an error of the library into a failed search."""
    try:
        yield
    except StoreError as error:
        raise SearchError(f"local search: {error}") from error


def _candidates_per_ranking(query: Query) -> int:
    """How many documents of each ranking are candidates."""
    return max(CANDIDATE_DOCUMENTS, 4 * query.limit)


def _fuse_hit(hit: Hit, fused: FusedRank, near: Sequence[PassageSpan]) -> Hit:
    """A hit with its score, and its best passages by both rankings; further ones of the index follow."""
    known = {span.ordinal: span for span in (*near, *hit.spans)}
    best = merge_rankings([span.ordinal for span in hit.spans[:PASSAGES_PER_HIT]], [span.ordinal for span in near])[
        :PASSAGES_PER_HIT
    ]
    added = [span.ordinal for span in hit.spans[PASSAGES_PER_HIT:]]
    spans = tuple(known[ordinal] for ordinal in dict.fromkeys([*best, *added]))
    return msgspec.structs.replace(hit, score=fused.score, spans=spans)
