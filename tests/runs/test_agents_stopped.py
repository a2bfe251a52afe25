"""One agent of a run is stopped by its user: what it found is kept, the run goes on, and a crash changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from research import MISTRAL, TIDE, first_agent, planned, report_wanted, sends
from sampling import crossed
from stepwise import TITLES, decides, opening, steps, tide

from assay import Assay
from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.errors import NotNow, UnknownName
from assay.core.view import RunView
from assay.models.script import Scene, Scripted, calls, says

WAIT = 120.0
QUESTION = "How far does the tide rise, and where does the mistral blow from?"
JUDGED = '{"parts": [{"part": 1, "status": "answered"}, {"part": 2, "status": "partly"}]}'
WRITTEN = "It rises seven metres. [S1001.1]"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Assay]:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
    (tmp_path / "winds.md").write_text("# Winds\n\nThe mistral blows from the north-west.\n")
    async with Assay(home=tmp_path / "home") as assay:
        yield assay


def slow_agent(task: str) -> list[Scene]:
    """An agent which searches, and then thinks for ever."""
    return [
        calls(("search", {"query": "mistral"}), task="research", contains=task, turn=0),
        says("never", task="research", contains=task, turn=1, hang=asyncio.Event()),
    ]


def orchestrated() -> list[Scene]:
    return [
        *planned(steps(TIDE, MISTRAL)),
        sends(TIDE, MISTRAL, turn=0),
        *first_agent(),
        *slow_agent(MISTRAL),
        report_wanted(turn=1),
        says(JUDGED, task="assess"),
        says(WRITTEN, task="write"),
    ]


def reflective() -> list[Scene]:
    return [
        *opening(steps(TITLES[0], TITLES[1])),
        *tide(),
        decides("continue"),
        *slow_agent(TITLES[1]),
        decides("continue"),
        says(JUDGED, task="assess"),
        says(WRITTEN, task="write"),
    ]


STRATEGIES = {"orchestrated": orchestrated, "reflective": reflective}


def options(assay: Assay, model: Scripted) -> dict[str, Any]:
    assay._context.own_models[model.profile.name] = model
    models = dict.fromkeys(ROLES, (model.profile.name,))
    return {"models": models, "checks_off": ("judge",), "depth": "medium", "mode": "deep_research"}


async def begun(assay: Assay, model: Scripted, folder: Path, strategy: str) -> Any:
    """A run whose second agent is in a call which never ends."""
    sources = [folder / "tides.md", folder / "winds.md"]
    run = assay.start(QUESTION, sources=sources, strategy=strategy, **options(assay, model))
    async with asyncio.timeout(WAIT):
        while not any(request.task == "research" and _is_slow(request) for request in model.requests):
            await asyncio.sleep(0.01)
        while 1 not in [each.lane for each in (await assay.view(run.run_id)).lanes if each.state == "finished"]:
            await asyncio.sleep(0.01)
    return run


def _is_slow(request: Any) -> bool:
    text = " ".join(message.text for message in request.messages)
    return "north-west" in text and any(message.role == "tool" for message in request.messages)


def came(view: RunView) -> tuple[Any, ...]:
    """What two runs which came to the same have in common."""
    lanes = [(lane.lane, lane.state, lane.stop, lane.finding.text) for lane in view.lanes]
    return view.status, view.stop_reason, lanes, view.report.text, [each.message for each in view.warnings]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_an_agent_is_stopped_and_the_run_goes_on_without_it(home: Assay, tmp_path: Path, strategy: str) -> None:
    model = Scripted(STRATEGIES[strategy]())
    run = await begun(home, model, tmp_path, strategy)
    assert await home.stop_agent(run.run_id, 2, wait=WAIT) == "applied"
    view = await run.view()
    assert (view.status, [(lane.lane, lane.stop) for lane in view.lanes]) == (
        "completed",
        [(1, "done"), (2, "stopped")],
    )
    assert "The mistral blows from the north-west." in view.lanes[1].finding.text
    [limit] = view.report.limits
    assert limit.endswith("was cut short: the agent was stopped on request.")
    assert limit in (await home.export(run.run_id, ".md")).decode()
    events = [e.decode(each) for each in await home.events(run.run_id)]
    [asked] = [each for each in events if isinstance(each, e.ControlAccepted)]
    [applied] = [each for each in events if isinstance(each, e.ControlApplied)]
    assert (asked.action, asked.lane, applied.lane, applied.id) == ("agent-cancel", 2, 2, asked.id)
    assert not (await home.replay(run.run_id)).differences


@pytest.mark.parametrize(("heard", "strategy"), crossed([True, False], [*STRATEGIES]))
async def test_a_stop_outlives_the_process(home: Assay, tmp_path: Path, strategy: str, *, heard: bool) -> None:
    """Let go of in the middle, whether the stop was heard by then or not: the run taken up again comes to the same."""
    whole = await begun(home, Scripted(STRATEGIES[strategy]()), tmp_path, strategy)
    await home.stop_agent(whole.run_id, 2, wait=WAIT)
    expected = came(await whole.view())

    model = Scripted(STRATEGIES[strategy]())
    run = await begun(home, model, tmp_path, strategy)
    if heard:
        assert await home.stop_agent(run.run_id, 2, wait=WAIT) == "applied"
    await run._execution.stop()
    for _ in range(0 if heard else 2):
        assert await home.stop_agent(run.run_id, 2) == "stored"
    asked = [each.type for each in await home.events(run.run_id) if each.type == "control.accepted"]
    assert len(asked) == 1  # once, however often it is asked
    options(home, Scripted(STRATEGIES[strategy]()))  # anew: a call which was let go of has used up its scene
    assert came(await (await home.resume(run.run_id)).view()) == expected


async def test_what_cannot_be_stopped_is_said(home: Assay, tmp_path: Path) -> None:
    run = await begun(home, Scripted(orchestrated()), tmp_path, "orchestrated")
    with pytest.raises(UnknownName, match="no agent named '7' in this run; its agents: 1, 2"):
        await home.stop_agent(run.run_id, 7)
    with pytest.raises(NotNow, match=r"agent 1 of run .* has ended \(finished\)"):
        await home.stop_agent(run.run_id, 1)
    await home.stop_agent(run.run_id, 2, wait=WAIT)
    await run.view()
    with pytest.raises(NotNow, match="none of its agents is still working"):
        await home.stop_agent(run.run_id, 2)


async def test_a_tool_stops_one_agent_alone(home: Assay, tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    from assay.server.mcp.mcp_server import LocalRuns, build_server
    from assay.server.mcp.service import McpService
    from assay.server.protocol_runs import Caller

    run = await begun(home, Scripted(orchestrated()), tmp_path, "orchestrated")
    caller = Caller(home, LocalRuns(home))
    async with mcp.Client(build_server(McpService(caller_of=lambda _: caller))) as client:
        nobody = await client.call_tool("cancel", {"run_id": run.run_id, "agent": 9})
        assert nobody.is_error
        assert "assay runs" not in nobody.content[0].text
        stopped = await client.call_tool("cancel", {"run_id": run.run_id, "agent": 2})
        assert not stopped.is_error, stopped.content
        view = await run.view()
        assert view.status == "completed"
        assert [(lane.lane, lane.stop) for lane in view.lanes] == [(1, "done"), (2, "stopped")]
        late = await client.call_tool("cancel", {"run_id": run.run_id, "agent": 2})
        assert late.is_error
