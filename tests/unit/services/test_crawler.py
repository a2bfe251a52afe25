"""One site, page by page, over a real server on loopback."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from web import Site as Server
from web import moved, response, site

from assay import Assay
from assay.core.errors import Cancelled, UsageError
from assay.services.crawler import Site
from assay.settings import Settings, load

PAGE = (
    "<!doctype html><html lang=en><head><title>{0}</title>{2}</head>"
    "<body><main><h1>{0}</h1><p>The {0} page is about the harbor.</p>{1}</main></body></html>"
)


def page(title: str, *links: str, head: str = "") -> bytes:
    return response(
        PAGE.format(title, "".join(f'<a href="{link}">x</a>' for link in links), head), Content_Type="text/html"
    )


@pytest.fixture
async def manual() -> AsyncIterator[Server]:
    async with site() as there:
        there.pages |= {
            "/manual/": page(
                "Start", "one.html", "two.html?utm_source=x", "/outside", "http://127.0.0.1:1/else", "#top"
            ),
            "/manual/one.html": page("One", "./", "deep/three.html", "picture.png", "two.html"),
            "/manual/two.html": page("Two", "hidden.html", "moved", "gone.html"),
            "/manual/two.html?utm_source=x": page("Two", "hidden.html", "moved", "gone.html", "print?page=one"),
            "/manual/print?page=one": page("One for printers", head='<link rel="canonical" href="/manual/one.html">'),
            "/manual/deep/three.html": page("Three", "four.html"),
            "/manual/deep/four.html": page("Four"),
            "/manual/hidden.html": page(
                "Hidden", "beyond.html", head='<meta name="robots" content="noindex, nofollow">'
            ),
            "/manual/beyond.html": page("Beyond"),
            "/manual/moved": moved("/manual/one.html"),
            "/manual/mapped.html": page("Mapped"),
            "/manual/forbidden.html": page("Forbidden"),
            "/outside": page("Outside"),
        }
        yield there


def settings_for() -> Settings:
    return load(web={"allow": "127.0.0.1", "timeout": 5})


async def titles(assay: Assay, collection: str) -> set[str]:
    return {document.title for document in await assay.documents(collection)}


async def test_a_site_is_read_once_below_its_path(manual: Server):
    async with Assay(settings_for()) as assay:
        done = await assay.crawl(manual.url("/manual/"), "manual")
        assert await titles(assay, "manual") == {"Start", "One", "Two", "Three", "Four"}
        assert done.documents == 5
        assert any("gone.html" in warning and "not found" in warning for warning in done.warnings)
    pages = [path for path in manual.asked if path.startswith("/manual")]
    assert len(pages) == len(set(pages))
    assert not {"/outside", "/manual/beyond.html", "/manual/picture.png"} & set(manual.asked)


async def test_sitemaps_gzipped_and_nested(manual: Server):
    listed = f"<urlset xmlns='x'><url><loc>{manual.url('/manual/mapped.html')}</loc></url></urlset>"
    index = f"<sitemapindex><sitemap><loc>{manual.url('/maps/one.xml.gz')}</loc></sitemap></sitemapindex>"
    manual.pages |= {
        "/robots.txt": response(
            f"User-agent: *\nDisallow: /manual/forbidden\nSitemap: {manual.url('/maps/all.xml')}\n"
        ),
        "/maps/all.xml": response(index, Content_Type="application/xml"),
        "/maps/one.xml.gz": response(gzip.compress(listed.encode()), Content_Type="application/gzip"),
        "/manual/": page("Start", "forbidden.html"),
    }
    async with Assay(settings_for()) as assay:
        done = await assay.crawl(manual.url("/manual/"), "manual")
        assert await titles(assay, "manual") == {"Start", "Mapped"}
    assert any("robots" in warning for warning in done.warnings)
    assert "/manual/forbidden.html" not in manual.asked


async def test_limits_are_kept_and_told(manual: Server):
    async with Assay(settings_for()) as assay:
        done = await assay.crawl(manual.url("/manual/"), "few", pages=2)
        assert done.documents <= 2
        assert any("stopped after 2 pages" in warning for warning in done.warnings)
        await assay.crawl(manual.url("/manual/"), "near", depth=1)
        assert await titles(assay, "near") == {"Start", "One", "Two"}
    assert len([path for path in manual.asked if path.startswith("/manual")]) <= 2 + 4


async def test_sync_follows_the_site_and_keeps_what_is_out_of_reach(manual: Server):
    async with Assay(settings_for()) as assay:
        await assay.crawl(manual.url("/manual/"), "manual")
        manual.pages["/manual/one.html"] = page("One of today", "deep/three.html")
        manual.pages["/manual/deep/three.html"] = response("busy", 500)
        del manual.pages["/manual/two.html"]
        manual.pages["/manual/two.html?utm_source=x"] = response("no", 404)
        manual.pages["/manual/new.html"] = page("New")
        manual.pages["/manual/"] = page("Start", "one.html", "two.html", "new.html")
        done = await assay.sync("manual")
        assert await titles(assay, "manual") == {"Start", "One of today", "New", "Three"}
        assert done.updated >= 1
        assert any("three.html" in warning for warning in done.warnings)


async def test_what_was_read_before_an_interruption_is_kept(manual: Server):
    links = [f"{number}.html" for number in range(15)]
    manual.pages |= {f"/manual/{link}": page(f"Page {link}") for link in links}
    manual.pages["/manual/"] = page("Start", *links)
    asked: list[str] = []

    def stop(line: str) -> None:
        asked.append(line)
        raise Cancelled("enough")

    async with Assay(settings_for()) as assay:
        with pytest.raises(Cancelled):
            await assay.crawl(manual.url("/manual/"), "manual", progress=stop)
        assert asked[0].startswith("crawling: 10 pages")
        before = len(await assay.documents("manual"))
        assert 0 < before < 16
        assert (await assay.sync("manual")).documents == 16


async def test_several_pages_are_asked_for_at_once_as_far_as_the_site_likes_it(manual: Server):
    links = [f"{number}.html" for number in range(8)]
    manual.pages["/manual/"] = page("Start", *links)
    manual.pages |= {f"/manual/{link}": [0.05, page(f"Page {link}")] for link in links}
    async with Assay(settings_for()) as assay:
        await assay.crawl(manual.url("/manual/"), "manual")
        assert len(await titles(assay, "manual")) == 9
        assert [each.title for each in await assay.documents("manual")][1:] == [f"Page {link}" for link in links]
    assert manual.most_at_once == 2
    pages = [path for path in manual.asked if path.startswith("/manual")]
    assert len(pages) == len(set(pages)) == 9


async def test_no_page_beyond_the_limit_is_asked_for(manual: Server):
    links = [f"{number}.html" for number in range(8)]
    manual.pages["/manual/"] = page("Start", *links)
    manual.pages |= {f"/manual/{link}": page(f"Page {link}") for link in links}
    async with Assay(settings_for()) as assay:
        await assay.crawl(manual.url("/manual/"), "manual", pages=3)
    assert len([path for path in manual.asked if path.startswith("/manual")]) == 3


async def test_a_page_which_is_taken_out_is_not_kept_for_the_next_run_either(manual: Server, tmp_path: Path):
    manual.pages["/manual/"] = response(
        PAGE.format("Start", "", ""), Content_Type="text/html", Cache_Control="max-age=3600"
    )
    url = manual.url("/manual/")
    async with Assay(settings_for(), home=tmp_path / "home") as assay:
        kept = tmp_path / "home"
        await assay.crawl(url, "manual", pages=1)
        assert [path for path in kept.rglob("*.json") if url.encode() in path.read_bytes()]
        await assay.remove([url], "manual")
        assert not [path for path in kept.rglob("*.json") if url.encode() in path.read_bytes()]
        asked = len(manual.asked)
        await assay.crawl(url, "again", pages=1)
        assert "/manual/" in manual.asked[asked:]


async def test_only_sites_can_be_crawled(manual: Server):
    async with Assay(settings_for()) as assay:
        with pytest.raises(UsageError, match="cannot be crawled"):
            await assay.crawl("file:///etc", "manual")
        with pytest.raises(UsageError, match="no document could be read"):
            await assay.crawl(manual.url("/nothing/"), "manual")
        assert await assay.collections() == []
    async with Assay(load(search={"offline": True})) as assay:
        with pytest.raises(UsageError, match=r"search\.offline"):
            await assay.crawl(manual.url("/manual/"), "manual")
        with pytest.raises(UsageError, match=r"search\.offline"):
            await assay.add(manual.url("/manual/"), "manual")


@pytest.mark.parametrize(
    ("start", "url", "inside"),
    [
        ("https://x.example/docs/", "https://x.example/docs/a", True),
        ("https://x.example/docs/", "https://x.example/docs", False),
        ("https://x.example/docs", "https://x.example/docs/a", True),
        ("https://x.example/docs", "https://x.example/docs-old", False),
        ("https://x.example/docs/a.html", "https://x.example/docs/b.html", True),
        ("https://x.example/docs/a.html", "https://x.example/other", False),
        ("https://x.example", "https://x.example/any/thing?x=1", True),
        ("https://x.example", "https://www.x.example/", False),
        ("https://x.example", "http://x.example/", False),
        ("https://x.example", "https://x.example:444/", False),
        ("https://x.example", "https://x.example/a.PNG", False),
        ("https://x.example", "mailto:a@x.example", False),
        ("https://x.example/docs/", "https://x.example/docs/../private", False),
        ("https://x.example/docs/", "https://x.example/docs/%2e%2e/private", False),
    ],
)
def test_what_a_site_holds(start: str, url: str, inside: bool):
    assert Site(start, pages=1, depth=1).includes(url) is inside
