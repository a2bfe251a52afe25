"""An index in memory of a small scope alone.

BM25 weighs a word by all documents of an index, so what else a home has indexed would change the answers over a folder.
The passages are those of the index on disk: cutting the documents again would take three times as long.
"""

from __future__ import annotations

from collections.abc import Collection

import tantivy

from assay.core.errors import IndexDamaged
from assay.core.ports import Library
from assay.core.sources import PassageSpan
from assay.search.local.index import DOCUMENTS_SCHEMA, PASSAGES_SCHEMA, LocalIndex, unpack
from assay.search.local.words import restrict_to_rows

MAX_SCOPE_PASSAGES = 20_000
"""A scope with more passages is searched in the index on disk. For speed."""
MAX_CACHED_SCOPES = 16
"""Scopes kept in memory."""
PAGE_DOCUMENTS = 200
"""Documents read from the library at a time."""


def scope_index(index: LocalIndex, library: Library, rows: Collection[int]) -> LocalIndex | None:
    """The index of these rows, cached until `index` changes; None if they have too many passages.

    Raises:
        IndexDamaged: the index belongs to another library.
        StoreError: the library cannot be read.
    """
    if len(rows) > MAX_SCOPE_PASSAGES:
        return None
    key = frozenset(rows)
    if key not in index.scopes:
        while len(index.scopes) >= MAX_CACHED_SCOPES:
            del index.scopes[next(iter(index.scopes))]
        index.scopes[key] = _build(index, library, rows)
    return index.scopes[key]


def _build(index: LocalIndex, library: Library, rows: Collection[int]) -> LocalIndex | None:
    searcher = index.passages.searcher()
    addresses = _addresses(searcher, PASSAGES_SCHEMA, rows, MAX_SCOPE_PASSAGES + 1)
    if len(addresses) > MAX_SCOPE_PASSAGES:
        return None
    spans: dict[int, list[PassageSpan]] = {row: [] for row in rows}
    for row, address in addresses:
        spans[row].append(unpack(searcher.doc(address)["span"][0]))
    searcher = index.documents.searcher()
    entries = dict(sorted(_addresses(searcher, DOCUMENTS_SCHEMA, rows, len(rows))))
    scope = LocalIndex(None)
    writer = scope.writer()
    for first in range(0, len(entries), PAGE_DOCUMENTS):
        documents = library.documents_at(list(entries)[first : first + PAGE_DOCUMENTS])
        for row, document in sorted(documents.items()):
            entry = searcher.doc(entries[row])
            if entry.get_first("sha256") != document.sha256:
                raise IndexDamaged("it belongs to another library")
            all_spans = [*spans[row], *map(unpack, entry.get_all("unfound"))]
            writer.add(row, document, sorted(all_spans, key=lambda span: span.ordinal))
    writer.commit()
    writer.close()
    scope.reload()
    return scope


def _addresses(
    searcher: tantivy.Searcher, schema: tantivy.Schema, rows: Collection[int], limit: int
) -> list[tuple[int, tantivy.DocAddress]]:
    """The entries of these rows, at most `limit`, each with its row."""
    query = restrict_to_rows(schema, tantivy.Query.all_query(), rows)
    addresses = [address for _, address in searcher.search(query, limit, count=False).hits]
    entry_rows = searcher.fast_field_values("row", addresses)
    return [(int(row or 0), address) for row, address in zip(entry_rows, addresses, strict=True)]
