"""Files become snapshots and documents of the library.

Content-addressed: what is known is not stored again, and a file which has not changed is not read again.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec

from assay.core.errors import ExtractError, UsageError
from assay.core.ports import Blobs, Clock, Extractor, FileStamp, Library
from assay.core.sources import Document, Extracted, Snapshot, sha256

BATCH = 400
"""Documents written in one transaction."""
LARGEST = 100 * 1024 * 1024
"""Bytes; a larger file is skipped with a warning."""
UNSORTED = "unsorted"
"""The collection of documents read for one run only: a library document is in some collection always."""
SNIFFED = 8_192


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far reading is: files looked at of all found, documents so far, and the file at hand."""

    file: int
    files: int
    documents: int
    path: str


class Ingested(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it.

    `collection` is its name, `documents` were found in all `files` (read or known), `added` are new to the library.
    A warning is a sentence for the user.
    """

    collection: str
    documents: int
    added: int
    files: int
    warnings: tuple[str, ...] = ()


def ingest(
    paths: Sequence[str | Path],
    *,
    library: Library,
    blobs: Blobs,
    extractors: Sequence[Extractor],
    clock: Clock,
    collection: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    largest: int = LARGEST,
) -> Ingested:
    """Read files, folders (with all below them, hidden ones left out) and globs into the library.

    With a `collection` the documents are put into it; without one the answer names the collection which holds
    exactly these documents. Blocking.

    Raises:
        UsageError: a path does not exist, a glob matches nothing, or no document could be read at all.
        StoreError: the library or the blobs cannot be written.
    """
    files, warnings = find_files(paths)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="blobs") as writer:
        reading = _Reading(library, _Background(blobs, writer), extractors, clock, collection or UNSORTED, largest)
        for number, file in enumerate(files, 1):
            reading.read(file)
            if progress is not None:
                found = len(reading.documents)
                progress(Progress(file=number, files=len(files), documents=found, path=_printable(file.path)))
        reading.flush()
    warnings += reading.all_warnings()
    if not reading.documents:
        raise UsageError("; ".join(["no document could be read", *warnings[:5]]))
    name = library.select(reading.documents) if collection is None else collection
    return Ingested(
        collection=name,
        documents=len(reading.documents),
        added=reading.added,
        files=reading.files,
        warnings=tuple(warnings),
    )


class Found(msgspec.Struct, frozen=True):
    """A file to read; `named` when the user named it, so that leaving it out needs a word."""

    path: Path
    named: bool


def find_files(paths: Sequence[str | Path]) -> tuple[list[Found], list[str]]:
    """The files `paths` stand for, each once, in order, and warnings about folders which cannot be read.

    Raises:
        UsageError: a path does not exist or a glob matches nothing.
    """
    found: dict[str, Found] = {}
    warnings: list[str] = []
    for given in paths:
        for path in _expand(given):
            below = _walk(path, warnings) if path.is_dir() else iter([path])
            for file in below:
                found.setdefault(os.path.abspath(file), Found(file, not path.is_dir()))
    return list(found.values()), warnings


def _expand(given: str | Path) -> list[Path]:
    path = Path(given).expanduser()
    try:
        if os.path.lexists(path):
            return [path]
        matches = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else []
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot look for {str(given)!r}: {error}") from error
    if not matches:
        raise UsageError(f"no file or folder {str(given)!r}")
    return [Path(match) for match in matches]


def _walk(folder: Path, warnings: list[str]) -> Iterator[Path]:
    """The files below a folder, sorted. Links to folders are not followed: what was named is what is read."""

    def unreadable(error: OSError) -> None:
        warnings.append(f"skipped {_printable(error.filename)}: {error.strerror}")

    for root, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        linked = [Path(root, name) for name in folders if Path(root, name).is_symlink()]
        warnings += [f"skipped {_printable(str(path))}: a link to a folder; name it to read it" for path in linked]
        yield from (Path(root, name) for name in sorted(names) if not name.startswith("."))


class _Background:
    """Writes blobs in a thread of its own, beside the reading of the next documents."""

    def __init__(self, blobs: Blobs, writer: ThreadPoolExecutor) -> None:
        self._blobs, self._writer = blobs, writer
        self._waiting: list[Future[str]] = []

    def put(self, data: bytes) -> str:
        """The hash, at once; the bytes are stored when `wait` returns."""
        self._waiting.append(self._writer.submit(self._blobs.put, data))
        return sha256(data)

    def wait(self) -> None:
        """Until everything is stored.

        Raises:
            StoreError: something could not be.
        """
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            future.result()


class _Reading:
    """Reads files one by one and writes documents in batches."""

    def __init__(
        self,
        library: Library,
        blobs: _Background,
        extractors: Sequence[Extractor],
        clock: Clock,
        collection: str,
        largest: int,
    ) -> None:
        self.library, self.blobs, self.clock = library, blobs, clock
        self.collection, self.largest = collection, largest
        self.extractors = {suffix: extractor for extractor in extractors for suffix in extractor.suffixes}
        self.documents: dict[str, None] = {}
        self.added = self.files = self.binary = 0
        self.warnings: list[str] = []
        self._fresh = library.last_row() == 0
        self._batch: list[tuple[Snapshot, Document]] = []
        self._known: list[str] = []
        self._stamps: list[FileStamp] = []

    def all_warnings(self) -> list[str]:
        """Warnings so far; binary files of folders share one."""
        if not self.binary:
            return self.warnings
        return [*self.warnings, f"skipped {self.binary} files which are not text"]

    def read(self, file: Found) -> None:
        """Take in one file; what is wrong with it becomes a warning."""
        try:
            self._read(file)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.warnings.append(f"skipped {_printable(file.path)}: {reason}")

    def flush(self) -> None:
        """Write what waits; bytes before the documents which need them."""
        self.blobs.wait()
        if self._batch or self._stamps:
            self.library.add(self._batch, self.collection, self._stamps)
        if self._known:
            self.library.include(self._known, self.collection)
        self._batch, self._known, self._stamps = [], [], []

    def _read(self, file: Found) -> None:
        status = file.path.stat()
        if not stat.S_ISREG(status.st_mode):
            self.warnings.append(f"skipped {_printable(file.path)}: not a regular file")
            return
        if status.st_size > self.largest:
            self.warnings.append(f"skipped {_printable(file.path)}: larger than {self.largest >> 20} MB")
            return
        path = _printable(os.path.abspath(file.path))
        known = self.library.stamp(path)
        if known and (known.size, known.mtime_ns) == (status.st_size, status.st_mtime_ns):
            self._reuse(known)
            return
        extractor = self._extractor(file)
        if extractor is None:
            return
        documents = self._extract(file, extractor)
        if documents:
            self.files += 1
            stamp = FileStamp(path=path, size=status.st_size, mtime_ns=status.st_mtime_ns, documents=tuple(documents))
            self._stamps.append(stamp)

    def _reuse(self, stamp: FileStamp) -> None:
        self.files += 1
        self.documents.update(dict.fromkeys(stamp.documents))
        self._known.extend(stamp.documents)

    def _extractor(self, file: Found) -> Extractor | None:
        """By the longest suffix; a file of unknown kind is read as text when it is text."""
        suffixes = [suffix.lower() for suffix in file.path.suffixes]
        for first in range(len(suffixes)):
            extractor = self.extractors.get("".join(suffixes[first:]))
            if extractor is not None:
                return extractor
        with file.path.open("rb") as stream:
            binary = b"\0" in stream.read(SNIFFED)
        text = self.extractors.get(".txt")
        if text is not None and not binary:
            return text
        if file.named:
            kinds = ", ".join(sorted(self.extractors))
            self.warnings.append(
                f"skipped {_printable(file.path)}: nothing reads this kind of file (readable: text, {kinds})"
            )
        else:
            self.binary += 1
        return None

    def _extract(self, file: Found, extractor: Extractor) -> list[str]:
        """The hashes of the file's documents; those read before an error are kept."""
        data = file.path.read_bytes()
        hashes: dict[str, None] = {}
        before = len(self.warnings)
        try:
            for extracted in extractor.extract(data, _printable(file.path.name)):
                hashes[self._take(extracted, data, file.path, extractor)] = None
        except ExtractError as error:
            self.warnings.append(f"{'partly read' if hashes else 'skipped'} {_printable(file.path)}: {error}")
        if not hashes and len(self.warnings) == before:
            self.warnings.append(f"skipped {_printable(file.path)}: empty")
        return list(hashes)

    def _take(self, extracted: Extracted, data: bytes, path: Path, extractor: Extractor) -> str:
        text = extracted.text.encode()
        name = sha256(text)
        if name not in self.documents:
            self.documents[name] = None
            if self._fresh or self.library.document(name) is None:
                self.added += 1
                self._batch.append(self._store(extracted, text, data, path, extractor))
            else:
                self._known.append(name)
        if len(self._batch) >= BATCH:
            self.flush()
        return name

    def _store(
        self, extracted: Extracted, text: bytes, data: bytes, path: Path, extractor: Extractor
    ) -> tuple[Snapshot, Document]:
        body = data if extracted.body is None else extracted.body
        now = self.clock.now()
        url = extracted.url or path.resolve().as_uri()
        snapshot = Snapshot(
            sha256=self.blobs.put(body), url=url, media_type=extractor.media_type, size=len(body), fetched_at=now
        )
        document = Document(
            sha256=self.blobs.put(text),
            snapshot_sha256=snapshot.sha256,
            extractor=extracted.extractor,
            url=url,
            title=extracted.title or extracted.name or _printable(path.name),
            name=extracted.name or _printable(path.name),
            media_type=extractor.media_type,
            syntax=extracted.syntax,
            size=len(text),
            fetched_at=now,
            author=extracted.author,
            published=extracted.published,
            language=extracted.language,
            metadata=extracted.metadata,
        )
        return snapshot, document


def _printable(path: str | Path) -> str:
    """A path which can be stored and shown: bytes of a name which are no UTF-8 become U+FFFD."""
    return os.fsencode(path).decode(errors="replace")
