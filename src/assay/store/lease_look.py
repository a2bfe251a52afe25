"""A look at the leases of a process, kept so that those that only wait are looked at again only after a change."""

from __future__ import annotations

from typing import NamedTuple

from assay.core.errors import FenceLost
from assay.core.ports import Lease, Renewal
from assay.store.common import is_fresh, is_held


class LeaseLook(NamedTuple):
    """A look at leases, which is not repeated while nothing changes: `wanted` is what `Journal.renew_all` returned.

    `ends`: when the first and the last of them end. `changes`: of the database, before the look.
    """

    leases: tuple[Lease, ...]
    ttl: float
    wanted: dict[Lease, Renewal | FenceLost]
    ends: tuple[float, float]
    changes: tuple[int, int] = (0, 0)

    def holds(self, leases: tuple[Lease, ...], ttl: float, changes: tuple[int, int] = (0, 0)) -> bool:
        """True if another look at these leases would give the same."""
        same = leases is self.leases or leases == self.leases  # to compare a thousand takes longer than all the rest
        return same and (ttl, changes) == (self.ttl, self.changes)

    def stands(self, leases: tuple[Lease, ...], ttl: float, now: float, changes: tuple[int, int] = (0, 0)) -> bool:
        """True if it would give the same, and renew none."""
        return self.holds(leases, ttl, changes) and all(is_fresh(end, now, ttl) for end in self.ends)

    def to_renew(self, now: float) -> list[Lease]:
        """The leases that another look would renew, or none if that cannot be told: one may end later than the rest."""
        if is_held(self.ends[1], now, self.ttl):
            return []
        return [lease for lease in self.leases if not isinstance(self.wanted.get(lease), FenceLost)]
