"""A deadline which passes while the report is written: what is asked of the web at the very end is left, and said."""

from __future__ import annotations

from endless import out_of_time
from local_web import QUESTION, LocalWeb


async def test_a_deadline_in_the_middle_of_writing_leaves_a_report_of_what_the_web_said(web: LocalWeb) -> None:
    view = await out_of_time(web.settings(), QUESTION)
    assert (view.status, view.stop_reason, view.report.state) == ("completed", "time", "finished")
    assert "Ada Byron" in view.report.text
    assert any(limit.startswith("The web was searched with searxng") for limit in view.report.limits)
