"""Threads from the shell, with the built-in model: going on, asking, and what is left when the first run is deleted."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.cli.main import main

HARBOR = """# Harbor report

The Harbor report was written by Ada Byron in 1843. It describes the harbor of Sandmouth.

The north pier of the harbor was built in 1790.
"""
BRIDGE = "# Bridge report\n\nThe bridge at Sandmouth was opened in 1851. Its engineer was John Moss.\n"


class Said(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def assay(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in [name for name in os.environ if name.startswith("ASSAY_") and name != "ASSAY_SEARCH_WEB"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))

    def run(*args: object) -> Said:
        capsys.readouterr()
        code = main([str(arg) for arg in args])
        return Said(code, *capsys.readouterr())

    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "harbor.md").write_text(HARBOR)
    (tmp_path / "notes" / "bridge.md").write_text(BRIDGE)
    first = run("Who wrote the Harbor report?", "--in", tmp_path / "notes", "--thread", "harbor")
    assert first.code == 0, first.err
    return run


def last(assay: Run) -> dict[str, object]:
    view: dict[str, object] = json.loads(assay("runs", "show", "last", "--json").out)
    return view


def test_a_run_goes_on_and_says_from_where(assay: Run) -> None:
    first = last(assay)["run_id"]
    said = assay("When was it written?", "--continue", "last")
    assert said.code == 0, said.err
    assert "1843" in said.out
    assert "The question was read as “When was it written (harbor report)?”" in said.out
    assert f"going on from run {first}: " in said.err
    assert f"thread harbor, goes on from run {first}" in assay("runs", "show", "last").out
    rows = json.loads(assay("runs", "list", "--json").out)
    assert [row["thread"] for row in rows] == ["harbor", "harbor"]


def test_a_question_about_a_run_is_answered_and_cited(assay: Run) -> None:
    said = assay("ask", "last", "When was the north pier of the harbor built?")
    assert said.code == 0, said.err
    assert "The north pier of the harbor was built in 1790. [1]" in said.out
    cited = assay("cite", "last", 1)
    assert "supported" in cited.out
    data = json.loads(assay("ask", "last", "-q", "Who wrote the Harbor report?", "--json").out)
    assert (data["mode"], data["stop_reason"], data["verified"]) == ("simple", "done", True)
    assert data["usage"]["searches"] == data["usage"]["pages"] == 0


def test_what_a_run_has_not_read_exits_with_6(assay: Run) -> None:
    said = assay("ask", "last", "What is the boiling point of tungsten?")
    assert said.code == 6
    assert "[1]" not in said.out


def test_going_on_without_evidence_does_not_ask_for_documents(assay: Run) -> None:
    said = assay("What is the boiling point of tungsten?", "--continue", "last")
    assert (said.code, "the library is empty" in said.err) == (6, False)
    assert "harbor" not in said.out.lower()  # what the earlier run searched for is not what this one did
    assert "cites nothing" in assay("cite", "last", 1).err


def test_everything_works_when_the_first_run_is_deleted(assay: Run, tmp_path: Path) -> None:
    first = last(assay)["run_id"]
    assert assay("ask", "last", "When was the north pier of the harbor built?").code == 0
    second = last(assay)["run_id"]
    assert assay("runs", "rm", first, "--yes").code == 0
    bundle = tmp_path / "answer.zip"
    assert assay("runs", "export", second, "-o", bundle).code == 0
    checked = assay("verify", bundle, "--json")
    assert checked.code == 0, checked.out
    assert json.loads(checked.out)["whole"]
    assert "1790" in assay("cite", second, 1).out
    assert assay("runs", "resume", second).code == 0
    assert assay("ask", second, "Who wrote the Harbor report?").code == 0


def test_after_a_question_on_its_evidence_research_goes_on_in_the_documents(assay: Run) -> None:
    assert assay("ask", "last", "When was the Harbor report written?").code == 0
    assert assay("ask", "last", "Who wrote it?").code == 0
    said = assay("When was the bridge at Sandmouth opened?", "--continue", "last")
    assert said.code == 0, said.err
    assert "1851" in said.out
    scope = last(assay)["brief"]["scope"]  # type: ignore[index]
    assert "2 documents" in scope["label"]


def test_after_the_first_run_is_deleted_its_evidence_is_all_there_is(assay: Run) -> None:
    first = str(last(assay)["run_id"])
    assert assay("ask", "last", "When was the Harbor report written?").code == 0
    assert assay("runs", "rm", first, "--yes").code == 0
    said = assay("When was the bridge at Sandmouth opened?", "--continue", "last")
    assert said.code in (0, 6), said.err
    assert "evidence of run" in last(assay)["brief"]["scope"]["label"]  # type: ignore[index]


def test_what_cannot_be_continued_is_named(assay: Run) -> None:
    said = assay("Why?", "--continue", "nope")
    assert (said.code, "no run named 'nope'" in said.err) == (2, True)
    assert assay("ask", "nope", "Why?").code == 2
    assert assay("Why?", "--thread", "x" * 201).code == 2
    assert "QUESTION" in assay("ask", "last").err
