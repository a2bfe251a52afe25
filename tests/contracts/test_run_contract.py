"""The runtime's contract, over every journal: what is stored is not done again, whatever the timing."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.core.brief import Brief
from assay.core.errors import Cancelled, Failed, FenceLost, InputNeeded, LeaseHeld, LimitReached, ModelError, ToolFailed
from assay.core.events import FindingAdded, ReportDelta, StepRestarted, ThinkDelta, Warned, decode
from assay.core.messages import Message, Reply, Request
from assay.core.ports import Journal, World
from assay.core.usage import Budget, Usage
from assay.models.scripted import Scene, Scripted, calls, fails, says
from assay.run.clock import SystemClock
from assay.run.engine import Engine, Outcome, RunHandle
from assay.run.run import Branch, Run
from assay.run.steps import Scratch
from assay.store.memory import memory_store
from assay.store.sql import open_store

Pipeline = Callable[[Run], Awaitable[Outcome]]
DONE = Outcome()
ASK = Request(task="research", system="", messages=(Message(role="user", text="hello"),))


class Stores:
    """Opens journals on one place: a process that dies and the next which finds what it left."""

    def __init__(self, kind: str, home: Path) -> None:
        self._kind, self._home = kind, home
        self._memory = memory_store()
        self._opened: list[Journal] = []

    def journal(self) -> Journal:
        if self._kind == "memory":
            return self._memory.journal
        journal = open_store(self._home).journal
        self._opened.append(journal)
        return journal

    async def close(self) -> None:
        for journal in self._opened:
            await journal.close()


@pytest.fixture(params=["memory", "sqlite"])
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    stores = Stores(request.param, tmp_path)
    yield stores
    await stores.close()


def world(model: Scripted | None = None) -> World:
    store = memory_store()
    return World(
        models={"scripted": model or Scripted([])},
        searches=(),
        library=store.library,
        blobs=store.blobs,
        clock=SystemClock(),
    )


def brief(**changes: object) -> Brief:
    roles = dict.fromkeys(("simple", "analytical", "complex", "judge"), ("scripted",))
    return Brief(question="?", date="2026-01-01", models=roles, **changes)  # type: ignore[arg-type]


def ready(at: World | None = None, **changes: object) -> Callable[[], Awaitable[tuple[Brief, World]]]:
    """What an engine starts a run from."""

    async def prepare() -> tuple[Brief, World]:
        return brief(**changes), at or world()

    return prepare


class Killed(BaseException):
    """The process died here."""


async def first(stores: Stores, pipeline: Pipeline, at: World, **changes: object) -> RunHandle:
    """Start a run in a process of its own; it may die."""

    handle = Engine(stores.journal(), pipeline, holder="one", ttl=0.05).start(ready(at, **changes))
    await outcome(handle)
    return handle


async def again(stores: Stores, run_id: str, pipeline: Pipeline, at: World) -> RunHandle:
    """Another process takes the run up."""
    engine = Engine(stores.journal(), pipeline, holder=f"two-{random.random()}", ttl=0.05)
    while True:
        try:
            handle = await engine.resume(run_id, lambda _: at)
            break
        except LeaseHeld:
            await asyncio.sleep(0.02)
    await outcome(handle)
    return handle


async def outcome(handle: RunHandle) -> None:
    with contextlib.suppress(Killed, asyncio.CancelledError, FenceLost):
        await asyncio.wait_for(handle.wait(), 20)


async def log(stores: Stores, run_id: str) -> list[tuple[str, tuple[str, ...], bytes]]:
    envelopes = await stores.journal().events(run_id)
    assert [e.seq for e in envelopes] == list(range(1, len(envelopes) + 1))
    return [(e.type, e.path, bytes(e.data)) for e in envelopes]


async def test_a_step_is_done_once_and_its_events_come_with_it(stores: Stores) -> None:
    done = Counter[str]()

    async def pipeline(run: Run) -> Outcome:
        async def work(scratch: Scratch) -> list[int]:
            done["work"] += 1
            scratch.emit(Warned(message="inside"))
            scratch.spend(Usage(searches=1))
            return [1, 2]

        async with run.phase("plan") as phase:
            assert await phase.step("work", work, returns=list[int], input={"a": 1}) == [1, 2]
            phase.emit(Warned(message="between"))
        if done["died"] == 0:
            done["died"] += 1
            raise Killed
        return DONE

    at = world()
    handle = await first(stores, pipeline, at)
    await again(stores, handle.run_id, pipeline, at)
    assert done["work"] == 1
    kinds = Counter(kind for kind, _, _ in await log(stores, handle.run_id))
    assert kinds["warning"] == 2
    assert kinds["usage.updated"] == 1
    assert kinds["phase.started"] == 1
    assert kinds["run.completed"] == 1


async def test_a_failure_is_stored_and_raised_alike_on_replay(stores: Stores) -> None:
    tries = Counter[str]()
    raised: list[tuple[type, str]] = []

    async def pipeline(run: Run) -> Outcome:
        async def fail(scratch: Scratch) -> int:
            tries["fail"] += 1
            raise ToolFailed("no such document")

        try:
            await run.step("fail", fail, returns=int)
        except Failed as failed:
            raised.append((type(failed), failed.reason))
        if len(raised) == 1:
            raise Killed
        return DONE

    handle = await first(stores, pipeline, world())
    await again(stores, handle.run_id, pipeline, world())
    assert tries["fail"] == 1
    assert raised == [(ToolFailed, "no such document")] * 2


async def test_a_bug_is_not_stored_and_fails_the_run_loudly(stores: Stores) -> None:
    healthy = False

    async def pipeline(run: Run) -> Outcome:
        async def work(scratch: Scratch) -> int:
            return 1 if healthy else 1 // 0

        await run.step("work", work, returns=int)
        return DONE

    with pytest.raises(ZeroDivisionError):
        await first(stores, pipeline, world())
    run_id = (await stores.journal().find("last")).run_id
    assert (await stores.journal().find(run_id)).status == "failed"
    healthy = True
    await again(stores, run_id, pipeline, world())
    assert (await stores.journal().find(run_id)).status == "completed"


async def test_a_changed_input_is_done_again_and_said(stores: Stores) -> None:
    seen: list[int] = []

    async def pipeline(run: Run) -> Outcome:
        async def work(scratch: Scratch) -> int:
            return len(seen)

        value = len(seen)
        seen.append(await run.step("work", work, returns=int, input=value))
        if value == 0:
            raise Killed
        return DONE

    handle = await first(stores, pipeline, world())
    await again(stores, handle.run_id, pipeline, world())
    assert seen == [0, 1]
    assert [kind for kind, _, _ in await log(stores, handle.run_id)].count("step.diverged") == 1


async def branches(run: Run, jitter: random.Random, done: Counter[str], die_after: int) -> list[list[str]]:
    """Three branches of four steps whose timings interleave differently each time."""

    def branch(number: int) -> Callable[[Run], Awaitable[list[str]]]:
        async def walk(inner: Run) -> list[str]:
            found = []
            for place in range(4):

                async def work(scratch: Scratch, place: int = place) -> str:
                    await asyncio.sleep(jitter.random() * 0.004)
                    done[f"{number}.{place}"] += 1
                    scratch.emit(Warned(message=f"{number}.{place}"))
                    return f"{number}.{place}"

                found.append(await inner.step("work", work, returns=str, input=place))
                inner.emit(Warned(message=f"after {number}.{place}"))
                if sum(done.values()) >= die_after:
                    raise Killed
            return found

        return walk

    return await run.gather(*(Branch(f"branch-{number}", branch(number)) for number in range(3)))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), deaths=st.lists(st.integers(1, 11), max_size=3))
async def test_interleaved_branches_survive_shuffled_timings(
    kind: str, tmp_path_factory: pytest.TempPathFactory, seed: int, deaths: list[int]
) -> None:
    stores = Stores(kind, tmp_path_factory.mktemp("home"))
    jitter, done = random.Random(seed), Counter[str]()
    results: list[list[list[str]]] = []
    limits = [*sorted(deaths), 10_000]

    async def pipeline(run: Run) -> Outcome:
        results.append(await branches(run, jitter, done, limits[0]))
        return DONE

    handle = await first(stores, pipeline, world())
    while len(limits) > 1:
        limits.pop(0)
        await again(stores, handle.run_id, pipeline, world())
    assert results[-1] == [[f"{number}.{place}" for place in range(4)] for number in range(3)]
    events = await log(stores, handle.run_id)
    said = Counter(data for kind_, _, data in events if kind_ == "warning")
    assert set(said.values()) == {1}
    assert len(said) == 24
    assert all(count <= 1 + len(deaths) for count in done.values())
    await stores.close()


async def test_a_model_stream_cut_after_its_first_token_is_taken_back(stores: Stores) -> None:
    model = Scripted(
        [fails("connection reset", partial="The first half", task="research"), says("All of it.", task="research")]
    )
    replies: list[Reply] = []

    async def pipeline(run: Run) -> Outcome:
        replies.append(await run.ask("analytical", ASK, deltas=lambda text: ReportDelta(text=text)))
        return DONE

    handle = await first(stores, pipeline, world(model))
    envelopes = await stores.journal().events(handle.run_id)
    restarted = [e for e in map(decode, envelopes) if isinstance(e, StepRestarted)]
    assert len(restarted) == 1
    kept = [e for e in envelopes if e.seq not in restarted[0].dropped and e.type == "report.delta"]
    assert "".join(msgspec.json.decode(e.data)["text"] for e in kept) == "All of it."
    assert replies[0].text == "All of it."
    attempts = [msgspec.json.decode(e.data)["outcome"] for e in envelopes if e.type == "model.attempted"]
    assert attempts == ["connection reset", "ok"]


async def test_lanes_spawned_from_a_stream_are_the_same_on_replay(stores: Stores) -> None:
    scene = calls(("research_agent", {"task": "a"}), ("research_agent", {"task": "b"}), task="orchestrate", repeat=True)
    request = msgspec.structs.replace(ASK, task="orchestrate")
    worked = Counter[str]()
    found: list[list[tuple[int, str]]] = []

    async def agent(run: Run) -> str:
        async def work(scratch: Scratch) -> str:
            worked[run.path[-1]] += 1
            return f"{run.path[-1]} in lane {run.lane}"

        return await run.step("work", work, returns=str)

    async def pipeline(run: Run) -> Outcome:
        cycle = run.child("research").child("cycle-1")

        def spawn(index: int, call: object) -> object:
            return cycle.spawn("agent", msgspec.to_builtins(call)["arguments"], agent, returns=str, slot=index)

        reply = await cycle.ask("analytical", request, on_call=spawn)
        handles = [
            cycle.spawn("agent", call.arguments, agent, returns=str, slot=index)
            for index, call in enumerate(reply.calls)
        ]
        found.append([(handle.lane, await handle.result()) for handle in handles])
        assert cycle.abandon([handle.lane for handle in handles]) == []
        if len(found) == 1:
            raise Killed
        return DONE

    at = world(Scripted([scene]))
    handle = await first(stores, pipeline, at)
    await again(stores, handle.run_id, pipeline, at)
    assert found == [[(1, "agent-1 in lane 1"), (2, "agent-2 in lane 2")]] * 2
    assert worked == {"agent-1": 1, "agent-2": 1}


async def test_a_repeated_stream_which_calls_otherwise_abandons_the_orphan(stores: Stores) -> None:
    cut = Scene(answer=calls(("research_agent", {"task": "a"})).answer, task="orchestrate")
    other = calls(("research_agent", {"task": "b"}), task="orchestrate")
    given_up: list[list[int]] = []
    made: list[Coroutine[Any, Any, str]] = []

    async def work(run: Run) -> str:
        await asyncio.sleep(0.01)
        return "done"

    def agent(run: Run) -> Awaitable[str]:
        made.append(work(run))
        return made[-1]

    async def pipeline(run: Run) -> Outcome:
        def spawn(index: int, call: object) -> None:
            run.spawn("agent", msgspec.to_builtins(call)["arguments"], agent, returns=str, slot=index)
            if len(given_up) == 0 and run.brief and not died:
                died.append(1)
                raise Killed

        reply = await run.ask("analytical", msgspec.structs.replace(ASK, task="orchestrate"), on_call=spawn)
        kept = run.spawn("agent", reply.calls[0].arguments, agent, returns=str)
        await kept.result()
        given_up.append(run.abandon([kept.lane]))
        assert kept.lane == 2
        return DONE

    died: list[int] = []
    at = world(Scripted([cut, other]))
    handle = await first(stores, pipeline, at)
    await again(stores, handle.run_id, pipeline, at)
    assert given_up == [[1]]
    for each in made:
        each.close()  # the lane of the first process was stopped before its agent began


async def test_an_early_finish_ends_lanes_and_lets_the_writer_write(stores: Stores) -> None:
    reasons: list[str] = []

    async def pipeline(run: Run) -> Outcome:
        async def slow(scratch: Scratch) -> int:
            await asyncio.sleep(60)
            return 1

        async def write(scratch: Scratch) -> str:
            return "report"

        try:
            await run.step("slow", slow, returns=int)
        except LimitReached as limit:
            reasons.append(limit.reason)
        assert await run.at("write").step("write", write, returns=str) == "report"
        if len(reasons) == 1:
            raise Killed
        with pytest.raises(LimitReached, match="finished_early"):
            await run.step("more research", slow, returns=int)
        return Outcome(stop_reason=run.exhausted)

    journal = stores.journal()
    handle = Engine(journal, pipeline, holder="one", ttl=0.05).start(ready())
    await asyncio.sleep(0.1)
    await journal.control(handle.run_id, "finish")
    await outcome(handle)  # raises long before the slow step's minute is over
    await again(stores, handle.run_id, pipeline, world())
    assert reasons == ["finished_early"] * 2
    assert [kind for kind, _, _ in await log(stores, handle.run_id)].count("run.exhausted") == 1


async def test_cancel_ends_everything_and_keeps_what_is_stored(stores: Stores) -> None:
    async def pipeline(run: Run) -> Outcome:
        async def quick(scratch: Scratch) -> int:
            scratch.emit(FindingAdded(lane=1, task="t", text="found"))
            return 1

        async def slow(scratch: Scratch) -> int:
            await asyncio.sleep(60)
            return 1

        await run.step("quick", quick, returns=int)
        await run.at("write").step("slow", slow, returns=int)
        return DONE

    handle = Engine(stores.journal(), pipeline).start(ready())
    await asyncio.sleep(0.1)
    handle.cancel()
    with pytest.raises(Cancelled):
        await asyncio.wait_for(handle.wait(), 5)
    kinds = [kind for kind, _, _ in await log(stores, handle.run_id)]
    assert "finding.added" in kinds
    assert kinds[-1] == "run.cancelled"
    assert (await stores.journal().find(handle.run_id)).status == "cancelled"


async def test_the_deadline_ends_research_and_is_the_same_on_replay(stores: Stores) -> None:
    reasons: list[str] = []

    async def pipeline(run: Run) -> Outcome:
        async def slow(scratch: Scratch) -> int:
            await asyncio.sleep(60)
            return 1

        try:
            await run.step("slow", slow, returns=int)
        except LimitReached as limit:
            reasons.append(limit.reason)
        if len(reasons) == 1:
            raise Killed
        return Outcome(stop_reason=run.exhausted)

    handle = await first(stores, pipeline, world(), budget=Budget(seconds=0.4))
    await again(stores, handle.run_id, pipeline, world())
    assert reasons == ["time", "time"]


async def test_tokens_are_held_before_a_call_and_a_dead_attempt_is_spent(stores: Stores) -> None:
    reply = Reply(text="x", usage=Usage(output_tokens=600))
    model = Scripted([Scene(answer=reply, task="research", repeat=True)])
    limits: list[str] = []
    rooms: list[int | None] = []
    request = msgspec.structs.replace(ASK, max_tokens=3000)

    async def pipeline(run: Run) -> Outcome:
        rooms.append(run.execution.accounts.room(0, writing=True).tokens)
        if len(rooms) == 1:

            async def die(scratch: Scratch) -> int:
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
    handle = await first(stores, pipeline, at, budget=Budget(tokens=8000))
    await again(stores, handle.run_id, pipeline, at)
    assert rooms == [8000, 7000]
    assert limits == ["tokens"]
    # 8,000 less 55 % reserve, less 1,000 for the attempt that died, at 600 a call, the last one shortened to fit
    assert 2 <= len(model.requests) <= 4


async def test_receive_waits_durably(stores: Stores) -> None:
    got: list[str] = []

    async def pipeline(run: Run) -> Outcome:
        got.append(await run.receive("answers", str))
        return DONE

    handle = None
    with pytest.raises(InputNeeded):
        await first(stores, pipeline, world(), ask="required")
    row = await stores.journal().find("last")
    assert row.status == "waiting"
    await stores.journal().post(row.run_id, "answers", b'"yes"')
    handle = await again(stores, row.run_id, pipeline, world())
    assert got == ["yes"]
    assert (await stores.journal().find(handle.run_id)).status == "completed"


async def test_a_lost_fence_ends_the_first_process(stores: Stores) -> None:
    entered = asyncio.Event()

    async def pipeline(run: Run) -> Outcome:
        async def slow(scratch: Scratch) -> int:
            entered.set()
            await asyncio.sleep(0.6)
            return 1

        await run.step("slow", slow, returns=int)
        return DONE

    one = stores.journal()
    handle = Engine(one, pipeline, holder="one", ttl=30).start(ready())
    await entered.wait()
    other = stores.journal()
    lease = await other.acquire(handle.run_id, "two", 30, evict="one")
    with pytest.raises(FenceLost):
        await asyncio.wait_for(handle.wait(), 10)
    assert (await other.load(handle.run_id)).fence == lease.fence == 2


async def test_fallbacks_and_transient_errors(stores: Stores) -> None:
    model = Scripted([fails("rate limited", retry_after=0.01, task="research"), says("ok", task="research")])

    async def pipeline(run: Run) -> Outcome:
        reply = await run.ask("analytical", ASK, deltas=lambda text: ThinkDelta(text=text))
        assert reply.text == "ok"
        return DONE

    handle = await first(stores, pipeline, world(model))
    assert (await stores.journal().find(handle.run_id)).status == "completed"


async def test_a_refused_model_is_a_failure_with_its_reason(stores: Stores) -> None:
    model = Scripted([Scene(answer=ModelError("401 bad key", transient=False), task="research")])

    async def pipeline(run: Run) -> Outcome:
        await run.ask("analytical", ASK)
        return DONE

    with pytest.raises(Failed, match="401 bad key"):
        await first(stores, pipeline, world(model))


async def test_a_lane_keeps_its_limits_over_a_restart(stores: Stores) -> None:
    rooms: list[int | None] = []

    async def agent(run: Run) -> int:
        async def work(scratch: Scratch) -> int:
            scratch.spend(Usage(output_tokens=2_000))
            return 1

        await run.step("work", work, returns=int, cost=Usage(output_tokens=2_000))
        rooms.append(run.execution.accounts.room(run.lane, writing=False).tokens)
        return 1

    async def pipeline(run: Run) -> Outcome:
        await run.spawn("agent", {"task": "a"}, agent, returns=int, at_once=2).result()
        if len(rooms) == 1:
            raise Killed
        return DONE

    handle = await first(stores, pipeline, world(), budget=Budget(tokens=20_000))
    await again(stores, handle.run_id, pipeline, world())
    assert rooms == [2_500, 2_500]


async def test_cancelled_before_it_exists(stores: Stores) -> None:
    async def pipeline(run: Run) -> Outcome:
        return DONE

    async def prepare() -> tuple[Brief, World]:
        await asyncio.sleep(60)
        return brief(), world()

    for end in (RunHandle.cancel, RunHandle.finish):
        handle = Engine(stores.journal(), pipeline).start(prepare)
        await asyncio.sleep(0)
        end(handle)
        with pytest.raises(Cancelled):
            await asyncio.wait_for(handle.wait(), 5)
        assert not handle.created
