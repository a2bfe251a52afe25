"""A process that reads files for another: `python -m assay.fetch.worker`, started by `assay.fetch.workers`.

It reads tasks from standard input and writes results to standard output until the input ends, which also happens when
the other process is gone for whatever reason.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from importlib import import_module
from queue import SimpleQueue
from typing import IO, TypeVar

import msgspec

from assay.core.errors import ExtractError, ReaderBroke
from assay.core.ports import Extractor
from assay.core.sources import Extracted

if sys.platform != "win32":
    import resource

MAX_MESSAGE_BYTES = 1024 * 1024 * 1024
"""The most bytes of a message."""
LENGTH_BYTES = 8
CHUNK_BYTES = 1024 * 1024

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
    stream.write(len(data).to_bytes(LENGTH_BYTES, "big"))
    stream.write(data)
    stream.flush()
    return len(data)


def receive(stream: IO[bytes], kind: type[M]) -> M:
    """Read a message of `kind`.

    Raises:
        EOFError: the stream has ended, or ends within the message.
        ValueError: the message is longer than `MAX_MESSAGE_BYTES`, or is not a `kind`.
    """
    size = int.from_bytes(_read_exactly(stream, LENGTH_BYTES), "big")
    if size > MAX_MESSAGE_BYTES:
        raise ValueError(f"a message of {size} bytes")
    return msgspec.msgpack.decode(_read_exactly(stream, size), type=kind)


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    """Read `size` bytes, even from a stream that returns fewer at a time."""
    parts: list[bytes] = []
    while size > 0:
        part = stream.read(min(size, CHUNK_BYTES))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


# The process that reads.

HEADROOM = 4096
"""Bytes of a message that are not text."""


def main() -> None:
    """Serve until the input ends."""
    tasks, replies = _streams()
    setup = receive(tasks, Setup)
    sys.path[:] = setup.path
    _limit_memory(setup.memory)
    queue: SimpleQueue[Task] = SimpleQueue()
    threading.Thread(target=_receive_tasks, args=(tasks, queue), daemon=True).start()
    while True:
        send(replies, _read(queue.get(), setup.memory))


def _streams() -> tuple[IO[bytes], IO[bytes]]:
    """The pipes, protected from what libraries read and print: their output goes to standard error."""
    tasks, replies = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    return tasks, replies


def _receive_tasks(stream: IO[bytes], queue: SimpleQueue[Task]) -> None:
    """Receive tasks even while one is being worked on, which is the only way to notice the end of the input then."""
    try:
        while True:
            queue.put(receive(stream, Task))
    finally:
        os._exit(0)


def _read(task: Task, memory: int) -> ExtractionResult:
    _limit_processor(task.seconds)
    documents: list[Extracted] = []
    try:
        size = 0
        for document in _extractor(task.extractor).extract(task.data, task.name):
            documents.append(document)
            wide = 1 if document.text.isascii() else 4
            size += HEADROOM + wide * len(document.text) + len(document.body or b"")
            if size > MAX_MESSAGE_BYTES:
                documents.pop()
                return ExtractionResult(
                    documents=tuple(documents), failure=f"it holds more than {MAX_MESSAGE_BYTES >> 20} MB of text"
                )
    except ExtractError as error:
        return ExtractionResult(documents=tuple(documents), failure=str(error) or "cannot be read", kind=error.kind)
    except MemoryError:
        documents.clear()
        message = f"reading it takes more than {memory >> 20} MB of memory; split it, or save it anew"
        return ExtractionResult(failure=message, kind=ReaderBroke.kind)
    return ExtractionResult(documents=tuple(documents))


def _extractor(reference: str) -> Extractor:
    module, _, name = reference.partition(":")
    extractor: Extractor = getattr(import_module(module), name)()
    return extractor


def _limit_memory(size: int) -> None:
    """Limit memory on systems that can: Linux can, macOS does not enforce it."""
    if sys.platform != "win32":
        _set_limit(resource.RLIMIT_AS, size)
        _set_limit(resource.RLIMIT_CORE, 0)


def _limit_processor(seconds: float) -> None:
    """A second safeguard: the other process ends this one by the clock, but may itself be gone."""
    if sys.platform != "win32":
        _set_limit(resource.RLIMIT_CPU, int(time.process_time() + seconds) + 2)


def _set_limit(limit: int, value: int) -> None:
    if sys.platform != "win32":
        hard = resource.getrlimit(limit)[1]
        soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(limit, (soft, hard))
        except (ValueError, OSError) as error:
            print(f"no limit: {error}", file=sys.stderr)  # noqa: T201  # standard error is read when the process ends


if __name__ == "__main__":
    main()
