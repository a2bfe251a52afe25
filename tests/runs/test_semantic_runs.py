"""Runs and commands over a library with vectors: from settings to hits, over a real connection, kills included."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import postgres
import pytest
from concepts import vectors
from embedding_server import EmbeddingServer, serving

from assay import Assay
from assay.app.doctor import examine
from assay.cli.main import main
from assay.core import events as e
from assay.core.errors import UnknownName, UsageError
from assay.services.jobs.specifications import EmbedJob
from assay.settings import Settings, load

LOCAL, ELSEWHERE = "ollama:all-minilm", "ollama:all-minilm:cloud"
ASKED = "How often should a car be serviced?"
TEXTS = {
    "vehicles.md": "# Vehicles\n\nEach automobile needs maintenance after twelve months.\n\nRust spreads.\n",
    "bread.md": "# Bread\n\nFlour, water and salt.\n",
}


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving(vectors) as state:
        yield state


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: EmbeddingServer) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(f'[services.ollama]\nurl = "{server.url}"\n')
    monkeypatch.setenv("ASSAY_CONFIG", str(file))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    for name, text in TEXTS.items():
        (made / name).write_text(text)
    return made


def settings(model: str = LOCAL, **more: object) -> Settings:
    return load(embedder={"model": model, **more})


async def found(assay: Assay, text: str = ASKED, collection: str = "default") -> list[str]:
    return [hit.document.name for hit in await assay.search(text, collection=collection)]


def named(paths: Sequence[str]) -> list[str]:
    return [Path(path).name for path in paths]


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
            assert self.open.wait(30)
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
            told = load(embedder={"model": LOCAL, "pgvector": there}, **where)
            async with Assay(told, home=tmp_path / "home") as assay:
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
        said = [e.decode(each) for each in await assay.events(view.run_id)]
        hits = [url for each in said if isinstance(each, e.SearchPerformed) for url in each.found]
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


def test_a_command_names_the_embedder_of_its_run(
    folder: Path, server: EmbeddingServer, capsys: pytest.CaptureFixture[str]
):
    assert main(["docs", "add", "-q", str(folder)]) == 0
    assert main(["docs", "embed", "-q", "--embedder", LOCAL]) == 0
    for command in ("research", "agent"):
        before = len(server.requests)
        line = [command, ASKED, "--offline", "--json", "--embedder", LOCAL]
        capsys.readouterr()
        main([*line, "--depth", "light", "--yes"] if command == "research" else line)
        assert "vehicles.md" in capsys.readouterr().out
        assert len(server.requests) > before
    for left in ("--detach", "--queue"):
        assert main(["research", ASKED, "--embedder", LOCAL, left]) == 2
        assert "assay config set embedder.model" in capsys.readouterr().err


# what stays here


async def test_an_embedder_elsewhere_is_given_nothing_private(folder: Path, tmp_path: Path, server: EmbeddingServer):
    async with Assay(settings(ELSEWHERE), home=tmp_path / "home") as assay:
        await assay.mark("diary", private=True)
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
        await assay.mark("diary", private=True)
        await assay.add(folder / "vehicles.md", "diary")
        before = len(server.requests)
        await assay.start("What is said of the automobile?", sources=["@diary", "@open"], depth="light").view()
    assert len(server.requests) == before


async def test_who_allows_it_gives_it_all(folder: Path, tmp_path: Path, server: EmbeddingServer):
    async with Assay(settings(ELSEWHERE, allow_private=True), home=tmp_path / "home") as assay:
        await assay.mark("diary", private=True)
        await assay.add(folder, "diary")
        assert (await assay.embed()).withheld == 0
        assert named(await found(assay, collection="diary"))[0] == "vehicles.md"


# commands


def test_the_background_makes_what_add_leaves(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["docs", "add", str(folder), "--embedder", LOCAL]) == 0
    assert "vectors are made in the background" in capsys.readouterr().err
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert main(["docs", "embed", "--embedder", LOCAL, "--status", "--json"]) == 0
        if json.loads(capsys.readouterr().out)["missing"] == 0:
            break
        time.sleep(0.3)
    assert main(["docs", "embed", "--embedder", LOCAL, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["embedded"] == 0
    assert main(["docs", "search", ASKED, "--embedder", LOCAL, "--explain", "--json"]) == 0
    (first, *_) = json.loads(capsys.readouterr().out)["hits"]
    assert (first["found"]["title"], first["lexical"], first["cosine_rank"]) == ("Vehicles", None, 1)
    assert main(["docs", "search", ASKED, "--embedder", LOCAL, "--explain"]) == 0
    said = capsys.readouterr().out
    assert "by words: not found" in said
    assert "by meaning: cosine 0." in said


def test_explained_without_an_embedder(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["docs", "add", "-q", str(folder)]) == 0
    assert main(["docs", "search", "salt and water", "--explain"]) == 0
    said = capsys.readouterr().out
    assert "rank 1" in said
    assert "salt in text: " in said
    assert "salt in passage: " in said
    assert "meaning" not in said
    assert main(["docs", "search", "--batch", "-", "--explain"]) == 2


def test_a_limit_ends_it_with_5(folder: Path, config: Path, capsys: pytest.CaptureFixture[str]):
    config.write_text(config.read_text() + f'[embedder]\nmodel = "{LOCAL}"\nmax_tokens = 1\n')
    assert main(["docs", "add", "-q", str(folder)]) == 0
    assert main(["docs", "embed"]) == 5
    assert "embedder.max_tokens" in capsys.readouterr().err


def test_what_was_done_before_a_kill_is_not_paid_again(tmp_path: Path, server: EmbeddingServer):
    (tmp_path / "in").mkdir()
    for number in range(12):  # each more than a lot
        text = "\n\n".join(f"Sentence {line} of text {number} stands here." for line in range(600))
        (tmp_path / "in" / f"{number}.md").write_text(text)
    assert main(["docs", "add", "-q", str(tmp_path / "in")]) == 0
    line = [sys.executable, "-m", "assay", "docs", "embed", "--embedder", LOCAL, "--json"]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
    end = time.monotonic() + 120
    while len(server.requests) < 35 and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = len(server.texts)
    assert 0 < before < 7_200
    done = subprocess.run(line, capture_output=True, env=dict(os.environ), timeout=300, check=True)
    built = json.loads(done.stdout)
    assert built["stopped"] == ""
    assert len(set(server.texts)) == 7_200
    assert len(server.texts) - 7_200 <= 700  # at most the lot in which it died


def test_of_two_at_once_one_does_the_work(folder: Path, server: EmbeddingServer):
    assert main(["docs", "add", "-q", str(folder)]) == 0
    line = [sys.executable, "-m", "assay", "docs", "embed", "--embedder", LOCAL, "-q"]
    both = [subprocess.Popen(line, env=dict(os.environ)) for _ in range(2)]
    assert [process.wait(120) for process in both] == [0, 0]
    assert sorted(server.texts) == sorted(set(server.texts))


async def test_doctor_names_it(server: EmbeddingServer, config: Path):
    plain = config.read_text()
    assert not [each for each in await examine() if each.name == "embedder"]
    for model, state, says in (
        (LOCAL, "ok", "is ready, on this machine"),
        (ELSEWHERE, "ok", "elsewhere: private documents are not given to it"),
        ("openai:text-embedding-3-small", "broken", "needs a key"),
        ("nobody:m", "broken", "no embedder named 'nobody'"),
    ):
        config.write_text(plain + f'[embedder]\nmodel = "{model}"\n')
        (told,) = [each for each in await examine() if each.name == "embedder"]
        assert (told.state, says in told.said) == (state, True), told
    assert server.requests == []


async def test_an_unknown_embedder_is_named(folder: Path, tmp_path: Path):
    async with Assay(settings("nobody:m"), home=tmp_path / "home") as assay:
        with pytest.raises(UnknownName, match="no embedder named 'nobody'"):
            await assay.search(ASKED)
