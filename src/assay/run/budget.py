"""The accounts of a run: what its budget pays for, what is held, what is spent, and who may still spend.

A step holds the worst case of its call before it begins. It settles the real cost in the transaction that stores its
result. A hold found on resume belongs to an attempt that died; it is settled at its estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self, TypeVar

import msgspec

from assay.core.brief import Brief
from assay.core.errors import LimitReached, TooLittle, UsageError
from assay.core.messages import REASONING_ROOM, Profile, Request, input_tokens
from assay.core.ports import HoldRecord, Model, World
from assay.core.usage import MEASURES, Budget, Usage, UsageMeasure

# What a budget pays for: the worst case of a call, at least one report, and the reserve.

REPORT_SHARE = 0.40
VERIFY_SHARE = 0.15
REPORT_OUTPUT = 20_000
MIN_CALL_USAGE = Usage(model_calls=1, input_tokens=3_000, output_tokens=1_000)
"""The smallest call that can turn some findings into a report."""
MIN_OUTPUT_TOKENS = 256


class Reserve(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a budget that is reserved at the start: one report call at its worst case, and verification."""

    report: Budget
    verification: Budget

    @classmethod
    def of(
        cls, budget: Budget, writer: Profile | None = None, *, verify: bool = True, output: int = REPORT_OUTPUT
    ) -> Self:
        """Reserve at most 40 % for the report and 15 % for verification; nothing where there is no limit or no need.

        `output` is the most tokens a report may have.
        """
        share = VERIFY_SHARE if verify else 0.0
        worst = None if writer is None else _report_worst_case(writer, output)
        usd = None if worst is None or writer is None or writer.price is None else writer.price.max_cost(worst)
        return cls(
            report=Budget(
                usd=None if budget.usd is None else min(budget.usd * REPORT_SHARE, budget.usd if usd is None else usd),
                tokens=None
                if budget.tokens is None
                else min(round(budget.tokens * REPORT_SHARE), budget.tokens if worst is None else worst.tokens),
            ),
            verification=Budget(
                usd=None if budget.usd is None else budget.usd * share,
                tokens=None if budget.tokens is None else round(budget.tokens * share),
            ),
        )

    def without_later(self, budget: Budget, *, is_writing: bool) -> Budget:
        """The budget without the reserve of the phases that come later."""
        later = (self.verification,) if is_writing else (self.report, self.verification)
        usd = None if budget.usd is None else budget.usd - sum(reserve.usd or 0.0 for reserve in later)
        tokens = None if budget.tokens is None else budget.tokens - sum(reserve.tokens or 0 for reserve in later)
        return msgspec.structs.replace(budget, usd=usd, tokens=tokens)


def _report_worst_case(writer: Profile, output: int) -> Usage:
    output = min(output, writer.max_output, writer.window // 4)
    return Usage(
        model_calls=1, input_tokens=writer.window - output, output_tokens=output + reasoning_tokens(writer, "medium")
    )


def reasoning_tokens(profile: Profile, effort: str) -> int:
    """The tokens a model may use for reasoning in addition to its allowed output."""
    return REASONING_ROOM[effort] if profile.native_reasoning else 0


def worst_case(models: Sequence[Model], request: Request, room: int = 0) -> Usage:
    """The most a call can cost, whichever model answers. `room` is the extra output one of them is known to need."""
    inputs = input_tokens(request)
    output = request.max_tokens + max(room, *(reasoning_tokens(model.profile, request.effort) for model in models))
    usage = Usage(model_calls=1, input_tokens=inputs, output_tokens=output)
    prices = (model.profile.price for model in models)
    usd = max((price.max_cost(usage) for price in prices if price is not None), default=0.0)
    return msgspec.structs.replace(usage, usd=usd)


def fit_output(models: Sequence[Model], request: Request, room: Budget) -> Request:
    """Cut the output of `request` to what `room` still pays for, if that leaves a useful answer."""
    worst = worst_case(models, request)
    excess_tokens = [] if room.tokens is None else [worst.tokens - room.tokens]
    if room.usd is not None and worst.usd > room.usd:
        dearest = max(model.profile.price.output if model.profile.price else 0.0 for model in models)
        excess_tokens.append(int((worst.usd - room.usd) * 1e6 / dearest) + 1 if dearest else 0)
    output = request.max_tokens - max((*excess_tokens, 0))
    return msgspec.structs.replace(request, max_tokens=output) if output >= MIN_OUTPUT_TOKENS else request


def check_budget(budget: Budget, writer: Profile | None = None, everyone: Iterable[Profile] = ()) -> None:
    """Refuse a budget too small for a report call, and a money limit with a model whose price is unknown.

    Args:
        writer: the model that writes the report.
        everyone: every model the run may call.

    Raises:
        UsageError: names the smallest budget that works, or the setting for the price.
    """
    if budget.seconds is not None and budget.seconds <= 0:
        raise UsageError("a run needs more than 0 seconds")
    smallest = _smallest_call(writer)
    if budget.tokens is not None and budget.tokens < smallest.tokens:
        raise TooLittle(f"{budget.tokens} tokens are too few for a report: allow at least {smallest.tokens}")
    for name in ("searches", "pages", "agents"):
        limit = getattr(budget, name)
        if limit is not None and limit < 1:
            raise UsageError(f"a limit of {limit} {name} leaves no room for research: allow at least 1")
    if budget.usd is not None:
        _check_money(budget.usd, smallest, writer, everyone)


def _smallest_call(writer: Profile | None) -> Usage:
    reasoning = 0 if writer is None else reasoning_tokens(writer, "medium")
    return msgspec.structs.replace(MIN_CALL_USAGE, output_tokens=MIN_CALL_USAGE.output_tokens + reasoning)


def _check_money(usd: float, smallest: Usage, writer: Profile | None, everyone: Iterable[Profile]) -> None:
    unpriced = sorted({profile.name for profile in everyone if profile.price is None})
    if unpriced:
        raise UsageError(
            f"a limit of money needs the price of every model, and none is known for {', '.join(unpriced)}; "
            f'name it in the settings file: [catalogue."{unpriced[0]}"] with input_price and output_price, '
            "in US dollars for a million tokens"
        )
    least = writer.price.max_cost(smallest) if writer is not None and writer.price is not None else 0.0
    if usd <= 0 or usd < least:
        by_writer = f" by {writer.name}" if writer is not None else ""
        raise TooLittle(f"${usd:g} is too little for a report{by_writer}; allow at least ${max(least, 0.0001):.4f}")


def check_brief(brief: Brief, world: World) -> None:
    """Refuse a brief with a budget that cannot work; see `check_budget`.

    Raises:
        UsageError: as `check_budget`.
    """
    names = {name for models in brief.models.values() for name in models} & world.models.keys()
    check_budget(brief.budget, writer_profile(brief, world), [world.models[name].profile for name in sorted(names)])


def writer_profile(brief: Brief, world: World) -> Profile | None:
    """The profile of the model that writes the report; None if no model is named."""
    first = next(iter(brief.models.get("complex", ())), "")
    return world.models[first].profile if first in world.models else None


N = TypeVar("N", int, float)
Gate = Literal["work", "report", "write", "verify"]
"""The purpose of a place in a run: research, an agent's report, the writer, verification. Each has its own limits."""

LOW_SHARE = 0.8


def lowest_limit(*limits: N | None) -> N | None:
    """The lowest of several limits; None is no limit."""
    return min((limit for limit in limits if limit is not None), default=None)


def limits(budget: Budget) -> dict[UsageMeasure, Any]:
    """The limits of a budget except time, by measure."""
    return {measure: limit for measure in MEASURES if (limit := getattr(budget, measure)) is not None}


def budget_share(budget: Budget, share: float) -> Budget:
    """`share` of every limit except time. Whole calls are rounded down, but never to 0."""
    amounts: dict[UsageMeasure, Any] = {
        name: max(1, int(limit * share)) if limit else 0 for name, limit in limits(budget).items()
    }
    if budget.usd is not None:
        amounts["usd"] = budget.usd * share
    return Budget(**amounts)


def remaining_budget(budget: Budget, used: Usage) -> Budget:
    """The rest of a budget after `used`, never below zero."""
    return Budget(**{name: max(0, limit - getattr(used, name)) for name, limit in limits(budget).items()})


class Account(msgspec.Struct):
    """One lane's limit and usage; `holds` by step."""

    limit: Budget
    settled_usage: Usage = Usage()
    holds: dict[str, Usage] = {}

    @property
    def total_usage(self) -> Usage:
        total = self.settled_usage
        for amount in self.holds.values():
            total = total + amount
        return total


class Accounts:
    """The account of the whole run and one for each lane, kept equal to the journal's holds."""

    def __init__(self, budget: Budget, holds: Iterable[HoldRecord] = (), reserve: Reserve | None = None) -> None:
        """`reserve` is what research leaves to the writer and to verification."""
        self.budget = budget
        self._reserve = reserve or Reserve.of(budget)
        self._total = Account(limit=budget)
        self._lanes: dict[int, Account] = {}
        self._shares: dict[tuple[str, ...], Budget] = {}
        self._low: set[str] = set()
        self._paid_usage: dict[str, Usage] = {}
        for hold in holds:
            self._restore(hold)
        self.newly_low_measures()  # reported before the process died, with the step that used so much

    def _restore(self, hold: HoldRecord) -> None:
        account = self._lane(int(hold.account))
        for target in (self._total, account):
            if hold.state == "settled":
                target.settled_usage = target.settled_usage + hold.amount
            else:
                target.holds[hold.step] = hold.amount
        if hold.state == "settled":
            self._paid_usage[hold.step] = hold.amount

    def _lane(self, lane: int) -> Account:
        return self._lanes.setdefault(lane, Account(limit=Budget()))

    @property
    def limited(self) -> bool:
        """True if anything except time is limited; otherwise nothing needs to be held."""
        return bool(limits(self.budget))

    @property
    def total_usage(self) -> Usage:
        """The held and settled amounts of the whole run."""
        return self._total.total_usage

    @property
    def settled_usage(self) -> Usage:
        """The known spending of the whole run; attempts that died count with their holds."""
        return self._total.settled_usage

    def lane_budget(self, parent: tuple[str, ...], lanes_at_once: int) -> Budget:
        """The slice of a new lane: an equal part of what was left when the first lane of `parent` was spawned.

        All lanes of one parent get the same slice, whatever their siblings have spent since. Tokens are divided among
        no more lanes than can make two calls, one for findings; of more lanes, those that begin first work.
        """
        if parent not in self._shares:
            left = remaining_budget(self.ceiling("work"), self.total_usage)
            if left.tokens is not None:
                lanes_at_once = min(lanes_at_once, left.tokens // (2 * MIN_CALL_USAGE.tokens))
            self._shares[parent] = budget_share(left, 1 / max(1, lanes_at_once))
        return self._shares[parent]

    def open_lane(self, lane: int, parent: tuple[str, ...], limit: Budget) -> None:
        """Open a lane's account with its slice. On resume it is the stored slice, also for its new siblings."""
        self._shares.setdefault(parent, limit)
        self._lane(lane).limit = limit

    def ceiling(self, gate: Gate) -> Budget:
        """The limits of the whole run at `gate`: research leaves the writer's part, and both leave verification's."""
        return self.budget if gate == "verify" else self._reserve.without_later(self.budget, is_writing=gate == "write")

    def room(self, lane: int, gate: Gate) -> Budget:
        """The amounts this lane may still hold."""
        run_room = remaining_budget(self.ceiling(gate), self._total.total_usage)
        lane_room = remaining_budget(self._lane(lane).limit, self._lane(lane).total_usage)
        return Budget(
            **{measure: lowest_limit(getattr(run_room, measure), getattr(lane_room, measure)) for measure in MEASURES}
        )

    def is_exhausted_by(self, amount: Usage) -> bool:
        """True if the whole run, not only one lane, has no room left for research of this cost."""
        return remaining_budget(self.ceiling("work"), self._total.total_usage).exceeded_by(amount) is not None

    def hold(self, lane: int, step: str, amount: Usage, gate: Gate) -> HoldRecord:
        """Hold `amount` for a step, in addition to an earlier hold: the attempt that died may have spent that.

        Raises:
            LimitReached: less than that is left; the reason is the measure ("tokens").
        """
        exceeded = self.room(lane, gate).exceeded_by(amount)
        if exceeded is not None:
            raise LimitReached(exceeded)
        account = self._lane(lane)
        account.holds[step] = self._total.holds[step] = account.holds.get(step, Usage()) + amount
        return HoldRecord(step=step, account=str(lane), amount=account.holds[step], state="held")

    def settle(self, lane: int, step: str, actual: Usage, *, died: Usage = Usage()) -> HoldRecord:
        """Replace a step's hold by its cost; `died` is the hold of an earlier attempt, which may have been spent.

        The record of a repeated step has both.
        """
        account = self._lane(lane)
        account.holds.pop(step, None)
        self._total.holds.pop(step, None)
        account.settled_usage = account.settled_usage + actual + died
        self._total.settled_usage = self._total.settled_usage + actual + died
        self._paid_usage[step] = self._paid_usage.get(step, Usage()) + actual + died
        return HoldRecord(step=step, account=str(lane), amount=self._paid_usage[step], state="settled")

    def step_hold(self, lane: int, step: str) -> Usage | None:
        """The hold of this step. If it was stored before, an attempt died."""
        return self._lane(lane).holds.get(step)

    def close(self) -> tuple[HoldRecord, ...]:
        """Settle the remaining holds at their estimates: abandoned calls with an unknown cost."""
        holds = [
            (lane, step, amount) for lane, account in self._lanes.items() for step, amount in account.holds.items()
        ]
        return tuple(self.settle(lane, step, amount) for lane, step, amount in holds)

    def newly_low_measures(self) -> list[tuple[str, float, float]]:
        """Measures of which 80 % is used, as (measure, used, limit). Each is returned once."""
        low_measures = []
        for measure in MEASURES:
            limit, used = getattr(self.budget, measure), getattr(self._total.settled_usage, measure)
            if limit and measure not in self._low and used >= LOW_SHARE * limit:
                self._low.add(measure)
                low_measures.append((str(measure), float(used), float(limit)))
        return low_measures


LANE_TAG = "lane/1"


class LaneRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A lane as stored when it is spawned: its number, its slice of the budget, and when its gates close.

    `work_until` and `report_until` are active seconds of the run, None for no deadline. A resumed lane has the same
    limits as before, whatever was spent since.
    """

    number: int
    limit: Budget
    work_until: float | None = None
    report_until: float | None = None
