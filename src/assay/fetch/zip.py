"""ZIP archives, unpacked in memory, one member at a time."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator

from assay.core.errors import ExtractError
from assay.core.ports import ArchiveMember
from assay.fetch.text_form import clean

MAX_MEMBERS = 10_000
MAX_UNPACKED_BYTES = 1024 * 1024 * 1024
MAX_RATIO = 250
"""A member that unpacks to more than this many times its size is not a document; text is packed 3 to 20 times."""
RATIO_FROM = 1024 * 1024
"""From this many bytes on the ratio is checked: a short file of one letter may exceed it."""
CHUNK_BYTES = 4096
"""Bytes requested at a time: bzip2 unpacks all the data of that many packed bytes, which may be 80 MB."""
CENTRAL_DIRECTORY_MARK = b"PK\x01\x02"
SEVERAL = 10

ENCRYPTED = "encrypted; remove the password first"
UNSUPPORTED = "packed in a way which is not supported; pack it with deflate"
DAMAGED = "damaged; pack it again"
OUTSIDE_PATH = "its path leads out of the archive; pack it again"
BOMB = f"it unpacks to more than {MAX_RATIO} times its size; unpack it first, if you trust it"


class ZipArchive:
    """The members in the order of the archive's directory; nothing is written to disk."""

    name = "zip/1"
    suffixes = (".zip",)

    def members(self, data: bytes, name: str, largest: int) -> Iterator[ArchiveMember]:
        """See the port.

        Raises:
            ExtractError: damaged, or too many members, or too many bytes in all.
        """
        # The directory is read as a whole, and a hostile one is long; nested archives may have one each.
        if data.count(CENTRAL_DIRECTORY_MARK) > SEVERAL * MAX_MEMBERS:
            raise ExtractError(f"holds more than {MAX_MEMBERS:,} files; unpack it, and name the folder")
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                infos = [info for info in archive.infolist() if not info.is_dir() and not _is_hidden(info.filename)]
                yield from _members(archive, infos, len(data), largest)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, EOFError, IndexError) as error:
            raise ExtractError("damaged, or not a ZIP archive") from error


def _members(
    archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo], compressed_size: int, largest: int
) -> Iterator[ArchiveMember]:
    total = 0
    for info in infos[:MAX_MEMBERS]:
        member = _member(archive, info, min(info.compress_size, compressed_size), largest)
        total += len(member.data)
        if total > MAX_UNPACKED_BYTES or total > max(MAX_RATIO * compressed_size, RATIO_FROM):
            raise ExtractError(f"stopped at {member.name}: the archive {BOMB.removeprefix('it ')}")
        yield member
    if len(infos) > MAX_MEMBERS:
        raise ExtractError(f"holds more than {MAX_MEMBERS:,} files; unpack it, and name the folder")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, compressed_size: int, largest: int) -> ArchiveMember:
    name = _replace_unprintable(info.filename)
    if ".." in info.filename.split("/"):
        return ArchiveMember(name=name, problem=OUTSIDE_PATH)
    if info.flag_bits & 0x1:
        return ArchiveMember(name=name, problem=ENCRYPTED)
    try:
        return _unpack_member(archive, info, name, min(largest, max(MAX_RATIO * compressed_size, RATIO_FROM)), largest)
    except RuntimeError:  # not implemented, strong encryption, or no module for the compression
        return ArchiveMember(name=name, problem=UNSUPPORTED)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
        return ArchiveMember(name=name, problem=DAMAGED)


def _unpack_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, max_bytes: int, largest: int
) -> ArchiveMember:
    parts: list[bytes] = []
    size = 0
    with archive.open(info) as stream:
        while part := stream.read(CHUNK_BYTES):
            parts.append(part)
            size += len(part)
            if size > max_bytes:
                problem = f"larger than {largest / 1_000_000:g} MB (the setting documents.max_file_mb)"
                return ArchiveMember(name=name, problem=problem if size > largest else BOMB)
    return ArchiveMember(name=name, data=b"".join(parts))


def _is_hidden(name: str) -> bool:
    return any(
        (part.startswith(".") and part.strip(".")) or part.startswith("~$") or part == "__MACOSX"
        for part in name.split("/")
    )


def _replace_unprintable(name: str) -> str:
    """The name without control characters, because they can make it look like another."""
    text = clean(name.encode("utf-8", "replace").decode())
    return "".join(char if char.isprintable() else "\ufffd" for char in text)[:1000]
