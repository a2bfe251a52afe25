"""Which pages are rendered, and what becomes of those which cannot be: with a browser made up for the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from web import ALLOWED, Names, Site, fetcher, response, site

from assay.core.errors import ConfigError, FetchFailed
from assay.core.sources import RENDERED_HEADER
from assay.fetch import browser as package
from assay.fetch.browser import BrowserChoice, PageGate, RenderingFetcher, RenderLimits

TEXT = "The highest tide on record was 5.2 metres, in March 1838. " * 9
BARE = "<html><body><div id=root></div><script>x()</script></body></html>"
SHORT = "<html><body><p>Loading the records of the harbor, please wait.</p><script>x()</script></body></html>"
LONG = f"<html><body><p>{TEXT}</p><script>x()</script></body></html>"


class Browser:
    """Shows every page as `html`, or fails."""

    name = "Browser 1"

    def __init__(self, html: str | FetchFailed = LONG, wait: float = 0.0) -> None:
        self.html, self.wait, self.shown, self.closed = html, wait, list[str](), 0

    async def render(self, url: str, gate: PageGate, *, quiet: float, seconds: float) -> str:
        self.shown.append(url)
        await asyncio.sleep(self.wait)
        if isinstance(self.html, FetchFailed):
            raise self.html
        return self.html

    async def close(self) -> None:
        self.closed += 1


@asynccontextmanager
async def rendering(
    browser: Browser | None, *, always: bool = False, lacking: str = "", size: int = 1_000_000
) -> AsyncIterator[RenderingFetcher]:
    async with fetcher(Names(), ALLOWED) as pages, fetcher(Names(), ALLOWED) as others:
        limits = RenderLimits(bytes=size)
        made = RenderingFetcher(pages, others, limits, BrowserChoice(renderer=browser, problem=lacking), always=always)
        yield made
        await made.close()


@pytest.fixture
async def there() -> AsyncIterator[Site]:
    async with site() as made:
        html = {"Content_Type": "text/html"}
        made.pages |= {
            "/bare": response(BARE, **html),
            "/short": response(SHORT, **html),
            "/long": response(LONG, **html),
            "/still": response("<p>Short.</p>", **html),
            "/text": response("<script>x()</script>", Content_Type="text/plain"),
        }
        yield made


async def test_a_page_without_text_is_rendered_and_says_so(there: Site):
    browser = Browser()
    async with rendering(browser) as web:
        page = await web.fetch(there.url("/bare"))
    assert page.body.decode() == LONG
    assert page.headers[RENDERED_HEADER] == "Browser 1"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert browser.shown == [there.url("/bare")]
    assert browser.closed == 1


@pytest.mark.parametrize("path", ["/long", "/still", "/text"])
async def test_what_has_text_or_no_scripts_is_taken_as_it_came(there: Site, path: str):
    browser = Browser()
    async with rendering(browser) as web:
        page = await web.fetch(there.url(path))
    assert RENDERED_HEADER not in page.headers
    assert browser.shown == []


async def test_where_asked_for_every_page_with_scripts_is_rendered(there: Site):
    browser = Browser(SHORT)
    async with rendering(browser, always=True) as web:
        assert (await web.fetch(there.url("/long"))).body.decode() == SHORT
        assert RENDERED_HEADER not in (await web.fetch(there.url("/still"))).headers
    assert browser.shown == [there.url("/long")]


async def test_a_page_whose_scripts_add_nothing_is_taken_as_it_came(there: Site):
    async with rendering(Browser(SHORT)) as web:
        page = await web.fetch(there.url("/short"))
    assert page.body.decode() == SHORT
    assert RENDERED_HEADER not in page.headers


async def test_a_page_that_cannot_be_rendered_is_read_as_far_as_it_says_anything(there: Site):
    async with rendering(Browser(FetchFailed("scripts: the page could not be rendered (it crashed)"))) as web:
        assert (await web.fetch(there.url("/short"))).body.decode() == SHORT
        with pytest.raises(FetchFailed, match=r"^scripts: the page could not be rendered \(it crashed\)$"):
            await web.fetch(there.url("/bare"))


async def test_without_the_extra_the_failure_names_it(there: Site):
    async with rendering(None, lacking=package.EXTRA_NEEDED) as web:
        assert (await web.fetch(there.url("/short"))).body.decode() == SHORT
        with pytest.raises(FetchFailed, match=r"^scripts: .*pip install 'assay\[browser\]'$"):
            await web.fetch(there.url("/bare"))


async def test_who_wants_it_always_is_told_at_once_what_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(package, "find_spec", lambda name: None)
    async with fetcher() as pages:
        with pytest.raises(ConfigError, match=r"pip install 'assay\[browser\]'"):
            package.create(pages, lambda headers: pages, mode="always", largest=1)


async def test_a_page_that_grows_too_large_is_refused(there: Site):
    async with rendering(Browser("<p>" + "ä" * 600_000)) as web:
        with pytest.raises(FetchFailed, match=r"^too large: more than 1 MB"):
            await web.fetch(there.url("/bare"))


async def test_who_asks_for_a_page_while_it_is_rendered_gets_the_same(there: Site):
    browser = Browser(wait=0.2)
    async with rendering(browser) as web:
        pages = await asyncio.gather(*(web.fetch(there.url("/bare")) for _ in range(3)))
    assert len(browser.shown) == 1
    assert {page.body for page in pages} == {LONG.encode()}
    assert there.asked == ["/bare"]
