"""What is proposed to be asked next, on a terminal only."""

import os
import pty
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
import warm
from hypothesis import given
from hypothesis import strategies as st

from assay.cli import run_watch
from assay.core.brief import Brief, Scope
from assay.core.claims import Conflict, Side
from assay.core.plan import Coverage
from assay.core.view import RunView

QUESTION = "Who wrote the Harbor report, and what did the lighthouse cost?"


def brief(language: str = "en", **scope: bool) -> Brief:
    return Brief(question=QUESTION, date="2026-01-01", language=language, scope=Scope(**scope))


def part(step: int, text: str, status: str = "not") -> Coverage:
    return Coverage(step=step, part=text, status=status)  # type: ignore[arg-type]


def view(
    parts: Iterable[Coverage] = (),
    about: Brief | None = None,
    conflicts: Iterable[Conflict] = (),
    ended: str = "done",
) -> RunView:
    return RunView(
        run_id="k3v9",
        status="completed",
        stop_reason=ended,
        brief=about or brief(),
        coverage=tuple(parts),
        conflicts=tuple(conflicts),
    )


def suggested(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.startswith("  assay ")]


def test_what_was_not_found_is_looked_for_elsewhere():
    parts = (part(0, QUESTION, "partly"), part(1, "Who wrote it?", "answered"), part(2, "What did it cost?"))
    assert list(run_watch.follow_up_commands(view(parts))) == ["assay research 'What did it cost?' --web"]
    assert list(run_watch.follow_up_commands(view(parts, brief(web=True)))) == [
        "assay research 'What did it cost?' --in PATH"
    ]


def test_private_documents_are_never_taken_to_the_web():
    (command,) = run_watch.follow_up_commands(view([part(0, QUESTION)], brief(private=True)))
    assert command.endswith("--in PATH")


def test_where_sources_disagree_the_run_is_asked_why():
    sides = tuple(Side(value=value, passage=f"S{at}.1", source=f"S{at}") for at, value in enumerate(("310 m", "450 m")))
    conflict = Conflict(text="", subject="old quay", measure="long", sides=sides)
    asked = ["assay ask k3v9 'old quay, long: why do sources say 310 m and 450 m?'"]
    assert list(run_watch.follow_up_commands(view(conflicts=[conflict]))) == asked
    assert list(run_watch.follow_up_commands(view(conflicts=[conflict], about=brief("de")))) == []


def test_a_run_which_did_not_look_to_the_end_proposes_nothing():
    parts = (part(1, "What did it cost?"),)
    assert list(run_watch.follow_up_commands(RunView(status="failed", brief=brief(), coverage=parts))) == []
    assert list(run_watch.follow_up_commands(view(parts, ended="finished_early"))) == []
    assert list(run_watch.follow_up_commands(view(parts, ended="no_evidence"))) != []


@given(st.text(max_size=250))
def test_a_question_is_one_word_for_the_shell_and_never_an_option(text: str):
    for command in run_watch.follow_up_commands(view([part(1, text)])):
        words = shlex.split(command)
        assert words[:2] == ["assay", "research"]
        assert words[3:] == ["--web"]
        assert words[2]
        assert not words[2].startswith("-")
        assert "\x1b" not in command
        assert "\n" not in command


def on_a_terminal(home: Path, *more: str) -> str:
    """What `assay` writes to a terminal behind its stderr."""
    ours, theirs = pty.openpty()
    words = [QUESTION, "--in", "harbor.md", "--home", str(home), "--yes", *more]
    process = warm.start(*words, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    output = b""
    try:
        while more_said := os.read(ours, 65536):
            output += more_said
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    process.wait()
    return output.decode().replace("\r\n", "\n")


def test_a_terminal_is_told_and_a_pipe_or_quiet_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "harbor.md").write_text("# Harbor report\n\nThe Harbor report was written by Ada Byron in 1843.\n")
    monkeypatch.chdir(tmp_path)
    (command,) = suggested(on_a_terminal(tmp_path / "home"))
    words = shlex.split(command)[1:]
    assert words == ["research", "what did the lighthouse cost?", "--web"]
    assert "to ask next" not in on_a_terminal(tmp_path / "home", "-q")
    piped = warm.run(QUESTION, "--in", "harbor.md", "--home", str(tmp_path / "home"), "--yes")
    assert "Ada Byron" in piped.stdout
    assert "to ask next" not in piped.stderr
