"""Every kind of job: done, done by a worker which dies before it can say so, gone on with, and nothing done twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import dying_job_workers
import msgspec
import pytest
import warm
from crash_scene import SECONDS
from shells import apart
from stopping import stop
from waiting import until

from assay import Assay
from assay.cli.main import main
from assay.core.errors import UsageError
from assay.core.ports.jobs import Job, JobFilter
from assay.services.jobs import kinds
from assay.services.jobs.specifications import (
    AddJob,
    BatchJob,
    CrawlJob,
    DueJob,
    ExportJob,
    IndexJob,
    JobWork,
    NoticesJob,
    PruneJob,
    SyncJob,
    VerifyJob,
)
from assay.services.schedules import ScheduleBook

DEEP, WIDE = "How deep is the harbor?", "How wide is the harbor?"
HARBOR = "# Harbor\n\nThe harbor is nine metres deep. The harbor is 80 metres wide.\n"
TEXT = "The harbor is nine metres deep [1]. It is 70 metres wide [1].\n\n[1]: harbor.md\n"


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str:
    return "" if request.param == "sqlite" else request.getfixturevalue("new_database")()


@pytest.fixture
async def assay(database: str, tmp_path: Path) -> AsyncIterator[Assay]:
    (tmp_path / "harbor.md").write_text(HARBOR)
    (tmp_path / "draft.md").write_text(TEXT)
    (tmp_path / "questions.txt").write_text(f"{DEEP}\n{WIDE}\n")
    configured = dying_job_workers.configured(database, str(tmp_path))
    async with Assay(configured, home=tmp_path / "home") as made:
        yield made


async def worked(assay: Assay) -> None:
    await assay.job_worker(1).work(until_empty=True)


async def died(assay: Assay, database: str, place: Path) -> None:
    """A worker does one job and dies; nobody has the job any more when this returns."""
    process = warm.call(dying_job_workers.work, database, str(place))
    assert await asyncio.to_thread(process.wait, SECONDS) == -signal.SIGKILL
    await dying_job_workers.run_out(assay)


def works(place: Path, run: str) -> dict[str, JobWork]:
    """A job of each kind which needs nothing but this machine."""
    options = {"depth": "light", "mode": "web_search"}
    return {
        "sync": SyncJob(collection="harbor"),
        "index": IndexJob(),
        "export": ExportJob(run=run, file=str(place / "report.zip")),
        "verify": VerifyJob(file=str(place / "draft.md"), output=str(place / "out.json"), paths=(str(place),)),
        "batch": BatchJob(
            file=str(place / "questions.txt"),
            folder=str(place / "out"),
            paths=(str(place / "harbor.md"),),
            options=options,
        ),
        "due": DueJob(home=str(place / "home")),
        "notices": NoticesJob(),
        "prune": PruneJob(),
    }


def written(place: Path) -> dict[str, bytes]:
    """The reports of the batch as they are."""
    return {file.name: file.read_bytes() for file in (place / "out").glob("*.md")}


async def test_each_kind_is_done_after_a_death_and_nothing_twice(assay: Assay, database: str, tmp_path: Path) -> None:
    await assay.add([tmp_path / "harbor.md"], collection="harbor")
    first = assay.start(DEEP, sources=["@harbor"], depth="light")
    await first.report()
    book = ScheduleBook(tmp_path / "home")
    schedule = book.add(WIDE, 3600, (str(tmp_path / "harbor.md"),), {"depth": "light"}, datetime.now(UTC))
    done: dict[str, Job] = {}
    for kind, work in works(tmp_path, first.run_id).items():
        job = await assay.begin_job(work)
        await died(assay, database, tmp_path)
        before = {row.run_id for row in await assay.runs()}
        files = written(tmp_path)
        await worked(assay)
        done[kind] = await assay.job(job.id)
        assert (kind, done[kind].state, done[kind].error, done[kind].tries) == (kind, "done", "", 2)
        assert {row.run_id for row in await assay.runs()} == before
        assert written(tmp_path) == files
    assert len(before) == 4
    assert len(files) == 2
    rows = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    assert [(row["question"], row["status"]) for row in rows] == [(DEEP, "completed"), (WIDE, "completed")]
    assert done["batch"].result["completed"] == 2
    assert len(book.find(schedule.id).runs) == 1
    assert done["export"].result["bytes"] == (tmp_path / "report.zip").stat().st_size
    checked = json.loads((tmp_path / "out.json").read_text())
    assert done["verify"].result["claims"] == len(checked["claims"]) == 2
    assert {claim["verdict"] for claim in checked["claims"]} != {"quoted"}
    assert done["sync"].result["documents"] == 1
    assert done["notices"].result == {"sent": 0}


async def test_batches_are_ended_with_their_runs_and_tried_again(assay: Assay, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"task": "triage", "reply": {"text": "x"}, "delay_ms": 60_000}]))
    work = works(tmp_path, "")["batch"]
    options = {"depth": "light", "mode": "deep_research", "models": {"simple": [f"scripted:{script}"]}}
    job = await assay.begin_job(msgspec.structs.replace(work, options=options))
    worker = assay.job_worker(1)

    async def ended() -> None:
        while sum(row.status == "running" for row in await assay.runs()) < 2:
            await asyncio.sleep(0.05)
        await assay.cancel_job(job.id)
        async for each in assay.follow_job(job.id):
            last = each
        assert last.state == "cancelled"
        while {row.status for row in await assay.runs()} != {"cancelled"}:
            await asyncio.sleep(0.05)
        worker.stop()

    async with asyncio.timeout(120):
        await asyncio.gather(worker.work(), ended())
    script.write_text("[]")
    await assay.retry_job(job.id)
    await worked(assay)
    assert (await assay.job(job.id)).state == "done"


async def test_a_slow_disk_does_not_hold_up_the_other_work_of_a_worker(assay: Assay, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    slow = out / "results.jsonl"
    os.mkfifo(slow)  # who reads it waits until somebody writes
    await assay.begin_job(works(tmp_path, "")["batch"])
    freed: list[str] = []

    def free(who: str) -> None:
        if not freed:
            freed.append(who)
            with slow.open("wb"):
                slow.unlink()

    late = threading.Timer(60, free, ("nobody else",))
    late.start()

    async def frees() -> None:
        await asyncio.sleep(0.5)
        await asyncio.to_thread(free, "the event loop")
        late.cancel()

    await asyncio.gather(worked(assay), frees())
    assert freed == ["the event loop"]
    [job] = await assay.jobs()
    assert (job.state, job.result["completed"]) == ("done", 2)


async def test_a_job_which_kills_its_workers_is_kept_for_an_admin(assay: Assay, database: str, tmp_path: Path) -> None:
    ann = assay.owned_by("ann")
    job = await ann.begin_job(IndexJob())
    for _ in range(5):
        await died(assay, database, tmp_path)
    await worked(assay)
    admin = assay.owned_by(None)
    [dead] = await admin.jobs(JobFilter(states=frozenset(("failed",))))
    assert (dead.id, dead.owner, dead.tries) == (job.id, "ann", 5)
    assert "5 workers" in dead.error
    assert await assay.jobs() == []
    await admin.retry_job(job.id)
    await worked(assay)
    assert (await ann.job(job.id)).state == "done"


async def test_the_urgent_goes_first_and_what_is_periodic_comes_again(assay: Assay) -> None:
    last = await assay.begin_job(IndexJob(), priority=-1)
    soon = await assay.begin_job(PruneJob(), priority=5, every=3600)
    lines: list[str] = []
    await assay.job_worker(1, lines.append).work(until_empty=True)
    begun = [line.split()[1] for line in lines if line.endswith("started")]
    assert begun == [soon.id, last.id]
    [following] = await assay.jobs(JobFilter(states=frozenset(("waiting",))))
    assert (following.id, following.every, following.priority) == (f"{soon.id}-2", 3600, 5)
    with pytest.raises(UsageError, match="already"):
        await assay.begin_job(PruneJob(), every=60)
    with pytest.raises(UsageError, match="10 seconds"):
        await assay.begin_job(IndexJob(), every=1)


async def test_a_job_which_would_show_a_login_is_not_begun(assay: Assay) -> None:
    for work in (
        AddJob(paths=("https://me:secret@example.org/a.html",)),
        AddJob(paths=("git+https://me:secret@example.org/project",)),
        AddJob(paths=("s3://me:secret@bucket/letters",)),
        CrawlJob(url="https://me:secret@example.org/"),
    ):
        with pytest.raises(UsageError):
            await assay.begin_job(work)
    assert await assay.jobs() == []


def test_every_kind_which_can_be_begun_is_done_by_a_worker() -> None:
    named = {work.__struct_config__.tag for work in JobWork.__args__}
    assert named | {"files"} == set(kinds.KINDS)
    assert all(isinstance(work.title, property) for work in JobWork.__args__)
    assert AddJob(paths=("a", "b", "c")).title == "add a, b and 1 more to default"


async def test_figures_of_a_job_without_parts(assay: Assay) -> None:
    job: Job = await assay.begin_job(IndexJob())
    assert await assay.job_figures(job.id) == []


async def test_a_frozen_workers_word_is_refused_when_it_continues(assay: Assay, database: str, tmp_path: Path) -> None:
    job = await assay.begin_job(IndexJob())
    process = warm.call(dying_job_workers.linger, database, str(tmp_path))
    try:
        await until((tmp_path / dying_job_workers.DONE).exists, SECONDS)
        await asyncio.to_thread(stop, process.pid, tmp_path / "home")
        (tmp_path / dying_job_workers.DONE).unlink()
        await dying_job_workers.run_out(assay)
        await worked(assay)
        done = await assay.job(job.id)
        assert (done.state, done.fence) == ("done", 2)
    finally:
        os.kill(process.pid, signal.SIGCONT)
        code = await asyncio.to_thread(process.wait, SECONDS)
    assert code == 0
    assert await assay.job(job.id) == done


def test_commands_leave_their_work_to_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harbor.md").write_text(HARBOR)
    (tmp_path / "draft.md").write_text(TEXT)
    (tmp_path / "questions.txt").write_text(f"{DEEP}\n")
    assert main(["docs", "add", "harbor.md", "-q"]) == 0
    capsys.readouterr()
    lines = (
        ["verify", "draft.md", "--in", "harbor.md", "--queue", "out.json"],
        ["batch", "questions.txt", "-o", "out", "--in", "harbor.md", "--depth", "light", "--queue"],
        ["runs", "prune", "--queue"],
        ["schedule", "run-due", "--queue"],
        ["jobs", "begin", "index", "--every", "1h", "--priority", "3"],
        ["jobs", "begin", "crawl", "url=http://127.0.0.1:9/", "pages=3"],
    )
    for line in lines:
        assert main([*line, "-q"]) == 0
    jobs = capsys.readouterr().out.split()
    assert len(jobs) == len(lines)
    assert main(["jobs", "list", "--all-users", "--json"]) == 0
    found = {job["id"]: job for job in json.loads(capsys.readouterr().out)}
    kinds_of = [found[job]["kind"] for job in jobs]
    assert kinds_of == ["verify", "batch", "prune", "due", "index", "crawl"]
    assert found[jobs[0]]["arguments"]["output"] == str(tmp_path / "out.json")
    assert found[jobs[1]]["arguments"]["options"]["depth"] == "light"
    assert (found[jobs[4]]["every"], found[jobs[4]]["priority"]) == (3600, 3)
    assert found[jobs[5]]["arguments"] == {
        "url": "http://127.0.0.1:9/",
        "collection": "default",
        "pages": 3,
        "depth": 5,
    }
    capsys.readouterr()
    for line in (
        ["verify", "report.zip", "--queue", "out.json"],
        ["verify", "last", "--again", "--in", "harbor.md", "--queue", "out.json"],
        ["docs", "embed", "--queue", "--json"],
        ["docs", "embed", "--queue", "--status"],
        ["runs", "prune", "--queue", "--json"],
        ["batch", "questions.txt", "-o", "out", "--queue", "--notify", "true"],
        ["schedule", "run-due", "--queue", "--notify", "true"],
    ):
        assert main(line) == 2
        assert "--queue" in capsys.readouterr().err
    assert main(["jobs", "begin", "index", "pages=3"]) == 2
    assert "index has no option 'pages'" in capsys.readouterr().err
    assert main(["jobs", "begin", "crawl", "url=x", "pages=many"]) == 2
