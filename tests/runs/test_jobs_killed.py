"""Workers killed in the middle of a job: another goes on, comes to the same, and does nothing twice."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import dying_job_workers
import pytest
import warm
from concepts import vectors
from embedding_server import EmbeddingServer, serving
from web import response, site

from assay import Assay
from assay.services.jobs.specifications import AddJob, CrawlJob, EmbedJob, JobWork
from assay.settings import Settings, load

SECONDS = 300
LEASE = 1.0
FILES = 60
IN_FLIGHT = 20
"""Documents whose vectors are stored together."""
PAGES = 24
PAGE = "<!doctype html><title>Pier {0}</title><main><h1>Pier {0}</h1><p>Pier {0} of the harbor.</p>{1}</main>"


class Doomed:
    """A worker in a process of its own, to be killed."""

    def __init__(self, environment: dict[str, str]) -> None:
        line = ("worker", "--jobs", "1", "--until-empty", "-q")
        self._process = warm.start(*line, env={**os.environ, **environment})
        self.pid = self._process.pid

    async def died(self, assay: Assay) -> None:
        assert await asyncio.to_thread(self._process.wait, SECONDS) == -signal.SIGKILL
        await dying_job_workers.run_out(assay)


@pytest.fixture(params=["sqlite", "postgres"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """What processes know of the same library."""
    shared = {"ASSAY_HOME": str(tmp_path / "home"), "ASSAY_WORKERS_LEASE": str(LEASE)}
    if request.param == "postgres":
        database = request.getfixturevalue("new_database")()
        shared |= {"ASSAY_DATABASE": database, "ASSAY_BLOBS": str(tmp_path / "blobs")}
    return shared


@pytest.fixture
def settings(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Settings]:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return load


async def done_after(environment: dict[str, str], assay: Assay, work: JobWork, kills: Callable[[int], None]) -> str:
    """A job which one worker was killed over, in the moment `kills` chose, and another has done; its id."""
    job = await assay.begin_job(work)
    doomed = Doomed(environment)
    kills(doomed.pid)
    await doomed.died(assay)
    left = await assay.job(job.id)
    assert (left.state, left.tries) == ("running", 1)
    await assay.job_worker(1).work(until_empty=True)
    done = await assay.job(job.id)
    assert (done.state, done.error, done.tries) == ("done", "", 2)
    return job.id


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    with serving(vectors) as state:
        file = tmp_path / "config.toml"
        file.write_text(f'[services.ollama]\nurl = "{state.url}"\n[embedder]\nmodel = "ollama:all-minilm"\n')
        monkeypatch.setenv("ASSAY_CONFIG", str(file))
        yield state


async def test_vectors_are_made_once_whoever_dies(
    environment: dict[str, str], settings: Callable[..., Settings], server: EmbeddingServer, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:02}.md").write_text(f"The car number {number} stands here.\n")
    asked: Counter[str] = Counter()
    doomed: list[int] = []

    def counted(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        asked.update(texts)
        if doomed and len(asked) > FILES // 2:
            os.kill(doomed.pop(), signal.SIGKILL)
        return vectors(texts)

    server.embed = counted
    async with Assay(settings(), home=tmp_path / "home") as assay:
        await assay.add([folder])
        job = await done_after(environment, assay, EmbedJob(), doomed.append)
        status = await assay.embedding_status()
        assert (status.documents, status.missing) == (FILES, 0)
        result = (await assay.job(job)).result
        assert len(asked) == FILES
        twice = [text for text, times in asked.items() if times > 1]
        assert 0 < len(twice) <= IN_FLIGHT
        assert max(asked.values()) == 2
        assert result["embedded"] < FILES
        before = asked.total()
        again = await assay.begin_job(EmbedJob())
        await assay.job_worker(1).work(until_empty=True)
        assert ((await assay.job(again.id)).result["embedded"], asked.total()) == (0, before)


async def test_what_a_worker_reads_gets_its_vectors(
    settings: Callable[..., Settings], server: EmbeddingServer, tmp_path: Path
) -> None:
    (tmp_path / "car.md").write_text("An automobile needs maintenance.\n")
    async with Assay(settings(), home=tmp_path / "home") as assay:
        jobs = [await assay.begin_job(AddJob(paths=(str(tmp_path / "car.md"),), collection=name)) for name in "ab"]
        await assay.job_worker(1).work(until_empty=True)
        first, second = [(await assay.job(each.id)).result for each in jobs]
        assert first["vectors"] == second["vectors"] == f"{jobs[0].id}-vectors"
        made = await assay.job(first["vectors"])
        assert (made.state, made.result["embedded"]) == ("done", 1)
        assert (await assay.embedding_status()).missing == 0


async def test_a_site_is_read_once_whoever_dies(
    environment: dict[str, str], settings: Callable[..., Settings], tmp_path: Path
) -> None:
    doomed: list[int] = []
    async with site("127.0.0.1") as there:

        def page(number: int) -> bytes:
            link = f'<a href="{number + 1}.html">on</a>' if number + 1 < PAGES else ""
            return response(PAGE.format(number, link), Content_Type="text/html")

        def deadly() -> bytes:
            if doomed:
                os.kill(doomed.pop(), signal.SIGKILL)
            return page(PAGES // 2)

        there.pages |= {f"/{number}.html": page(number) for number in range(PAGES)}
        there.pages[f"/{PAGES // 2}.html"] = deadly
        web = {"ASSAY_WEB_ALLOW": "127.0.0.1", "ASSAY_WEB_ROBOTS": "false"}
        async with Assay(settings(web={"allow": "127.0.0.1", "robots": False}), home=tmp_path / "home") as assay:
            work = CrawlJob(url=there.url("/0.html", "127.0.0.1"), collection="piers", pages=PAGES, depth=PAGES)
            job = await done_after(environment | web, assay, work, doomed.append)
            documents = await assay.documents("piers")
            assert sorted(each.title for each in documents) == sorted(f"Pier {number}" for number in range(PAGES))
            asked = Counter(path for path in there.asked if path.endswith(".html"))
            assert set(asked) == {f"/{number}.html" for number in range(PAGES)}
            assert [path for path, times in asked.items() if times > 1] == [f"/{PAGES // 2}.html"]
            result = (await assay.job(job)).result
            assert (result["documents"], result["added"]) == (PAGES, PAGES // 2)
            [origin] = await assay.origins("piers")
            assert len(origin.documents) == PAGES
