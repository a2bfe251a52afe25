"""Commits which reach PostgreSQL in one statement: each lease's own, rows of one key, and what the database refuses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from assay.core.errors import FenceLost
from assay.core.ports import Commit, EventDraft, HoldRecord, Journal, Lease, LedgerRow, StepRecord
from assay.core.usage import Usage
from assay.store.sql import open_store


def drafts(*keys: str) -> tuple[EventDraft, ...]:
    return tuple(
        EventDraft(key=key, path=("é", "b"), type="warning", data=b'{"message":"m"}', at="now") for key in keys
    )


def done(key: str, data: bytes = b"1") -> StepRecord:
    return StepRecord(key=key, input_hash="h", tag="value/1", data=data)


def row(id: str, data: bytes) -> LedgerRow:
    return LedgerRow(kind="page", id=id, lane=0, data=data)


@pytest.fixture
async def journal(tmp_path: Path, new_database: Callable[[], str]) -> AsyncIterator[Journal]:
    store = open_store(tmp_path, database=new_database())
    yield store.journal
    await store.close()


async def leased(journal: Journal, *runs: str) -> list[Lease]:
    for run in runs:
        await journal.create(run, "?", b"{}", drafts("created"))
    return [await journal.acquire(run, "me", 60.0) for run in runs]


async def test_one_group_of_many_leases_numbers_each_log_by_itself(journal: Journal) -> None:
    leases = await leased(journal, *(f"run-{at}" for at in range(5)))
    commits = [
        journal.commit(lease, Commit(events=drafts(f"{at}-a", f"{at}-b"), steps=(done(f"step-{at}"),)))
        for at in range(20)
        for lease in leases
    ]
    await asyncio.gather(*commits)
    for lease in leases:
        log = await journal.events(lease.run_id)
        assert [event.seq for event in log] == list(range(1, 42))
        memory = await journal.load(lease.run_id)
        assert set(memory.steps) == {f"step-{at}" for at in range(20)}
        assert memory.events[-1].key == "19-b"


async def test_a_lost_fence_takes_nothing_from_the_others(journal: Journal) -> None:
    lost, kept = await leased(journal, "lost", "kept")
    await journal.acquire("lost", "another", 60.0, evict="me")
    both = await asyncio.gather(
        journal.commit(lost, Commit(events=drafts("a"), steps=(done("s"),), ledger=(row("x", b"1"),))),
        journal.commit(kept, Commit(events=drafts("a"), steps=(done("s"),))),
        return_exceptions=True,
    )
    assert isinstance(both[0], FenceLost)
    assert isinstance(both[1], tuple)
    assert [event.seq for event in both[1]] == [2]
    assert [event.seq for event in await journal.events("lost")] == [1]
    assert not (await journal.load("lost")).steps
    assert set((await journal.load("kept")).steps) == {"s"}


async def test_of_rows_with_one_key_the_later_stands_at_the_place_of_the_earlier(journal: Journal) -> None:
    (lease,) = await leased(journal, "run")
    hold = HoldRecord(step="s", account="0", amount=Usage(searches=1), state="held")
    first = Commit(ledger=(row("a", b"1"), row("b", b"1")), steps=(done("s", b"1"),), holds=(hold,))
    second = Commit(ledger=(row("c", b"2"), row("a", b"2")), steps=(done("s", b"2"),), holds=(hold,))
    await asyncio.gather(journal.commit(lease, first), journal.commit(lease, second))
    memory = await journal.load("run")
    assert [(each.id, each.data) for each in memory.ledger] == [("a", b"2"), ("b", b"1"), ("c", b"2")]
    assert memory.steps["s"].data == b"2"
    assert len(memory.holds) == 1


async def test_a_commit_which_the_database_refuses_fails_alone(journal: Journal) -> None:
    (lease,) = await leased(journal, "run")
    good, bad, repeated = await asyncio.gather(
        journal.commit(lease, Commit(events=drafts("a"), steps=(done("good"),))),
        journal.commit(lease, Commit(steps=(done("nul\0"),))),
        journal.commit(lease, Commit(events=drafts("created", "b"))),
        return_exceptions=True,
    )
    assert isinstance(good, tuple)
    assert isinstance(bad, Exception)
    assert isinstance(repeated, tuple)
    assert [event.seq for event in (*good, *repeated)] == [2, 3]
    assert [event.seq for event in await journal.events("run")] == [1, 2, 3]
    assert set((await journal.load("run")).steps) == {"good"}
