"""`kill -9` while commits are written: what was acknowledged is there, and the log has no gap."""

from __future__ import annotations

import asyncio
import random
import subprocess
from pathlib import Path

import pytest
import warm
from sampling import sampled

from assay.store.sql import open_store

CHILD = """
import asyncio, pathlib, sys
from assay.core.ports import Commit, EventDraft, HoldRecord, StepRecord
from assay.core.usage import Usage
from assay.store.sql import open_store

AT = "2026-03-01T12:00:00.000Z"


async def work(journal, lease, name, count):
    for n in range(count):
        step = f"{name}/{n}"
        events = tuple(EventDraft(key=f"{step}/{k}", path=(name,), type="warning", data=b"{}", at=AT) for k in range(2))
        written = await journal.commit(
            lease,
            Commit(
                events=events,
                steps=(StepRecord(key=step, input_hash="", tag="t/1", data=b"x" * 3000),),
                holds=(HoldRecord(step=step, account="0", amount=Usage(searches=1), state="settled"),),
            ),
        )
        print(step, written[-1].seq, flush=True)


async def main(home, run_id, count):
    journal = open_store(pathlib.Path(home)).journal
    await journal.create(run_id, "q", b"{}", [])
    lease = await journal.acquire(run_id, "child", 60)
    await asyncio.gather(*(work(journal, lease, f"lane-{n}", int(count)) for n in range(5)))
    await journal.close()


asyncio.run(main(*sys.argv[1:]))
"""


def start(home: Path, run_id: str, count: int) -> warm.Started:
    """A process which writes `count` commits in each of five lanes and prints each when it is acknowledged."""
    return warm.start(home, run_id, count, program=CHILD, stdout=subprocess.PIPE)


def killed_after(lines: int, home: Path) -> dict[str, int]:
    """Start a writing process, kill it after so many answers; what it had been told by then."""
    child = start(home, "r", 100_000)
    assert child.stdout is not None
    found = [child.stdout.readline() for _ in range(lines)]
    child.kill()
    found += child.stdout.read().splitlines(keepends=True)
    child.wait(120)
    child.stdout.close()
    whole = [line.decode().split() for line in found if line.endswith(b"\n")]
    return {step: int(seq) for step, seq in whole}


@pytest.mark.parametrize("seed", sampled(range(4), 2))
def test_acknowledged_commits_outlive_the_process(tmp_path, seed):
    lines = random.Random(seed).randint(1, 400)
    found = killed_after(lines, tmp_path)
    assert len(found) >= lines

    async def look() -> None:
        store = open_store(tmp_path)
        memory, events = await store.journal.load("r"), await store.journal.events("r")
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert (await store.journal.find("r")).last_seq == len(events)
        keys = {event.key: event.seq for event in memory.events}
        assert set(found) <= set(memory.steps)
        assert all(keys[f"{step}/1"] == seq for step, seq in found.items())
        # Each commit is there whole or not at all.
        assert {hold.step for hold in memory.holds} == set(memory.steps)
        assert set(keys) == {f"{step}/{n}" for step in memory.steps for n in range(2)}
        lease = await store.journal.acquire("r", "parent", 60, evict="child")
        assert lease.fence == 2
        await store.close()

    asyncio.run(look())


def test_processes_write_one_home_at_once(tmp_path):
    children = [start(tmp_path, f"r{n}", 40) for n in range(3)]
    printed = [child.communicate(timeout=300)[0].splitlines() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    assert [len(lines) for lines in printed] == [200, 200, 200]

    async def look() -> None:
        store = open_store(tmp_path)
        for run in await store.journal.runs():
            events = await store.journal.events(run.run_id)
            assert [event.seq for event in events] == list(range(1, 401))
        await store.close()

    asyncio.run(look())
