"""One research agent alone: a run without triage, plan and writer, whose findings are the report."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from research import ROSE, TIDE, Log, Sea, agent, first_agent, kinds, stop_at, whole

from assay import Assay
from assay.core import events as e
from assay.core.errors import ModelFailed, NothingSearched
from assay.core.usage import Budget
from assay.models.script import Scene, Scripted, calls, fails, says

DOCS = Path(__file__).parents[2] / "docs"


async def alone(script: list[Scene], sea: Sea | None = None, **changes: object) -> Log:
    log = await (sea or Sea()).run(script, question=TIDE, mode="agent", **changes)
    assert whole(log)
    return log


async def test_its_findings_are_the_report() -> None:
    log = await alone(first_agent())
    assert kinds(log, "claim.found", "claim.checked", "citations.located") == [
        *("run.created", "run.started", "scope.counted"),
        *("phase.started", "agents.planned", "agent.started"),
        *("tool.started", "search.performed", "tool.finished", "source.added", "source.added"),
        *("finding.started", "finding.added", "agent.finished", "phase.finished"),
        *("phase.started", "report.started", "phase.finished"),
        *("phase.started", "claims.graded", "verify.summary", "report.finished", "phase.finished", "run.completed"),
    ]
    assert log.text == ROSE
    assert log.last(e.AgentStarted).task == TIDE
    assert [event.verdict for event in log.of(e.ClaimChecked)] == ["quoted"]
    assert (log.last(e.RunCompleted).stop_reason, log.last(e.RunCompleted).verified) == ("done", True)
    assert {request.task for request in log.model.requests} == {"research", "find"}


@pytest.mark.parametrize(("depth", "turns"), [("auto", 6), ("light", 3), ("extended", 8)])
async def test_its_depth_says_how_many_turns_it_has(depth: str, turns: int) -> None:
    more = [calls(("search", {"query": f"tide {turn}"}), task="research", turn=turn) for turn in range(turns)]
    log = await alone([*more, says(ROSE, task="find")], depth=depth)
    assert log.last(e.AgentFinished).turns == turns
    rules = [msgspec.json.decode(r.values("rules")[-1]) for r in log.model.requests if r.task == "research"]
    assert [each["turns"] for each in rules] == [turns] * turns


async def test_nothing_found_is_said_and_cites_nothing() -> None:
    log = await alone(agent(TIDE, "volcano", "Nothing about this was found."))
    assert log.text.startswith("Nothing that answers this question was found")
    assert "“volcano”" in log.text
    assert log.last(e.RunCompleted).stop_reason == "no_evidence"


async def test_of_a_query_a_page_long_the_report_says_the_beginning() -> None:
    log = await alone(agent(TIDE, "volcano " * 500, "Nothing about this was found."))
    assert "“volcano volcano " in log.text
    assert " …”" in log.text
    assert len(log.text) < 400


async def test_no_documents_cost_no_model_call() -> None:
    log = await Sea({}).fail([], NothingSearched, question=TIDE, mode="agent")
    assert log.model.requests == []
    assert "there are no documents in the default collection" in log.last(e.RunFailed).error


async def test_no_time_at_all_still_gives_a_report() -> None:
    log = await alone([], budget=Budget(seconds=1e-6))
    assert log.last(e.RunCompleted).stop_reason == "time"
    assert log.of(e.AgentStarted) == []


async def test_a_failing_model_fails_the_run() -> None:
    broken = fails("no quota", transient=False, task="research")
    log = await Sea().fail([broken], ModelFailed, question=TIDE, mode="agent")
    assert "no quota" in log.last(e.RunFailed).error


async def test_what_an_agent_cut_short_has_seen_is_reported() -> None:
    search, _, find = first_agent()
    log = await alone([search, fails("no quota", transient=False, task="research"), find])
    assert log.text == ROSE
    assert any("cut short: its model failed" in limit for limit in log.last(e.ReportFinished).limits)


async def test_taken_up_again_it_is_the_same_run() -> None:
    straight = await alone(first_agent())
    sea, (search, _, find) = Sea(), first_agent()
    stuck = says("done", task="research", turn=1, hang=asyncio.Event())
    handle = sea.start(Scripted([search, stuck]), question=TIDE, mode="agent")
    await stop_at(handle, "source.added")
    second = Scripted([says("done", task="research", turn=1), find])
    log = await sea.resume(handle.run_id, second)
    assert [request.task for request in second.requests] == ["research", "find"]
    assert log.text == straight.text
    assert whole(log)


async def test_through_the_library() -> None:
    async with Assay() as assay:
        report = await assay.agent("How does Assay keep a run after a crash?", sources=[DOCS], depth="light").report()
    assert report.mode == "agent"
    assert report.plan is None
    assert {claim.verdict for claim in report.claims} == {"quoted"}
    assert report.markdown.count("durable step")
