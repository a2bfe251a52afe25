"""A real Chromium: pages that need it are read, it reaches nothing by itself, and what misbehaves ends."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psutil
import pytest
from browsers import CHROMIUM, MISSING, app, escaping, trap
from web import ALLOWED, FORBIDDEN, Names, Site, fetcher, response, site

from assay.core.errors import FetchFailed
from assay.core.sources import RENDERED_HEADER
from assay.fetch.browser import BrowserChoice, Renderer, RenderingFetcher, RenderLimits
from assay.fetch.web.addresses import parse_policy

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

TEXT = "The highest tide on record was 5.2 metres, in March 1838."
INSIDE = parse_policy(["127.0.0.0/8"])


@asynccontextmanager
async def rendering(browser: Renderer | None = None, **limits: float) -> AsyncIterator[RenderingFetcher]:
    """A fetcher for which 127.0.0.1 is public, and all other loopback inside and allowed."""
    async with fetcher(Names(), INSIDE) as pages, fetcher(Names(), ALLOWED) as others:
        made = RenderingFetcher(
            pages,
            others,
            RenderLimits(**limits),  # type: ignore[arg-type]
            BrowserChoice(renderer=browser, executable=CHROMIUM),
        )
        try:
            yield made
        finally:
            await made.close()


@pytest.fixture
async def there() -> AsyncIterator[Site]:
    async with site() as made:
        yield made


def children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


async def test_what_scripts_make_of_a_page_is_read_and_the_browser_ends(there: Site):
    app(there, "tides", "Tides", TEXT, "It was read by Ada Byron.")
    before = children()
    async with rendering() as web:
        page = await web.fetch(there.url("/tides"))
        browser = children() - before
        assert browser
    assert TEXT in page.body.decode()
    assert page.headers[RENDERED_HEADER].startswith("Chromium ")
    assert sorted(there.asked) == ["/shown.js", "/tides", "/tides.js", "/tides.json"]
    assert all("Assay/1 (test)" in each for each in there.seen)
    _, alive = psutil.wait_procs(browser, timeout=60)
    assert not alive


async def test_nothing_reaches_an_address_by_another_way(there: Site):
    async with trap(FORBIDDEN) as caught:
        there.pages["/out"] = response(escaping(FORBIDDEN, caught.port), Content_Type="text/html")
        async with rendering() as web:
            page = (await web.fetch(there.url("/out"))).body.decode()
    assert "Tried: fetch" in page
    assert "elsewhere" in page
    assert "root:" not in page
    assert caught.caught == []


@pytest.mark.slow
async def test_a_public_page_does_not_look_around_inside(there: Site):
    async with site(FORBIDDEN) as inside:
        inside.pages["/secret"] = response("secret", Access_Control_Allow_Origin="*")
        there.pages |= {
            "/moved": response(status=302, Location=inside.url("/secret", FORBIDDEN)),
            "/look": response(
                "<body><p id=a></p><script>Promise.all(['/moved', '"
                + inside.url("/secret", FORBIDDEN)
                + "'].map((url) => fetch(url).then((found) => found.text(), () => 'refused')))"
                ".then((found) => { a.textContent = found.join(' ') + ' as it should be'.repeat(9) })</script>",
                Content_Type="text/html",
            ),
        }
        async with rendering() as web:
            page = (await web.fetch(there.url("/look"))).body.decode()
    assert "refused refused as it should be" in page
    assert inside.asked == []


@pytest.mark.slow
async def test_a_page_which_never_ends_is_ended_and_the_next_is_read(there: Site):
    there.pages["/loop"] = response("<div></div><script>while (true) {}</script>", Content_Type="text/html")
    app(there, "tides", "Tides", TEXT)
    chromium = importlib.import_module("assay.fetch.browser.chromium")  # by name: it needs the extra
    browser = chromium.Chromium(CHROMIUM)
    async with rendering(browser=browser) as patient, rendering(browser=browser, seconds=3.0) as web:
        with pytest.raises(FetchFailed, match=r"^scripts: not rendered after 3 s"):
            await web.fetch(there.url("/loop"))
        assert TEXT in (await patient.fetch(there.url("/tides"))).body.decode()


async def test_a_browser_that_does_not_start_says_why(there: Site):
    there.pages["/bare"] = response("<div></div><script>x()</script>", Content_Type="text/html")
    async with fetcher() as pages, fetcher() as others:
        web = RenderingFetcher(pages, others, RenderLimits(), BrowserChoice(executable="/nowhere/chromium"))
        with pytest.raises(FetchFailed, match=r"^scripts: the browser does not start"):
            await web.fetch(there.url("/bare"))
        await web.close()


@pytest.mark.slow
async def test_the_trap_catches_a_browser_that_is_not_held():
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
    async with trap(FORBIDDEN) as caught, site() as there, playwright.async_playwright() as driver:
        page_text = escaping(FORBIDDEN, caught.port).replace("link.click()", "0")
        stays = page_text.replace('location = out + "/elsewhere"', "0")  # what goes elsewhere takes its peers along
        there.pages["/out"] = response(stays, Content_Type="text/html")
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page()
        await page.goto(there.url("/out"), wait_until="commit")
        async with asyncio.timeout(60):
            for first in (b"GET", b"\x00\x01"):  # the second is STUN, over UDP
                while not any(each.startswith(first) for each in caught.caught):
                    await asyncio.sleep(0.1)
        await browser.close()
