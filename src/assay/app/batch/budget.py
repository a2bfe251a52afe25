"""The total budget of a batch: what its next run may spend, so that all together never spend more."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from assay.core.usage import Budget, Usage

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
