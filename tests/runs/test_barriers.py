"""Nothing waits for what it does not need, and nothing is asked for twice: whole runs, by their events and services."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence

import paths
import pytest
import scenario
from research import MISTRAL, REPORT, TIDE, Sea, both_agents, planned, report_wanted, sends, whole
from research import Log as Events
from scenario import Node
from simulated import Bench
from simulated_server import Served

from assay.core import events as e
from assay.core.messages import CallDone, Delta, Price, Profile, Reply, Request
from assay.models.script import Scene, Scripted, says
from assay.store.memory import memory_store

PATIENCE = 120.0


class Halting(Scripted):
    """Stops in the orchestrator's first reply, after its first call is complete, until it is let go on."""

    def __init__(self, script: Sequence[Scene]) -> None:
        super().__init__(script)
        self.go_on = asyncio.Event()

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        async for item in super().stream(request):
            yield item
            if request.task == "orchestrate" and isinstance(item, CallDone) and item.index == 0:
                await self.go_on.wait()


async def test_an_agent_reports_before_the_reply_which_sends_it_has_ended() -> None:
    model = Halting([*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), says(REPORT, task="write")])
    handle = Sea().start(model)
    seen: list[e.Envelope] = []
    async with asyncio.timeout(PATIENCE):
        async for envelope in handle:
            seen.append(envelope)
            if isinstance(e.decode(envelope), e.FindingAdded):
                model.go_on.set()
    await handle.wait()
    log = Events(seen, model)
    types = log.types()
    decided = next(
        place
        for place, envelope in enumerate(log.envelopes)
        if isinstance(event := e.decode(envelope), e.ModelAttempted) and event.task == "orchestrate"
    )
    assert types.index("finding.added") < decided
    assert len(log.of(e.FindingAdded)) == 2
    assert whole(log)


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_what_several_agents_ask_is_asked_of_the_services_once(strategy: str) -> None:
    store = memory_store()
    profile = Profile(name="vllm:m", price=Price(input=0.0, output=0.0), deterministic=True)
    model = Scripted(scenario.reply, profile=profile)
    bench = Bench(store, model, search=0.01, page=0.01)
    run_id = await bench.run(strategy)
    log = Events(await store.journal.events(run_id), model)
    served = Counter(call.key for call in (*bench.search.served, *bench.fetch.served))
    wanted = [key for key in scenario.needs(strategy) if key.startswith(("search:", "fetch:"))]
    assert served == Counter(wanted)
    asked = Counter(event.query for event in log.of(e.SearchPerformed))
    assert asked[scenario.SHARED_QUERY] == 2
    assert sum(event.usage.searches for event in log.of(e.UsageUpdated)) == len(bench.search.served)
    assert sum(event.usage.pages for event in log.of(e.UsageUpdated)) == len(bench.fetch.served)
    made = Counter(scenario.asked(request).key for request in model.requests if request.task != "judge")
    assert made == Counter(key for key in scenario.needs(strategy) if key not in wanted)
    assert whole(log)


def test_the_critical_path_of_calls_leaves_out_the_gaps() -> None:
    calls = [Served("a", 0.0, 1.0), Served("b", 1.5, 3.5, done=(2.0,)), Served("c", 2.1, 4.0), Served("d", 2.2, 2.3)]
    assert [call.key for call in paths.critical_path(calls)] == ["a", "b", "c"]
    assert paths.seconds(paths.critical_path(calls)) == pytest.approx(1.0 + 0.5 + 1.9)


def test_the_longest_chain_waits_for_calls_and_for_parts_of_calls() -> None:
    calls = [
        Served("ask", 0.0, 2.0, done=(0.5, 2.0)),
        Served("one", 5.0, 9.0),
        Served("two", 2.0, 3.0),
        Served("last", 9.5, 10.0),
    ]
    needs = {
        "ask": Node(),
        "one": Node((("ask", 0),)),
        "two": Node((("ask", 1), ("one", -1)), any=True),
        "last": Node((("one", -1), ("two", -1))),
    }
    assert paths.longest(calls, needs) == (pytest.approx(0.5 + 4.0 + 0.5), ["ask", "one", "last"])
    with pytest.raises(KeyError, match="other"):
        paths.longest([*calls, Served("other", 0.0, 1.0)], needs)


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
def test_a_call_needs_only_calls_there_are(strategy: str) -> None:
    needs = scenario.needs(strategy)
    for node in needs.values():
        assert {key for key, _ in node.needs} <= needs.keys()
