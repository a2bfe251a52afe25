"""The accounts of a run: what is held, what is spent, and who may still spend.

A step holds the worst case of its call before it begins and settles what it really cost in the transaction which
stores its result. A hold found on resume belongs to an attempt that died: it is settled at its estimate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeVar

import msgspec

from assay.core.errors import LimitReached
from assay.core.ports import HoldRecord
from assay.core.usage import MEASURES, Budget, Usage
from assay.run.affordability import Reserve

N = TypeVar("N", int, float)
Gate = Literal["work", "report", "write", "verify"]
"""What a place of a run is for: research, an agent's report, the writer, verification. Each has limits of its own."""

LOW = 0.8


def part(budget: Budget, share: float) -> Budget:
    """`share` of every limit but time; whole calls are rounded down, never to nothing."""

    def whole(limit: int | None) -> int | None:
        return None if limit is None else max(1, int(limit * share)) if limit else 0

    return Budget(
        usd=None if budget.usd is None else budget.usd * share,
        tokens=whole(budget.tokens),
        searches=whole(budget.searches),
        pages=whole(budget.pages),
        agents=whole(budget.agents),
    )


def left(budget: Budget, used: Usage) -> Budget:
    """What `used` leaves of a budget, never below zero."""
    return Budget(
        usd=None if budget.usd is None else max(0.0, budget.usd - used.usd),
        tokens=None if budget.tokens is None else max(0, budget.tokens - used.tokens),
        searches=None if budget.searches is None else max(0, budget.searches - used.searches),
        pages=None if budget.pages is None else max(0, budget.pages - used.pages),
        agents=None if budget.agents is None else max(0, budget.agents - used.agents),
    )


class Account(msgspec.Struct):
    """One lane's limit and what it has used; `held` by step."""

    limit: Budget
    settled: Usage = Usage()
    held: dict[str, Usage] = {}

    @property
    def used(self) -> Usage:
        total = self.settled
        for amount in self.held.values():
            total = total + amount
        return total


class Accounts:
    """The whole run's account and one for each lane, kept in step with the journal's holds."""

    def __init__(self, budget: Budget, stored: Iterable[HoldRecord] = (), reserve: Reserve | None = None) -> None:
        """`reserve` is what research leaves to the writer and to verification."""
        self.budget = budget
        self._reserve = reserve or Reserve.of(budget)
        self._whole = Account(limit=budget)
        self._lanes: dict[int, Account] = {}
        self._shares: dict[tuple[str, ...], Budget] = {}
        self._low: set[str] = set()
        self._paid: dict[str, Usage] = {}
        for hold in stored:
            self._restore(hold)
        self.newly_low()  # said before the process died, with the step which used so much

    def _restore(self, hold: HoldRecord) -> None:
        account = self._lane(int(hold.account))
        for each in (self._whole, account):
            if hold.state == "settled":
                each.settled = each.settled + hold.amount
            else:
                each.held[hold.step] = hold.amount
        if hold.state == "settled":
            self._paid[hold.step] = hold.amount

    def _lane(self, lane: int) -> Account:
        return self._lanes.setdefault(lane, Account(limit=Budget()))

    @property
    def limited(self) -> bool:
        """Whether any measure but time has a limit; without one nothing need be held."""
        return any(getattr(self.budget, measure) is not None for measure in MEASURES)

    @property
    def used(self) -> Usage:
        """Held and settled, of the whole run."""
        return self._whole.used

    @property
    def settled(self) -> Usage:
        """What the whole run is known to have spent; attempts that died count with what was held for them."""
        return self._whole.settled

    def share(self, parent: tuple[str, ...], lanes_at_once: int) -> Budget:
        """A new lane's slice: an equal part of what was left when the first lane of `parent` was spawned.

        All lanes of one parent get the same, whatever their siblings have spent meanwhile.
        """
        if parent not in self._shares:
            self._shares[parent] = part(left(self.ceiling("work"), self.used), 1 / max(1, lanes_at_once))
        return self._shares[parent]

    def open_lane(self, lane: int, parent: tuple[str, ...], limit: Budget) -> None:
        """Open a lane's account with its slice; on resume that is the slice it had, for it and its new siblings."""
        self._shares.setdefault(parent, limit)
        self._lane(lane).limit = limit

    def ceiling(self, gate: Gate) -> Budget:
        """How far the whole run may go at `gate`: research leaves the writer's part, and both leave verification's."""
        return self.budget if gate == "verify" else self._reserve.kept(self.budget, writing=gate == "write")

    def room(self, lane: int, gate: Gate) -> Budget:
        """What this lane may still hold."""
        whole = left(self.ceiling(gate), self._whole.used)
        own = left(self._lane(lane).limit, self._lane(lane).used)
        return Budget(
            usd=_least(whole.usd, own.usd),
            tokens=_least(whole.tokens, own.tokens),
            searches=_least(whole.searches, own.searches),
            pages=_least(whole.pages, own.pages),
            agents=_least(whole.agents, own.agents),
        )

    def spent_out(self, amount: Usage) -> bool:
        """Whether the whole run, not just one lane, has no room left for research of this cost."""
        return left(self.ceiling("work"), self._whole.used).exceeded_by(amount) is not None

    def hold(self, lane: int, step: str, amount: Usage, gate: Gate) -> HoldRecord:
        """Keep `amount` for a step, beside what is held for it already: an attempt that died may have spent that.

        Raises:
            LimitReached: there is not so much left; the reason is the measure ("tokens").
        """
        over = self.room(lane, gate).exceeded_by(amount)
        if over is not None:
            raise LimitReached(over)
        own = self._lane(lane)
        own.held[step] = self._whole.held[step] = own.held.get(step, Usage()) + amount
        return HoldRecord(step=step, account=str(lane), amount=own.held[step], state="held")

    def settle(self, lane: int, step: str, actual: Usage, *, died: Usage = Usage()) -> HoldRecord:
        """Replace a step's hold by what it cost; `died` is what an earlier attempt held, and may have spent.

        A step which is done again has both on its record.
        """
        own = self._lane(lane)
        own.held.pop(step, None)
        self._whole.held.pop(step, None)
        own.settled = own.settled + actual + died
        self._whole.settled = self._whole.settled + actual + died
        self._paid[step] = self._paid.get(step, Usage()) + actual + died
        return HoldRecord(step=step, account=str(lane), amount=self._paid[step], state="settled")

    def held(self, lane: int, step: str) -> Usage | None:
        """What is held for this step; where it was stored before, an attempt at it died."""
        return self._lane(lane).held.get(step)

    def close(self) -> tuple[HoldRecord, ...]:
        """Settle at its estimate what is still held: calls which were let go, whose cost nobody said."""
        held = [(lane, step, amount) for lane, account in self._lanes.items() for step, amount in account.held.items()]
        return tuple(self.settle(lane, step, amount) for lane, step, amount in held)

    def newly_low(self) -> list[tuple[str, float, float]]:
        """Measures of which 80 % is used, each said once: (measure, used, limit)."""
        found = []
        for measure in MEASURES:
            limit, used = getattr(self.budget, measure), getattr(self._whole.settled, measure)
            if limit and measure not in self._low and used >= LOW * limit:
                self._low.add(measure)
                found.append((str(measure), float(used), float(limit)))
        return found


def _least(one: N | None, other: N | None) -> N | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
