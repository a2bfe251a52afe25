"""Model calls and lanes of a run, over every journal: streams cut and repeated, fallbacks, refusals."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Coroutine
from typing import Any

import msgspec
import pytest
from runtime import ASK, DONE, Journals, Killed, again, first, ready, world

from assay.core.brief import ROLES
from assay.core.errors import Failed, ModelError
from assay.core.events import ReportDelta, StepRestarted, ThinkDelta, decode
from assay.core.messages import Profile, Reply
from assay.models.script import Scene, Scripted, calls, fails, says
from assay.run.engine import Engine, Outcome
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.run.voice import StreamHooks


async def test_a_model_stream_cut_after_its_first_token_is_taken_back(journals: Journals) -> None:
    model = Scripted(
        [fails("connection reset", partial="The first half", task="research"), says("All of it.", task="research")]
    )
    replies: list[Reply] = []

    async def pipeline(run: Run) -> Outcome:
        replies.append(await run.ask("analytical", ASK, StreamHooks(deltas=lambda text: ReportDelta(text=text))))
        return DONE

    handle = await first(journals, pipeline, world(model))
    envelopes = await journals.journal().events(handle.run_id)
    restarted = [e for e in map(decode, envelopes) if isinstance(e, StepRestarted)]
    assert len(restarted) == 1
    kept = [e for e in envelopes if e.seq not in restarted[0].dropped and e.type == "report.delta"]
    assert "".join(msgspec.json.decode(e.data)["text"] for e in kept) == "All of it."
    assert replies[0].text == "All of it."
    attempts = [msgspec.json.decode(e.data)["outcome"] for e in envelopes if e.type == "model.attempted"]
    assert attempts == ["connection reset", "ok"]


async def test_lanes_spawned_from_a_stream_are_the_same_on_replay(journals: Journals) -> None:
    scene = calls(("research_agent", {"task": "a"}), ("research_agent", {"task": "b"}), task="orchestrate", repeat=True)
    request = msgspec.structs.replace(ASK, task="orchestrate")
    worked = Counter[str]()
    found: list[list[tuple[int, str]]] = []

    async def agent(run: Run) -> str:
        async def work(step_context: StepContext) -> str:
            worked[run.path[-1]] += 1
            return f"{run.path[-1]} in lane {run.lane}"

        return await run.step("work", work, returns=str)

    async def pipeline(run: Run) -> Outcome:
        cycle = run.child("research").child("cycle-1")

        def spawn(index: int, call: object) -> object:
            return cycle.spawn("agent", msgspec.to_builtins(call)["arguments"], agent, returns=str, slot=index)

        reply = await cycle.ask("analytical", request, StreamHooks(on_call=spawn))
        handles = [
            cycle.spawn("agent", call.arguments, agent, returns=str, slot=index)
            for index, call in enumerate(reply.calls)
        ]
        found.append([(handle.lane, await handle.result()) for handle in handles])
        assert cycle.abandon_lanes([handle.lane for handle in handles]) == []
        if len(found) == 1:
            raise Killed
        return DONE

    at = world(Scripted([scene]))
    handle = await first(journals, pipeline, at)
    await again(journals, handle.run_id, pipeline, at)
    assert found == [[(1, "agent-1 in lane 1"), (2, "agent-2 in lane 2")]] * 2
    assert worked == {"agent-1": 1, "agent-2": 1}


async def test_a_repeated_stream_which_calls_otherwise_abandons_the_orphan(journals: Journals) -> None:
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

        request = msgspec.structs.replace(ASK, task="orchestrate")
        reply = await run.ask("analytical", request, StreamHooks(on_call=spawn))
        kept = run.spawn("agent", reply.calls[0].arguments, agent, returns=str)
        await kept.result()
        given_up.append(run.abandon_lanes([kept.lane]))
        assert kept.lane == 2
        return DONE

    died: list[int] = []
    at = world(Scripted([cut, other]))
    handle = await first(journals, pipeline, at)
    await again(journals, handle.run_id, pipeline, at)
    assert given_up == [[1]]
    for each in made:
        each.close()  # the lane of the first process was stopped before its agent began


async def test_fallbacks_and_transient_errors(journals: Journals) -> None:
    model = Scripted([fails("rate limited", retry_after=0.01, task="research"), says("ok", task="research")])

    async def pipeline(run: Run) -> Outcome:
        reply = await run.ask("analytical", ASK, StreamHooks(deltas=lambda text: ThinkDelta(text=text)))
        assert reply.text == "ok"
        return DONE

    handle = await first(journals, pipeline, world(model))
    assert (await journals.journal().find(handle.run_id)).status == "completed"


async def test_a_model_which_fails_for_good_is_left_alone_by_later_calls(journals: Journals) -> None:
    broken = Scripted(
        [Scene(answer=ModelError("401 bad key", transient=False), task="research")], profile=Profile(name="broken")
    )
    good = Scripted([says("ok", task="research", repeat=True)])
    at = world(good)
    at = msgspec.structs.replace(at, models=at.models | {"broken": broken})

    async def pipeline(run: Run) -> Outcome:
        for _ in range(3):
            assert (await run.ask("analytical", ASK)).model == "scripted"
        return DONE

    roles = dict.fromkeys(ROLES, ("broken", "scripted"))
    engine = Engine(journals.journal(), pipeline)
    handle = engine.start(ready(at, models=roles))
    await handle.wait()
    assert len(broken.requests) == 1
    assert len(good.requests) == 3


async def test_a_refused_model_is_a_failure_with_its_reason(journals: Journals) -> None:
    model = Scripted([Scene(answer=ModelError("401 bad key", transient=False), task="research")])

    async def pipeline(run: Run) -> Outcome:
        await run.ask("analytical", ASK)
        return DONE

    with pytest.raises(Failed, match="401 bad key"):
        await first(journals, pipeline, world(model))
