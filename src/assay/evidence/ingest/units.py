"""The contents of files, in order: parts that can be read, and problems.

A part is read from the moment it is made here, if its extractor works in a separate process. So making parts a little
ahead keeps those busy, and processing them in order keeps the result independent of timing.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import TypeVar
from urllib.parse import quote, unquote, urlsplit

import msgspec

from assay.core.charsets import to_utf8
from assay.core.errors import ExtractError
from assay.core.ports import Archive, ArchiveMember, Extractor, FileStamp, Library
from assay.core.sources import Extracted, Fetched, sha256
from assay.evidence.ingest.files import (
    MAX_TWIN_BYTES,
    SNIFFED_BYTES,
    FileContent,
    FileToRead,
    address,
    check_regular,
    content_exclusion,
    is_twin,
    name_exclusion,
    printable,
    read_file,
)
from assay.evidence.ingest.moves import LOOKUP_BATCH, MissingFiles, displaced_documents

MAX_ARCHIVE_DEPTH = 2
"""Archives within archives."""
MAX_MEMBERS = 10_000
MAX_UNPACKED_BYTES = 1024 * 1024 * 1024
"""Files, and bytes, in one file on disk with all archives in it."""
AHEAD_UNITS = 16
AHEAD_BYTES = 64 * 1024 * 1024

T = TypeVar("T")


class IngestPart(msgspec.Struct, frozen=True, kw_only=True):
    """A file, a page, or a member of an archive (`member` is its path there), with the documents in it."""

    name: str
    url: str
    data: bytes
    media_type: str
    documents: Iterator[Extracted]
    member: str = ""
    page: Fetched | None = None


class UnchangedFile(msgspec.Struct, frozen=True):
    """A file that has not changed since it was read."""

    stamp: FileStamp


class UnitProblem(msgspec.Struct, frozen=True):
    """Why the file, or a `member` of it, cannot be read; "" if it is merely not text."""

    reason: str
    member: str = ""


class LeftOut(msgspec.Struct, frozen=True):
    """Why the file `name`, or a member of it, is not read, since nobody named it (`ingest.files`)."""

    name: str
    reason: str


class UnitFinished(msgspec.Struct, frozen=True, kw_only=True):
    """A file or page is complete. `stamp` describes the file, without documents; None if it was not opened."""

    name: str
    stamp: FileStamp | None = None


Unit = IngestPart | UnchangedFile | UnitProblem | LeftOut | UnitFinished


class _Allowance:
    """How much one file on disk may unpack to; `problem` says that the limit is exceeded, else ""."""

    def __init__(self) -> None:
        self.members = self.size = 0
        self.problem = ""

    def take(self, member: ArchiveMember) -> None:
        self.members += 1
        self.size += len(member.data)
        if self.members > MAX_MEMBERS:
            self.problem = f"the archive holds more than {MAX_MEMBERS:,} files; unpack it, and name the folder"
        elif self.size > MAX_UNPACKED_BYTES:
            self.problem = (
                f"the archive unpacks to more than {MAX_UNPACKED_BYTES >> 20:,} MB; unpack it, and name the folder"
            )


class Units:
    """Makes units of files. `pages` has the page that may have been made from a source (`files.twins`).

    `has_bytes` says if bytes, by their hash, are stored: a file of which some are gone is read again.
    """

    def __init__(
        self,
        library: Library,
        extractors: Sequence[Extractor],
        archives: Sequence[Archive],
        largest: int,
        pages: Mapping[Path, Path] | None = None,
        has_bytes: Callable[[str], bool] | None = None,
    ) -> None:
        self._library, self._largest = library, largest
        self.missing_files = MissingFiles()
        self._pages = pages or {}
        self._has_bytes = has_bytes or (lambda _: True)
        self._extractors = {suffix: extractor for extractor in extractors for suffix in extractor.suffixes}
        self._readers = extractors
        self._archives = {suffix: archive for archive in archives for suffix in archive.suffixes}
        # A newer version of any of them may read more of an archive.
        self._versions = sha256(" ".join(sorted(extractor.name for extractor in extractors)).encode())[:16]

    def of_files(self, files: Sequence[FileToRead]) -> Iterator[Unit]:
        """The units of files, in order; the last of each file is `UnitFinished`."""
        for first in range(0, len(files), LOOKUP_BATCH):
            batch = files[first : first + LOOKUP_BATCH]
            stamps = self._library.stamps([stamp_path(file) for file in batch])
            stored_places = self._library.stored_places(
                {sha: None for stamp in stamps.values() for sha in stamp.documents}
            )
            urls = {sha: place.url for sha, place in stored_places.items()}
            displaced = displaced_documents(self._library, urls, stamps)
            lost = {
                sha
                for sha, place in stored_places.items()
                if not (self._has_bytes(sha) and self._has_bytes(place.snapshot_sha256))
            }
            for file in batch:
                stamp = stamps.get(stamp_path(file))
                known = None if stamp is None or lost.intersection(stamp.documents) else stamp
                yield from self._file_units(file, known, urls, displaced)

    def _file_units(
        self, file: FileToRead, known_stamp: FileStamp | None, urls: Mapping[str, str], displaced: Collection[str]
    ) -> Iterator[Unit]:
        stamp: FileStamp | None = None
        try:
            stamp = self._current_stamp(file, known_stamp)
            file_urls = {sha: urls[sha] for sha in stamp.documents if sha in urls}
            if self.missing_files.has_moved(file_urls, file.path, displaced):
                stamp = msgspec.structs.replace(stamp, documents=(), warnings=())  # read again, for its new place
            if not file.named and (why := name_exclusion(file.path.name) or self._twin_exclusion(file)):
                yield LeftOut(printable(file.path), why)
            elif stamp.documents:
                yield UnchangedFile(stamp)
            else:
                text = self._reader(file.path.name) is None
                content = read_file(file.path, self._largest, text=text, folder=file.folder)
                if content is not None:
                    stamp = msgspec.structs.replace(stamp, size=len(content.data), mtime_ns=content.mtime_ns)
                yield from self._read_units(file, content)
        except (OSError, ValueError, ExtractError) as error:
            reason = error.strerror if isinstance(error, OSError) else ""
            yield UnitProblem(reason or str(error))
        yield UnitFinished(name=printable(file.path), stamp=stamp)

    def of_page(self, page: Fetched) -> Iterator[Unit]:
        """The units of one page; the last is `UnitFinished`."""
        name = page_name(page)
        extractor = extractor_for(page, self._readers)
        if extractor is None:
            yield UnitProblem(f"nothing reads {page.media_type}")
        elif not page.body:
            yield UnitProblem("empty")
        else:
            yield IngestPart(
                name=name or page.final_url,
                url=page.url,
                data=page.body,
                media_type=page.media_type,
                documents=extractor.extract(page_text(page), name),
                page=page,
            )
        yield UnitFinished(name=page.url)

    def _current_stamp(self, file: FileToRead, known_stamp: FileStamp | None) -> FileStamp:
        """The stamp of an unchanged file, else one without documents; `known_stamp` is the last one."""
        status = file.path.stat()
        check_regular(status)
        path = stamp_path(file)
        reader = self._reader(file.path.name) or self._extractors.get(".txt")
        version = reader.name if reader is not None else ""
        if reader_by_suffix(self._archives, file.path.name) is not None:
            version = f"{version} {self._versions}"
        fresh = FileStamp(path=path, size=status.st_size, mtime_ns=status.st_mtime_ns, documents=(), extractor=version)
        same = known_stamp is not None and (known_stamp.size, known_stamp.mtime_ns) == (fresh.size, fresh.mtime_ns)
        return known_stamp if known_stamp is not None and same and known_stamp.extractor == version else fresh

    def _read_units(self, file: FileToRead, content: FileContent | None) -> Iterator[Unit]:
        name, url = printable(file.path.name), address(file.path)
        if content is None:
            kinds = ", ".join(sorted({*self._extractors, *self._archives}))
            yield UnitProblem(f"nothing reads this kind of file (readable: text, {kinds})" if file.named else "")
        elif not content.data:
            yield UnitProblem("empty")
        else:
            archive = reader_by_suffix(self._archives, name)
            if archive is None or self._is_read(name):
                unit = self._part(name, url, content.data)
                yield unit if file.named else _filter_by_content(unit)
            if archive is not None:
                yield from self._unpack(archive, content.data, name, url)

    def _twin_exclusion(self, file: FileToRead) -> str:
        """Why a source is left out: the page beside it says the same; "" if it is read."""
        path = file.path
        page = self._pages.get(path)
        if page is None or max(path.stat().st_size, page.stat().st_size) > min(self._largest, MAX_TWIN_BYTES):
            return ""
        contents = [
            read_file(source_path, self._largest, text=True, folder=file.folder) for source_path in (path, page)
        ]
        same = all(contents) and is_twin(*(content.data for content in contents if content is not None))
        return "the source of a page beside it" if same else ""

    def _unpack(self, archive: Archive, data: bytes, name: str, url: str) -> Iterator[Unit]:
        """The members of an archive and of archives in it, as units.

        An archive that unpacks to too much is abandoned; earlier members are kept.
        """
        allowance = _Allowance()
        inside: list[tuple[str, str, Iterator[ArchiveMember]]] = [("", url, archive.members(data, name, self._largest))]
        while inside:
            above, base, members = inside[-1]
            try:
                member = next(members, None)
                if member is None:
                    inside.pop()
                    continue
                allowance.take(member)
            except ExtractError as error:
                yield UnitProblem(str(error), above)
                inside.pop()
                continue
            path, member_url = f"{above}{member.name}", f"{base}!/{quote(member.name)}"
            nested_archive = reader_by_suffix(self._archives, member.name)
            if member.problem or allowance.problem:
                yield UnitProblem(member.problem or allowance.problem, path)
            elif why := name_exclusion(PurePosixPath(member.name).name):
                yield LeftOut(path, why)
            else:
                is_read = nested_archive is None or self._is_read(member.name)
                if is_read:
                    yield _filter_by_content(self._part(PurePosixPath(member.name).name, member_url, member.data, path))
                nested_members = (
                    nested_archive.members(member.data, member.name, self._largest)
                    if nested_archive is not None
                    else iter(())
                )
                if len(inside) < MAX_ARCHIVE_DEPTH:
                    inside.append((f"{path}!/", member_url, nested_members))
                elif not is_read or next(nested_members, None) is not None:
                    yield UnitProblem(
                        f"archives within archives, deeper than {MAX_ARCHIVE_DEPTH}; unpack them first", path
                    )
            if allowance.problem:
                return

    def _part(self, name: str, url: str, data: bytes, member: str = "") -> Unit:
        """The part with these bytes, by suffix; with an unknown suffix, as text if it is text."""
        extractor = reader_by_suffix(self._extractors, name)
        if extractor is None and b"\0" not in data[:SNIFFED_BYTES]:
            extractor = self._extractors.get(".txt")
        if extractor is None:
            return UnitProblem("", member)
        return IngestPart(
            name=member or name,
            url=url,
            data=data,
            media_type=extractor.media_type,
            documents=extractor.extract(data, name),
            member=member,
        )

    def _is_read(self, name: str) -> bool:
        """True if a file is a document; what it holds beside that, as a message does, is read as an archive's."""
        return reader_by_suffix(self._extractors, name) is not None

    def _reader(self, name: str) -> Extractor | Archive | None:
        return reader_by_suffix(self._extractors, name) or reader_by_suffix(self._archives, name)


def stamp_path(file: FileToRead) -> str:
    """The name under which a file's stamp is stored."""
    return printable(os.path.abspath(file.path))


def _filter_by_content(unit: Unit) -> Unit:
    """A part nobody named, unless its bytes show that it is not for readers."""
    if not isinstance(unit, IngestPart):
        return unit
    why = content_exclusion(unit.name, unit.data, unit.media_type)
    return LeftOut(unit.name, why) if why else unit


def page_name(page: Fetched) -> str:
    """The last part of a page's path; "" if there is none."""
    return PurePosixPath(unquote(urlsplit(page.final_url).path)).name


def page_text(page: Fetched) -> bytes:
    """A page as extractors read it: a text in the encoding its server states, if that is needed, as UTF-8."""
    is_text = page.media_type.startswith("text/") or page.media_type == "application/xhtml+xml"
    return to_utf8(page.body, page.headers.get("content-type", "")) if is_text else page.body


LIKE_HTML = ("application/xhtml+xml", "application/rss+xml")
"""Types that the extractor of HTML reads too."""
JSON_TYPES = ("application/json", "text/json", "application/x-json")


def extractor_for(page: Fetched, extractors: Sequence[Extractor]) -> Extractor | None:
    """The extractor for a page: by its media type, else by its name, else as text if it is text."""
    by_type = {extractor.media_type: extractor for extractor in reversed(extractors)}
    suffixes = {suffix: extractor for extractor in extractors for suffix in extractor.suffixes}
    kind = "text/html" if page.media_type in LIKE_HTML else page.media_type
    text = None if b"\0" in page.body[:SNIFFED_BYTES] else suffixes.get(".txt")
    preferred = by_type.get(kind) if kind != "text/plain" else None
    if preferred is None and (kind in JSON_TYPES or kind.endswith("+json")):
        preferred = suffixes.get(".json")
    return preferred or reader_by_suffix(suffixes, page_name(page)) or text


def reader_by_suffix(readers: Mapping[str, T], name: str) -> T | None:
    """The reader for a file with this name: by the longest of its suffixes that any reader has."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    candidates = (readers.get("".join(suffixes[first:])) for first in range(len(suffixes)))
    return next((reader for reader in candidates if reader is not None), None)


def prefetch(units: Iterable[Unit]) -> Iterator[Unit]:
    """The units in order, a few of them made before they are needed."""
    buffer: deque[Unit] = deque()
    size = 0
    for unit in units:
        buffer.append(unit)
        size += _size(unit)
        while len(buffer) > AHEAD_UNITS or size > AHEAD_BYTES:
            size -= _size(buffer[0])
            yield buffer.popleft()
    yield from buffer


def _size(unit: Unit) -> int:
    return len(unit.data) if isinstance(unit, IngestPart) else 0
