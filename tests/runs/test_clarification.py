"""Clarifying questions from the shell: runs which ask, are left, killed, answered from another process, and go on."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from one_agent_script import one_agent
from shells import Shell, Terminal, apart

from assay.cli.main import main

QUESTION = "How far does the tide rise?"
QUESTIONS = ["Which Brest?", "Spring tide?"]


def plan(title: str) -> dict[str, Any]:
    return {"text": json.dumps({"title": title, "steps": [{"title": title}]})}


SCRIPT = [
    {"task": "triage", "reply": {"text": "\n".join(QUESTIONS)}},
    {"task": "plan", "contains": "the one in Brittany", "reply": plan("Brest in Brittany")},
    {"task": "plan", "reply": plan("Any Brest")},
    *one_agent(),
]
WAITING = """
import asyncio, sys
from assay import Assay
from assay.core.brief import ROLES
async def wait():
    async with Assay(home=sys.argv[1]) as assay:
        models = {role: (sys.argv[2],) for role in ROLES}
        run = assay.start(sys.argv[3], sources=[sys.argv[4]], ask="optional", models=models)
        async for event in run:
            if event.type == "run.waiting":
                print(run.run_id, flush=True)
asyncio.run(wait())
"""


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    apart(tmp_path, monkeypatch)
    return Shell(tmp_path, capsys, SCRIPT, QUESTION)


def test_a_run_which_must_ask_waits_and_is_answered_from_elsewhere(shell: Shell, tmp_path: Path) -> None:
    asked = shell.research("--ask", "required")
    assert asked.returncode == 7, asked.stderr
    printed = json.loads(asked.stdout)
    assert printed["questions"] == QUESTIONS
    again = shell.run("runs", "resume", printed["run"])
    assert (again.returncode, json.loads(again.stdout)) == (7, printed)

    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"which brest": "the one in Brittany"}))
    done = shell.run("runs", "answer", printed["run"], "--answers", answers)
    assert done.returncode == 0, done.stderr
    assert "seven metres" in done.stdout
    view = shell.shown()
    assert view["clarification"] == {
        "questions": QUESTIONS,
        "answers": ["the one in Brittany", ""],
        "assumptions": ["Not asked: Spring tide? The usual reading was assumed."],
    }
    assert view["plan"]["title"] == "Brest in Brittany"
    assert "Spring tide?" in done.stdout.partition("## Limits")[2]
    late = shell.run("runs", "answer", printed["run"], "too late")
    assert (late.returncode, late.stderr) == (
        2,
        f"assay: run {printed['run']} does not wait for answers: it is completed\n",
    )


def test_a_process_killed_while_it_waits_is_taken_over_with_the_answers(shell: Shell) -> None:
    waiting = shell.spawn("-c", WAITING, shell.home, shell.model, QUESTION, shell.notes)
    assert waiting.stdout is not None
    run_id = waiting.stdout.readline().decode().strip()
    os.kill(waiting.pid, signal.SIGKILL)
    waiting.communicate()
    resumed = shell.run("runs", "resume", run_id)
    assert (resumed.returncode, json.loads(resumed.stdout)) == (7, {"run": run_id, "questions": QUESTIONS})
    done = shell.run("runs", "answer", run_id, "the one in Brittany", "", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["plan"]["title"] == "Brest in Brittany"
    events = [json.loads(line) for line in shell.run("runs", "watch", run_id, "--events").stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [event["type"] for event in events].count("clarify.requested") == 1


def test_answers_left_without_going_on_are_taken_at_the_resume(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = json.loads(shell.research("--ask", "required").stdout)["run"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"the one in Brittany\n\n")))
    left = shell.run("runs", "answer", run_id, "--answers", "-", "--no-resume")
    assert (left.returncode, left.stdout) == (0, "")
    twice = shell.run("runs", "answer", run_id, "another")
    assert twice.returncode == 2
    assert "already has its answers" in twice.stderr
    assert shell.run("runs", "resume", run_id).returncode == 0
    assert shell.shown()["plan"]["title"] == "Brest in Brittany"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.json", '["the one in Brittany", "yes"]'),
        ("named.json", '{"Spring tide?": "yes", "Which Brest?": "the one in Brittany"}'),
        ("lines.txt", "the one in Brittany\nyes\n"),
    ],
)
def test_answers_given_beforehand(shell: Shell, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    done = shell.research("--ask", "required", "--answers", tmp_path / name)
    assert done.returncode == 0, done.stderr
    view = shell.shown()
    assert view["clarification"]["answers"] == ["the one in Brittany", "yes"]
    assert view["plan"]["title"] == "Brest in Brittany"


@pytest.mark.parametrize("options", [[], ["--no-clarify"], ["--yes", "--ask", "optional"]])
def test_where_nobody_can_answer_assumptions_are_written(shell: Shell, options: list[str]) -> None:
    done = shell.research(*options)
    assert done.returncode == 0, done.stderr
    assert all(question in done.stdout.partition("## Limits")[2] for question in QUESTIONS)
    assert shell.shown()["plan"]["title"] == "Any Brest"


def test_a_question_just_asked_in_a_thread_is_not_asked_again(shell: Shell) -> None:
    assert shell.research("--ask", "required", "--thread", "sea").returncode == 7
    done = shell.research("--ask", "required", "--thread", "sea")
    assert done.returncode == 0, done.stderr
    assert shell.shown()["clarification"]["assumptions"]


def test_answers_which_do_not_fit_are_refused(shell: Shell, tmp_path: Path) -> None:
    run_id = json.loads(shell.research("--ask", "required").stdout)["run"]
    for text in ('{"Which Brest?": 1}', "[", '["a", "b", "c"]', '{"What else?": "x"}'):
        (tmp_path / "answers").write_text(text)
        done = shell.run("runs", "answer", run_id, "--answers", tmp_path / "answers")
        assert done.returncode == 2, text
        assert "answers" in done.stderr
        assert shell.shown()["status"] == "waiting"


def test_no_answers_and_nobody_to_ask_is_wrong_usage(shell: Shell) -> None:
    run_id = json.loads(shell.research("--ask", "required").stdout)["run"]
    done = shell.run("runs", "answer", run_id)
    assert done.returncode == 2
    assert "--answers FILE" in done.stderr
    assert "Which Brest?" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
def test_a_person_is_asked_once_for_each_question(shell: Shell) -> None:
    terminal = Terminal(shell, QUESTION, "-q", "--in", shell.notes, "--model", shell.model)
    terminal.answer(QUESTIONS[0], "the one in Brittany\n")
    terminal.answer(QUESTIONS[1], "\n")
    code, out = terminal.end()
    assert code == 0
    assert "seven metres" in out
    assert '"questions"' not in out
    view = shell.shown()
    assert view["clarification"]["answers"] == ["the one in Brittany", ""]
    assert view["plan"]["title"] == "Brest in Brittany"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
def test_a_person_who_leaves_can_answer_later(shell: Shell) -> None:
    terminal = Terminal(shell, QUESTION, "-q", "--in", shell.notes, "--model", shell.model)
    terminal.answer(QUESTIONS[0], "")
    assert terminal.leave() == (130, "")
    assert shell.shown()["status"] == "waiting"
    assert shell.run("runs", "answer", "last", "the one in Brittany", "").returncode == 0


def test_help_names_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["research", "--help"]) == 0
    output = capsys.readouterr().out
    assert all(option in output for option in ("--ask", "--no-clarify", "--answers", "--thread", "--continue"))
