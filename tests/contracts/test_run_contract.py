"""The runtime's contract, over every journal: what is stored is not done again, whatever the timing."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runtime import DONE, Journals, Killed, again, first, log, ready, world
from sampling import scaled
from waiting import until

from assay.core.errors import Failed, FenceLost, InputNeeded, ToolError
from assay.core.events import Warned
from assay.core.ports import Journal
from assay.core.usage import Usage
from assay.run.engine import Engine, Outcome
from assay.run.run import Branch, Run
from assay.run.steps import StepContext


async def test_a_step_is_done_once_and_its_events_come_with_it(journals: Journals) -> None:
    done = Counter[str]()

    async def pipeline(run: Run) -> Outcome:
        async def work(step_context: StepContext) -> list[int]:
            done["work"] += 1
            step_context.emit(Warned(message="inside"))
            step_context.spend(Usage(searches=1))
            return [1, 2]

        async with run.phase("plan") as phase:
            assert await phase.step("work", work, returns=list[int], input={"a": 1}) == [1, 2]
            phase.emit(Warned(message="between"))
        if done["died"] == 0:
            done["died"] += 1
            raise Killed
        return DONE

    at = world()
    handle = await first(journals, pipeline, at)
    await again(journals, handle.run_id, pipeline, at)
    assert done["work"] == 1
    kinds = Counter(kind for kind, _, _ in await log(journals, handle.run_id))
    assert kinds["warning"] == 2
    assert kinds["usage.updated"] == 1
    assert kinds["phase.started"] == 1
    assert kinds["run.completed"] == 1


async def test_a_failure_is_stored_and_raised_alike_on_replay(journals: Journals) -> None:
    tries = Counter[str]()
    raised: list[tuple[type, str]] = []

    async def pipeline(run: Run) -> Outcome:
        async def fail(step_context: StepContext) -> int:
            tries["fail"] += 1
            raise ToolError("no such document")

        try:
            await run.step("fail", fail, returns=int)
        except Failed as failed:
            raised.append((type(failed), failed.reason))
        if len(raised) == 1:
            raise Killed
        return DONE

    handle = await first(journals, pipeline, world())
    await again(journals, handle.run_id, pipeline, world())
    assert tries["fail"] == 1
    assert raised == [(ToolError, "no such document")] * 2


async def test_a_bug_is_not_stored_and_fails_the_run_loudly(journals: Journals) -> None:
    healthy = False

    async def pipeline(run: Run) -> Outcome:
        async def work(step_context: StepContext) -> int:
            return 1 if healthy else 1 // 0

        await run.step("work", work, returns=int)
        return DONE

    with pytest.raises(ZeroDivisionError):
        await first(journals, pipeline, world())
    run_id = (await journals.journal().find("last")).run_id
    assert (await journals.journal().find(run_id)).status == "failed"
    healthy = True
    await again(journals, run_id, pipeline, world())
    assert (await journals.journal().find(run_id)).status == "completed"


async def test_a_changed_input_is_done_again_and_said(journals: Journals) -> None:
    seen: list[int] = []

    async def pipeline(run: Run) -> Outcome:
        async def work(step_context: StepContext) -> int:
            return len(seen)

        value = len(seen)
        seen.append(await run.step("work", work, returns=int, input=value))
        if value == 0:
            raise Killed
        return DONE

    handle = await first(journals, pipeline, world())
    await again(journals, handle.run_id, pipeline, world())
    assert seen == [0, 1]
    assert [kind for kind, _, _ in await log(journals, handle.run_id)].count("step.diverged") == 1


async def branches(run: Run, jitter: random.Random, done: Counter[str], die_after: int) -> list[list[str]]:
    """Three branches of four steps whose timings interleave differently each time."""

    def branch(number: int) -> Callable[[Run], Awaitable[list[str]]]:
        async def walk(inner: Run) -> list[str]:
            found = []
            for place in range(4):

                async def work(step_context: StepContext, place: int = place) -> str:
                    await asyncio.sleep(jitter.random() * 0.004)
                    done[f"{number}.{place}"] += 1
                    step_context.emit(Warned(message=f"{number}.{place}"))
                    return f"{number}.{place}"

                found.append(await inner.step("work", work, returns=str, input=place))
                inner.emit(Warned(message=f"after {number}.{place}"))
                if sum(done.values()) >= die_after:
                    raise Killed
            return found

        return walk

    return await run.gather(*(Branch(f"branch-{number}", branch(number)) for number in range(3)))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@settings(max_examples=scaled(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), deaths=st.lists(st.integers(1, 11), max_size=3))
async def test_interleaved_branches_survive_shuffled_timings(
    kind: str, tmp_path_factory: pytest.TempPathFactory, seed: int, deaths: list[int]
) -> None:
    journals = Journals(kind, tmp_path_factory.mktemp("home"))
    jitter, done = random.Random(seed), Counter[str]()
    results: list[list[list[str]]] = []
    limits = [*sorted(deaths), 10_000]

    async def pipeline(run: Run) -> Outcome:
        results.append(await branches(run, jitter, done, limits[0]))
        return DONE

    handle = await first(journals, pipeline, world())
    while len(limits) > 1:
        limits.pop(0)
        await again(journals, handle.run_id, pipeline, world())
    assert results[-1] == [[f"{number}.{place}" for place in range(4)] for number in range(3)]
    events = await log(journals, handle.run_id)
    text = Counter(data for kind_, _, data in events if kind_ == "warning")
    assert set(text.values()) == {1}
    assert len(text) == 24
    assert all(count <= 1 + len(deaths) for count in done.values())
    await journals.close()


async def test_receive_waits_durably(journals: Journals) -> None:
    got: list[str] = []

    async def pipeline(run: Run) -> Outcome:
        got.append(await run.receive("answers", str))
        return DONE

    handle = None
    with pytest.raises(InputNeeded):
        await first(journals, pipeline, world(), ask="required")
    row = await journals.journal().find("last")
    assert row.status == "waiting"
    await journals.journal().post(row.run_id, "answers", b'"yes"')
    handle = await again(journals, row.run_id, pipeline, world())
    assert got == ["yes"]
    assert (await journals.journal().find(handle.run_id)).status == "completed"


class CountedInbox:
    """A journal that counts how often the answers to a run are read."""

    def __init__(self, inner: Journal) -> None:
        self._inner, self.reads = inner, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def inbox(self, run_id: str, topic: str) -> list[bytes]:
        self.reads += topic == "answers"
        return await self._inner.inbox(run_id, topic)


async def test_a_run_that_waits_reads_its_messages_when_some_have_come(journals: Journals) -> None:
    counted, got = CountedInbox(journals.journal()), list[str]()

    async def pipeline(run: Run) -> Outcome:
        got.append(await run.receive("answers", str))
        return DONE

    handle = Engine(counted, pipeline).start(ready(world()))  # type: ignore[arg-type]
    await until(lambda: counted.reads)
    await asyncio.sleep(1.0)
    assert counted.reads == 1
    await handle.answer("another topic", "no")
    await until(lambda: counted.reads > 1)
    await asyncio.sleep(0.5)
    assert counted.reads == 2
    await handle.answer("answers", "yes")
    await asyncio.wait_for(handle.wait(), 60)
    assert got == ["yes"]


async def test_a_lost_fence_ends_the_first_process(journals: Journals) -> None:
    entered, taken = asyncio.Event(), asyncio.Event()

    async def pipeline(run: Run) -> Outcome:
        async def slow(step_context: StepContext) -> int:
            entered.set()
            await taken.wait()
            return 1

        await run.step("slow", slow, returns=int)
        return DONE

    one = journals.journal()
    handle = Engine(one, pipeline, holder="one", ttl=30).start(ready())
    await entered.wait()
    other = journals.journal()
    lease = await other.acquire(handle.run_id, "two", 30, evict="one")
    taken.set()
    with pytest.raises(FenceLost):
        await asyncio.wait_for(handle.wait(), 60)
    assert (await other.load(handle.run_id)).fence == lease.fence == 2
