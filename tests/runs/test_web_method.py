"""Whole runs and the web: when it is searched, what is left out, what is read before it is asked for, the method."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path
from typing import TypeVar

import pytest
from local_web import QUESTION, LocalWeb
from web import response

from assay import Assay
from assay.cli.runs.lists import format_csv
from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.report import Report, build_report
from assay.core.search_record import search_log
from assay.core.view import RunView, fold_events
from assay.models.script import Scripted, calls, says

E = TypeVar("E", bound=e.Event)


class Done:
    """A run which has ended."""

    def __init__(self, log: list[e.Envelope]) -> None:
        self.log = log
        self.view: RunView = fold_events(log)
        self.report: Report = build_report(self.view)

    def of(self, kind: type[E]) -> list[E]:
        return [event for envelope in self.log if isinstance(event := e.decode(envelope), kind)]


async def researched(assay: Assay, question: str = QUESTION, **options: object) -> Done:
    run = assay.start(question, **options)  # type: ignore[arg-type]
    return Done([envelope async for envelope in run])


# when it is searched


async def test_who_names_no_documents_means_the_web_too(web: LocalWeb):
    async with Assay(web.settings(web=None)) as assay:
        done = await researched(assay)
    assert done.view.brief is not None
    assert done.view.brief.scope.web
    assert done.view.brief.scope.label.endswith("and the web")
    assert "Ada Byron" in done.report.markdown


async def test_named_documents_alone_are_all(web: LocalWeb, tmp_path: Path):
    (tmp_path / "notes.md").write_text("# Notes\n\nThe old harbor was closed in 1901.\n")
    async with Assay(web.settings(web=None)) as assay:
        await researched(assay, sources=tmp_path)
    assert web.there.connections == 0


@pytest.mark.parametrize("how", [{"offline": True}, {"web": False}])
async def test_offline_and_a_no_in_the_settings_are_a_no(web: LocalWeb, how: dict[str, bool]):
    async with Assay(web.settings(**{"web": None, **how})) as assay:
        done = await researched(assay)
    assert web.there.connections == 0
    assert done.view.status == "failed"
    assert "there are no documents in the default collection" in done.view.error


async def test_a_run_which_goes_on_goes_by_the_one_before(web: LocalWeb, tmp_path: Path):
    (tmp_path / "notes.md").write_text("# Notes\n\nThe old harbor was closed in 1901.\n")
    async with Assay(web.settings(web=None)) as assay:
        here = await researched(assay, "When was the old harbor closed?", sources=tmp_path)
        await researched(assay, "Why was the old harbor closed?", continues=here.view.run_id)
        assert web.there.connections == 0
        there = await researched(assay)
        after = await researched(assay, "Who measured the tides of the old harbor?", continues=there.view.run_id)
    assert after.view.brief is not None
    assert after.view.brief.scope.web


async def test_no_network_is_said_once_and_costs_seconds(web: LocalWeb, tmp_path: Path):
    settings = web.settings(web=None, services={"searxng": {"url": "http://127.0.0.1:9"}})
    begun = time.monotonic()
    async with Assay(settings) as assay:
        done = await researched(assay, depth="medium")
    assert time.monotonic() - begun < 120
    assert done.view.error.startswith("nothing could be searched: searxng (cannot be reached")
    assert [each.provider for each in done.report.looked.silent] == ["searxng"]
    assert {event.reason for event in done.of(e.SearchFailed)} == {done.of(e.SearchFailed)[0].reason}


# what is left out


async def test_a_domain_left_out_is_neither_shown_nor_asked(web: LocalWeb):
    elsewhere = "http://news.example.org/harbor"
    web.found.insert(0, (elsewhere, "Harbor", "The Harbor report was written by nobody.", ""))
    async with Assay(web.settings()) as assay:
        done = await researched(assay, web=True, not_domains=["example.org"])
    assert not any("example.org" in source.url for source in done.report.sources)
    excluded = {(each.url, each.reason) for event in done.of(e.SearchPerformed) for each in event.excluded}
    assert excluded == {(elsewhere, "example.org was left out by request")}
    assert any("1 page was left out by request" in limit for limit in done.report.limits)
    asked = [head for head in web.there.seen if head.startswith("GET /search")]
    assert all("-site%3Aexample.org" in head.split("\r\n")[0] for head in asked)


async def test_days_are_kept(web: LocalWeb):
    async with Assay(web.settings()) as assay:
        done = await researched(assay, web=True, since="2024")
    assert not any("/tides" in source.url for source in done.report.sources)
    assert "/tides" not in web.read


async def test_a_redirect_does_not_lead_around_the_rules(web: LocalWeb):
    there = web.there.url("/moved")
    web.there.pages["/moved"] = response(status=302, Location="http://left.out.example/")
    web.found = [(there, "The Harbor report", "The report on the tides of the old harbor", "")]
    async with Assay(web.settings()) as assay:
        done = await researched(assay, web=True, not_domains=["out.example"])
    assert {event.reason.partition(" ")[0] for event in done.of(e.SourceFailed)} == {"blocked:"}


# reading


def agents(web: LocalWeb, count: int, *, opens: bool = True) -> Scripted:
    """So many agents at once, each of which searches, and opens the same pages."""
    urls = [web.there.url(path) for path in ("/old", "/tides", "/dead")]
    look = calls(("search", {"query": "tides harbor"}), task="research", turn=0, repeat=True)
    read = calls(("open", {"documents": urls}), task="research", turn=1, repeat=True)
    return Scripted(
        [
            calls(("generate_plan", {"complexity": "moderate"}), task="triage"),
            says("tides", task="background", repeat=True),
            says('{"title": "Harbor", "steps": [{"title": "Tides"}]}', task="plan"),
            calls(
                *(("research_agent", {"task": f"Tides {number}", "step": 1}) for number in range(count)),
                task="orchestrate",
                turn=0,
            ),
            calls(("generate_report", {}), task="orchestrate", repeat=True),
            *((look, read) if opens else (look,)),
            says("done", task="research", repeat=True),
            says("In the old harbor the highest tide on record was 5.2 metres, in March 1838. [S1]", repeat=True),
        ]
    )


async def played(web: LocalWeb, model: Scripted, assay: Assay | None = None, **options: object) -> Done:
    if assay is not None:
        return await researched(assay, web=True, models={role: ["mine"] for role in ROLES}, **options)
    async with Assay(web.settings(), models={"mine": model}) as own:
        return await played(web, model, own, **options)


async def test_three_agents_and_one_request_for_each_page(web: LocalWeb):
    done = await played(web, agents(web, 3), depth="medium", verify=False)
    assert len(done.view.lanes) == 3
    assert sorted(web.read) == ["/dead", "/harbor", "/old", "/tides"]
    assert len(done.of(e.SourceFailed)) == 1
    assert {lane.state for lane in done.view.lanes} == {"finished"}


async def test_the_likely_pages_are_read_before_they_are_asked_for(web: LocalWeb):
    done = await played(web, agents(web, 1), depth="light", verify=False)
    kinds = [envelope.type for envelope in done.log]
    assert kinds.index("source.expected") < len(kinds) - 1 - kinds[::-1].index("tool.started")
    expected = [url for event in done.of(e.SourceExpected) for url in event.urls]
    assert len(expected) == len(set(expected)) == 3
    assert sorted(web.read) == ["/dead", "/harbor", "/old", "/tides"]


async def test_what_nobody_opens_ends_with_the_agents_and_is_said(web: LocalWeb):
    begun = time.monotonic()
    web.there.pages["/tides"] = [600.0]
    done = await played(web, agents(web, 1, opens=False), depth="light", verify=False)
    assert time.monotonic() - begun < 120
    assert done.view.status == "completed"
    assert any(f"also contacted: 127.0.0.1:{web.there.port}" in limit for limit in done.report.limits)


async def test_a_page_is_not_sent_again_to_the_next_run(web: LocalWeb, tmp_path: Path):
    def reply() -> bytes:
        if "if-none-match" in web.there.seen[-1].lower():
            return response(status=304, ETag='"t1"')
        headers = {"ETag": '"t1"', "Cache_Control": "no-cache", "Content_Type": "text/plain"}
        return response("The tide of the old harbor rose to 5.2 metres.", **headers)

    web.there.pages["/tides"] = reply
    web.found = web.found[1:2]
    for fresh, conditional in ((False, False), (False, True), (True, False)):
        web.there.seen.clear()
        async with Assay(web.settings(), home=tmp_path / "home") as assay:
            done = await researched(assay, "How high was the tide of the old harbor?", web=True, fresh=fresh)
        (asked,) = [head for head in web.there.seen if head.startswith("GET /tides")]
        assert ("if-none-match" in asked.lower()) == conditional
        assert "5.2 metres" in done.report.markdown


async def test_how_a_page_was_come_by_is_kept_with_it(web: LocalWeb):
    async with Assay(web.settings()) as assay:
        done = await researched(assay, web=True)
        source = next(each for each in done.report.sources if each.url.endswith("/old"))
        snapshot = assay._context.store.library.snapshot(source.snapshot_sha256)
    assert snapshot is not None
    assert (snapshot.url, snapshot.redirects) == (web.there.url("/harbor"), (web.there.url("/old"),))
    assert (snapshot.status, snapshot.headers["etag"]) == (200, '"h1"')


# the method


async def test_the_method_is_a_table(web: LocalWeb):
    async with Assay(web.settings()) as assay:
        done = await researched(assay, web=True, not_domains=["example.org"], depth="extended")
    rows = [row for row in search_log(done.view) if row.provider == "searxng"]
    assert rows
    assert len({row.query for row in rows}) == len(rows)
    assert all(row.hits == 3 for row in rows)
    assert max(row.read for row in rows) == 2
    assert max(row.cited for row in rows) == 2
    reasons = {(left.url.rpartition("/")[2], left.reason.partition(":")[0]) for row in rows for left in row.excluded}
    assert reasons == {("dead", "not found")}
    (limit,) = [limit for limit in done.report.limits if limit.startswith("The web")]
    assert f"searched with searxng ({len(rows)} quer" in limit
    assert "1 page could not be read (1 not found)" in limit


async def test_the_method_as_csv(web: LocalWeb):
    async with Assay(web.settings()) as assay:
        done = await researched(assay, web=True)
    rows = list(csv.DictReader(io.StringIO(format_csv(search_log(done.view)))))
    assert {row["provider"] for row in rows} == {"local", "searxng"}
    assert all(row["hits"].isdigit() for row in rows)


async def test_one_provider_of_two_fails(web: LocalWeb):
    """The other's hits are there, and who failed is told with the reason."""
    services = {"searxng": {"url": web.there.url("").rstrip("/")}, "wikipedia": {"url": "http://127.0.0.1:9"}}
    async with Assay(web.settings(providers="searxng, wikipedia", services=services)) as assay:
        done = await researched(assay, web=True)
    assert "Ada Byron" in done.report.markdown
    (limit,) = [limit for limit in done.report.limits if limit.startswith("The web")]
    assert "searched with searxng (" in limit
    assert "wikipedia gave no answer (cannot be reached" in limit
