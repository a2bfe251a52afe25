"""Batches over a real home: rows and reports, the total, what is gone on with after a kill, Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import warm
from shells import apart

from assay.cli.main import main

DEEP, WIDE = "How deep is the harbor?", "How wide is the harbor?"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harbor.md").write_text("# Harbor\n\nThe harbor is nine metres deep. The harbor is 80 metres wide.\n")
    return tmp_path


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def batch(lines: Sequence[str], *arguments: str) -> int:
    Path("questions.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return main(["batch", "questions.jsonl", "-o", "out", "--in", "harbor.md", "--depth", "light", *arguments])


def run_ids(capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["runs", "list", "--json"]) == 0
    return sorted(each["run_id"] for each in json.loads(capsys.readouterr().out))


def test_a_row_and_a_report_for_each_question_and_bad_lines_are_named(place: Path, capsys: pytest.CaptureFixture[str]):
    assert batch([DEEP, "{oops", json.dumps({"question": WIDE, "id": "../../w"})], "--json") == 1
    out, err = capsys.readouterr()
    assert "line 2: " in err
    data = json.loads(out)
    assert (data["ended"], data["rows"], data["not_begun"]) == ("all", {"completed": 2}, 0)
    first, second = rows(place / "out")
    assert (first["line"], second["line"], second["id"]) == (1, 3, "../../w")
    assert "nine metres" in (place / "out" / first["file"]).read_text()
    assert "80 metres" in (place / "out" / second["file"]).read_text()
    assert first["claims"]["quoted"] >= 1
    assert sorted(each["run"] for each in (first, second)) == run_ids(capsys)


def test_what_is_done_is_not_done_again(place: Path, capsys: pytest.CaptureFixture[str]):
    assert batch([DEEP]) == 0
    before = (place / "out" / "results.jsonl").read_bytes()
    assert batch([DEEP]) == 0
    assert "1 question done already" in capsys.readouterr().err
    assert (place / "out" / "results.jsonl").read_bytes() == before
    assert batch([WIDE, DEEP]) == 0
    assert len(rows(place / "out")) == len(run_ids(capsys)) == 2


def test_one_total_over_all_and_over_later_calls(place: Path, capsys: pytest.CaptureFixture[str]):
    lines = [f"{DEEP} ({number})" for number in range(6)]
    assert batch(lines, "--max-tokens", "9k", "--at-once", "3", "--json") == 5
    output = json.loads(capsys.readouterr().out)
    assert output["ended"] == "spent"
    assert output["not_begun"] > 0
    assert 0 < output["tokens"] <= 9_000
    assert batch(lines, "--max-tokens", "9k", "--at-once", "3", "--json") == 5
    assert json.loads(capsys.readouterr().out)["tokens"] <= 9_000
    assert batch(lines, "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"] == {"completed": 6}


def test_a_total_which_pays_for_nothing_begins_nothing(place: Path, capsys: pytest.CaptureFixture[str]):
    assert batch([DEEP], "--max-tokens", "100") == 5
    assert "not begun" in capsys.readouterr().err
    assert run_ids(capsys) == [] if (place / "home" / "assay.db").exists() else True


def test_a_row_which_cannot_run_fails_alone_and_is_tried_again(place: Path, capsys: pytest.CaptureFixture[str]):
    assert batch([json.dumps({"question": DEEP, "sources": "none.md", "id": "a"}), WIDE]) == 1
    failed, done = rows(place / "out")
    assert (failed["status"], done["status"]) == ("failed", "completed")
    assert "none.md" in failed["error"]
    assert batch([json.dumps({"question": DEEP, "sources": "harbor.md", "id": "a"}), WIDE]) == 0
    assert [each["status"] for each in rows(place / "out")] == ["completed", "completed"]


def spawned(lines: Sequence[str], *arguments: str) -> warm.Started:
    Path("questions.jsonl").write_text("".join(f"{line}\n" for line in lines))
    line = ["batch", "questions.jsonl", "-o", "out", "--in", "harbor.md", *arguments]
    return warm.start(*line, stderr=subprocess.PIPE)


def until_rows(folder: Path, count: int) -> None:
    end = time.monotonic() + 120
    while not (folder / "results.jsonl").exists() or (folder / "results.jsonl").read_bytes().count(b"\n") < count:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.slow
def test_after_a_kill_every_question_has_one_run(place: Path, capsys: pytest.CaptureFixture[str]):
    lines = [f"{DEEP} ({number})" for number in range(6)]
    for count in (1, 4):
        process = spawned(lines)
        until_rows(place / "out", count)
        process.kill()
        process.communicate()
    assert batch(lines) == 0
    found = rows(place / "out")
    assert [each["line"] for each in found] == [1, 2, 3, 4, 5, 6]
    assert {each["status"] for each in found} == {"completed"}
    assert sorted(each["run"] for each in found) == run_ids(capsys)


@pytest.mark.slow
def test_ctrl_c_begins_no_further_run_and_waits_for_those_at_work(place: Path, capsys: pytest.CaptureFixture[str]):
    lines = [f"{DEEP} ({number})" for number in range(40)]
    process = spawned(lines)
    until_rows(place / "out", 1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert b"no further run is begun" in err
    found = rows(place / "out")
    assert 1 <= len(found) < 40
    assert {each["status"] for each in found} == {"completed"}
    assert sorted(each["run"] for each in found) == run_ids(capsys)


def test_the_end_of_a_batch_is_told(place: Path):
    script = place / "told.py"
    script.write_text("import sys; open('told.json', 'w').write(sys.stdin.read())")
    assert batch([DEEP], "--notify", f"{sys.executable} {script}") == 0
    data = json.loads((place / "told.json").read_text())
    assert (data["event"], data["status"], data["rows"]) == ("batch", "all", {"completed": 1})
    assert batch([WIDE], "--notify", "no-such-program") == 2
