"""A deadline which passes while the report is written: what is asked of the web at the very end is left, and said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import pytest
from local_web import QUESTION, LocalWeb
from web import site

from assay import Assay
from assay.core.messages import Delta, Reply, Request
from assay.models.extractive import Extractive

SECONDS = 3.0


class Endless(Extractive):
    """The built-in model, which never comes to the end of a report."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if request.task == "write":
            await asyncio.sleep(600)
        async for each in super().stream(request):
            yield each


@pytest.fixture
async def web() -> AsyncIterator[LocalWeb]:
    async with site() as there:
        yield LocalWeb(there)


async def test_a_deadline_in_the_middle_of_writing_leaves_a_report_of_what_the_web_said(web: LocalWeb) -> None:
    settings = web.settings()
    models = settings.models.model_copy(update={"complex": ("endless",)})
    async with Assay(settings.model_copy(update={"models": models}), models={"endless": Endless()}) as assay:
        view = await assay.start(QUESTION, web=True, max_time=SECONDS).view()
    assert (view.status, view.stop_reason, view.report.state) == ("completed", "time", "finished")
    assert "Ada Byron" in view.report.text
    assert any(limit.startswith("The web was searched with searxng") for limit in view.report.limits)
