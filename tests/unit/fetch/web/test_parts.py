"""The parts of an article on several pages, and what else pages say comes next."""

from __future__ import annotations

import pytest
from walled_pages import document

from assay.core.sources import Fetched
from assay.fetch.web.parts import next_part

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
