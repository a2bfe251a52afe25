"""Processes stopped (SIGSTOP) outside their transactions: in one of SQLite they would keep everybody from writing."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import psutil
from waiting import LONG

from assay.store.sql.home import DATABASE_FILE


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Another program has the database, as `BEGIN EXCLUSIVE` takes it."""
    holder = sqlite3.connect(home / DATABASE_FILE, isolation_level=None, timeout=LONG)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()


def stop(pid: int, home: Path) -> None:
    """Stop a process which works over the home while another has the database; a server has its own means."""
    with locked(home) if (home / DATABASE_FILE).exists() else nullcontext():
        process, end = psutil.Process(pid), time.monotonic() + LONG
        process.send_signal(signal.SIGSTOP)
        while process.status() != psutil.STATUS_STOPPED:
            assert time.monotonic() < end, process
            time.sleep(0.02)
