"""Disks which fill at any moment, clocks set back, two processes at one home, a home nobody may write."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import warm
from campaign import uninterrupted
from crash_scene import SECONDS, Scene

from assay import Assay
from assay.core.errors import StoreError
from assay.settings import Settings, load

STORY = "orchestrated, repaired"
HOUR = 3600.0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return uninterrupted(tmp_path_factory.mktemp("whole"), STORY).ended


def test_a_disk_which_is_full_at_some_moment_loses_nothing_stored(tmp_path: Path, whole: dict[str, Any]) -> None:
    found = set()
    for size in (90_000, 200_000, 320_000):
        scene = Scene(tmp_path / str(size), STORY)
        process = scene.start(largest=size)
        if code := process.wait(SECONDS):
            assert code == 1
            found.add((scene.home.parent / "refused").read_text().partition(":")[2].strip())
            assert not scene.finished()
        scene.recover()
        scene.check(deaths=1)
        assert scene.ended() == whole, size
    assert found
    assert all("disk may be full" in why or "no space left" in why for why in found), found


def test_a_clock_set_back_by_an_hour_between_two_processes(tmp_path: Path, whole: dict[str, Any]) -> None:
    scene = Scene(tmp_path, STORY)
    assert not scene.finish(scene.start(kind="write", at=61))
    process = scene.start(resume=True, backwards=HOUR)
    assert scene.finish(process)
    scene.check(deaths=1)
    assert scene.ended() == whole


def test_two_processes_at_one_home_each_with_a_run(tmp_path: Path, whole: dict[str, Any]) -> None:
    """They share database, blobs and index; each comes to its own report, and the second to the same."""
    one, other = Scene(tmp_path / "one", STORY), Scene(tmp_path / "other", "orchestrated")
    other.home = one.home
    processes = [one.start(), other.start()]
    assert all(scene.finish(process) for scene, process in zip((one, other), processes, strict=True))
    assert one.ended() == whole
    assert other.ended()["summary"]["quoted"] >= 2


def _refused(home: str) -> None:
    """Load what a home needs, become somebody who may not write here (nor load anything more), try, and say it."""
    settings = load()
    asyncio.run(_tried(settings, Path(home).with_name("another")))
    if os.geteuid() == 0:
        os.seteuid(65_534)
    print(asyncio.run(_tried(settings, Path(home))))


async def _tried(settings: Settings, home: Path) -> str:
    try:
        async with Assay(settings, home=home) as assay:
            run = assay.start("What does the harbour of Brest do?")
            await run.view()
    except StoreError as error:
        return str(error)
    return "nothing was refused"


def test_a_home_which_may_not_be_written_is_said(tmp_path: Path) -> None:
    scene = Scene(tmp_path, STORY)
    assert scene.finish(scene.start())
    everything = [scene.home, *scene.home.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    for parent in (tmp_path, *list(tmp_path.parents)[:-2]):
        parent.chmod(parent.stat().st_mode | 0o055)
    before = {path: path.read_bytes() for path in everything if path.is_file()}
    said, _ = warm.call(_refused, str(scene.home), stdout=subprocess.PIPE).communicate(timeout=SECONDS)
    assert b"check its permissions" in said
    assert {path: path.read_bytes() for path in everything if path.is_file()} == before
