"""Limits and early ends of a run, over every journal: budget, deadline, finish, cancel."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from runtime import ASK, DONE, Journals, Killed, again, brief, first, log, outcome, ready, world

from assay.core.brief import Brief
from assay.core.errors import Cancelled, LimitReached
from assay.core.events import FindingAdded
from assay.core.messages import Reply
from assay.core.ports import World
from assay.core.usage import Budget, Usage
from assay.models.script import Scene, Scripted
from assay.run.engine import Engine, Outcome
from assay.run.run import Run
from assay.run.steps import StepContext


async def test_an_early_finish_ends_lanes_and_lets_the_writer_write(journals: Journals) -> None:
    reasons: list[str] = []
    entered = asyncio.Event()

    async def pipeline(run: Run) -> Outcome:
        async def slow(step_context: StepContext) -> int:
            entered.set()
            await asyncio.sleep(60)
            return 1

        async def write(step_context: StepContext) -> str:
            return "report"

        try:
            await run.step("slow", slow, returns=int)
        except LimitReached as limit:
            reasons.append(limit.reason)
        assert await run.with_gate("write").step("write", write, returns=str) == "report"
        if len(reasons) == 1:
            raise Killed
        with pytest.raises(LimitReached, match="finished_early"):
            await run.step("more research", slow, returns=int)
        return Outcome(stop_reason=run.exhausted)

    journal = journals.journal()
    handle = Engine(journal, pipeline, holder="one", ttl=0.05).start(ready())
    await entered.wait()
    await journal.control(handle.run_id, "finish")
    await outcome(handle)  # raises long before the slow step's minute is over
    await again(journals, handle.run_id, pipeline, world())
    assert reasons == ["finished_early"] * 2
    assert [kind for kind, _, _ in await log(journals, handle.run_id)].count("run.exhausted") == 1


async def test_cancel_ends_everything_and_keeps_what_is_stored(journals: Journals) -> None:
    async def pipeline(run: Run) -> Outcome:
        async def quick(step_context: StepContext) -> int:
            step_context.emit(FindingAdded(lane=1, task="t", text="found"))
            return 1

        async def slow(step_context: StepContext) -> int:
            await asyncio.sleep(60)
            return 1

        await run.step("quick", quick, returns=int)
        await run.with_gate("write").step("slow", slow, returns=int)
        return DONE

    handle = Engine(journals.journal(), pipeline).start(ready())
    async with asyncio.timeout(50):
        async for envelope in handle:
            if envelope.type == "finding.added":
                break
    handle.cancel()
    with pytest.raises(Cancelled):
        await asyncio.wait_for(handle.wait(), 50)
    kinds = [kind for kind, _, _ in await log(journals, handle.run_id)]
    assert "finding.added" in kinds
    assert kinds[-1] == "run.cancelled"
    assert (await journals.journal().find(handle.run_id)).status == "cancelled"


async def test_the_deadline_ends_research_and_is_the_same_on_replay(journals: Journals) -> None:
    reasons: list[str] = []

    async def pipeline(run: Run) -> Outcome:
        async def slow(step_context: StepContext) -> int:
            await asyncio.sleep(60)
            return 1

        try:
            await run.step("slow", slow, returns=int)
        except LimitReached as limit:
            reasons.append(limit.reason)
        if len(reasons) == 1:
            raise Killed
        return Outcome(stop_reason=run.exhausted)

    handle = await first(journals, pipeline, world(), budget=Budget(seconds=0.4))
    await again(journals, handle.run_id, pipeline, world())
    assert reasons == ["time", "time"]


async def test_tokens_are_held_before_a_call_and_a_dead_attempt_is_spent(journals: Journals) -> None:
    reply = Reply(text="x", usage=Usage(output_tokens=600))
    model = Scripted([Scene(answer=reply, task="research", repeat=True)])
    limits: list[str] = []
    rooms: list[int | None] = []
    request = msgspec.structs.replace(ASK, max_tokens=3000)

    async def pipeline(run: Run) -> Outcome:
        rooms.append(run.execution.accounts.room(0, "verify").tokens)
        if len(rooms) == 1:

            async def die(step_context: StepContext) -> int:
                raise Killed

            await run.step("die", die, returns=int, cost=Usage(output_tokens=1000))
        for _ in range(200):
            try:
                await run.ask("analytical", request)
            except LimitReached as limit:
                limits.append(limit.reason)
                break
        return DONE

    at = world(model)
    handle = await first(journals, pipeline, at, budget=Budget(tokens=8000))
    await again(journals, handle.run_id, pipeline, at)
    assert rooms == [8000, 7000]
    assert limits == ["tokens"]
    # 8,000 less 55 % reserve, less 1,000 for the attempt that died, at 600 a call, the last one shortened to fit
    assert 2 <= len(model.requests) <= 4


async def test_a_lane_keeps_its_limits_over_a_restart(journals: Journals) -> None:
    rooms: list[int | None] = []

    async def agent(run: Run) -> int:
        async def work(step_context: StepContext) -> int:
            step_context.spend(Usage(output_tokens=2_000))
            return 1

        await run.step("work", work, returns=int, cost=Usage(output_tokens=2_000))
        rooms.append(run.execution.accounts.room(run.lane, "work").tokens)
        return 1

    async def pipeline(run: Run) -> Outcome:
        await run.spawn("agent", {"task": "a"}, agent, returns=int, at_once=2).result()
        if len(rooms) == 1:
            raise Killed
        return DONE

    handle = await first(journals, pipeline, world(), budget=Budget(tokens=40_000))
    await again(journals, handle.run_id, pipeline, world())
    assert rooms == [7_000, 7_000]


async def test_cancelled_before_it_exists(journals: Journals) -> None:
    async def pipeline(run: Run) -> Outcome:
        return DONE

    async def prepare() -> tuple[Brief, World]:
        await asyncio.sleep(60)
        return brief(), world()

    handle = Engine(journals.journal(), pipeline).start(prepare)
    await asyncio.sleep(0)
    handle.cancel()
    with pytest.raises(Cancelled):
        await asyncio.wait_for(handle.wait(), 50)
    assert not handle.created
