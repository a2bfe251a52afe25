"""What goes between Assay and the processes which read files: messages with their length before them."""

from __future__ import annotations

from typing import IO, TypeVar

import msgspec

from assay.core.errors import ExtractError
from assay.core.sources import Extracted

LARGEST = 1024 * 1024 * 1024
"""Bytes of a message."""
HEAD = 8
CHUNK = 1024 * 1024

M = TypeVar("M", bound=msgspec.Struct)


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The first message: where modules are looked for, and how much memory (bytes) the process may take."""

    path: tuple[str, ...]
    memory: int


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A file to read: its bytes, its name, the extractor (`module:Class`) and the processor seconds it may take."""

    extractor: str
    name: str
    data: bytes
    seconds: float


class ExtractionResult(msgspec.Struct, frozen=True, kw_only=True):
    """The documents of a file; `failure` says what kept the extractor from giving all, "" when nothing did.

    `kind` is that of the `ExtractError` which says it.
    """

    documents: tuple[Extracted, ...] = ()
    failure: str = ""
    kind: str = ExtractError.kind


def send(stream: IO[bytes], message: msgspec.Struct) -> int:
    """Write a message; its length.

    Raises:
        OSError: nobody reads any more.
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
        ValueError: the message is longer than `LARGEST`, or no `kind`.
    """
    size = int.from_bytes(_exactly(stream, HEAD), "big")
    if size > LARGEST:
        raise ValueError(f"a message of {size} bytes")
    return msgspec.msgpack.decode(_exactly(stream, size), type=kind)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    """`size` bytes, also from a stream which gives less at a time."""
    parts: list[bytes] = []
    while size > 0:
        part = stream.read(min(size, CHUNK))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
