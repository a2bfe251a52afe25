"""Who holds a lease: processes of this machine are known dead or alive, whatever the clock says."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from assay.core.errors import process_of
from assay.run.process import TICKS, give_up_name, is_dead, name_engine, this_process


def test_this_process_is_alive() -> None:
    assert not is_dead(this_process())


def test_a_process_that_ended_is_dead() -> None:
    code = "from assay.run.process import this_process; print(this_process())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert is_dead(done.stdout.strip())


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="starts are not told in ticks here")
def test_a_start_is_told_in_ticks_which_setting_the_clock_does_not_change() -> None:
    stamp = this_process().split()[-1]
    assert stamp.startswith(TICKS)
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    assert 0 < int(stamp.removeprefix(TICKS)) / os.sysconf("SC_CLK_TCK") <= uptime


def test_a_number_used_again_is_another_process() -> None:
    words = this_process().split()
    assert is_dead(" ".join([*words[:-1], f"{TICKS}1"]))
    assert is_dead(" ".join([*words[:-1], "1.00"]))


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="states are not told here")
def test_a_process_which_nobody_has_buried_is_dead() -> None:
    code = "from assay.run.process import this_process; print(this_process(), flush=True); input()"
    ways = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **ways) as process:
        assert process.stdout is not None
        holder = process.stdout.readline().strip()
        assert not is_dead(holder)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is left a zombie
        assert is_dead(holder)


def test_a_container_of_the_same_name_is_another_machine() -> None:
    words = this_process().split()
    elsewhere = f"{words[3].partition('/')[0]}/12345"
    assert not is_dead(" ".join([*words[:3], elsewhere, words[4], f"{TICKS}1"]))


def test_a_holder_as_the_release_before_named_it_is_known() -> None:
    started = psutil.Process().create_time()
    assert not is_dead(f"process {os.getpid()} on {socket.gethostname()} since {started:.2f}")


@pytest.mark.parametrize("holder", ["", "somebody", "process 1 on elsewhere since tick:1", "process x on h since 1 2"])
def test_what_cannot_be_known_is_not_called_dead(holder: str) -> None:
    assert not is_dead(holder)


class Engineer:
    """Something that holds leases."""


def test_engines_of_one_process_are_told_apart_while_they_last() -> None:
    first, second = Engineer(), Engineer()
    names = [name_engine(first), name_engine(second)]
    assert len({*names, this_process()}) == 3
    assert not any(map(is_dead, names))
    assert {process_of(name) for name in names} == {process_of(this_process())}
    give_up_name(names[0])
    assert list(map(is_dead, names)) == [True, False]
    del second
    gc.collect()
    assert is_dead(names[1])


def test_an_engine_of_another_process_is_as_alive_as_that() -> None:
    code = (
        "from assay.run.process import name_engine\n"
        "class Engineer: pass\n"
        "print(name_engine(Engineer()), flush=True); input()"  # only that process knows that its engine is gone
    )
    ways = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **ways) as process:
        assert process.stdout is not None
        holder = process.stdout.readline().strip()
        assert not is_dead(holder)
        process.communicate("\n")
    assert is_dead(holder)
