"""Limits of the queue and turns between users, whatever is in it."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queues import put, taken
from sampling import scaled

from assay.core.ports import QueueLimits
from assay.store.memory import memory_store
from assay.store.sql import open_store


def test_limits_hold_whatever_the_order(tmp_path_factory: pytest.TempPathFactory) -> None:
    numbers = itertools.count()

    @settings(max_examples=scaled(15))
    @given(
        users=st.lists(st.tuples(st.sampled_from("abc"), st.integers(-2, 2)), max_size=8),
        running=st.integers(0, 4),
        per_user=st.integers(0, 3),
    )
    def check(users: list[tuple[str, int]], running: int, per_user: int) -> None:
        asyncio.run(claim_all(users, QueueLimits(running=running, per_user=per_user)))

    async def claim_all(users: list[tuple[str, int]], limits: QueueLimits) -> None:
        store = open_store(tmp_path_factory.mktemp(f"home-{next(numbers)}"))
        for number, (user, priority) in enumerate(users):
            await put(store, f"{user}{number}", user=user, priority=priority)
        assert store.queue is not None
        found = await taken(store.queue, limits=limits, ttl=60)
        most = Counter(user for user, _ in users)
        if limits.per_user:
            most = Counter({user: min(count, limits.per_user) for user, count in most.items()})
        expected = min(most.total(), limits.running) if limits.running else most.total()
        assert len(set(found)) == len(found) == expected
        assert all(count <= most[user] for user, count in Counter(run[0] for run in found).items())
        ranks = {f"{user}{number}": priority for number, (user, priority) in enumerate(users)}
        if not limits.per_user:
            assert [ranks[run] for run in found] == sorted((ranks[run] for run in found), reverse=True)
        await store.close()

    check()


def test_what_is_in_memory_has_no_queue() -> None:
    assert memory_store().queue is None
