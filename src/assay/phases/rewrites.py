"""Documents which were rewritten from others are found by meaning, where an embedder is set: they are one source."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from assay.core.errors import SearchError, StoreError
from assay.core.messages import passage_text
from assay.core.sources import Document
from assay.core.usage import Usage
from assay.evidence.documents import DocumentReader
from assay.run.nearness import similar
from assay.run.run import Run
from assay.verify.copies import (
    ELSEWHERE,
    MOST_COMPARED,
    Part,
    joined,
    parts,
    rewrites,
)

log = logging.getLogger(__name__)


def read_parts(run: Run, reader: DocumentReader, documents: Sequence[str]) -> list[Part]:
    """The passages of documents, by hash, as they are compared; none where no embedder is set. Blocking."""
    if run.world.similarity is None:
        return []
    found: list[Part] = []
    for sha256 in documents[:MOST_COMPARED]:
        document = run.world.library.document(sha256)
        if document is not None:
            found += _parts(reader, document)
    return found


def most(run: Run, compared: Sequence[Part]) -> Usage:
    """The most that comparing them may cost."""
    similarity = run.world.similarity
    return (
        similarity.most([*(each.read for each in compared), *ELSEWHERE])
        if similarity is not None and compared
        else Usage()
    )


async def rewritten(run: Run, compared: Sequence[Part], groups: Mapping[str, int]) -> tuple[dict[str, int], Usage]:
    """The groups of documents which copy one another, those which were rewritten among them; and what it cost."""
    if len({each.document for each in compared}) < 2:
        return dict(groups), Usage()
    texts = [each.read for each in compared]
    try:
        found = await similar(run, texts, [*texts, *ELSEWHERE])
    except SearchError as failed:
        log.warning("sources are compared by words alone: %s", failed)
        return dict(groups), Usage()
    return joined(groups, rewrites(compared, found.rows)), found.usage


def _parts(reader: DocumentReader, document: Document) -> list[Part]:
    try:
        spans = reader.spans(document)
    except StoreError:
        return []  # the gate says so where it is cited
    return parts(
        document.sha256,
        [
            (passage_text(span.heading[-1] if span.heading else document.title, span.label, span.text), span.text)
            for span in spans
            if span.kind != "heading"
        ],
    )
