"""Long work left to workers: done whole, told of, gone on with after kills, ended and tried again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import halting
import pytest
import warm

from assay import Assay
from assay.core.errors import FetchFailed, UnknownName, UsageError
from assay.core.ports.jobs import Job, JobFilter
from assay.run import job_worker
from assay.services import collections
from assay.services.jobs import ingestion
from assay.services.jobs.specifications import AddJob, CrawlJob, ExportJob, PruneJob, SyncJob

FILES = 23


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five files make a part."""
    monkeypatch.setattr(ingestion, "FILES_PER_PART", 5)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A folder of files, one of which nothing can read."""
    folder = tmp_path / "archive"
    for number in range(FILES):
        file = folder / f"{number % 3}" / f"letter{number:02}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Letter {number}\n\nThe harbor master wrote of pier {number}.\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    return folder


async def worked(assay: Assay, slots: int = 1) -> None:
    await assay.job_worker(slots).work(until_empty=True)


async def parts(assay: Assay, job: Job) -> list[Job]:
    return await assay.jobs(JobFilter(parent=job.id))


async def one_part_worked(assay: Assay, job: Job) -> None:
    """A worker is stopped when a part is done."""
    worker = assay.job_worker(1)

    async def stopped() -> None:
        while not any(part.state == "done" for part in await parts(assay, job)):
            await asyncio.sleep(0.01)
        worker.stop()

    await asyncio.gather(worker.work(), stopped())


async def held(assay: Assay, collection: str) -> list[tuple[str, str]]:
    return sorted((each.name, each.sha256) for each in await assay.documents(collection))


async def test_a_folder_is_read_in_parts_as_it_would_be_at_once(tmp_path: Path, archive: Path, small_parts) -> None:
    async with Assay(home=tmp_path / "whole") as alone:
        await alone.add([str(archive)], collection="letters")
        expected = await held(alone, "letters")
        places = await alone.origins("letters")
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(str(archive),), collection="letters"))
        assert job.state == "waiting"
        await worked(assay, slots=2)
        done = await assay.job(job.id)
        assert (done.state, done.result["documents"], done.result["added"]) == ("done", FILES, FILES)
        assert (done.finished, done.total) == (5, 5)
        assert [each.state for each in await parts(assay, job)] == ["done"] * 5
        assert sum(each.parts for each in await assay.job_figures(job.id)) == 5
        assert await held(assay, "letters") == expected
        [origin] = await assay.origins("letters")
        assert set(origin.documents) == set(places[0].documents)
        assert [each.path for each in origin.skipped] == [each.path for each in places[0].skipped]
        assert "broken.pdf" in " ".join(done.result["warnings"])
        assert await assay.search("harbor master", collection="letters")
        again = await assay.begin_job(SyncJob(collection="letters"))
        (archive / "0" / "letter00.md").unlink()
        await worked(assay)
        assert (await assay.job(again.id)).result["removed"] == 1


@pytest.mark.parametrize("slots", [1, 2])
async def test_a_sync_is_queued_behind_what_makes_its_collection(
    tmp_path: Path, archive: Path, small_parts, slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_worker, "PUT_OFF", 0.1)
    async with Assay(home=tmp_path / "home") as assay:
        with pytest.raises(UnknownName, match="collection"):
            await assay.begin_job(SyncJob(collection="letters"))
        await assay.begin_job(AddJob(paths=(str(archive),), collection="letters"))
        job = await assay.begin_job(SyncJob(collection="letters"))
        await worked(assay, slots)
        done = await assay.job(job.id)
        assert (done.state, done.error, done.result["documents"]) == ("done", "", FILES)
        assert (done.result["added"], done.result["removed"]) == (0, 0)


async def test_a_sync_behind_a_failed_addition_fails_too(tmp_path: Path) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        await assay.begin_job(AddJob(paths=(str(tmp_path / "nowhere"),), collection="letters"))
        job = await assay.begin_job(SyncJob(collection="letters"))
        await worked(assay)
        done = await assay.job(job.id)
        assert done.state == "failed"
        assert "collection" in done.error


async def test_a_small_folder_is_no_family(tmp_path: Path, archive: Path) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(str(archive),)))
        await worked(assay)
        assert (await assay.job(job.id)).result["files"] == FILES
        assert await parts(assay, job) == []


async def test_files_which_come_while_it_is_read_are_for_the_next_sync(
    tmp_path: Path, archive: Path, small_parts
) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(str(archive),), collection="letters"))
        await one_part_worked(assay, job)
        left = await assay.job(job.id)
        assert (left.state, left.tries, left.holder) == ("waiting", 0, "")
        (archive / "0" / "a-new-one.md").write_text("# New\n\nIt came late.\n")
        await worked(assay)
        assert (await assay.job(job.id)).result["documents"] == FILES
        named = [file for part in await parts(assay, job) for file in part.arguments["files"]]
        assert len(named) == len(set(named)) == FILES + 1
        assert (await assay.sync("letters")).added == 1


async def test_a_part_which_fails_is_named_and_tried_again(
    tmp_path: Path, archive: Path, small_parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = ingestion.collections.read_files
    failing = {"on": True}

    async def fails(context, files, collection, progress):
        if failing["on"] and any("letter07" in file for file in files):
            raise UsageError("the disk was taken out")
        return await read(context, files, collection, progress)

    monkeypatch.setattr(ingestion.collections, "read_files", fails)
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(str(archive),), collection="letters"))
        await worked(assay)
        failed = await assay.job(job.id)
        assert failed.state == "failed"
        assert "1 of 5 parts" in failed.error
        assert "the disk was taken out" in failed.error
        assert f"assay jobs retry {job.id}" in failed.error
        assert len(await assay.documents("letters")) >= FILES - 5
        failing["on"] = False
        await assay.retry_job(job.id)
        await worked(assay)
        assert (await assay.job(job.id)).result["documents"] == FILES
        assert len(await assay.documents("letters")) == FILES


async def test_a_job_is_ended_while_it_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = asyncio.Event(), []

    async def forever(context, url, collection, pages, depth, progress):
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(url)

    monkeypatch.setattr("assay.services.collections.crawl", forever)
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(CrawlJob(url="http://127.0.0.1:9/"))
        lines = []
        worker = assay.job_worker(1, lines.append)

        async def cancelled() -> None:
            await begun.wait()
            assert (await assay.cancel_job(job.id)).stopping
            async for each in assay.follow_job(job.id):
                last = each
            assert last.state == "cancelled"
            worker.stop()

        await asyncio.gather(worker.work(), cancelled())
        assert ended == ["http://127.0.0.1:9/"]
        assert lines[-1] == f"job {job.id}: cancelled"


async def test_jobs_end_before_the_rest_of_a_users_data_goes(
    tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, there = asyncio.Event(), []
    async with Assay(home=tmp_path / "home") as assay:
        ann = assay.owned_by("ann")

        async def forever(context, url, collection, pages, depth, progress):
            begun.set()
            try:
                await asyncio.sleep(3600)
            finally:
                there.extend(row.name for row in await ann.collections())

        monkeypatch.setattr("assay.services.collections.crawl", forever)
        await ann.add([str(archive)], collection="letters")
        await ann.begin_job(CrawlJob(url="http://127.0.0.1:9/"))
        worker = assay.job_worker(1)
        working = asyncio.create_task(worker.work())
        await begun.wait()
        assert (await ann.erase()).collections == 1
        worker.stop()
        await working
        assert there == ["letters"]
        assert (await ann.jobs(), await ann.collections()) == ([], [])


async def test_what_cannot_be_done_is_refused_or_told(tmp_path: Path) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        with pytest.raises(UsageError, match="nothing to add"):
            await assay.begin_job(AddJob(paths=()))
        with pytest.raises(UnknownName):
            await assay.begin_job(SyncJob(collection="none"))
        with pytest.raises(UnknownName):
            await assay.begin_job(ExportJob(run="none", file="x.md"))
        job = await assay.begin_job(AddJob(paths=(str(tmp_path / "gone"),)))
        await assay.begin_job(PruneJob())
        await worked(assay)
        failed = await assay.job(job.id)
        assert failed.state == "failed"
        assert "gone" in failed.error
    async with Assay() as memory:
        with pytest.raises(UsageError, match="memory"):
            await memory.begin_job(PruneJob())


async def test_a_report_is_written_to_a_file(tmp_path: Path, archive: Path) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        run = assay.start("Who wrote of pier 3?", sources=[str(archive)], depth="light", model="extractive")
        await run.report()
        job = await assay.begin_job(ExportJob(run=run.run_id, file=str(tmp_path / "report.html")))
        await worked(assay)
        done = await assay.job(job.id)
        assert done.result == {
            "file": str(tmp_path / "report.html"),
            "bytes": (tmp_path / "report.html").stat().st_size,
        }
        assert "<html" in (tmp_path / "report.html").read_text()


async def test_one_owner_does_not_see_anothers_jobs(tmp_path: Path, archive: Path) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        ann, bob = assay.owned_by("ann"), assay.owned_by("bob")
        job = await ann.begin_job(AddJob(paths=(str(archive),), collection="mine"))
        with pytest.raises(UnknownName):
            await bob.job(job.id)
        with pytest.raises(UnknownName):
            await bob.cancel_job(job.id)
        await worked(assay)
        assert len(await ann.documents("mine")) == FILES
        with pytest.raises(UnknownName):
            await bob.check_collection("mine")


@pytest.fixture(params=["sqlite", "postgres"])
def worker_settings(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """What processes know of the same library; each has a home of its own where there is a database."""
    environment = {**os.environ, "ASSAY_HOME": str(tmp_path / "home")}
    if request.param == "postgres":
        environment |= {
            "ASSAY_DATABASE": request.getfixturevalue("new_database")(),
            "ASSAY_BLOBS": str(tmp_path / "blobs"),
        }
    return environment


def assay_command(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return warm.run(*arguments, env=environment)


def test_killed_workers_lose_nothing_and_do_nothing_twice(worker_settings: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    many = 3 * ingestion.FILES_PER_PART + 7
    for number in range(many):
        (folder / f"note{number:05}.txt").write_text(f"Note {number} tells of pier {number} in the harbor.\n")
    queued = assay_command(worker_settings, "docs", "add", str(folder), "-c", "notes", "--queue")
    assert queued.returncode == 0, queued.stderr
    job = queued.stdout.strip()
    line = ["worker", "--jobs", "1", "--until-empty"]
    killed = 0
    ways = {"env": worker_settings, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    for _ in range(3):
        worker = warm.start(*line, **ways, program=halting.at_texts(ingestion.FILES_PER_PART // 2))
        for found in worker.stderr:  # it is killed while it reads a part
            if b", part " in found:
                break
        worker.send_signal(signal.SIGKILL)
        worker.communicate(timeout=300)
        killed += worker.returncode == -signal.SIGKILL
    assert killed == 3
    watching = warm.start("jobs", "watch", job, **ways)
    last = warm.start(*line[:-1], **ways)
    try:
        _, found = watching.communicate(timeout=300)
    finally:
        last.send_signal(signal.SIGTERM)
        last.communicate(timeout=300)
    assert watching.returncode == 0, found
    shown = assay_command(worker_settings, "jobs", "show", job)
    assert f"documents: {many}" in shown.stdout, shown.stdout + shown.stderr
    assert f"files: {many}" in shown.stdout
    listed = assay_command(worker_settings, "docs", "list", "-c", "notes", "--json")
    assert listed.stdout.count("sha256") >= many
    listing = assay_command(worker_settings, "jobs", "list")
    assert listing.stdout.split("\t")[:2] == [job, "done"]


async def test_a_worker_which_stops_when_all_is_done_waits_for_what_is_tried_again(
    tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, failed = ingestion.collections.add, []

    async def fails(*arguments):
        if not failed:
            failed.append("once")
            raise FetchFailed("unreachable: the network is away")
        return await read(*arguments)

    monkeypatch.setattr(ingestion.collections, "add", fails)
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(str(archive),), collection="letters"))
        await worked(assay)
        done = await assay.job(job.id)
        assert (done.state, done.result["documents"], done.tries) == ("done", FILES, 2)
        periodic = await assay.begin_job(PruneJob(), every=3_600)
        await worked(assay)
        assert (await assay.job(periodic.id)).state == "done"


async def test_a_place_which_shrinks_leaves_no_part_behind(tmp_path: Path, archive: Path, small_parts) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(str(archive),), collection="letters"))
        await one_part_worked(assay, job)
        for file in list(archive.rglob("*.*"))[2:]:
            file.unlink()
        await worked(assay)
        done = await assay.job(job.id)
        assert done.state == "done"
        assert any("was deleted before it was read" in each for each in done.result["warnings"])
        assert [each.state for each in await parts(assay, job)] == ["done"] * 5
        [origin] = await assay.origins("letters")
        assert len(origin.documents) == len(await held(assay, "letters"))


async def test_documents_of_a_reading_cut_short_go_with_their_files(
    tmp_path: Path, archive: Path, small_parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, cut = collections.read_files, asyncio.Event()

    async def cut_short(*given: Any) -> Any:
        done = await read(*given)
        if not cut.is_set():
            cut.set()
            await asyncio.sleep(600)  # its documents are in the collection, and nobody has noted so
        return done

    monkeypatch.setattr(collections, "read_files", cut_short)
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(str(archive),), collection="letters"))
        worker = assay.job_worker(1)
        working = asyncio.create_task(worker.work())
        await cut.wait()
        worker.stop()
        await working
        assert len(await held(assay, "letters")) > 3
        for file in list(archive.rglob("*.md"))[3:]:
            file.unlink()
        await worked(assay)
        assert (await assay.job(job.id)).state == "done"
        assert len(await held(assay, "letters")) == 3
