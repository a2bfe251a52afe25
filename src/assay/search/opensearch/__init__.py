"""Full-text search over the library, with an index in OpenSearch, updated before each search."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from assay.core.lexicon import analysis_of
from assay.core.ports import Hit, Library, Query
from assay.core.sources import Document, PassageSpan
from assay.search.local.index import indexed_texts, pack
from assay.search.local.words import TitleMatcher, Words
from assay.search.opensearch.client import Action, NoIndex, OpenSearchClient
from assay.search.opensearch.opensearch_ranks import OpenSearchQuestion, rows_query, to_base64
from assay.search.shared_index import (
    PASSAGES_PER_HIT,
    EachSpans,
    Say,
    ServerIndex,
    Turn,
    documents_after,
    ignore_progress,
    spans_or_title_only,
    without_lock,
)

__all__ = ["OpenSearchClient", "OpenSearchSearch"]


log = logging.getLogger(__name__)

INDEX_FORMAT = "3"
"""Part of the indexes' names; changes with their fields or the analysis."""
PAGE_DOCUMENTS, LOT_DOCUMENTS = 200, 500
"""Documents read and written at a time before they become visible: the most a killed process loses."""
MOST_BODY = 20_000_000
"""Code points of a document's terms: OpenSearch accepts no request above 100 MB."""
_ROW = {"type": "long"}
_TERMS = {"type": "text", "analyzer": "whitespace"}
_FREQUENCIES = {**_TERMS, "index_options": "freqs"}
_DOCUMENTS = {
    "row": _ROW,
    "sha256": {"type": "keyword", "index": False, "doc_values": False},
    "analysis": {"type": "keyword"},
    "title": _TERMS,
    "name": _TERMS,
    "body": _FREQUENCIES,
    "field": {"type": "binary"},
}
_PASSAGES = {"row": _ROW, "ordinal": {"type": "integer"}, "text": _FREQUENCIES, "span": {"type": "binary"}}
_KEPT = {"documents": ["row", "sha256", "field"], "passages": ["row", "ordinal", "span"]}


class IndexState(msgspec.Struct, frozen=True):
    """The progress of the index: its highest row, the number of documents, and their analyses."""

    row: int = 0
    documents: int = 0
    analyses: tuple[str, ...] = ()


class OpenSearchSearch(ServerIndex):
    """Full-text search with one index for all machines. Implements `core.ports.LibrarySearch`.

    The index is derived from the library: one of whole documents and one of passages, each behind an alias, so that a
    new one can be built beside it and replace it at once. The document index is written last, and says how far both
    are. One process writes at a time, in its `turn`. `segmenter` names how documents were cut: each version has its own
    indexes. `name` distinguishes the indexes of libraries.
    """

    def __init__(
        self,
        client: OpenSearchClient,
        library: Library,
        each_spans: EachSpans,
        segmenter: str,
        name: str = "assay",
        turn: Turn = without_lock,
    ) -> None:
        super().__init__(library)
        self._turn, self._client, self._each_spans = turn, client, each_spans
        base = f"{name}-{INDEX_FORMAT}-{segmenter.replace('/', '-')}"
        self._documents, self._passages = f"{base}-documents", f"{base}-passages"

    def sync(self, progress: Say | None = None) -> None:
        self._update_index(progress or ignore_progress)

    def forget(self, rows: Sequence[int]) -> None:
        if not rows:
            return
        for index in (self._passages, self._documents):
            try:
                self._client.delete(index, rows_query(rows))
            except NoIndex:
                continue  # nothing was indexed yet

    def reindex_names(self, rows: Sequence[int]) -> None:
        with self._turn(ignore_progress):
            state = self._find_state()
            if state is None:
                return
            for first in range(0, len(rows), PAGE_DOCUMENTS):
                found = self._library.documents_at(rows[first : first + PAGE_DOCUMENTS])
                known = {row: document for row, document in found.items() if row <= state.row}
                spans = zip(known.items(), self._each_spans(known.values()), strict=True)
                lot = [(row, document, spans_or_title_only(of, document)) for (row, document), of in spans]
                if lot:
                    self._write_documents(lot, self._documents, self._passages)

    def close(self) -> None:
        self._client.close()

    # updating

    def _update_index(self, say: Say) -> IndexState:
        """The state of the index after an update from the library."""
        last, state = self._library.last_row(), self._find_state()
        if state is not None and state.row == last:
            return state
        with self._turn(say):
            state = self._find_state()  # the process before may have done it
            if state is None or state.row > self._library.last_row():
                self._build(say, "" if state is None else "it knows documents the library does not have")
            elif state.row < last:
                self._add_after(state.row, self._documents, self._passages, say)
        return self._state()

    def _find_state(self) -> IndexState | None:
        """The state of the index; None if there is none."""
        try:
            return self._state()
        except NoIndex:
            return None

    def _state(self) -> IndexState:
        asked = {"last": {"max": {"field": "row"}}, "known": {"terms": {"field": "analysis", "size": 100}}}
        body = {"size": 0, "track_total_hits": True, "aggs": asked}
        answer = self._client.call("POST", f"/{self._documents}/_search", body)
        found = answer["aggregations"]
        analyses = tuple(bucket["key"] for bucket in found["known"]["buckets"])
        return IndexState(int(found["last"]["value"] or 0), int(answer["hits"]["total"]["value"]), analyses)

    def _build(self, say: Say, reason: str) -> None:
        """Rebuild both indexes beside the old ones, which answer until the new ones replace them."""
        if reason:
            log.warning("the search index is unusable (%s); building it again", reason)
        self._delete_abandoned()
        made = f"{time.time_ns():x}"
        documents, passages = f"{self._documents}-{made}", f"{self._passages}-{made}"
        for index, fields, kept in ((passages, _PASSAGES, "passages"), (documents, _DOCUMENTS, "documents")):
            mappings = {"dynamic": "strict", "_source": {"includes": _KEPT[kept]}, "properties": fields}
            self._client.call("PUT", f"/{index}", {"mappings": mappings})
        self._add_after(0, documents, passages, say)
        old = [*self._indexes_of_alias(self._documents), *self._indexes_of_alias(self._passages)]
        swap: list[dict[str, Any]] = [{"remove_index": {"index": index}} for index in old]
        swap += [
            {"add": {"index": documents, "alias": self._documents}},
            {"add": {"index": passages, "alias": self._passages}},
        ]
        self._client.call("POST", "/_aliases", {"actions": swap})

    def _delete_abandoned(self) -> None:
        """Remove indexes without an alias: their builder was killed before they were put into use."""
        ours = re.compile(f"({re.escape(self._documents)}|{re.escape(self._passages)})-[0-9a-f]+")
        there = self._client.call("GET", f"/{self._documents}-*,{self._passages}-*/_alias")
        for index in sorted(there):
            if ours.fullmatch(index) and not there[index]["aliases"]:
                self._client.call("DELETE", f"/{index}")

    def _indexes_of_alias(self, alias: str) -> list[str]:
        """The indexes behind an alias."""
        try:
            return sorted(self._client.call("GET", f"/{alias}/_alias"))
        except NoIndex:
            return []

    def _add_after(self, row: int, documents: str, passages: str, say: Say) -> None:
        """Index the documents after `row`, passages first, after removing remains of a killed process."""
        self._client.delete(passages, {"range": {"row": {"gt": row}}})
        waiting: list[tuple[int, Document, Sequence[PassageSpan]]] = []
        added = 0
        for found in documents_after(self._library, row, self._each_spans, PAGE_DOCUMENTS):
            waiting.append(found)
            if len(waiting) >= LOT_DOCUMENTS:
                added += self._write_documents(waiting, documents, passages)
                waiting = []
                say(f"indexed {added:,} documents")
        if waiting:
            added += self._write_documents(waiting, documents, passages)
            say(f"indexed {added:,} document{'s' if added != 1 else ''}")

    def _write_documents(
        self, lot: Sequence[tuple[int, Document, Sequence[PassageSpan]]], documents: str, passages: str
    ) -> int:
        whole: list[Action] = []

        def parts() -> Iterator[Action]:
            for row, document, spans in lot:
                found = indexed_texts(document, spans)
                for span, text in found.passages:
                    at = {"index": {"_index": passages, "_id": f"{row}.{span.ordinal}"}}
                    yield at, {"row": row, "ordinal": span.ordinal, "text": text, "span": to_base64(pack(span))}
                fields = {"title": found.title, "name": found.name, "body": found.body[:MOST_BODY]}
                kept = {"analysis": found.analysis, "field": [to_base64(pack(span)) for span in found.fields]}
                about: Mapping[str, Any] = {"row": row, "sha256": document.sha256, **fields, **kept}
                whole.append(({"index": {"_index": documents, "_id": str(row)}}, about))

        self._client.bulk(parts())
        self._refresh(passages)
        self._client.bulk(whole)
        self._refresh(documents)
        return len(lot)

    def _refresh(self, index: str) -> None:
        self._client.call("POST", f"/{index}/_refresh")

    # answering

    def answer(self, query: Query, scope: set[int] | None) -> list[Hit]:
        """See `ServerIndex`."""
        state = self._update_index(ignore_progress)
        words = Words(query.text, {*state.analyses, analysis_of(query.language)})
        question = OpenSearchQuestion(self._client, self._documents, self._passages, words, state.documents)
        ranked = {found.row: found for found in question.rank(scope, query.limit, PASSAGES_PER_HIT)}
        hashes = {row: found.sha256 for row, found in ranked.items()}
        return self.to_hits(
            TitleMatcher(query.text), [*ranked.values()], hashes, lambda row: ranked[row].fields, self._each_spans
        )
