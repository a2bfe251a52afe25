"""Bytes in a folder, one zstd file each, named by their SHA-256; or in memory."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from weakref import WeakValueDictionary

import msgspec
import zstandard

from assay.core.errors import StoreError
from assay.core.full_disks import unwritable_error
from assay.core.lazy import regex
from assay.core.ports import Blobs
from assay.core.sources import sha256

READER_THREADS = 8
"""Blobs read in parallel, since remote ones take time."""

# The format of blobs: one zstd frame each, named by the SHA-256 of its content.

_HASH = regex(r"[0-9a-f]{64}")
_LEVEL = 3
_PART = 1 << 20
SUFFIX = ".zst"
ROOM = "free some space, or check its permissions"


class StoredBlob(msgspec.Struct, frozen=True):
    """A stored blob: its name, its size in bytes, and when it was written."""

    name: str
    size: int
    modified: datetime


class KeptBlobs(Blobs, Protocol):
    """Blobs that can be listed, copied as stored, and removed; `place` is their location for a user."""

    @property
    def place(self) -> str: ...

    def register_owner(self) -> None:
        """Register that this library stores bytes here, possibly besides others; storing does it automatically.

        Raises:
            StoreError: it cannot be written.
        """

    def keep(self, name: str, frame: bytes) -> None:
        """Store a frame under its name.

        Raises:
            StoreError: it cannot be written.
        """

    def read(self, sha256: str) -> tuple[bytes, bytes]:
        """Return the zstd frame and its content, checked against its name.

        Raises:
            StoreError: missing or damaged.
        """

    def list_blobs(self) -> Iterator[StoredBlob]:
        """Yield all blobs, in no order, without files under other names.

        Raises:
            StoreError: the place cannot be listed.
        """

    def age(self, sha256: str) -> float | None:
        """Seconds since it was written; None if it does not exist.

        Raises:
            StoreError: the place cannot be reached.
        """

    def remove(self, sha256: str) -> None:
        """Delete it, if it exists.

        Raises:
            StoreError: it cannot be deleted.
        """

    def owners(self) -> set[str]:
        """The ids of the libraries that have ever stored something here.

        Raises:
            StoreError: the place cannot be listed.
        """


Owner = Callable[[], str]
"""Returns the id of the library, at the first write. A clean-up must know who shares the place."""
OWNERS = "owners"
"""The folder with the ids of libraries, each an empty file."""


class Damage(Exception):
    """The bytes read differ from those stored."""


# zstd's contexts are not kept: making one takes no measurable time, and each holds 2 MB for its thread.


def pack(data: bytes) -> bytes:
    """A zstd frame."""
    frame: bytes = zstandard.ZstdCompressor(level=_LEVEL).compress(data)
    return frame


def unpack(frame: bytes, name: str) -> bytes:
    """The content of a frame.

    Raises:
        Damage: it is not a frame, or its content does not match the name.
    """
    try:
        data: bytes = zstandard.ZstdDecompressor().decompress(frame)
    except (zstandard.ZstdError, MemoryError) as error:
        raise Damage from error
    if sha256(data) != name:
        raise Damage
    return data


def verify_frame(frame: bytes, name: str, max_bytes: int) -> None:
    """Check a foreign frame with little memory, however large its content is.

    Raises:
        Damage: it is not a frame, its content does not match the name, or it claims to hold more than `max_bytes`.
    """
    digest = hashlib.sha256()
    try:
        if zstandard.get_frame_parameters(frame).content_size > max_bytes:
            raise Damage
        with zstandard.ZstdDecompressor().stream_reader(frame) as reader:
            while part := reader.read(_PART):
                digest.update(part)
    except (zstandard.ZstdError, MemoryError) as error:
        raise Damage from error
    if digest.hexdigest() != name:
        raise Damage


def is_name(name: str) -> bool:
    """True if it is a SHA-256 as in the names of blobs."""
    return _HASH.fullmatch(name) is not None


def check_name(name: str) -> str:
    """Return the name if it is valid.

    Raises:
        StoreError: it is not.
    """
    if not is_name(name):
        raise StoreError(f"{name[:80]!r} is not a SHA-256")
    return name


def blob_path(name: str) -> str:
    """The path of a blob below its store's folder: `ab/cdef….zst`, 256 shards, so that none grows too long to list."""
    return f"{name[:2]}/{name[2:]}{SUFFIX}"


def blob_name(path: str) -> str:
    """The name of the blob at a path below its store's folder; empty if it is not a blob."""
    parts = path.split("/")
    name = "".join(parts).removesuffix(SUFFIX) if len(parts) == 2 and path.endswith(SUFFIX) else ""
    return name if is_name(name) and len(parts[0]) == 2 else ""


class FolderBlobs:
    """Blobs under `folder`: `ab/cdef….zst`, 256 shards, so that no folder grows too long to list.

    A file is written beside its place and renamed, so a killed process leaves no half blob. It is not synced to the
    disk: after a power cut a blob may be empty (`put` writes it again) or damaged (`get` reports it).
    """

    def __init__(self, folder: Path, owner: Owner | None = None) -> None:
        self._folder, self._owner, self._shared = folder, owner, owner is not None

    @property
    def place(self) -> str:
        return str(self._folder)

    def put(self, data: bytes) -> str:
        name = sha256(data)
        if not self.has(name):
            self.keep(name, pack(data))
        elif self._shared:
            self.register_owner()
            if not self.touch(name):  # a clean-up must not consider it old, or has removed it
                self.keep(name, pack(data))
        return name

    def put_all(self, contents: Sequence[bytes]) -> list[str]:
        """Store several, one after another, and return their hashes."""
        return [self.put(data) for data in contents]

    def keep(self, name: str, frame: bytes) -> None:
        """Store a frame under its name, replacing an existing one.

        Raises:
            StoreError: the folder cannot be written.
        """
        self.register_owner()
        self._write(self._path(name), frame)

    def get(self, sha256: str) -> bytes:
        return self.read(sha256)[1]

    def read(self, sha256: str) -> tuple[bytes, bytes]:
        path = self._path(check_name(sha256))
        try:
            with open(path, "rb") as file:
                frame = file.read()
        except FileNotFoundError:
            raise StoreError(f"no blob {sha256} in {self._folder}: `assay db check` names what is missing") from None
        except OSError as error:
            raise StoreError(f"{path} cannot be read ({error.strerror}): check its permissions") from error
        try:
            return frame, unpack(frame, sha256)
        except Damage as error:
            raise StoreError(f"{path} is damaged: delete it and add its document again") from error

    def has(self, sha256: str) -> bool:
        """True if it exists; an empty file is not a blob."""
        if not is_name(sha256):
            return False
        try:
            return os.stat(self._path(sha256)).st_size > 0
        except OSError:
            return False

    def list_blobs(self) -> Iterator[StoredBlob]:
        try:
            for path in self._folder.glob("??/*"):
                name = blob_name(f"{path.parent.name}/{path.name}")
                if not name:
                    continue
                with contextlib.suppress(FileNotFoundError):  # somebody just removed it
                    status = path.stat()
                    yield StoredBlob(name, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))
        except OSError as error:
            raise StoreError(f"{self._folder} cannot be listed ({error.strerror}): check its permissions") from error

    def clear(self, seconds: float) -> None:
        """Remove old files that are not blobs: of writers that died before they could rename them."""
        with contextlib.suppress(OSError):  # they do no harm
            for path in self._folder.glob("??/*"):
                if not blob_name(f"{path.parent.name}/{path.name}") and path.stat().st_mtime < time.time() - seconds:
                    path.unlink()

    def age(self, sha256: str) -> float | None:
        try:
            return time.time() - os.stat(self._path(check_name(sha256))).st_mtime
        except OSError:
            return None

    def remove(self, sha256: str) -> None:
        path = self._path(check_name(sha256))
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StoreError(f"{path} cannot be removed ({error.strerror}): check its permissions") from error

    def owners(self) -> set[str]:
        return {path.name for path in (self._folder / OWNERS).glob("*")}

    def touch(self, sha256: str) -> bool:
        """Mark it as just used; False if that fails."""
        try:
            os.utime(self._path(sha256))
        except OSError:
            return False
        return True

    def register_owner(self) -> None:
        """See the port; once."""
        owner = self._owner  # read once: another thread may claim at the same time
        if owner is None:
            return
        path = self._folder / OWNERS / owner()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError as error:
            raise unwritable_error(f"{path} cannot be written ({error.strerror}): {ROOM}", error) from error
        self._owner = None

    def _path(self, name: str) -> str:
        """Its path as text, since a `Path` costs as much to make as its file to look at."""
        return f"{self._folder}/{blob_path(name)}"

    def _write(self, path: str, frame: bytes) -> None:
        temporary = f"{path}.{os.getpid()}-{threading.get_ident()}.tmp"
        try:
            try:
                _create(temporary, frame)
            except FileNotFoundError:  # the shard's first blob
                os.makedirs(os.path.dirname(path), exist_ok=True)
                _create(temporary, frame)
            os.replace(temporary, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise unwritable_error(f"{path} cannot be written ({error.strerror}): {ROOM}", error) from error


def _create(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


# Bytes that stay in memory.

MIN_PACKED_BYTES = 4_096
"""Bytes from which on what stays in memory is packed: a page takes a sixth."""


class MemoryBytes:
    """Bytes that stay in memory; `size` is what they take there.

    zlib packs them: what zstd returns keeps the room that it might have needed, and its work fragments the heap.
    """

    def __init__(self, data: bytes) -> None:
        self._is_packed = len(data) >= MIN_PACKED_BYTES
        self._data = zlib.compress(data, 1) if self._is_packed else bytes(data)
        self.size = len(self._data)

    def get(self) -> bytes:
        """The bytes as they were given."""
        return zlib.decompress(self._data) if self._is_packed else self._data


_HELD: WeakValueDictionary[str, MemoryBytes] = WeakValueDictionary()


def share_bytes(data: bytes) -> tuple[str, MemoryBytes]:
    """The hash of `data`, and the bytes to keep, packed once: a page is in the cache of pages and among the blobs."""
    name = sha256(data)
    return name, _HELD.get(name) or _HELD.setdefault(name, MemoryBytes(data))


class MemoryBlobs:
    """`Blobs` in the process."""

    def __init__(self) -> None:
        self._blobs: dict[str, MemoryBytes] = {}

    def put(self, data: bytes) -> str:
        name, shared = share_bytes(data)
        self._blobs[name] = shared
        return name

    def put_all(self, contents: Sequence[bytes]) -> list[str]:
        return [self.put(data) for data in contents]

    def get(self, sha256: str) -> bytes:
        if sha256 not in self._blobs:
            raise StoreError(f"no blob {sha256[:80]}: `assay db check` names what is missing")
        return self._blobs[sha256].get()

    def has(self, sha256: str) -> bool:
        return sha256 in self._blobs
