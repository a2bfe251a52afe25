"""Runs on a journal which one process leaves and the next takes up: what the runtime's contract is tried with."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from simulated_time import clock, wall

from assay.core.brief import ROLES, Brief
from assay.core.errors import FenceLost, LeaseHeld
from assay.core.events import PhaseStarted
from assay.core.messages import Message, Request
from assay.core.ports import Commit, EventDraft, Journal, Lease, World
from assay.models.script import Scripted
from assay.run.engine import Engine, Outcome, RunTask
from assay.run.run import Run
from assay.store.memory import memory_store
from assay.store.sql import open_store

Pipeline = Callable[[Run], Awaitable[Outcome]]
DONE = Outcome()
ASK = Request(task="research", system="", messages=(Message(role="user", text="hello"),))


class Journals:
    """Opens journals on one place: a process that dies and the next which finds what it left."""

    def __init__(self, kind: str, home: Path, database: str = "") -> None:
        self._kind, self._home, self._database = kind, home, database
        self._memory = memory_store(wall)
        self._opened: list[Journal] = []

    def journal(self) -> Journal:
        if self._kind == "memory":
            return self._memory.journal
        journal = open_store(self._home, database=self._database).journal
        self._opened.append(journal)
        return journal

    async def close(self) -> None:
        for journal in self._opened:
            await journal.close()


def world(model: Scripted | None = None) -> World:
    store = memory_store()
    return World(
        models={"scripted": model or Scripted([])},
        searches=(),
        library=store.library,
        blobs=store.blobs,
        clock=clock(),
    )


def brief(**changes: object) -> Brief:
    roles = dict.fromkeys(ROLES, ("scripted",))
    return Brief(**{"question": "?", "date": "2026-01-01", "models": roles} | changes)  # type: ignore[arg-type]


def fixed(made: Brief, at: World) -> Callable[[], Awaitable[tuple[Brief, World]]]:
    """What an engine starts a run from."""

    async def prepare() -> tuple[Brief, World]:
        return made, at

    return prepare


def ready(at: World | None = None, **changes: object) -> Callable[[], Awaitable[tuple[Brief, World]]]:
    """The same, with a brief that says no more than this."""
    return fixed(brief(**changes), at or world())


class Killed(BaseException):
    """The process died here."""


def phase(name: str) -> Callable[[EventDraft], bool]:
    """Whether an event says that it begins."""
    return lambda each: each.type == PhaseStarted.kind and each.path[:1] == (name,)


class Dying:
    """A journal which fails for good at its `last`-th write, counted from one with an event `since` is true of; never,
    if that is 0.
    """

    def __init__(self, inner: Any, last: int, since: Callable[[EventDraft], bool] | None = None) -> None:
        self._inner, self._last, self._since, self.writes = inner, last, since, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[Any]:
        self.writes += self._since is None or self.writes > 0 or any(map(self._since, commit.events))
        if self._last and self.writes >= self._last:
            return self._die()
        written: Awaitable[Any] = self._inner.commit(lease, commit)
        return written

    async def _die(self) -> Any:
        raise Killed


async def first(journals: Journals, pipeline: Pipeline, at: World, **changes: object) -> RunTask:
    """Start a run in a process of its own; it may die."""

    handle = Engine(journals.journal(), pipeline, holder="one", ttl=0.05).start(ready(at, **changes))
    await outcome(handle)
    return handle


async def again(journals: Journals, run_id: str, pipeline: Pipeline, at: World) -> RunTask:
    """Another process takes the run up."""
    engine = Engine(journals.journal(), pipeline, holder=f"two-{random.random()}", ttl=0.05)
    return await taken_up(engine, run_id, at)


async def taken_up(engine: Engine, run_id: str, at: World) -> RunTask:
    """A run another process has left, once its lease is over."""
    while True:
        try:
            handle = await engine.resume(run_id, lambda _: at)
            break
        except LeaseHeld:
            await asyncio.sleep(0.02)
    await outcome(handle)
    return handle


async def outcome(handle: RunTask) -> None:
    with contextlib.suppress(Killed, asyncio.CancelledError, FenceLost):
        await asyncio.wait_for(handle.wait(), 60)


async def log(journals: Journals, run_id: str) -> list[tuple[str, tuple[str, ...], bytes]]:
    envelopes = await journals.journal().events(run_id)
    assert [e.seq for e in envelopes] == list(range(1, len(envelopes) + 1))
    return [(e.type, e.path, bytes(e.data)) for e in envelopes]
