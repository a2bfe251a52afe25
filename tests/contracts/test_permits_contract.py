"""What every store keeps of the promises in `core.ports.Permits`."""

from __future__ import annotations

import asyncio
from typing import Any

TTL = 15.0


async def test_no_more_are_in_force_than_there_may_be(stores: Any) -> None:
    one, two = stores.one.permits, stores.two.permits
    assert await one.take("openai", "a", 2, TTL)
    assert await two.take("openai", "b", 2, TTL)
    assert not await one.take("openai", "c", 2, TTL)
    assert await two.take("groq", "d", 1, TTL)  # of another service
    await two.give_back("a")
    assert await one.take("openai", "c", 2, TTL)
    assert not await two.take("openai", "e", 2, TTL)


async def test_who_has_one_has_it_when_asking_again(stores: Any) -> None:
    permits = stores.one.permits
    assert await permits.take("openai", "a", 1, TTL)
    assert await permits.take("openai", "a", 1, TTL)
    await permits.give_back("a")
    await permits.give_back("a")
    assert await permits.take("openai", "b", 1, TTL)


async def test_those_of_a_dead_process_run_out_and_those_renewed_do_not(stores: Any) -> None:
    one, two = stores.one.permits, stores.two.permits
    assert await one.take("openai", "dead", 2, TTL)
    assert await one.take("openai", "alive", 2, TTL)
    stores.wall.seconds += TTL - 1
    await one.renew("alive", TTL)
    await one.renew("unknown", TTL)
    stores.wall.seconds += 2
    assert await two.take("openai", "next", 2, TTL)
    assert not await two.take("openai", "more", 2, TTL)


async def test_a_clock_set_back_holds_nobody_up(stores: Any) -> None:
    assert await stores.one.permits.take("openai", "a", 1, TTL)
    stores.wall.seconds -= 1_000_000
    assert await stores.two.permits.take("openai", "b", 1, TTL)


async def test_limits_hold_when_many_ask_at_once(stores: Any) -> None:
    asked = [(stores.one, stores.two)[n % 2].permits.take("openai", f"call-{n}", 3, TTL) for n in range(12)]
    assert sum(await asyncio.gather(*asked)) == 3
