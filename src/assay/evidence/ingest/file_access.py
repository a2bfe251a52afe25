"""The bytes of a file: only of a regular one, never more than allowed, and whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec

from assay.core.errors import ExtractError

SNIFFED = 8_192
CHUNK = 1024 * 1024
TRIES = 2

# A named pipe which took the file's place must not make us wait for a writer; Windows has neither flag, and text mode.
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


class FileContent(msgspec.Struct, frozen=True):
    """A file's bytes, and how it looked while they were read."""

    data: bytes
    mtime_ns: int


def check_regular(status: os.stat_result) -> None:
    """Refuse what is no file with bytes of its own.

    Raises:
        ExtractError: a pipe, a device, a socket, a folder.
    """
    if not stat.S_ISREG(status.st_mode):
        raise ExtractError("not a regular file")


def read_file(path: Path, largest: int, *, text: bool) -> FileContent | None:
    """The content of a regular file of at most `largest` bytes; with `text` None when it looks like no text.

    A file which changes meanwhile is read once more.

    Raises:
        ExtractError: not a regular file, too large, or changed again.
        OSError: it cannot be opened or read.
    """
    descriptor = os.open(path, FLAGS)
    try:
        if text and b"\0" in _start(descriptor):
            return None
        for _ in range(TRIES):
            content = _attempt(descriptor, largest)
            if content is not None:
                return content
    finally:
        os.close(descriptor)
    raise ExtractError("it changed while it was read; add it again when nothing writes to it")


def _start(descriptor: int) -> bytes:
    check_regular(os.fstat(descriptor))
    return os.read(descriptor, SNIFFED)


def _attempt(descriptor: int, largest: int) -> FileContent | None:
    """The content; None when the file changed while it was read."""
    before = os.fstat(descriptor)
    check_regular(before)
    if before.st_size > largest:
        raise ExtractError(f"larger than {largest / 1_000_000:g} MB (the setting documents.max_file_mb)")
    os.lseek(descriptor, 0, os.SEEK_SET)
    parts: list[bytes] = []
    size = 0
    while size <= before.st_size and (part := os.read(descriptor, CHUNK)):
        parts.append(part)
        size += len(part)
    after = os.fstat(descriptor)
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and size == before.st_size
    return FileContent(b"".join(parts), after.st_mtime_ns) if same else None
