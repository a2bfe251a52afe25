"""Token buckets: how often somebody may do something, counted by all processes together."""

from __future__ import annotations

import math
from typing import Protocol

import msgspec


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """So many in so many seconds: a bucket of `most` tokens, which fills evenly."""

    name: str
    most: int
    seconds: float

    @property
    def pause(self) -> float:
        """Seconds in which one token comes back."""
        return self.seconds / self.most


class BucketState(msgspec.Struct, frozen=True, kw_only=True):
    """How a bucket stands after a token was asked for: how many are left, and after how many seconds it is full.

    `wait` is after how many seconds one is there, 0 where one was taken.
    """

    rate: Rate
    left: int
    full: float
    wait: float = 0.0


class Buckets(Protocol):
    """Token buckets, by what they limit and whose they are."""

    async def take(self, owner: str, rate: Rate) -> BucketState:
        """Take a token, where one is there; two who take at once never get the same."""
        ...

    async def give_back(self, owner: str, rate: Rate) -> None:
        """What it was taken for was not done."""
        ...

    async def drop_full(self) -> int:
        """Forget the buckets which are full again; how many."""
        ...


def after(rate: Rate, due: float, now: float) -> BucketState:
    """How a bucket stands whose tokens are all back at `due` (the generic cell rate algorithm, ITU-T I.371).

    `due` above `now` + `rate.seconds` says that no token is there.
    """
    left = math.floor((now + rate.seconds - due) / rate.pause + 1e-9)
    return BucketState(rate=rate, left=max(left, 0), full=max(due - now, 0.0))
