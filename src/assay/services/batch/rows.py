"""The lines of a batch: a JSON object with a question and options of a run, or a question as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from assay.core.json_decoders import UNREADABLE
from assay.core.options import declared
from assay.core.run_options import RunOptions
from assay.core.sources import sha256
from assay.core.usage import Budget, Usage

LONGEST = 1_000_000
"""Bytes of a line; what is longer is no question."""
_KEY = 12


class BatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a batch. `line` counts from 1; `key` stays the same where lines are put in before it.

    `sources` None are those of the whole batch; `options` go before the batch's own.
    """

    line: int
    key: str
    question: str
    id: str = ""
    sources: tuple[str, ...] | None = None
    options: RunOptions = RunOptions()


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line which is no question, and why not."""

    line: int
    error: str


def read_orders(lines: Iterable[bytes]) -> Iterator[BatchRow | BadLine]:
    """The orders in `lines`, empty ones left out; of equal lines each is an order of its own."""
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        read = _read(number, line)
        if isinstance(read, BadLine):
            yield read
            continue
        before = seen.setdefault(read.key, 0)
        seen[read.key] += 1
        if before and read.id:
            yield BadLine(line=number, error=f"the id {read.id!r} is that of an earlier line")
        else:
            yield msgspec.structs.replace(read, key=f"{read.key}-{before + 1}") if before else read


def _read(number: int, line: bytes) -> BatchRow | BadLine:
    if len(line) > LONGEST:
        return BadLine(line=number, error=f"longer than {LONGEST:,} bytes")
    try:
        text = line.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return BadLine(line=number, error="not text in UTF-8")
    if not text.startswith("{"):
        return BatchRow(line=number, key=_key(text), question=text)
    try:
        row = msgspec.json.decode(text, type=row_shape())
    except UNREADABLE as error:
        return BadLine(line=number, error=str(error))
    return _order(number, msgspec.structs.asdict(row))


def _order(number: int, values: dict[str, Any]) -> BatchRow | BadLine:
    question, id, sources = values.pop("question").strip(), str(values.pop("id")), values.pop("sources")
    if not question:
        return BadLine(line=number, error="the question is empty")
    options = {name: value for name, value in values.items() if value is not msgspec.UNSET}
    paths = None if sources is None else (sources,) if isinstance(sources, str) else tuple(sources)
    said = msgspec.json.encode((question, paths, options), order="deterministic").decode()
    return BatchRow(
        line=number,
        key=_key(f"id {id}" if id else said),
        question=question,
        id=id,
        sources=paths,
        options=cast("RunOptions", options),
    )


def cell_key(document: str, question: str) -> str:
    """What tells the order of a question to one document from all others, whenever it is asked again."""
    return _key(f"cell {document} {question}")


def _key(said: str) -> str:
    return sha256(said.encode(errors="surrogatepass"))[:_KEY]


@cache
def row_shape(table: type = RunOptions) -> type[msgspec.Struct]:
    """A line as JSON has it: every option of a run, so that a new one is known here too."""
    options = [(name, each.data | msgspec.UnsetType, msgspec.UNSET) for name, each in declared(table).items()]
    own = [("question", str), ("id", str | int, ""), ("sources", str | list[str] | None, None)]
    fields: Sequence[Any] = [*own, *options]
    return msgspec.defstruct("Line", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


# The total budget of a batch: what its next run may spend, so that all together never spend more.

N = TypeVar("N", int, float)


class BatchBudget:
    """Money and tokens of a total; a run's limit is kept apart while it goes on, and what it leaves comes back."""

    def __init__(self, total: Budget) -> None:
        """Of `total` only `usd` and `tokens` count; None is no limit."""
        self.total = total
        self.usd, self.tokens = 0.0, 0
        self._kept: dict[str, Budget] = {}

    @property
    def limited(self) -> bool:
        """Whether there is a total at all."""
        return self.total.usd is not None or self.total.tokens is not None

    def left(self) -> Budget:
        """What is neither spent nor kept apart; never below zero."""
        usd, tokens = self.total.usd, self.total.tokens
        if usd is not None:
            usd = max(0.0, usd - self.usd - sum(each.usd or 0.0 for each in self._kept.values()))
        if tokens is not None:
            tokens = max(0, tokens - self.tokens - sum(each.tokens or 0 for each in self._kept.values()))
        return Budget(usd=usd, tokens=tokens)

    def share(self, places: int) -> Budget:
        """The limit of the next run where `places` are to be filled: an equal part of what is left."""
        left = self.left()
        usd = None if left.usd is None else left.usd / max(1, places)
        tokens = None if left.tokens is None else left.tokens // max(1, places)
        return Budget(usd=usd, tokens=tokens)

    def keep(self, key: str, limit: Budget) -> None:
        """Keep a run's limit apart while it goes on."""
        self._kept[key] = limit

    def settle(self, key: str, used: Usage) -> None:
        """A run has ended: what it used is spent, the rest of its limit comes back."""
        self._kept.pop(key, None)
        self.usd, self.tokens = self.usd + used.usd, self.tokens + used.tokens

    def spent(self, usd: float, tokens: int) -> None:
        """Count what an earlier process spent."""
        self.usd, self.tokens = self.usd + usd, self.tokens + tokens


def smaller(own: Budget, share: Budget) -> Budget:
    """The narrower of two limits, measure by measure; of `own` the rest stays."""
    return msgspec.structs.replace(own, usd=_least(own.usd, share.usd), tokens=_least(own.tokens, share.tokens))


def _least(one: N | None, other: N | None) -> N | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
