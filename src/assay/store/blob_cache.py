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
        self._distant, self._near, self._limit = distant, FolderBlobs(folder), limit
        self._lock = threading.Lock()
        self._size = -1  # not known yet

    @property
    def place(self) -> str:
        return self._distant.place

    def put(self, data: bytes) -> str:
        name, packed = sha256(data), pack(data)
        self.keep(name, packed)
        return name

    def put_all(self, many: Sequence[bytes]) -> list[str]:
        return put_at_once(self.put, many)

    def register_owner(self) -> None:
        self._distant.register_owner()

    def keep(self, name: str, packed: bytes) -> None:
        self._distant.keep(name, packed)
        self._cache_frame(name, packed)

    def get(self, sha256: str) -> bytes:
        """The bytes, from the cache or the remote store."""
        found = self._read_cached(sha256)
        if found is None:
            packed, found = self._distant.read(sha256)
            self._cache_frame(sha256, packed)
        return found

    def has(self, sha256: str) -> bool:
        return self._distant.has(sha256)

    def read(self, sha256: str) -> tuple[bytes, bytes]:
        return self._distant.read(sha256)

    def list_blobs(self) -> Iterator[StoredBlob]:
        return self._distant.list_blobs()

    def age(self, sha256: str) -> float | None:
        return self._distant.age(sha256)

    def remove(self, sha256: str) -> None:
        self._near.remove(sha256)
        self._distant.remove(sha256)

    def owners(self) -> set[str]:
        return self._distant.owners()

    def _read_cached(self, name: str) -> bytes | None:
        if not self._near.has(name):
            return None
        try:
            found = self._near.get(name)
        except StoreError:
            return None  # it is written again
        self._near.touch(name)
        return found

    def _cache_frame(self, name: str, packed: bytes) -> None:
        """Cache a frame; with a full disk it must be read again later, which is no error."""
        if len(packed) > self._limit:
            return
        try:
            self._near.keep(name, packed)
            self._trim(len(packed))
        except StoreError as error:
            log.warning("what was read of %s is not kept here: %s", self._distant.place, error)

    def _trim(self, more: int) -> None:
        """Remove what was used longest ago if there is too much, including what other processes cached."""
        with self._lock:
            self._size = sum(each.size for each in self._near.list_blobs()) if self._size < 0 else self._size + more
            if self._size <= self._limit:
                return
            kept = sorted(self._near.list_blobs(), key=lambda each: each.modified)
            self._size = sum(each.size for each in kept)
            for each in kept:
                if self._size <= FULL_SHARE * self._limit:
                    break
                self._near.remove(each.name)
                self._size -= each.size
