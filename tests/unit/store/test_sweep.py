"""Cleaning up: what a run mentions and what is in a collection stays, whole; the rest goes, bytes and all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay import Assay
from assay.settings import Settings
from assay.store.blobs import FolderBlobs
from assay.store.presence import Presence
from assay.store.sql.integrity import IntegrityReport
from assay.store.sql.integrity import check_library as check_all


def check(home: Path) -> IntegrityReport:
    return check_all(home / "assay.db", FolderBlobs(home / "blobs"))


def blobs(home: Path) -> set[str]:
    return {f"{each.parent.name}{each.stem}" for each in (home / "blobs").glob("??/*.zst")}


def noted(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


async def ran(assay: Assay, path: Path, question: str = "When was the harbor built?") -> str:
    run = assay.start(question, sources=path, depth="light")
    assert (await run.view()).status == "completed"
    return run.run_id


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return (
        noted(tmp_path, "harbor.md", "# Harbor\n\nThe harbor was built in 1843.\n"),
        noted(tmp_path, "mole.md", "# Mole\n\nThe mole of the harbor was built in 1851.\n"),
    )


async def test_what_only_a_deleted_run_has_read_goes(tmp_path: Path, files: tuple[Path, Path]):
    home = tmp_path / "home"
    async with Assay(home=home) as assay:
        first, second = await ran(assay, files[0]), await ran(assay, files[1])
        assert len(blobs(home)) == 2
        await assay.delete(first)
        swept = await assay.tidy()
        assert swept is not None
        assert (len(swept.rows), swept.blobs) == (1, 1)
        assert len(blobs(home)) == 1
        assert await assay.passage(second, 1)
        assert check(home).problems == ()
        again = await ran(assay, files[0])  # the file has not changed: it is read anew all the same
        assert await assay.passage(again, 1)
        hits = await assay.search("harbor", collection="unsorted")
        assert {hit.document.name for hit in hits} == {"harbor.md", "mole.md"}


async def test_what_is_in_a_collection_stays_without_any_run(tmp_path: Path, files: tuple[Path, Path]):
    home = tmp_path / "home"
    async with Assay(home=home) as assay:
        await assay.add([files[0]])
        run = await ran(assay, files[0])
        await assay.delete(run)
        swept = await assay.tidy()
        assert swept is not None
        assert swept.rows == ()
        assert [hit.document.name for hit in await assay.search("harbor")] == ["harbor.md"]
        assert check(home).problems == ()


async def test_a_run_which_waits_to_be_taken_up_keeps_what_it_may_read(tmp_path: Path, files: tuple[Path, Path]):
    home = tmp_path / "home"
    async with Assay(home=home) as assay:
        waiting = await assay.create("When was the mole built?", sources=files[1], depth="light")
        swept = await assay.tidy()
        assert swept is not None
        assert swept.rows == ()
        assert (await (await assay.resume(waiting)).view()).status == "completed"
        assert await assay.passage(waiting, 1)


async def test_a_follow_up_keeps_what_its_deleted_parent_had_read(tmp_path: Path, files: tuple[Path, Path]):
    home = tmp_path / "home"
    async with Assay(home=home) as assay:
        parent = await ran(assay, files[0])
        child = assay.ask(parent, "When was it built?")
        await child.view()
        cited = (await child.report()).sources
        await assay.delete(parent)
        assert await assay.tidy() is not None
        assert check(home).problems == ()
        for source in cited:
            assert source.document_sha256 in blobs(home)


async def test_nothing_is_cleaned_up_while_another_process_or_a_run_is_at_work(
    tmp_path: Path, files: tuple[Path, Path]
):
    home = tmp_path / "home"
    async with Assay(home=home) as assay:
        await assay.delete(await ran(assay, files[0]))
        async with Assay(home=home):
            assert await assay.tidy() is None
        run = assay.start("When was the mole built?", sources=files[1], depth="light")
        assert await assay.tidy() is None
        await run.view()
        assert len(blobs(home)) == 2
        await (await assay.resume(run.run_id)).view()
        while assay._context.engine.busy:
            import asyncio

            await asyncio.sleep(0.01)
        assert await assay.tidy() is not None
        assert len(blobs(home)) == 1


async def test_bytes_being_added_stay_and_old_orphans_go(tmp_path: Path, files: tuple[Path, Path]):
    home = tmp_path / "home"
    async with Assay(home=home) as assay:
        await assay.add([files[0]])
        stored = assay._context.store.blobs
        fresh, old = stored.put(b"being added"), stored.put(b"left by a killed process")
        path = home / "blobs" / old[:2] / f"{old[2:]}.zst"
        os.utime(path, (time.time() - 7_200,) * 2)
        swept = await assay.tidy()
        assert swept is not None
        assert (swept.blobs, fresh in blobs(home), old in blobs(home)) == (1, True, False)


async def test_shared_blobs_stay_while_they_are_young(tmp_path: Path, files: tuple[Path, Path]):
    settings = Settings(blobs=tmp_path / "shared")
    async with Assay(settings, home=tmp_path / "home") as assay:
        await assay.delete(await ran(assay, files[0]))
        swept = await assay.tidy()
        assert swept is not None
        assert (len(swept.rows), swept.blobs, len(list((tmp_path / "shared").glob("??/*.zst")))) == (1, 0, 1)
    async with Assay() as memory:
        assert await memory.tidy() is None


def test_a_dead_process_is_not_at_work(tmp_path: Path):
    code = "import sys, time; from pathlib import Path; from assay.store.presence import Presence\n"
    code += "here = Presence(Path(sys.argv[1])); print('here', flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    own = Presence(tmp_path)
    with own.exclusive() as alone:
        assert not alone
    process.kill()
    process.wait()
    process.stdout.close()
    with own.exclusive() as alone:
        assert alone
    own.close()
    with own.exclusive() as alone:
        assert not alone
