"""What messages propose is worded for where they are read."""

import asyncio

import pytest

from assay.core.ways import Surface, now_read_on, read_on, way


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        ("terminal", "assay runs resume k3v9"),
        ("http", "POST /api/v1/runs/k3v9/resume"),
        ("mcp", "have its owner resume run k3v9 in Assay"),
        ("page", "Resume, on the page of run k3v9"),
    ],
)
def test_each_surface_has_its_words(surface: Surface, words: str):
    with read_on(surface):
        assert way("resume", "k3v9") == words
    assert way("resume", "k3v9") == "assay runs resume k3v9"


async def test_tasks_side_by_side_do_not_see_each_others_surface():
    async def worded(surface: Surface) -> str:
        now_read_on(surface)
        await asyncio.sleep(0)
        return way("cancel", "k3")

    both = await asyncio.gather(worded("http"), worded("mcp"))
    assert both == ["POST /api/v1/runs/k3/cancel", "the tool cancel with run_id k3"]
    assert way("cancel", "k3") == "assay runs cancel k3"
