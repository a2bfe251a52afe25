"""Forks of runs over a web on loopback: what is asked again there, and a page which is left out."""

from __future__ import annotations

from pathlib import Path

from local_web import QUESTION, LocalWeb

from assay import Assay
from assay.core.brief import ForkPoint
from assay.core.view import RunView


async def run(assay: Assay) -> RunView:
    handle = assay.start(QUESTION, web=True, depth="light")
    await handle.report()
    return await assay.view(handle.run_id)


async def forked(assay: Assay, run_id: str, point: ForkPoint, *exclude: str) -> RunView:
    made = await assay.fork(run_id, point, exclude=exclude)
    await (await assay.resume(made)).report()
    return await assay.view(made)


POINTS: tuple[ForkPoint, ...] = ("plan", "research", "write")


async def test_what_was_searched_and_read_the_same_day_is_not_asked_again(web: LocalWeb) -> None:
    async with Assay(web.settings()) as assay:
        parent = await run(assay)
        web.there.asked.clear()
        for point in POINTS:
            fork = await forked(assay, parent.run_id, point)
            assert [path for path in web.there.asked if path.startswith("/search")] == []
            assert fork.report.text == parent.report.text
            assert (await assay.replay(fork.run_id)).is_same


async def test_a_page_that_is_left_out_is_found_by_nobody(web: LocalWeb) -> None:
    async with Assay(web.settings()) as assay:
        parent = await run(assay)
        assert "5.2 metres" in parent.report.text
        web.there.asked.clear()
        for point in POINTS:
            fork = await forked(assay, parent.run_id, point, web.there.url("/tides"))
            assert "/tides" not in web.read
            assert "5.2 metres" not in fork.report.text
            assert "Ada Byron" in fork.report.text
            assert web.there.url("/tides") not in {source.url for source in fork.sources.values()}
            assert fork.brief is not None
            assert fork.brief.scope.rules.left_out == (web.there.url("/tides"),)


async def test_nor_is_one_that_others_lead_to(web: LocalWeb) -> None:
    async with Assay(web.settings()) as assay:
        parent = await run(assay)
        web.there.asked.clear()
        fork = await forked(assay, parent.run_id, "research", web.there.url("/harbor"))  # which /old leads to
        assert "/harbor" not in web.read
        assert "Ada Byron" not in fork.report.text
        assert "5.2 metres" in fork.report.text


async def test_where_the_web_is_off_by_now_a_fork_leaves_it_alone(web: LocalWeb, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nThe Harbor report was written by Ada Byron in 1843.\n")
    home = tmp_path / "home"
    async with Assay(web.settings(), home=home) as assay:
        handle = assay.start(QUESTION, web=True, depth="light", sources=tmp_path / "notes.md")
        await handle.report()
    web.there.asked.clear()
    async with Assay(web.settings(offline=True), home=home) as assay:
        fork = await forked(assay, handle.run_id, "research")
        assert web.there.asked == []
        assert "Ada Byron" in fork.report.text
        assert fork.brief is not None
        assert not fork.brief.scope.web
        assert not fork.brief.scope.label.endswith("and the web")
