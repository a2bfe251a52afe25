"""A run which is planned and estimated first: nothing else is asked for, and going on pays for nothing twice."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from research import DOCUMENTS, ONE_STEP, Sea, planned

from assay import Assay, settings
from assay.cli.main import cli
from assay.core import events as e
from assay.core.brief import Estimate
from assay.core.errors import InputNeeded
from assay.core.plan import Plan, PlanReview
from assay.models.script import Scripted, calls, says

QUESTION = "How far does the tide rise at Brest, and where does the mistral blow from?"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_a_plan_is_estimated_then_followed(strategy: str, documents: Path, tmp_path: Path) -> None:
    async with Assay(settings.load(), home=tmp_path / "home") as assay:
        run = assay.start(
            QUESTION, sources=documents, strategy=strategy, mode="deep_research", depth="light", review_plan="required"
        )
        view = await run.view()
        assert (view.status, view.waiting_for) == ("waiting", "plan")
        before = view.usage.total
        assert before.model_calls <= 3
        assert [phase.name for phase in view.phases] == ["triage", "background", "plan"]
        guess = await assay.estimate(run.run_id)
        assert view.brief is not None
        at_start = view.brief.estimate
        assert at_start is not None
        assert guess.calls.most <= at_start.calls.most

        await assay.approve(run.run_id)
        done = await (await assay.resume(run.run_id)).view()
        assert done.status == "completed"
        kinds = [each.type for each in await assay.events(run.run_id)]
        assert kinds.count("plan.proposed") == kinds.count("triage.classified") == 1
        total = done.usage.total
        assert at_start.calls.holds(total.model_calls)
        assert at_start.tokens.holds(total.tokens)
        assert at_start.seconds.most >= 1


async def test_reading_every_document_is_a_plan_too() -> None:
    script = [calls(("generate_plan", {"complexity": "simple", "whole_collection": True}), task="triage")]
    sea, model = Sea(), Scripted(script)
    handle = sea.start(model, review="required")
    with pytest.raises(InputNeeded):
        await handle.wait()
    (proposed,) = [each for each in await sea.journal.events(handle.run_id) if each.type == e.PlanProposed.kind]
    plan = msgspec.convert(msgspec.json.decode(proposed.data)["plan"], Plan)
    assert [step.title for step in plan.steps] == ["Read every document in scope"]
    assert [request.task for request in model.requests] == ["triage"]
    # Whoever gives another plan in its stead is planned for as always, and asked again.
    other = Plan(title="Tides", steps=(msgspec.structs.replace(plan.steps[0], title="Tide at Brest"),))
    await sea.journal.post(handle.run_id, "plan", msgspec.json.encode(PlanReview(plan=other)))
    model = Scripted([*planned(ONE_STEP)[1:], says("never", task="write", repeat=True)])
    again = await sea.engine().resume(handle.run_id, lambda _: sea.world(model))
    with pytest.raises(InputNeeded):
        await again.wait()
    assert [request.task for request in model.requests] == ["background", "plan"]


def test_from_the_shell(documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    runner = CliRunner()
    asked = runner.invoke(cli, ["plan", QUESTION, "--in", str(documents), "--depth", "light"])
    assert asked.exception is None, asked.output
    assert "estimated: " in asked.stdout
    assert "depth: light, strategy: orchestrated" in asked.stdout
    assert "assay runs approve" in asked.stderr
    asked = runner.invoke(cli, ["plan", QUESTION, "--in", str(documents), "--json", "-q"])
    data = json.loads(asked.stdout)
    assert msgspec.convert(data["estimate"], Estimate).calls.most >= 3
    assert data["plan"]["steps"]
    shown = runner.invoke(cli, ["runs", "show", data["run"]])
    assert "estimated at its start: " in shown.stdout
    listed = runner.invoke(cli, ["runs", "list", "--json"])
    assert [row["status"] for row in json.loads(listed.stdout)] == ["waiting", "waiting"]


def test_where_there_is_nothing_to_research_no_plan_is_made(tmp_path: Path) -> None:
    asked = CliRunner().invoke(
        cli, ["plan", "What is a lane?", "--offline", "--home", str(tmp_path / "home")], standalone_mode=False
    )
    assert asked.return_value == 1
    assert "nothing was searched: there are no documents" in asked.stderr
    assert "estimated" not in asked.stdout
