"""Where a process starts with little: no home, no locale, few files, nobody who reads; and with too much to ask."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such surroundings there")
TIDES = "The tide rises twice a day at the harbour of Vlissingen.\n"
ASKED = ("When does the tide rise at the harbour?", "--in", "tides.md", "--offline", "-q")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tides.md").write_text(TIDES)
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text(TIDES)
    return tmp_path


def kept(place: Path) -> dict[str, str]:
    """All there is in the environment: no HOME, for one."""
    return {"PATH": os.environ["PATH"], "ASSAY_HOME": str(place / "home"), "ASSAY_CONFIG": str(place / "config.toml")}


def assay(place: Path, *words: str | bytes, **ways: object) -> subprocess.CompletedProcess[bytes]:
    """A process which begins with nothing."""
    environment = {**kept(place), **ways.pop("env", {})}  # type: ignore[dict-item]
    command = [sys.executable, "-m", "assay", *words]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, timeout=300, **ways)  # type: ignore[call-overload, no-any-return]


def test_without_home_and_in_the_c_locale_it_works(place: Path) -> None:
    ended = assay(place, *ASKED, env={"LC_ALL": "C", "PYTHONUTF8": "0"})
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"rises twice a day" in ended.stdout


def test_64_files_are_enough(place: Path) -> None:
    ended = warm.run(*ASKED, cwd=place, env=kept(place), limits={"RLIMIT_NOFILE": 64})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "rises twice a day" in ended.stdout


def test_a_name_which_is_no_utf8_is_read(place: Path) -> None:
    name = os.fsdecode(b"caf\xe9.md")  # as the interpreter reads the bytes, which the next test gives it
    ended = warm.run("extract", name, cwd=place, env=kept(place))
    assert ended.returncode == 0
    assert TIDES.strip() in ended.stdout
    ended = warm.run(ASKED[0], "--in", name, "--offline", "-q", cwd=place, env=kept(place))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "rises twice a day" in ended.stdout


def test_a_question_which_is_no_utf8_is_refused(place: Path) -> None:
    ended = assay(place, b"When does the caf\xe9 open?", *ASKED[1:])
    assert ended.returncode == 2
    assert b"is not text in UTF-8: correct its encoding" in ended.stderr


CLOSED = """
import os, sys
for number in {closed}:
    os.close(number)
    name = ("stdin", "stdout", "stderr")[number]
    setattr(sys, name, None), setattr(sys, f"__{{name}}__", None)  # as the interpreter finds them when it starts
from assay.cli.main import main
raise SystemExit(main())
"""


def test_closed_streams_are_no_reason_to_fail(place: Path) -> None:
    def close() -> None:
        os.closerange(0, 3)

    assert assay(place, *ASKED, preexec_fn=close).returncode == 0


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_a_closed_stream_is_no_reason_to_fail(place: Path, closed: tuple[int, ...]) -> None:
    program = CLOSED.format(closed=closed)
    ended = warm.run(*ASKED, cwd=place, env=kept(place), program=program)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert 1 in closed or "rises twice a day" in ended.stdout
    ended = warm.run("keys", "set", "openai", cwd=place, env=kept(place), program=program)
    assert ended.returncode == 2
    assert 2 in closed or "no key was given" in ended.stderr


def test_a_question_of_a_megabyte_is_answered_or_refused(place: Path) -> None:
    (place / "questions.txt").write_text("tide " * 200_000)
    words = ("batch", "questions.txt", "-o", "out", "--in", "tides.md", "--offline")
    ended = warm.run(*words, cwd=place, env=kept(place))
    assert ended.returncode in (0, 1, 2)
    assert "Traceback" not in ended.stderr
    assert ended.stderr.strip()
