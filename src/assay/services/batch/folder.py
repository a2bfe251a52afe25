"""The folder of a batch: a row for each question that was asked, so that a later call continues."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from filelock import FileLock, Timeout

from assay.core.errors import StoreError, UsageError
from assay.core.json_decoders import DECODE_ERRORS
from assay.services.batch.rows import BatchRow
from assay.services.home_paths import write_atomically

RESULTS = "results.jsonl"
STARTED = "started.jsonl"
_LOCK = ".lock"
_SLUG = 40

Status = Literal["completed", "failed", "cancelled", "waiting", "paused", "running"]
DONE_STATUSES = frozenset(("completed", "cancelled"))
"""Statuses that a later call does not repeat; others are tried once more."""

R = TypeVar("R", bound=msgspec.Struct)


class BatchResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of the results. `file` is the report's name in the folder; `claims` counts them by verdict.

    `usd` and `tokens` are what the run spent; `error` says why there is no report. `passed` says that the final gate
    passed, `verified` also that every claim holds and one answers the question.
    """

    line: int
    key: str
    question: str
    status: Status
    id: str = ""
    run: str = ""
    stop_reason: str = ""
    verified: bool = False
    file: str = ""
    claims: dict[str, int] = {}
    sources: int = 0
    usd: float = 0.0
    tokens: int = 0
    error: str = ""
    passed: bool | None = None

    @property
    def is_good(self) -> bool:
        """True if the final gate passed; an older release stored that as `verified`."""
        return self.verified if self.passed is None else self.passed


class StartedRun(msgspec.Struct, frozen=True, kw_only=True):
    """The run of an order, recorded before the run is stored, so that no run is paid for and forgotten."""

    key: str
    run: str


class BatchFolder:
    """Rows are appended as they arrive, and sorted by line at the end. One process at a time uses it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: dict[str, BatchResult] = {}
        self.runs: dict[str, str] = {}

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder for this process in the block, and read its contents.

        Raises:
            UsageError: another process uses it.
            StoreError: it cannot be made, read or written.
        """
        lock = FileLock(self.path / _LOCK, thread_local=False)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout:
            raise UsageError(
                f"another process is at work in {self.path}: wait until it ends, or name another place with -o"
            ) from None
        except OSError as error:
            raise _write_error(self.path, error) from error
        try:
            self.results = {row.key: row for row in self._read(RESULTS, BatchResult)}
            self.runs = {row.key: row.run for row in self._read(STARTED, StartedRun)}
            yield
        finally:
            lock.release()

    def begin(self, key: str, run: str) -> None:
        """Record which run answers an order."""
        self.runs[key] = run
        self._append(STARTED, StartedRun(key=key, run=run))

    def add(self, row: BatchResult) -> None:
        """Record the result of an order."""
        self.results[row.key] = row
        self._append(RESULTS, row)

    def sort_results(self) -> None:
        """Keep the last row of each order, in the order of the lines."""
        rows = sorted(self.results.values(), key=lambda row: (row.line, row.key))
        self.save(RESULTS, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))

    def save(self, name: str, data: bytes) -> None:
        """Write a file so that nobody ever reads half of it.

        Raises:
            StoreError: it cannot be written.
        """
        try:
            write_atomically(self.path / name, data)
        except OSError as error:
            raise _write_error(self.path / name, error) from error

    def _read(self, name: str, kind: type[R]) -> Iterable[R]:
        """The rows of a file, without an incomplete last one from a killed process."""
        try:
            lines = (self.path / name).read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _write_error(self.path / name, error) from error
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
        try:
            return [msgspec.json.decode(line, type=kind) for line in lines if line.strip()]
        except DECODE_ERRORS as error:
            raise UsageError(f"{self.path / name} is not what a batch writes ({error}): name another folder") from error

    def _append(self, name: str, row: msgspec.Struct) -> None:
        path = self.path / name
        try:
            with path.open("a+b") as file:
                end = file.seek(0, os.SEEK_END)
                if end and not _ends_with_newline(file.fileno(), end):
                    file.truncate(path.read_bytes().rfind(b"\n") + 1)  # after the last complete line
                file.write(msgspec.json.encode(row) + b"\n")
        except OSError as error:
            raise _write_error(path, error) from error


def file_name(order: BatchRow, suffix: str) -> str:
    """The report's name, from the id or the question, which may contain anything; the key makes it unique."""
    text = unicodedata.normalize("NFKD", order.id or order.question).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", text)[:_SLUG].strip("-")
    return f"{slug}-{order.key}{suffix}" if slug else f"{order.key}{suffix}"


def _ends_with_newline(descriptor: int, end: int) -> bool:
    os.lseek(descriptor, end - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"


def _write_error(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{path} cannot be written: {error.strerror}; nothing stored is lost: run the same command again to continue"
    )
