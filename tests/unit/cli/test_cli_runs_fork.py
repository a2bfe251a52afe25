"""`assay runs fork`, over real runs of the built-in model."""

from __future__ import annotations

import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from shells import Command, apart, prepared, spoken

QUESTION = "Who wrote the Harbor report, and when was the bridge at Sandmouth opened?"
NOTES = {
    "harbor.md": "# Harbor report\n\nThe Harbor report was written by Ada Byron in 1843.\n",
    "bridge.md": "# Bridge report\n\nThe bridge at Sandmouth was opened in 1851. It is 120 metres long.\n",
}


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str]) -> Command:
    return spoken(capsys)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    return tmp_path / "home"


@pytest.fixture(scope="module")
def researched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home with one run, and its id."""
    folder = tmp_path_factory.mktemp("researched")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text)
    (report,) = prepared(folder, [QUESTION, "--in", folder / "notes", "--offline", "--json", "-q"])
    return folder / "home", str(json.loads(report)["run_id"])


@pytest.fixture
def run_id(researched: tuple[Path, str], home: Path) -> str:
    shutil.copytree(researched[0], home)
    return researched[1]


def test_a_fork_without_a_source_is_another_run_with_another_report(assay: Command, run_id: str) -> None:
    done = assay("runs", "fork", run_id, "--from", "write", "--exclude", "bridge.md", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["forked_from"] == run_id != report["run_id"]
    assert "Ada Byron" in report["markdown"]
    assert "in 1851" not in report["markdown"]
    assert f"run {report['run_id']}, forked from write" in done.stderr
    diff = assay("runs", "diff", run_id, "last")
    assert "claims dropped:" in diff.stdout
    assert "Bridge report" in diff.stdout
    assert assay("runs", "replay", "last").returncode == 0
    shown = assay("runs", "show", "last").stdout
    assert f"forked from run {run_id} at write" in shown


def test_a_plan_in_a_file_is_followed(assay: Command, run_id: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    plan.write_text("title: The bridge\n1. When the bridge at Sandmouth was opened\n")
    done = assay("runs", "fork", run_id, "--from", "plan", "--plan", plan, "--json", "-q")
    assert done.returncode == 0
    assert [step["title"] for step in json.loads(done.stdout)["plan"]["steps"]] == [
        "When the bridge at Sandmouth was opened"
    ]


def test_documents_are_added(assay: Command, run_id: str, tmp_path: Path) -> None:
    tower = tmp_path / "tower.md"
    tower.write_text("# Tower\n\nThe bridge at Sandmouth was opened again in 1907.\n")
    done = assay("runs", "fork", run_id, "--from", "research", "--add", tower, "--json", "-q")
    assert done.returncode == 0
    assert "Tower" in {source["title"] for source in json.loads(done.stdout)["sources"]}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--from", "write", "--exclude", "Storms"], "no source named 'Storms'"),
        (["--from", "write", "--add", "."], "a fork from write does no research"),
        (["--from", "write", "--depth", "light"], "--depth does not change a report"),
        (["--from", "verify"], "'verify' is not one of"),
        ([], "Missing option '--from'"),
        (["--from", "write", "--detach", "--events"], "--detach and --events exclude each other"),
    ],
)
def test_what_cannot_be_done_is_said(assay: Command, run_id: str, args: list[str], message: str) -> None:
    done = assay("runs", "fork", run_id, *args)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(assay("runs", "list").stdout.splitlines()) == 1


def test_help_shows_how(assay: Command) -> None:
    done = assay("runs", "fork", "--help")
    assert "assay runs fork last --from write --exclude 3" in done.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_the_end_of_a_fork_is_told_and_its_plan_may_come_by_a_pipe(assay: Command, run_id: str, tmp_path: Path) -> None:
    script = tmp_path / "told.py"
    script.write_text(
        "import pathlib, sys\npathlib.Path(__file__).with_name('told.json').write_text(sys.stdin.read())\n"
    )
    pipe = tmp_path / "plan"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        written = pool.submit(pipe.write_text, "1. When was the bridge at Sandmouth opened\n")
        text = f"{sys.executable} {script}"
        done = assay("runs", "fork", run_id, "--from", "plan", "--plan", pipe, "--notify", text, "--json")
        written.result(30)
    assert done.returncode == 0
    assert [step["title"] for step in json.loads(done.stdout)["plan"]["steps"]] == [
        "When was the bridge at Sandmouth opened"
    ]
    assert json.loads((tmp_path / "told.json").read_text())["event"] == "ended"
