"""A repeated request is done once, whatever the order in which the repetitions go on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from assay.core.errors import InProgress
from assay.services import requests
from assay.services.requests import DONE, run_once
from assay.store.memory import MemoryCache


class SlowCache(MemoryCache):
    """A cache whose answer to the second look for a result arrives late, as on a busy machine."""

    def __init__(self) -> None:
        super().__init__()
        self.looks, self.looked, self.late = 0, threading.Event(), threading.Event()

    def recall(self, key: str) -> bytes | None:
        found = super().recall(key)
        if key.endswith(DONE):
            self.looks += 1
            if self.looks == 1:
                self.looked.set()
                self.late.wait(30)
        return found


def asked(cache: MemoryCache, do: Callable[[], Awaitable[str]]) -> Awaitable[str]:
    context: Any = SimpleNamespace(store=SimpleNamespace(cache=cache))
    return run_once(context, "key", b"asked", do)


class Work:
    def __init__(self) -> None:
        self.done = 0

    async def __call__(self) -> str:
        self.done += 1
        return f"result {self.done}"


async def test_what_was_done_since_a_look_is_not_done_again() -> None:
    cache, work = SlowCache(), Work()
    slow = asyncio.ensure_future(asked(cache, work))
    await asyncio.to_thread(cache.looked.wait, 30)
    assert await asked(cache, work) == "result 1"
    cache.late.set()
    assert await slow == "result 1"
    assert work.done == 1


async def test_of_two_processes_one_takes_over_from_a_dead_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both look while it is not done: the one that says so first does it."""
    cache, work = MemoryCache(), Work()
    monkeypatch.setattr(requests, "is_dead", lambda holder: holder == "dead")
    names = iter(("dead", "first", "second", "second"))
    monkeypatch.setattr(requests, "this_process", lambda: next(names))

    async def dies() -> str:
        raise OSError("the process ends")

    with pytest.raises(OSError, match="ends"):
        await asked(cache, dies)

    async def meanwhile() -> str:
        requests._in_progress.clear()  # another process does not know what goes on in this one
        with pytest.raises(InProgress):
            await asked(cache, work)
        return await work()

    assert await asked(cache, meanwhile) == "result 1"
    assert await asked(cache, work) == "result 1"
    assert work.done == 1
    stored = [msgspec.json.decode(data) for name, data in cache.entries("request/").items() if not name.endswith(DONE)]
    assert [each["holder"] for each in stored] == ["dead", "first"]
