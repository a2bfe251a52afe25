"""Ctrl-Z: a command stops between its transactions, so that others can write while it is stopped."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from waiting import LONG

from assay.core.stop_gate import StopGate
from assay.store.sql import open_store
from assay.store.sql.home import DATABASE_FILE

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGTSTP"), reason="there is no Ctrl-Z")

CHILD = """
import importlib, sys, threading, time
from pathlib import Path

from assay.store.sql.database import Database

command = importlib.import_module("assay.cli.main")
database = Database(Path(sys.argv[1]))


def write(lasts):
    with database.write():
        print("inside", flush=True)
        time.sleep(lasts)
    print("outside", flush=True)


def works(*_):
    thread = threading.Thread(target=write, args=(0.6,)) if sys.argv[2] == "thread" else None
    if thread is None:
        write(0.6)
    else:
        thread.start()
        thread.join()
    write(0.1)
    print("done", flush=True)
    return 0


command._run = works  # in place of a command
sys.exit(command.main([]))
"""


@pytest.mark.parametrize("where", ["thread", "main"])
def test_a_stopped_command_keeps_nobody_from_writing(tmp_path: Path, where: str) -> None:
    open_store(tmp_path)
    command = [sys.executable, "-c", CHILD, str(tmp_path / DATABASE_FILE), where]
    # its own group: a group without a parent in its session is not stopped by Ctrl-Z
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, process_group=0)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "inside\n"
        os.kill(child.pid, signal.SIGTSTP)
        until_stopped(child.pid)
        other = sqlite3.connect(tmp_path / DATABASE_FILE, timeout=1, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # raises if another process is in a transaction
        other.execute("ROLLBACK")
        other.close()
        os.kill(child.pid, signal.SIGCONT)
        assert child.communicate(timeout=LONG)[0].splitlines() == ["outside", "inside", "outside", "done"]
        assert child.returncode == 0
    finally:
        child.kill()
        child.wait()


def until_stopped(pid: int) -> None:
    end = time.monotonic() + LONG
    while psutil.Process(pid).status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_transaction_that_does_not_end_is_waited_for_only_so_long() -> None:
    gate, inside, leave, stopped = StopGate(), threading.Event(), threading.Event(), list[bool]()

    def write() -> None:
        with gate.transaction():
            inside.set()
            leave.wait(LONG)

    thread = threading.Thread(target=write)
    thread.start()
    assert inside.wait(LONG)
    gate.stop(lambda: stopped.append(True), 0.05)
    assert stopped == [True]
    leave.set()
    thread.join(LONG)


def test_nobody_enters_while_the_process_is_to_stop() -> None:
    gate, order = StopGate(), list[str]()

    def write() -> None:
        with gate.transaction():
            order.append("inside")

    thread = threading.Thread(target=write)

    def stop() -> None:
        thread.start()
        thread.join(0.1)
        order.append("stopped")

    gate.stop(stop, LONG)
    thread.join(LONG)
    assert order == ["stopped", "inside"]


def test_a_thread_that_is_inside_may_enter_again_and_stops_when_it_has_left() -> None:
    gate, order = StopGate(), list[str]()
    with gate.transaction():
        gate.stop(lambda: order.append("stopped"), LONG)
        with gate.transaction():
            order.append("again")
        order.append("still inside")
    assert order == ["again", "still inside", "stopped"]
