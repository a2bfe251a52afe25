"""Runs put into a queue and claimed from it, in tests of the queue."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from journals import draft
from sqlalchemy import Connection

from assay.core.ports import Queue, QueueLimits
from assay.core.ports.store import Store

ANY = QueueLimits()
TTL = 4.0


async def put(store: Store, *runs: str, user: str = "", priority: int = 0, release: str = "") -> None:
    assert store.queue is not None
    for run_id in runs:
        await store.journal.create(run_id, f"question of {run_id}", b"{}", [draft("created")])
        await store.queue.enqueue(run_id, user, priority, release)


async def taken(queue: Queue, holder: str = "w1", limits: QueueLimits = ANY, ttl: float = TTL) -> list[str]:
    """All that can be claimed, in its order."""
    found = []
    while lease := await queue.claim(holder, ttl, limits):
        found.append(lease.run_id)
    return found


@asynccontextmanager
async def claims_locked(store: Store) -> AsyncIterator[None]:
    """Meanwhile the store's process is in the middle of a claim: it holds the lock under which claims are made."""
    transactions = store.journal.transactions  # type: ignore[attr-defined]
    locked, over = threading.Event(), threading.Event()

    def hold(connection: Connection) -> None:
        transactions.serialize_claims(connection)
        locked.set()
        over.wait(60)

    holding = asyncio.ensure_future(transactions.write(hold))
    try:
        assert await asyncio.to_thread(locked.wait, 60)
        yield
    finally:
        over.set()
        await holding
