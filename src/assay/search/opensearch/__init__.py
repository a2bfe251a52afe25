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
    ProgressLog,
    ServerIndex,
    WriteTurn,
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
MAX_BODY_CHARS = 20_000_000
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
        turn: WriteTurn = without_lock,
    ) -> None:
        super().__init__(library)
        self._turn, self._client, self._each_spans = turn, client, each_spans
        base = f"{name}-{INDEX_FORMAT}-{segmenter.replace('/', '-')}"
        self._documents, self._passages = f"{base}-documents", f"{base}-passages"

    def sync(self, progress: ProgressLog | None = None) -> None:
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
                documents = self._library.documents_at(rows[first : first + PAGE_DOCUMENTS])
                indexed = {row: document for row, document in documents.items() if row <= state.row}
                spans = zip(indexed.items(), self._each_spans(indexed.values()), strict=True)
                lot = [
                    (row, document, spans_or_title_only(document_spans, document))
                    for (row, document), document_spans in spans
                ]
                if lot:
                    self._write_documents(lot, self._documents, self._passages)

    def close(self) -> None:
        self._client.close()

    # updating

    def _update_index(self, say: ProgressLog) -> IndexState:
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
        aggregations = {"last": {"max": {"field": "row"}}, "known": {"terms": {"field": "analysis", "size": 100}}}
        body = {"size": 0, "track_total_hits": True, "aggs": aggregations}
        answer = self._client.call("POST", f"/{self._documents}/_search", body)
        results = answer["aggregations"]
        analyses = tuple(bucket["key"] for bucket in results["known"]["buckets"])
        return IndexState(int(results["last"]["value"] or 0), int(answer["hits"]["total"]["value"]), analyses)

    def _build(self, say: ProgressLog, reason: str) -> None:
        """Rebuild both indexes beside the old ones, which answer until the new ones replace them."""
        if reason:
            log.warning("the search index is unusable (%s); building it again", reason)
        self._delete_abandoned()
        suffix = f"{time.time_ns():x}"
        documents, passages = f"{self._documents}-{suffix}", f"{self._passages}-{suffix}"
        for index, fields, kind in ((passages, _PASSAGES, "passages"), (documents, _DOCUMENTS, "documents")):
            mappings = {"dynamic": "strict", "_source": {"includes": _KEPT[kind]}, "properties": fields}
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
        aliases = self._client.call("GET", f"/{self._documents}-*,{self._passages}-*/_alias")
        for index in sorted(aliases):
            if ours.fullmatch(index) and not aliases[index]["aliases"]:
                self._client.call("DELETE", f"/{index}")

    def _indexes_of_alias(self, alias: str) -> list[str]:
        try:
            return sorted(self._client.call("GET", f"/{alias}/_alias"))
        except NoIndex:
            return []

    def _add_after(self, row: int, documents: str, passages: str, say: ProgressLog) -> None:
        """Index the documents after `row`, passages first, after removing remains of a killed process."""
        self._client.delete(passages, {"range": {"row": {"gt": row}}})
        batch: list[tuple[int, Document, Sequence[PassageSpan]]] = []
        added = 0
        for entry in documents_after(self._library, row, self._each_spans, PAGE_DOCUMENTS):
            batch.append(entry)
            if len(batch) >= LOT_DOCUMENTS:
                added += self._write_documents(batch, documents, passages)
                batch = []
                say(f"indexed {added:,} documents")
        if batch:
            added += self._write_documents(batch, documents, passages)
            say(f"indexed {added:,} document{'s' if added != 1 else ''}")

    def _write_documents(
        self, lot: Sequence[tuple[int, Document, Sequence[PassageSpan]]], documents: str, passages: str
    ) -> int:
        document_actions: list[Action] = []

        def parts() -> Iterator[Action]:
            for row, document, spans in lot:
                texts = indexed_texts(document, spans)
                for span, text in texts.passages:
                    action = {"index": {"_index": passages, "_id": f"{row}.{span.ordinal}"}}
                    yield action, {"row": row, "ordinal": span.ordinal, "text": text, "span": to_base64(pack(span))}
                fields = {"title": texts.title, "name": texts.name, "body": texts.body[:MAX_BODY_CHARS]}
                stored_fields = {"analysis": texts.analysis, "field": [to_base64(pack(span)) for span in texts.fields]}
                document_fields: Mapping[str, Any] = {"row": row, "sha256": document.sha256, **fields, **stored_fields}
                document_actions.append(({"index": {"_index": documents, "_id": str(row)}}, document_fields))

        self._client.bulk(parts())
        self._refresh(passages)
        self._client.bulk(document_actions)
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
        results = {result.row: result for result in question.rank(scope, query.limit, PASSAGES_PER_HIT)}
        hashes = {row: result.sha256 for row, result in results.items()}
        return self.to_hits(
            TitleMatcher(query.text), [*results.values()], hashes, lambda row: results[row].fields, self._each_spans
        )
