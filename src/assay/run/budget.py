"""The accounts of a run: what is held, what is spent, and who may still spend.

A step holds the worst case of its call before it begins and settles what it really cost in the transaction which
stores its result. A hold found on resume belongs to an attempt that died: it is settled at its estimate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from assay.core.errors import LimitReached, UsageError
from assay.core.ports import HoldRecord
from assay.core.usage import Budget, Usage

N = TypeVar("N", int, float)

REPORT_SHARE = 0.40
VERIFY_SHARE = 0.15
LOW = 0.8
LEAST_TOKENS = 4_000


def check(budget: Budget) -> None:
    """Refuse a budget below one report call.

    Raises:
        UsageError: naming the least that works.
    """
    if budget.tokens is not None and budget.tokens < LEAST_TOKENS:
        raise UsageError(f"{budget.tokens} tokens do not pay for one report; the least is {LEAST_TOKENS}")
    if budget.seconds is not None and budget.seconds <= 0:
        raise UsageError("a run needs more than 0 seconds")


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

    def __init__(self, budget: Budget, stored: Iterable[HoldRecord] = ()) -> None:
        self.budget = budget
        self._whole = Account(limit=budget)
        self._lanes: dict[int, Account] = {}
        self._shares: dict[tuple[str, ...], Budget] = {}
        self._low: set[str] = set()
        for hold in stored:
            self._restore(hold)

    def _restore(self, hold: HoldRecord) -> None:
        account = self._lane(int(hold.account))
        for each in (self._whole, account):
            if hold.state == "settled":
                each.settled = each.settled + hold.amount
            else:
                each.held[hold.step] = hold.amount

    def _lane(self, lane: int) -> Account:
        return self._lanes.setdefault(lane, Account(limit=Budget()))

    @property
    def limited(self) -> bool:
        """Whether any measure but time has a limit; without one nothing need be held."""
        b = self.budget
        return any(limit is not None for limit in (b.usd, b.tokens, b.searches, b.pages, b.agents))

    @property
    def used(self) -> Usage:
        """Held and settled, of the whole run."""
        return self._whole.used

    def share(self, parent: tuple[str, ...], lanes_at_once: int) -> Budget:
        """A new lane's slice: an equal part of what was left when the first lane of `parent` was spawned.

        All lanes of one parent get the same, whatever their siblings have spent meanwhile.
        """
        if parent not in self._shares:
            self._shares[parent] = part(left(self.researching, self.used), 1 / max(1, lanes_at_once))
        return self._shares[parent]

    def open_lane(self, lane: int, parent: tuple[str, ...], limit: Budget) -> None:
        """Open a lane's account with its slice; on resume that is the slice it had, for it and its new siblings."""
        self._shares.setdefault(parent, limit)
        self._lane(lane).limit = limit

    @property
    def researching(self) -> Budget:
        """The budget without the writer's and the verifier's reserve."""
        reserved = REPORT_SHARE + VERIFY_SHARE
        return Budget(
            usd=None if self.budget.usd is None else self.budget.usd * (1 - reserved),
            tokens=None if self.budget.tokens is None else int(self.budget.tokens * (1 - reserved)),
            searches=self.budget.searches,
            pages=self.budget.pages,
            agents=self.budget.agents,
        )

    def room(self, lane: int, *, writing: bool) -> Budget:
        """What this lane may still hold."""
        whole = left(self.budget if writing else self.researching, self._whole.used)
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
        return left(self.researching, self._whole.used).exceeded_by(amount) is not None

    def hold(self, lane: int, step: str, amount: Usage, *, writing: bool) -> HoldRecord:
        """Keep `amount` for a step. A step which finds its own hold keeps it.

        Raises:
            LimitReached: there is not so much left; the reason is the measure ("tokens").
        """
        own = self._lane(lane)
        if step not in own.held:
            over = self.room(lane, writing=writing).exceeded_by(amount)
            if over is not None:
                raise LimitReached(over)
            own.held[step] = self._whole.held[step] = amount
        return HoldRecord(step=step, account=str(lane), amount=own.held[step], state="held")

    def settle(self, lane: int, step: str, actual: Usage, *, died: bool) -> HoldRecord:
        """Replace a step's hold by what it cost; `died` says an earlier attempt's hold is spent as well."""
        own = self._lane(lane)
        held = own.held.pop(step, Usage())
        self._whole.held.pop(step, None)
        amount = actual + held if died else actual
        own.settled = own.settled + amount
        self._whole.settled = self._whole.settled + amount
        return HoldRecord(step=step, account=str(lane), amount=amount, state="settled")

    def held(self, lane: int, step: str) -> bool:
        """Whether a hold of this step is stored: an attempt at it died."""
        return step in self._lane(lane).held

    def newly_low(self) -> list[tuple[str, float, float]]:
        """Measures of which 80 % is used, each said once: (measure, used, limit)."""
        found = []
        for measure in ("usd", "tokens", "searches", "pages", "agents"):
            limit, used = getattr(self.budget, measure), getattr(self._whole.settled, measure)
            if limit and measure not in self._low and used >= LOW * limit:
                self._low.add(measure)
                found.append((measure, float(used), float(limit)))
        return found


def _least(one: N | None, other: N | None) -> N | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
