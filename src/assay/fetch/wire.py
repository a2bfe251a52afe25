"""The messages between Assay and the processes that read files, each preceded by its length."""

from __future__ import annotations

from typing import IO, TypeVar

import msgspec

from assay.core.errors import ExtractError
from assay.core.sources import Extracted

LARGEST = 1024 * 1024 * 1024
"""The most bytes of a message."""
HEAD = 8
CHUNK = 1024 * 1024

M = TypeVar("M", bound=msgspec.Struct)


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The first message: the module search path, and the memory limit (bytes) of the process."""

    path: tuple[str, ...]
    memory: int


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A file to read: its bytes, its name, the extractor (`module:Class`) and its limit in processor seconds."""

    extractor: str
    name: str
    data: bytes
    seconds: float


class ExtractionResult(msgspec.Struct, frozen=True, kw_only=True):
    """The documents of a file; `failure` says why the extractor did not return all of them, "" if it did.

    `kind` is that of the `ExtractError`.
    """

    documents: tuple[Extracted, ...] = ()
    failure: str = ""
    kind: str = ExtractError.kind


def send(stream: IO[bytes], message: msgspec.Struct) -> int:
    """Write a message and return its length.

    Raises:
        OSError: the reader is gone.
    """
    data = msgspec.msgpack.encode(message)
    stream.write(len(data).to_bytes(HEAD, "big"))
    stream.write(data)
    stream.flush()
    return len(data)


def receive(stream: IO[bytes], kind: type[M]) -> M:
    """Read a message of `kind`.

    Raises:
        EOFError: the stream has ended, or ends within the message.
        ValueError: the message is longer than `LARGEST`, or is not a `kind`.
    """
    size = int.from_bytes(_exactly(stream, HEAD), "big")
    if size > LARGEST:
        raise ValueError(f"a message of {size} bytes")
    return msgspec.msgpack.decode(_exactly(stream, size), type=kind)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    """Read `size` bytes, even from a stream that returns fewer at a time."""
    parts: list[bytes] = []
    while size > 0:
        part = stream.read(min(size, CHUNK))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
