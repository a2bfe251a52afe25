"""What every journal keeps of the promises of `Journal.delete`."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.errors import FenceLost, LeaseHeld, UnknownName
from assay.core.ports import Commit, EventDraft, HoldRecord, Journal, Lease, LedgerRow, StepRecord
from assay.core.usage import Usage

AT = "2026-03-01T12:00:00.000Z"


def draft(key: str) -> EventDraft:
    return EventDraft(key=key, path=(), type="think.delta", data=msgspec.json.encode({"text": key}), at=AT)


async def begin(journal: Journal, run_id: str) -> Lease:
    """A run with a row of everything."""
    await journal.create(run_id, f"question of {run_id}", b"{}", [draft("created")])
    lease = await journal.acquire(run_id, "host:1", 30)
    await journal.commit(
        lease,
        Commit(
            events=(draft("more"),),
            steps=(StepRecord(key="s", input_hash="00", tag="int/1", data=b"1"),),
            holds=(HoldRecord(step="s", account="0", amount=Usage(input_tokens=1), state="held"),),
            ledger=(LedgerRow(kind="source", id="S1", lane=1, data=b"{}"),),
        ),
    )
    await journal.post(run_id, "answers", b"yes")
    return lease


async def test_a_deleted_run_is_gone_for_everybody(stores, journal):
    lease = await begin(journal, "r1")
    await journal.release(lease)
    await journal.delete("r1")
    other = stores.two.journal
    assert await other.runs() == []
    for look in (other.load("r1"), other.events("r1"), other.inbox("r1", "answers"), other.find("r1")):
        with pytest.raises(UnknownName):
            await look


async def test_the_other_runs_keep_everything(journal):
    for run_id in ("r1", "r2", "r3"):
        await journal.release(await begin(journal, run_id))
    before = [await journal.load(run_id) for run_id in ("r1", "r3")]
    await journal.delete("r2")
    assert [await journal.load(run_id) for run_id in ("r1", "r3")] == before
    assert [row.run_id for row in await journal.runs()] == ["r3", "r1"]
    assert await journal.inbox("r1", "answers") == [b"yes"]
    assert (await journal.find("last")).run_id == "r3"


async def test_a_run_in_a_live_process_is_not_deleted(stores, journal):
    await begin(journal, "r1")
    with pytest.raises(LeaseHeld, match="run r1 is running in host:1"):
        await stores.two.journal.delete("r1")
    assert len(await journal.events("r1")) == 2


async def test_a_run_whose_process_is_dead_or_silent_is(stores, journal):
    await begin(journal, "r1")
    await journal.delete("r1", evict="host:1")
    await begin(journal, "r2")
    stores.wall.seconds += 31
    await journal.delete("r2", evict="host:other")
    assert await journal.runs() == []


async def test_who_held_it_cannot_write_any_more(journal):
    lease = await begin(journal, "r1")
    await journal.delete("r1", evict="host:1")
    with pytest.raises(FenceLost):
        await journal.commit(lease, Commit(events=(draft("late"),)))
    with pytest.raises(FenceLost):
        await journal.renew(lease, 30)
    await journal.release(lease)


async def test_the_same_id_begins_again_at_one(journal):
    await journal.release(await begin(journal, "r1"))
    await journal.delete("r1")
    await journal.release(await begin(journal, "r1"))
    assert [event.seq for event in await journal.events("r1")] == [1, 2]
    assert await journal.inbox("r1", "answers") == [b"yes"]


async def test_an_unknown_run_is_said_to_be_unknown(journal):
    with pytest.raises(UnknownName, match="no run named 'r9'"):
        await journal.delete("r9")
