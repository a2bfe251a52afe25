"""A store in the process, lost with it. For library calls, tests and benchmarks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from assay.core.allowance import check_allowance
from assay.core.errors import FenceLost, LeaseHeld, UnknownName
from assay.core.events import Envelope
from assay.core.ports import (
    ACTIVE_STATUSES,
    MAX_LEASE_SECONDS,
    NO_INPUTS,
    Action,
    Commit,
    EventDraft,
    Lease,
    Memory,
    News,
    Renewal,
    RunInputs,
    RunRow,
    RunSpending,
)
from assay.core.ports.collections import ADDITION_ENDED, Addition
from assay.core.ports.store import Store
from assay.store import common
from assay.store.blobs import MemoryBlobs
from assay.store.common import Listeners, OwnedView, WallClock, given_labels
from assay.store.leases import LeaseLook, fence_lost, is_held, to_renew
from assay.store.memory_library import MemoryLibrary as MemoryLibrary
from assay.store.memory_lists import MemoryListing, StoredRun


class MemoryAdditions(OwnedView):
    """`Additions` in the process; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._additions: dict[str, Addition] = {}

    def put(self, addition: Addition) -> None:
        mine = addition if self._owner is None else msgspec.structs.replace(addition, owner=self._owner)
        with self._lock:
            if self._additions.get(mine.id, mine).owner == mine.owner:
                self._additions[mine.id] = mine

    def find(self, id: str) -> Addition:
        with self._lock:
            addition = self._additions.get(id)
        if addition is None or not self._is_visible(addition):
            raise UnknownName("addition", id)
        return addition

    def all(self, limit: int = 100) -> list[Addition]:
        with self._lock:
            return [addition for addition in reversed(self._additions.values()) if self._is_visible(addition)][:limit]

    def forget(self, before: str) -> None:
        with self._lock:
            old = [
                addition
                for addition in self._additions.values()
                if addition.state in ADDITION_ENDED and addition.updated_at < before
            ]
            for addition in filter(self._is_visible, old):
                del self._additions[addition.id]

    def _is_visible(self, addition: Addition) -> bool:
        return self._owner in (None, addition.owner)


# The cache in memory.


class MemoryCache:
    """`Cache` in a dictionary, whose single operations are atomic."""

    def __init__(self) -> None:
        self._entries: dict[str, bytes] = {}

    def recall(self, key: str) -> bytes | None:
        return self._entries.get(key)

    def keep(self, key: str, data: bytes) -> None:
        self._entries.setdefault(key, data)

    def entries(self, prefix: str) -> dict[str, bytes]:
        return {key: data for key, data in self._entries.copy().items() if key.startswith(prefix)}

    def forget(self, keys: Collection[str]) -> None:
        for key in keys:
            self._entries.pop(key, None)


# Permits in memory, for the runs of one process.


class MemoryPermits:
    """`Permits` in a dictionary: id → service, and until when."""

    def __init__(self, wall: WallClock) -> None:
        self._wall, self._permits = wall, dict[str, tuple[str, float]]()

    async def take(self, service: str, id: str, limit: int, ttl: float) -> bool:
        now = self._wall()
        self._permits = {
            permit_id: permit
            for permit_id, permit in self._permits.items()
            if now < permit[1] <= now + MAX_LEASE_SECONDS
        }
        if (
            sum(
                permit_service == service for permit_id, (permit_service, _) in self._permits.items() if permit_id != id
            )
            >= limit
        ):
            return False
        self._permits[id] = (service, now + ttl)
        return True

    async def renew(self, id: str, ttl: float) -> None:
        if id in self._permits:
            self._permits[id] = (self._permits[id][0], self._wall() + ttl)

    async def give_back(self, id: str) -> None:
        self._permits.pop(id, None)


def memory_store(wall: WallClock = time.time) -> Store:
    """An empty store in memory."""
    return Store(
        journal=MemoryJournal(wall),
        library=MemoryLibrary(),
        blobs=MemoryBlobs(),
        cache=MemoryCache(),
        permits=MemoryPermits(wall),
        additions=MemoryAdditions(),
    )


class MemoryJournal(MemoryListing):
    """`Journal` in the process; safe to use from several threads."""

    def __init__(self, wall: WallClock = time.time) -> None:
        super().__init__(wall)
        self._listeners = Listeners()

    async def create(
        self,
        run_id: str,
        question: str,
        brief: bytes,
        events: Sequence[EventDraft],
        thread: str = "",
        inputs: RunInputs = NO_INPUTS,
    ) -> tuple[Envelope, ...]:
        with self._lock:
            if run_id in self._runs:
                raise common.run_exists(run_id)
            for allowance in inputs.within:
                counted_runs = [run for run in self._runs.values() if allowance.owner in (None, run.owner)]
                going = sum(run.status in ACTIVE_STATUSES for run in counted_runs)
                check_allowance(allowance, _spending(counted_runs, allowance.since, None), going, brief)
            owner = inputs.owner if self._owner is None else self._owner
            run = StoredRun(run_id, question, brief, common.created_at(events, self._wall), thread, owner)
            run.labels = given_labels(brief)
            self._add_run(run)
            return run.apply(Commit(events=tuple(events), steps=inputs.steps, ledger=inputs.ledger))

    async def acquire(self, run_id: str, holder: str, ttl: float, evict: str = "") -> Lease:
        with self._lock:
            run, now = self._run(run_id), self._wall()
            if is_held(run.until, now) and run.holder not in ("", holder, evict):
                raise LeaseHeld(run_id, run.holder)
            self._looks.clear()
            run.holder, run.until, run.fence = holder, now + ttl, run.fence + 1
            return Lease(run_id=run_id, fence=run.fence, holder=holder)

    async def renew(self, lease: Lease, ttl: float) -> Renewal:
        with self._lock:
            run = self._find_held(lease)
            if run is None:
                raise fence_lost(lease)
            self._looks.clear()
            run.until = self._wall() + ttl
            return run.renewal()

    async def renew_all(self, leases: Sequence[Lease], ttl: float) -> dict[Lease, Renewal | FenceLost]:
        leases, news, ends = tuple(leases), dict[Lease, Renewal | FenceLost](), dict[str, float]()
        with self._lock:
            now = self._wall()
            if self._looks and self._looks[0].is_current(leases, ttl, now):
                return dict(self._looks[0].outcomes)
            for lease in leases:
                run = self._find_held(lease)
                if run is None:
                    news[lease] = fence_lost(lease)
                    continue
                ends[lease.run_id] = run.until
                if run.control or run.inbox:
                    news[lease] = run.renewal()
            for run_id in to_renew(ends, now, ttl):
                self._runs[run_id].until = ends[run_id] = now + ttl
            if ends:
                self._looks[:] = [LeaseLook(leases, ttl, dict(news), (min(ends.values()), max(ends.values())))]
        return news

    async def release(self, lease: Lease) -> None:
        with self._lock:
            run = self._find_held(lease)
            if run is not None:
                run.holder, run.until = "", 0.0
                self._looks.clear()

    async def load(self, run_id: str) -> Memory:
        with self._lock:
            run = self._run(run_id)
            return Memory(
                brief=run.brief,
                status=run.status,
                fence=run.fence,
                steps=dict(run.steps),
                events=tuple(run.keys.values()),
                holds=tuple(run.holds[step] for step in sorted(run.holds)),
                ledger=tuple(run.ledger.values()),
                active_seconds=run.active_seconds,
            )

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[tuple[Envelope, ...]]:
        """Write at once; the result comes in the loop's next round.

        A finished future would let a run go on without ever yielding: nobody could cancel it.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[Envelope, ...]] = loop.create_future()
        try:
            envelopes = self._commit(lease, commit)
        except FenceLost as error:
            loop.call_soon(_set_error, future, error)
        else:
            loop.call_soon(_set_result, future, envelopes)
        return future

    async def events(self, run_id: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        with self._lock:
            first = max(after, 0)
            return self._run(run_id).events[first : None if limit is None else first + max(limit, 0)]

    def listen(self, listener: Callable[[str], None]) -> Callable[[], None]:
        return self._listeners.add(listener)

    async def control(self, run_id: str, action: Action, events: Sequence[EventDraft] = ()) -> None:
        with self._lock:
            run = self._run(run_id)
            run.control = common.next_control(run.control, action)
            self._looks.clear()
            run.append(events)
        self._listeners.notify([run_id])

    async def post(self, run_id: str, topic: str, data: bytes, events: Sequence[EventDraft] = ()) -> None:
        with self._lock:
            run = self._run(run_id)
            run.inbox.setdefault(topic, []).append(data)
            self._looks.clear()
            run.append(events)
        self._listeners.notify([run_id])

    async def inbox(self, run_id: str, topic: str) -> list[bytes]:
        with self._lock:
            return list(self._run(run_id).inbox.get(topic, ()))

    async def runs(self, limit: int = 100) -> list[RunRow]:
        with self._lock:
            now = self._wall()
            return [run.row(now) for run in self._visible_runs()][: max(limit, 0)]

    async def rows(self, run_ids: Collection[str]) -> dict[str, RunRow]:
        with self._lock:
            now = self._wall()
            runs = (self._runs.get(run_id) for run_id in run_ids)
            return {run.run_id: run.row(now) for run in runs if run is not None and self._is_visible(run)}

    async def news(self, after: Mapping[str, int], limit: int) -> dict[str, News]:
        with self._lock:
            now, remaining, news = self._wall(), max(limit, 0), dict[str, News]()
            for run_id, seq in after.items():
                run = self._runs.get(run_id)
                if run is not None and self._is_visible(run):
                    new = tuple(run.events[max(seq, 0) : max(seq, 0) + remaining])
                    remaining -= len(new)
                    news[run_id] = News(row=run.row(now), events=new)
            return news

    async def find(self, reference: str) -> RunRow:
        with self._lock:
            ids = [run.run_id for run in self._visible_runs()]
            if reference in ids:
                chosen_id = reference
            elif reference == common.LAST_REFERENCE and ids:
                chosen_id = ids[0]
            else:
                candidates = [run_id for run_id in ids if reference and run_id.startswith(reference)]
                chosen_id = common.resolve_run_id(reference, sorted(candidates), ids)
            return self._runs[chosen_id].row(self._wall())

    async def latest(self, thread: str) -> RunRow | None:
        with self._lock:
            runs = (run for run in self._visible_runs() if thread and run.thread == thread)
            return next((run.row(self._wall()) for run in runs), None)

    async def spending(
        self, since: str = "", limit: int | None = None, only: Collection[str] | None = None
    ) -> list[RunSpending]:
        with self._lock:
            runs = (run for run in self._visible_runs() if only is None or run.run_id in only)
            return _spending(runs, since, limit)

    async def delete(self, run_id: str, evict: str = "") -> None:
        with self._lock:
            run = self._run(run_id)
            if is_held(run.until, self._wall()) and run.holder not in ("", evict):
                raise LeaseHeld(run_id, run.holder)
            self._remove_run(run)

    async def close(self) -> None:
        """Do nothing: nothing waits or is open."""

    def _find_held(self, lease: Lease) -> StoredRun | None:
        run = self._runs.get(lease.run_id)
        return run if run is not None and (run.fence, run.holder) == (lease.fence, lease.holder) else None

    def _commit(self, lease: Lease, commit: Commit) -> tuple[Envelope, ...]:
        with self._lock:
            run = self._runs.get(lease.run_id)
            if run is None or run.fence != lease.fence:
                raise fence_lost(lease)
            envelopes = run.apply(commit)
        self._listeners.notify([lease.run_id])
        return envelopes


def _spending(runs: Iterable[StoredRun], since: str, limit: int | None) -> list[RunSpending]:
    recent = [run for run in runs if run.created_at >= since]
    return [common.run_spending(run, [hold.amount for hold in run.holds.values()]) for run in recent[:limit]]


def _set_result(future: asyncio.Future[tuple[Envelope, ...]], envelopes: tuple[Envelope, ...]) -> None:
    if not future.done():
        future.set_result(envelopes)


def _set_error(future: asyncio.Future[tuple[Envelope, ...]], error: FenceLost) -> None:
    if not future.done():
        future.set_exception(error)
