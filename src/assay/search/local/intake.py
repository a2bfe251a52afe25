"""Feeds an index: passages of documents on demand, word to those who wait, and closing a writer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from filelock import FileLock

from assay.core.errors import IndexDamaged, StoreError
from assay.core.sources import Document, PassageSpan
from assay.search.local.index import IndexWriter, reading

log = logging.getLogger(__name__)

OneSpans = Callable[[Document], Sequence[PassageSpan]]
EachSpans = Callable[[Iterable[Document]], Iterator[Sequence[PassageSpan] | StoreError]]
"""Yields the passages of many documents, in order, or why one cannot be read; it may work ahead."""

SILENT_SECONDS = 5.0
"""A search that waits this long for its index says so, and again after each such time."""


class SearchWaits:
    """Logs the progress of an index that a search must wait for, if that takes longer than one expects of a search."""

    def __init__(self) -> None:
        self._due = time.monotonic() + SILENT_SECONDS

    def __call__(self, line: str) -> None:
        """Log a line of progress if it is time."""
        if (now := time.monotonic()) >= self._due:
            self._due = now + SILENT_SECONDS
            log.warning("a search waits for the index of the documents: %s so far", line)


def one_by_one(spans: OneSpans, documents: Iterable[Document]) -> Iterator[Sequence[PassageSpan] | StoreError]:
    """Do the same as `EachSpans`, one document at a time."""
    for document in documents:
        try:
            yield spans(document)
        except StoreError as error:
            yield error


def readable(spans: Sequence[PassageSpan] | StoreError, document: Document) -> Sequence[PassageSpan]:
    """A document that cannot be read any more is still found by its title; the others are not affected."""
    if not isinstance(spans, StoreError):
        return spans
    log.warning("%s is indexed by its title only: %s", document.name, spans)
    return ()


def let_merge(writer: IndexWriter, lock: FileLock | None) -> None:
    """Close a writer when its merges are done, then release the lock."""
    try:
        with reading():
            writer.close()
    except (IndexDamaged, OSError) as error:
        log.debug("merges of the search index did not finish: %s", error)  # the next writer begins them again
    finally:
        if lock is not None:
            lock.release()
