"""Repositories and object stores which workers read in parts: pinned, gone on with, each document once."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import dying_job_workers
import halting
import obstore
import pytest
import warm
from crash_scene import SECONDS
from object_store import S3Server
from obstore.store import from_url
from web import response, site

from assay import Assay
from assay.core.errors import FetchFailed, UsageError
from assay.core.ports import ListingConnector
from assay.core.ports.jobs import JobFilter
from assay.fetch import git as git_places
from assay.fetch import objects
from assay.fetch.git import GitConnector
from assay.fetch.objects import ObjectsConnector
from assay.run.process import SystemClock
from assay.services import home_paths
from assay.services.jobs import ingestion
from assay.services.jobs.specifications import AddJob

FILES = 13


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four files make a part."""
    monkeypatch.setattr(ingestion, "FILES_PER_PART", 4)


def git(folder: Path, *words: str) -> str:
    line = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words]
    return subprocess.run(line, cwd=folder, capture_output=True, check=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("the program git is not installed")
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")
    for number in range(FILES):
        (folder / f"letter{number:02}.md").write_text(f"# Letter {number}\n\nThe master wrote of pier {number}.\n")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "x")
    return folder


@pytest.fixture
def bucket(s3: S3Server) -> str:
    place = s3.place()
    store = from_url(place, client_options={"allow_http": True})
    for number in range(FILES):
        obstore.put(store, f"a b/letter{number:02}.md", f"# Letter {number}\n\nOf pier {number}.\n".encode())
    obstore.put(store, "folder/", b"")
    obstore.put(store, "picture.bin", b"\x00\x01\x02" * 50)
    return place


async def worked(assay: Assay, slots: int = 1) -> None:
    await assay.job_worker(slots).work(until_empty=True)


@pytest.mark.parametrize("slots", [1, 2])
async def test_one_worker_reads_more_parts_than_may_wait(
    tmp_path: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch, slots: int
) -> None:
    monkeypatch.setattr(ingestion, "MAX_WAITING_PARTS", 1)
    folder = tmp_path / "letters"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"letter{number:02}.md").write_text(f"# Letter {number}\n\nThe master wrote of pier {number}.\n")
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(str(folder),), collection="letters"))
        async with asyncio.timeout(SECONDS):
            await worked(assay, slots)
        done = await assay.job(job.id)
        assert (done.state, done.error, done.finished, done.total) == ("done", "", 4, 4)
        assert len(await assay.documents("letters")) == FILES


async def test_a_repository_is_read_in_parts_at_the_commit_it_had(
    tmp_path: Path, repository: Path, small_parts: None
) -> None:
    place = f"git+file://{repository}"
    commit = git(repository, "rev-parse", "HEAD")
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(place,), collection="project"))
        worker = assay.job_worker(1)

        async def stopped() -> None:
            while not await assay.jobs(JobFilter(parent=job.id, states=frozenset(("done",)))):
                await asyncio.sleep(0.01)
            worker.stop()

        await asyncio.gather(worker.work(), stopped())
        (repository / "later.md").write_text("# Later\n\nIt came while the others were read.\n")
        git(repository, "add", "-A")
        git(repository, "commit", "--quiet", "-m", "y")
        await worked(assay, slots=2)
        done = await assay.job(job.id)
        assert (done.state, done.error, done.total) == ("done", "", 4)
        assert (done.result["documents"], done.result["files"]) == (FILES, FILES)
        documents = await assay.documents("project")
        assert sorted(each.url for each in documents) == [
            f"{place}@{commit}/letter{number:02}.md" for number in range(FILES)
        ]
        [figures] = await assay.job_figures(job.id)
        assert (figures.parts, figures.files) == (4, FILES)  # what a stopped worker read is known to who goes on
        assert figures.seconds > 0
        [origin] = await assay.origins("project")
        assert (origin.place, origin.kind, len(origin.documents)) == (place, "git+file", FILES)
        assert (await assay.sync("project")).added == 1


async def test_a_bucket_is_read_in_parts_after_a_death_and_each_document_once(
    tmp_path: Path, bucket: str, small_parts: None
) -> None:
    async with Assay(dying_job_workers.configured("", str(tmp_path)), home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(bucket,), collection="letters"))
        await worked(assay)
        refused = await assay.job(job.id)
        assert refused.state == "failed"
        assert "offline" in refused.error
    async with Assay(home=tmp_path / "home") as assay:
        await assay.retry_job(job.id)
        await worked(assay, slots=2)
        done = await assay.job(job.id)
        assert (done.state, done.error, done.result["documents"]) == ("done", "", FILES)
        assert done.result["added"] == FILES
        assert "not text" in " ".join(done.result["warnings"])
        documents = await assay.documents("letters")
        assert len(documents) == FILES
        assert documents[0].url.startswith(f"{bucket}/a%20b/letter")
        again = await assay.begin_job(AddJob(paths=(bucket,), collection="letters"))
        await worked(assay)
        assert (await assay.job(again.id)).result["added"] == 0
        assert len(await assay.documents("letters")) == FILES


async def test_a_small_bucket_is_added_and_synced(tmp_path: Path, bucket: str, s3: S3Server) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        added = await assay.add([bucket], collection="letters")
        assert (added.documents, added.added) == (FILES, FILES)
        obstore.delete(from_url(bucket, client_options={"allow_http": True}), "a b/letter00.md")
        assert (await assay.sync("letters")).removed == 1


def test_what_is_wrong_with_a_bucket_is_said_without_keys(s3: S3Server, tmp_path: Path) -> None:
    connector = ObjectsConnector()
    assert isinstance(connector, ListingConnector)
    assert isinstance(GitConnector(), ListingConnector)
    with pytest.raises(UsageError, match="s3://bucket/prefix"):
        connector.canonical("s3://key:secret@bucket/x")
    with pytest.raises(FetchFailed, match="no such bucket") as raised:
        connector.list("s3://nobody-has-this/x", tmp_path, SystemClock(), 1000)
    assert "AKID" not in str(raised.value)


def test_objects_too_large_are_left_out_and_those_gone_are_no_error(bucket: str, tmp_path: Path) -> None:
    connector, clock = ObjectsConnector(), SystemClock()
    kept, files = connector.list(bucket, tmp_path, clock, 100)
    assert (kept, len(files)) == (bucket, FILES)
    assert all(file.version for file in files)
    obstore.delete(from_url(bucket, client_options={"allow_http": True}), files[0].name)
    assert len(list(connector.read(kept, files, tmp_path, clock))) == FILES - 1


async def test_a_worker_which_dies_leaves_its_parts_to_another(
    tmp_path: Path, repository: Path, small_parts: None
) -> None:
    configured = dying_job_workers.configured("", str(tmp_path))
    async with Assay(configured, home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(f"git+file://{repository}",), collection="project"))
        for _ in range(2):
            process = warm.call(dying_job_workers.work, "", str(tmp_path), 1, 4)
            assert await asyncio.to_thread(process.wait, SECONDS) == -signal.SIGKILL
            await dying_job_workers.run_out(assay)
        await worked(assay)
        done = await assay.job(job.id)
        assert (done.state, done.result["documents"]) == ("done", FILES)
        assert len(await assay.documents("project")) == FILES


async def test_whoever_takes_up_the_last_step_neither_lists_nor_reads_again(
    tmp_path: Path, repository: Path, small_parts: None
) -> None:
    """A worker dies when all is read. The next ends the job without the places, which are gone."""
    (folder := tmp_path / "folder").mkdir()
    for number in range(FILES):
        (folder / f"note{number:02}.md").write_text(f"# Note {number}\n\nA note on pier {number}.\n")
    configured = dying_job_workers.configured("", str(tmp_path), offline=False)
    async with site("127.0.0.1") as there, Assay(configured, home=tmp_path / "home") as assay:
        there.pages["/pier.html"] = response("<title>Pier</title><p>The pier of the harbor.</p>")
        places = (f"git+file://{repository}", str(folder), there.url("/pier.html", "127.0.0.1"))
        job = await assay.begin_job(AddJob(paths=places, collection="project"))
        parts = 8
        process = warm.call(dying_job_workers.work, "", str(tmp_path), parts, 4, False)
        assert await asyncio.to_thread(process.wait, SECONDS) == -signal.SIGKILL
        left = await assay.job(job.id)
        assert (left.state, left.finished, left.total) == ("running", parts, parts)
        shutil.rmtree(repository)
        shutil.rmtree(folder)
        await dying_job_workers.run_out(assay)
        await worked(assay)
        done = await assay.job(job.id)
        assert (done.state, done.error, done.tries) == ("done", "", 2)
        assert (done.result["documents"], done.result["added"]) == (2 * FILES + 1, 2 * FILES + 1)
        assert len(await assay.documents("project")) == 2 * FILES + 1
        assert sorted(len(each.documents) for each in await assay.origins("project")) == [1, FILES, FILES]
        assert there.asked.count("/pier.html") == 1


async def test_a_cancelled_listing_ends_what_it_started_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server of the repository never answers: git waits for it."""
    if shutil.which("git") is None:
        pytest.skip("the program git is not installed")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    reached = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await reader.read()  # until git is gone
        left.set()
        writer.close()

    left = asyncio.Event()
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(f"git+http://127.0.0.1:{port}/project",), collection="project"))
        worker = assay.job_worker(1)
        working = asyncio.create_task(worker.work())
        async with asyncio.timeout(60):
            await reached.wait()
            await assay.cancel_job(job.id)
            await left.wait()
        worker.stop()
        await working
        assert (await assay.job(job.id)).state == "cancelled"
        async with asyncio.timeout(60):
            while list(tmp_path.glob("assay-scratch-*")):
                await asyncio.sleep(0.05)
    server.close()


async def test_a_fetched_repository_goes_when_its_job_is_done(
    tmp_path: Path, repository: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(f"git+file://{repository}",), collection="project"))
        await worked(assay)
        assert (await assay.job(job.id)).result["documents"] == FILES
        assert list(tmp_path.glob("assay-scratch-*")) == []


async def test_what_a_killed_worker_fetched_is_deleted_by_the_next(
    tmp_path: Path, repository: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed with a repository at hand; what workers have which are alive, stays."""
    (temporary := tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    alive = home_paths.scratch_folder()
    environment = {**os.environ, "TMPDIR": str(temporary), "ASSAY_HOME": str(tmp_path / "home")}
    line = ("worker", "--jobs", "1", "-q")
    async with Assay(home=tmp_path / "home") as assay:
        job = await assay.begin_job(AddJob(paths=(f"git+file://{repository}",), collection="project"))
        killed = warm.start(*line, env=environment, program=halting.AT_A_REPOSITORY)
        while not (left := [each for each in temporary.glob(f"{home_paths.PREFIX}*/*") if each.parent != alive]):
            await asyncio.sleep(0.01)
        killed.kill()
        assert killed.wait(SECONDS) == -signal.SIGKILL
        assert left[0].parent.exists()
        worker = warm.start(*line, env=environment)
        async with asyncio.timeout(SECONDS):
            while (await assay.job(job.id)).state != "done":
                await asyncio.sleep(0.05)
        worker.send_signal(signal.SIGTERM)
        await asyncio.to_thread(worker.wait, SECONDS)
        assert list(temporary.glob(f"{home_paths.PREFIX}*")) == [alive]


async def test_what_is_too_large_for_anybody_is_not_tried_again(
    tmp_path: Path, repository: Path, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_places, "MAX_LISTED_FILES", FILES - 1)
    monkeypatch.setattr(objects, "MAX_LISTED_OBJECTS", FILES - 1)
    async with Assay(home=tmp_path / "home") as assay:
        for place in (f"git+file://{repository}", bucket):
            job = await assay.begin_job(AddJob(paths=(place,), collection="project"))
            await worked(assay)
            failed = await assay.job(job.id)
            assert (failed.state, failed.tries) == ("failed", 1)
            assert "too large" in failed.error
            assert f"at most {FILES - 1}" in failed.error
