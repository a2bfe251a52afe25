"""Who holds a lease: a name for this process, and whether the process of a name is gone."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.later import later

if TYPE_CHECKING:
    import psutil
else:
    psutil = later("psutil")

WORDS = 6
"""Words in the name of a process: process N on HOST since START."""
TICKS = "tick:"
"""Begins a start counted in ticks since the machine booted: setting the clock does not change it."""

_ENDED = ("Z", "X")
"""States of a process which executes nothing any more (field 3)."""
_FIRST_SPACE = 0xEFFFFFFC
"""The number of the first namespace of processes (`PROC_PID_INIT_INO` of Linux): no container's."""


def this_process() -> str:
    """Who holds a lease: process id, host, and when the process started (a number used again is another process)."""
    return f"process {os.getpid()} on {_machine()} since {_ticks(os.getpid()) or _seconds(os.getpid())}"


def is_dead(holder: str) -> bool:
    """Whether `holder` is known to be gone: it ran on this host and is no longer there, or only as a zombie."""
    words = holder.split()
    if len(words) != WORDS or words[3] != _machine() or not words[1].isdigit():
        return False
    number, since = int(words[1]), words[5]
    try:
        started = _ticks(number) if since.startswith(TICKS) else _seconds(number)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
    return started != since


def _seconds(number: int) -> str:
    """When a process started, in seconds since 1970: what there is where starts are not counted in ticks."""
    return f"{psutil.Process(number).create_time():.2f}"


def _ticks(number: int) -> str:
    """When a process started, in ticks since boot (`man 5 proc_pid_stat`, field 22); empty where that is not told.

    Raises:
        psutil.NoSuchProcess: there is none of that number, or only one which has ended and is not yet buried.
    """
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        if not psutil.pid_exists(number):
            raise psutil.NoSuchProcess(number) from None
        return ""
    fields = stat.rpartition(")")[2].split()  # the name before it may hold anything
    if fields[:1] and fields[0] in _ENDED:
        raise psutil.NoSuchProcess(number)
    return f"{TICKS}{fields[19]}" if len(fields) > 19 else ""


def _machine() -> str:
    """Where numbers of processes mean the same: this host, and of containers which share its name, this one."""
    host = socket.gethostname()
    try:
        space = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return host
    return host if space == _FIRST_SPACE else f"{host}/{space}"
