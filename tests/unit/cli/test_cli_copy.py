"""`--copy`: the report on the clipboard, by a program of the desktop or by the terminal."""

import base64
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.main import cli

QUESTION = "Who wrote the Harbor report?"


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of programs, the only one on the path."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CI", "")
    monkeypatch.setenv("TERM", "xterm")
    for name in ("SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "harbor.md").write_text("# Harbor report\n\nThe Harbor report was written by Ada Byron in 1843.\n")
    monkeypatch.chdir(tmp_path)
    return programs


def program(desk: Path, name: str, does: str) -> None:
    (desk / name).write_text(f"#!/bin/sh\n{does}\n")
    (desk / name).chmod(0o755)


def researched(*more: str) -> Result:
    done = CliRunner().invoke(cli, [QUESTION, "--in", "harbor.md", "--depth", "light", "--copy", *more])
    assert done.exit_code in (0, 2), done.output
    return done


def test_a_program_of_the_desktop_gets_the_report_as_markdown(desk: Path, tmp_path: Path):
    copied = tmp_path / "copied"
    program(desk, "xclip", f'/bin/cat > "{copied}"; echo "$@" > "{copied}.args"')
    done = researched()
    assert "the report is on the clipboard" in done.stderr
    assert copied.read_text().startswith(done.stdout.partition("\n[1]: ")[0])
    assert "Ada Byron" in copied.read_text()
    assert Path(f"{copied}.args").read_text().split() == ["-selection", "clipboard"]


def test_a_program_without_a_desktop_leaves_it_to_the_next(desk: Path, tmp_path: Path):
    program(desk, "wl-copy", "exit 1")
    program(desk, "xsel", f'/bin/cat > "{tmp_path / "copied"}"')
    assert "the report is on the clipboard" in researched().stderr
    assert "Ada Byron" in (tmp_path / "copied").read_text()


def test_where_nothing_can_copy_the_message_says_so(desk: Path):
    done = researched("-o", "report.html")
    assert done.exit_code == 0
    assert "not copied" in done.stderr
    assert "-o report.md" in done.stderr
    assert "\x1b]52" not in done.output


def on_a_terminal(code: str) -> str:
    """What a process writes to a terminal behind its stderr."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    output = b""
    try:
        while more := os.read(ours, 65536):
            output += more
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return output.decode()


COPYING = "from assay.cli.destinations import copy_to_clipboard; copy_to_clipboard('one \\x1b]0;bad\\x07 é [1]')"


@pytest.mark.parametrize("over_ssh", [True, False])
def test_a_terminal_gets_it_where_no_program_is_or_the_desktop_is_elsewhere(
    desk: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, over_ssh: bool
):
    if over_ssh:
        monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")
        program(desk, "xclip", f'/bin/cat > "{tmp_path / "copied"}"')
    output = on_a_terminal(COPYING)
    sent = re.findall(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", output)
    assert [base64.b64decode(each).decode() for each in sent] == ["one ]0;bad é [1]"]
    assert "the terminal's clipboard" in output
    assert not (tmp_path / "copied").exists()


def test_a_dumb_terminal_is_sent_no_sequence(desk: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb")
    output = on_a_terminal(COPYING)
    assert "\x1b" not in output
    assert "not copied" in output


@pytest.mark.parametrize("other", ["--detach", "--queue"])
def test_a_run_which_is_not_waited_for_copies_nothing(desk: Path, other: str):
    done = researched(other)
    assert done.exit_code == 2
    assert "--copy waits for the report" in done.stderr
