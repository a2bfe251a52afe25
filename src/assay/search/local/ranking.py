"""Which documents answer best: the whole document's score and its best passage's, added.

Both are BM25 (Robertson and Zaragoza 2009) as tantivy computes it. The passage finds the one sentence deep in a
long document, the document tells a page about the subject from one which mentions it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec
import tantivy

from assay.core.sources import Span
from assay.search.local.index import DOCUMENTS, PASSAGES, LocalIndex, unpack
from assay.search.local.words import Words, within

PASSAGE = 0.5
"""What the best passage's score counts beside the document's."""
CANDIDATES = 60
"""Documents looked at more closely, from each of both searches; four times the limit if that is more."""
READ = 12
"""Passages ranked per candidate, on average."""
SMALL = 1_000
"""A scope up to this size is looked up row by row; from a larger one more is fetched and filtered."""


class Ranked(msgspec.Struct, frozen=True):
    """A document by row, its score, its best passages (best first); `place` is None when only passages matched."""

    row: int
    score: float
    spans: tuple[Span, ...]
    place: tantivy.DocAddress | None


Found = tuple[int, tantivy.DocAddress, float]
"""A document or passage found: the document's row, where it is in the index, its score."""


class View:
    """One state of the index; commits after it was taken are not seen. Use it inside `reading()`."""

    def __init__(self, index: LocalIndex) -> None:
        self.documents, self.passages = index.documents.searcher(), index.passages.searcher()
        self.analyses = index.analyses

    def rank(self, asked: Words, scope: Collection[int] | None, limit: int, spans: int) -> list[Ranked]:
        """The best `limit` documents for a question, each with its best `spans` passages; `scope` None is all."""
        words = asked.reduced(self.documents)
        if not words.plain or (scope is not None and not scope):
            return []
        wanted = max(CANDIDATES, 4 * limit)
        in_documents, in_passages = words.in_documents(asked.numbered()), words.in_passages()
        found = self._documents(in_documents, scope, wanted)
        rows = {row for row, _, _ in found}
        others = set(self._passage_rows(in_passages, scope, wanted)) - rows
        rows |= others
        found += self._documents(in_documents, others, len(others))
        documents = {row: (place, score) for row, place, score in found}
        passages = self._best_passages(in_passages, rows)
        scores = {row: documents[row][1] if row in documents else 0.0 for row in rows}
        for row, best in passages.items():
            scores[row] += PASSAGE * best[0][1]
        order = sorted(scores, key=lambda row: (-scores[row], row))[:limit]
        return [
            Ranked(row, scores[row], self._spans(passages.get(row, [])[:spans]), documents.get(row, (None,))[0])
            for row in order
        ]

    def is_of(self, ranked: Ranked, sha256: str) -> bool:
        """Whether what was found is the document with this hash: rows of another library name others."""
        return ranked.place is None or self.documents.doc(ranked.place).get_first("sha256") == sha256

    def fields(self, ranked: Ranked) -> tuple[Span, ...]:
        """The first header fields of a document."""
        if ranked.place is None:
            return ()
        return tuple(map(unpack, self.documents.doc(ranked.place).get_all("field")))

    def _spans(self, passages: Iterable[tuple[tantivy.DocAddress, float]]) -> tuple[Span, ...]:
        return tuple(unpack(self.passages.doc(address)["span"][0]) for address, _ in passages)

    def _documents(self, query: tantivy.Query, scope: Collection[int] | None, limit: int) -> list[Found]:
        query = query if scope is None else within(DOCUMENTS, query, scope)
        return _hits(self.documents, query, limit)

    def _passage_rows(self, query: tantivy.Query, scope: Collection[int] | None, wanted: int) -> list[int]:
        """The documents of the best passages."""
        if scope is None or len(scope) <= SMALL:
            found = self._passage_hits(query, scope, 4 * wanted)
        else:
            share = len(scope) / max(self.documents.num_docs, 1)
            found = self._passage_hits(query, None, int(4 * wanted / share) + wanted)
            found = [hit for hit in found if hit[0] in scope]
            if len(found) < wanted:
                found = self._passage_hits(query, scope, 4 * wanted)
        return list(dict.fromkeys(row for row, _, _ in found))[:wanted]

    def _best_passages(
        self, query: tantivy.Query, rows: Collection[int]
    ) -> dict[int, list[tuple[tantivy.DocAddress, float]]]:
        """For each document its passages with their scores, best first."""
        best: dict[int, list[tuple[tantivy.DocAddress, float]]] = {}
        for row, address, score in self._passage_hits(query, rows, READ * len(rows)):
            best.setdefault(row, []).append((address, score))
        return best

    def _passage_hits(self, query: tantivy.Query, scope: Collection[int] | None, limit: int) -> list[Found]:
        query = query if scope is None else within(PASSAGES, query, scope)
        return _hits(self.passages, query, limit)


def _hits(searcher: tantivy.Searcher, query: tantivy.Query, limit: int) -> list[Found]:
    if not limit:
        return []
    hits = searcher.search(query, limit, count=False).hits
    rows = searcher.fast_field_values("row", [place for _, place in hits])
    return [(int(row or 0), place, score) for row, (score, place) in zip(rows, hits, strict=True)]
