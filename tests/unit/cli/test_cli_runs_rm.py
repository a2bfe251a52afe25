"""`assay runs rm`: what is deleted, what is asked, what is refused."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from assay import Assay
from assay.cli.main import main
from assay.core.events import Envelope
from assay.services import run_control
from assay.store.sql import open_store


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A home with two ended runs over one document, for each test to copy; and the runs."""
    folder = tmp_path_factory.mktemp("ended")
    (folder / "note.md").write_text("# Note\n\nThe harbor was built in 1843.\n")

    async def ask() -> list[str]:
        async with Assay(home=folder / "home") as assay:
            asked = []
            for question in ("When was the harbor built?", "What was built?"):
                run = assay.start(question, sources=folder / "note.md")
                await run.view()
                asked.append(run.run_id)
        return asked

    return folder / "home", asyncio.run(ask())


@pytest.fixture
def runs(made: tuple[Path, list[str]], home: Path) -> list[str]:
    shutil.copytree(made[0], home)
    return made[1]


def left(home: Path) -> list[str]:
    async def look() -> list[str]:
        async with Assay(home=home) as assay:
            return [row.run_id for row in await assay.runs()]

    return asyncio.run(look())


def events(home: Path, run_id: str) -> list[Envelope]:
    async def look() -> list[Envelope]:
        async with Assay(home=home) as assay:
            return await assay.events(run_id)

    return asyncio.run(look())


async def test_the_library_stays(runs: list[str], home: Path) -> None:
    async with Assay(home=home) as assay:
        before = await assay.search("harbor", collection="unsorted")
        await assay.delete(runs[0])
        assert await assay.search("harbor", collection="unsorted") == before
        assert [row.run_id for row in await assay.runs()] == [runs[1]]


def test_by_id_and_by_the_start_of_it(runs: list[str], home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = events(home, runs[1])
    assert main(["runs", "rm", runs[0][:6], runs[0], "--yes"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "1 run deleted"
    assert left(home) == [runs[1]]
    assert events(home, runs[1]) == kept


def test_by_age(runs: list[str], home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "rm", "--older-than", "1h", "--yes"]) == 0
    assert left(home) == runs[::-1]
    assert main(["runs", "rm", "--older-than", "0h", "--yes"]) == 0
    assert left(home) == []


def test_nothing_is_deleted_where_nobody_can_be_asked(runs: list[str], home: Path, capsys) -> None:
    assert main(["runs", "rm", "last"]) == 2
    assert "add --yes" in capsys.readouterr().err
    assert left(home) == runs[::-1]


def test_an_unknown_one_among_them_deletes_none(runs: list[str], home: Path, capsys) -> None:
    assert main(["runs", "rm", runs[0], "nosuch", "--yes"]) == 2
    assert "no run named 'nosuch'" in capsys.readouterr().err
    assert left(home) == runs[::-1]


@pytest.mark.parametrize("args", [[], ["last", "--older-than", "1d"], ["--older-than", "soon"]])
def test_what_makes_no_sense_is_refused(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "rm", *args]) == 2
    assert "Error:" in capsys.readouterr().err


def test_a_run_of_a_live_process_is_not_deleted(runs: list[str], home: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(run_control, "RELEASE_SECONDS", 0.1)

    async def hold() -> None:
        store = open_store(home)
        await store.journal.acquire(runs[0], "elsewhere", 60)
        await store.close()

    asyncio.run(hold())
    assert main(["runs", "rm", *runs, "--yes"]) == 1
    errors = capsys.readouterr().err
    assert f"run {runs[0]} is running in elsewhere: it was not deleted" in errors
    assert left(home) == [runs[0]]
