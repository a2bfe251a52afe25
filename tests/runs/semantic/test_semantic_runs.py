"""Runs over a library with vectors: from settings to hits, over a real connection."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import postgres
import pytest
from concepts import vectors
from embedding_server import EmbeddingServer
from meaning import ASKED, ELSEWHERE, LOCAL, found, named, settings

from assay import Assay
from assay.core import events as e
from assay.core.errors import UnknownName, UsageError
from assay.services.jobs.specifications import EmbedJob
from assay.settings import load

# the library


async def test_without_an_embedder_nobody_is_asked(folder: Path, tmp_path: Path, server: EmbeddingServer):
    async with Assay(home=tmp_path / "home") as assay:
        await assay.add(folder)
        assert await found(assay) == []
        with pytest.raises(UsageError, match=r"no embedder is set.*embedder\.model"):
            await assay.embed()
    assert server.requests == []


class Gate:
    """Holds one request to the embedder until it is opened."""

    def __init__(self, server: EmbeddingServer, request: int) -> None:
        self._server, self._request = server, request
        self.reached, self.open = threading.Event(), threading.Event()
        server.embed = self._vectors

    def _vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if len(self._server.requests) == self._request:
            self.reached.set()
            assert self.open.wait(120)
        return vectors(texts)


@pytest.fixture
def pages(folder: Path) -> Path:
    """More documents than are embedded at a time."""
    for number in range(60):
        (folder / f"{number}.md").write_text(f"# Page {number}\n\nThe car number {number} stands here.\n")
    return folder


async def test_vectors_which_nobody_waits_for_any_more_are_not_made(
    pages: Path, tmp_path: Path, server: EmbeddingServer
):
    gate = Gate(server, 1)
    async with Assay(settings(), home=tmp_path / "home") as assay:
        await assay.add(pages)
        making = asyncio.create_task(assay.embed())
        assert await asyncio.to_thread(gate.reached.wait, 30)
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making
        gate.open.set()
        assert (await assay.embed()).documents == 42
        assert (await assay.embedding_status()).missing == 0


async def test_all_vectors_anew_are_made_once_however_many_workers_have_the_job(
    pages: Path, tmp_path: Path, server: EmbeddingServer
):
    async with Assay(settings(), home=tmp_path / "home") as assay:
        await assay.add(pages)
        await assay.embed()
        server.requests.clear()
        gate, worker = Gate(server, 2), assay.job_worker(1)
        job = await assay.begin_job(EmbedJob(anew=True))
        working = asyncio.create_task(worker.work())
        assert await asyncio.to_thread(gate.reached.wait, 30)
        worker.stop()
        await working
        gate.open.set()
        assert (await assay.job(job.id)).state == "waiting"
        await assay.job_worker(1).work(until_empty=True)
        assert (await assay.job(job.id)).state == "done"
        assert len(server.texts) == len(set(server.texts)) == 63


async def test_what_means_the_same_is_found(folder: Path, tmp_path: Path, server: EmbeddingServer):
    async with Assay(settings(), home=tmp_path / "home") as assay:
        await assay.add(folder)
        built = await assay.embed()
        assert (built.documents, built.passages, built.embedded) == (2, 3, 3)
        assert named(await found(assay))[0] == "vehicles.md"
        status = await assay.embedding_status()
        assert (status.model, status.documents, status.missing) == (LOCAL, 2, 0)
        assert status.tokens > built.tokens
    async with Assay(settings(), home=tmp_path / "home") as again:
        assert named(await found(again))[0] == "vehicles.md"
        assert (await again.embed()).embedded == 0


async def test_another_model_begins_anew_and_until_then_words_search(
    folder: Path, tmp_path: Path, server: EmbeddingServer
):
    async with Assay(settings(), home=tmp_path / "home") as assay:
        await assay.add(folder)
        assert (await assay.embed()).embedded == 3
    async with Assay(settings("ollama:other"), home=tmp_path / "home") as other:
        assert await found(other) == []
        assert (await other.embedding_status()).missing == 2
        built = await other.embed()
        assert (built.documents, built.embedded) == (2, 3)
        assert named(await found(other))[0] == "vehicles.md"
    assert {request["model"] for request in server.requests[-2:]} == {"other"}
    async with Assay(settings(), home=tmp_path / "home") as back:
        assert (await back.embed()).embedded == 0


async def test_in_postgres(folder: Path, tmp_path: Path, server: EmbeddingServer, new_database):
    where = {"database": new_database(), "search": {"index": "postgres"}}
    for home in ("one", "two"):  # two machines
        async with Assay(load(embedder={"model": LOCAL}, **where), home=tmp_path / home) as assay:
            await assay.add(folder)
            built = await assay.embed()
            assert built.embedded == (3 if home == "one" else 0)
            assert named(await found(assay))[0] == "vehicles.md"
            (first, *_) = await assay.explain(ASKED)
            assert first.cosine_rank == 1


async def test_in_postgres_with_pgvector(folder: Path, tmp_path: Path, server: EmbeddingServer):
    with postgres.with_pgvector() as url:
        where = {"database": postgres.with_schema(url), "search": {"index": "postgres"}}
        found_in = {}
        for there in (True, False):
            found = load(embedder={"model": LOCAL, "pgvector": there}, **where)
            async with Assay(found, home=tmp_path / "home") as assay:
                await assay.add(folder)
                assert (await assay.embed()).embedded == (3 if there else 0)
                found_in[there] = await assay.search(ASKED)
        assert named([hit.document.name for hit in found_in[True]])[0] == "vehicles.md"
        assert [hit.spans for hit in found_in[True]] == [hit.spans for hit in found_in[False]]
        scores = [[hit.score for hit in found_in[there]] for there in (True, False)]
        assert scores[0] == pytest.approx(scores[1], abs=1e-3)


async def test_a_run_finds_by_meaning_and_is_replayed_without_the_embedder(
    folder: Path, tmp_path: Path, server: EmbeddingServer
):
    async with Assay(settings(), home=tmp_path / "home") as assay:
        await assay.add(folder)
        await assay.embed()
        run = assay.start(ASKED, mode="deep_research", depth="light", web=False)
        view = await run.view()
        events = [e.decode(each) for each in await assay.events(view.run_id)]
        hits = [url for each in events if isinstance(each, e.SearchPerformed) for url in each.found]
        assert "vehicles.md" in named(hits)
        asked = len(server.requests)
    assert asked > 1
    async with Assay(load(), home=tmp_path / "home") as later:
        assert (await later.view(view.run_id)).report == view.report
    assert len(server.requests) == asked


BAKING = """Rye is dark. The oven is to be hot. Yeast takes its time in winter. Seeds are put on top before it is baked.
A knife with teeth cuts it well. Some eat it with cheese. How often it is turned should be written down. It is warm.
"""
PAID = (
    "In 2027 the physician of Harbourton is paid a salary of 340, and has a car which needs maintenance often, he said."
)
EARNED = (
    "A wage of 340 was what its surgeon got from Harbourton in 2027, whose automobile was serviced every twelve months."
)


async def test_the_built_in_model_chooses_by_meaning(folder: Path, tmp_path: Path, server: EmbeddingServer):
    (folder / "bread.md").write_text(f"# Bread\n\n{BAKING}\n")
    for model in ("", LOCAL):
        async with Assay(settings(model), home=tmp_path / f"home{model[:1]}") as assay:
            await assay.add(folder)
            if model:
                await assay.embed()
            before = len(server.texts)
            report = await assay.start(ASKED, mode="deep_research", depth="light", web=False).report()
            if not model:
                assert report.stop_reason == "no_evidence"
                assert server.requests == []
    (claim,) = report.claims
    assert (claim.text, claim.verdict) == ("Each automobile needs maintenance after twelve months.", "quoted")
    assert not any("automobile" in text for text in server.texts[before:])  # its vectors were kept


async def test_what_the_embedder_costs_is_counted_in_the_run(
    folder: Path, tmp_path: Path, server: EmbeddingServer, config: Path
):
    config.write_text(config.read_text() + f'[catalogue."{LOCAL}"]\ninput_price = 1000.0\noutput_price = 0.0\n')
    async with Assay(settings(), home=tmp_path / "home") as assay:
        await assay.add(folder)
        before = len(server.texts)
        await assay.embed()
        spent = sum(len(text.split()) for text in server.texts[before:])
        view = await assay.start(ASKED, mode="deep_research", depth="light", web=False).view()
        asked = sum(len(text.split()) for text in server.texts) - spent
        assert asked > 0
        assert view.usage.total.usd == pytest.approx(asked / 1000)
        status = await assay.embedding_status()
        assert (status.tokens, status.usd) == (spent + asked, pytest.approx((spent + asked) / 1000))


async def test_an_embedder_which_goes_away_is_done_without(folder: Path, tmp_path: Path, server: EmbeddingServer):
    async with Assay(settings(), home=tmp_path / "home") as assay:
        await assay.add(folder)
        await assay.embed()
        server.refusals += [(500, {}, b"{}")] * 200
        report = await assay.start("What is bread made of?", mode="deep_research", depth="light", web=False).report()
    assert "Flour, water and salt." in report.markdown


async def test_a_release_in_other_words_is_one_source(tmp_path: Path, server: EmbeddingServer):
    (tmp_path / "in").mkdir()
    for name, text in (("one.md", PAID), ("two.md", EARNED), ("bread.md", BAKING)):
        (tmp_path / "in" / name).write_text(f"# {name[:-3]}\n\n{text}\n\n{text[:-1]}, again.\n")
    for model, groups in (("", 0), (LOCAL, 1)):
        async with Assay(settings(model), home=tmp_path / f"home{model[:1]}") as assay:
            await assay.add(tmp_path / "in")
            asked = "What did the physician and surgeon of Harbourton get in 2027?"
            view = await assay.start(asked, mode="deep_research", depth="light", web=False).view()
            assert len(view.copies) == groups


# what stays here


async def test_an_embedder_elsewhere_is_given_nothing_private(folder: Path, tmp_path: Path, server: EmbeddingServer):
    async with Assay(settings(ELSEWHERE), home=tmp_path / "home") as assay:
        await assay.mark("diary", private=True, create=True)
        await assay.add(folder / "vehicles.md", "diary")
        await assay.add(folder / "bread.md")
        built = await assay.embed()
        assert (built.withheld, built.embedded) == (1, 1)
        before = len(server.requests)
        assert await found(assay, "automobile", "diary")  # by words
        assert len(server.requests) == before
        await found(assay, "flour")
        assert len(server.requests) == before + 1
        assert not any("automobile" in text for text in server.texts)
        await assay.mark("diary", private=False)
        assert (await assay.embed()).embedded == 2


async def test_a_run_over_private_documents_does_not_tell_it(folder: Path, tmp_path: Path, server: EmbeddingServer):
    async with Assay(settings(ELSEWHERE), home=tmp_path / "home") as assay:
        await assay.add(folder / "bread.md", "open")
        await assay.embed()
        await assay.mark("diary", private=True, create=True)
        await assay.add(folder / "vehicles.md", "diary")
        before = len(server.requests)
        await assay.start("What is said of the automobile?", sources=["@diary", "@open"], depth="light").view()
    assert len(server.requests) == before


async def test_who_allows_it_gives_it_all(folder: Path, tmp_path: Path, server: EmbeddingServer):
    async with Assay(settings(ELSEWHERE, allow_private=True), home=tmp_path / "home") as assay:
        await assay.mark("diary", private=True, create=True)
        await assay.add(folder, "diary")
        assert (await assay.embed()).withheld == 0
        assert named(await found(assay, collection="diary"))[0] == "vehicles.md"


async def test_an_unknown_embedder_is_named(folder: Path, tmp_path: Path):
    async with Assay(settings("nobody:m"), home=tmp_path / "home") as assay:
        with pytest.raises(UnknownName, match="no embedder named 'nobody'"):
            await assay.search(ASKED)
