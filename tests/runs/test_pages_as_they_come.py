"""Whole runs over pages as the web has them: walls are no sources and are told, frames and hidden text are read."""

from __future__ import annotations

import json

import pytest
import walled_pages as pages
from local_web import HARBOR, PAGE, QUESTION, LocalWeb
from web import moved, response

from assay import Assay
from assay.core import events as e
from assay.core.errors import FetchFailed
from assay.core.report import Report, build_report
from assay.core.view import fold_events

HTML = "text/html; charset=utf-8"
STORY = f"<main><h1>Tides of the north</h1><p>{pages.FACT}</p></main>"


def put(web: LocalWeb, **found: str | bytes) -> None:
    """Pages by path, which the search finds."""
    web.there.pages |= {
        f"/{path}": page if isinstance(page, bytes) else response(page, Content_Type=HTML)
        for path, page in found.items()
    }
    web.found = [(web.there.url(f"/{path}"), "Tides of the old harbor", "The highest tide …", "") for path in found]


async def asked(web: LocalWeb, most: int | None = None) -> tuple[Report, dict[str, str]]:
    """The report, and why addresses could not be read, by path; at `most` so many pages are opened."""
    async with Assay(web.settings()) as assay:
        run = assay.start(QUESTION, web=True, max_pages=most)
        log = [envelope async for envelope in run]
    failed = [event for each in log if isinstance(event := e.decode(each), e.SourceFailed)]
    return build_report(fold_events(log)), {event.url.rpartition("/")[2]: event.reason for event in failed}


async def test_walls_are_told_and_never_cited(web: LocalWeb):
    put(
        web,
        harbor=PAGE.format("The Harbor report", f"{HARBOR} {pages.FACT}"),
        lost=pages.WORDPRESS,
        wall=pages.LOGIN,
        agree=pages.CONSENT_PAGE,
        check=response(pages.CLOUDFLARE, 403, Content_Type=HTML),
    )
    report, failed = await asked(web)
    kinds = {path: why.partition(":")[0] for path, why in failed.items()}
    assert kinds.items() <= {"lost": "not found", "wall": "login", "agree": "consent", "check": "bot check"}.items()
    assert kinds
    assert {each.url.rpartition("/")[2] for each in report.sources if each.number} == {"harbor"}
    assert "5.2 metres" in report.markdown
    (told,) = [limit for limit in report.limits if "could not be read" in limit]
    assert all(kind in told for kind in kinds.values())


async def test_walls_alone_answer_nothing(web: LocalWeb):
    put(web, lost=pages.WORDPRESS, agree=pages.CONSENT_PAGE)
    report, failed = await asked(web)
    assert sorted(why.partition(":")[0] for why in failed.values()) == ["consent", "not found"]
    assert all(claim.verdict not in ("quoted", "supported") for claim in report.claims)


async def test_text_in_a_frame_and_text_without_scripts_is_cited(web: LocalWeb):
    article = json.dumps({"@type": "Article", "articleBody": f"{HARBOR} {HARBOR}"})
    put(
        web,
        framed='<html><frameset><frame src="/menu"><frame src="/story"></frameset></html>',
        app=pages.document(
            '<div id="root"></div><script src="/app.js"></script>',
            f'<script type="application/ld+json">{article}</script>',
        ),
    )
    web.there.pages |= {"/story": response(pages.document(STORY), Content_Type=HTML)}
    report, failed = await asked(web)
    assert not failed
    assert {each.url.rpartition("/")[2] for each in report.sources if each.number} == {"framed", "app"}
    assert {claim.verdict for claim in report.claims} == {"quoted"}


async def test_versions_of_one_page_are_one_source(web: LocalWeb):
    head = f'<link rel="canonical" href="{web.there.url("/tides")}">'
    menus = "".join(f"<p>Part {n} of a box about the weather at sea on that day.</p>" for n in range(3))
    put(
        web,
        tides=pages.document(STORY.replace("</main>", f"{menus}</main>"), head, "Tides of the north"),
        amp=pages.document(STORY, f'<link rel="amphtml" href="/amp">{head}', "Tides of the north"),
        print=pages.document(f"<h1>Tides of the north</h1><p>{pages.FACT}</p><p>Printed today.</p>", head, "Print"),
    )
    report, failed = await asked(web)
    assert not failed
    assert len([each for each in report.sources if each.number]) == 1
    assert len(report.copies) == 1
    assert len(report.copies[0]) == 3


def put_long(web: LocalWeb) -> None:
    """An article on three pages."""

    def part(text: str, following: str) -> str:
        head = f'<meta property="og:type" content="article"><link rel="next" href="{following}">'
        return pages.document(f"<main><h1>The harbor</h1><p>{text}</p></main>", head, "The harbor")

    put(web, long=part(HARBOR, "/long?page=2"))
    web.there.pages |= {
        "/long?page=2": response(part(pages.FACT, "/long?page=3"), Content_Type=HTML),
        "/long?page=3": response(part("The old harbor ended in 1902, after the flood.", "/"), Content_Type=HTML),
    }


async def test_the_parts_of_an_article_are_read_each_as_itself(web: LocalWeb):
    put_long(web)
    report, failed = await asked(web)
    assert not failed
    assert [path for path in web.read if path.startswith("/long")] == ["/long", "/long?page=2", "/long?page=3"]
    assert {"long", "long?page=2"} <= {each.url.rpartition("/")[2] for each in report.sources if each.number}


@pytest.mark.parametrize("most", [1, 2])
async def test_no_more_parts_are_read_than_pages_may_be_opened(web: LocalWeb, most: int):
    put_long(web)
    report, _ = await asked(web, most)
    assert 1 <= len([path for path in web.read if path.startswith("/long")]) <= report.usage.pages <= most


async def test_a_page_with_several_documents_is_one(web: LocalWeb):
    rows = "\n".join(json.dumps({"title": f"Tide {n}", "text": f"{HARBOR} {pages.FACT} Day {n}."}) for n in range(9))
    put(web, rows=response(rows, Content_Type="application/jsonl"))
    report, _ = await asked(web, 1)
    assert (report.usage.pages, web.read.count("/rows")) == (1, 1)


async def test_a_page_that_is_not_free_is_told(web: LocalWeb):
    stated = json.dumps({"@type": "NewsArticle", "isAccessibleForFree": False, "articleBody": HARBOR * 9})
    put(web, paid=pages.document(STORY, f'<script type="application/ld+json">{stated}</script>', "Tides"))
    report, _ = await asked(web)
    assert "Ada Byron" not in report.markdown
    assert any("say that not everybody can read them in full" in limit for limit in report.limits)
    assert [each.metadata.get("access") for each in report.sources if each.number] == ["paywall"]


async def test_one_page_is_fetched_as_a_run_reads_it(web: LocalWeb):
    web.there.pages |= {
        "/old": moved("/consent"),
        "/consent": response(pages.CONSENT_PAGE, Content_Type=HTML),
        "/pdf": response(b"%PDF-1.4 broken", Content_Type=HTML),
    }
    async with Assay(web.settings()) as assay:
        with pytest.raises(FetchFailed, match=r"^consent: "):
            await assay.fetch(web.there.url("/old"))
        with pytest.raises(FetchFailed):
            await assay.fetch(web.there.url("/pdf"))
    assert all("accept-language" not in head.lower() for head in web.there.seen)


async def test_a_date_after_the_day_of_reading_is_none(web: LocalWeb):
    stated = '<meta property="article:published_time" content="{}">'
    marked = '<p><time class="entry-date published" datetime="2021-03-04T10:00:00+01:00">4 March</time></p>'
    put(
        web,
        future=pages.document(STORY, stated.format("2199-01-01"), "Tides"),
        past=pages.document(STORY.replace("north", "south"), stated.format("2020-05-06"), "Tides"),
        marked=pages.document(STORY.replace("</h1>", f"</h1>{marked}"), "", "Tides of the west"),
    )
    report, _ = await asked(web)
    days = {each.url.rpartition("/")[2]: each.published for each in report.sources}
    assert days == {"future": "", "past": "2020-05-06", "marked": "2021-03-04"}
