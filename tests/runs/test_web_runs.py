"""Whole runs over a web on loopback: a search service, pages, and what goes wrong with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TypeVar

import pytest
from local_web import HARBOR, PAGE, QUESTION, LocalWeb
from web import FORBIDDEN, Site, response, site

from assay import Assay
from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.claims import HOLDING
from assay.core.errors import UsageError
from assay.core.events import Envelope
from assay.core.report import Report, build_report
from assay.core.view import fold_events
from assay.models.script import Scripted, calls, says


class Web(LocalWeb):
    """A web with much that is wrong with it."""

    def __init__(self, there: Site) -> None:
        super().__init__(there)
        there.pages |= {
            "/private/x": response(PAGE.format("Private harbor", HARBOR)),
            "/large": response("x" * 3_000_000, Content_Type="text/plain"),
            "/robots.txt": response("User-agent: *\nDisallow: /private/"),
            "/liar": response(
                PAGE.format("Höhe des Hafens", "Die Höhe des Hafens ist groß.").encode("latin-1"),
                Content_Type="text/html; charset=utf-8",
            ),
            "/tides?utm_source=x": there.pages["/tides"],
        }
        self.found = [
            (there.url("/old"), "The Harbor report", "The report on the tides of the old harbor …"),
            (there.url("/tides?utm_source=x"), "Tides of the north", "Tides of the northern coast"),
            (there.url("/tides"), "Tides of the north", "The same page again"),
            (there.url("/dead"), "Harbor news", "News of the harbor"),
            (there.url("/private/x"), "Private harbor", "Harbor of the club"),
            (there.url("/large"), "Large harbor", "A harbor"),
            (f"http://{FORBIDDEN}:{there.port}/harbor", "Inside harbor", "The harbor inside"),
        ]


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with site() as there:
        yield Web(there)


async def researched(assay: Assay, question: str = QUESTION, **options: object) -> tuple[Report, list[Envelope]]:
    run = assay.start(question, web=True, **options)  # type: ignore[arg-type]
    log = [envelope async for envelope in run]
    return build_report(fold_events(log)), log


E = TypeVar("E", bound=e.Event)


def of(log: list[Envelope], kind: type[E]) -> list[E]:
    return [event for envelope in log if isinstance(event := e.decode(envelope), kind)]


async def test_a_question_is_answered_from_pages(web: Web):
    async with Assay(web.settings()) as assay:
        report, _ = await researched(assay)
    cited = {source.url for source in report.sources if source.number}
    assert {claim.verdict for claim in report.claims} == {"quoted"}
    assert "Ada Byron" in report.markdown
    assert "5.2 metres" in report.markdown
    assert cited <= {web.there.url("/old"), web.there.url("/tides"), web.there.url("/tides?utm_source=x")}
    assert len(cited) == 2
    assert any(f"pages were read from 127.0.0.1:{web.there.port}" in limit for limit in report.limits)
    assert all("searxng" in limit for limit in report.limits if "searched with" in limit)


async def test_nothing_is_fetched_twice_and_the_forbidden_never(web: Web):
    async with site(FORBIDDEN, web.there.port) as inside, Assay(web.settings()) as assay:
        await researched(assay, depth="extended")
        pages = [path for path in web.there.asked if not path.startswith("/search")]
        assert sorted(set(pages)) == sorted(pages)
        assert inside.connections == 0


async def test_pages_which_cannot_be_read_are_told(web: Web):
    web.found = web.found[3:]
    async with Assay(web.settings()) as assay:
        report, log = await researched(assay)
    failed = {event.url: event.reason.partition(":")[0] for event in of(log, e.SourceFailed)}
    assert set(failed.values()) <= {"not found", "robots", "too large", "blocked"}
    assert failed
    assert not any(claim.verdict in HOLDING for claim in report.claims)


async def test_documents_and_the_web_together(web: Web, tmp_path: Path):
    (tmp_path / "notes.md").write_text("# Notes\n\nThe old harbor was closed in 1901.\n")
    async with Assay(web.settings()) as assay:
        report, _ = await researched(assay, "When was the old harbor closed?", sources=tmp_path)
    assert "1901" in report.markdown


async def test_a_provider_which_fails_is_left_out(web: Web, tmp_path: Path):
    (tmp_path / "notes.md").write_text("# Notes\n\nThe old harbor was closed in 1901.\n")
    web.status = 500
    async with Assay(web.settings()) as assay:
        report, log = await researched(assay, "When was the old harbor closed?", sources=tmp_path)
    warned = [event.message for event in of(log, e.Warned)]
    assert any("left out: searxng answered 500" in message for message in warned)
    assert any("The web was not searched; searxng gave no answer" in limit for limit in report.limits)
    assert "1901" in report.markdown


async def test_offline_is_offline(web: Web):
    async with Assay(web.settings(offline=True)) as assay:
        with pytest.raises(UsageError, match=r"search\.offline"):
            assay.start(QUESTION, web=True)
    assert web.there.connections == 0


async def test_a_page_which_lies_about_its_charset(web: Web):
    web.found = [(web.there.url("/liar"), "Höhe des Hafens", "Hafen")]
    async with Assay(web.settings()) as assay:
        report, _ = await researched(assay, "Wie ist die Höhe des Hafens?")
    assert "Die Höhe des Hafens ist groß." in report.markdown


async def test_a_snippet_alone_supports_nothing(web: Web):
    """A writer who cites what the search said, though it stands there word for word."""
    text = "The tides of the old harbor were measured by Ada Byron."
    web.found = [(web.there.url("/dead"), "Harbor news", text)]
    model = Scripted(
        [
            calls(("generate_plan", {"complexity": "simple"}), task="triage"),
            says('{"title": "Harbor", "steps": [{"title": "Tides"}]}', task="plan"),
            calls(("research_agent", {"task": "Tides", "step": 1}), task="orchestrate", turn=0),
            calls(("generate_report", {}), task="orchestrate", repeat=True),
            calls(("search", {"query": "tides harbor"}), task="research", turn=0),
            says("done", task="research", repeat=True),
            says("tides", task="background", repeat=True),
            says(f"{text} [S1001.1]", task="find"),
            says(f"{text} [S1001.1]", task="write"),
        ]
    )
    async with Assay(web.settings(), models={"mine": model}) as assay:
        report, _ = await researched(assay, depth="light", models={role: ["mine"] for role in ROLES})
    (claim,) = report.claims
    assert claim.verdict == "unchecked"
    assert "only a search's summary of the page was read" in claim.reason
