"""How bytes lie in a store of blobs: one zstd frame each, named by the SHA-256 of what is in it."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Protocol

import msgspec
import zstandard

from assay.core.errors import StoreError
from assay.core.ports import Blobs
from assay.core.sources import sha256

_HASH = re.compile(r"[0-9a-f]{64}")
_LEVEL = 3
_PART = 1 << 20
SUFFIX = ".zst"


class Stored(msgspec.Struct, frozen=True):
    """A blob that is there: its name, the bytes it takes, and when it was written."""

    name: str
    size: int
    modified: datetime


class KeptBlobs(Blobs, Protocol):
    """Blobs which can be listed, copied as they lie and removed; `place` is what a user calls where they are."""

    @property
    def place(self) -> str: ...

    def claim(self) -> None:
        """Say that this library has bytes here, where others may have some too; storing says it by itself.

        Raises:
            StoreError: it cannot be written.
        """
        ...

    def keep(self, name: str, packed: bytes) -> None:
        """Store a frame under its name.

        Raises:
            StoreError: it cannot be written.
        """
        ...

    def read(self, sha256: str) -> tuple[bytes, bytes]:
        """The zstd frame, and what is in it, checked against its name.

        Raises:
            StoreError: not there, or damaged.
        """
        ...

    def stored(self) -> Iterator[Stored]:
        """All of them, in no order. What lies there by another name is left out.

        Raises:
            StoreError: the place cannot be listed.
        """
        ...

    def age(self, sha256: str) -> float | None:
        """Seconds since it was written; None where it is not there.

        Raises:
            StoreError: the place cannot be reached.
        """
        ...

    def remove(self, sha256: str) -> None:
        """Delete it, if it is there.

        Raises:
            StoreError: it cannot be deleted.
        """
        ...

    def owners(self) -> set[str]:
        """The ids of the libraries which have ever stored something here.

        Raises:
            StoreError: the place cannot be listed.
        """
        ...


Owner = Callable[[], str]
"""Tells the id of the library which stores: asked once, when it first does. Who cleans up must know whom he shares
the place with."""
OWNERS = "owners"
"""Where the ids of libraries are, each an empty file."""


class Damage(Exception):
    """What was read is not what was stored."""


class Packing:
    """Packs and unpacks; any thread may use it."""

    def __init__(self) -> None:
        self._local = threading.local()  # zstd contexts may not be shared by threads

    def pack(self, data: bytes) -> bytes:
        """A zstd frame."""
        if not hasattr(self._local, "compressor"):
            self._local.compressor = zstandard.ZstdCompressor(level=_LEVEL)
        packed: bytes = self._local.compressor.compress(data)
        return packed

    def unpack(self, packed: bytes, name: str) -> bytes:
        """What is in a frame.

        Raises:
            Damage: it is none, or holds other bytes than those of this name.
        """
        if not hasattr(self._local, "decompressor"):
            self._local.decompressor = zstandard.ZstdDecompressor()
        try:
            data: bytes = self._local.decompressor.decompress(packed)
        except (zstandard.ZstdError, MemoryError) as error:
            raise Damage from error
        if sha256(data) != name:
            raise Damage
        return data

    def check(self, packed: bytes, name: str, most: int) -> None:
        """Look at a frame from outside, of which little is held in memory whatever it unpacks to.

        Raises:
            Damage: it is none, holds other bytes than those of this name, or says that it holds more than `most`.
        """
        found = hashlib.sha256()
        try:
            if zstandard.get_frame_parameters(packed).content_size > most:
                raise Damage
            with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
                while part := reader.read(_PART):
                    found.update(part)
        except (zstandard.ZstdError, MemoryError) as error:
            raise Damage from error
        if found.hexdigest() != name:
            raise Damage


def is_name(name: str) -> bool:
    """Whether it is a SHA-256 as blobs are named by."""
    return _HASH.fullmatch(name) is not None


def checked_name(name: str) -> str:
    """The name.

    Raises:
        StoreError: it cannot be one.
    """
    if not is_name(name):
        raise StoreError(f"{name[:80]!r} is not a SHA-256")
    return name


def place_of(name: str) -> str:
    """Where a blob lies below its store's folder: `ab/cdef….zst`, 256 shards, so that none grows too long to list."""
    return f"{name[:2]}/{name[2:]}{SUFFIX}"


def name_at(place: str) -> str:
    """The name of the blob at a place below its store's folder; empty where there is none of ours."""
    parts = place.split("/")
    name = "".join(parts).removesuffix(SUFFIX) if len(parts) == 2 and place.endswith(SUFFIX) else ""
    return name if is_name(name) and len(parts[0]) == 2 else ""
