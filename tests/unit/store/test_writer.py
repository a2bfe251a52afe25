"""The writer's thread: grouping, failures of single jobs, loops that are gone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.core.errors import StoreError
from assay.core.ports import Commit, EventDraft, Lease, StepRecord
from assay.run.tasks import loop_listener
from assay.store.sql import open_store
from assay.store.sql.commits import GroupWriter, WriteJob

AT = "2026-03-01T12:00:00.000Z"


def event(key: str, text: str = "") -> EventDraft:
    return EventDraft(key=key, path=(), type="warning", data=b"{}", at=AT, step=text)


def step(key: str) -> StepRecord:
    return StepRecord(key=key, input_hash="", tag="t/1", data=b"")


class Recorder:
    """A writer whose work is to note its groups."""

    def __init__(self) -> None:
        self.groups: list[list[WriteJob]] = []
        self.writer = GroupWriter(self.perform)

    def perform(self, jobs: Sequence[WriteJob]) -> None:
        self.groups.append(list(jobs))
        for number, job in enumerate(jobs):
            job.succeed(number)

    def put(self, count: int) -> list[WriteJob]:
        """Enqueue work nobody waits for."""
        jobs = [WriteJob(urgent=False) for _ in range(count)]
        for job in jobs:
            self.writer.put(job)
        return jobs


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work nobody waits for waits for company longer than a test lasts."""
    monkeypatch.setattr("assay.store.sql.commits.GROUPING_SECONDS", 3600.0)


@pytest.mark.usefixtures("patient")
async def test_what_nobody_waits_for_is_written_in_one_group_with_what_somebody_waits_for():
    recorder = Recorder()
    jobs = recorder.put(5)
    await asyncio.sleep(0.05)
    assert recorder.groups == []
    recorder.writer.put(WriteJob(urgent=True))
    assert [await job.future for job in jobs] == [0, 1, 2, 3, 4]
    (group,) = recorder.groups
    assert group[:-1] == jobs
    recorder.writer.close()


@pytest.mark.usefixtures("patient")
async def test_closing_writes_what_waits_for_company():
    recorder = Recorder()
    jobs = recorder.put(5)
    await asyncio.to_thread(recorder.writer.close)
    assert recorder.groups == [jobs]


async def test_what_nobody_waits_for_is_written_without_company_too():
    recorder = Recorder()
    (job,) = recorder.put(1)
    async with asyncio.timeout(60):
        assert await job.future == 0
    recorder.writer.close()


async def test_after_closing_nothing_is_taken():
    recorder = Recorder()
    waiting = WriteJob(urgent=False)
    recorder.writer.put(waiting)
    await asyncio.to_thread(recorder.writer.close)
    assert await waiting.future == 0
    with pytest.raises(StoreError, match="closed"):
        recorder.writer.put(WriteJob())
    recorder.writer.close()  # twice does no harm


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_bug_in_the_writer_leaves_nobody_waiting():
    def broken(jobs: Sequence[WriteJob]) -> None:
        for job in jobs:
            job.succeed("not committed")
        raise KeyError("a bug")

    writer = GroupWriter(broken)
    job = WriteJob()
    writer.put(job)
    with pytest.raises(StoreError, match="stopped"):
        await asyncio.wait_for(job.future, 60)
    with pytest.raises(StoreError, match="closed"):
        writer.put(WriteJob())
    await asyncio.to_thread(writer.close)  # its thread's traceback belongs to this test


async def begin(home: Path) -> tuple[object, Lease]:
    journal = open_store(home).journal
    await journal.create("r", "q", b"", [event("created")])
    return journal, await journal.acquire("r", "me", 60)


async def test_what_cannot_be_stored_fails_alone(tmp_path):
    journal, lease = await begin(tmp_path)
    commits = [
        Commit(events=(event("a"),), steps=(step("a"),)),
        Commit(events=(event("b", "lone surrogate \ud800"),), steps=(step("b"),)),
        Commit(events=(event("c"),), steps=(step("c"),)),
        Commit(events=(event("a"), event("d")), steps=(step("d"),)),
    ]
    answers = await asyncio.gather(*(journal.commit(lease, commit) for commit in commits), return_exceptions=True)
    assert isinstance(answers[1], UnicodeEncodeError)
    assert [[found.seq for found in answers[n]] for n in (0, 2, 3)] == [[2], [3], [4]]
    assert sorted((await journal.load("r")).steps) == ["a", "c", "d"]
    with pytest.raises(UnicodeEncodeError):
        await journal.post("r", "\ud800", b"")
    assert len(await journal.commit(lease, Commit(events=(event("e"),)))) == 1
    await journal.close()


async def test_a_loop_that_closed_meanwhile_is_nobody_waiting(tmp_path):
    journal, lease = await begin(tmp_path)

    def leave() -> None:
        async def enqueue() -> None:
            journal.commit(lease, Commit(events=(event("left"),)))

        asyncio.run(enqueue())

    await asyncio.to_thread(leave)
    await journal.commit(lease, Commit(events=(event("after"),), steps=(step("s"),)))
    assert [key.key for key in (await journal.load("r")).events] == ["created", "left", "after"]
    await journal.close()


async def test_loops_of_several_threads_share_a_journal(tmp_path):
    journal, lease = await begin(tmp_path)
    taken: list[int] = []

    def work(name: int) -> None:
        async def commits() -> None:
            for n in range(30):
                taken.extend(
                    found.seq
                    for found in await journal.commit(
                        lease, Commit(events=(event(f"{name}/{n}"),), steps=(step(f"{name}/{n}"),))
                    )
                )

        asyncio.run(commits())

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    await asyncio.to_thread(lambda: [thread.join() for thread in threads])
    assert sorted(taken) == list(range(2, 122))
    await journal.close()


async def test_a_listener_in_a_loop_that_has_ended_does_not_stop_the_writer(tmp_path):
    journal, lease = await begin(tmp_path)

    async def listen() -> None:
        journal.listen(loop_listener(print))

    await asyncio.to_thread(asyncio.run, listen())
    for key in ("one", "two"):
        await journal.commit(lease, Commit(events=(event(key),), steps=(step(key),)))
    await journal.close()
