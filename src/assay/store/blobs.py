"""Bytes in a folder, one zstd file each, named by their SHA-256."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from pathlib import Path

import zstandard

from assay.core.errors import StoreError
from assay.core.sources import sha256

_HASH = re.compile(r"[0-9a-f]{64}")
_LEVEL = 3


class FolderBlobs:
    """Blobs under `folder`: `ab/cdef….zst`, 256 shards, so that no folder grows too long to list.

    A file is written beside its place and renamed, so a killed process leaves no half blob. It is not synced
    to the disk: after a power cut a blob may be empty (`put` writes it again) or damaged (`get` says so).
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._local = threading.local()  # zstd contexts may not be shared by threads

    def put(self, data: bytes) -> str:
        """Store `data`; its hash.

        Raises:
            StoreError: the folder cannot be written.
        """
        name = sha256(data)
        if not self.has(name):
            self._write(self._path(name), self._compressor().compress(data))
        return name

    def get(self, sha256: str) -> bytes:
        """The bytes, checked against their hash.

        Raises:
            StoreError: not there, unreadable, or damaged.
        """
        if not _HASH.fullmatch(sha256):
            raise StoreError(f"{sha256[:80]!r} is not a SHA-256")
        path = self._path(sha256)
        try:
            packed = path.read_bytes()
        except FileNotFoundError:
            raise StoreError(f"no blob {sha256} in {self._folder}") from None
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from error
        return self._unpack(packed, sha256, path)

    def has(self, sha256: str) -> bool:
        """Whether it is there; an empty file is not a blob."""
        if not _HASH.fullmatch(sha256):
            return False
        try:
            return self._path(sha256).stat().st_size > 0
        except OSError:
            return False

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name[2:]}.zst"

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
            raise StoreError(f"cannot write {path}: {error.strerror}") from error

    def _unpack(self, packed: bytes, name: str, path: Path) -> bytes:
        try:
            data: bytes = self._decompressor().decompress(packed)
        except (zstandard.ZstdError, MemoryError) as error:
            raise _damaged(path) from error
        if sha256(data) != name:
            raise _damaged(path)
        return data

    def _compressor(self) -> zstandard.ZstdCompressor:
        if not hasattr(self._local, "compressor"):
            self._local.compressor = zstandard.ZstdCompressor(level=_LEVEL)
        compressor: zstandard.ZstdCompressor = self._local.compressor
        return compressor

    def _decompressor(self) -> zstandard.ZstdDecompressor:
        if not hasattr(self._local, "decompressor"):
            self._local.decompressor = zstandard.ZstdDecompressor()
        decompressor: zstandard.ZstdDecompressor = self._local.decompressor
        return decompressor


def _create(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _damaged(path: Path) -> StoreError:
    return StoreError(f"{path} is damaged: delete it and add its document again")


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
            raise StoreError(f"no blob {sha256[:80]}")
        return self._blobs[sha256]

    def has(self, sha256: str) -> bool:
        """Whether it is there."""
        return sha256 in self._blobs
