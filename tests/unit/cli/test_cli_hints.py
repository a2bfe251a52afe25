"""What a command says where there is nothing yet, or where another one is meant."""

import json
import sys
from pathlib import Path

import pytest

from assay.cli import library
from assay.cli.main import main
from assay.core.claims import Summary
from assay.core.events import VerifySummary
from assay.core.milestones import milestone_line
from assay.evidence.ingest import ReadingMonitor


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CI", "1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
    return tmp_path / "home"


def test_empty_lists_say_what_makes_the_first(capsys, home: Path):
    for command, hint in ((("runs", "list"), "assay QUESTION --in PATH"), (("schedule", "list"), "schedule add")):
        assert main(command) == 0
        printed = capsys.readouterr()
        assert printed.out == ""
        assert hint in printed.err
    assert not home.exists()


def test_where_documents_are_is_said_where_there_are_none(capsys):
    assert main(["docs", "add", "tides.md", "-c", "sea", "-q"]) == 0
    capsys.readouterr()
    for command, code, named_by in (
        (["docs", "list"], 0, "-c NAME"),
        (["docs", "search", "tide"], 0, "-c NAME"),
        (["How high does the tide rise?", "--offline"], 1, "--in @NAME"),
    ):
        assert main(command) == code
        errors = capsys.readouterr().err
        assert f"the collection default has no documents; others have some: sea (`{named_by}`)" in errors
        assert "the library is empty" not in errors


@pytest.mark.parametrize(
    "command", [["claims", "last"], ["runs", "prune", "--older-than", "1d"], ["runs", "show", "x"]]
)
def test_without_a_library_both_ways_to_one_are_named(command: list[str], capsys):
    assert main(command) == 2
    errors = capsys.readouterr().err
    assert "assay docs add PATH" in errors
    assert "assay QUESTION --in PATH" in errors


@pytest.mark.parametrize("command", ["plan", "batch", "agent", "research"])
def test_collections_are_named_among_what_a_run_may_be_limited_to(command: str, capsys):
    assert main([command, "--help"]) == 0
    assert "@NAME" in capsys.readouterr().out


def test_a_schedule_for_what_is_not_there_is_refused(capsys, home: Path):
    assert main(["schedule", "add", "How high?", "--every", "1d", "--in", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert main(["schedule", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["schedule", "add", "How high?", "--every", "1d", "--in", "tides.md", "@sea"]) == 0


def test_a_batch_over_what_is_not_there_is_refused_before_anything_is_begun(capsys, tmp_path: Path, home: Path):
    (tmp_path / "questions.txt").write_text("How high does the tide rise?\n")
    assert main(["batch", "questions.txt", "-o", "out", "--in", "tides.md", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert not home.exists()


def test_a_page_is_read_by_another_command(capsys):
    assert main(["extract", "https://example.org/tides"]) == 2
    assert "assay fetch https://example.org/tides" in capsys.readouterr().err


def test_csv_is_a_form_of_the_searches(capsys):
    assert main(["runs", "show", "last", "--csv"]) == 2
    assert "--search-log" in capsys.readouterr().err


def test_who_gives_a_run_to_verify_is_told_how(capsys):
    assert main(["verify", "last"]) == 2
    assert "assay verify last --again" in capsys.readouterr().err
    assert main(["verify", "lost.zip"]) == 2
    assert "lost.zip cannot be read" in capsys.readouterr().err


def test_no_claims_are_no_claims_checked():
    assert milestone_line(VerifySummary(summary=Summary(claims=0), passed=True)) == "there are no claims to check"
    assert milestone_line(VerifySummary(summary=Summary(claims=1, supported=1), passed=True)).startswith(
        "checked 1 claim:"
    )


def test_an_agent_is_left_to_a_process_of_its_own(capsys, monkeypatch: pytest.MonkeyPatch):
    assert main(["agent", "How high does the tide rise?", "--in", "tides.md", "--offline", "--detach", "-q"]) == 0
    run_id = capsys.readouterr().out.strip()
    assert main(["runs", "watch", run_id, "-q"]) in (0, 6)
    capsys.readouterr()
    assert main(["runs", "show", run_id, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["brief"]["mode"] == "agent"


def test_quiet_is_quiet_where_a_run_is_cancelled(capsys):
    assert main(["plan", "How high does the tide rise?", "--in", "tides.md", "--offline", "-q"]) == 0
    capsys.readouterr()
    assert main(["runs", "cancel", "last", "-q"]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_a_folder_which_is_long_to_read_may_be_kept(capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my notes").mkdir()
    for name in "abc":
        (tmp_path / "my notes" / f"{name}.md").write_text(f"# {name}\n\nThe tide at {name} rises seven metres.\n")
    (tmp_path / "text.md").write_text("The tide at a rises seven metres.\n")
    monkeypatch.setattr(ReadingMonitor, "SECONDS", 0.0)
    monkeypatch.setattr(library, "MANY", 2)
    monkeypatch.setattr(library, "LONG", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    hint = "to keep it as a collection: assay docs add 'my notes' -c NAME, then --in @NAME"
    for command in (["verify", "text.md"], ["How far does the tide rise at a?", "--offline"]):
        assert main([*command, "--in", "my notes", "-q"]) == 0
        assert hint not in capsys.readouterr().err
    assert main(["verify", "text.md", "--in", "my notes"]) == 0
    assert hint in capsys.readouterr().err
    assert main(["How far does the tide rise at a?", "--offline", "--in", "my notes"]) == 0
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "seconds", "place", "on_screen", "told"),
    [
        (201, 6.0, ".", True, True),
        (200, 6.0, ".", True, False),
        (201, 5.0, ".", True, False),
        (201, 6.0, "tides.md", True, False),
        (201, 6.0, ".", False, False),
    ],
)
def test_what_is_long_to_read(capsys, monkeypatch, files: int, seconds: float, place: str, on_screen: bool, told: bool):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: on_screen)
    times, shown = iter((10.0, 10.0 + seconds)), list[str]()
    reading = library.ReadingTime(shown.append, lambda: next(times))
    lines = [f"reading: file 150 of {files}, 149 documents so far", "indexed 149 documents"]
    for line in lines:
        reading(line)
    reading.suggest_collection(["@kept", place])
    assert shown == lines
    assert ("assay docs add" in capsys.readouterr().err) == told
