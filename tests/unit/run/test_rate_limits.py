"""Calls of a service, never more at once than it is to get."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from assay.core.errors import StoreError
from assay.run.rate_limits import TTL, PermitRateLimiter
from assay.store.memory import MemoryPermits, memory_store


class Service:
    """Counts the calls which are made to it at the same time, in turn by each of those who call."""

    def __init__(self, *turns: PermitRateLimiter) -> None:
        self._turns = turns
        self.now = self.most = 0
        self.order: list[int] = []

    async def call(self, number: int, model: str = "openai:small", seconds: float = 0.005) -> None:
        async with self._turns[number % len(self._turns)].call_slot(model):
            self.now += 1
            self.most = max(self.most, self.now)
            self.order.append(number)
            try:
                await asyncio.sleep(seconds)
            finally:
                self.now -= 1


def taking(most: Mapping[str, int], permits: MemoryPermits | None = None) -> PermitRateLimiter:
    return PermitRateLimiter(permits or MemoryPermits(lambda: 1.8e9), most, lambda model: model.partition(":")[0])


async def test_calls_wait_for_their_turn_in_their_order() -> None:
    service = Service(taking({"openai": 2}))
    await asyncio.gather(*(service.call(number) for number in range(9)))
    assert service.most == 2
    assert service.order == list(range(9))


async def test_a_service_without_a_limit_is_called_as_often_as_wanted() -> None:
    service = Service(taking({"openai": 1}))
    await asyncio.gather(*(service.call(number, "groq:large") for number in range(5)))
    assert service.most == 5


async def test_two_processes_share_a_limit() -> None:
    permits = MemoryPermits(lambda: 1.8e9)
    service = Service(taking({"openai": 1}, permits), taking({"openai": 1}, permits))
    await asyncio.gather(*(service.call(number) for number in range(6)))
    assert (service.most, len(service.order)) == (1, 6)
    assert not permits._permits


async def test_a_call_which_fails_or_is_cancelled_gives_its_turn_back() -> None:
    permits = MemoryPermits(lambda: 1.8e9)
    service = Service(taking({"openai": 1}, permits))
    held = asyncio.ensure_future(service.call(0, seconds=60))
    await asyncio.sleep(0.01)
    waiting = asyncio.ensure_future(service.call(1, seconds=60))
    await asyncio.sleep(0.01)
    waiting.cancel()
    held.cancel()
    await asyncio.gather(held, waiting, return_exceptions=True)
    assert not permits._permits
    with pytest.raises(ValueError, match="no reply"):
        async with service._turns[0].call_slot("openai:small"):
            raise ValueError("no reply")
    await asyncio.wait_for(service.call(2), 60)


async def test_a_store_which_is_away_when_a_call_ends_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Away(MemoryPermits):
        async def give_back(self, id: str) -> None:
            raise StoreError("the database is away")

    now = [1.8e9]
    permits = Away(lambda: now[0])
    service = Service(taking({"openai": 1}, permits))
    await service.call(0)
    assert "runs out by itself: the database is away" in caplog.text
    now[0] += TTL
    await asyncio.wait_for(service.call(1), 60)


async def test_a_store_in_memory_has_permits() -> None:
    assert await memory_store().permits.take("openai", "a", 1, TTL)
