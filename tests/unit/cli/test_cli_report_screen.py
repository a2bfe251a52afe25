"""A report where a person reads it: laid out on a terminal, Markdown elsewhere and where it is asked for."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
import warm
from shells import apart

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="written for Linux's terminals")

NOTE = "# Harbour\n\nThe north pier of the harbour was built in 1790.\n"
QUESTION = "When was the north pier of the harbour built?"


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    (tmp_path / "note.md").write_text(NOTE)
    return tmp_path / "note.md"


def on_a_terminal(*arguments: object, columns: int = 60, behind: str = "stdout", **env: str) -> str:
    """What a process writes to a terminal which is its stdout, or its stderr."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "", "PYTHONUTF8": "1", **env}
    for name in ("COLUMNS", "LINES"):
        environment.pop(name, None)
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, behind: slave}
    process = warm.start(*arguments, **streams, env=environment)
    os.close(slave)
    seen = b""
    while select.select([master], [], [], 60)[0]:
        try:
            seen += os.read(master, 65536)
        except OSError:  # nobody has the other end open any more
            break
    os.close(master)
    assert process.wait(120) == 0
    return seen.decode().replace("\r\n", "\n")


def test_a_list_on_a_narrow_terminal_has_a_line_for_each_cell(note: Path, tmp_path: Path) -> None:
    assert warm.run(QUESTION, "--in", note, "--offline", "-q").returncode == 0
    seen = on_a_terminal("claims", "last", columns=40)
    assert seen.startswith("claim     c1\nverdict   quoted\nanswers?  answers the question\n")
    assert "sentence  The north pier of the harbour\n          was built in 1790.\n" in seen
    (wide,) = [line for line in on_a_terminal("claims", "last", columns=120).splitlines() if line.startswith("c1")]
    assert "quoted" in wide


def test_a_terminal_shows_it_laid_out(note: Path) -> None:
    seen = on_a_terminal(QUESTION, "--in", note, "--offline", "--depth", "light")
    assert seen.startswith("The north pier of the harbour was built in 1790. \x1b[36m[1]\x1b[0m\n")
    assert "\n\x1b[1mSources\x1b[0m\n\n  1. Harbour," in seen
    assert "#sources" not in seen
    assert "claims:" not in seen  # the last lines on stderr say how they fared
    assert "\x1b" not in on_a_terminal(QUESTION, "--in", note, "--offline", "--depth", "light", NO_COLOR="1")


def test_markdown_is_for_pipes_and_for_who_asks_for_it(note: Path) -> None:
    asked = (QUESTION, "--in", note, "--offline", "--depth", "light")
    piped = warm.run(*asked, "-q").stdout
    assert "## Sources" in piped
    assert "## Sources" in on_a_terminal(*asked, "--plain")
    assert "[^1]" in on_a_terminal(*asked, "--footnotes")


def test_open_shows_the_page_in_the_browser(note: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    browser.chmod(0o700)
    warm.run(QUESTION, "--in", note, "--offline", "--depth", "light", "-q")
    environment = warm.run("runs", "open", env={**os.environ, "BROWSER": f"{browser} %s", "TERM": "xterm", "CI": ""})
    path = Path(environment.stdout.strip())
    assert "built in 1790" in path.read_text()
    assert path.parent.stat().st_mode & 0o077 == 0
    assert opened.read_text() == path.as_uri()
    nobody = warm.run("runs", "open", "last", env={**os.environ, "CI": "true"})
    assert "no browser to open /" in nobody.stderr
    assert Path(nobody.stdout.strip()).is_file()


def test_lines_for_people_break_between_words_on_a_terminal(note: Path, tmp_path: Path) -> None:
    claim = "The north pier of the old harbour was built in 1793, and not by the town itself."
    (tmp_path / "text.md").write_text(f"{claim}\n")
    assert warm.run("docs", "add", note).returncode == 0
    assert warm.run(QUESTION, "--offline", "--depth", "light").returncode == 0
    shown = (
        ("verify", tmp_path / "text.md", "--in", note),
        ("cite", "last", "1"),
        ("runs", "show", "last"),
        ("docs", "search", "north pier of the harbour built"),
    )
    for command in shown:
        piped = warm.run(*command).stdout
        assert max(map(len, piped.splitlines())) > 60
        seen = on_a_terminal(*command)
        assert seen.split() == piped.split()
        for line in seen.splitlines():
            assert len(line) <= 60 or any(len(word) > 50 for word in line.split())


def test_the_last_lines_of_a_run_break_between_words(note: Path) -> None:
    asked = (QUESTION, "--in", note, "--offline", "--depth", "light")
    seen = on_a_terminal(*asked, behind="stderr", columns=40)
    last = seen[seen.rindex("completed: ") :].splitlines()
    assert len(last) > 3
    assert all(len(line) <= 40 for line in last)
    assert "1 source cited" in " ".join(last)
