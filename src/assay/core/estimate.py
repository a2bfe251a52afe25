"""What a run will likely take: ranges, made before it begins."""

from __future__ import annotations

from typing import Literal

import msgspec


class Span(msgspec.Struct, frozen=True):
    """From `least` to `most`."""

    least: float
    most: float

    def holds(self, value: float) -> bool:
        """Whether `value` is within."""
        return self.least <= value <= self.most


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What a run will likely take, all in all: model calls, tokens, US dollars, seconds of work.

    `usd` is None where a model's price is not known. `basis` says what it rests on: the rules of the depth and the
    table of prices, or the latest `runs` of the same kind.
    """

    calls: Span
    tokens: Span
    seconds: Span
    usd: Span | None = None
    basis: Literal["rules", "runs"] = "rules"
    runs: int = 0
