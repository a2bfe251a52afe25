"""Reads files and pages into the library, one after the other, even if some of them fail.

Bytes are stored first, then documents in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from pathlib import Path, PurePath

import msgspec

from assay.core.errors import ExtractError, NothingRead
from assay.core.ports import Blobs, Clock, FileStamp, Library, SkippedFile
from assay.core.sources import FINAL_URL, SYNTAXES, UNSORTED, Document, Extracted, Fetched, Snapshot, sha256
from assay.core.web_addresses import canonical
from assay.evidence.ingest.files import FileToRead, find_files, notes_of, printable, twins
from assay.evidence.ingest.ingest_values import FileReaders, Ingested, IngestTarget, ReadingProgress
from assay.evidence.ingest.units import (
    IngestPart,
    LeftOut,
    UnchangedFile,
    Unit,
    UnitFinished,
    UnitProblem,
    Units,
    ahead,
)

BATCH = 400
"""Documents written in one transaction."""
ASKED = 64
"""Documents about which the library is asked at once."""
ASKED_BYTES = 4_000_000
"""Bytes of files and texts that wait for this answer."""
SECONDS = 2.0
"""Seconds after which what was read is written: no more is lost if the process dies."""


class DocumentIntake:
    """Collects documents and writes them; `documents` are all found, `added` counts those new to the library.

    A library that is `fresh` and empty need not be asked whether it knows a document.
    """

    fresh = False

    def __init__(
        self, library: Library, blobs: Blobs, writer: ThreadPoolExecutor, clock: Clock, collection: str
    ) -> None:
        self._library, self._blobs, self._clock = library, _Background(blobs, writer), clock
        self._collection = collection
        self.documents: dict[str, None] = {}
        self.added = 0
        self._unasked: dict[str, tuple[Extracted, bytes, IngestPart]] = {}
        self._unasked_bytes = 0
        self._batch: list[tuple[Snapshot, Document]] = []
        self._known: list[str] = []
        self._stamps: list[FileStamp] = []
        self._written = clock.monotonic()

    def take(self, extracted: Extracted, part: IngestPart) -> str:
        """Add a document of `part` and return its hash.

        Raises:
            ExtractError: the extractor (of another package) names a syntax that does not exist.
        """
        if extracted.syntax not in SYNTAXES:  # stored, it would prevent every run over the collection from working
            known = ", ".join(SYNTAXES)
            raise ExtractError(
                f"{extracted.extractor} gives the syntax {extracted.syntax!r}; it must be one of {known}"
            )
        text = extracted.text.encode()
        name = sha256(text)
        if name not in self.documents:
            self.documents[name] = None
            self._defer(name, (extracted, text, part))
        if len(self._unasked) >= ASKED or self._unasked_bytes >= ASKED_BYTES:
            self._store_new()
        if len(self._batch) >= BATCH:
            self.flush()
        return name

    def _defer(self, name: str, found: tuple[Extracted, bytes, IngestPart]) -> None:
        """Remember a document until the library is asked about several."""
        extracted, text, part = found
        last = next(reversed(self._unasked.values()), None)
        shared = last is not None and last[2] is part
        self._unasked[name] = found
        self._unasked_bytes += len(text) + len(extracted.body or b"") + (0 if shared else len(part.data))

    def _store_new(self) -> None:
        """Store what the library does not know."""
        unasked, self._unasked, self._unasked_bytes = self._unasked, {}, 0
        known: set[str] = set() if self.fresh else self._library.known(unasked)
        self._known += (name for name in unasked if name in known)
        self._batch += [self._store(name, *found) for name, found in unasked.items() if name not in known]
        self.added += len(unasked) - len(known)

    def include(self, documents: Iterable[str]) -> None:
        """Add documents that are in the library."""
        self.documents.update(dict.fromkeys(documents))
        self._known.extend(documents)

    def stamp(self, stamp: FileStamp) -> None:
        """Record that a file is read; once everything is written it is not read again."""
        self._stamps.append(stamp)
        if self._clock.monotonic() - self._written >= SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits; bytes before the documents that need them.

        Raises:
            StoreError: the library or the blobs cannot be written.
        """
        if self._unasked:
            self._store_new()
        self._blobs.wait()
        if self._batch or self._stamps:
            self._library.add(self._batch, self._collection, self._stamps)
        if self._known:
            self._library.include(self._known, self._collection)
        self._batch, self._known, self._stamps = [], [], []
        self._written = self._clock.monotonic()

    def _store(self, name: str, extracted: Extracted, text: bytes, part: IngestPart) -> tuple[Snapshot, Document]:
        body = part.data if extracted.body is None else extracted.body
        of_body = name if body == text else sha256(body)
        for blob, data in {of_body: body, name: text}.items():
            self._blobs.put(blob, data)
        page = part.page
        now = self._clock.now() if page is None else page.fetched_at
        # The address that a page itself gives is only its own claim: it is cited as it was found.
        url = (extracted.url or part.url) if page is None else part.url
        snapshot = Snapshot(
            sha256=of_body,
            url=url if page is None else page.final_url,
            media_type=part.media_type,
            size=len(body),
            fetched_at=now,
            headers={} if page is None else page.headers,
            redirects=() if page is None else page.redirects,
            status=0 if page is None else page.status,
        )
        document = Document(
            sha256=name,
            snapshot_sha256=snapshot.sha256,
            extractor=extracted.extractor,
            url=url,
            title=extracted.title or extracted.name or part.name,
            name=extracted.name or part.name,
            media_type=part.media_type,
            syntax=extracted.syntax,
            size=len(text),
            fetched_at=now,
            author=extracted.author,
            published=extracted.published,
            language=extracted.language,
            metadata=extracted.metadata if page is None else _of_page(extracted, page),
        )
        return snapshot, document


def _of_page(extracted: Extracted, page: Fetched) -> dict[str, str]:
    """The metadata of a page, with its final address and the one it gives itself, if these differ."""
    known = {key: said for key, said in extracted.metadata.items() if key not in (FINAL_URL, "canonical")}
    if canonical(page.final_url) != canonical(page.url):
        known[FINAL_URL] = page.final_url
    if extracted.url and canonical(extracted.url) not in (canonical(page.url), canonical(page.final_url)):
        known["canonical"] = extracted.url
    return known


class _Background:
    """Writes blobs in a separate thread, while the next documents are read."""

    def __init__(self, blobs: Blobs, writer: ThreadPoolExecutor) -> None:
        self._blobs, self._writer = blobs, writer
        self._waiting: list[Future[str]] = []

    def put(self, name: str, data: bytes) -> None:
        """Store bytes under their hash, before `wait` returns."""
        self._waiting.append(self._writer.submit(self._blobs.put, data))

    def wait(self) -> None:
        """Wait until everything is stored.

        Raises:
            StoreError: something could not be stored.
        """
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            future.result()


NAMED = 3
WRITERS = 8
"""Blobs written in parallel, since remote writes take time. For a folder one or two are enough."""


def ingest(
    paths: Sequence[str | Path],
    target: IngestTarget,
    readers: FileReaders,
    *,
    pages: Sequence[Fetched] = (),
    progress: Callable[[ReadingProgress], None] | None = None,
    needed: bool = True,
) -> Ingested:
    """Read files, folders (recursively, without hidden files), archives, globs and pages into the library.

    The result names the collection they are in. Blocking. If `progress` raises, what was read so far is kept, and the
    next call reads only the rest; so it is, except for the last seconds, if the process dies.

    Raises:
        UsageError: a path does not exist, or a glob matches nothing.
        NothingRead: no document could be read at all, if one is `needed`.
        StoreError: the library or the blobs cannot be written.
    """
    files, warnings = find_files(paths)
    library, collection = target.library, target.collection
    units = Units(library, readers.extractors, readers.archives, readers.largest, twins(files))
    with ThreadPoolExecutor(WRITERS, thread_name_prefix="blobs") as writer:
        shelf = DocumentIntake(library, target.blobs, writer, target.clock, collection or UNSORTED)
        shelf.fresh = len(files) + len(pages) > 1 and library.last_row() == 0
        reading = _Reading(shelf)
        try:
            for number, name in enumerate(reading.read(files, pages, units), 1):
                if progress is not None:
                    found, total = len(shelf.documents), len(files) + len(pages)
                    progress(ReadingProgress(file=number, files=total, documents=found, path=name))
        finally:
            shelf.flush()
    warnings += reading.all_warnings()
    notes = notes_of(reading.left_out)
    if needed and not shelf.documents:
        named = [*(printable(str(path)) for path in paths), *(page.url for page in pages)]
        places = ", ".join(named[:NAMED])
        raise NothingRead("; ".join([f"no document could be read in {places}", *warnings[:5], *notes]), reading.failed)
    return Ingested(
        collection=library.select(shelf.documents) if collection is None else collection,
        documents=len(shelf.documents),
        added=shelf.added,
        files=reading.files,
        warnings=tuple(warnings),
        notes=tuple(notes),
        given=reading.given,
        skipped=reading.skipped,
        unchanged=tuple(reading.unchanged),
    )


class _Reading:
    """Processes units; a problem with a file becomes a warning about it."""

    def __init__(self, shelf: DocumentIntake) -> None:
        self.shelf = shelf
        self.files = self.binary = 0
        self.failed = ExtractError.kind
        self.warnings: list[str] = []
        self.left_out: dict[str, list[str]] = {}
        self.given: dict[str, tuple[str, ...]] = {}
        self.skipped: dict[str, tuple[SkippedFile, ...]] = {}
        self.unchanged: list[str] = []
        self._aside: list[tuple[str, str]] = []
        self._known: tuple[str, ...] = ()
        self._documents: dict[str, None] = {}
        self._problems: dict[str, list[str]] = {}

    def read(self, files: Sequence[FileToRead], pages: Sequence[Fetched], units: Units) -> Iterator[str]:
        """Read everything; yield the name of each file and page when it is done."""
        all_of_them = chain.from_iterable(chain([units.of_files(files)], map(units.of_page, pages)))
        for unit in ahead(all_of_them):
            self._take(unit)
            if isinstance(unit, UnitFinished):
                self._finish(unit)
                yield unit.name

    def all_warnings(self) -> list[str]:
        """Warnings so far; files that are not text share one."""
        if not self.binary:
            return self.warnings
        some = f"{self.binary} file{'s' if self.binary > 1 else ''} which {'are' if self.binary > 1 else 'is'}"
        return [*self.warnings, f"skipped {some} not text"]

    def _take(self, unit: Unit) -> None:
        if isinstance(unit, IngestPart):
            self._extract(unit)
        elif isinstance(unit, UnchangedFile):
            self.files += 1
            self._known = unit.stamp.documents
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
                self._documents[self.shelf.take(extracted, part)] = None
        except ExtractError as error:
            self.failed = error.kind
            self._problems.setdefault(str(error), []).append(part.member)
        else:
            if len(self._documents) == before and not part.member:
                self._problems.setdefault("empty", []).append(part.member)

    def _finish(self, unit: UnitFinished) -> None:
        """Finish a file: its warnings, and what to store about it.

        What gave no document is not stored: it is tried again, and reported again, each time.
        """
        verb = "partly read" if self._documents else "skipped"
        said = tuple(
            f"{verb} {unit.name}: {_with_members(reason, members)}" for reason, members in self._problems.items()
        )
        self.warnings += said
        self.files += bool(self._documents)
        if self._documents and unit.stamp is not None:
            self.shelf.stamp(msgspec.structs.replace(unit.stamp, documents=tuple(self._documents), warnings=said))
        if documents := (*self._known, *self._documents):
            self.given[unit.name] = documents
        self._note_skipped(unit.name)
        if self._known:
            self.unchanged.append(unit.name)
        self._known, self._documents, self._problems, self._aside = (), {}, {}, []

    def _note_skipped(self, file: str) -> None:
        """Record what gave no document in a file."""
        problems = [(member, reason) for reason, members in self._problems.items() for member in members]
        partly = bool(self._known or self._documents)
        found = tuple(
            SkippedFile(f"{file}!/{part}", reason)
            if part not in ("", file, PurePath(file).name)
            # a problem with the whole file left some of it readable, or nothing
            else SkippedFile(file, reason, partly)
            for part, reason in (*problems, *self._aside)
        )
        if found:
            self.skipped[file] = found


def _with_members(reason: str, members: Sequence[str]) -> str:
    """A reason, with the members of an archive it applies to."""
    names = [member for member in members if member]
    if not names:
        return reason
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}: {reason}"
