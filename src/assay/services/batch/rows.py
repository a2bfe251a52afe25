"""The rows of a batch: the lines of a file as orders, and what is left of the total for the next.

A line is a JSON object with a question and options of a run, or a question as plain text. A CSV file, whose first line
names the column `question`, has a question and its options in each row.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, cast

import msgspec

from assay.core.errors import UnknownName
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import regex
from assay.core.options import declared_options
from assay.core.run_options import RunOptions
from assay.core.sources import sha256
from assay.core.usage import Budget, Usage

MAX_LINE_BYTES = 1_000_000
"""Bytes of a line; a longer one is not a question."""
MAX_HEADER_CHARS = 10_000
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
    counts: dict[str, int] = {}
    for number, row in _read_lines(lines):
        if isinstance(row, BadLine):
            yield row
            continue
        before = counts.setdefault(row.key, 0)
        counts[row.key] += 1
        if before and row.id:
            yield BadLine(line=number, error=f"the id {row.id!r} is that of an earlier line")
        else:
            yield msgspec.structs.replace(row, key=f"{row.key}-{before + 1}") if before else row


def _read_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, BatchRow | BadLine]]:
    numbered_lines = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    is_first = True
    for number, line in numbered_lines:
        text = _text(number, line)
        if isinstance(text, BadLine):
            yield number, text
        elif is_first and (columns := _columns(text)):
            yield from _table(number, *columns, numbered_lines)
            return
        else:
            yield number, _read(number, text)
        is_first = False


def _text(number: int, line: bytes) -> str | BadLine:
    if len(line) > MAX_LINE_BYTES:
        return BadLine(line=number, error=f"longer than {MAX_LINE_BYTES:,} bytes")
    try:
        return line.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return BadLine(line=number, error="not text in UTF-8")


_NO_SEPARATOR = "\x1f"
"""Separates nothing: a table of one column may have commas in it that nobody quoted."""


def _columns(text: str) -> tuple[str, tuple[str, ...]] | tuple[()]:
    """The separator and the columns of a CSV file by its first line; nothing if that is no header with questions."""
    if text.startswith("{") or len(text) > MAX_HEADER_CHARS:
        return ()
    for separator in (",", ";", "\t", _NO_SEPARATOR):
        try:
            names = tuple(name.strip().lower() for name in next(csv.reader([text], delimiter=separator)))
        except csv.Error:
            return ()
        if "question" in names and (len(names) > 1 or separator == _NO_SEPARATOR):
            return separator, names
    return ()


def _table(
    first: int, separator: str, columns: tuple[str, ...], lines: Iterator[tuple[int, bytes]]
) -> Iterator[tuple[int, BatchRow | BadLine]]:
    """The rows of a CSV file below its header. A cell in JSON is read as such, and an empty one is left out."""
    fields = msgspec.structs.fields(row_shape())
    message = _duplicate_reason(columns)
    if unknown := [name for name in columns if name not in {field.name for field in fields}]:
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
            if values := {name: cell.strip() for name, cell in zip(columns, cells, strict=False) if cell.strip()}:
                yield last, _cells(last, values)
    except csv.Error as error:
        yield last, BadLine(line=last, error=f"not a row of a CSV file ({error}): no row from here on was read")


def _cells(number: int, cells: dict[str, str]) -> BatchRow | BadLine:
    try:
        values = {name: msgspec.json.decode(cell) if cell[0] in "[{" else cell for name, cell in cells.items()}
        return _order(number, msgspec.structs.asdict(msgspec.convert(values, row_shape(), strict=False)))
    except DECODE_ERRORS as error:
        return BadLine(line=number, error=error_reason(error, row_shape()))


def _read(number: int, text: str) -> BatchRow | BadLine:
    if not text.startswith("{"):
        return BatchRow(line=number, key=_key(text), question=text)
    try:
        row, twice = msgspec.json.decode(text, type=row_shape()), _duplicate_reason(_names_in(text))
    except DECODE_ERRORS as error:
        return BadLine(line=number, error=error_reason(error, row_shape()))
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
    options = [
        (name, option.data | msgspec.UnsetType, msgspec.UNSET) for name, option in declared_options(table).items()
    ]
    row_fields = [("question", str), ("id", str | int, ""), ("sources", str | list[str] | None, None)]
    fields: Sequence[Any] = [*row_fields, *options]
    return msgspec.defstruct("Line", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


# Why a line is not a question, in words for the person who wrote the file.

_UNKNOWN = regex(r"Object contains unknown field `(?P<name>[^`]*)`")
_MISSING = regex(r"Object missing required field `(?P<name>[^`]*)`")
_VALUE = regex(r"Invalid enum value (?P<value>.*) - at `\$\.(?P<name>\w+)`")
_TYPE = regex(r"Expected `(?P<wanted>[^`]*)`, got `(?P<given>[^`]*)` - at `\$\.(?P<name>[^`]+)`")
_TYPES = {
    "int": "a whole number", "float": "a number", "bool": "true or false", "str": "a text", "array": "a list",
    "object": "an object", "null": "nothing",
}  # fmt: skip


def error_reason(error: Exception, shape: type[msgspec.Struct]) -> str:
    """The reason in an error of decoding a line of this shape: the field, and what it may be."""
    text = str(error)
    if match := _MISSING.match(text):
        return f"there is no {match['name']}"
    if match := _UNKNOWN.match(text):
        names = [field.name for field in msgspec.structs.fields(shape)]
        return str(UnknownName("option of a run", match["name"], names))
    if match := _VALUE.match(text):
        allowed = _values(shape, match["name"])
        return f"{match['name']}: {match['value']} is not one of {', '.join(allowed)}" if allowed else text
    if match := _TYPE.match(text):
        needed = " or ".join(
            _TYPES.get(type_name, type_name) for type_name in match["wanted"].split(" | ") if type_name != "null"
        )
        return f"{match['name']}: {_TYPES.get(match['given'], match['given'])} was given, {needed} is needed"
    return f"not JSON: {text}" if not isinstance(error, msgspec.ValidationError) else text


def _duplicate_reason(names: Iterable[str]) -> str:
    """The reason if a line, or the header of a table, gives a name twice; "" if none."""
    twice = next((name for name, times in Counter(names).items() if times > 1), "")
    return f"{twice} is given twice: leave one out" if twice else ""


def _names_in(line: str) -> list[str]:
    """The names that a line in JSON gives; msgspec keeps the last value of each.

    Raises:
        ValueError, RecursionError: it cannot be read.
    """
    return [name for name, _ in json.loads(line, object_pairs_hook=list, parse_int=str)]


def _values(shape: type[msgspec.Struct], name: str) -> list[str]:
    """The words that a field may be."""
    types = [field.type for field in msgspec.structs.fields(shape) if field.name == name]
    words: list[str] = []
    for info in map(msgspec.inspect.type_info, types):
        members: tuple[Any, ...] = info.types if isinstance(info, msgspec.inspect.UnionType) else (info,)
        for member in members:
            if isinstance(member, msgspec.inspect.LiteralType):
                words += map(str, member.values)
    return words


# The total budget of a batch: what its next run may spend, so that all together never spend more.


class BatchBudget:
    """Money and tokens of a total. A run's limit is set aside while it is active; the unused part comes back."""

    def __init__(self, total: Budget) -> None:
        """Of `total` only `usd` and `tokens` count; None is no limit."""
        self.total = total
        self.usd, self.tokens = 0.0, 0
        self._held: dict[str, Budget] = {}

    def remaining(self) -> Budget:
        """The amount neither spent nor set aside; never below zero."""
        usd, tokens = self.total.usd, self.total.tokens
        if usd is not None:
            usd = max(0.0, usd - self.usd - sum(budget.usd or 0.0 for budget in self._held.values()))
        if tokens is not None:
            tokens = max(0, tokens - self.tokens - sum(budget.tokens or 0 for budget in self._held.values()))
        return Budget(usd=usd, tokens=tokens)

    def share(self, slots: int) -> Budget:
        """The limit of the next run if `slots` are free: an equal part of what is left."""
        remaining = self.remaining()
        usd = None if remaining.usd is None else remaining.usd / max(1, slots)
        tokens = None if remaining.tokens is None else remaining.tokens // max(1, slots)
        return Budget(usd=usd, tokens=tokens)

    def hold(self, key: str, limit: Budget) -> None:
        """Set a run's limit aside while it is active."""
        self._held[key] = limit

    def settle(self, key: str, used: Usage) -> None:
        """End a run: what it used is spent, the rest of its limit comes back."""
        self._held.pop(key, None)
        self.usd, self.tokens = self.usd + used.usd, self.tokens + used.tokens

    def add_spent(self, usd: float, tokens: int) -> None:
        """Count what an earlier process spent."""
        self.usd, self.tokens = self.usd + usd, self.tokens + tokens
