"""The spending and the limits of a run."""

from __future__ import annotations

import operator
from typing import Literal, get_args

import msgspec


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """The amounts spent.

    `cached_tokens` (read from a provider's cache) and `cache_write_tokens` (written to it) are parts of
    `input_tokens`, `reasoning_tokens` are part of `output_tokens`. `usd` counts the priced calls; `unpriced_calls` says
    how many model calls had no known price.
    """

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    searches: int = 0
    pages: int = 0
    agents: int = 0
    usd: float = 0.0
    unpriced_calls: int = 0
    cache_write_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Input and output together: what `Budget.tokens` limits."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(operator.add, msgspec.structs.astuple(self), msgspec.structs.astuple(other)))


UsageMeasure = Literal["usd", "tokens", "searches", "pages", "agents"]
MEASURES: tuple[UsageMeasure, ...] = get_args(UsageMeasure)


class Budget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The limits of a run; None is no limit. `seconds` are active seconds: waiting for a person does not count."""

    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None
    searches: int | None = None
    pages: int | None = None
    agents: int | None = None

    def exceeded_by(self, usage: Usage) -> UsageMeasure | None:
        """The first measure in which `usage` exceeds this budget, if any."""
        for measure in MEASURES:
            limit = getattr(self, measure)
            if limit is not None and getattr(usage, measure) > limit:
                return measure
        return None
