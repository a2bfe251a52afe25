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
from assay.core.ports import Embedder, Explanation, Hit, Library, LibrarySearch, Query, RarityCounter
from assay.core.sources import PassageSpan
from assay.core.usage import Usage
from assay.search.local.index import unpack
from assay.search.local.words import MAX_QUESTION_CHARS
from assay.search.shared_index import PASSAGES_PER_HIT, ProgressLog, scope_of
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
    best_score = max(lexical.values(), default=0.0)
    high, low = max(cosines.values(), default=0.0), min(cosines.values(), default=0.0)
    scores = {}
    for document in lexical.keys() | cosines.keys():
        words = lexical.get(document, 0.0) / best_score if best_score else 0.0
        meaning = (cosines[document] - low) / (high - low) if document in cosines and high > low else words
        scores[document] = (1 - weight) * words + weight * meaning
    by_words, by_meaning = _ranks(lexical), _ranks(cosines)
    ranking = sorted(scores, key=lambda document: (-scores[document], document))
    return [
        FusedRank(
            document,
            scores[document],
            lexical.get(document),
            by_words.get(document),
            cosines.get(document),
            by_meaning.get(document),
        )
        for document in ranking
    ]


def merge_rankings(first: Sequence[T], second: Sequence[T]) -> list[T]:
    """Merge two rankings by reciprocal ranks, with common elements once."""
    scores: dict[T, float] = {}
    for ranking in (first, second):
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + 1 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda item: -scores[item])


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    ranking = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: rank for rank, key in enumerate(ranking, 1)}


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

    `is_allowed` says whether the embedder may see queries over the given collections.
    """

    name = "local"

    def __init__(
        self,
        index: WordIndex,
        store: VectorStore,
        embedder: Embedder,
        library: Library,
        is_allowed: Callable[[Sequence[str]], bool],
        weight: float,
    ) -> None:
        self.index, self._store, self._embedder, self._library = index, store, embedder, library
        self._is_allowed, self._weight = is_allowed, weight
        self.neighbours: Neighbours = MemoryNeighbours(store)
        self._questions: OrderedDict[str, bytes] = OrderedDict()
        self._guard = threading.RLock()
        self._thread_local = threading.local()  # the tokens of this thread's question
        self.recent_vectors = RecentVectors()

    async def search(self, query: Query) -> list[Hit]:
        return await asyncio.to_thread(self.search_blocking, query)

    async def search_with_usage(self, query: Query) -> tuple[list[Hit], Usage]:

        def work() -> tuple[list[Hit], Usage]:
            self._thread_local.tokens = 0
            hits = self.search_blocking(query)
            tokens = int(self._thread_local.tokens)
            return hits, Usage(input_tokens=tokens, usd=tokens * (self._embedder.price or 0.0) / 1e6)

        return await asyncio.to_thread(work)

    async def rarity(self, text: str, collections: Sequence[str]) -> Rarity:
        return await self.index.rarity(text, collections) if isinstance(self.index, RarityCounter) else Rarity()

    async def explain(self, query: Query) -> list[Explanation]:
        return await asyncio.to_thread(self.explain_blocking, query)

    def search_blocking(self, query: Query) -> list[Hit]:
        ranks = self.rank_documents(query)
        return self.index.search_blocking(query) if ranks is None else [hit for hit, _ in ranks]

    def rank_documents(self, query: Query) -> list[tuple[Hit, FusedRank]] | None:
        """The best documents with their ranks, blocking; None if only the index can be used."""
        with _library_errors():
            nearest_passages = self._nearest_passages(query)
            if nearest_passages is None:
                return None
            hits = self.index.search_blocking(msgspec.structs.replace(query, limit=_candidates_per_ranking(query)))
            return self._fuse_rankings(hits, nearest_passages, query)

    def explain_blocking(self, query: Query) -> list[Explanation]:
        with _library_errors():
            nearest_passages = self._nearest_passages(query)
            if nearest_passages is None:
                return self.index.explain_blocking(query)
            explanations = self.index.explain_blocking(
                msgspec.structs.replace(query, limit=_candidates_per_ranking(query))
            )
            fused_hits = self._fuse_rankings([explanation.hit for explanation in explanations], nearest_passages, query)
        words = {explanation.hit.document.sha256: explanation.words for explanation in explanations}
        return [
            Explanation(
                hit=hit,
                words=words.get(rank.document, ()),
                lexical=rank.lexical,
                lexical_rank=rank.lexical_rank,
                cosine=rank.cosine,
                cosine_rank=rank.cosine_rank,
            )
            for hit, rank in fused_hits
        ]

    def sync(self, progress: ProgressLog | None = None) -> None:
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
        text = query.text[:MAX_QUESTION_CHARS].strip()
        if query.limit < 1 or not any(map(str.isalnum, text)) or not self._is_allowed(query.collections):
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
                passage_count = PASSAGES_PER_CANDIDATE * _candidates_per_ranking(query)
                return self.neighbours.find_nearest(vector, scope_of(self._library, query.collections), passage_count)
        except (SearchError, ConfigError) as failed:
            log.warning("searching by words alone: %s", failed)
            return None

    def _vector(self, text: str) -> bytes:
        if text in self._questions:
            self._questions.move_to_end(text)
            return self._questions[text]
        answer = embed(self._embedder, [text], "query", attempts=1)
        self._thread_local.tokens = getattr(self._thread_local, "tokens", 0) + answer.tokens
        self._store.add_cost(answer.tokens, answer.tokens * (self._embedder.price or 0.0) / 1e6)
        self._questions[text] = quantize(answer.vectors[0])
        while len(self._questions) > CACHED_QUESTIONS:
            self._questions.popitem(last=False)
        return self._questions[text]

    # together

    def _fuse_rankings(
        self, hits: Sequence[Hit], nearest_passages: NearestPassages, query: Query
    ) -> list[tuple[Hit, FusedRank]]:
        hits_by_document = {hit.document.sha256: hit for hit in hits}
        nearest = dict.fromkeys(nearest_passages.names[row] for (row, _), _ in nearest_passages.nearest)
        candidates = dict.fromkeys([*hits_by_document, *list(nearest)[: _candidates_per_ranking(query)]])
        rows = nearest_passages.rows(candidates)
        cosines = {
            document: max(nearest_passages.cosines(rows[document])) for document in candidates if document in rows
        }
        best: list[tuple[Hit, FusedRank]] = []
        for rank in fuse_scores(
            {document: hit.score for document, hit in hits_by_document.items()}, cosines, self._weight
        ):
            hit = hits_by_document.get(rank.document) or self._hit_without_words(rank, rows[rank.document])
            if hit is not None:
                best.append((hit, rank))
            if len(best) == query.limit:
                break
        passages = self._passages([rows[rank.document] for _, rank in best if rank.document in rows], nearest_passages)
        return [(_fuse_hit(hit, rank, passages.get(rank.document, ())), rank) for hit, rank in best]

    def _hit_without_words(self, rank: FusedRank, row: int) -> Hit | None:
        """A document without any word of the question.

        None if it is not near, is gone from the library, or belongs to another one, whose rows say nothing about the
        scope.
        """
        if rank.score <= 0 or (rank.cosine or 0.0) <= 0:
            return None
        document = self._library.documents_at([row]).get(row)
        if document is None or document.sha256 != rank.document:
            return None
        return Hit(document=document, score=0.0)

    def _passages(self, rows: Sequence[int], nearest_passages: NearestPassages) -> Mapping[str, list[PassageSpan]]:
        """The nearest passages of each document, best first."""
        packed_spans = self._store.spans(rows)
        self.recent_vectors.keep("passage", self._store.texts(rows))  # what is found is compared next
        spans_by_document = {}
        for row, spans in packed_spans.items():
            cosines = nearest_passages.cosines(row)
            order = sorted(range(len(spans)), key=lambda index: (-cosines[index], index))[:PASSAGES_PER_HIT]
            spans_by_document[nearest_passages.names[row]] = [unpack(spans[index]) for index in order]
        return spans_by_document


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


def _fuse_hit(hit: Hit, rank: FusedRank, nearest_spans: Sequence[PassageSpan]) -> Hit:
    """A hit with its score, and its best passages by both rankings; further ones of the index follow."""
    spans_by_ordinal = {span.ordinal: span for span in (*nearest_spans, *hit.spans)}
    best = merge_rankings(
        [span.ordinal for span in hit.spans[:PASSAGES_PER_HIT]], [span.ordinal for span in nearest_spans]
    )[:PASSAGES_PER_HIT]
    further = [span.ordinal for span in hit.spans[PASSAGES_PER_HIT:]]
    spans = tuple(spans_by_ordinal[ordinal] for ordinal in dict.fromkeys([*best, *further]))
    return msgspec.structs.replace(hit, score=rank.score, spans=spans)
