"""Token buckets: never more than there are, and they fill evenly."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.ports.users import Buckets, Rate

# What is in memory is no other process's, and has no users.
pytestmark = pytest.mark.parametrize("stores", ["sqlite", "postgres"], indirect=True)

RATE = Rate(name="runs", most=3, seconds=30.0)


@pytest.fixture
def buckets(stores) -> Buckets:
    return stores.one.buckets


async def test_a_bucket_is_full_at_first_and_fills_evenly(stores, buckets: Buckets) -> None:
    found = [await buckets.take("ana", RATE) for _ in range(4)]
    assert [(each.left, each.full) for each in found] == [(2, 10.0), (1, 20.0), (0, 30.0), (0, 30.0)]
    assert [each.wait for each in found] == [0, 0, 0, 10.0]
    stores.wall.seconds += 10.0
    assert (await buckets.take("ana", RATE)).wait == 0
    assert (await buckets.take("ana", RATE)).wait == pytest.approx(10.0)
    stores.wall.seconds += 1_000
    assert (await buckets.take("ana", RATE)).left == 2


async def test_a_clock_that_was_set_back_locks_nobody_out(stores, buckets: Buckets) -> None:
    stores.wall.seconds += 86_400.0
    for _ in range(4):
        await buckets.take("ana", RATE)
    stores.wall.seconds -= 86_400.0
    found = [await buckets.take("ana", RATE) for _ in range(4)]
    assert [each.wait for each in found] == [0, 0, 0, 10.0]


async def test_each_user_and_each_rate_has_a_bucket_of_its_own(stores, buckets: Buckets) -> None:
    for _ in range(3):
        await buckets.take("ana", RATE)
    assert (await buckets.take("ana", RATE)).wait
    assert not (await buckets.take("bob", RATE)).wait
    assert not (await buckets.take("ana", Rate(name="requests", most=3, seconds=30.0))).wait


async def test_processes_count_together(stores, buckets: Buckets) -> None:
    rate = Rate(name="requests", most=10, seconds=60.0)
    both = [stores.one.buckets, stores.two.buckets]
    found = await asyncio.gather(*(both[place % 2].take("ana", rate) for place in range(25)))
    assert sum(not each.wait for each in found) == 10


async def test_what_was_not_done_is_given_back_and_full_buckets_are_forgotten(stores, buckets: Buckets) -> None:
    for _ in range(3):
        await buckets.take("ana", RATE)
    await buckets.give_back("ana", RATE)
    assert (await buckets.take("ana", RATE)).left == 0
    assert await buckets.drop_full() == 0
    stores.wall.seconds += 30.0
    assert await buckets.drop_full() == 1
    assert (await buckets.take("ana", RATE)).left == 2


@settings(max_examples=scaled(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pauses=st.lists(st.floats(min_value=0, max_value=40), min_size=1, max_size=25), owner=st.uuids().map(str))
async def test_never_more_than_the_rate_and_one_bucket(stores, pauses: list[float], owner: str) -> None:
    """In any stretch of time no more are taken than the bucket held and came back in it."""
    taken: list[float] = []
    for pause in pauses:
        stores.wall.seconds += pause
        if not (await stores.one.buckets.take(owner, RATE)).wait:
            taken.append(stores.wall.seconds)
    for first, begin in enumerate(taken):
        for count, end in enumerate(taken[first:], 1):
            assert count <= RATE.most + (end - begin) / RATE.pause + 1e-6
