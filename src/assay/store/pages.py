"""The cache of web pages: a small file for each address, with the bodies among the blobs."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import msgspec

from assay.core.errors import StoreError
from assay.core.ports import Blobs, KeptPage
from assay.core.sources import sha256
from assay.store.blobs import MemoryBytes, share_bytes


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """A cached page without its body, which is among the blobs under `sha256`."""

    kept: KeptPage
    sha256: str


def _with_body(entry: KeptPage, body: bytes) -> KeptPage:
    return msgspec.structs.replace(entry, page=msgspec.structs.replace(entry.page, body=body))


class FolderPages:
    """Implements `core.ports.PageCache` under `folder`: `ab/cdef….json`, by the hash of the address.

    A file is written beside its place and renamed, so that several processes may share the folder. It is only a cache:
    if a file is damaged, the page is requested again.
    """

    def __init__(self, folder: Path, blobs: Blobs) -> None:
        self._folder, self._blobs = folder, blobs

    def get(self, url: str) -> KeptPage | None:
        try:
            record = msgspec.json.decode(self._path(url).read_bytes(), type=_Record)
            body = self._blobs.get(record.sha256)
        except (OSError, msgspec.DecodeError, StoreError):
            return None
        return _with_body(record.kept, body) if record.kept.page.final_url == url else None

    def put(self, page: KeptPage) -> None:
        record = _Record(kept=_with_body(page, b""), sha256=self._blobs.put(page.page.body))
        path = self._path(page.page.final_url)
        temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary.write_bytes(msgspec.json.encode(record))
            os.replace(temporary, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise StoreError(
                f"{path} cannot be written ({error.strerror}): free some space, or check its permissions"
            ) from error

    def forget(self, url: str) -> None:
        path = self._path(url)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{path} cannot be removed ({error.strerror}): check its permissions") from error

    def _path(self, url: str) -> Path:
        name = sha256(url.encode())
        return self._folder / name[:2] / f"{name[2:]}.json"


class MemoryPages:
    """`PageCache` in the process; beyond `max_pages` pages or `max_bytes` (as stored), the oldest are dropped first."""

    def __init__(self, max_pages: int = 1_000, max_bytes: int = 64_000_000) -> None:
        self._max_pages, self._max_bytes, self._bytes = max_pages, max_bytes, 0
        self._entries: dict[str, tuple[KeptPage, MemoryBytes]] = {}
        self._lock = threading.Lock()

    def get(self, url: str) -> KeptPage | None:
        entry = self._entries.get(url)
        return None if entry is None else _with_body(entry[0], entry[1].get())

    def put(self, page: KeptPage) -> None:
        _, body = share_bytes(page.page.body)
        with self._lock:
            self._drop(page.page.final_url)
            self._entries[page.page.final_url] = _with_body(page, b""), body
            self._bytes += body.size
            while len(self._entries) > self._max_pages or self._bytes > self._max_bytes:
                self._drop(next(iter(self._entries)))

    def forget(self, url: str) -> None:
        with self._lock:
            self._drop(url)

    def _drop(self, url: str) -> None:
        dropped = self._entries.pop(url, None)
        if dropped is not None:
            self._bytes -= dropped[1].size
