"""Commands in processes of their own which need not import everything again: each is a fork of one that has.

They are real processes: they have a pid, an environment, a folder and file descriptors of their own, get signals, and
end with an exit code. What differs from `python -m assay` is only that its modules are there, with what they make when
first used, and that it is not taken apart piece by piece when it ends. Where starting is the subject itself, tests use
`subprocess`.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import importlib
import io
import json
import os
import pkgutil
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NoReturn

FORKS = sys.platform == "linux"
"""Elsewhere a process which has used system libraries may not go on after a fork: commands start as usual there."""
PARTS = (
    "cli",
    "server",
    "app",
    "phases",
    "store",
    "search",
    "fetch.workers",
    "fetch.web",
    "export",
    "models.extractive",
)
TOLD = struct.Struct("ii")
"""What a client is told: that a process is ready, and its pid; or that it has ended, and how."""
READY, ENDED = 0, 1
PLACE = tempfile.gettempdir()
"""Where the server listens: also where a test, the first which asks, has another place for temporary files."""
STARTING = 120.0
"""Seconds within which a process is there; if none comes, another server is started, and a warning says why."""


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
        socket.send_fds(self._line, [b"!"], [descriptor, *ends])
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
        _limit(limits)

    if packages := str(ways.pop("packages", "")):
        ways["env"] = {**(ways.get("env") or os.environ), "PYTHONPATH": packages}
    program, python = ways.pop("program", ""), str(ways.pop("python", sys.executable))
    command = [python, *(("-c", program) if program else ("-m", "assay")), *map(str, arguments)]
    ways = {"stdin": subprocess.DEVNULL, **ways, "start_new_session": bool(session or terminal)}
    first = ready if terminal or limits else None
    return subprocess.Popen(command, preexec_fn=first, **ways)  # noqa: PLW1509 - it only makes system calls


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
def _server(python: str) -> tuple[str, subprocess.Popen[bytes]]:
    """Where this test process's own server listens, started by the first who asks; and its process."""
    folder = tempfile.TemporaryDirectory(prefix="warm-", dir=PLACE)
    where = str(Path(folder.name) / "socket")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    started = subprocess.Popen(
        [python, __file__, where], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=plain, start_new_session=True
    )
    assert started.stdin is not None
    assert started.stdout is not None
    assert started.stdout.readline() == b"listening\n"

    def leave() -> None:
        assert started.stdin is not None
        started.stdin.close()
        started.wait(120)
        folder.cleanup()

    atexit.register(leave)
    return where, started


def _renew(python: str) -> None:
    """End a server which does not answer; the next who asks starts another."""
    _, process = _server(python)
    gone = process.poll()
    status = Path(f"/proc/{process.pid}/status").read_text() if gone is None else f"ended {gone}"
    stood = [line for line in status.splitlines() if line.startswith(("State", "Threads", "SigPnd", "ended"))]
    warnings.warn(f"the server of warm processes did not answer: {stood}", stacklevel=2)
    process.kill()
    _server.cache_clear()


def _listen(where: str) -> dict[str, Any] | None:
    """Fork for each who asks, until stdin ends; in a fork, what is asked of it."""
    wake, woken = socket.socketpair()
    wake.setblocking(False)
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    waiting: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(where)
        door.listen(64)
        print("listening", flush=True)
        while True:
            ready = select.select([door, wake, sys.stdin], [], [])[0]
            if sys.stdin in ready:
                return None
            if wake in ready:
                wake.recv(4096)
                _tell_ends(waiting)
            if door in ready:
                line = door.accept()[0]
                found, *ends = socket.recv_fds(line, 1, 4)[1]
                if (pid := os.fork()) == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for other in (wake, woken, *waiting.values()):
                        other.close()
                    wanted = _become(found, ends)
                    with line:
                        line.send(TOLD.pack(READY, os.getpid()))
                    return wanted
                waiting[pid] = line
                for end in (found, *ends):
                    os.close(end)


def _tell_ends(waiting: dict[int, socket.socket]) -> None:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with waiting.pop(ended[0]) as line, contextlib.suppress(BrokenPipeError):
                line.send(TOLD.pack(ENDED, os.waitstatus_to_exitcode(ended[1])))


def _become(descriptor: int, ends: list[int]) -> dict[str, Any]:
    """Take what the process was given, as one which was just started has it."""
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        wanted: dict[str, Any] = json.load(file)
    for number, end in enumerate(ends):
        os.dup2(end, number)
        os.close(end)
    if wanted["session"]:
        os.setsid()
    if wanted["terminal"]:
        fcntl.ioctl(2, termios.TIOCSCTTY, 0)
    _limit(wanted["limits"])
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    tempfile.tempdir = None  # where that is says the environment
    sys.stdin = sys.__stdin__ = os.fdopen(0, encoding="utf-8", closefd=False)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", closefd=False)  # type: ignore[misc]
    err = os.fdopen(2, "w", encoding="utf-8", closefd=False, errors="backslashreplace", buffering=1)
    sys.stderr = sys.__stderr__ = err  # type: ignore[misc]
    sys.argv = ["assay", *wanted["arguments"]]
    if wanted["packages"]:
        sys.path.insert(0, wanted["packages"])
    return wanted


def _limit(limits: Mapping[str, int]) -> None:
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, name), (most, most))


def _warm_up(serve_once: Callable[[], None]) -> None:
    for part in PARTS:
        package = importlib.import_module(f"assay.{part}")
        for module in pkgutil.walk_packages(getattr(package, "__path__", []), f"assay.{part}."):
            if "migrations" not in module.name:  # which alembic runs
                with contextlib.suppress(ImportError):  # an extra which is not installed
                    importlib.import_module(module.name)
    _use(serve_once)
    gc.collect()
    gc.freeze()


def _use(serve_once: Callable[[], None]) -> None:
    """Answer and serve once: patterns, decoders, statements and certificates are made when they are first used."""
    from assay.cli import main
    from assay.core.patterns import compile_all
    from assay.core.remote_services import trusted

    compile_all()
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="warm-") as folder, contextlib.redirect_stdout(io.StringIO()):
        os.environ.update(ASSAY_HOME=f"{folder}/home", ASSAY_CONFIG=f"{folder}/config.toml")
        (note := Path(folder, "tides.md")).write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
        assert main([*"research -q --yes --offline --in".split(), str(note), "How far does the tide rise?"]) == 0
        serve_once()
    os.environ.clear()
    os.environ.update(before)
    trusted()
    trusted(told=True)
    assert threading.active_count() == 1, threading.enumerate()  # a fork has only the one which forks


def _end(code: int) -> NoReturn:
    """Leave as the interpreter does, but for the modules: to let go of each object copies all memory of the fork."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, BrokenPipeError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    from passwords import cheapen
    from visited import serve_once

    cheapen()
    sys.path = [path for path in sys.path if path != str(Path(__file__).parent)]
    _warm_up(serve_once)
    if (asked := _listen(sys.argv[1])) is not None:
        from assay.cli import main

        if asked["program"]:
            exec(asked["program"], {"__name__": "__main__"})
        _end(0 if asked["program"] else main())
