"""One run for many followers: each event once for each, whoever is slow, comes late or wants few kinds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from simulated_time import in_simulated_time

from assay.core.errors import Cancelled
from assay.core.events import Envelope
from assay.server import broadcasts as subject
from assay.server.broadcasts import Broadcasts, RunStream
from assay.server.problems import Refusal
from assay.server.streams import (
    ACCESS,
    ACCESS_SECONDS,
    HEARTBEAT_FRAME,
    OUTLET,
    RETRY_FRAME,
    Outlet,
    Tickets,
    run_frames,
)

RUN = "r1"


def event(seq: int, type: str = "report.delta") -> Envelope:
    return Envelope(seq=seq, run_id=RUN, at="", path=("write",), type=type, data=msgspec.Raw(b"{}"))


@dataclass
class Client:
    """A connection: what was written to it, and whether it takes more."""

    written: list[bytes] = field(default_factory=list)
    write_paused: bool = False
    taking: asyncio.Event = field(default_factory=asyncio.Event)
    closed: bool = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.closed

    def abort(self) -> None:
        self.closed = True

    async def send(self, message: Any) -> None:
        """As the server's `send`: what cannot be written is waited for."""
        while self.write_paused:
            await self.taking.wait()
        if message["type"] == "http.response.body":
            self.written.append(message["body"])

    def takes(self, yes: bool) -> None:
        self.write_paused = not yes
        (self.taking.set if yes else self.taking.clear)()

    @property
    def seen(self) -> list[int]:
        lines = b"".join(self.written).split(b"\n")
        return [int(line[4:]) for line in lines if line.startswith(b"id: ")]


class Site:
    """A log which grows as the test says, and broadcasts of it."""

    def __init__(self) -> None:
        self.log: list[Envelope] = []
        self.coming: asyncio.Queue[Sequence[Envelope] | None] = asyncio.Queue()
        self.read = 0
        self.broadcasts = Broadcasts(self._groups, self._stored)
        self.tickets = Tickets(100, 100)

    async def _groups(self, _run: str, after: int, _rest: float) -> AsyncIterator[Sequence[Envelope]]:
        while (group := await self.coming.get()) is not None:
            yield [each for each in group if each.seq > after]
        raise Cancelled("the server is stopping")

    async def _stored(self, _run: str, after: int, limit: int) -> Sequence[Envelope]:
        self.read += 1
        return self.log[after : after + limit]

    async def say(self, *types: str) -> None:
        """The log grows; all who can have it then."""
        new = [event(len(self.log) + number, type) for number, type in enumerate(types, 1)]
        self.log += new
        await self.coming.put(new)
        await asyncio.sleep(0.01)

    def follow(
        self, client: Client, after: int = 0, types: tuple[str, ...] = (), access: Callable[[], Any] | None = None
    ) -> asyncio.Task[None]:
        ticket = self.tickets.ticket("")
        stream = RunStream(self.broadcasts, (RUN, len(self.log)), (types, after), ticket, run_frames(_none(), bool))
        scope = {"type": "http", "http_version": "1.0", "state": {OUTLET: Outlet(client, client), ACCESS: access}}  # type: ignore[arg-type]
        return asyncio.create_task(stream(scope, None, client.send))  # type: ignore[arg-type]


async def _none() -> AsyncIterator[Sequence[Envelope]]:
    for group in ():
        yield group


@pytest.fixture
def site() -> Site:
    return Site()


@in_simulated_time
async def test_who_comes_late_and_who_was_there_have_the_same(site: Site) -> None:
    await site.say(*["report.delta"] * 3)
    early, late = Client(), Client()
    tasks = [site.follow(early)]
    await asyncio.sleep(0.01)
    for _ in range(5):
        await site.say("report.delta", "report.delta")
    tasks.append(site.follow(late, after=2))
    await site.say("run.completed")
    assert (early.seen, late.seen) == (list(range(1, 15)), list(range(3, 15)))
    await site.coming.put(None)
    await asyncio.gather(*tasks)
    assert early.written[-2:] == [RETRY_FRAME, b""]  # it is told to come back, and that this was the end
    for _ in range(100):  # each of the two had a ticket, and gave it back
        site.tickets.ticket("")
    with pytest.raises(Refusal, match="streams are open"):
        site.tickets.ticket("")


@pytest.mark.parametrize("groups", [[[2], [3, 4]], [[2, 3], [4]], [[2, 3, 4]], [[2], [3], [4]]])
@in_simulated_time
async def test_who_has_read_more_in_the_store_than_the_broadcast_misses_nothing(
    site: Site, groups: list[list[int]]
) -> None:
    await site.say("report.delta")
    early, late = Client(), Client()
    tasks = [site.follow(early, after=1)]
    await asyncio.sleep(0.01)
    site.log += [event(2), event(3)]  # stored, and not yet announced
    tasks.append(site.follow(late))
    await asyncio.sleep(0.01)
    assert late.seen == [1, 2, 3]
    site.log.append(event(4))
    for group in groups:
        await site.coming.put([event(seq) for seq in group])
    await asyncio.sleep(0.01)
    await site.say("run.completed")
    assert (early.seen, late.seen) == ([2, 3, 4, 5], [1, 2, 3, 4, 5])
    await site.coming.put(None)
    await asyncio.gather(*tasks)


@in_simulated_time
async def test_who_takes_nothing_falls_behind_and_costs_the_others_nothing(site: Site) -> None:
    quick, slow = Client(), Client()
    tasks = [site.follow(quick), site.follow(slow)]
    await asyncio.sleep(0.01)
    await site.say("report.delta")
    slow.takes(False)
    for _ in range(50):
        await site.say("report.delta")
    assert quick.seen == list(range(1, 52))
    assert slow.seen == [1]
    slow.takes(True)
    await asyncio.sleep(0.02)
    await site.say("run.completed")
    assert quick.seen == slow.seen == list(range(1, 53))
    assert site.read == 0  # what was encoded for all was kept for him
    await site.coming.put(None)
    await asyncio.gather(*tasks)


@in_simulated_time
async def test_who_takes_nothing_for_long_loses_the_connection(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "SEND_SECONDS", 0.05)
    stuck = Client()
    task = site.follow(stuck)
    await asyncio.sleep(0.01)
    stuck.takes(False)
    await site.say("report.delta")
    await asyncio.sleep(0.1)
    assert stuck.closed
    stuck.takes(True)  # a closed connection makes nobody wait
    await asyncio.wait_for(task, 60)


@in_simulated_time
async def test_each_gets_the_kinds_he_wants_and_a_word_where_there_are_none(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "HEARTBEAT", 0.0)
    monkeypatch.setattr(subject, "IDLE_SECONDS", 0.0)
    whole, few = Client(), Client()
    tasks = [site.follow(whole), site.follow(few, types=("claim.*",))]
    await asyncio.sleep(0.01)
    await site.say("report.delta", "claim.found")
    await site.say("report.delta")
    await site.say("claim.checked", "report.delta")
    assert (whole.seen, few.seen) == ([1, 2, 3, 4, 5], [2, 4])
    assert HEARTBEAT_FRAME in few.written
    assert HEARTBEAT_FRAME not in whole.written
    await site.coming.put(None)
    await asyncio.gather(*tasks)


@in_simulated_time
async def test_older_events_than_are_kept_come_from_the_store(site: Site) -> None:
    await site.say(*["report.delta"] * 2_500)
    client = Client()
    task = site.follow(client)
    await asyncio.sleep(0.05)
    await site.say("run.completed")
    assert client.seen == list(range(1, 2_502))
    assert site.read == 3
    await site.coming.put(None)
    await task


@in_simulated_time
async def test_who_may_no_longer_read_gets_no_more(site: Site) -> None:
    may, kept, sent_away = True, Client(), Client()

    async def access() -> bool:
        return may

    tasks = [site.follow(kept), site.follow(sent_away, access=access)]
    await asyncio.sleep(0.01)
    for _ in range(3):
        await site.say("report.delta")
        await asyncio.sleep(ACCESS_SECONDS * 0.9)
    assert kept.seen == sent_away.seen == [1, 2, 3]
    may = False
    await asyncio.sleep(ACCESS_SECONDS)
    await site.say("run.completed")
    assert (kept.seen, sent_away.seen) == ([1, 2, 3, 4], [1, 2, 3])
    assert tasks[1].done()
    await site.coming.put(None)
    await asyncio.gather(*tasks)
