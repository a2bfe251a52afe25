"""The queue as whoever runs a server sees it: what waits since when, and which processes are busy with what."""

from __future__ import annotations

from pathlib import Path

from assay import Assay
from assay.settings import load


async def test_what_waits_and_who_works_is_told_and_nothing_of_what_is_asked(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
    async with Assay(load(search={"offline": True}), home=tmp_path / "home") as assay:
        ana = assay.owned_by("ana")
        first = await ana.create("How far does the tide rise?", sources=[str(tmp_path / "tides.md")], priority=0)
        second = await ana.create("How far does it rise at Brest?", sources=[str(tmp_path / "tides.md")], priority=0)
        journal = assay._context.full_store.journal
        lease = await journal.acquire(second, "far away:7", 60)
        standing = await assay.overview.queue()
        assert (standing.depth.waiting, standing.depth.executed) == (1, 1)
        assert standing.oldest == (await ana.find(first)).created_at
        assert [(each.process, each.runs) for each in standing.workers] == [("far away:7", 1)]
        await journal.release(lease)
        assert (await assay.overview.queue()).workers == ()
        assert "tide" not in str(standing).casefold()
