"""Files become snapshots and documents of the library: files and pages are read one after the other, even if some fail.

Content-addressed: known content is not stored again, and an unchanged file is not read again. A monitor tells of the
reading and stops it.

- `files`: finds the files, and leaves out those that nobody reads
- `units`: what is in them, in order
- `document_intake`: collects what was read and writes it
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import chain
from pathlib import Path, PurePath

import msgspec

from assay.core.errors import Cancelled, ExtractError, NothingRead
from assay.core.ports import Archive, Blobs, Clock, Extractor, Library, SkippedFile
from assay.core.sources import UNSORTED, Fetched
from assay.evidence.ingest.document_intake import DocumentIntake
from assay.evidence.ingest.files import (
    UPLOAD_SUFFIX,
    FileToRead,
    absolute_paths,
    address,
    find_files,
    find_twins,
    left_out_notes,
    nothing_read_message,
    printable,
)
from assay.evidence.ingest.moves import MissingFiles
from assay.evidence.ingest.units import (
    IngestPart,
    LeftOut,
    UnchangedFile,
    Unit,
    UnitFinished,
    UnitProblem,
    Units,
    extractor_for,
    page_name,
    page_text,
    prefetch,
)

__all__ = [
    "MAX_FILE_BYTES",
    "UPLOAD_SUFFIX",
    "FileReaders",
    "FileToRead",
    "IngestPart",
    "IngestResult",
    "IngestTarget",
    "ReadingProgress",
    "Unit",
    "UnitProblem",
    "Units",
    "absolute_paths",
    "address",
    "extractor_for",
    "find_files",
    "ingest",
    "page_name",
    "page_text",
    "printable",
]


MAX_FILE_BYTES = 100 * 1000 * 1000
"""Bytes; a larger file is skipped with a warning."""
MAX_PLACES_NAMED = 3
BLOB_WRITERS = 8
"""Blobs written in parallel, since remote writes take time. For a folder one or two are enough."""


class ReadingProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of reading: files and pages processed of all, documents so far, and the current one."""

    file: int
    files: int
    documents: int
    path: str


class IngestResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading.

    `collection` is its name, `documents` were found in all `files` (read or known), `added` are new to the library;
    `copies` of the files have only documents of files before them. A
    warning is a sentence for the user, a note has details: what was left out on purpose. `given` has the documents
    (hashes) of each file and page, by name. `skipped` has what gave no document, and why, except members of `unchanged`
    archives, which were not opened again. `moved` has the row numbers of known documents that got another place, since
    their file is gone.
    """

    collection: str
    documents: int
    added: int
    files: int
    copies: int = 0
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    given: dict[str, tuple[str, ...]] = {}
    skipped: dict[str, tuple[SkippedFile, ...]] = {}
    unchanged: tuple[str, ...] = ()
    moved: tuple[int, ...] = ()


class IngestTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Where documents go: into a `collection`, or without one into that of exactly these documents.

    `is_shared`: other machines, on which other folders are, use the library too. `is_near`: whether bytes are stored is
    known without a request, and a file whose bytes are gone is read again. `on_move` is told the row numbers of
    known documents before they get another place, so whoever has them by their names finds them again if the process
    dies.
    """

    library: Library
    blobs: Blobs
    clock: Clock
    collection: str | None = None
    is_shared: bool = False
    is_near: bool = True
    on_move: Callable[[Sequence[int]], None] | None = None


class FileReaders(msgspec.Struct, frozen=True, kw_only=True):
    """Reads files and unpacks archives; a file larger than `largest` bytes is skipped with a warning."""

    extractors: Sequence[Extractor]
    archives: Sequence[Archive] = ()
    largest: int = MAX_FILE_BYTES


def ingest(
    paths: Sequence[str | Path],
    target: IngestTarget,
    readers: FileReaders,
    *,
    pages: Sequence[Fetched] = (),
    progress: Callable[[ReadingProgress], None] | None = None,
    require_document: bool = True,
) -> IngestResult:
    """Read files, folders (recursively, without hidden files), archives, globs and pages into the library.

    The result names the collection they are in. Blocking. If `progress` raises, what was read so far is kept, and the
    next call reads only the rest; so it is, except for the last seconds, if the process dies.

    Raises:
        UsageError: a path does not exist, or a glob matches nothing.
        NothingRead: no document could be read at all, with `require_document`.
        StoreError: the library or the blobs cannot be written.
    """
    files, warnings = find_files(paths)
    library, collection = target.library, target.collection
    missing_files = MissingFiles(is_shared=target.is_shared)
    has_bytes = target.blobs.has if target.is_near else None
    units = Units(library, readers.extractors, readers.archives, readers.largest, find_twins(files), has_bytes)
    units.missing_files = missing_files
    # a page is one document: nothing is read meanwhile
    with ThreadPoolExecutor(BLOB_WRITERS, thread_name_prefix="blobs") if files else nullcontext() as writer:
        shelf = DocumentIntake(library, target.blobs, writer, target.clock, collection or UNSORTED)
        shelf.missing_files, shelf.on_move = missing_files, target.on_move
        shelf.fresh = len(files) + len(pages) > 1 and library.last_row() == 0
        reader = _IngestReader(shelf)
        try:
            for number, name in enumerate(reader.read(files, pages, units), 1):
                if progress is not None:
                    document_count, total = len(shelf.documents), len(files) + len(pages)
                    progress(ReadingProgress(file=number, files=total, documents=document_count, path=name))
            shelf.finish()
        finally:
            shelf.flush()
    warnings += reader.all_warnings()
    notes = [
        *left_out_notes(reader.left_out),
        *(f"{name} is a copy of {first}" for name, first in reader.copies.items()),
    ]
    if require_document and not shelf.documents:
        names = ", ".join([*(printable(str(path)) for path in paths), *(page.url for page in pages)][:MAX_PLACES_NAMED])
        raise NothingRead(nothing_read_message(names, [*warnings[:5], *notes]), reader.error_kind)
    return IngestResult(
        collection=library.collection_for(shelf.documents) if collection is None else collection,
        documents=len(shelf.documents),
        added=shelf.added,
        files=reader.files,
        copies=len(reader.copies),
        warnings=tuple(warnings),
        notes=tuple(notes),
        given=reader.given,
        skipped=reader.skipped,
        unchanged=tuple(reader.unchanged),
        moved=tuple(shelf.moved),
    )


class _IngestReader:
    """Processes units; a problem with a file becomes a warning about it."""

    def __init__(self, shelf: DocumentIntake) -> None:
        self.shelf = shelf
        self.files = self.binary = 0
        self.error_kind = ExtractError.kind
        self.warnings: list[str] = []
        self.left_out: dict[str, list[str]] = {}
        self.given: dict[str, tuple[str, ...]] = {}
        self.skipped: dict[str, tuple[SkippedFile, ...]] = {}
        self.unchanged: list[str] = []
        self.copies: dict[str, str] = {}  # files, each with the one that gave the same documents before
        self._first: dict[str, str] = {}
        self._aside: list[tuple[str, str]] = []
        self._known_documents: tuple[str, ...] = ()
        self._documents: dict[str, None] = {}
        self._problems: dict[str, list[str]] = {}

    def read(self, files: Sequence[FileToRead], pages: Sequence[Fetched], units: Units) -> Iterator[str]:
        """Read everything; yield the name of each file and page when it is done."""
        all_of_them = chain.from_iterable(chain([units.of_files(files)], map(units.of_page, pages)))
        for unit in prefetch(all_of_them):
            self._process_unit(unit)
            if isinstance(unit, UnitFinished):
                self._finish_file(unit)
                yield unit.name

    def all_warnings(self) -> list[str]:
        """Warnings so far; files that are not text share one."""
        if not self.binary:
            return self.warnings
        binary_files = f"{self.binary} file{'s' if self.binary > 1 else ''} that {'are' if self.binary > 1 else 'is'}"
        return [*self.warnings, f"skipped {binary_files} not text"]

    def _process_unit(self, unit: Unit) -> None:
        if isinstance(unit, IngestPart):
            self._extract(unit)
        elif isinstance(unit, UnchangedFile):
            self.files += 1
            self._known_documents = unit.stamp.documents
            self.shelf.include(unit.stamp.documents)
            self.warnings += unit.stamp.warnings
            self._aside += [("", warning.partition(": ")[2]) for warning in unit.stamp.warnings]
        elif isinstance(unit, LeftOut):
            self.left_out.setdefault(unit.reason, []).append(unit.name)
            self._aside.append((unit.name, unit.reason))
        elif isinstance(unit, UnitProblem):
            if unit.reason:
                self._problems.setdefault(unit.reason, []).append(unit.member)
            else:
                self.binary += 1
                self._aside.append((unit.member, "not text"))

    def _extract(self, part: IngestPart) -> None:
        """Add the documents of a part; those read before an error are kept."""
        before = len(self._documents)
        try:
            for extracted in part.documents:
                self._documents[self.shelf.add_document(extracted, part)] = None
        except ExtractError as error:
            self.error_kind = error.kind
            self._problems.setdefault(str(error), []).append(part.member)
        else:
            if len(self._documents) == before and not part.member:
                self._problems.setdefault("empty", []).append(part.member)

    def _finish_file(self, unit: UnitFinished) -> None:
        """Finish a file: its warnings, and what to store about it.

        What gave no document is not stored: it is tried again, and reported again, each time.
        """
        verb = "partly read" if self._documents else "skipped"
        notes = tuple(
            f"{verb} {unit.name}: {_with_members(reason, members)}" for reason, members in self._problems.items()
        )
        self.warnings += notes
        self.files += bool(self._documents)
        if self._documents and unit.stamp is not None:
            self.shelf.stamp(msgspec.structs.replace(unit.stamp, documents=tuple(self._documents), warnings=notes))
        if documents := (*self._known_documents, *self._documents):
            self.given[unit.name] = documents
            firsts = [self._first.setdefault(document, unit.name) for document in documents]
            if unit.name not in firsts:
                self.copies[unit.name] = firsts[0]
        self._note_skipped(unit.name)
        if self._known_documents:
            self.unchanged.append(unit.name)
        self._known_documents, self._documents, self._problems, self._aside = (), {}, {}, []

    def _note_skipped(self, file: str) -> None:
        """Record what gave no document in a file."""
        problems = [(member, reason) for reason, members in self._problems.items() for member in members]
        partly = bool(self._known_documents or self._documents)
        skipped_files = tuple(
            SkippedFile(f"{file}!/{part}", reason)
            if part not in ("", file, PurePath(file).name)
            # a problem with the whole file left some of it readable, or nothing
            else SkippedFile(file, reason, partly)
            for part, reason in (*problems, *self._aside)
        )
        if skipped_files:
            self.skipped[file] = skipped_files


def _with_members(reason: str, members: Sequence[str]) -> str:
    """A reason, with the members of an archive it applies to."""
    names = [member for member in members if member]
    if not names:
        return reason
    suffix = f" and {len(names) - MAX_PLACES_NAMED} more" if len(names) > MAX_PLACES_NAMED else ""
    return f"{', '.join(names[:MAX_PLACES_NAMED])}{suffix}: {reason}"


class ReadingMonitor:
    """Reports progress of reading and indexing; when stopped, it ends them at their next report."""

    SECONDS = 3.0

    def __init__(self, progress: Callable[[str], None] | None, clock: Clock) -> None:
        self._progress, self._clock, self._reported_at = progress, clock, clock.monotonic()
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Let the reading thread end: nobody waits any more."""
        self._stopped.set()

    def report_line(self, line: str) -> None:
        """Pass a line on.

        Raises:
            Cancelled: reading was stopped.
        """
        if self._stopped.is_set():
            raise Cancelled("reading was cancelled")
        if self._progress is not None:
            self._progress(line)

    def report_progress(self, state: ReadingProgress) -> None:
        """Take the state, and report it from time to time.

        Raises:
            Cancelled: reading was stopped.
        """
        if self._stopped.is_set() or self._clock.monotonic() - self._reported_at >= self.SECONDS:
            self._reported_at = self._clock.monotonic()
            self.report_line(f"reading: file {state.file} of {state.files}, {state.documents:,} documents so far")
