"""Lines of a log: what a run tells, what it never tells, and where it goes."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from watching import PLANTED, SECRET, watched_run

from assay.core.errors import ConfigError
from assay.telemetry.logs import MAX_VALUE_CHARS, Cleaner, Logs, Sink, open_logs


async def lines(path: Path, level: str = "info", secrets: tuple[str, ...] = (), **changes: Any) -> list[dict[str, Any]]:
    logs = open_logs(path, stderr=False, level=level, form="json", secrets=secrets)
    await watched_run(logs, **changes)
    logs.close()
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_each_line_says_which_run_and_lane(tmp_path: Path) -> None:
    logged = await lines(tmp_path / "log")
    assert len({line["run_id"] for line in logged}) == 1
    assert {line["lane"] for line in logged if line["event"] == "tool.finished" and "agent" in line["path"]} == {1}
    events = [line["event"] for line in logged]
    assert (events[0], events[-1]) == ("run.started", "run.left")
    assert "run.completed" in events
    phases = [line["phase"] for line in logged if line["event"] == "phase.finished"]
    assert phases == ["triage", "background", "plan", "research", "write", "verify"]


def test_a_new_file_is_its_owners_alone_and_one_which_is_there_stays_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.touch()
    shared.chmod(0o640)
    for path in (tmp_path / "new", shared):
        Sink(path, stderr=False).close()
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "new", shared)] == [0o600, 0o640]


async def test_lines_say_whose_the_run_is(tmp_path: Path) -> None:
    logged = await lines(tmp_path / "log", user="ann", thread="tides", labels={"team": "sea", "case": "4711"})
    (first, *_) = logged
    assert (first["user"], first["thread"], first["labels"]) == ("ann", "tides", "case=4711,team=sea")
    nobody = await lines(tmp_path / "other")
    assert not any({"user", "thread", "labels"} & line.keys() for line in nobody)


async def test_a_call_is_told_with_model_time_and_use(tmp_path: Path) -> None:
    found = [line for line in await lines(tmp_path / "log") if line["event"].startswith("model.")]
    written = [line for line in found if line["task"] == "write"]
    assert [(line["event"], line["attempt"]) for line in written] == [("model.stopped", 1), ("model.finished", 2)]
    failed, done = written
    assert (failed["level"], failed["error"]) == ("warning", "ModelError")
    assert done["model"] == "acme:large"
    assert done["output_tokens"] > 0
    assert done["usd"] > 0
    assert 0 <= done["seconds"] < 60


async def test_no_text_of_documents_and_no_key_at_info(tmp_path: Path) -> None:
    await lines(tmp_path / "log")
    found = (tmp_path / "log").read_text()
    assert PLANTED not in found
    assert SECRET not in found


async def test_a_key_of_the_settings_is_hidden_at_debug_too(tmp_path: Path) -> None:
    cleaner = Cleaner((SECRET,))
    assert cleaner(None, "", {"reason": f"key {SECRET} is wrong", "n": 1}) == {"reason": "key *** is wrong", "n": 1}
    await lines(tmp_path / "log", "debug", (SECRET,))
    assert SECRET not in (tmp_path / "log").read_text()


@given(st.text(max_size=2 * MAX_VALUE_CHARS))
def test_a_value_is_one_printable_line(text: str) -> None:
    shown = Cleaner(())(None, "", {"x": text})["x"]
    assert shown.isprintable()
    assert len(shown) <= MAX_VALUE_CHARS + 1


def test_text_lines_keep_hostile_values_on_one_line(tmp_path: Path) -> None:
    logs = Logs(Sink(tmp_path / "log", stderr=False))
    logs.line("info", "x", {"name": 'a\nlevel=error event="b"\x1b[31m'})
    logs.close()
    [line] = (tmp_path / "log").read_text().splitlines()
    assert "\x1b" not in line
    assert line.count(" event=") == 2  # one of them within the quotes
    assert '\\"b\\"' in line


def test_lines_below_the_level_are_left_out(tmp_path: Path) -> None:
    logs = Logs(Sink(tmp_path / "log", stderr=False), level="warning")
    logs.line("info", "quiet", {})
    logs.line("error", "loud", {})
    logs.close()
    assert "event=loud" in (tmp_path / "log").read_text()
    assert "quiet" not in (tmp_path / "log").read_text()


def test_nothing_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    logs = Logs(Sink(None, stderr=True))
    logs.line("info", "said", {})
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "event=said" in printed.err


def test_a_file_which_cannot_be_opened_is_an_error_of_the_settings(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"log\.file: .*missing/log cannot be written \(No such file"):
        Sink(tmp_path / "missing" / "log", stderr=False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk_costs_the_log_and_nothing_else() -> None:
    logs = Logs(Sink(Path("/dev/full"), stderr=False))
    with pytest.warns(UserWarning, match="cannot be written: No space left"):
        logs.line("info", "lost", {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        logs.line("info", "lost", {})
    logs.close()


def test_a_moved_file_is_followed_by_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "log"
    path.parent.mkdir()
    logs = Logs(Sink(path, stderr=False))
    logs.line("info", "first", {})
    path.rename(path.with_name("log.1"))
    logs.line("info", "second", {})
    path.parent.rename(tmp_path / "away")
    with pytest.warns(UserWarning, match="cannot be written: No such file"):
        logs.line("info", "lost", {})
    path.parent.mkdir()
    logs.line("info", "third", {})
    logs.close()
    found = [(tmp_path / name).read_text() for name in ("away/log.1", "away/log", "logs/log")]
    assert [text.count("\n") for text in found] == [1, 1, 1]
    assert ["first" in found[0], "second" in found[1], "third" in found[2]] == [True] * 3
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_line_that_a_full_disk_cut_is_followed_by_whole_ones(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    program = (
        "import resource, signal, sys, warnings; from pathlib import Path; from assay.telemetry.logs import Sink\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); warnings.simplefilter('ignore')\n"
        "sink = Sink(Path(sys.argv[1]), stderr=False)\n"
        "for room, letters in ((30, 'ab'), (1000, 'cd')):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))\n"
        "    for letter in letters: sink.msg(letter * 20)\n"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "log"], check=True, timeout=120)
    assert (tmp_path / "log").read_text().splitlines() == ["a" * 20, "b" * 9, "c" * 20, "d" * 20]


def test_what_the_package_tells_logging_is_in_the_log_and_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as in a process of its own
    logs = open_logs(tmp_path / "log", stderr=False, level="info", form="json", secrets=(SECRET,))
    teller = logging.getLogger("assay.server.app")
    teller.info("not told")
    teller.warning("POST %s: no space left, key %s", "/api/v1/runs", SECRET)
    try:
        raise KeyError("the words of a question")
    except KeyError:
        teller.exception("a bug")
    logs.close()
    teller.warning("after the end")
    told = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [(each["level"], each["message"], each.get("error")) for each in told] == [
        ("warning", "POST /api/v1/runs: no space left, key ***", None),
        ("error", "a bug", "KeyError"),
    ]
    printed = capsys.readouterr().err
    assert [text in printed for text in ("no space left", "the words of a question", "after the end")] == [True] * 3
