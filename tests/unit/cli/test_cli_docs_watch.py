"""What `assay docs watch` is told of its folder; `tests/runs/test_docs_watch.py` runs the command."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assay.cli.docs import intake

SECONDS = 60


async def test_a_change_while_a_folder_is_read_is_told_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start, and when the folder has come back: whoever reads it may miss what changes meanwhile."""
    monkeypatch.setattr(intake, "QUIET_SECONDS", 0.2)
    folder, away, stop = tmp_path / "notes", tmp_path / "away", asyncio.Event()
    folder.mkdir()
    told = intake._changes(folder, tmp_path / "home", stop)

    async def change() -> None:
        async with asyncio.timeout(SECONDS):
            while not await anext(told):
                pass

    await change()
    (folder / "tides.md").write_text("The tide rises seven metres.\n")
    await change()
    folder.rename(away)
    await change()
    away.rename(folder)
    await change()
    (folder / "winds.md").write_text("The wind blows from the west.\n")
    await change()
    stop.set()
    async with asyncio.timeout(SECONDS):
        assert not [changed async for changed in told if changed]
