"""Commands in processes of their own which need not import everything again: each is a fork of one that has.

They are real processes: they have a pid, an environment, a folder and file descriptors of their own, get signals, and
end with an exit code. What differs from `python -m assay` is only that its modules are there, with what they make when
first used, and that it is not taken apart piece by piece when it ends. Where starting is the subject itself, tests use
`subprocess`. The one they are forks of (`warm_server.py`) is there once for all processes of a test session: to make it
ready takes seconds of computing.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from warm_server import FORK, READY, STAY, TOLD, limit, locked

SERVER = Path(__file__).with_name("warm_server.py")
FORKS = sys.platform == "linux"
"""Elsewhere a process which has used system libraries may not go on after a fork: commands start as usual there."""
PLACE = tempfile.gettempdir()
"""Where the server listens: also where a test, the first which asks, has another place for temporary files."""
STARTING = 120.0
"""Seconds within which a process is there; if none comes, another server is started, and a warning says why."""
_ALONE = set[str]()
"""For which interpreters this process has a server of its own."""


class Process:
    """As `subprocess.Popen` of `python -m assay ARGUMENTS`, of its methods those which tests use."""

    def __init__(
        self,
        *arguments: object,
        stdin: int | IO[Any] | None = subprocess.DEVNULL,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        session: bool = False,
        terminal: bool = False,
        limits: Mapping[str, int] | None = None,
        program: str = "",
        packages: Path | str = "",
        python: Path | str = sys.executable,
    ) -> None:
        """`session`: of its own. `terminal`: stdin or stderr is to control it. `limits`: by their names in `resource`.

        `program`: as `python -c PROGRAM` in its place. `packages`: a folder of what else is installed for it.
        `python`: of the environment in which it is installed.
        """
        assert stdin != subprocess.PIPE, "nothing is written to it here"
        self.args, self._python = [*map(str, arguments)], str(python)
        self.returncode: int | None = None
        wanted = {
            "arguments": self.args,
            "env": {**(os.environ if env is None else env)},
            "cwd": str(cwd or Path.cwd()),
            "session": session or terminal,
            "terminal": terminal,
            "limits": dict(limits or {}),
            "program": program,
            "packages": str(packages),
        }
        self.stdout: BufferedReader | None = None
        self.stderr: BufferedReader | None = None
        with contextlib.ExitStack() as ours, tempfile.TemporaryFile() as file:
            file.write(json.dumps(wanted).encode())
            file.flush()
            ends = [
                self._end(name, at, ours) for name, at in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr))
            ]
            try:
                self.pid = self._begun(file.fileno(), ends)
            except TimeoutError:
                _renew(self._python)
                self.pid = self._begun(file.fileno(), ends)

    def _begun(self, descriptor: int, ends: list[int]) -> int:
        """The pid of the process the server has forked for us."""
        self._line = socket.socket(socket.AF_UNIX)
        self._line.settimeout(STARTING)
        self._line.connect(_server(self._python)[0])
        socket.send_fds(self._line, [FORK], [descriptor, *ends])
        what, pid = TOLD.unpack(self._line.recv(TOLD.size, socket.MSG_WAITALL))
        assert what == READY, self.args
        return int(pid)

    def _end(self, name: str, at: int | IO[Any] | None, ours: contextlib.ExitStack) -> int:
        """The file descriptor the process gets."""
        if at is None:
            return {"stdin": 0, "stdout": 1, "stderr": 2}[name]
        if at == subprocess.DEVNULL:
            null = os.open(os.devnull, os.O_RDWR)
            ours.callback(os.close, null)
            return null
        if at == subprocess.PIPE:
            reading, writing = os.pipe()
            ours.callback(os.close, writing)
            setattr(self, name, os.fdopen(reading, "rb"))
            return writing
        return at if isinstance(at, int) else at.fileno()

    def poll(self) -> int | None:
        return self._awaited(0.0)

    def wait(self, timeout: float | None = None) -> int:
        if (code := self._awaited(timeout)) is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return code

    def _awaited(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._line], [], [], timeout)[0]:
            found = self._line.recv(TOLD.size, socket.MSG_WAITALL)
            if not found:  # its server was ended, and nobody can tell any more
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)
            self.returncode = TOLD.unpack(found)[1] if found else -signal.SIGKILL
            self._line.close()
        return self.returncode

    def communicate(self, timeout: float = 300.0) -> tuple[bytes, bytes]:
        """Both outputs, when it has ended."""
        end = time.monotonic() + timeout
        left = [each for each in (self.stdout, self.stderr) if each and not each.closed]
        found = {each: bytearray() for each in left}
        while left:
            ready = select.select(left, [], [], max(0.0, end - time.monotonic()))[0]
            if not ready:
                raise subprocess.TimeoutExpired(self.args, timeout)
            for pipe in ready:
                found[pipe] += (piece := pipe.read1(65536))
                if not piece:
                    left.remove(pipe)
        self.wait(max(0.0, end - time.monotonic()))
        for pipe in found:
            pipe.close()  # asked again, it says nothing, as one of `subprocess`
        out, err = (bytes(found.get(each, b"")) if each else b"" for each in (self.stdout, self.stderr))
        return out, err

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it ended, and nobody has told of it yet
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


Started = Process | subprocess.Popen[bytes]


def start(*arguments: object, **ways: Any) -> Started:
    """`python -m assay ARGUMENTS` as a process; see `Process` for its ways."""
    return Process(*arguments, **ways) if FORKS else start_new(*arguments, **ways)


def start_new(*arguments: object, **ways: Any) -> subprocess.Popen[bytes]:
    """The same with everything read anew, from where `PYTHONPATH` says."""
    session, terminal = ways.pop("session", False), ways.pop("terminal", False)
    limits = ways.pop("limits", None) or {}

    def ready() -> None:
        if terminal:
            fcntl.ioctl(2, termios.TIOCSCTTY, 0)
        limit(limits)

    if packages := str(ways.pop("packages", "")):
        ways["env"] = {**(ways.get("env") or os.environ), "PYTHONPATH": packages}
    program, python = ways.pop("program", ""), str(ways.pop("python", sys.executable))
    command = [python, *(("-c", program) if program else ("-m", "assay")), *map(str, arguments)]
    ways = {"stdin": subprocess.DEVNULL, **ways, "start_new_session": bool(session or terminal)}
    first = ready if terminal or limits else None
    return subprocess.Popen(command, preexec_fn=first, **ways)  # noqa: PLW1509 - it only makes system calls


def call(function: Callable[..., object], *arguments: object, **ways: Any) -> Started:
    """A process that calls a function of a module of tests, like one of `multiprocessing`."""
    loaded = f"function, arguments = pickle.loads({pickle.dumps((function, arguments))!r})"
    lines = ("import pickle, sys", f"sys.path[:] = {sys.path!r}", loaded, "function(*arguments)")
    return start(program="\n".join(lines), **ways)


def line(*arguments: object) -> list[str]:
    """A command line which starts it, for a library which starts programs itself."""
    words = [*map(str, arguments)]
    if not FORKS:
        return [sys.executable, "-m", "assay", *words]
    return [
        sys.executable,
        "-I",
        "-S",
        str(Path(__file__).with_name("warm_command.py")),
        _server(sys.executable)[0],
        *words,
    ]


def run(
    *arguments: object, timeout: float = 300.0, start: Callable[..., Started] = start, **ways: Any
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` of it, with its outputs as text."""
    process = start(*arguments, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **ways})
    try:
        out, err = (each or b"" for each in process.communicate(timeout=timeout))
    finally:
        process.kill()
        code = process.wait(timeout)
    return subprocess.CompletedProcess(process.args, code, out.decode(), err.decode())


@cache
def _server(python: str) -> tuple[str, socket.socket, int]:
    """Where the server of this test session listens, a line to it, and its pid; the first who asks has started it.

    It stays while somebody has such a line.
    """
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID") if python not in _ALONE else None
    named = "\n".join([session or str(os.getpid()), python, str(SERVER), str(python in _ALONE)])
    where = str(Path(PLACE) / f"warm-{hashlib.sha256(named.encode()).hexdigest()[:12]}")
    with locked(where):
        if not (found := _known(where)):
            _begin(python, where)
            found = _known(where)
    assert found, "the server of warm processes did not begin"
    atexit.register(found[0].close)
    return where, *found


def _known(where: str) -> tuple[socket.socket, int] | None:
    """A line to a server which is there, and its pid."""
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(STARTING)
    with contextlib.suppress(OSError):
        line.connect(where)
        line.send(STAY)
        if told := line.recv(TOLD.size, socket.MSG_WAITALL):
            return line, TOLD.unpack(told)[1]
    line.close()
    return None


def _begin(python: str, where: str) -> None:
    Path(where).unlink(missing_ok=True)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    ways: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "start_new_session": True}
    started = subprocess.Popen([python, SERVER, where], env=plain, **ways)
    assert started.stdout is not None
    with started.stdout as said:
        assert said.readline() == b"listening\n"
    started.returncode = 0  # it may be there for longer than this process, which does not wait for it


def _renew(python: str) -> None:
    """Leave a server which does not answer; the next who asks in this process starts one for it alone."""
    _, line, pid = _server(python)
    line.close()
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        status = "ended"
    stood = [line for line in status.splitlines() if line.startswith(("State", "Threads", "SigPnd", "ended"))]
    warnings.warn(f"the server of warm processes did not answer: {stood}", stacklevel=2)
    _ALONE.add(python)
    _server.cache_clear()
