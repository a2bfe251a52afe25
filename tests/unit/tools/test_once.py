"""Lanes which ask the same at the same time: one does the work, the others get what it got."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import msgspec
import pytest
from research import Log, Sea, WordSearch, within

from assay.core import events as e
from assay.core.errors import LimitReached, SearchError, ToolError
from assay.core.ports import Hit, Query
from assay.core.sources import Document
from assay.core.usage import Budget
from assay.core.web_addresses import ANYTHING, WebRules
from assay.evidence.ledger import Ledger
from assay.run.protocols import Observation
from assay.run.run import Branch, Run
from assay.tools.open import OpenTool
from assay.tools.search import SearchTool


class Slow(WordSearch):
    """Takes its time, so that several ask before it has answered; the first `failures` queries fail."""

    def __init__(self, sea: Sea, failures: int = 0) -> None:
        super().__init__(sea.store.library, sea.reader)
        self._failures = failures

    async def search(self, query: Query) -> list[Hit]:
        self.queries.append(query.text)
        await asyncio.sleep(0.02)
        if len(self.queries) <= self._failures:
            raise SearchError("it is down")
        return (await super().search(query))[: query.limit]


def branches(tool: Any, arguments: Mapping[str, Any], count: int, ledger: Ledger) -> list[Branch[Observation]]:
    async def ask(run: Run, lane: int) -> Observation:
        found: Observation = await tool.run(run, ledger.seeing([lane]), arguments)
        return found

    return [Branch(f"lane-{lane}", partial(ask, lane=lane)) for lane in range(count)]


async def searched(sea: Sea, body: Callable[[Run], Awaitable[None]], slow: Slow) -> Log:
    return await within(sea, body, searches=(slow,))


async def test_the_same_search_at_the_same_time_is_made_once() -> None:
    sea = Sea()
    slow = Slow(sea)

    async def body(run: Run) -> None:
        found = await run.gather(*branches(SearchTool(), {"query": "tide"}, 5, Ledger()))
        assert len({msgspec.json.encode(each) for each in found}) == 1

    log = await searched(sea, body, slow)
    assert slow.queries == ["tide", "tide"]  # `WordSearch` notes it too
    assert sorted(event.shared for event in log.of(e.SearchPerformed)) == [False, True, True, True, True]
    assert sum(event.usage.searches for event in log.of(e.UsageUpdated)) == 1


async def test_where_the_first_fails_the_next_one_tries() -> None:
    sea = Sea()
    slow = Slow(sea, failures=1)

    async def body(run: Run) -> None:
        ledger = Ledger()
        first, second = branches(SearchTool(), {"query": "tide"}, 2, ledger)

        async def failing(run: Run) -> str:
            with pytest.raises(ToolError, match="it is down"):
                await first.fn(run)
            return "failed"

        found = await run.gather(Branch("one", failing), second)
        assert isinstance(found[1], Observation)
        assert found[1].shown

    log = await searched(sea, body, slow)
    assert [event.shared for event in log.of(e.SearchPerformed)] == [False]


async def test_where_the_first_is_stopped_the_next_one_does_it() -> None:
    sea = Sea()
    slow = Slow(sea)

    async def body(run: Run) -> None:
        ledger = Ledger()
        first, second = branches(SearchTool(), {"query": "tide"}, 2, ledger)
        stopped = run.spawn("agent", "one", first.fn, returns=Observation)
        other = run.spawn("agent", "two", second.fn, returns=Observation, slot=1)
        while not slow.queries:
            await asyncio.sleep(0)
        stopped.cancel()
        assert (await other.result()).shown

    log = await searched(sea, body, slow)
    assert [event.shared for event in log.of(e.SearchPerformed)] == [False]
    assert sum(event.usage.searches for event in log.of(e.UsageUpdated)) == 1


async def test_the_same_documents_opened_at_the_same_time_are_read_and_counted_once() -> None:
    async def body(run: Run) -> None:
        found = await run.gather(*branches(OpenTool(), {"documents": ["tides.md"]}, 4, Ledger()))
        assert len({msgspec.json.encode(each) for each in found}) == 1

    log = await within(Sea(), body)
    assert sum(event.usage.pages for event in log.of(e.UsageUpdated)) == 1


class Together:
    """Pages each of which is read only once `count` of them are being read."""

    def __init__(self, sea: Sea, count: int) -> None:
        self._documents = sea.store.library.documents(["default"])
        self._count, self._all = count, asyncio.Event()
        self.asked_for: list[str] = []

    async def read(self, url: str, rules: WebRules = ANYTHING, parts: int | None = None) -> tuple[Document, ...]:
        self.asked_for.append(url)
        if len(self.asked_for) == self._count:
            self._all.set()
        await self._all.wait()
        return (self._documents[len(self.asked_for) % 2],)


class Articles:
    """Articles of three pages each, all of which are there only after a while."""

    def __init__(self, sea: Sea) -> None:
        self._documents = sea.store.library.documents(["default"])
        self.parts: list[int] = []

    async def read(self, url: str, rules: WebRules = ANYTHING, parts: int | None = None) -> tuple[Document, ...]:
        await asyncio.sleep(0.02)
        self.parts.append(min(3, parts or 3))
        found = self._documents[int(url[-1]) * 3 :][: self.parts[-1]]
        return tuple(msgspec.structs.replace(each, url=f"{url}?page={at}") for at, each in enumerate(found))


@pytest.mark.parametrize(("most", "parts"), [(None, [3, 3]), (5, [3, 2]), (4, [3, 1]), (2, [2])])
async def test_lanes_that_read_articles_at_the_same_time_keep_the_limit_of_pages(
    most: int | None, parts: list[int]
) -> None:
    sea = Sea({f"{at}.md": f"# Part {at}\n\nThe tide rises {at} metres.\n" for at in range(6)})
    pages = Articles(sea)

    async def body(run: Run) -> None:
        ledger = Ledger()
        lanes = [branches(OpenTool(), {"documents": [f"https://tides.example/{at}"]}, 1, ledger)[0] for at in range(2)]

        async def until_the_limit(run: Run, lane: Branch[Observation]) -> None:
            with contextlib.suppress(LimitReached):
                await lane.fn(run)

        await run.gather(*(Branch(f"lane-{at}", partial(until_the_limit, lane=lane)) for at, lane in enumerate(lanes)))

    log = await within(
        sea, body, question="https://tides.example/0 https://tides.example/1", budget=Budget(pages=most), pages=pages
    )
    assert pages.parts == parts
    assert sum(event.usage.pages for event in log.of(e.UsageUpdated)) == sum(parts)


async def test_the_pages_of_a_call_are_read_at_once_and_each_once_by_whoever_asks() -> None:
    sea = Sea()
    pages = Together(sea, 3)
    one, two, three = (f"https://tides.example/{number}" for number in range(3))

    async def body(run: Run) -> None:
        ledger = Ledger()
        first = branches(OpenTool(), {"documents": [one, two]}, 1, ledger)
        second = branches(OpenTool(), {"documents": [three, two]}, 2, ledger)[1:]
        async with asyncio.timeout(60):
            await run.gather(*first, *second)

    await within(sea, body, question=f"What do {one}, {two} and {three} say?", pages=pages)
    assert sorted(pages.asked_for) == [one, two, three]
