"""Plan review: the plan waits for a person, over restarts; approved, edited or given anew, research follows it."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from one_agent_script import one_agent
from research import ONE_STEP, TIDE, Sea, first_agent, planned, report_wanted, sends
from shells import Shell, Terminal, apart

from assay import Assay
from assay.core import events as e
from assay.core.errors import UsageError
from assay.core.plan import Plan, PlanStep
from assay.core.ports.store import Store
from assay.models.script import Scripted, says

QUESTION = "How far does the tide rise?"
PLAN = {"title": "Brest", "steps": [{"title": "Tide at Brest"}, {"title": "Moon"}]}
SCRIPT = [
    {"task": "triage", "reply": {"calls": [{"name": "generate_plan", "arguments": {"complexity": "simple"}}]}},
    {"task": "plan", "reply": {"text": json.dumps(PLAN)}},
    *one_agent(),
]


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    apart(tmp_path, monkeypatch)
    return Shell(tmp_path, capsys, SCRIPT, QUESTION)


# from the shell


def test_a_plan_waits_as_json_and_is_approved_from_elsewhere(shell: Shell) -> None:
    asked = shell.research("--review-plan")
    assert asked.returncode == 7, asked.stderr
    printed = json.loads(asked.stdout)
    assert [step["title"] for step in printed["plan"]["steps"]] == ["Tide at Brest", "Moon"]
    again = shell.run("runs", "resume", printed["run"])
    assert (again.returncode, json.loads(again.stdout)) == (7, printed)
    refused = shell.run("runs", "answer", printed["run"])
    assert refused.returncode == 2
    assert f"assay runs approve {printed['run']}" in refused.stderr
    done = shell.run("runs", "approve", printed["run"])
    assert done.returncode == 0, done.stderr
    assert "seven metres" in done.stdout
    view = shell.shown()
    assert (view["plan_approved_by"], view["status"]) == ("user", "completed")
    late = shell.run("runs", "approve", printed["run"])
    assert (late.returncode, "does not wait for its plan" in late.stderr) == (2, True)


@pytest.mark.parametrize("form", ["text", "json"])
def test_another_plan_is_given_as_a_file(shell: Shell, tmp_path: Path, form: str) -> None:
    run_id = json.loads(shell.research("--review-plan").stdout)["run"]
    file = tmp_path / "plan"
    file.write_text(
        "title: Mine\n\n1. Springs\n   description: at spring tide\n"
        if form == "text"
        else '{"title": "Mine", "steps": [{"title": "Springs", "description": "at spring tide"}]}'
    )
    done = shell.run("runs", "approve", run_id, "--plan", file)
    assert done.returncode == 0, done.stderr
    view = shell.shown()
    assert view["plan"]["title"] == "Mine"
    assert [(step["id"], step["title"], step["description"]) for step in view["plan"]["steps"]] == [
        (1, "Springs", "at spring tide")
    ]
    kinds = [json.loads(line)["type"] for line in shell.run("runs", "watch", run_id, "--events").stdout.splitlines()]
    found = [kind for kind in kinds if kind in ("plan.proposed", "run.waiting", "plan.changed", "plan.approved")]
    assert found[:4] == ["plan.proposed", "run.waiting", "plan.changed", "plan.approved"]


def test_a_file_which_is_no_plan_names_its_line_and_the_run_waits_on(shell: Shell, tmp_path: Path) -> None:
    run_id = json.loads(shell.research("--review-plan").stdout)["run"]
    (tmp_path / "plan.txt").write_text("title: Mine\nSprings\n")
    done = shell.run("runs", "approve", run_id, "--plan", tmp_path / "plan.txt")
    assert (done.returncode, "line 2: 'Springs'" in done.stderr) == (2, True)
    assert shell.shown()["status"] == "waiting"


def test_a_waiting_run_may_be_cancelled_and_not_paused(shell: Shell) -> None:
    run_id = json.loads(shell.research("--review-plan").stdout)["run"]
    paused = shell.run("runs", "pause", run_id)
    assert (paused.returncode, "waits for an answer" in paused.stderr) == (2, True)
    assert shell.run("runs", "cancel", run_id).returncode == 0
    assert shell.shown()["status"] == "cancelled"


EDITOR = """#!{python}
import pathlib, sys
file = pathlib.Path(sys.argv[1])
said, count = file.read_text(), pathlib.Path({count!r})
count.write_text(count.read_text() + "x" if count.exists() else "x")
file.write_text("1 Springs" if len(count.read_text()) == 1 else said.replace("1 Springs", "title: Mine\\n1. Springs"))
"""

needs_pty = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")


def editor(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor which first makes a mistake, then mends it."""
    script = folder / "editor"
    script.write_text(EDITOR.format(python=sys.executable, count=str(folder / "count")))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(script))
    monkeypatch.delenv("VISUAL", raising=False)


@needs_pty
def test_on_a_terminal_the_plan_is_shown_edited_and_approved(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(tmp_path, monkeypatch)
    command = (QUESTION, "-q", "--review-plan", "--in", shell.notes, "--model", shell.model)
    terminal = Terminal(shell, *command)
    terminal.answer("2. Moon", "")
    terminal.answer("[a]pprove, [e]dit or [c]ancel the run", "e\n")
    terminal.answer("line 1: '1 Springs' is neither", "e\n")
    terminal.answer("1. Springs", "a\n")
    code, out = terminal.end()
    assert (code, "seven metres" in out) == (0, True), terminal.seen
    view = shell.shown()
    assert (view["plan"]["title"], view["plan_approved_by"]) == ("Mine", "user")


@needs_pty
def test_on_a_terminal_the_run_may_be_cancelled(shell: Shell) -> None:
    terminal = Terminal(shell, QUESTION, "-q", "--review-plan", "--in", shell.notes, "--model", shell.model)
    terminal.answer("[c]ancel", "c\n")
    assert terminal.end()[0] == 130
    assert shell.shown()["status"] == "cancelled"


# from Python


async def waiting(sea: Sea, model: Scripted, review: str) -> tuple[Any, asyncio.Task[None]]:
    handle = sea.start(model, review=review)
    task = asyncio.ensure_future(handle.wait())
    async with asyncio.timeout(60):
        while (await _row(sea.store, handle.run_id)) != "waiting":
            await asyncio.sleep(0.01)
    return handle, task


async def _row(store: Store, run_id: str) -> str:
    try:
        return (await store.journal.find(run_id)).status
    except UsageError:
        return ""


async def test_a_library_run_waits_in_its_process_and_takes_the_plan_given(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
    async with Assay(home=tmp_path / "home") as assay:
        run = assay.start(QUESTION, sources=tmp_path / "tides.md", review_plan="optional")
        async for envelope in run:
            if envelope.type == e.RunWaiting.kind:
                with pytest.raises(UsageError, match="no title"):
                    await run.approve(Plan(title="Mine", steps=(PlanStep(id=1, title=" "),)))
                await run.approve(Plan(title="Mine", steps=(PlanStep(id=9, title="The tide at Brest"),)))
        view = await run.view()
    assert (view.status, view.plan_approved_by) == ("completed", "user")
    assert view.plan is not None
    assert [(step.id, step.title) for step in view.plan.steps] == [(1, "The tide at Brest")]


async def test_the_time_a_person_takes_is_not_the_runs(tmp_path: Path) -> None:
    sea = Sea()
    script = [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), says("Seven. [S1001.1]", task="write")]
    began = time.monotonic()
    handle, task = await waiting(sea, Scripted(script), "optional")
    await asyncio.sleep(1.0)
    await handle.answer("plan", {})
    await task
    row = await sea.journal.find(handle.run_id)
    assert row.status == "completed"
    assert row.active_seconds < time.monotonic() - began - 0.9


async def test_a_run_left_waiting_is_approved_while_no_process_holds_it(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
    async with Assay(home=tmp_path / "home") as first:
        run = first.start(QUESTION, sources=tmp_path / "tides.md", review_plan="required")
        assert (await run.view()).waiting_for == "plan"
    async with Assay(home=tmp_path / "home") as second:
        row = await second.find("last")
        assert (row.status, row.holder) == ("waiting", "")
        assert not await second.is_answered("last")
        await second.approve("last")
        assert await second.is_answered("last")
        with pytest.raises(UsageError, match="is approved already"):
            await second.approve("last")
    async with Assay(home=tmp_path / "home") as third:
        view = await (await third.resume("last")).view()
        assert (view.status, view.plan_approved_by) == ("completed", "user")
        kinds = [each.type for each in await third.events("last")]
        assert kinds.count("plan.proposed") == kinds.count("plan.approved") == 1
