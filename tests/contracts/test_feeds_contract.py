"""What every store keeps of following: nothing missed, nothing twice, one reader however many follow."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest
from journals import begin, commit_of, draft
from waiting import until

from assay.core.errors import UnknownName
from assay.core.events import RunWaiting
from assay.core.ports import Commit, EventDraft, Journal
from assay.run.feeds import EVENTS_PER_READ, MAX_WINDOW_EVENTS, POLL_SECONDS, Feeds

LIMIT = 120.0


class Counting:
    """A journal which counts what it is asked."""

    def __init__(self, journal: Journal) -> None:
        self._journal, self.asked = journal, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        if name in ("rows", "events", "news"):
            self.asked[name] += 1
        return getattr(self._journal, name)


async def followed(feeds: Feeds, after: int = 0, run_id: str = "r1", **options: bool) -> list[int]:
    async with asyncio.timeout(LIMIT):
        return [envelope.seq async for envelope in feeds.follow(run_id, after, **options)]


async def test_rows_are_found_by_id_in_one_query(journal: Journal):
    await journal.create("r1", "why?", b"{}", [draft("a")])
    await journal.create("r2", "how?", b"{}", [])
    found = await journal.rows(["r2", "r1", "none"])
    assert found == {"r1": await journal.find("r1"), "r2": await journal.find("r2")}
    assert await journal.rows([]) == {}


async def test_news_of_many_runs_come_in_one_look(journal: Journal):
    leases = [await begin(journal, run_id) for run_id in ("r1", "r2", "r3")]
    for lease in leases:
        await journal.commit(lease, commit_of(*(f"{part}" for part in range(4))))
    found = await journal.news({"r1": 1, "r2": 3, "r3": 5, "none": 0}, 100)
    assert {id: [each.seq for each in news.events] for id, news in found.items()} == {
        "r1": [2, 3, 4, 5],
        "r2": [4, 5],
        "r3": [],
    }
    assert {id: news.row for id, news in found.items()} == await journal.rows(["r1", "r2", "r3"])
    assert list(found["r1"].events) == await journal.events("r1", after=1)
    few = await journal.news({"r1": 0, "r2": 0}, 7)
    assert sum(len(news.events) for news in few.values()) == 7
    assert all([each.seq for each in news.events] == list(range(1, len(news.events) + 1)) for news in few.values())
    assert await journal.news({}, 10) == {}
    assert await journal.owned_by("bob").news({"r1": 0}, 10) == {}


async def test_what_one_process_writes_its_listeners_hear(journal: Journal):
    lease = await begin(journal)
    lines: list[str] = []
    stop = journal.listen(lines.append)
    await journal.commit(lease, commit_of("a"))
    await until(lambda: "r1" in lines)
    lines.clear()
    await journal.control("r1", "finish", [draft("asked")])
    await until(lambda: "r1" in lines)
    stop()
    await asyncio.sleep(0.05)
    lines.clear()
    await journal.commit(lease, commit_of("b"))
    await asyncio.sleep(0.1)
    assert lines == []


async def test_on_postgres_other_processes_hear(journal: Journal, other: Journal, request: pytest.FixtureRequest):
    if "postgres" not in request.node.callspec.id:
        pytest.skip("a file tells nobody: who follows looks from time to time")
    lease = await begin(journal)
    lines: list[str] = []
    stop = other.listen(lines.append)
    async with asyncio.timeout(LIMIT):
        for number in count():
            if "r1" in lines:
                break
            await journal.commit(lease, commit_of(f"{number}"))  # what is written while it connects it does not hear
            await asyncio.sleep(0.1)
    await asyncio.sleep(0.1)
    lines.clear()
    await journal.post("r1", "answers", b"yes", [draft("told")])
    await until(lambda: "r1" in lines)
    stop()


async def test_followers_who_come_and_go_miss_nothing_and_hear_nothing_twice(journal: Journal, other: Journal):
    lease = await begin(journal)
    chance, feeds = random.Random(7), Feeds(other)

    async def watcher() -> list[int]:
        seen: list[int] = []
        async with asyncio.timeout(LIMIT):
            while True:
                async for envelope in feeds.follow("r1", len(seen)):
                    seen.append(envelope.seq)
                    if chance.random() < 0.05:
                        break  # the connection was lost; it comes back by number
                else:
                    return seen

    watching = [asyncio.ensure_future(watcher()) for _ in range(5)]
    for number in range(60):
        await journal.commit(lease, commit_of(*(f"{number}-{part}" for part in range(3))))
        await asyncio.sleep(chance.random() * 0.01)
    await journal.commit(lease, Commit(events=(draft("last"),), status="completed"))
    assert [await each for each in watching] == [list(range(1, 183))] * 5
    await feeds.close()


async def test_a_hundred_followers_cost_what_one_costs(journal: Journal):
    lease = await begin(journal)
    counting, began = Counting(journal), asyncio.get_running_loop().time()
    feeds = Feeds(counting)  # type: ignore[arg-type]
    following = [asyncio.ensure_future(followed(feeds, after=1)) for _ in range(100)]
    await until(lambda: "r1" in feeds._feeds and feeds._feeds["r1"].followers == 100)
    await asyncio.sleep(0.1)
    for number in range(10):
        await journal.commit(lease, commit_of(f"{number}"))
        await asyncio.sleep(0.03)
    await journal.commit(lease, Commit(status="completed"))
    assert [await each for each in following] == [list(range(2, 12))] * 100
    took = asyncio.get_running_loop().time() - began
    assert counting.asked["events"] + counting.asked["news"] <= 30 + took / POLL_SECONDS  # it looks unasked, too
    await feeds.close()


async def test_older_events_than_the_window_holds_come_from_the_store(journal: Journal):
    lease = await begin(journal)
    feeds = Feeds(journal)
    early = asyncio.ensure_future(followed(feeds))
    await asyncio.sleep(0.1)
    for part in range(5):
        await journal.commit(lease, commit_of(*(f"{part}-{number}" for number in range(MAX_WINDOW_EVENTS // 4))))
        await asyncio.sleep(0.05)
    late = asyncio.ensure_future(followed(feeds, after=1))
    await asyncio.sleep(0.05)
    await journal.commit(lease, Commit(events=(draft("last"),), status="completed"))
    last = len(await journal.events("r1"))
    assert await early == list(range(1, last + 1))
    assert await late == list(range(2, last + 1))
    await feeds.close()


async def test_waiting_for_a_person_ends_it_but_for_the_patient(journal: Journal):
    lease = await begin(journal)
    waiting = EventDraft(
        key="w", path=(), type=RunWaiting.kind, data=b'{"topic":"answers"}', at="2026-03-01T12:00:00.000Z"
    )
    await journal.commit(lease, Commit(events=(waiting,), status="waiting"))
    await journal.release(lease)
    feeds = Feeds(journal)
    assert await followed(feeds) == [1, 2]
    patient = asyncio.ensure_future(followed(feeds, patient=True))
    await asyncio.sleep(0.3)
    assert not patient.done()
    lease = await journal.acquire("r1", "host:2", 30)
    await journal.commit(lease, Commit(events=(draft("on"),), status="completed"))
    assert await patient == [1, 2, 3]
    await feeds.close()


async def test_a_run_that_is_unknown_or_deleted_is_said_to_be(journal: Journal):
    feeds = Feeds(journal)
    with pytest.raises(UnknownName):
        await followed(feeds, run_id="none")
    lease = await begin(journal)
    following = asyncio.ensure_future(followed(feeds, patient=True))
    await asyncio.sleep(0.1)
    await journal.release(lease)
    await journal.delete("r1")
    with pytest.raises(UnknownName):
        await following
    await feeds.close()


@pytest.mark.parametrize("stored_again", [False, True])
async def test_a_run_deleted_before_it_was_read_is_said_to_be(journal: Journal, stored_again: bool):
    lease = await begin(journal)
    await journal.commit(lease, commit_of(*map(str, range(EVENTS_PER_READ + 100))))
    await journal.release(lease)
    feeds = Feeds(journal)
    following = feeds.groups("r1", patient=True)
    assert len(await anext(following)) == EVENTS_PER_READ
    await journal.delete("r1")
    if stored_again:
        await begin(journal)
    async with asyncio.timeout(LIMIT):
        with pytest.raises(UnknownName):
            await anext(following)
    await feeds.close()


async def test_a_run_stored_again_with_fewer_events_is_another(journal: Journal):
    lease = await begin(journal)
    await journal.commit(lease, commit_of("a", "b"))
    feeds = Feeds(journal)
    following = feeds.groups("r1", patient=True)
    assert len(await anext(following)) == 3
    await journal.release(lease)
    await journal.delete("r1")
    await begin(journal)
    async with asyncio.timeout(LIMIT):
        with pytest.raises(UnknownName):
            await anext(following)
    await feeds.close()


async def test_a_store_that_fails_is_no_silence(journal: Journal):
    await begin(journal)

    class Failing(Counting):
        async def news(self, after: Mapping[str, int], limit: int) -> Any:
            raise OSError("gone")

    feeds = Feeds(Failing(journal))  # type: ignore[arg-type]
    with pytest.raises(OSError, match="gone"):
        await followed(feeds)
