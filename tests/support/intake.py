"""Files read into a store, by the readers which a test names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from assay.core.ports import Archive, Clock, Extractor
from assay.core.ports.store import Store
from assay.core.sources import Fetched
from assay.evidence.ingest import MAX_FILE_BYTES, FileReaders, IngestResult, IngestTarget, ReadingProgress, ingest
from assay.run.process import SystemClock


def read_into(
    store: Store,
    paths: Sequence[str | Path],
    extractors: Sequence[Extractor],
    *,
    archives: Sequence[Archive] = (),
    clock: Clock | None = None,
    collection: str | None = "c",
    largest: int = MAX_FILE_BYTES,
    pages: Sequence[Fetched] = (),
    progress: Callable[[ReadingProgress], None] | None = None,
    needed: bool = True,
) -> IngestResult:
    """What came of reading `paths` into a collection of `store`."""
    target = IngestTarget(library=store.library, blobs=store.blobs, clock=clock or SystemClock(), collection=collection)
    readers = FileReaders(extractors=extractors, archives=archives, largest=largest)
    return ingest(paths, target, readers, pages=pages, progress=progress, require_document=needed)
