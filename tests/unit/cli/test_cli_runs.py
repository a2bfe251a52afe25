"""Commands over real runs: the built-in model, real documents, a home on disk."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import jsonschema_rs
import pytest
import warm
from shells import Command, apart, prepared, spoken

from assay import Assay

QUESTION = "Who wrote the Harbor report?"
NOTES = {
    "harbor.md": "# Harbor report\n\nAuthor: Ada Byron\n\nThe Harbor report was written by Ada Byron in 1843. "
    "It describes the harbor of Sandmouth.\n",
    "bridge.md": "# Bridge report\n\nThe bridge at Sandmouth was opened in 1851. It is 120 metres long.\n",
}


def noted(folder: Path) -> Path:
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text)
    return folder / "notes"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return noted(tmp_path)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    return tmp_path / "home"


@pytest.fixture(scope="module")
def researched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home in which the question was asked, and the report."""
    folder = tmp_path_factory.mktemp("researched")
    (report,) = prepared(folder, [QUESTION, "--in", noted(folder)])
    return folder / "home", report


@pytest.fixture
def report(researched: tuple[Path, str], home: Path) -> str:
    """Of the one run in a copy of that home."""
    shutil.copytree(researched[0], home)
    return researched[1]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    prepared(folder, ["docs", "add", noted(folder)])
    return folder / "home"


@pytest.fixture
def added(library: Path, home: Path) -> None:
    """The notes are in the library."""
    shutil.copytree(library, home)


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str]) -> Command:
    return spoken(capsys)


def test_the_report_is_on_stdout_and_the_milestones_on_stderr(assay, notes: Path):
    done = assay(QUESTION, "--in", notes)
    assert done.returncode == 0, done.stderr
    assert "Ada Byron" in done.stdout
    assert "[1]" in done.stdout
    milestones = [
        "searching",
        "plan:",
        "agent 1 started",
        "agent 1 reported",
        "writing the report",
        "checked",
        "completed",
    ]
    places = [done.stderr.find(milestone) for milestone in milestones]
    assert -1 not in places, done.stderr
    assert places == sorted(places)


def test_with_the_word_research_and_quiet(assay, notes: Path):
    done = assay("research", "-q", QUESTION, "--in", notes / "harbor.md", notes / "bridge.md")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Ada Byron" in done.stdout


def test_verbose_says_more(assay, notes: Path):
    done = assay(QUESTION, "-v", "--in", notes)
    assert "  searched" in done.stderr
    assert "  model extractive" in done.stderr


def test_json_follows_its_schema(assay, notes: Path):
    done = assay(QUESTION, "--in", notes, "--json")
    report = json.loads(done.stdout)
    schema = json.loads((files("assay.export") / "schemas" / "assay.report-1.json").read_text())
    jsonschema_rs.validate(schema, report)
    assert report["question"] == QUESTION
    assert report["claims"]


def test_events_are_lines_of_json_without_a_gap(assay, notes: Path):
    done = assay(QUESTION, "--in", notes, "--events")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["type"] == "run.created"
    assert events[-1]["type"] == "run.completed"


def test_files_take_the_report(assay, notes: Path, tmp_path: Path):
    markdown, data = tmp_path / "a.md", tmp_path / "a.json"
    done = assay(QUESTION, "--in", notes, "-o", markdown, "-o", data)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Ada Byron" in markdown.read_text()
    assert json.loads(data.read_text())["schema"] == "assay.report/1"


def test_citation_modes(assay, notes: Path):
    assert "[S" in assay(QUESTION, "--in", notes, "--citations", "markers").stdout
    plain = assay(QUESTION, "--in", notes, "--citations", "none").stdout
    assert "[1]" not in plain.partition("## Sources")[0]


def test_without_verification_claims_stay_unchecked(assay, notes: Path):
    claims = json.loads(assay(QUESTION, "--in", notes, "--no-verify", "--json").stdout)["claims"]
    assert {(claim["verdict"], claim["reason"]) for claim in claims} == {("unchecked", "off")}


def test_repair_can_be_left_out(assay, notes: Path):
    done = assay(QUESTION, "--in", notes, "--no-repair", "--events")
    created = next(json.loads(line) for line in done.stdout.splitlines() if '"run.created"' in line)
    assert created["data"]["brief"]["repair"] is False


def test_no_evidence_exits_with_6_and_cites_nothing(assay, notes: Path):
    done = assay("What is the boiling point of tungsten?", "--in", notes)
    assert done.returncode == 6, done.stderr
    assert "[1]" not in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--in", "no/such/file.md"], "no/such/file.md"),
        (["--strategy", "foo"], "no strategy named 'foo'"),
        (["--max-tokens", "10"], "tokens"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_spent(assay, notes: Path, options: list[str], message: str):
    sources = [] if "--in" in options else ["--in", notes]
    done = assay(QUESTION, *sources, *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert assay("runs", "list").stdout == ""


def test_the_library_is_searched_without_in(assay, notes: Path):
    added = assay("docs", "add", notes)
    assert "2 documents from 2 files, 2 of them new" in added.stderr
    assert "2 documents from 2 files, 0 of them new" in assay("docs", "add", notes).stderr
    done = assay(QUESTION)
    assert "the default collection (2 documents)" in done.stderr
    assert "Ada Byron" in done.stdout


@pytest.mark.usefixtures("added")
def test_docs_list_and_search(assay):
    assert [row.split("\t")[1] for row in assay("docs", "list").stdout.splitlines()] == [
        "Bridge report",
        "Harbor report",
    ]
    listed = json.loads(assay("docs", "list", "--json").stdout)
    found = json.loads(assay("docs", "search", "who opened the bridge", "--json", "-k", "1").stdout)
    assert found["hits"][0]["title"] == "Bridge report"
    assert found["hits"][0]["document"] in {document["sha256"] for document in listed}
    assert "1851" in assay("docs", "search", "bridge opened").stdout


@pytest.mark.usefixtures("added")
def test_docs_search_in_a_batch(assay, tmp_path: Path):
    batch = tmp_path / "queries.jsonl"
    batch.write_text('{"id": "a", "query": "Harbor author"}\n\n{"id": 2, "query": "length of the bridge"}\n')
    answers = [json.loads(line) for line in assay("docs", "search", "--batch", batch, "-k", "1").stdout.splitlines()]
    assert [answer["id"] for answer in answers] == ["a", 2]
    assert [answer["hits"][0]["title"] for answer in answers] == ["Harbor report", "Bridge report"]
    assert set(answers[0]["hits"][0]) == {"document", "url", "title", "score"}
    batch.write_text('{"id": 1}\n')
    done = assay("docs", "search", "--batch", batch)
    assert done.returncode == 2
    assert "line 1 is no row {id, query}" in done.stderr


def test_an_empty_library_says_how_to_fill_it(assay):
    done = assay(QUESTION)
    assert done.returncode == 1
    assert "failed: nothing was searched" in done.stderr
    assert "assay docs add PATH" in done.stderr
    assert "--in PATH" in done.stderr
    assert "assay docs add PATH" in assay("docs", "list").stderr


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("command", [["list"], ["search", "bridge"], ["search", "--batch", "-"]])
def test_an_unknown_collection_is_an_error(assay, command: list[str]):
    done = assay("docs", *command, "--collection", "nope")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no collection named 'nope'" in done.stderr


def test_runs_are_listed_shown_and_exported(assay, report: str, tmp_path: Path):
    (row,) = assay("runs", "list").stdout.splitlines()
    run_id = row.split("\t")[0]
    assert row.split("\t")[2:] == ["completed", QUESTION]
    assert json.loads(assay("runs", "list", "--json").stdout)[0]["run_id"] == run_id
    shown = assay("runs", "show", run_id[:5]).stdout
    assert all(part in shown for part in (run_id, QUESTION, "plan:", "agent 1 (finished)", "supported"))
    assert json.loads(assay("runs", "show", "last", "--json").stdout)["run_id"] == run_id
    target = tmp_path / "again.md"
    assert assay("runs", "export", "last", "-o", target).returncode == 0
    assert target.read_text().startswith(report.partition("\n[1]: ")[0])
    assert "## What the verdicts mean" in target.read_text()
    assert "What the verdicts mean" not in report
    assert assay("runs", "resume", "last", "-q").stdout == report


@pytest.mark.usefixtures("report")
def test_cite_shows_the_passage_in_its_document(assay):
    done = assay("cite", "last", "1")
    assert done.stdout.startswith("[1] Harbor report")
    assert "»" in done.stdout
    assert "Ada Byron" in done.stdout
    assert "snapshot" in done.stdout
    assert "supported" in done.stdout
    (first, *_) = json.loads(assay("cite", "last", "1", "--json").stdout)
    assert first["passage"]["text"] in NOTES["harbor.md"]
    unknown = assay("cite", "last", "99")
    assert unknown.returncode == 2
    assert "no citation named '99'" in unknown.stderr


async def interrupt(home: Path, notes: Path) -> str:
    """A run which is left after its plan."""
    async with Assay(home=home) as assay:
        run = assay.start(QUESTION, sources=[notes])
        async for event in run:
            if event.type == "plan.approved":
                return run.run_id
    raise AssertionError("the run ended before it was left")


@pytest.fixture
def interrupted(home: Path, notes: Path) -> str:
    import asyncio

    return asyncio.run(interrupt(home, notes))


def test_an_interrupted_question_says_how_to_go_on(assay, interrupted: str, notes: Path):
    assert assay("runs", "list").stdout.split("\t")[2] == "interrupted"
    done = assay(QUESTION, "--in", notes)
    assert done.returncode == 0
    assert f"assay runs resume {interrupted}" in done.stderr
    assert len(assay("runs", "list").stdout.splitlines()) == 2


def test_a_run_whose_process_is_gone_is_interrupted_before_its_lease_ends(assay, interrupted: str, home: Path):
    code = "from assay.run.process import this_process; print(this_process())"
    gone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    with closing(sqlite3.connect(home / "assay.db")) as database, database:
        database.execute("UPDATE runs SET holder = ?, lease_until = ?", (gone, time.time() + 10))
    assert assay("runs", "list").stdout.split("\t")[2] == "interrupted"
    assert [row["holder"] for row in json.loads(assay("runs", "list", "--json").stdout)] == [""]


def test_an_interrupted_run_is_resumed(assay, interrupted: str):
    done = assay("runs", "resume", interrupted, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["run_id"] == interrupted
    assert json.loads(done.stdout)["status"] == "completed"


class Slow:
    """A process in which the models of a role take a minute to answer; it has come as far as `phase`."""

    def __init__(self, process: warm.Started, phase: str) -> None:
        self.process = process
        self._until(f"phase {phase}")

    def press_ctrl_c(self, until: str) -> None:
        self.tell(signal.SIGINT, until)

    def tell(self, number: signal.Signals, until: str) -> None:
        self.process.send_signal(number)
        self._until(until)

    def _until(self, text: str) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if text.encode() in line:
                return
        raise AssertionError(f"it ended and never said {text!r}")

    def end(self) -> tuple[int, str]:
        out, _ = self.process.communicate(timeout=300)
        return self.process.wait(), out.decode()


@pytest.fixture
def slow(tmp_path: Path, notes: Path) -> Iterator[Callable[..., Slow]]:
    script = tmp_path / "slow.json"
    script.write_text(json.dumps([{"reply": {"text": "late"}, "delay_ms": 60_000}]))
    started: list[warm.Started] = []

    def start(role: str, phase: str) -> Slow:
        line = [QUESTION, "--in", notes, "-v", "--mode", "deep_research"]
        models = {f"ASSAY_MODELS_{role.upper()}": f"scripted:{script}"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(warm.start(*line, env=os.environ | models, **pipes))
        return Slow(started[-1], phase)

    yield start
    for process in started:
        process.kill()
        process.communicate()


needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="no Ctrl-C between processes there")


@needs_signals
def test_ctrl_c_once_finishes_with_a_report(slow: Callable[..., Slow]):
    run = slow("analytical", "plan")
    run.press_ctrl_c(until="finishing")
    code, out = run.end()
    assert code in (5, 6)
    assert out


@needs_signals
def test_ctrl_c_twice_cancels_without_waiting_for_the_model(slow: Callable[..., Slow], assay):
    run = slow("complex", "write")
    run.press_ctrl_c(until="finishing")
    run.press_ctrl_c(until="cancelling")
    code, out = run.end()
    assert (code, out) == (130, "")
    assert assay("runs", "list").stdout.split("\t")[2] == "cancelled"


@needs_signals
def test_sigterm_leaves_a_run_which_can_be_resumed(slow: Callable[..., Slow], assay):
    run = slow("complex", "write")
    run.tell(signal.SIGTERM, until="interrupted; to continue: assay runs resume")
    assert run.end() == (143, "")
    assert assay("runs", "list").stdout.split("\t")[2] == "interrupted"


def test_a_run_that_found_no_answer_says_so_in_the_list(assay: Command, notes: Path) -> None:
    assert assay("What do penguins in Norway eat?", "--in", notes).returncode == 6
    assert assay(QUESTION, "--in", notes).returncode == 0
    lines = assay("runs", "list").stdout.splitlines()
    assert [line.split("\t")[2] for line in lines] == ["completed", "completed: no answer found"]
    rows = json.loads(assay("runs", "list", "--json").stdout)
    assert {row["status"] for row in rows} == {"completed"}
    assert [row["stop_reason"] for row in rows] == ["done", "no_evidence"]
    found = json.loads(assay("runs", "list", "--search", "penguins", "--json").stdout)
    assert [row["stop_reason"] for row in found] == ["no_evidence"]
