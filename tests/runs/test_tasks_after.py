"""An agent that needs the findings of others starts when these have reported, not when the slowest of all has."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from research import Log, Sea, call, planned
from sampling import scaled
from side_by_side import assert_same, died_and_resumed
from simulated_time import in_simulated_time, simulated

from assay.core import events as e
from assay.core.brief import ROLES, Speculation
from assay.core.messages import Price, Profile, Reply, Request
from assay.core.sources import sha256
from assay.models.script import Scene, Scripted, fails, says, turn

QUICK = Profile(name="quick", price=Price(input=0.0, output=0.0))
ON, OFF = Speculation(tasks=True), Speculation()
NAMES = ("Brest", "Genoa", "Bergen", "Lisbon", "Oslo")
SLOW = 0.05
PLAN = json.dumps(
    {
        "title": "Tides",
        "steps": [
            *({"title": f"Tide at {name}", "type": "research", "needs_search": True} for name in NAMES[:3]),
            {"title": "Compare", "type": "analysis", "needs_search": False},
        ],
    }
)


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """Agents by number, with the calls whose findings each needs; some are slow, some fail, some only analyse."""

    needs: tuple[tuple[int, ...], ...]
    slow: frozenset[int] = frozenset()
    failing: frozenset[int] = frozenset()
    analysing: frozenset[int] = frozenset()

    def play(self, request: Request) -> Scene:
        """A reply that depends on nothing but the request."""
        opening = {scene.task: scene for scene in planned(PLAN, depth="medium")}
        match request.task:
            case "triage" | "background" | "plan" as task:
                return opening[task]
            case "orchestrate":
                made = self.calls() if not turn(request) else (call("generate_report", id="end"),)
                return Scene(answer=Reply(calls=made, stop="calls"))
            case "write":
                ids = [id for text in request.user_texts("findings") for id in re.findall(r"\[S\d+\.\d+\]", text)]
                return says("\n\n".join(f"The tide at Brest rises seven metres. {id}" for id in ids))
        (message,) = request.user_texts("task")
        return self._work(request, next(at for at, name in enumerate(NAMES) if name in message))

    def calls(self) -> tuple[Any, ...]:
        return tuple(
            call("research_agent", id=f"c{at}", task=f"Find the tide at {NAMES[at]}", step=step, after=list(after))
            for at, after in enumerate(self.needs)
            for step in [4 if at in self.analysing else 1 + at % 3]
        )

    def _work(self, request: Request, at: int) -> Scene:
        if at in self.failing:
            return fails("no", transient=False)
        delay = SLOW if at in self.slow else 0.0
        if request.task == "research" and not turn(request):
            made = (call("search", id="s", query=f"tide {NAMES[at]} seven metres"),)
            return Scene(answer=Reply(calls=made, stop="calls"), delay=delay)
        if request.task == "research":
            return says("done")
        shown = re.findall(r"\[(S\d+\.\d+)\]", "\n".join(message.text for message in request.messages))
        cited = f"The tide at Brest rises seven metres. [{shown[-1]}]" if shown else "Nothing."
        return says(f"{cited} It was asked {sha256(msgspec.json.encode(request))}.")


async def ran(plot: Plot, speculation: Speculation, **changes: Any) -> Log:
    model = Scripted(plot.play, profile=QUICK)
    return await Sea().run(model, speculation=speculation, assess=False, **changes)


def order(log: Log) -> list[tuple[str, int]]:
    """Who started and ended when."""
    return [(event.kind.rpartition(".")[2], event.lane) for event in map(e.decode, log.envelopes) if is_agents(event)]


def is_agents(event: e.Event | None) -> bool:
    return isinstance(event, e.AgentStarted | e.AgentFinished | e.AgentFailed)


def asked_of(log: Log, name: str, task: str = "research") -> Request:
    return next(each for each in log.model.requests if each.task == task and name in each.user_texts("task")[0])


AFTER_THE_FIRST = Plot(needs=((), (), (1,)), slow=frozenset({1}))


async def test_it_starts_before_the_slowest_is_done() -> None:
    found = order(await ran(AFTER_THE_FIRST, ON))
    assert found.index(("started", 3)) > found.index(("finished", 1))
    assert found.index(("started", 3)) < found.index(("finished", 2))


async def test_it_gets_what_it_needs_and_nothing_of_the_others() -> None:
    log = await ran(AFTER_THE_FIRST, ON)
    request = asked_of(log, "Bergen")
    brief = json.loads(request.user_texts("brief")[0])
    assert [each["task"] for each in brief["finished"]] == ["Find the tide at Brest"]
    assert brief["earlier"] == log.of(e.FindingAdded)[0].text
    (seen,) = request.user_texts("seen")
    assert "[S1001.1] The tide at Brest rises seven metres." in seen


async def test_without_speculation_it_waits_for_all_that_were_sent_before_it() -> None:
    early, late = await ran(AFTER_THE_FIRST, ON), await ran(AFTER_THE_FIRST, OFF)
    found = order(late)
    assert found.index(("started", 3)) > found.index(("finished", 2))
    assert_same(early.envelopes, late.envelopes)


async def test_a_comparison_is_sent_with_what_it_compares() -> None:
    """It needs no decision of its own: one cycle less."""
    log = await ran(Plot(needs=((), (), (), (1, 2)), slow=frozenset({2}), analysing=frozenset({3})), ON)
    (request,) = [each for each in log.model.requests if each.task == "analyze"]
    assert len(request.user_texts("findings")) == 2
    assert order(log).index(("started", 4)) < order(log).index(("finished", 3))
    assert [each.cycle for each in log.of(e.AgentsPlanned)] == [1] * 4


async def test_what_it_needs_may_fail() -> None:
    log = await ran(Plot(needs=((), (1,)), failing=frozenset({0})), ON)
    assert ("finished", 2) in order(log)
    brief = json.loads(asked_of(log, "Genoa").user_texts("brief")[0])
    assert (brief["earlier"], brief["finished"]) == ("", [])


@pytest.mark.parametrize("after", [(3,), (0,), (9, 2)])
async def test_a_call_that_is_not_before_it_is_named_to_the_orchestrator(after: tuple[int, ...]) -> None:
    log = await ran(Plot(needs=((), after)), ON)
    (*_, decided) = [each for each in log.model.requests if each.task == "orchestrate"]
    (*_, text) = [message.text for message in decided.messages if message.role == "tool"]
    numbers = ", ".join(map(str, sorted(after)))
    assert text.startswith(f"No call before it has the number {numbers}, so this agent did not wait for one.")


@in_simulated_time
async def test_its_time_begins_when_it_starts() -> None:
    plot = Plot(needs=((), (1,)), slow=frozenset({0}))
    sea, model = Sea(), Scripted(plot.play, profile=QUICK)
    handle = sea.start(model, speculation=ON, assess=False)
    await handle.wait()
    steps = (await sea.journal.load(handle.run_id)).steps
    spawned = {record["number"]: record for record in map(msgspec.json.decode, data(steps, "lane/1"))}
    (renewed,) = map(msgspec.json.decode, data(steps, "deadlines/1"))
    # of what is left for research it has the same share, of a little less
    assert renewed["work_until"] > spawned[2]["work_until"] + SLOW * 0.5
    assert renewed["report_until"] < spawned[2]["report_until"] + 1.0


def data(steps: Any, tag: str) -> list[bytes]:
    return [record.data for record in steps.values() if record.tag == tag]


@st.composite
def plots(draw: st.DrawFn) -> Plot:
    """Up to five agents, each of which may need any of those before it."""
    count = draw(st.integers(2, len(NAMES)))
    needs: list[Sequence[int]] = [()]
    needs += [draw(st.lists(st.integers(1, at), unique=True, max_size=2)) for at in range(1, count)]
    some = st.frozensets(st.integers(0, count - 1), max_size=2)
    return Plot(needs=tuple(map(tuple, needs)), slow=draw(some), failing=draw(some), analysing=draw(some) - {0})


@settings(max_examples=scaled(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plot=plots())
def test_whoever_needs_whom_the_run_is_the_same(plot: Plot) -> None:
    async def both() -> None:
        assert_same((await ran(plot, ON)).envelopes, (await ran(plot, OFF)).envelopes)

    simulated(both())


@settings(max_examples=scaled(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plot=plots(), last=st.integers(2, 90))
def test_a_run_that_was_killed_comes_to_the_same(plot: Plot, last: int) -> None:
    async def both() -> None:
        sea, model = Sea(), Scripted(plot.play, profile=QUICK)
        roles = dict.fromkeys(ROLES, (QUICK.name,))
        made = sea.brief(models=roles, speculation=ON, assess=False)
        assert_same((await ran(plot, OFF)).envelopes, await died_and_resumed(sea, model, made, last))

    simulated(both())
