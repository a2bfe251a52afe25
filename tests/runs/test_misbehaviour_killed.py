"""The run in which models do everything wrong, ended at any of its writes and taken up by another process."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Awaitable, Iterable
from typing import Any

import msgspec
import pytest
from misbehaving import Wild, script, spare
from research import Log, whole
from runtime import fixed

from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.errors import FenceLost, LeaseHeld
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports import Commit, Lease, Model, World
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted
from assay.run.engine import Engine
from assay.run.steps import digest

TTL = 0.05
MODELS = dict.fromkeys(ROLES, ("scripted", "spare"))


class Service:
    """A model as a service outside: what no stored step has used of its answers is given again to who asks again."""

    def __init__(self, inner: Scripted) -> None:
        self.inner = inner
        self._scenes: defaultdict[str, list[Scene]] = defaultdict(list)
        self._asked: Counter[str] = Counter()
        self._used: Counter[str] = Counter()

    @property
    def profile(self) -> Profile:
        return self.inner.profile

    def stored(self, request: str) -> None:
        """A step which asked this is stored: its answers are used up."""
        self._used[request] = self._asked[request]

    def forget(self) -> None:
        """Another process asks from now on."""
        self._asked = Counter(self._used)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        key = digest(msgspec.structs.replace(request, schema=msgspec.UNSET, room=msgspec.UNSET))  # as a step is known
        place = self._asked[key]
        self._asked[key] += 1
        if place == len(self._scenes[key]):
            self._scenes[key].append(self.inner._next_scene(request))
        async for item in Scripted([self._scenes[key][place]], profile=self.profile).stream(request):
            yield item

    async def offered(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        pass


class Ending:
    """A journal that takes no write after the `most`-th: the process which held the run is gone."""

    def __init__(self, inner: Any, most: int, services: Iterable[Service]) -> None:
        self._inner, self._most, self._services, self.writes = inner, most, tuple(services), 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[Any]:
        self.writes += 1
        if self.writes > self._most:
            return self._lost()
        for service in self._services:
            for step in commit.steps:
                service.stored(step.input_hash)
        written: Awaitable[Any] = self._inner.commit(lease, commit)
        return written

    async def _lost(self) -> Any:
        raise FenceLost("the process is gone")


class Restarted(Wild):  # type: ignore[misc]
    """The run of the script in one process after another; `ends` are how many writes each but the last lives for."""

    def __init__(self, strategy: str, ends: tuple[int, ...]) -> None:
        super().__init__(spare())
        self.strategy, self.ends, self.writes = strategy, ends, 0
        self.services = {"scripted": Service(Scripted(script(strategy))), "spare": Service(self.spare)}

    def world(self, model: Any) -> World:
        models: dict[str, Model] = dict(self.services)
        base: World = super().world(self.spare)
        return msgspec.structs.replace(base, models=models)

    async def played(self) -> Log:
        run_id = ""
        for process, most in enumerate((*self.ends, 10**9)):
            for service in self.services.values():
                service.forget()
            run_id = await self._process(f"process-{process}", most, run_id)
        return Log(await self.journal.events(run_id), self.services["scripted"].inner)

    async def _process(self, holder: str, most: int, run_id: str) -> str:
        journal = Ending(self.journal, most, self.services.values())
        engine = self.engine(journal, holder=holder, ttl=TTL)
        handle = await self._taken_up(engine, run_id) if run_id else self._begun(engine)
        try:
            await handle.wait()
        except (FenceLost, asyncio.CancelledError):
            assert most < 10**9
        self.writes = journal.writes
        return str(handle.run_id)

    def _begun(self, engine: Engine) -> Any:
        return engine.start(fixed(self.brief(strategy=self.strategy, models=MODELS), self.world(None)))

    async def _taken_up(self, engine: Engine, run_id: str) -> Any:
        while True:
            try:
                return await engine.resume(run_id, lambda _: self.world(None))
            except LeaseHeld:
                await asyncio.sleep(TTL / 4)


def outcome(log: Log) -> dict[str, object]:
    return {
        "text": log.text,
        "findings": {event.lane: event.text for event in log.of(e.FindingAdded)},
        "failed": [event.lane for event in log.of(e.AgentFailed)],
        "ended": (log.last(e.RunCompleted).stop_reason, log.last(e.RunCompleted).verified),
        "claims": [(claim.text, claim.verdict) for claim in fold_events(log.envelopes).claims],
    }


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_ended_at_any_write_it_comes_to_the_same(strategy: str) -> None:
    undisturbed = Restarted(strategy, ())
    wanted = outcome(await undisturbed.played())
    step = max(1, undisturbed.writes // 8)
    for most in range(step // 2 + 1, undisturbed.writes, step):
        log = await Restarted(strategy, (most,)).played()
        assert outcome(log) == wanted, f"ended after {most} of {undisturbed.writes} writes"
        assert whole(log)


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_ended_again_and_again_it_goes_on_where_it_was(strategy: str) -> None:
    wanted = outcome(await Restarted(strategy, ()).played())
    log = await Restarted(strategy, (30, 40, 50)).played()
    assert len(log.of(e.RunResumed)) == 3
    assert outcome(log) == wanted
    assert whole(log)
