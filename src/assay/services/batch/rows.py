"""The rows of a batch: the lines of a file as orders, and a folder that records which are done.

A line is a JSON object with a question and options of a run, or a question as plain text. A CSV file, whose first line
names the column `question`, has a question and its options in each row.
"""

from __future__ import annotations

import csv
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import msgspec
from filelock import FileLock, Timeout

from assay.core.errors import StoreError, UsageError
from assay.core.json_decoders import UNREADABLE
from assay.core.options import declared
from assay.core.run_options import RunOptions
from assay.core.sources import sha256
from assay.core.usage import Budget, Usage
from assay.services.batch.misfits import given_twice, names_in, reason
from assay.services.home_paths import write_whole

LONGEST = 1_000_000
"""Bytes of a line; a longer one is not a question."""
LONGEST_HEADER = 10_000
"""Characters of a first line that may name columns."""
_KEY = 12


class BatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a batch. `line` counts from 1; `key` stays the same if lines are inserted before it.

    `sources` None are those of the whole batch; `options` override the batch's.
    """

    line: int
    key: str
    question: str
    id: str = ""
    sources: tuple[str, ...] | None = None
    options: RunOptions = RunOptions()


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that is not a question, and the reason."""

    line: int
    error: str


def read_orders(lines: Iterable[bytes]) -> Iterator[BatchRow | BadLine]:
    """The orders in `lines`, without empty ones; of equal lines each is a separate order."""
    seen: dict[str, int] = {}
    for number, read in _each(lines):
        if isinstance(read, BadLine):
            yield read
            continue
        before = seen.setdefault(read.key, 0)
        seen[read.key] += 1
        if before and read.id:
            yield BadLine(line=number, error=f"the id {read.id!r} is that of an earlier line")
        else:
            yield msgspec.structs.replace(read, key=f"{read.key}-{before + 1}") if before else read


def _each(lines: Iterable[bytes]) -> Iterator[tuple[int, BatchRow | BadLine]]:
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    is_first = True
    for number, line in numbered:
        text = _text(number, line)
        if isinstance(text, BadLine):
            yield number, text
        elif is_first and (columns := _columns(text)):
            yield from _table(number, *columns, numbered)
            return
        else:
            yield number, _read(number, text)
        is_first = False


def _text(number: int, line: bytes) -> str | BadLine:
    if len(line) > LONGEST:
        return BadLine(line=number, error=f"longer than {LONGEST:,} bytes")
    try:
        return line.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return BadLine(line=number, error="not text in UTF-8")


_ALONE = "\x1f"
"""Separates nothing: a table of one column may have commas in it that nobody quoted."""


def _columns(text: str) -> tuple[str, tuple[str, ...]] | tuple[()]:
    """The separator and the columns of a CSV file by its first line; nothing if that is no header with questions."""
    if text.startswith("{") or len(text) > LONGEST_HEADER:
        return ()
    for separator in (",", ";", "\t", _ALONE):
        try:
            names = tuple(name.strip().lower() for name in next(csv.reader([text], delimiter=separator)))
        except csv.Error:
            return ()
        if "question" in names and (len(names) > 1 or separator == _ALONE):
            return separator, names
    return ()


def _table(
    first: int, separator: str, columns: tuple[str, ...], lines: Iterator[tuple[int, bytes]]
) -> Iterator[tuple[int, BatchRow | BadLine]]:
    """The rows of a CSV file below its header. A cell in JSON is read as such, and an empty one is left out."""
    known = msgspec.structs.fields(row_shape())
    message = given_twice(columns)
    if unknown := [name for name in columns if name not in {each.name for each in known}]:
        message = f"no option of a run is named as the column {unknown[0]!r}: rename it, or leave it out"
    if message:
        yield first, BadLine(line=first, error=message)
        return
    last = first

    def texts() -> Iterator[str]:
        nonlocal last
        for number, line in lines:
            last = number
            yield line.decode("utf-8-sig", errors="replace")

    try:
        for cells in csv.reader(texts(), delimiter=separator):
            if given := {name: cell.strip() for name, cell in zip(columns, cells, strict=False) if cell.strip()}:
                yield last, _cells(last, given)
    except csv.Error as error:
        yield last, BadLine(line=last, error=f"not a row of a CSV file ({error}): no row from here on was read")


def _cells(number: int, given: dict[str, str]) -> BatchRow | BadLine:
    try:
        values = {name: msgspec.json.decode(cell) if cell[0] in "[{" else cell for name, cell in given.items()}
        return _order(number, msgspec.structs.asdict(msgspec.convert(values, row_shape(), strict=False)))
    except UNREADABLE as error:
        return BadLine(line=number, error=reason(error, row_shape()))


def _read(number: int, text: str) -> BatchRow | BadLine:
    if not text.startswith("{"):
        return BatchRow(line=number, key=_key(text), question=text)
    try:
        row, twice = msgspec.json.decode(text, type=row_shape()), given_twice(names_in(text))
    except UNREADABLE as error:
        return BadLine(line=number, error=reason(error, row_shape()))
    return BadLine(line=number, error=twice) if twice else _order(number, msgspec.structs.asdict(row))


def _order(number: int, values: dict[str, Any]) -> BatchRow | BadLine:
    question, id, sources = values.pop("question").strip(), str(values.pop("id")), values.pop("sources")
    if not question:
        return BadLine(line=number, error="the question is empty")
    options = {name: value for name, value in values.items() if value is not msgspec.UNSET}
    paths = None if sources is None else (sources,) if isinstance(sources, str) else tuple(sources)
    text = msgspec.json.encode((question, paths, options), order="deterministic").decode()
    return BatchRow(
        line=number,
        key=_key(f"id {id}" if id else text),
        question=question,
        id=id,
        sources=paths,
        options=cast("RunOptions", options),
    )


def cell_key(document: str, question: str) -> str:
    """A key for the order of a question to one document, the same whenever it is asked again."""
    return _key(f"cell {document} {question}")


def _key(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass"))[:_KEY]


@cache
def row_shape(table: type = RunOptions) -> type[msgspec.Struct]:
    """The schema of a JSON line, made of all options of a run, so that new ones are included."""
    options = [(name, each.data | msgspec.UnsetType, msgspec.UNSET) for name, each in declared(table).items()]
    own = [("question", str), ("id", str | int, ""), ("sources", str | list[str] | None, None)]
    fields: Sequence[Any] = [*own, *options]
    return msgspec.defstruct("Line", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


# The total budget of a batch: what its next run may spend, so that all together never spend more.


class BatchBudget:
    """Money and tokens of a total. A run's limit is set aside while it is active; the unused part comes back."""

    def __init__(self, total: Budget) -> None:
        """Of `total` only `usd` and `tokens` count; None is no limit."""
        self.total = total
        self.usd, self.tokens = 0.0, 0
        self._kept: dict[str, Budget] = {}

    @property
    def limited(self) -> bool:
        """True if there is a total at all."""
        return self.total.usd is not None or self.total.tokens is not None

    def left(self) -> Budget:
        """The amount neither spent nor set aside; never below zero."""
        usd, tokens = self.total.usd, self.total.tokens
        if usd is not None:
            usd = max(0.0, usd - self.usd - sum(each.usd or 0.0 for each in self._kept.values()))
        if tokens is not None:
            tokens = max(0, tokens - self.tokens - sum(each.tokens or 0 for each in self._kept.values()))
        return Budget(usd=usd, tokens=tokens)

    def share(self, places: int) -> Budget:
        """The limit of the next run if `places` are free: an equal part of what is left."""
        left = self.left()
        usd = None if left.usd is None else left.usd / max(1, places)
        tokens = None if left.tokens is None else left.tokens // max(1, places)
        return Budget(usd=usd, tokens=tokens)

    def keep(self, key: str, limit: Budget) -> None:
        """Set a run's limit aside while it is active."""
        self._kept[key] = limit

    def settle(self, key: str, used: Usage) -> None:
        """End a run: what it used is spent, the rest of its limit comes back."""
        self._kept.pop(key, None)
        self.usd, self.tokens = self.usd + used.usd, self.tokens + used.tokens

    def spent(self, usd: float, tokens: int) -> None:
        """Count what an earlier process spent."""
        self.usd, self.tokens = self.usd + usd, self.tokens + tokens


# Progress of a batch: a folder with a row for each question, so that a later call continues.

RESULTS = "results.jsonl"
STARTED = "started.jsonl"
_LOCK = ".lock"
_SLUG = 40

Status = Literal["completed", "failed", "cancelled", "waiting", "paused", "running"]
DONE = frozenset(("completed", "cancelled"))
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


class Started(msgspec.Struct, frozen=True, kw_only=True):
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
    def taken(self) -> Iterator[None]:
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
                f"another process is running a batch in {self.path}; name another folder with -o"
            ) from None
        except OSError as error:
            raise _unwritable(self.path, error) from error
        try:
            self.results = {row.key: row for row in self._read(RESULTS, BatchResult)}
            self.runs = {row.key: row.run for row in self._read(STARTED, Started)}
            yield
        finally:
            lock.release()

    def begin(self, key: str, run: str) -> None:
        """Record which run answers an order."""
        self.runs[key] = run
        self._append(STARTED, Started(key=key, run=run))

    def add(self, row: BatchResult) -> None:
        """Record the result of an order."""
        self.results[row.key] = row
        self._append(RESULTS, row)

    def put_in_order(self) -> None:
        """Keep the last row of each order, in the order of the lines."""
        rows = sorted(self.results.values(), key=lambda row: (row.line, row.key))
        self.save(RESULTS, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))

    def save(self, name: str, data: bytes) -> None:
        """Write a file so that nobody ever reads half of it.

        Raises:
            StoreError: it cannot be written.
        """
        try:
            write_whole(self.path / name, data)
        except OSError as error:
            raise _unwritable(self.path / name, error) from error

    def _read(self, name: str, kind: type[R]) -> Iterable[R]:
        """The rows of a file, without an incomplete last one from a killed process."""
        try:
            lines = (self.path / name).read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unwritable(self.path / name, error) from error
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
        try:
            return [msgspec.json.decode(line, type=kind) for line in lines if line.strip()]
        except UNREADABLE as error:
            raise UsageError(f"{self.path / name} is not what a batch writes ({error}): name another folder") from error

    def _append(self, name: str, row: msgspec.Struct) -> None:
        path = self.path / name
        try:
            with path.open("a+b") as file:
                end = file.seek(0, os.SEEK_END)
                if end and not _ends_a_line(file.fileno(), end):
                    file.truncate(_last_line(path))
                file.write(msgspec.json.encode(row) + b"\n")
        except OSError as error:
            raise _unwritable(path, error) from error


def file_name(order: BatchRow, suffix: str) -> str:
    """The report's name, from the id or the question, which may contain anything; the key makes it unique."""
    text = unicodedata.normalize("NFKD", order.id or order.question).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", text)[:_SLUG].strip("-")
    return f"{slug}-{order.key}{suffix}" if slug else f"{order.key}{suffix}"


def _ends_a_line(descriptor: int, end: int) -> bool:
    os.lseek(descriptor, end - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"


def _last_line(path: Path) -> int:
    """The end of the last complete line of a file."""
    return path.read_bytes().rfind(b"\n") + 1


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{path} cannot be written: {error.strerror}; nothing stored is lost: run the same command again to continue"
    )
