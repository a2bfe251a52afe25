"""Commands over one home, in this process or in others, as from a shell; and a person's terminal."""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import warm

from assay.cli.main import main

TIDES = "# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n"


def apart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings and a home of the test's own; somebody may be asked."""
    for name in [name for name in os.environ if name.startswith("ASSAY_") and name != "ASSAY_SEARCH_WEB"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ASSAY_CONFIG", str(folder / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(folder / "home"))
    monkeypatch.setenv("CI", "")


class CommandResult(NamedTuple):
    """What a command wrote, and how it ended."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., CommandResult]
"""A command of the shell, given as its words."""


def spoken(capsys: pytest.CaptureFixture[str]) -> Command:
    """`assay` in this process."""

    def run(*arguments: object) -> CommandResult:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return CommandResult(code, *capsys.readouterr())

    return run


def prepared(folder: Path, *commands: Sequence[object]) -> list[str]:
    """Run commands over a home in a folder, for many tests to begin with a copy of it; what each printed."""
    found = []
    with pytest.MonkeyPatch.context() as environment:
        apart(folder, environment)
        for command in commands:
            with (
                contextlib.redirect_stdout(io.StringIO()) as printed,
                contextlib.redirect_stderr(io.StringIO()) as told,
            ):
                assert main([*map(str, command)]) == 0, told.getvalue()
            found.append(printed.getvalue())
    return found


class Shell:
    """Commands over one home: `run` in this process, `start` in one of its own; `spawn` is Python's command."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], scenes: Sequence[Mapping[str, Any]], question: str
    ) -> None:
        self.notes, self.home, self.run = folder / "tides.md", folder / "home", spoken(capsys)
        self.notes.write_text(TIDES)
        script = folder / "script.json"
        script.write_text(json.dumps(scenes))
        self.model, self.question = f"scripted:{script}", question

    def spawn(self, *arguments: object, **ways: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, *map(str, arguments)], stdout=subprocess.PIPE, **ways)

    def start(self, *arguments: object, **ways: Any) -> warm.Process | subprocess.Popen[bytes]:
        return warm.start(*arguments, stdout=subprocess.PIPE, **ways)

    def research(self, *arguments: object) -> CommandResult:
        return self.run(self.question, "--in", self.notes, "--model", self.model, *arguments)

    def shown(self) -> dict[str, Any]:
        done = self.run("runs", "show", "last", "--json")
        view: dict[str, Any] = json.loads(done.stdout)
        return view


class Terminal:
    """A process with a person's terminal as stdin and stderr."""

    def __init__(self, shell: Shell, *arguments: object) -> None:
        self._master, slave = os.openpty()
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
        self.process = shell.start(*arguments, stdin=slave, stderr=slave, env=environment, session=True)
        os.close(slave)
        self.seen = ""

    def answer(self, question: str, text: str) -> None:
        end = time.monotonic() + 120
        while question not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self._master], [], [], 0.1)[0]:
                self.seen += os.read(self._master, 65536).decode(errors="replace")
        os.write(self._master, text.encode())

    def leave(self) -> tuple[int, str]:
        """Ctrl-C, again where it was not heard: between a question and the reading of its answer it is not seen."""
        while self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5.0)
        return self.end()

    def end(self) -> tuple[int, str]:
        out, _ = self.process.communicate(timeout=300)
        os.close(self._master)
        return self.process.returncode, out.decode()
