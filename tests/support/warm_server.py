"""The process which the commands of `warm` are forks of: it has loaded and used everything once.

python warm_server.py SOCKET

One is there for all processes of a test session; it ends when the last of them has. Whoever loads this file finds
nothing but the standard library in it: a fork's own child processes do, to find their main module.
"""

from __future__ import annotations

import atexit
import ctypes
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
import sys
import tempfile
import termios
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any, NoReturn

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
PR_SET_PDEATHSIG = 1
"""Of Linux: the signal that a process gets when its parent ends."""
FORK, STAY = b"!", b"+"
"""What a client says first: that it wants a process; that it is there, until it closes the line."""


class _Door:
    """Where it listens, and who is there."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(where)
        self.socket.listen(64)
        self.guests: set[socket.socket] = set()
        self.waiting: dict[int, socket.socket] = {}

    def close(self) -> None:
        """In a fork."""
        for each in (self.socket, *self.guests, *self.waiting.values()):
            each.close()

    def leaves(self) -> bool:
        """Whether nobody is there or on the way, who holds the lock; then there is no way in any more."""
        with suppress(BlockingIOError), locked(self.where, wait=False):
            if not select.select([self.socket], [], [], 0)[0]:
                os.unlink(self.where)
                os.unlink(f"{self.where}.lock")
                return True
        return False


@contextmanager
def locked(where: str, *, wait: bool = True) -> Iterator[None]:
    """For who begins a server, asks whether it stays, or ends it; `BlockingIOError` if another has it."""
    while True:
        with open(f"{where}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            try:
                stands = os.fstat(lock.fileno()).st_ino == os.stat(lock.name).st_ino
            except FileNotFoundError:
                stands = False
            if stands:  # else who left has removed it meanwhile
                yield
                return


def _listen(where: str) -> dict[str, Any] | None:
    """Fork for each who asks, until nobody is there any more; in a fork, what is asked of it."""
    wake, woken = socket.socketpair()
    wake.setblocking(False)
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    door = _Door(where)
    print("listening", flush=True)
    while True:
        ready = select.select([door.socket, wake, *door.guests], [], [], None if door.guests else 0.2)[0]
        if wake in ready:
            wake.recv(4096)
            _tell_ends(door.waiting)
        for guest in door.guests.intersection(ready):
            guest.close()
            door.guests.remove(guest)
        if door.socket in ready:
            line = door.socket.accept()[0]
            said, found, _, _ = socket.recv_fds(line, 1, 4)
            if said == STAY:
                line.send(TOLD.pack(READY, os.getpid()))
                door.guests.add(line)
            elif said == FORK and (wanted := _forked(door, line, found, (wake, woken))):
                return wanted
            elif not said:
                line.close()
        elif not door.guests and door.leaves():
            return None


def _forked(
    door: _Door, line: socket.socket, found: list[int], ours: tuple[socket.socket, ...]
) -> dict[str, Any] | None:
    """Make the process; in it, what is asked of it."""
    descriptor, *ends = found
    parent = os.getpid()
    if (pid := os.fork()) == 0:
        _end_with(parent)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        door.close()
        for side in ours:
            side.close()
        wanted = _become(descriptor, ends)
        with line:
            line.send(TOLD.pack(READY, os.getpid()))
        return wanted
    door.waiting[pid] = line
    for each in found:
        os.close(each)
    return None


def _end_with(parent: int) -> None:
    """Let this process end with its parent, which ends with its last guest: tests that are killed end nothing."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _tell_ends(waiting: dict[int, socket.socket]) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with waiting.pop(ended[0]) as line, suppress(BrokenPipeError):
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
    limit(wanted["limits"])
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


def limit(limits: Mapping[str, int]) -> None:
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, name), (most, most))


def _warm_up(serve_once: Callable[[], None]) -> None:
    for part in PARTS:
        package = importlib.import_module(f"assay.{part}")
        for module in pkgutil.walk_packages(getattr(package, "__path__", []), f"assay.{part}."):
            if "migrations" not in module.name:  # which alembic runs
                with suppress(ImportError):  # an extra which is not installed
                    importlib.import_module(module.name)
    _use(serve_once)
    gc.collect()
    gc.freeze()


def _use(serve_once: Callable[[], None]) -> None:
    """Answer and serve once: patterns, decoders, statements and certificates are made when they are first used."""
    from assay.cli import main
    from assay.core.lazy import compile_all
    from assay.core.remote_services import tls_context
    from assay.locale import LOCALES, catalogue
    from assay.verify.texts import references

    compile_all()
    for locale in LOCALES:
        catalogue(locale)
    references.export_headings(), references.source_list_headings(), references._after_claims(), references._counts()
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="warm-") as folder, redirect_stdout(io.StringIO()):
        os.environ.update(ASSAY_HOME=f"{folder}/home", ASSAY_CONFIG=f"{folder}/config.toml")
        (note := Path(folder, "tides.md")).write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
        assert main([*"research -q --yes --offline --in".split(), str(note), "How far does the tide rise?"]) == 0
        serve_once()
    os.environ.clear()
    os.environ.update(before)
    tls_context()
    tls_context(from_environment=True)
    assert threading.active_count() == 1, threading.enumerate()  # a fork has only the one which forks


def _end(code: int) -> NoReturn:
    """Leave as the interpreter does, but for the modules: to let go of each object copies all memory of the fork."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, BrokenPipeError):
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
