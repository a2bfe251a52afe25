"""A deadline which passes while the report is written: what is asked of the web at the very end is left, and said."""

from __future__ import annotations

from endless import SECONDS, Endless
from local_web import QUESTION, LocalWeb
from msgspec.structs import replace

from assay import Assay


async def test_a_deadline_in_the_middle_of_writing_leaves_a_report_of_what_the_web_said(web: LocalWeb) -> None:
    settings = web.settings()
    models = replace(settings.models, complex=("endless",))
    async with Assay(replace(settings, models=models), models={"endless": Endless()}) as assay:
        view = await assay.start(QUESTION, web=True, max_time=SECONDS).view()
    assert (view.status, view.stop_reason, view.report.state) == ("completed", "time", "finished")
    assert "Ada Byron" in view.report.text
    assert any(limit.startswith("The web was searched with searxng") for limit in view.report.limits)
