"""Whole runs over pages which say nothing before their scripts have run."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from browsers import CHROMIUM, MISSING, app
from local_web import HARBOR, QUESTION, TIDES, LocalWeb
from msgspec.structs import replace
from web import site

from assay import Assay
from assay.core import events as e
from assay.core.claims import HOLDING
from assay.core.report import Report, build_report
from assay.core.view import fold_events
from assay.settings import Settings


@pytest.fixture
async def web() -> AsyncIterator[LocalWeb]:
    async with site() as there:
        made = LocalWeb(there)
        app(there, "harbor", "The Harbor report", *HARBOR.split(". "))
        app(there, "tides", "Tides of the north", TIDES)
        yield made


def rendering(web: LocalWeb, **how: object) -> Settings:
    made = web.settings()
    return replace(made, web=replace(made.web, **{"timeout": 30.0, **how}))


async def researched(settings: Settings) -> tuple[Report, list[e.Event]]:
    async with Assay(settings) as assay:
        log = [envelope async for envelope in assay.start(QUESTION, web=True)]
    return build_report(fold_events(log)), [event for each in log if (event := e.decode(each)) is not None]


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
async def test_a_report_rests_on_what_scripts_made_of_pages_each_fetched_once(web: LocalWeb):
    report, log = await researched(rendering(web, chromium=CHROMIUM))
    assert "Ada Byron" in report.markdown
    assert "5.2 metres" in report.markdown
    assert {claim.verdict for claim in report.claims} == {"quoted"}
    added = {event.source.url for event in log if isinstance(event, e.SourceAdded)}
    assert {web.there.url("/old"), web.there.url("/tides")} <= added
    for path in ("/harbor", "/tides", "/harbor.json", "/tides.json"):
        assert web.read.count(path) == 1


async def test_where_no_page_is_rendered_the_search_has_only_words_about_it(web: LocalWeb):
    report, _ = await researched(rendering(web, browser="off"))
    assert "Ada Byron" not in report.markdown
    assert "/harbor.json" not in web.read
    assert not set(HOLDING) & {claim.verdict for claim in report.claims}
