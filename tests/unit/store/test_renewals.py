"""Renewals of many runs, among their commits: each gets its own answer, they wait for company, and idle ones cost
nothing.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from journals import begin, commit_of, seqs

from assay.core.errors import FenceLost
from assay.core.ports import Renewal
from assay.store.sql import open_store, reads

RUNS = 8


async def test_renewals_among_commits_answer_each_their_own(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    journal = store.journal
    leases = [await begin(journal, f"r{number}") for number in range(RUNS)]
    await journal.control("r3", "finish")
    stale = msgspec.structs.replace(leases[5], fence=leases[5].fence - 1)
    work: list[asyncio.Future[object]] = []
    for lease in leases:
        work.append(asyncio.ensure_future(journal.commit(lease, commit_of("one"))))
        work.append(asyncio.ensure_future(journal.renew(stale if lease is leases[5] else lease, 30)))
        work.append(asyncio.ensure_future(journal.commit(lease, commit_of("two"))))
    answers = await asyncio.gather(*work, return_exceptions=True)
    renewed = answers[1::3]
    assert isinstance(renewed.pop(5), FenceLost)
    assert renewed == [("finish" if at == 3 else "", 0) for at in range(RUNS - 1)]
    for lease in leases:
        assert await seqs(journal, lease.run_id) == [1, 2, 3]
    await store.close()


async def test_a_renewal_waits_for_work_that_is_urgent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path)
    lease = await begin(store.journal)
    monkeypatch.setattr("assay.store.sql.commits.GROUPING_SECONDS", 3600.0)
    renewal = asyncio.ensure_future(store.journal.renew(lease, 30))
    done, _ = await asyncio.wait([renewal], timeout=0.1)
    assert not done
    await store.journal.control(lease.run_id, "cancel")
    assert (await renewal).action in ("", "cancel")
    await store.close()


async def test_leases_are_not_looked_at_again_while_nobody_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = open_store(tmp_path), open_store(tmp_path)
    journal = store.journal
    leases = [await begin(journal, f"r{number}") for number in range(RUNS)]
    looks = []
    look = reads.read_leases
    monkeypatch.setattr(reads, "read_leases", lambda *given: looks.append(1) or look(*given))
    for _ in range(5):
        assert await journal.renew_all(leases, 30) == {}
    assert len(looks) == 1
    await other.journal.post("r1", "answer", b"1")  # as another process does
    for _ in range(5):
        assert await journal.renew_all(leases, 30) == {leases[1]: Renewal("", 1)}
    assert len(looks) == 2
    await journal.control("r2", "finish")  # through this process's writer
    for _ in range(5):
        assert await journal.renew_all(leases, 30) == {leases[1]: Renewal("", 1), leases[2]: Renewal("finish", 0)}
    assert len(looks) == 3
    await journal.renew_all(leases[:2], 30)
    assert len(looks) == 4
    await store.close()
    await other.close()


async def test_a_process_that_only_commits_and_renews_looks_at_its_leases_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    store, other = open_store(tmp_path, lambda: now[0]), open_store(tmp_path, lambda: now[0])
    journal = store.journal
    leases = tuple([await begin(journal, f"r{number}", ttl=30) for number in range(RUNS)])
    looks = []
    look = reads.read_leases
    monkeypatch.setattr(reads, "read_leases", lambda *given: looks.append(1) or look(*given))

    async def later(key: str) -> dict[str, type]:
        await journal.commit(leases[0], commit_of(key))
        now[0] += 10  # less than three quarters are left
        return {lease.run_id: type(each) for lease, each in (await journal.renew_all(leases, 30)).items()}

    for number in range(5):
        assert await later(f"before-{number}") == {}
    assert len(looks) == 1
    assert [(await other.journal.find(lease.run_id)).holder for lease in leases] == ["host:1"] * RUNS
    await other.journal.acquire("r2", "host:2", 30, evict="host:1")
    for number in range(5):
        assert await later(f"after-{number}") == {"r2": FenceLost}
    assert len(looks) == 2
    holders = [(await other.journal.find(lease.run_id)).holder for lease in leases]
    assert holders == ["host:1", "host:1", "", *["host:1"] * (RUNS - 3)]  # nobody renews the one taken away
    await store.close()
    await other.close()
