"""Small documents for tests of libraries."""

from __future__ import annotations

from assay.core.sources import Document, Snapshot, sha256


def pair(text: str, **fields: object) -> tuple[Snapshot, Document]:
    """A document with this text, and the snapshot it came from."""
    digest = sha256(text.encode())
    snapshot = Snapshot(
        sha256=sha256(b"raw" + text.encode()),
        url="",
        media_type="text/plain",
        size=len(text) + 3,
        fetched_at="2026-03-01T12:00:00.000Z",
        headers={"etag": '"1"'},
    )
    document = Document(
        **{  # type: ignore[arg-type]
            "sha256": digest,
            "snapshot_sha256": snapshot.sha256,
            "extractor": "text/1",
            "url": f"https://example.org/{text}",
            "title": f"Title of {text}",
            "name": f"{text}.txt",
            "media_type": "text/plain",
            "syntax": "plain",
            "size": len(text),
            "fetched_at": "2026-03-01T12:00:00.000Z",
            **fields,
        }
    )
    return snapshot, document


def hashes(*texts: str) -> list[str]:
    return [sha256(text.encode()) for text in texts]


def names(documents: list[Document]) -> list[str]:
    return [document.name.removesuffix(".txt") for document in documents]
