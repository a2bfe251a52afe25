"""Ranks documents with OpenSearch: the whole document's score plus half its best passage's.

Both are BM25 as Lucene computes it; the words and their weights are those of the local index, without feedback. A
question is sent as terms, never as a text that OpenSearch would parse.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from assay.core.sources import PassageSpan
from assay.search.local.index import unpack
from assay.search.local.words import (
    CANDIDATE_DOCUMENTS,
    NAME_WEIGHT,
    NUMBER_GAP,
    NUMBERED_NAME,
    PASSAGE_WEIGHT,
    TITLE_WEIGHT,
    Words,
)
from assay.search.opensearch.client import OpenSearchClient
from assay.search.shared_index import IndexMatch

MAX_FILTER_TERMS = 65_536
"""Values of one filter (`index.max_terms_count`)."""
COUNTED_TERMS = 1_000
"""Words counted in one request."""
Json = dict[str, Any]


class RankedSource(IndexMatch, frozen=True):
    """A match with its document's hash and header fields."""

    sha256: str
    fields: tuple[PassageSpan, ...]


class TermCounts:
    """How many documents have a term: `Frequencies` for `Words.select_informative`."""

    def __init__(self, documents: int, counts: Mapping[tuple[str, str], int]) -> None:
        self.num_docs, self._counts = documents, counts

    def doc_freq(self, field_name: str, field_value: str) -> int:
        return self._counts.get((field_name, field_value), 0)


class OpenSearchQuestion:
    """A question over the indexes `documents` and `passages`."""

    def __init__(self, client: OpenSearchClient, documents: str, passages: str, question: Words, count: int) -> None:
        self._client, self._documents, self._passages, self._question = client, documents, passages, question
        self._words = question.select_informative(TermCounts(count, self._counts()))

    def rank(self, scope: Collection[int] | None, limit: int, spans: int) -> list[RankedSource]:
        """The best `limit` documents, each with its best `spans` passages; `scope` None is all."""
        if not self._words.plain:
            return []
        candidate_count = max(CANDIDATE_DOCUMENTS, 4 * limit)
        documents, best = self._document_hits(scope, candidate_count), self._passage_hits(scope, candidate_count, spans)
        # Each of the two was asked for its own best; now each is asked about the other's best.
        if others := best.keys() - documents.keys():
            documents |= self._document_hits(others, len(others))
        if others := documents.keys() - best.keys():
            best |= self._passage_hits(others, len(others), spans)
        scores = {
            row: (documents[row]["_score"] if row in documents else 0.0) + PASSAGE_WEIGHT * best.get(row, (0.0, ()))[0]
            for row in documents.keys() | best.keys()
        }
        order = sorted(scores, key=lambda row: (-scores[row], row))[:limit]
        if missing := [row for row in order if row not in documents]:
            documents |= self._query_documents([{"match_all": {"boost": 0.0}}], missing, len(missing))
        return [_ranked_source(row, scores[row], documents[row], best) for row in order if row in documents]

    def _counts(self) -> dict[tuple[str, str], int]:
        """The number of documents with each form."""
        field_forms = {("body", form) for forms in self._question.plain for form in forms}
        field_forms |= {
            (field, form) for forms in self._question.name_forms for form in forms for field in ("name", "title")
        }
        pairs = sorted(field_forms)
        counts: dict[tuple[str, str], int] = {}
        for first in range(0, len(pairs), COUNTED_TERMS):
            batch = pairs[first : first + COUNTED_TERMS]
            filters = {str(index): {"term": {field: form}} for index, (field, form) in enumerate(batch)}
            body = {"size": 0, "aggs": {"words": {"filters": {"filters": filters}}}}
            buckets = self._search(self._documents, body)["aggregations"]["words"]["buckets"]
            counts |= {pair: int(buckets[str(index)]["doc_count"]) for index, pair in enumerate(batch)}
        return counts

    def _document_hits(self, scope: Collection[int] | None, limit: int) -> dict[int, Json]:
        """The best documents as a whole, by row."""
        parts = [_term_query("body", forms, count) for forms, count in Counter(self._words.plain).items()]
        for field, weight in (("title", TITLE_WEIGHT), ("name", NAME_WEIGHT)):
            parts += [_term_query(field, forms, weight) for forms in dict.fromkeys(self._words.name_forms)]
            for words, number in self._question.numbered_names():
                parts += [
                    {"match_phrase": {field: {"query": f"{word} {number}", "slop": NUMBER_GAP, "boost": NUMBERED_NAME}}}
                    for word in words
                ]
        return self._query_documents(parts, scope, limit)

    def _query_documents(self, parts: Sequence[Json], scope: Collection[int] | None, limit: int) -> dict[int, Json]:
        body = {
            "size": limit,
            "query": _any_query(parts, scope),
            "sort": _ORDER,
            "track_scores": True,
            "track_total_hits": False,
            "_source": ["row", "sha256", "field"],
        }
        hits = self._search(self._documents, body)["hits"]["hits"]
        return {int(hit["_source"]["row"]): hit for hit in hits}

    def _passage_hits(
        self, scope: Collection[int] | None, limit: int, spans: int
    ) -> dict[int, tuple[float, tuple[PassageSpan, ...]]]:
        """The documents of the best passages, by row: the score of the best, and the best of each."""
        inner = {"name": "best", "size": spans, "sort": ["_score", {"ordinal": "asc"}], "_source": ["span"]}
        body = {
            "size": limit,
            "query": _any_query(
                [_term_query("text", forms, count) for forms, count in Counter(self._words.plain).items()], scope
            ),
            "collapse": {"field": "row", "inner_hits": inner},
            "sort": _ORDER,
            "track_scores": True,
            "track_total_hits": False,
            "_source": ["row"],
        }
        by_row = {}
        for hit in self._search(self._passages, body)["hits"]["hits"]:
            inside = hit["inner_hits"]["best"]["hits"]["hits"]
            by_row[int(hit["_source"]["row"])] = (
                hit["_score"],
                tuple(_span(passage["_source"]["span"]) for passage in inside),
            )
        return by_row

    def _search(self, index: str, body: Json) -> Json:
        # one way to count over several shards: otherwise each weighs words by its own documents
        return self._client.call("POST", f"/{index}/_search?search_type=dfs_query_then_fetch", body)


_ORDER: list[Any] = ["_score", {"row": "asc"}]


def _ranked_source(
    row: int, score: float, hit: Json, best: Mapping[int, tuple[float, tuple[PassageSpan, ...]]]
) -> RankedSource:
    source = hit["_source"]
    fields = tuple(map(_span, source.get("field", ())))
    return RankedSource(row, score, best.get(row, (0.0, ()))[1], source["sha256"], fields)


def _term_query(field: str, forms: Sequence[str], boost: float) -> Json:
    queries = [{"term": {field: {"value": form, "boost": boost}}} for form in forms]
    return queries[0] if len(queries) == 1 else {"dis_max": {"queries": queries}}


def _any_query(parts: Iterable[Json], scope: Collection[int] | None) -> Json:
    query: Json = {"should": list(parts), "minimum_should_match": 1}
    if scope is not None:
        query["filter"] = [rows_query(scope)]
    return {"bool": query}


def rows_query(rows: Collection[int]) -> Json:
    """The query for documents in these rows."""
    every = sorted(rows)
    clauses = [
        {"terms": {"row": every[first : first + MAX_FILTER_TERMS]}} for first in range(0, len(every), MAX_FILTER_TERMS)
    ]
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}


def to_base64(data: bytes) -> str:
    """Bytes in the form of a `binary` field."""
    return base64.b64encode(data).decode()


def _span(text: str) -> PassageSpan:
    return unpack(base64.b64decode(text))
