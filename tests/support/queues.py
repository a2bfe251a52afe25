"""Runs put into a queue and claimed from it, in tests of the queue."""

from __future__ import annotations

from journals import draft

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
