"""Schedules over a real home: what is due is asked, what changed is said, and a killed process's run goes on."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import halting
import msgspec
import pytest
import warm
from shells import apart
from waiting import LONG

from assay import Assay
from assay.cli.main import main
from assay.core.view import RunView
from assay.services.results import RunHandle
from assay.services.schedule_runs import run_due
from assay.services.schedules import Schedule, ScheduleBook, format_time


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    document(tmp_path, 1843)
    return tmp_path


def document(place: Path, year: int) -> None:
    (place / "harbor.md").write_text(f"# Harbor\n\nThe harbor was built in {year}. The harbor holds 40 boats.\n")


def added(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    line = ["schedule", "add", "When was the harbor built?", "--every", "7d", "--in", "harbor.md", *arguments]
    assert main(line) == 0
    return capsys.readouterr().out.strip()


def due(place: Path, id: str) -> Schedule:
    """Set the clock ahead, as it were."""
    past = format_time(datetime.now(UTC) - timedelta(minutes=1))
    return ScheduleBook(place / "home").change(id, lambda old: msgspec.structs.replace(old, next_at=past))


def asked(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["schedule", "run-due", "--json", "-q", *arguments]) == code
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_what_is_due_is_asked_and_what_changed_is_said(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    id = added(capsys)
    (first,) = asked(capsys)
    assert (first["schedule"], first["status"], first["changes"]) == (id, "completed", None)
    assert asked(capsys) == []
    document(place, 1850)
    due(place, id)
    monkeypatch.chdir("/")  # as cron has it
    (second,) = asked(capsys)
    changes = second["changes"]
    assert (changes["before"]["run_id"], changes["after"]["run_id"]) == (first["run"], second["run"])
    texts = json.dumps([changes["added"], changes["dropped"], changes["changed"]])
    assert "1843" in texts
    assert "1850" in texts
    due(place, id)
    (third,) = asked(capsys)
    assert third["changes"]["added"] == third["changes"]["dropped"] == third["changes"]["changed"] == []
    assert ScheduleBook(place / "home").find(id).runs == (first["run"], second["run"], third["run"])


def test_a_notice_says_what_changed(place: Path, capsys: pytest.CaptureFixture[str]):
    script = place / "told.py"
    script.write_text("import sys; open('told.jsonl', 'a').write(sys.stdin.read() + '\\n')")
    id = added(capsys)
    for year in (1843, 1850):
        document(place, year)
        due(place, id)
        asked(capsys, "--notify", f"{sys.executable} {script}")
    first, second = [json.loads(line) for line in (place / "told.jsonl").read_text().splitlines()]
    assert (first["event"], first["schedule"], first["changes"]) == ("ended", id, None)
    assert second["changes"]["since"] == first["run"]
    assert "1850" in json.dumps(second["changes"])


def test_what_cannot_be_asked_is_said_and_due_again_next_time(place: Path, capsys: pytest.CaptureFixture[str]):
    id = added(capsys)
    (place / "harbor.md").unlink()
    (failed,) = asked(capsys, code=1)
    assert "harbor.md" in failed["error"]
    assert asked(capsys) == []
    document(place, 1843)
    due(place, id)
    (done,) = asked(capsys)
    assert done["status"] == "completed"


@pytest.mark.slow
def test_one_removed_while_it_is_asked_does_not_stop_the_others(place: Path, capsys: pytest.CaptureFixture[str]):
    first, second = added(capsys), added(capsys)
    book = ScheduleBook(place / "home")

    async def follow(schedule: Schedule, handle: RunHandle) -> RunView:
        if schedule.id == first:
            book.remove(first)
        return await handle.view()

    async def ask_all() -> list[str]:
        async with Assay(home=place / "home") as assay:
            return [each.schedule.id async for each in run_due(assay, book, lambda: datetime.now(UTC), follow)]

    assert asyncio.run(ask_all()) == [second]


def test_a_run_left_by_a_killed_process_goes_on(place: Path, capsys: pytest.CaptureFixture[str]):
    id = added(capsys)
    ways = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "program": halting.AT_A_CALL}
    process = warm.start("schedule", "run-due", **ways)
    end = time.monotonic() + LONG
    while not ScheduleBook(place / "home").find(id).current:
        assert time.monotonic() < end
        time.sleep(0.02)
    process.kill()
    process.wait()
    (done,) = asked(capsys)
    schedule = ScheduleBook(place / "home").find(id)
    assert (done["status"], schedule.current, schedule.runs) == ("completed", "", (done["run"],))
    assert asked(capsys) == []


@pytest.mark.slow
def test_a_stored_run_left_by_a_killed_process_is_gone_on_with(place: Path, capsys: pytest.CaptureFixture[str]):
    id = added(capsys)
    assert main(["When was the harbor built?", "--in", "harbor.md", "--detach", "-q"]) == 0
    run = capsys.readouterr().out.strip()
    ScheduleBook(place / "home").change(id, lambda old: msgspec.structs.replace(old, current=run))
    assert main(["runs", "watch", run, "-q"]) == 0
    (done,) = asked(capsys)
    assert (done["run"], done["status"]) == (run, "completed")


@pytest.mark.slow
def test_watch_asks_what_is_due_and_ends_at_ctrl_c(place: Path, capsys: pytest.CaptureFixture[str]):
    id = added(capsys)
    process = warm.start("schedule", "watch", "--json", "-q", stdout=subprocess.PIPE)
    assert process.stdout is not None
    data = json.loads(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 0
    process.stdout.close()
    assert (data["schedule"], data["status"]) == (id, "completed")


def test_list_and_rm(place: Path, capsys: pytest.CaptureFixture[str]):
    id = added(capsys)
    assert main(["schedule", "list"]) == 0
    assert capsys.readouterr().out.startswith(f"{id}\t1w\t")
    assert main(["schedule", "rm", id]) == 0
    assert ScheduleBook(place / "home").all() == []
    assert main(["schedule", "rm", id]) == 2
    assert main(["schedule", "add", "?", "--every", "sometimes"]) == 2
