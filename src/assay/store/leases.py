"""Leases of runs as both stores read them: when one is held, when it is renewed, and a look at all of a process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from assay.core.errors import FenceLost, process_of
from assay.core.ports import FRESH_SHARE, MAX_LEASE_SECONDS, Lease, Renewal

T = TypeVar("T")


def is_held(until: float, now: float, margin: float = 0.0) -> bool:
    """True if a lease until then is valid for more than `margin` seconds. One that ends too far ahead was taken before
    the clock was set back.
    """
    return now + margin < until <= now + MAX_LEASE_SECONDS


def is_fresh(until: float, now: float, ttl: float) -> bool:
    """True if a lease until then need not be renewed for `ttl` seconds yet."""
    return is_held(until, now, FRESH_SHARE * ttl)


def to_renew(ends: Mapping[T, float], now: float, ttl: float) -> list[T]:
    """Which of the leases that end so to renew for `ttl` seconds: none, or all that this lets end later.

    Together, because one that is renewed later than the others would need a transaction of its own.
    """
    if all(is_fresh(until, now, ttl) for until in ends.values()):
        return []
    return [lease for lease, until in ends.items() if not is_held(until, now, ttl)]


def fence_lost(lease: Lease) -> FenceLost:
    """The error for a run that another process has now."""
    place = process_of(lease.holder)
    return FenceLost(f"run {lease.run_id} was taken over from {place}: this process may not write it any more")


class LeaseLook(NamedTuple):
    """A look at leases, kept so that those that only wait are looked at again only after a change.

    `outcomes` is what `Journal.renew_all` returned. `ends`: when the first and the last of them end. `changes`: of
    the database, before the look.
    """

    leases: tuple[Lease, ...]
    ttl: float
    outcomes: dict[Lease, Renewal | FenceLost]
    ends: tuple[float, float]
    changes: tuple[int, int] = (0, 0)

    def is_unchanged(self, leases: tuple[Lease, ...], ttl: float, changes: tuple[int, int] = (0, 0)) -> bool:
        """True if another look at these leases would give the same."""
        same = leases is self.leases or leases == self.leases  # to compare a thousand takes longer than all the rest
        return same and (ttl, changes) == (self.ttl, self.changes)

    def is_current(self, leases: tuple[Lease, ...], ttl: float, now: float, changes: tuple[int, int] = (0, 0)) -> bool:
        """True if it would give the same, and renew none."""
        return self.is_unchanged(leases, ttl, changes) and all(is_fresh(end, now, ttl) for end in self.ends)

    def to_renew(self, now: float) -> list[Lease]:
        """The leases that another look would renew, or none if that cannot be told: one may end later than the rest."""
        if is_held(self.ends[1], now, self.ttl):
            return []
        return [lease for lease in self.leases if not isinstance(self.outcomes.get(lease), FenceLost)]
