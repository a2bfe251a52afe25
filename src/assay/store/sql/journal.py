"""The journal in SQL: its port over the transactions of the process."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from sqlalchemy import Connection

from assay.core.allowance import check_allowance
from assay.core.errors import FenceLost
from assay.core.events import Envelope
from assay.core.ports import (
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
from assay.core.ports.jobs import QUEUE_NEWS
from assay.store import common
from assay.store.common import WallClock
from assay.store.leases import LeaseLook, fence_lost, to_renew
from assay.store.sql import reads, writes
from assay.store.sql.database import Database
from assay.store.sql.lists import SqlListing
from assay.store.sql.transactions import Transactions


class SqlJournal(SqlListing):
    """`Journal` over a database. Closing it closes the database."""

    def __init__(self, database: Database, wall: WallClock | None = None) -> None:
        """`wall` is the clock for leases; None: the database's own."""
        super().__init__(Transactions(database, wall))
        self._last_look: LeaseLook | None = None
        self._statements = self.transactions.statements

    async def create(
        self,
        run_id: str,
        question: str,
        brief: bytes,
        events: Sequence[EventDraft],
        thread: str = "",
        inputs: RunInputs = NO_INPUTS,
    ) -> tuple[Envelope, ...]:
        created_at, drafts = common.created_at(events, self.transactions.wall or time.time), common.new_drafts(events)
        new = writes.NewRun(
            run_id, question, brief, created_at, thread, inputs.owner if self._owner is None else self._owner
        )

        def create(connection: Connection) -> None:
            if inputs.within:  # one after the other: each sees what those before have used
                self.transactions.serialize_claims(connection)
            for allowance in inputs.within:
                spending = reads.spending(connection, allowance.since, allowance.owner, None)
                check_allowance(allowance, spending, reads.active_runs(connection, allowance.owner), brief)
            now = 0.0 if inputs.webhook is None else self.transactions.time(connection)
            writes.create(connection, self._statements, new, drafts, inputs, now)

        news = QUEUE_NEWS if inputs.place is not None else ""
        await self.transactions.write(create, once=True, run_id=news)
        return common.envelopes(run_id, drafts, 1)

    async def acquire(self, run_id: str, holder: str, ttl: float, evict: str = "") -> Lease:

        return await self.transactions.write_at(
            lambda connection, now: writes.acquire(connection, run_id, self._owner, holder, (now, now + ttl), evict)
        )

    async def renew(self, lease: Lease, ttl: float) -> Renewal:
        transactions = self.transactions
        return await transactions.write(
            lambda connection: writes.renew(connection, self._statements, lease, transactions.time(connection) + ttl),
            apart=True,
        )

    async def renew_all(self, leases: Sequence[Lease], ttl: float) -> dict[Lease, Renewal | FenceLost]:
        leases, transactions = tuple(leases), self.transactions

        def read_news(connection: Connection) -> tuple[reads.LeaseNews, list[Lease]]:
            news = reads.read_leases(connection, leases)
            return news, to_renew(news.ends, transactions.read_clock(connection), ttl)

        def renew(connection: Connection, old: Sequence[Lease]) -> tuple[set[Lease], float]:
            until = transactions.time(connection) + ttl
            return writes.renew_many(connection, old, until), until

        change_state = await transactions.changes()  # before the look: what is written meanwhile counts as a change
        last_look, old = self._last_look, list[Lease]()
        if change_state is not None and last_look is not None and last_look.is_unchanged(leases, ttl, change_state[0]):
            if last_look.is_current(leases, ttl, change_state[1], change_state[0]):
                return dict(last_look.outcomes)
            old = last_look.to_renew(change_state[1])
        if last_look is not None and old:
            news = reads.LeaseNews(last_look.outcomes, dict.fromkeys(old, 0.0))
        else:
            news, old = await transactions.read(read_news)
        if old:
            self._last_look = None
            renewed, until = await transactions.write(renew, old, apart=True)
            lost: dict[Lease, Renewal | FenceLost] = {lease: fence_lost(lease) for lease in old if lease not in renewed}
            news = reads.LeaseNews(news.outcomes | lost, news.ends | dict.fromkeys(renewed, until))
        if change_state is not None and news.ends:
            ends = min(news.ends.values()), max(news.ends.values())
            self._last_look = LeaseLook(leases, ttl, news.outcomes, ends, change_state[0])
        return dict(news.outcomes)

    async def release(self, lease: Lease) -> None:
        """Release the lease after earlier commits; does nothing if it was lost already."""
        await self.transactions.write(writes.release, lease)

    async def load(self, run_id: str) -> Memory:
        return await self.transactions.read(reads.load, run_id, self._owner)

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[tuple[Envelope, ...]]:
        """Enqueue a commit; the future is done when it is durable."""
        return self.transactions.commit(lease, commit)

    async def events(self, run_id: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        return await self.transactions.read(reads.events, run_id, self._owner, after, limit)

    def listen(self, listener: Callable[[str], None]) -> Callable[[], None]:
        return self.transactions.listen(listener)

    async def control(self, run_id: str, action: Action, events: Sequence[EventDraft] = ()) -> None:
        arguments = (self._statements, run_id, self._owner, action, events)
        await self.transactions.write(writes.control, *arguments, run_id=run_id)

    async def post(self, run_id: str, topic: str, data: bytes, events: Sequence[EventDraft] = ()) -> None:
        await self.transactions.write(
            lambda connection: writes.post(
                connection, self._statements, reads.run_number(connection, run_id, self._owner), topic, data, events
            ),
            once=True,
            run_id=run_id,
        )

    async def inbox(self, run_id: str, topic: str) -> list[bytes]:
        return reads.remaining_messages(run_id, await self.transactions.rows(*reads.inbox(run_id, self._owner, topic)))

    async def runs(self, limit: int = 100) -> list[RunRow]:
        return await self.transactions.read_at(reads.runs, self._owner, limit)

    async def rows(self, run_ids: Collection[str]) -> dict[str, RunRow]:
        return await self.transactions.read_at(reads.rows, run_ids, self._owner)

    async def news(self, after: Mapping[str, int], limit: int) -> dict[str, News]:
        return await self.transactions.read_at(reads.news, after, self._owner, limit)

    async def find(self, reference: str) -> RunRow:
        return await self.transactions.read_at(reads.find, reference, self._owner)

    async def latest(self, thread: str) -> RunRow | None:
        return await self.transactions.read_at(reads.latest, thread, self._owner)

    async def spending(
        self, since: str = "", limit: int | None = None, only: Collection[str] | None = None
    ) -> list[RunSpending]:
        return await self.transactions.read(reads.spending, since, self._owner, limit, only)

    async def delete(self, run_id: str, evict: str = "") -> None:

        await self.transactions.write_at(writes.delete, run_id, self._owner, {evict}, once=True)

    async def close(self) -> None:
        await self.transactions.close()
