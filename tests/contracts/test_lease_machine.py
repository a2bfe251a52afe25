"""Leases and fences as a state machine: whatever processes do, and whatever the clock does, one of them writes."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import postgres
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from journals import commit_of, draft
from sampling import scaled

from assay.core.errors import FenceLost, LeaseHeld
from assay.core.ports import FRESH_SHARE, MAX_LEASE_SECONDS, Lease
from assay.store.memory import memory_store
from assay.store.sql import open_store

HOLDERS = st.sampled_from(["one", "two", "three"])
TTL = 15.0


class Wall:
    """A wall clock the machine moves."""

    seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


class Leases(RuleBasedStateMachine):
    """A model of one run's lease, beside a real journal."""

    def __init__(self) -> None:
        super().__init__()
        self.wall, self.folder = Wall(), Path(tempfile.mkdtemp())
        self.loop = asyncio.new_event_loop()
        self.store = self.opened()
        self.journal = self.store.journal
        self.run(self.journal.create("r1", "?", b"{}", [draft("created")]))
        self.fence, self.holder, self.until = 0, "", 0.0
        self.leases: list[Lease] = []
        self.written, self.made = ["created"], 0

    def opened(self) -> Any:
        return memory_store(self.wall)

    def run(self, call: Any) -> Any:
        async def wait() -> Any:
            return await call() if callable(call) else await call

        return self.loop.run_until_complete(wait())

    def teardown(self) -> None:
        self.run(self.store.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    @property
    def free(self) -> bool:
        """Whether anybody may take the lease now."""
        return not self.holder or not self.wall.seconds < self.until <= self.wall.seconds + MAX_LEASE_SECONDS

    @rule(seconds=st.sampled_from([0.1, 5.0, TTL, 20.0, 200.0]))
    def pass_time(self, seconds: float) -> None:
        self.wall.seconds += seconds

    @rule(seconds=st.sampled_from([1.0, 10.0, 119.0, 3_600.0]))
    def set_the_clock_back(self, seconds: float) -> None:
        self.wall.seconds -= seconds

    @rule(holder=HOLDERS, evict=st.one_of(st.just(""), HOLDERS))
    def acquire(self, holder: str, evict: str) -> None:
        if self.free or self.holder in (holder, evict):
            lease = self.run(self.journal.acquire("r1", holder, TTL, evict=evict))
            self.fence += 1
            assert lease.fence == self.fence
            self.holder, self.until = holder, self.wall.seconds + TTL
            self.leases.append(lease)
        else:
            with pytest.raises(LeaseHeld):
                self.run(self.journal.acquire("r1", holder, TTL, evict=evict))

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self.leases))
        if lease.fence == self.fence and self.holder:
            self.run(self.journal.renew(lease, TTL))
            self.until = self.wall.seconds + TTL
        else:
            with pytest.raises(FenceLost):
                self.run(self.journal.renew(lease, TTL))

    @precondition(lambda self: self.leases)
    @rule()
    def renew_all(self) -> None:
        renewals = self.run(self.journal.renew_all(self.leases, TTL))
        lost = {lease for lease in self.leases if lease.fence != self.fence or not self.holder}
        assert {lease for lease, renewal in renewals.items() if isinstance(renewal, FenceLost)} == lost
        left = self.until - self.wall.seconds
        if self.holder and not FRESH_SHARE * TTL < left <= MAX_LEASE_SECONDS:
            self.until = self.wall.seconds + TTL

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self.leases))
        self.run(self.journal.release(lease))
        if lease.fence == self.fence:
            self.holder = ""

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self.leases))
        self.made += 1
        key = f"key-{self.made}"
        if lease.fence == self.fence:
            self.run(lambda: self.journal.commit(lease, commit_of(key)))
            self.written.append(key)
        else:
            with pytest.raises(FenceLost):
                self.run(lambda: self.journal.commit(lease, commit_of(key)))

    @rule()
    def ask(self) -> None:
        self.made += 1
        self.run(self.journal.control("r1", "finish", (draft(f"key-{self.made}"),)))
        self.written.append(f"key-{self.made}")

    @invariant()
    def the_log_is_what_holders_wrote(self) -> None:
        row = self.run(self.journal.find("r1"))
        assert (row.fence, row.last_seq) == (self.fence, len(self.written))
        assert row.holder == ("" if self.free else self.holder)

    @invariant()
    def keys_are_in_order(self) -> None:
        assert [event.key for event in self.run(self.journal.load("r1")).events] == self.written


class SqlLeases(Leases):
    """The same over SQLite."""

    def opened(self) -> Any:
        return open_store(self.folder, self.wall)


class PostgresLeases(Leases):
    """The same over PostgreSQL, one schema emptied after each example."""

    url = ""

    def opened(self) -> Any:
        return open_store(self.folder, self.wall, database=self.url)

    def teardown(self) -> None:
        super().teardown()
        postgres.empty(self.url)


@pytest.fixture(scope="module", autouse=True)
def _database(request: pytest.FixtureRequest) -> Iterator[None]:
    if postgres.reason_to_skip():
        yield
        return
    PostgresLeases.url = postgres.with_schema(request.getfixturevalue("postgres_server"))
    yield
    postgres.drop(PostgresLeases.url)


TestLeases = Leases.TestCase
TestLeases.settings = settings(max_examples=scaled(40), stateful_step_count=30)
TestSqlLeases = SqlLeases.TestCase
TestSqlLeases.settings = settings(max_examples=scaled(8), stateful_step_count=25)
TestPostgresLeases = pytest.mark.skipif(bool(postgres.reason_to_skip()), reason=postgres.reason_to_skip() or "-")(
    PostgresLeases.TestCase
)
TestPostgresLeases.settings = settings(max_examples=scaled(4), stateful_step_count=20)
