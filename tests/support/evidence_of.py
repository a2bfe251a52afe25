"""Sources, passages and documents for tests of verification."""

from __future__ import annotations

from assay.core.sources import Document, Passage, Source, Syntax, sha256
from assay.evidence.segment import segment
from assay.verify.evidence import ClaimEvidence


def passage(id: str, text: str, document: str = "", start: int = 0) -> Passage:
    """A passage of text; `document` is the whole text it is taken from, itself when empty."""
    whole = (document or text).encode()
    return Passage(
        id=id,
        source=id.partition(".")[0],
        document_sha256=sha256(whole),
        start=start,
        end=start + len(text.encode()),
        text=text,
        text_sha256=sha256(text.encode()),
    )


def source(id: str, title: str = "", url: str = "", text: str = "") -> Source:
    return Source(
        id=id,
        document_sha256=sha256(text.encode()),
        snapshot_sha256=sha256(text.encode()),
        url=url,
        title=title,
        media_type="text/plain",
        fetched_at="2026-01-01T00:00:00.000Z",
    )


def evidence(*passages: Passage, title: str = "") -> ClaimEvidence:
    """The passages as a claim's evidence, all their sources of one title."""
    sources = {each.source: source(each.source, title) for each in passages}
    return ClaimEvidence(passages=passages, sources=sources)


def shown(id: str, text: str, syntax: Syntax = "markdown") -> dict[str, Passage]:
    """Every passage of a document, as a run shows them."""
    return {
        f"{id}.{span.ordinal}": passage(f"{id}.{span.ordinal}", span.text, text, span.start)
        for span in segment(text, syntax)
    }


def stored(text: str, syntax: Syntax = "markdown") -> Document:
    data = text.encode()
    return Document(
        sha256=sha256(data),
        snapshot_sha256=sha256(data),
        extractor="text/1",
        url="file:///a.md",
        title="A",
        name="a.md",
        media_type="text/markdown",
        syntax=syntax,
        size=len(data),
        fetched_at="2026-01-01T00:00:00.000Z",
    )
