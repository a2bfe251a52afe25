"""A worker in this process: what it takes up, leaves to others, and lets go of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from assay import Assay
from assay.core.brief import ROLES
from assay.core.errors import UnknownName, UsageError
from assay.core.ports import Lease, Queue, QueueLimits
from assay.services.providers import load_model
from assay.settings import Settings

SETTINGS = Settings(search={"offline": True})
QUESTION = "How far does the tide rise at Brest?"
MINE = dict.fromkeys(ROLES, ("mine",))


@pytest.fixture
async def assay(tmp_path: Path) -> AsyncIterator[Assay]:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
    async with Assay(SETTINGS, home=tmp_path / "home", models={"mine": load_model(SETTINGS, "extractive")}) as made:
        yield made


async def queued(assay: Assay, tmp_path: Path, **wanted: object) -> str:
    run_id = await assay.create(QUESTION, sources=tmp_path / "tides.md", depth="light", models=MINE, **wanted)  # type: ignore[arg-type]
    await assay.enqueue(run_id)
    return run_id


async def test_queued_runs_are_executed_and_leave_the_queue(assay: Assay, tmp_path: Path) -> None:
    runs = [await queued(assay, tmp_path, user=user) for user in ("ann", "bob")]
    assert [(run.user, run.ready) for run in await assay.queued()] == [("ann", True), ("bob", True)]
    assert await assay.unfinished(QUESTION) == []
    lines: list[str] = []
    worker = assay.worker(2, say=lines.append)
    await asyncio.wait_for(worker.work(until_empty=True), 60)
    assert worker.done_count == 2
    assert await assay.queued() == []
    assert {row.status for row in await assay.runs()} == {"completed"}
    assert sorted(lines) == sorted(f"run {run}: {what}" for run in runs for what in ("started", "completed"))


async def test_what_is_stored_with_a_priority_needs_nobody_who_queues_it(assay: Assay, tmp_path: Path) -> None:
    """A process which dies as soon as the run is stored leaves no run behind that nobody takes up."""
    ways: Any = {"depth": "light", "models": MINE}
    run = await assay.create(QUESTION, sources=tmp_path / "tides.md", priority=5, user="ann", **ways)
    assert [(each.run_id, each.user, each.priority) for each in await assay.queued()] == [(run, "ann", 5)]
    await asyncio.wait_for(assay.worker(1).work(until_empty=True), 60)
    asked = await assay.create_ask(run, "And how often does it turn?", priority=0)
    forked = await assay.fork(run, "write", length="short", priority=0, allow_private=True)
    assert {each.run_id for each in await assay.queued()} == {asked, forked}
    with pytest.raises(UsageError, match="a priority is a number from -100 to 100"):
        await assay.create(QUESTION, sources=tmp_path / "tides.md", priority=101, **ways)
    assert len(await assay.runs()) == 3


async def test_what_this_worker_cannot_execute_is_left_to_others(assay: Assay, tmp_path: Path) -> None:
    run_id = await queued(assay, tmp_path)
    lines: list[str] = []
    async with Assay(SETTINGS, home=tmp_path / "home") as stranger:
        await asyncio.wait_for(stranger.worker(1, say=lines.append).work(until_empty=True), 60)
        assert any("mine" in line for line in lines)
        assert (await stranger.find(run_id)).status == "created"
    await asyncio.wait_for(assay.worker(1).work(until_empty=True), 60)
    assert (await assay.find(run_id)).status == "completed"


async def test_a_worker_which_is_stopped_lets_go(assay: Assay, tmp_path: Path) -> None:
    run_id = await queued(assay, tmp_path)
    worker = assay.worker(1, say=lambda line: worker.stop())
    await asyncio.wait_for(worker.work(), 60)
    row = await assay.find(run_id)
    assert (row.holder, row.queued, worker.done_count) == ("", True, 0)
    await asyncio.wait_for(assay.worker(1).work(until_empty=True), 60)
    assert (await assay.find(run_id)).status == "completed"


async def test_a_run_of_ours_which_has_ended_and_is_not_settled_is_not_taken_up_again(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = await queued(assay, tmp_path, review_plan="required")
    queue = assay._context.store.queue
    assert queue is not None
    claim = type(queue).claim

    async def late(self: Queue, *wanted: Any) -> Lease | None:
        """A claim which comes through just when the run taken before has let go of its lease."""
        while lines and (await assay.find(run_id)).holder:
            await asyncio.sleep(0.01)
        return await claim(self, *wanted)

    monkeypatch.setattr(type(queue), "claim", late)
    lines: list[str] = []
    await asyncio.wait_for(assay.worker(2, say=lines.append).work(until_empty=True), 60)
    assert [line.partition(" (")[0] for line in lines] == [f"run {run_id}: started", f"run {run_id}: waiting"]
    assert [(run.ready, run.holder) for run in await assay.queued()] == [(False, "")]


async def test_a_cancelled_and_a_deleted_run_are_offered_no_more(assay: Assay, tmp_path: Path) -> None:
    cancelled, deleted = await queued(assay, tmp_path), await queued(assay, tmp_path)
    await assay.control(cancelled, "cancel", wait=5)
    await assay.delete(deleted)
    worker = assay.worker(1)
    await asyncio.wait_for(worker.work(until_empty=True), 30)
    assert worker.done_count == 0
    assert (await assay.find(cancelled)).status == "cancelled"


async def test_limits_of_zero_are_none_and_wrong_orders_are_refused(assay: Assay, tmp_path: Path) -> None:
    run_id = await assay.create(QUESTION, sources=tmp_path / "tides.md", models=MINE)
    with pytest.raises(UsageError, match="from -100 to 100"):
        await assay.enqueue(run_id, priority=101)
    with pytest.raises(UnknownName):
        await assay.enqueue("nobody")
    await assay.enqueue(run_id, priority=100)
    worker = assay.worker(1, QueueLimits(running=0, per_user=0))
    await asyncio.wait_for(worker.work(until_empty=True), 60)
    assert worker.done_count == 1
    async with Assay(SETTINGS) as memory:
        with pytest.raises(UsageError, match="in memory cannot be queued"):
            await memory.queued()


@pytest.mark.parametrize("wanted", [{"user": "a" * 201}, {"user": "a\nb"}, {"labels": {"a": "b" * 513}}])
async def test_names_have_a_length(assay: Assay, tmp_path: Path, wanted: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="characters"):
        await assay.create(QUESTION, sources=tmp_path / "tides.md", **wanted)  # type: ignore[arg-type]
