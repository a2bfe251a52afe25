"""Files: archives of them, and what a library knows of those that its documents came from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec


class ArchiveMember(msgspec.Struct, frozen=True, kw_only=True):
    """A file in an archive: its path there, made printable, and its bytes, or the `problem` that prevents reading
    it.
    """

    name: str
    data: bytes = b""
    problem: str = ""


class Archive(Protocol):
    """Opens files that contain files. `name` includes a version ("zip/1"); `suffixes` are lower case (".zip")."""

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    def members(self, data: bytes, name: str, largest: int) -> Iterator[ArchiveMember]:
        """Yield the files in `data` in order, unpacked one at a time, without folders and hidden files.

        A member larger than `largest` bytes has a problem instead of data. Sizes are counted while unpacking: the
        archive's own figures are not trusted.

        Raises:
            ExtractError: the archive cannot be opened, or unpacks to an absurd size. Raised by the iteration.
        """
        ...


class FileStamp(msgspec.Struct, frozen=True, kw_only=True):
    """How a file looked when it was read, and which documents it gave, so that an unchanged file is not read twice.

    `extractor` names the version that read it, since a newer one reads it again. `warnings` are what was reported about
    a file of which only a part could be read; they are repeated for the unchanged file.
    """

    path: str
    size: int
    mtime_ns: int
    documents: tuple[str, ...]
    extractor: str = ""
    warnings: tuple[str, ...] = ()


class StoredPlace(msgspec.Struct, frozen=True):
    """Where an owner's document was read, with its row number in the library."""

    row: int
    url: str


class DocumentMove(msgspec.Struct, frozen=True, kw_only=True):
    """A document that was read again from another place, since the file it came from is gone.

    It has the address `before`, and gets `url` and `name`. If its address is another one by now, it stays as it is.
    """

    sha256: str
    before: str
    url: str
    name: str
