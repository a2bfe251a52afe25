"""What kind of source a page is, and notices about it: shown to models and in the report of a whole run."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping

import msgspec
import pytest
from endless import out_of_time
from local_web import HARBOR, QUESTION, LocalWeb
from msgspec.structs import replace
from web import response, site

from assay import Assay
from assay.core import events as e
from assay.core.messages import Delta, Reply, Request
from assay.core.passage_context import read_sources
from assay.core.ports import Model
from assay.core.report import Report, build_report
from assay.core.view import RunView, fold_events
from assay.models.extractive import Extractive
from assay.settings import Settings

PAPER = f"""<!doctype html><html lang=en><head><title>The Harbor report</title>
<meta name="citation_doi" content="10.1000/harbor"><meta name="citation_journal_title" content="Tides Quarterly">
<meta name="citation_author" content="Byron, Ada"><meta name="citation_publication_date" content="1843/05/06">
<link rel="canonical" href="https://www.legislation.gov.uk/harbor"></head>
<body><main><h1>The Harbor report</h1><p>{HARBOR}</p></main></body></html>"""
NOTICE = {
    "message": {"updated-by": [{"DOI": "10.1000/n", "type": "retraction", "updated": {"date-parts": [[1850, 1, 2]]}}]}
}


class Papers(LocalWeb):
    """A web whose first page is a paper, and whose Crossref answers with `notice`."""

    def publish(self, notice: object, status: int = 200) -> None:
        self.there.pages["/harbor"] = response(PAPER, Content_Type="text/html")
        self.there.pages["/works/10.1000%2Fharbor"] = response(json.dumps(notice), status)

    def configured(self, **sources: object) -> Settings:
        reached = {"url": self.there.url("").rstrip("/"), "pause": 0}
        made = self.settings(services={"searxng": {"url": reached["url"]}, "crossref": reached})
        return replace(made, sources=replace(made.sources, **sources))


@pytest.fixture
async def web() -> AsyncIterator[Papers]:
    async with site() as there:
        yield Papers(there)


async def researched(settings: Settings, models: Mapping[str, Model] = {}) -> tuple[Report, RunView, list[str]]:
    async with Assay(settings, models=models) as assay:
        log = [envelope async for envelope in assay.start(QUESTION, web=True)]
    view = fold_events(log)
    return build_report(view), view, [envelope.type for envelope in log]


def paper(report: Report) -> msgspec.Struct:
    return next(source for source in report.sources if source.title == "The Harbor report" and source.number)


async def test_a_retracted_paper_is_marked_in_the_report_and_its_limits(web: Papers):
    web.publish(NOTICE)
    report, _, kinds = await researched(web.configured())
    source = paper(report)
    assert (source.kind, source.kind_reason) == ("scholarly", "it states a DOI")
    assert (source.author, source.published) == ("Byron, Ada", "1843-05-06")
    assert [(notice.kind, notice.date) for notice in source.notices] == [("retraction", "1850-01-02")]
    assert e.SourceNoted.kind in kinds
    withdrawn = next(
        each for each in report.limits if each.startswith("A cited work was withdrawn: “The Harbor report”")
    )
    assert withdrawn.endswith("(retraction 1850-01-02).")
    alone = next(each for each in report.limits if each.startswith("These statements rest only on withdrawn works"))
    assert "Ada Byron" in alone
    assert "5.2 metres" not in alone


async def test_the_writer_sees_it_before_it_writes_and_crossref_is_asked_once(web: Papers):
    web.publish(NOTICE)
    shown: list[str] = []

    class Writer(Extractive):
        async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
            if request.task == "write":
                shown.extend(message.text for message in request.messages if message.name == "evidence")
            async for each in super().stream(request):
                yield each

    settings = web.configured()
    models = replace(settings.models, complex=("noting",))
    _, view, _ = await researched(replace(settings, models=models), {"noting": Writer()})
    paper = next(source for text in shown for source in read_sources(text) if source.title == "The Harbor report")
    assert paper.notices == ("retraction 1850-01-02",)
    assert [path for path in web.there.asked if path.startswith("/works/")] == ["/works/10.1000%2Fharbor"]
    noted = [source for source in view.sources.values() if source.notices]
    assert {source.title for source in noted} == {"The Harbor report"}


async def test_what_could_not_be_asked_before_writing_is_asked_at_the_end(web: Papers):
    web.publish(NOTICE)
    answers = [response("", 500), web.there.pages["/works/10.1000%2Fharbor"]]
    web.there.pages["/works/10.1000%2Fharbor"] = lambda: answers.pop(0)
    report, _, _ = await researched(web.configured())
    assert any("A cited work was withdrawn" in each for each in report.limits)
    assert answers == []


async def test_it_is_cited_by_where_it_was_found_whatever_it_says_its_address_is(web: Papers):
    web.publish({"message": {}})
    report, _, _ = await researched(web.configured())
    source = paper(report)
    assert source.url == web.there.url("/old")
    assert source.metadata["canonical"] == "https://www.legislation.gov.uk/harbor"
    assert source.metadata["final_url"] == web.there.url("/harbor")
    assert source.notices == ()
    assert any("Crossref was asked" in each for each in report.limits)


async def test_that_nobody_could_be_asked_is_told(web: Papers):
    web.publish({}, 500)
    report, _, _ = await researched(web.configured())
    assert any("1 could not be looked up (crossref answered 500" in each for each in report.limits)


async def test_the_users_lists_win(web: Papers):
    web.publish({"message": {}})
    report, _, _ = await researched(web.configured(allow=("127.0.0.1",)))
    assert paper(report).kind == "primary"


async def test_a_host_which_the_user_denies_is_never_asked(web: Papers):
    web.publish(NOTICE)
    report, _, _ = await researched(web.configured(deny=("127.0.0.1",)))
    assert not any(source.number for source in report.sources)
    assert web.read == []


async def test_what_there_was_no_time_to_ask_at_the_end_is_not_known(web: Papers):
    web.publish(NOTICE, 500)
    view = await out_of_time(web.configured(), QUESTION)
    assert view.status == "completed"
    assert [limit for limit in view.report.limits if "could not be looked up (the time limit" in limit]
