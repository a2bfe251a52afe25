"""A new user's first hour: an installed `assay`, a folder of their own, commands counted and timed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import warm
from filelock import FileLock

ROOT = Path(__file__).parents[2]
Done = subprocess.CompletedProcess[str]
LONGEST = 300.0
"""Seconds a command may take on a busy machine."""


SOURCES = ("src", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore")
"""What a wheel is made of."""


class Installed(NamedTuple):
    """A wheel, and the folder of commands of the environment it is installed in."""

    wheel: Path
    commands: Path


def install(factory: pytest.TempPathFactory) -> Installed:
    """An environment of its own with the wheel of a fresh checkout in it, made once for all processes of the tests.

    In the checkout no catalogue is compiled. The libraries come from the environment of the tests, through a path
    file, so that no network is needed.
    """
    base = factory.getbasetemp()
    folder = (base.parent if base.name.startswith("popen") else base) / "installed"
    folder.mkdir(parents=True, exist_ok=True)
    commands = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    with FileLock(folder / "lock", timeout=600):
        if not (folder / "done").exists():
            build = ("build", "--wheel", "--no-isolation", "--outdir", folder)
            _call(sys.executable, "-m", *build, _checkout(folder / "fresh"))
            _call(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
            (wheel,) = folder.glob("*.whl")
            site = _call(commands / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
            install = ("pip", "--python", commands / "python", "install", "--no-deps", "--no-index", wheel)
            _call(sys.executable, "-m", *install)
            (Path(site) / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
            (folder / "done").touch()
    (wheel,) = folder.glob("*.whl")
    return Installed(wheel, commands)


def _checkout(folder: Path) -> Path:
    folder.mkdir()
    left_out = shutil.ignore_patterns("*.mo", "__pycache__")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=left_out)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def _call(*command: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Story:
    """What a user types, one command after the other, in a folder of their own.

    Its commands are forks of one process of the environment Assay is installed in, or with `anew` started from nothing.
    """

    def __init__(self, folder: Path, commands: Path) -> None:
        self.folder, self._commands, self.anew = folder, commands, False
        self.config = folder / "config.toml"
        self.typed: list[str] = []

    @property
    def environment(self) -> dict[str, str]:
        """What a new user has set: nothing of Assay's but where it may write."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        own = {"ASSAY_HOME": str(self.folder / "home"), "ASSAY_CONFIG": str(self.config), "ASSAY_SEARCH_WEB": "false"}
        return kept | own

    def path(self, name: str, content: str | bytes) -> Path:
        """A document the user has."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def type(self, *words: object, code: int = 0, stdin: str = "", **variables: str) -> Done:
        """`assay WORDS`; it has to end with `code`."""
        line = " ".join(map(str, ("assay", *words)))
        if not self.anew:
            return self._noted(line, code, lambda: self._forked(*words, stdin=stdin, **variables))
        command = [self._commands / "assay", *words]
        return self._noted(line, code, lambda: self._started(command, stdin, variables))

    def python(self, program: str) -> str:
        """A program in the environment Assay is installed in; what it prints."""
        command = [self._commands / "python", "-c", program]
        return self._noted(f"python -c {program}", 0, lambda: self._started(command, "", {})).stdout

    def server(self, *words: object) -> subprocess.Popen[bytes]:
        """`assay WORDS`, which goes on until it is ended."""
        self.typed.append("assay " + " ".join(map(str, words)))
        command = [str(self._commands / "assay"), *map(str, words)]
        log = (self.folder / "server.log").open("wb")
        return subprocess.Popen(command, env=self.environment, cwd=self.folder, stdout=log, stderr=log)

    def _noted(self, line: str, code: int, run: Callable[[], Done]) -> Done:
        self.typed.append(line)
        done = run()
        assert done.returncode == code, (line, done.stdout, done.stderr)
        return done

    def _started(self, command: Sequence[object], stdin: str, variables: dict[str, str]) -> Done:
        return subprocess.run(
            [*map(str, command)],
            capture_output=True,
            text=True,
            input=stdin,
            cwd=self.folder,
            env=self.environment | variables,
            timeout=LONGEST,
        )

    def _forked(self, *words: object, stdin: str = "", **variables: str) -> Done:
        with tempfile.TemporaryFile() as given:
            given.write(stdin.encode())
            given.seek(0)
            return warm.run(
                *words,
                stdin=given,
                cwd=self.folder,
                env=self.environment | variables,
                python=self._commands / "python",
                timeout=LONGEST,
            )

    def look(self, *words: str) -> str:
        """What `assay WORDS` prints, for the test: it is no command of the user's, and may fail."""
        return self._forked(*words).stdout

    def report(self, reference: str = "last") -> dict[str, Any]:
        """A run's report as data. It is looked at for the test, and is no command of the user's."""
        self.look("runs", "export", reference, "-o", "seen.json")
        found: dict[str, Any] = json.loads((self.folder / "seen.json").read_text())
        return found
