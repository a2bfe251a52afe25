"""Frames of a page, and the next part of an article."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from walled_pages import FACT, FOOT, document
from web import FORBIDDEN, Site, fetcher, response, site

from assay.core.sources import Fetched
from assay.fetch.web.page_parts import next_part

# Pages in frames: the page that is shown is the page that is read.

HTML = "text/html; charset=utf-8"
STORY = document(f"<main><h1>Tides</h1><p>{FACT * 4}</p></main>", title="Tides")
SHORT = document("<p>Menu of the harbor</p>")


@pytest.fixture
async def there() -> AsyncIterator[Site]:
    async with site() as made:
        made.pages |= {path: response(page, Content_Type=HTML) for path, page in (("/story", STORY), ("/menu", SHORT))}
        yield made


async def test_the_frame_with_the_most_text_is_the_page(there: Site):
    there.pages["/"] = response(
        '<html><frameset cols="20%,80%"><frame src="menu"><frame src="story"><noframes>Your browser shows no frames.'
        "</noframes></frameset></html>",
        Content_Type=HTML,
    )
    async with fetcher() as web:
        page = await web.fetch(there.url())
    assert (page.url, page.final_url, page.redirects) == (there.url(), there.url("/story"), (there.url(),))
    assert FACT.encode() in page.body


async def test_a_frameset_in_a_frameset_and_no_further(there: Site):
    for depth in range(5):
        inside = f'<frameset><frame src="/{depth + 1}"></frameset>' if depth < 4 else STORY
        there.pages[f"/{depth}"] = response(inside, Content_Type=HTML)
    async with fetcher() as web:
        assert (await web.fetch(there.url("/2"))).final_url == there.url("/4")
        assert (await web.fetch(there.url("/0"))).final_url == there.url("/0")


async def test_a_frame_alone_on_a_page_is_the_page(there: Site):
    there.pages["/"] = response(document(f'<h1>Tides</h1><iframe src="/story"></iframe>{FOOT}'), Content_Type=HTML)
    there.pages["/pdf"] = response(
        document('<embed src="/file" type="application/pdf" width="100%">'), Content_Type=HTML
    )
    there.pages["/file"] = response(b"%PDF-1.4 and more", Content_Type=HTML)
    async with fetcher() as web:
        assert (await web.fetch(there.url())).final_url == there.url("/story")
        found = await web.fetch(there.url("/pdf"))
    assert (found.final_url, found.media_type) == (there.url("/file"), "application/pdf")


@pytest.mark.parametrize(
    "frame",
    [
        f'<p>{FACT * 3}</p><iframe src="/story"></iframe>',
        '<iframe src="/story" width="1" height="1"></iframe>',
        '<iframe src="/story" style="display: none"></iframe>',
        '<iframe src="/dead"></iframe>',
        '<iframe src="http://127.0.0.1:1/refused"></iframe>',
        f'<iframe src="http://{FORBIDDEN}/story"></iframe>',
        '<iframe src="https://ads.example/story"></iframe>',
        '<iframe src="about:blank"></iframe>',
        '<iframe src="/"></iframe>',
    ],
)
async def test_other_frames_are_left_alone(there: Site, frame: str):
    there.pages["/"] = response(document(frame), Content_Type=HTML)
    async with fetcher() as web:
        assert (await web.fetch(there.url())).final_url == there.url()
    assert "/story" not in there.asked


async def test_a_picture_in_a_frame_is_no_text(there: Site):
    there.pages["/boat"] = response(b"\x89PNG" + b"x" * 5_000, Content_Type="image/png")
    there.pages["/"] = response(document('<p>Tides</p><iframe src="/boat"></iframe>'), Content_Type=HTML)
    async with fetcher() as web:
        assert (await web.fetch(there.url())).final_url == there.url()


async def test_the_address_of_a_frame_follows_the_base_of_its_page(there: Site):
    there.pages["/old/story"] = response(STORY, Content_Type=HTML)
    there.pages["/"] = response(
        document('<iframe src="story"></iframe>', f'<base href="{there.url("/old/")}">'), Content_Type=HTML
    )
    async with fetcher() as web:
        assert (await web.fetch(there.url())).final_url == there.url("/old/story")


async def test_no_more_than_four_frames_are_requested(there: Site):
    frames = "".join(f'<frame src="/f{n}">' for n in range(9))
    there.pages["/"] = response(f"<html><frameset>{frames}</frameset></html>", Content_Type=HTML)
    async with fetcher() as web:
        await web.fetch(there.url())
    assert there.asked == ["/", "/f0", "/f1", "/f2", "/f3"]


# The parts of an article on several pages, and what else pages say comes next.

ARTICLE = '<meta property="og:type" content="article">'


def made(at: str, head: str, media_type: str = "text/html") -> Fetched:
    url = f"https://harbor.example{at}"
    body = document("<p>Tides</p>", head).encode()
    return Fetched(
        url=url, final_url=url, redirects=(), status=200, media_type=media_type, headers={}, body=body, fetched_at=""
    )


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("/tides", "/tides?page=2"),
        ("/tides?id=7", "/tides?id=7&page=2"),
        ("/tides/", "/tides/2/"),
        ("/tides", "/tides/2"),
        ("/tides/", "/tides/page/2/"),
        ("/tides.html", "/tides-2.html"),
        ("/tides.html", "/tides_2.html"),
        ("/tides-2.html", "/tides-3.html"),
        ("/tides?page=9", "/tides?page=10"),
    ],
)
def test_the_next_part(here: str, there: str):
    assert next_part(made(here, f'{ARTICLE}<link rel="next" href="{there}">')) == f"https://harbor.example{there}"


@pytest.mark.parametrize(
    "says",
    [
        '<META Property="OG:Type" Content="ARTICLE">',
        '<script type="application/ld&#43;json">{"@type": "BlogPosting"}</script>',
        '<SCRIPT TYPE="application/ld+JSON">{"@type": ["NewsArticle"]}</SCRIPT>',
    ],
)
def test_however_a_page_says_that_it_is_an_article(says: str):
    page = made("/tides", f'{says}<LINK REL="Next" HREF="/tides?page=2">')
    assert next_part(page) == "https://harbor.example/tides?page=2"


def test_the_address_of_a_part_follows_the_base_of_its_page():
    page = made("/story/tides", f'<base href="/story/">{ARTICLE}<link rel="next" href="tides?page=2">')
    assert next_part(page) == "https://harbor.example/story/tides?page=2"
    moved = made("/tides", f'<base href="/story/">{ARTICLE}<link rel="next" href="tides?page=2">')
    assert next_part(moved) == ""


@pytest.mark.parametrize(
    ("here", "head"),
    [
        ("/tides", '<link rel="next" href="/tides?page=2">'),
        ("/tides", f'{ARTICLE}<link rel="prev" href="/tides?page=2">'),
        ("/tides", f'{ARTICLE}<link rel="next" href="/winds">'),
        ("/tides", f'{ARTICLE}<link rel="next" href="/tides-of-2">'),
        ("/story/41", f'{ARTICLE}<link rel="next" href="/story/42">'),
        ("/?p=11", f'{ARTICLE}<link rel="next" href="/?p=12">'),
        ("/tides", f'{ARTICLE}<link rel="next" href="/tides?page=3">'),
        ("/tides", f'{ARTICLE}<link rel="next" href="https://winds.example/tides?page=2">'),
        ("/tides?page=2", f'{ARTICLE}<link rel="next" href="/tides?page=1">'),
        ("/tides", f'{ARTICLE}<link rel="next" href="mailto:x@y">'),
        ("/chapter", f'{ARTICLE}<link rel="next" href="/chapter2">'),
    ],
)
def test_anything_else_is_not_followed(here: str, head: str):
    assert next_part(made(here, head)) == ""


def test_only_pages_have_parts():
    assert next_part(made("/tides", f'{ARTICLE}<link rel="next" href="/tides?page=2">', "text/plain")) == ""
