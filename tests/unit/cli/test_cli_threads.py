"""Threads from the shell, with the built-in model: going on, asking, and what is left when the first run is deleted."""

import json
from pathlib import Path

import pytest
from shells import Command, apart, spoken

HARBOR = """# Harbor report

The Harbor report was written by Ada Byron in 1843. It describes the harbor of Sandmouth.

The north pier of the harbor was built in 1790.
"""
BRIDGE = "# Bridge report\n\nThe bridge at Sandmouth was opened in 1851. Its engineer was John Moss.\n"


@pytest.fixture
def assay(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    apart(tmp_path, monkeypatch)
    run = spoken(capsys)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "harbor.md").write_text(HARBOR)
    (tmp_path / "notes" / "bridge.md").write_text(BRIDGE)
    first = run("Who wrote the Harbor report?", "--in", tmp_path / "notes", "--thread", "harbor")
    assert first.returncode == 0, first.stderr
    return run


def last(assay: Command) -> dict[str, object]:
    view: dict[str, object] = json.loads(assay("runs", "show", "last", "--json").stdout)
    return view


def test_a_run_goes_on_and_says_from_where(assay: Command) -> None:
    first = last(assay)["run_id"]
    said = assay("When was it written?", "--continue", "last")
    assert said.returncode == 0, said.stderr
    assert "1843" in said.stdout
    assert "The question was read as “When was it written (harbor report)?”" in said.stdout
    assert f"going on from run {first}: " in said.stderr
    assert f"thread harbor, goes on from run {first}" in assay("runs", "show", "last").stdout
    rows = json.loads(assay("runs", "list", "--json").stdout)
    assert [row["thread"] for row in rows] == ["harbor", "harbor"]


def test_a_question_about_a_run_is_answered_and_cited(assay: Command) -> None:
    said = assay("ask", "last", "When was the north pier of the harbor built?")
    assert said.returncode == 0, said.stderr
    assert "The north pier of the harbor was built in 1790. [1]" in said.stdout
    cited = assay("cite", "last", 1)
    assert "quoted" in cited.stdout
    data = json.loads(assay("ask", "last", "-q", "Who wrote the Harbor report?", "--json").stdout)
    assert (data["mode"], data["stop_reason"], data["verified"]) == ("simple", "done", True)
    assert data["usage"]["searches"] == data["usage"]["pages"] == 0


def test_what_a_run_has_not_read_exits_with_6(assay: Command) -> None:
    said = assay("ask", "last", "What is the boiling point of tungsten?")
    assert said.returncode == 6
    assert "[1]" not in said.stdout


def test_going_on_without_evidence_does_not_ask_for_documents(assay: Command) -> None:
    said = assay("What is the boiling point of tungsten?", "--continue", "last")
    assert (said.returncode, "the library is empty" in said.stderr) == (6, False)
    assert "harbor" not in said.stdout.lower()  # what the earlier run searched for is not what this one did
    assert "cites nothing" in assay("cite", "last", 1).stderr


def test_everything_works_when_the_first_run_is_deleted(assay: Command, tmp_path: Path) -> None:
    first = last(assay)["run_id"]
    assert assay("ask", "last", "When was the north pier of the harbor built?").returncode == 0
    second = last(assay)["run_id"]
    assert assay("runs", "rm", first, "--yes").returncode == 0
    bundle = tmp_path / "answer.zip"
    assert assay("runs", "export", second, "-o", bundle).returncode == 0
    checked = assay("verify", bundle, "--json")
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)["whole"]
    assert "1790" in assay("cite", second, 1).stdout
    assert assay("runs", "resume", second).returncode == 0
    assert assay("ask", second, "Who wrote the Harbor report?").returncode == 0


def test_after_a_question_on_its_evidence_research_goes_on_in_the_documents(assay: Command) -> None:
    assert assay("ask", "last", "When was the Harbor report written?").returncode == 0
    assert assay("ask", "last", "Who wrote it?").returncode == 0
    said = assay("When was the bridge at Sandmouth opened?", "--continue", "last")
    assert said.returncode == 0, said.stderr
    assert "1851" in said.stdout
    scope = last(assay)["brief"]["scope"]  # type: ignore[index]
    assert "2 documents" in scope["label"]


def test_after_the_first_run_is_deleted_its_evidence_is_all_there_is(assay: Command) -> None:
    first = str(last(assay)["run_id"])
    assert assay("ask", "last", "When was the Harbor report written?").returncode == 0
    assert assay("runs", "rm", first, "--yes").returncode == 0
    said = assay("When was the bridge at Sandmouth opened?", "--continue", "last")
    assert said.returncode in (0, 6), said.stderr
    assert "evidence of run" in last(assay)["brief"]["scope"]["label"]  # type: ignore[index]


def test_what_cannot_be_continued_is_named(assay: Command) -> None:
    said = assay("Why?", "--continue", "nope")
    assert (said.returncode, "no run named 'nope'" in said.stderr) == (2, True)
    assert assay("ask", "nope", "Why?").returncode == 2
    assert assay("Why?", "--thread", "x" * 201).returncode == 2
    assert "QUESTION" in assay("ask", "last").stderr
