"""`assay chat`: a conversation at a real terminal (a pty), and one through a pipe."""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import warm
from shells import apart, spoken

from assay.cli import chat_session

LIMIT = 120.0
BRIDGE = "# Bridge\n\nThe bridge of Vell was built in 1891. Its builder was Ottilie Brandt.\n\nIt is 240 metres long.\n"
FIRST, SECOND = "When was the bridge of Vell built?", "Who was its builder?"


class Person:
    """A process whose stdin, stdout and stderr are one terminal, and what stands there."""

    def __init__(self, *arguments: object, **env: str) -> None:
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        environment = {**os.environ, "TERM": "xterm", "CI": "", "NO_COLOR": "1", "PYTHONUTF8": "1", **env}
        self.process = warm.start(*arguments, stdin=slave, stdout=slave, stderr=slave, env=environment, terminal=True)
        os.close(slave)
        self.seen = ""

    def until(self, text: str) -> str:
        """What was written up to `text`, and forget it."""
        end = time.monotonic() + LIMIT
        while text not in (plain := re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", self.seen)):
            assert time.monotonic() < end, f"no {text!r} in {plain[-3000:]!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 65536).decode(errors="replace")
        before, _, self.seen = plain.partition(text)
        return before

    def presses(self, key: str, text: str) -> None:
        """Press a key until `text` was written: readline loses one which comes just before it listens."""
        while text not in self.seen:
            self.types(key)
            if select.select([self.master], [], [], 2)[0]:
                self.seen += os.read(self.master, 65536).decode(errors="replace")
        self.until(text)

    def types(self, text: str) -> None:
        os.write(self.master, text.encode())


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Person]]:
    apart(tmp_path, monkeypatch)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "bridge.md").write_text(BRIDGE)
    there: list[Person] = []

    def sits_down(*arguments: object, **env: str) -> Person:
        there.append(Person("chat", *arguments, **env))
        return there[-1]

    yield sits_down
    for each in there:
        each.process.kill()
        each.process.wait(LIMIT)
        os.close(each.master)


@pytest.mark.skipif(sys.platform != "linux", reason="written for Linux's terminals")
def test_a_conversation_at_a_terminal(person: Callable[..., Person], tmp_path: Path) -> None:
    chat = person("--in", tmp_path / "notes", "--offline")
    chat.until("assay> ")
    chat.types(f"{FIRST}\r")
    assert "The bridge of Vell was built in 1891. [1]" in chat.until("took ")
    chat.until("assay> ")
    chat.types(f"{SECOND}\r")
    answer = chat.until("took ")
    assert "Its builder was Ottilie Brandt. [1]" in answer
    assert "plan:" not in answer  # it was not researched again
    assert "this chat: 2 runs" in chat.until("assay> ")
    chat.types("1\r")
    assert "»" in chat.until("assay> ")
    chat.types("/so\t\r")  # Tab completes
    assert "[1] Bridge" in chat.until("assay> ")
    chat.types("\x1b[A\x1b[A\x1b[A\r")  # three lines back: the second question
    assert "Ottilie Brandt. [1]" in chat.until("took ")
    chat.until("assay> ")
    chat.presses("\x03", "Ctrl-D or /quit")
    chat.until("assay> ")
    chat.presses("\x04", "to continue: assay chat ")
    assert "--thread" in chat.until("\n")
    assert chat.process.wait(LIMIT) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="written for Linux's terminals")
def test_ctrl_c_cancels_an_answer_and_not_the_chat(person: Callable[..., Person], tmp_path: Path) -> None:
    script = tmp_path / "slow.json"
    script.write_text(json.dumps([{"reply": {"text": "late"}, "delay_ms": 600_000}]))
    chat = person("--in", tmp_path / "notes", "--offline", ASSAY_MODELS_COMPLEX=f"scripted:{script}")
    chat.until("assay> ")
    chat.types(f"{FIRST}\r")
    chat.until("writ")
    chat.types("\x03")
    chat.until("cancelled")
    chat.until("assay> ")
    chat.types("/cost\r")
    chat.until("this chat: 1 run")
    chat.until("assay> ")
    chat.types("/quit\r")
    assert chat.process.wait(LIMIT) == 0


def piped(folder: Path, text: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as typed:
        typed.write(text)
    with os.fdopen(reading) as pipe:
        return warm.run("chat", *arguments, stdin=pipe, timeout=LIMIT, cwd=folder)


def test_questions_through_a_pipe_and_a_thread_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    apart(tmp_path, monkeypatch)
    (tmp_path / "bridge.md").write_text(BRIDGE)
    lines = f"{FIRST}\n\n{SECOND}\n/export answer.html\n/frobnicate\n/claims\n"
    first = piped(tmp_path, lines, "--thread", "vell", "--in", "bridge.md", "--offline")
    assert first.returncode == 0, first.stderr
    assert first.stdout.index("built in 1891. [1]") < first.stdout.index("Ottilie Brandt. [1]")
    assert "quoted" in first.stdout
    assert "no command /frobnicate" in first.stderr
    assert "Ottilie" in (tmp_path / "answer.html").read_text()
    second = piped(tmp_path, "How long is it?\n", "--thread", "vell")
    assert "It is 240 metres long. [1]" in second.stdout
    assert "continuing from run" not in second.stderr  # asked of what was opened
    threads = json.loads(spoken(capsys)("threads", "list", "--json").stdout)["threads"]
    assert [(each["name"], each["runs"]) for each in threads] == [("vell", 3)]
    third = piped(tmp_path, "/research How long is it?\n", "--continue", "--offline")
    assert "It is 240 metres long. [1]" in third.stdout
    assert "plan:" in third.stderr


def test_what_was_not_opened_is_researched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apart(tmp_path, monkeypatch)
    (tmp_path / "bridge.md").write_text(BRIDGE)
    (tmp_path / "ferry.md").write_text("# Ferry\n\nThe ferry of Osterby sails at six in the morning.\n")
    ways = ("--thread", "t", "--offline")
    piped(tmp_path, f"{FIRST}\n", *ways, "--in", "bridge.md")
    done = piped(tmp_path, "When does the ferry of Osterby sail?\n", *ways, "--in", "ferry.md")
    assert "The ferry of Osterby sails at six in the morning. [1]" in done.stdout


def test_a_line_is_a_question_a_number_or_a_command() -> None:
    assert (
        chat_session.parse_line("3")
        == chat_session.parse_line("[3]")
        == chat_session.parse_line("/cite 3")
        == ("cite", "3")
    )
    assert chat_session.parse_line("Who built 3?") == ("", "Who built 3?")
    assert chat_session.parse_line("/EXIT") == ("quit", "")
    assert chat_session.parse_line("/export a b.html") == ("export", "a b.html")
    assert "did you mean /export" in chat_session.unknown_command("exprt")
    assert len(chat_session.help_lines()) == len(chat_session.COMMANDS)
