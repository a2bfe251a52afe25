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
    MAX_COUNTED_WORDS,
    MAX_EXPLAINED_PASSAGES,
    MIN_TERM_LETTERS,
    PASSAGE_WEIGHT,
    PASSAGES_READ,
    SATURATION,
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
    feedback: Iterable[tuple[float, Collection[str]]], word_count: int, leave: Collection[str], frequencies: Frequencies
) -> Mapping[str, float]:
    """Index terms with their weights, where a word of the question weighs 1.

    `feedback` are the best documents: the score of each and the terms of its best passages. `word_count` is the
    number of words in the question, `leave` are excluded terms.
    """
    weights: dict[str, float] = defaultdict(float)
    for score, passage_terms in feedback:
        for term, times in Counter(passage_terms).items():
            weights[term] += score * times / (times + SATURATION)
    for term in leave:
        weights.pop(term, None)
    term_weights = {}
    for term, weight in heapq.nsmallest(MAX_COUNTED_WORDS, weights.items(), key=_by_descending_weight):
        count = frequencies.doc_freq("body", term) if len(term) >= MIN_TERM_LETTERS and not term.isdigit() else 0
        if FEEDBACK_RARE <= count <= FEEDBACK_COMMON * frequencies.num_docs:
            term_weights[term] = weight * math.log(frequencies.num_docs / count)
    best_terms = heapq.nsmallest(FEEDBACK_WORDS, term_weights.items(), key=_by_descending_weight)
    total = sum(weight for _, weight in best_terms)
    return {term: FEEDBACK_SHARE / (1 - FEEDBACK_SHARE) * word_count * weight / total for term, weight in best_terms}


def _by_descending_weight(term_weight: tuple[str, float]) -> tuple[float, str]:
    return -term_weight[1], term_weight[0]


class RankedDocument(msgspec.Struct, frozen=True):
    """A document by row, its score, its best passages (best first); `address` is None if only passages matched."""

    row: int
    score: float
    spans: tuple[PassageSpan, ...]
    address: tantivy.DocAddress | None


_NAMES = ("title", "name")
DocumentHit = tuple[int, tantivy.DocAddress, float]
"""A document or passage: the document's row, its place in the index, its score."""


PassagesByRow = dict[int, list[tuple[tantivy.DocAddress, float]]]
"""Passages by document, with their scores, best first."""
Lookup = Callable[[Sequence[int]], Mapping[int, Document]]
"""Returns documents by row; empty if the first, the best one, is named in the question."""


class CandidateDocuments(msgspec.Struct, frozen=True):
    """The candidates: the place and score of each document, and its passages."""

    documents: dict[int, tuple[tantivy.DocAddress, float]]
    passages: PassagesByRow

    def score(self, row: int) -> float:
        document_score = self.documents[row][1] if row in self.documents else 0.0
        return document_score + (PASSAGE_WEIGHT * self.passages[row][0][1] if row in self.passages else 0.0)

    def order(self) -> list[int]:
        """All rows, best first."""
        scores = {row: self.score(row) for row in self.documents.keys() | self.passages.keys()}
        return sorted(scores, key=lambda row: (-scores[row], row))


class QueryWeights(msgspec.Struct, frozen=True):
    """The words of a ranking: those of the question, and those added by feedback."""

    words: Words
    expansion: Mapping[str, float]


class IndexSnapshot:
    """One state of the index; later commits are not visible. Use it inside `index_errors()`."""

    def __init__(self, index: LocalIndex) -> None:
        self.documents, self.passages = index.documents.searcher(), index.passages.searcher()
        self.analyses = index.analyses

    def rarity(self, words: Words, scope: Collection[int] | None) -> Rarity:
        """How many passages in scope have each form of the question's words."""
        if scope is not None and not scope:
            return Rarity()
        terms = dict.fromkeys(form for forms in words.plain for form in forms)
        if scope is None:
            return Rarity(
                passages=self.passages.num_docs, holding={term: self.passages.doc_freq("text", term) for term in terms}
            )
        counts = {term: self._count(tantivy.Query.term_query(PASSAGES_SCHEMA, "text", term), scope) for term in terms}
        return Rarity(passages=self._count(tantivy.Query.all_query(), scope), holding=counts)

    def knows(self, words: Words) -> bool:
        """True if a document has one of the words, in its text, title or name."""
        text_counts = (self.documents.doc_freq("body", form) for forms in words.plain for form in forms)
        name_counts = (
            self.documents.doc_freq(field, form) for forms in words.name_forms for form in forms for field in _NAMES
        )
        return any(text_counts) or any(name_counts)

    def texts(self, query: tantivy.Query, scope: Collection[int] | None, limit: int) -> list[str]:
        """The texts of the best passages."""
        hits = self._passage_hits(query, scope, limit)
        return [span.text for span in self._spans((address, score) for _, address, score in hits)]

    def _count(self, query: tantivy.Query, scope: Collection[int]) -> int:
        result: Any = self.passages.search(
            restrict_to_rows(PASSAGES_SCHEMA, query, scope), 1, count=True
        )  # not in its stubs
        return int(result.count or 0)

    def rank_documents(
        self, question: Words, scope: Collection[int] | None, limit: int, spans: int, lookup: Lookup
    ) -> tuple[list[RankedDocument], QueryWeights]:
        """The best `limit` documents for a question, each with its best `spans` passages, and the words of the ranking.

        `scope` None is all.
        """
        words = question.select_informative(self.documents)
        if not words.plain or (scope is not None and not scope):
            return [], QueryWeights(words, {})
        candidate_count = max(CANDIDATE_DOCUMENTS, 4 * limit)
        in_documents, in_passages = words.document_query(question.numbered_names()), words.passage_query()
        candidates = self._candidates(in_documents, in_passages, scope, candidate_count)
        order = candidates.order()
        expansion: Mapping[str, float] = {}
        if len(order) >= FEEDBACK_LEAST and (best := lookup(order[:FEEDBACK_DOCUMENTS])):
            feedback = [
                (candidates.score(row), self._terms(candidates.passages.get(row, ()), best[row])) for row in best
            ]
            expansion = feedback_words(feedback, len(words.plain), question.stop, self.documents)
            rescored = self._documents(expand_query(in_documents, expansion), order, len(order))
            candidates = CandidateDocuments(
                {row: (address, score) for row, address, score in rescored}, candidates.passages
            )
            order = candidates.order()
        return [self._ranked_document(candidates, row, spans) for row in order[:limit]], QueryWeights(words, expansion)

    def _candidates(
        self, in_documents: tantivy.Query, in_passages: tantivy.Query, scope: Collection[int] | None, limit: int
    ) -> CandidateDocuments:
        """The best documents as a whole and those of the best passages, with both scores."""
        hits = self._documents(in_documents, scope, limit)
        rows = {row for row, _, _ in hits}
        other_rows = set(self._passage_rows(in_passages, scope, limit)) - rows
        hits += self._documents(in_documents, other_rows, len(other_rows))
        documents = {row: (address, score) for row, address, score in hits}
        return CandidateDocuments(documents, self._best_passages(in_passages, rows | other_rows))

    def _terms(self, passages: Iterable[tuple[tantivy.DocAddress, float]], document: Document) -> list[str]:
        """The index terms of a document's best passages."""
        analysis = analysis_of(document.language)
        spans = self._spans(list(passages)[:FEEDBACK_PASSAGES])
        return [term for span in spans for term in terms(span.text, analysis)]

    def word_shares(
        self, question: Words, weights: QueryWeights, rows: Sequence[int]
    ) -> dict[int, tuple[WordScore, ...]]:
        """The share of each word in these documents' scores, largest first: a score is a sum, and each part a query."""
        scores: dict[int, list[WordScore]] = {row: [] for row in rows}
        parts = [(part, False) for part in weights.words.document_parts(question.numbered_names())]
        for (word, field, query), added in parts + [(part, True) for part in expansion_parts(weights.expansion)]:
            for row, _, score in self._documents(query, rows, len(rows)):
                scores[row].append(WordScore(word=word, field=field, score=score, added=added))
        passages: dict[int, dict[tuple[int, int], list[WordScore]]] = {row: {} for row in rows}
        for word, field, query in weights.words.passage_parts():
            for row, address, score in self._passage_hits(query, rows, MAX_EXPLAINED_PASSAGES):
                passage_scores = passages[row].setdefault((address.segment_ord, address.doc), [])
                passage_scores.append(WordScore(word=word, field=field, score=PASSAGE_WEIGHT * score))
        for row, row_scores in passages.items():
            scores[row] += max(row_scores.values(), key=lambda parts: sum(part.score for part in parts), default=[])
        return {
            row: tuple(sorted(row_scores, key=lambda part: (-part.score, part.word)))
            for row, row_scores in scores.items()
        }

    def _ranked_document(self, candidates: CandidateDocuments, row: int, spans: int) -> RankedDocument:
        best, address = candidates.passages.get(row, [])[:spans], candidates.documents.get(row, (None,))[0]
        return RankedDocument(row, candidates.score(row), self._spans(best), address)

    def is_of(self, document: RankedDocument, sha256: str) -> bool:
        """True if a result is the document with this hash: rows of another library are other documents."""
        return document.address is None or self.documents.doc(document.address).get_first("sha256") == sha256

    def fields(self, document: RankedDocument) -> tuple[PassageSpan, ...]:
        """The first header fields of a document."""
        if document.address is None:
            return ()
        return tuple(map(unpack, self.documents.doc(document.address).get_all("field")))

    def _spans(self, passages: Iterable[tuple[tantivy.DocAddress, float]]) -> tuple[PassageSpan, ...]:
        return tuple(unpack(self.passages.doc(address)["span"][0]) for address, _ in passages)

    def _documents(self, query: tantivy.Query, scope: Collection[int] | None, limit: int) -> list[DocumentHit]:
        if scope is not None and len(scope) > SMALL_SCOPE:
            wider_limit = int(limit / self._share(scope)) + limit
            hits = _hits(self.documents, query, wider_limit)
            inside = [hit for hit in hits if hit[0] in scope]
            if len(inside) >= limit or len(hits) < wider_limit:
                return inside[:limit]
        query = query if scope is None else restrict_to_rows(DOCUMENTS_SCHEMA, query, scope)
        return _hits(self.documents, query, limit)

    def _share(self, scope: Collection[int]) -> float:
        return len(scope) / max(self.documents.num_docs, 1)

    def _passage_rows(self, query: tantivy.Query, scope: Collection[int] | None, limit: int) -> list[int]:
        """The documents of the best passages."""
        if scope is None or len(scope) <= SMALL_SCOPE:
            hits = self._passage_hits(query, scope, 4 * limit)
        else:
            hits = self._passage_hits(query, None, int(4 * limit / self._share(scope)) + limit)
            hits = [hit for hit in hits if hit[0] in scope]
            if len(hits) < limit:
                hits = self._passage_hits(query, scope, 4 * limit)
        return list(dict.fromkeys(row for row, _, _ in hits))[:limit]

    def _best_passages(self, query: tantivy.Query, rows: Collection[int]) -> PassagesByRow:
        """The best passages of each document; those of a long one do not keep out the others."""
        best: PassagesByRow = {}
        remaining = set(rows)
        while remaining:
            limit = PASSAGES_READ * len(remaining)
            hits = self._passage_hits(query, remaining, limit)
            for row, address, score in hits:
                best.setdefault(row, []).append((address, score))
            if len(hits) < limit:
                break
            remaining.difference_update(best)
        return best

    def _passage_hits(self, query: tantivy.Query, scope: Collection[int] | None, limit: int) -> list[DocumentHit]:
        query = query if scope is None else restrict_to_rows(PASSAGES_SCHEMA, query, scope)
        return _hits(self.passages, query, limit)


def shown_spans(
    view: IndexSnapshot, result: RankedDocument, matcher: TitleMatcher, document: Document
) -> tuple[PassageSpan, ...]:
    """The best passages, then the header fields of a document that the question names.

    Raises:
        IndexDamaged: the index belongs to another library.
    """
    with index_errors():
        if not view.is_of(result, document.sha256):
            raise IndexDamaged("it belongs to another library")
        if not matcher.is_named(document):
            return result.spans
        return tuple(dict.fromkeys((*result.spans, *view.fields(result))))


def _hits(searcher: tantivy.Searcher, query: tantivy.Query, limit: int) -> list[DocumentHit]:
    limit = min(limit, searcher.num_docs)  # room is made for all of them at once
    if not limit:
        return []
    hits = searcher.search(query, limit, count=False).hits
    rows = searcher.fast_field_values("row", [address for _, address in hits])
    return [(int(row or 0), address, score) for row, (score, address) in zip(rows, hits, strict=True)]
