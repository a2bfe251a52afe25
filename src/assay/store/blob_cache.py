"""Blobs of a remote store, with the latest used ones cached on this machine."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.core.errors import StoreError
from assay.core.sources import sha256
from assay.store.blobs import FolderBlobs, KeptBlobs, StoredBlob, pack
from assay.store.common import put_at_once

log = logging.getLogger(__name__)

FULL_SHARE = 0.8
"""The share of the limit that is left after cleaning up, so that this is rare."""


class CachedBlobs:
    """Caches frames of `distant` under `folder`, the latest used ones, up to `limit` bytes.

    Several processes may share the folder. Whether a blob exists is always asked of the remote store, never of the
    folder; a damaged cached blob is just read again.
    """

    def __init__(self, distant: KeptBlobs, folder: Path, limit: int) -> None:
        self._distant, self._cache, self._limit = distant, FolderBlobs(folder), limit
        self._lock = threading.Lock()
        self._size = -1  # not known yet

    @property
    def place(self) -> str:
        return self._distant.place

    def put(self, data: bytes) -> str:
        name, frame = sha256(data), pack(data)
        self.keep(name, frame)
        return name

    def put_all(self, contents: Sequence[bytes]) -> list[str]:
        return put_at_once(self.put, contents)

    def register_owner(self) -> None:
        self._distant.register_owner()

    def keep(self, name: str, frame: bytes) -> None:
        self._distant.keep(name, frame)
        self._cache_frame(name, frame)

    def get(self, sha256: str) -> bytes:
        """The bytes, from the cache or the remote store."""
        data = self._read_cached(sha256)
        if data is None:
            frame, data = self._distant.read(sha256)
            self._cache_frame(sha256, frame)
        return data

    def has(self, sha256: str) -> bool:
        return self._distant.has(sha256)

    def read(self, sha256: str) -> tuple[bytes, bytes]:
        return self._distant.read(sha256)

    def list_blobs(self) -> Iterator[StoredBlob]:
        return self._distant.list_blobs()

    def age(self, sha256: str) -> float | None:
        return self._distant.age(sha256)

    def remove(self, sha256: str) -> None:
        self._cache.remove(sha256)
        self._distant.remove(sha256)

    def owners(self) -> set[str]:
        return self._distant.owners()

    def _read_cached(self, name: str) -> bytes | None:
        if not self._cache.has(name):
            return None
        try:
            data = self._cache.get(name)
        except StoreError:
            return None  # it is written again
        self._cache.touch(name)
        return data

    def _cache_frame(self, name: str, frame: bytes) -> None:
        """Cache a frame; with a full disk it must be read again later, which is no error."""
        if len(frame) > self._limit:
            return
        try:
            self._cache.keep(name, frame)
            self._trim(len(frame))
        except StoreError as error:
            log.warning("what was read of %s is not kept here: %s", self._distant.place, error)

    def _trim(self, added_bytes: int) -> None:
        """Remove what was used longest ago if there is too much, including what other processes cached."""
        with self._lock:
            self._size = (
                sum(blob.size for blob in self._cache.list_blobs()) if self._size < 0 else self._size + added_bytes
            )
            if self._size <= self._limit:
                return
            blobs = sorted(self._cache.list_blobs(), key=lambda blob: blob.modified)
            self._size = sum(blob.size for blob in blobs)
            for blob in blobs:
                if self._size <= FULL_SHARE * self._limit:
                    break
                self._cache.remove(blob.name)
                self._size -= blob.size
