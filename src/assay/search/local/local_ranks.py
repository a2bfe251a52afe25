"""Ranks documents: the score of the whole document plus that of its best passage.

Both are BM25 (Robertson and Zaragoza 2009) as tantivy computes it. The passage finds one sentence deep in a long
document; the document distinguishes a page about the subject from one that only mentions it. If the question names no
document, the common words of the best documents reorder the results. They find no further documents, so every result
has a word of the question.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import tantivy

from assay.core.errors import IndexDamaged
from assay.core.lexicon import analysis_of, terms
from assay.core.messages import Rarity
from assay.core.ports import WordScore
from assay.core.sources import Document, PassageSpan
from assay.search.local.index import DOCUMENTS_SCHEMA, PASSAGES_SCHEMA, LocalIndex, index_errors, unpack
from assay.search.local.words import (
    CANDIDATE_DOCUMENTS,
    FEEDBACK_COMMON,
    FEEDBACK_DOCUMENTS,
    FEEDBACK_LEAST,
    FEEDBACK_PASSAGES,
    FEEDBACK_RARE,
    FEEDBACK_SHARE,
    FEEDBACK_WORDS,
    MOST_COUNTED,
    MOST_EXPLAINED,
    PASSAGE_WEIGHT,
    PASSAGES_READ,
    SATURATION,
    SHORTEST_TERM,
    SMALL_SCOPE,
    Frequencies,
    TitleMatcher,
    Words,
    expand_query,
    expansion_parts,
    restrict_to_rows,
)

# More words for a question, from the best documents (pseudo-relevance feedback). After Rocchio (1971), with the weights
# of BM25: a word counts more if the documents with it are better, if they have it more often (with saturation), and if
# it is rarer elsewhere.


def feedback_words(
    found: Iterable[tuple[float, Collection[str]]], asked: int, leave: Collection[str], known: Frequencies
) -> Mapping[str, float]:
    """Index terms with their weights, where a word of the question weighs 1.

    `found` are the best documents: the score of each and the terms of its best passages. `asked` is the number of words
    in the question, `leave` are excluded terms.
    """
    weights: dict[str, float] = defaultdict(float)
    for score, held in found:
        for term, times in Counter(held).items():
            weights[term] += score * times / (times + SATURATION)
    for term in leave:
        weights.pop(term, None)
    weighed = {}
    for term, weight in heapq.nsmallest(MOST_COUNTED, weights.items(), key=_by_descending_weight):
        count = known.doc_freq("body", term) if len(term) >= SHORTEST_TERM and not term.isdigit() else 0
        if FEEDBACK_RARE <= count <= FEEDBACK_COMMON * known.num_docs:
            weighed[term] = weight * math.log(known.num_docs / count)
    taken = heapq.nsmallest(FEEDBACK_WORDS, weighed.items(), key=_by_descending_weight)
    total = sum(weight for _, weight in taken)
    return {term: FEEDBACK_SHARE / (1 - FEEDBACK_SHARE) * asked * weight / total for term, weight in taken}


def _by_descending_weight(weighed: tuple[str, float]) -> tuple[float, str]:
    return -weighed[1], weighed[0]


class RankedDocument(msgspec.Struct, frozen=True):
    """A document by row, its score, its best passages (best first); `place` is None if only passages matched."""

    row: int
    score: float
    spans: tuple[PassageSpan, ...]
    place: tantivy.DocAddress | None


_NAMES = ("title", "name")
Found = tuple[int, tantivy.DocAddress, float]
"""A document or passage: the document's row, its place in the index, its score."""


Passages = dict[int, list[tuple[tantivy.DocAddress, float]]]
"""Passages by document, with their scores, best first."""
Look = Callable[[Sequence[int]], Mapping[int, Document]]
"""Returns documents by row; empty if the first, the best one, is named in the question."""


class CandidateDocuments(msgspec.Struct, frozen=True):
    """The candidates: the place and score of each document, and its passages."""

    documents: dict[int, tuple[tantivy.DocAddress, float]]
    passages: Passages

    def score(self, row: int) -> float:
        """The score of a document."""
        whole = self.documents[row][1] if row in self.documents else 0.0
        return whole + (PASSAGE_WEIGHT * self.passages[row][0][1] if row in self.passages else 0.0)

    def order(self) -> list[int]:
        """All rows, best first."""
        scores = {row: self.score(row) for row in self.documents.keys() | self.passages.keys()}
        return sorted(scores, key=lambda row: (-scores[row], row))


class QueryWeights(msgspec.Struct, frozen=True):
    """The words of a ranking: those of the question, and those added by feedback."""

    words: Words
    more: Mapping[str, float]


class IndexSnapshot:
    """One state of the index; later commits are not visible. Use it inside `index_errors()`."""

    def __init__(self, index: LocalIndex) -> None:
        self.documents, self.passages = index.documents.searcher(), index.passages.searcher()
        self.analyses = index.analyses

    def rarity(self, asked: Words, scope: Collection[int] | None) -> Rarity:
        """How many passages in scope have each form of the question's words."""
        if scope is not None and not scope:
            return Rarity()
        terms = dict.fromkeys(form for forms in asked.plain for form in forms)
        if scope is None:
            return Rarity(
                passages=self.passages.num_docs, holding={term: self.passages.doc_freq("text", term) for term in terms}
            )
        held = {term: self._count(tantivy.Query.term_query(PASSAGES_SCHEMA, "text", term), scope) for term in terms}
        return Rarity(passages=self._count(tantivy.Query.all_query(), scope), holding=held)

    def knows(self, words: Words) -> bool:
        """True if a document has one of the words, in its text, title or name."""
        found = (self.documents.doc_freq("body", form) for forms in words.plain for form in forms)
        named = (self.documents.doc_freq(field, form) for forms in words.named for form in forms for field in _NAMES)
        return any(found) or any(named)

    def texts(self, query: tantivy.Query, scope: Collection[int] | None, most: int) -> list[str]:
        """The texts of the best passages."""
        hits = self._passage_hits(query, scope, most)
        return [span.text for span in self._spans((place, score) for _, place, score in hits)]

    def _count(self, query: tantivy.Query, scope: Collection[int]) -> int:
        found: Any = self.passages.search(
            restrict_to_rows(PASSAGES_SCHEMA, query, scope), 1, count=True
        )  # not in its stubs
        return int(found.count or 0)

    def rank_documents(
        self, asked: Words, scope: Collection[int] | None, limit: int, spans: int, look: Look
    ) -> tuple[list[RankedDocument], QueryWeights]:
        """The best `limit` documents for a question, each with its best `spans` passages, and the words of the ranking.

        `scope` None is all.
        """
        words = asked.select_informative(self.documents)
        if not words.plain or (scope is not None and not scope):
            return [], QueryWeights(words, {})
        wanted = max(CANDIDATE_DOCUMENTS, 4 * limit)
        in_documents, in_passages = words.document_query(asked.numbered_names()), words.passage_query()
        met = self._candidates(in_documents, in_passages, scope, wanted)
        order = met.order()
        more: Mapping[str, float] = {}
        if len(order) >= FEEDBACK_LEAST and (best := look(order[:FEEDBACK_DOCUMENTS])):
            found = [(met.score(row), self._terms(met.passages.get(row, ()), best[row])) for row in best]
            more = feedback_words(found, len(words.plain), asked.stop, self.documents)
            again = self._documents(expand_query(in_documents, more), order, len(order))
            met = CandidateDocuments({row: (place, score) for row, place, score in again}, met.passages)
            order = met.order()
        return [self._ranked_document(met, row, spans) for row in order[:limit]], QueryWeights(words, more)

    def _candidates(
        self, in_documents: tantivy.Query, in_passages: tantivy.Query, scope: Collection[int] | None, wanted: int
    ) -> CandidateDocuments:
        """The best documents as a whole and those of the best passages, with both scores."""
        found = self._documents(in_documents, scope, wanted)
        rows = {row for row, _, _ in found}
        others = set(self._passage_rows(in_passages, scope, wanted)) - rows
        found += self._documents(in_documents, others, len(others))
        documents = {row: (place, score) for row, place, score in found}
        return CandidateDocuments(documents, self._best_passages(in_passages, rows | others))

    def _terms(self, passages: Iterable[tuple[tantivy.DocAddress, float]], document: Document) -> list[str]:
        """The index terms of a document's best passages."""
        analysis = analysis_of(document.language)
        spans = self._spans(list(passages)[:FEEDBACK_PASSAGES])
        return [term for span in spans for term in terms(span.text, analysis)]

    def word_shares(self, asked: Words, weights: QueryWeights, rows: Sequence[int]) -> dict[int, tuple[WordScore, ...]]:
        """The share of each word in these documents' scores, largest first: a score is a sum, and each part a query."""
        given: dict[int, list[WordScore]] = {row: [] for row in rows}
        parts = [(part, False) for part in weights.words.document_parts(asked.numbered_names())]
        for (word, field, query), added in parts + [(part, True) for part in expansion_parts(weights.more)]:
            for row, _, score in self._documents(query, rows, len(rows)):
                given[row].append(WordScore(word=word, field=field, score=score, added=added))
        passages: dict[int, dict[tuple[int, int], list[WordScore]]] = {row: {} for row in rows}
        for word, field, query in weights.words.passage_parts():
            for row, place, score in self._passage_hits(query, rows, MOST_EXPLAINED):
                places = passages[row].setdefault((place.segment_ord, place.doc), [])
                places.append(WordScore(word=word, field=field, score=PASSAGE_WEIGHT * score))
        for row, found in passages.items():
            given[row] += max(found.values(), key=lambda parts: sum(part.score for part in parts), default=[])
        return {row: tuple(sorted(found, key=lambda part: (-part.score, part.word))) for row, found in given.items()}

    def _ranked_document(self, met: CandidateDocuments, row: int, spans: int) -> RankedDocument:
        best, place = met.passages.get(row, [])[:spans], met.documents.get(row, (None,))[0]
        return RankedDocument(row, met.score(row), self._spans(best), place)

    def is_of(self, ranked: RankedDocument, sha256: str) -> bool:
        """True if a result is the document with this hash: rows of another library are other documents."""
        return ranked.place is None or self.documents.doc(ranked.place).get_first("sha256") == sha256

    def fields(self, ranked: RankedDocument) -> tuple[PassageSpan, ...]:
        """The first header fields of a document."""
        if ranked.place is None:
            return ()
        return tuple(map(unpack, self.documents.doc(ranked.place).get_all("field")))

    def _spans(self, passages: Iterable[tuple[tantivy.DocAddress, float]]) -> tuple[PassageSpan, ...]:
        return tuple(unpack(self.passages.doc(address)["span"][0]) for address, _ in passages)

    def _documents(self, query: tantivy.Query, scope: Collection[int] | None, limit: int) -> list[Found]:
        if scope is not None and len(scope) > SMALL_SCOPE:
            asked = int(limit / self._share(scope)) + limit
            found = _hits(self.documents, query, asked)
            inside = [hit for hit in found if hit[0] in scope]
            if len(inside) >= limit or len(found) < asked:
                return inside[:limit]
        query = query if scope is None else restrict_to_rows(DOCUMENTS_SCHEMA, query, scope)
        return _hits(self.documents, query, limit)

    def _share(self, scope: Collection[int]) -> float:
        return len(scope) / max(self.documents.num_docs, 1)

    def _passage_rows(self, query: tantivy.Query, scope: Collection[int] | None, wanted: int) -> list[int]:
        """The documents of the best passages."""
        if scope is None or len(scope) <= SMALL_SCOPE:
            found = self._passage_hits(query, scope, 4 * wanted)
        else:
            found = self._passage_hits(query, None, int(4 * wanted / self._share(scope)) + wanted)
            found = [hit for hit in found if hit[0] in scope]
            if len(found) < wanted:
                found = self._passage_hits(query, scope, 4 * wanted)
        return list(dict.fromkeys(row for row, _, _ in found))[:wanted]

    def _best_passages(self, query: tantivy.Query, rows: Collection[int]) -> Passages:
        """The best passages of each document; those of a long one do not keep out the others."""
        best: Passages = {}
        left = set(rows)
        while left:
            most = PASSAGES_READ * len(left)
            hits = self._passage_hits(query, left, most)
            for row, address, score in hits:
                best.setdefault(row, []).append((address, score))
            if len(hits) < most:
                break
            left.difference_update(best)
        return best

    def _passage_hits(self, query: tantivy.Query, scope: Collection[int] | None, limit: int) -> list[Found]:
        query = query if scope is None else restrict_to_rows(PASSAGES_SCHEMA, query, scope)
        return _hits(self.passages, query, limit)


def shown_spans(
    view: IndexSnapshot, found: RankedDocument, asked: TitleMatcher, document: Document
) -> tuple[PassageSpan, ...]:
    """The best passages, then the header fields of a document that the question names.

    Raises:
        IndexDamaged: the index belongs to another library.
    """
    with index_errors():
        if not view.is_of(found, document.sha256):
            raise IndexDamaged("it belongs to another library")
        if not asked.is_named(document):
            return found.spans
        return tuple(dict.fromkeys((*found.spans, *view.fields(found))))


def _hits(searcher: tantivy.Searcher, query: tantivy.Query, limit: int) -> list[Found]:
    if not limit:
        return []
    hits = searcher.search(query, limit, count=False).hits
    rows = searcher.fast_field_values("row", [place for _, place in hits])
    return [(int(row or 0), place, score) for row, (score, place) in zip(rows, hits, strict=True)]
