"""Documents in a store, for tests which search."""

from __future__ import annotations

from collections.abc import Mapping

from assay.core.ports import DocumentMove
from assay.core.ports.store import Store
from assay.core.sources import Document, Snapshot


def fill(store: Store, texts: Mapping[str, str], collection: str = "default", language: str = "") -> list[Document]:
    """Put one document per text into the store; keys are names, and titles where the text has no heading."""
    entries = [entry(store, name, text, language) for name, text in texts.items()]
    store.library.add(entries, collection)
    return [document for _, document in entries]


def rename(store: Store, document: Document, name: str) -> int:
    """Give a document another name and address; return its row."""
    url = f"https://x.example/{name}"
    store.library.add(
        [], "default", (), [DocumentMove(sha256=document.sha256, before=document.url, url=url, name=name)]
    )
    return store.library.stored_places([document.sha256])[document.sha256].row


def entry(store: Store, name: str, text: str, language: str = "") -> tuple[Snapshot, Document]:
    digest = store.blobs.put(text.encode())
    first = text.partition("\n")[0]
    size = len(text.encode())
    snapshot = Snapshot(
        sha256=digest, url=f"https://x.example/{name}", media_type="text/plain", size=size, fetched_at=""
    )
    document = Document(
        sha256=digest,
        snapshot_sha256=digest,
        extractor="test/1",
        url=snapshot.url,
        title=first.removeprefix("# ") if first.startswith("# ") else name,
        name=name,
        media_type="text/plain",
        syntax="markdown",
        size=size,
        fetched_at="",
        language=language,
    )
    return snapshot, document
