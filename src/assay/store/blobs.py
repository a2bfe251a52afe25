"""Bytes in a folder, one zstd file each, named by their SHA-256; or in memory."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from assay.core.errors import StoreError
from assay.core.sources import sha256
from assay.store.blob_format import OWNERS, Damage, Owner, Packing, Stored, checked_name, is_name, name_at, place_of


class FolderBlobs:
    """Blobs under `folder`: `ab/cdef….zst`, 256 shards, so that no folder grows too long to list.

    A file is written beside its place and renamed, so a killed process leaves no half blob. It is not synced
    to the disk: after a power cut a blob may be empty (`put` writes it again) or damaged (`get` says so).
    """

    def __init__(self, folder: Path, owner: Owner | None = None) -> None:
        self._folder, self._owner, self._shared = folder, owner, owner is not None
        self._packing = Packing()

    @property
    def place(self) -> str:
        """The folder."""
        return str(self._folder)

    def put(self, data: bytes) -> str:
        """Store `data`; its hash.

        Raises:
            StoreError: the folder cannot be written.
        """
        name = sha256(data)
        if not self.has(name):
            self.keep(name, self._packing.pack(data))
        elif self._shared:
            self.claim()
            if not self.touch(name):  # who cleans up must not take for old what is stored just now, or has taken it
                self.keep(name, self._packing.pack(data))
        return name

    def keep(self, name: str, packed: bytes) -> None:
        """Store a frame under its name, in the place of what may be there.

        Raises:
            StoreError: the folder cannot be written.
        """
        self.claim()
        self._write(self._path(name), packed)

    def get(self, sha256: str) -> bytes:
        """The bytes, checked against their hash.

        Raises:
            StoreError: not there, unreadable, or damaged.
        """
        return self.read(sha256)[1]

    def read(self, sha256: str) -> tuple[bytes, bytes]:
        """See the port."""
        path = self._path(checked_name(sha256))
        try:
            packed = path.read_bytes()
        except FileNotFoundError:
            raise StoreError(f"no blob {sha256} in {self._folder}: `assay db check` names what is missing") from None
        except OSError as error:
            raise StoreError(f"{path} cannot be read ({error.strerror}): check its permissions") from error
        try:
            return packed, self._packing.unpack(packed, sha256)
        except Damage as error:
            raise StoreError(f"{path} is damaged: delete it and add its document again") from error

    def has(self, sha256: str) -> bool:
        """Whether it is there; an empty file is not a blob."""
        if not is_name(sha256):
            return False
        try:
            return self._path(sha256).stat().st_size > 0
        except OSError:
            return False

    def stored(self) -> Iterator[Stored]:
        """See the port."""
        try:
            for path in self._folder.glob("??/*"):
                name = name_at(f"{path.parent.name}/{path.name}")
                if not name:
                    continue
                with contextlib.suppress(FileNotFoundError):  # somebody removed it just now
                    status = path.stat()
                    yield Stored(name, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))
        except OSError as error:
            raise StoreError(f"{self._folder} cannot be listed ({error.strerror}): check its permissions") from error

    def clear(self, seconds: float) -> None:
        """Remove files which are no blobs and so old: of writers that died before they could give them their name."""
        with contextlib.suppress(OSError):  # they are no harm, and are tried again the next time
            for path in self._folder.glob("??/*"):
                if not name_at(f"{path.parent.name}/{path.name}") and path.stat().st_mtime < time.time() - seconds:
                    path.unlink()

    def age(self, sha256: str) -> float | None:
        """See the port."""
        try:
            return time.time() - self._path(checked_name(sha256)).stat().st_mtime
        except OSError:
            return None

    def remove(self, sha256: str) -> None:
        """See the port."""
        path = self._path(checked_name(sha256))
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{path} cannot be removed ({error.strerror}): check its permissions") from error

    def owners(self) -> set[str]:
        """See the port."""
        return {path.name for path in (self._folder / OWNERS).glob("*")}

    def touch(self, sha256: str) -> bool:
        """Note that it was used just now; False where that cannot be."""
        try:
            os.utime(self._path(sha256))
        except OSError:
            return False
        return True

    def claim(self) -> None:
        """See the port; once."""
        owner = self._owner  # read once: another thread may claim at the same time
        if owner is None:
            return
        path = self._folder / OWNERS / owner()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError as error:
            raise StoreError(
                f"{path} cannot be written ({error.strerror}): free some space, or check its permissions"
            ) from error
        self._owner = None

    def _path(self, name: str) -> Path:
        return self._folder / place_of(name)

    def _write(self, path: Path, packed: bytes) -> None:
        beside = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
        try:
            try:
                _create(beside, packed)
            except FileNotFoundError:  # the shard's first blob
                path.parent.mkdir(parents=True, exist_ok=True)
                _create(beside, packed)
            os.replace(beside, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise StoreError(
                f"{path} cannot be written ({error.strerror}): free some space, or check its permissions"
            ) from error


def _create(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


class MemoryBlobs:
    """`Blobs` in the process."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Keep `data`; its hash."""
        name = sha256(data)
        self._blobs.setdefault(name, bytes(data))
        return name

    def get(self, sha256: str) -> bytes:
        """The bytes.

        Raises:
            StoreError: not there.
        """
        if sha256 not in self._blobs:
            raise StoreError(f"no blob {sha256[:80]}: `assay db check` names what is missing")
        return self._blobs[sha256]

    def has(self, sha256: str) -> bool:
        """Whether it is there."""
        return sha256 in self._blobs
