import asyncio
import os
import signal
import sys

import pytest

from assay.cli.signals import TerminationSignal, cancel_on_signal, on_continue, on_interrupts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself Ctrl-C there")


async def press() -> None:
    """Ctrl-C, as the terminal sends it."""
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(0.02)


async def test_the_nth_ctrl_c_calls_the_nth_action():
    done: list[str] = []
    with on_interrupts(lambda: done.append("finish"), lambda: done.append("cancel")):
        await press()
        assert done == ["finish"]
        await press()
        assert done == ["finish", "cancel"]


async def test_afterwards_ctrl_c_is_what_it_was():
    before = signal.getsignal(signal.SIGINT)
    with on_interrupts(lambda: None):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


async def test_one_ctrl_c_too_many_leaves_at_once():
    done: list[str] = []
    caught = signal.signal(signal.SIGINT, lambda *_: done.append("as usual"))
    try:
        with on_interrupts(lambda: done.append("finish")):
            await press()
            await press()
    finally:
        signal.signal(signal.SIGINT, caught)
    assert done == ["finish", "as usual"]


async def test_who_only_watches_leaves_with_the_first_ctrl_c():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(TerminationSignal) as caught, cancel_on_signal(), cancel_on_signal(signal.SIGINT):
        await asyncio.gather(press(), asyncio.sleep(10))
    assert caught.value.number == signal.SIGINT
    assert signal.getsignal(signal.SIGINT) is before
    await asyncio.sleep(0)  # the task itself was not cancelled


async def test_going_on_after_ctrl_z_is_noticed():
    seen: list[str] = []
    with on_continue(lambda: seen.append("on")):
        os.kill(os.getpid(), signal.SIGCONT)
        await asyncio.sleep(0.02)
    assert seen == ["on"]
    os.kill(os.getpid(), signal.SIGCONT)
    await asyncio.sleep(0.02)
    assert seen == ["on"]
