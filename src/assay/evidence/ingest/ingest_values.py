"""What reading takes and gives: where documents go, who reads them, its progress and its result."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.ports import Archive, Blobs, Clock, Extractor, Library, SkippedFile

LARGEST = 100 * 1000 * 1000
"""Bytes; a larger file is skipped with a warning."""


class ReadingProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of reading: files and pages processed of all, documents so far, and the current one."""

    file: int
    files: int
    documents: int
    path: str


class Ingested(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading.

    `collection` is its name, `documents` were found in all `files` (read or known), `added` are new to the library. A
    warning is a sentence for the user, a note has details: what was left out on purpose. `given` has the documents
    (hashes) of each file and page, by name. `skipped` has what gave no document, and why, except members of `unchanged`
    archives, which were not opened again.
    """

    collection: str
    documents: int
    added: int
    files: int
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    given: dict[str, tuple[str, ...]] = {}
    skipped: dict[str, tuple[SkippedFile, ...]] = {}
    unchanged: tuple[str, ...] = ()


class IngestTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Where documents go: into a `collection`, or without one into that of exactly these documents."""

    library: Library
    blobs: Blobs
    clock: Clock
    collection: str | None = None


class FileReaders(msgspec.Struct, frozen=True, kw_only=True):
    """Reads files and unpacks archives; a file larger than `largest` bytes is skipped with a warning."""

    extractors: Sequence[Extractor]
    archives: Sequence[Archive] = ()
    largest: int = LARGEST
