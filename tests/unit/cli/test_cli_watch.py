import stat
import sys
from pathlib import Path

import click
import pytest
from records import Holding

from assay.cli import destinations
from assay.cli.run_watch import Output, exit_code, stdout_for
from assay.cli.run_watch import deliver_result as concluded
from assay.cli.terminal import Exit
from assay.core.claims import Claim
from assay.core.errors import StoreError
from assay.core.sources import Passage
from assay.core.view import Clarification, RunView
from assay.core.view.model import Writing

WRITTEN = Writing(text="It is so.", state="finished")


def view(**fields: object) -> RunView:
    return RunView(
        **{"run_id": "r1", "status": "completed", "stop_reason": "done", "verified": True, "passed": True} | fields
    )


async def conclude(view: RunView, output: Output) -> Exit:
    return await concluded(Holding(view), view, output)


@pytest.mark.parametrize(
    ("ended", "strict", "code"),
    [
        (view(), True, 0),
        (view(passed=False), False, 0),
        (view(passed=False), True, 3),
        (view(stop_reason="tokens"), False, 5),
        (view(stop_reason="finished_early"), False, 5),
        (view(stop_reason="time", passed=False), True, 3),
        (view(stop_reason="no_evidence", passed=False), True, 6),
        (view(status="failed", stop_reason="bug"), False, 1),
        (view(status="cancelled", stop_reason="cancelled"), True, 130),
        (view(status="running", stop_reason=""), False, 1),
    ],
)
def test_exit_codes(ended: RunView, strict: bool, code: int):
    assert exit_code(ended, strict=strict) == code


async def test_a_run_which_waits_prints_its_questions(capsys: pytest.CaptureFixture[str]):
    waiting = view(status="waiting", waiting_for="answers", clarification=Clarification(questions=("Which?",)))
    assert await conclude(waiting, Output()) == Exit.INPUT_NEEDED
    assert capsys.readouterr().out == '{"run":"r1","questions":["Which?"]}\n'


async def test_the_report_is_on_stdout_and_the_rest_on_stderr(capsys: pytest.CaptureFixture[str]):
    assert await conclude(view(report=WRITTEN), Output()) == 0
    captured = capsys.readouterr()
    assert "It is so." in captured.out
    assert "run r1" in captured.err
    assert "run r1" not in captured.out


async def test_quiet_says_nothing_of_success(capsys: pytest.CaptureFixture[str]):
    await conclude(view(report=WRITTEN), Output(verbosity=-1))
    assert capsys.readouterr().err == ""


async def test_a_file_takes_the_reports_place_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    target = tmp_path / "report.md"
    await conclude(view(report=WRITTEN), Output(files=(target,)))
    assert "It is so." in target.read_text()
    assert capsys.readouterr().out == ""


async def test_a_report_that_cannot_be_saved_is_not_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(StoreError, match="cannot be written"):
        await conclude(view(report=WRITTEN), Output(files=(tmp_path / "gone" / "report.md",)))
    assert "It is so." in capsys.readouterr().out


async def test_a_failed_run_says_why(capsys: pytest.CaptureFixture[str]):
    assert await conclude(view(status="failed", stop_reason="failed", error="no model"), Output()) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[0] == "failed: no model"
    assert captured.err.splitlines()[-1] == "run r1: assay runs show r1"


async def test_a_passage_two_agents_met_counts_once(capsys: pytest.CaptureFixture[str]):
    spans = {"S1.1": ("d1", 0), "S1001.1": ("d1", 0), "S1.2": ("d1", 9), "S2.1": ("d2", 0), "S2.2": ("d2", 9)}
    passages = {
        id: Passage(id=id, source=id.partition(".")[0], document_sha256=of, start=start, end=9, text="", text_sha256="")
        for id, (of, start) in spans.items()
    }
    claim = Claim(id="c1", text="So.", start=0, end=3, passages=("S1.1", "S1001.1", "S1.2", "S2.1"))
    await conclude(view(report=WRITTEN, passages=passages, claims=(claim,)), Output())
    assert "completed: 3 passages of 2 sources cited." in capsys.readouterr().err
    await conclude(view(report=WRITTEN), Output())
    assert "completed: nothing cited." in capsys.readouterr().err


def test_only_one_thing_goes_to_stdout():
    assert stdout_for(as_json=False, as_events=True) == "events"
    with pytest.raises(click.UsageError):
        stdout_for(as_json=True, as_events=True)


def test_where_a_report_cannot_go_is_known_beforehand(tmp_path: Path):
    folder = tmp_path / "folder.md"
    folder.mkdir()
    for path, message in [
        (tmp_path / "gone" / "a.md", "does not exist"),
        (folder, "is a folder"),
        (tmp_path / "a.txt", "must end in"),
    ]:
        with pytest.raises(click.UsageError, match=message):
            destinations.check_paths([path])
    assert destinations.check_paths([tmp_path / "A.MD"]) == (tmp_path / "A.MD",)


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions there")
def test_a_saved_file_is_whole_and_like_any_other(tmp_path: Path):
    target, other = tmp_path / "a.md", tmp_path / "b.md"
    target.write_text("old and longer")
    destinations.save(target, b"new")
    other.touch()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)
    assert sorted(tmp_path.iterdir()) == [target, other]
