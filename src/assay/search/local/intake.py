"""What goes into an index: passages of documents as they are asked for; and how a writer is given up."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence

from filelock import FileLock

from assay.core.errors import IndexDamaged, StoreError
from assay.core.sources import Document, PassageSpan
from assay.search.local.index import IndexWriter, reading

log = logging.getLogger(__name__)

OneSpans = Callable[[Document], Sequence[PassageSpan]]
EachSpans = Callable[[Iterable[Document]], Iterator[Sequence[PassageSpan] | StoreError]]
"""Gives the passages of many documents, in order, or why one cannot be read; it may take documents ahead."""


def one_by_one(spans: OneSpans, documents: Iterable[Document]) -> Iterator[Sequence[PassageSpan] | StoreError]:
    """What `EachSpans` gives, by asking for each."""
    for document in documents:
        try:
            yield spans(document)
        except StoreError as error:
            yield error


def readable(spans: Sequence[PassageSpan] | StoreError, document: Document) -> Sequence[PassageSpan]:
    """A document which cannot be read any more is still found by its title; the others do not suffer."""
    if not isinstance(spans, StoreError):
        return spans
    log.warning("%s is indexed by its title only: %s", document.name, spans)
    return ()


def let_merge(writer: IndexWriter, lock: FileLock | None) -> None:
    """Give a writer up once its merges are done, then the lock."""
    try:
        with reading():
            writer.close()
    except (IndexDamaged, OSError) as error:
        log.debug("merges of the search index did not finish: %s", error)  # the next writer begins them again
    finally:
        if lock is not None:
            lock.release()
