"""Budgets of runs over every journal: fallbacks which cost, processes which die while something is held."""

from __future__ import annotations

import contextlib

import msgspec
import pytest
from runtime import ASK, DONE, Journals, Killed, again, first, log, world

from assay.core.brief import ROLES
from assay.core.errors import LimitReached
from assay.core.messages import Message, Price, Profile, Reply
from assay.core.ports import World
from assay.core.usage import Budget, Usage
from assay.models.script import Scene, Scripted
from assay.run.engine import Outcome
from assay.run.run import Run
from assay.run.steps import StepContext

COST = Usage(input_tokens=1_000, output_tokens=1_000, searches=1)


def both(reply: Usage) -> tuple[World, Scripted]:
    """A model which refuses, for as much as `reply` says, and its fallback."""
    price = Price(input=100.0, output=100.0)
    refuses = Scripted(
        [Scene(answer=Reply(text="No.", usage=reply, stop="refused"), repeat=True)],
        profile=Profile(name="one", price=price),
    )
    answers = Scripted(
        [Scene(answer=Reply(text="Yes.", usage=reply), repeat=True)], profile=Profile(name="two", price=price)
    )
    return msgspec.structs.replace(world(), models={"one": refuses, "two": answers}), answers


@pytest.mark.parametrize(("before", "answered", "cost"), [(0.0, "two", 0.2), (0.25, "", 0.35)])
async def test_a_fallback_is_asked_only_where_it_is_paid_for_too(
    journals: Journals, before: float, answered: str, cost: float
) -> None:
    request = msgspec.structs.replace(ASK, messages=(Message(role="user", text="hello"),), max_tokens=1_000)
    at, fallback = both(Usage(model_calls=1, output_tokens=1_000))
    got: list[str] = []

    async def spend(step_context: StepContext) -> int:
        step_context.spend(Usage(usd=before))
        return 1

    async def pipeline(run: Run) -> Outcome:
        await run.step("before", spend, returns=int)
        try:
            got.append((await run.with_gate("verify").ask("analytical", request)).model)
        except LimitReached as limit:
            got.append("")
            return Outcome(stop_reason=limit.reason)
        return DONE

    roles = dict.fromkeys(ROLES, ("one", "two"))
    handle = await first(journals, pipeline, at, models=roles, budget=Budget(usd=0.42))
    assert got == [answered]
    assert len(fallback.requests) == bool(answered)
    holds = (await journals.journal().load(handle.run_id)).holds
    assert sum(hold.amount.usd for hold in holds) == pytest.approx(cost)


async def test_a_process_killed_between_hold_and_settling_is_counted_once_by_the_next(journals: Journals) -> None:
    """Over three processes: two die inside the same step, the third does it. No more is done than is paid for."""
    seen: list[Usage] = []

    async def pipeline(run: Run) -> Outcome:
        async def work(step_context: StepContext) -> int:
            if len(seen) < 3:
                raise Killed
            step_context.spend(Usage(input_tokens=10, searches=1))
            return 1

        seen.append(run.execution.accounts.total_usage)
        try:
            await run.step("work", work, returns=int, cost=COST)
        except LimitReached as limit:
            return Outcome(stop_reason=limit.reason)
        return DONE

    handle = await first(journals, pipeline, world(), budget=Budget(tokens=20_000, searches=3))
    await again(journals, handle.run_id, pipeline, world())
    await again(journals, handle.run_id, pipeline, world())
    assert [each.tokens for each in seen] == [0, 2_000, 4_000]
    (hold,) = (await journals.journal().load(handle.run_id)).holds
    assert (hold.state, hold.amount.tokens, hold.amount.searches) == ("settled", 4_010, 3)
    assert "run.exhausted" not in [kind for kind, _, _ in await log(journals, handle.run_id)]


async def test_what_is_still_held_when_a_run_ends_is_spent(journals: Journals) -> None:
    async def pipeline(run: Run) -> Outcome:
        async def stuck(step_context: StepContext) -> int:
            raise Killed

        handle = run.spawn("agent", {}, lambda lane: lane.step("stuck", stuck, returns=int, cost=COST), returns=int)
        with contextlib.suppress(Killed):
            await handle.result()
        return DONE

    handle = await first(journals, pipeline, world(), budget=Budget(tokens=20_000))
    (hold,) = (await journals.journal().load(handle.run_id)).holds
    assert (hold.state, hold.amount) == ("settled", COST)
