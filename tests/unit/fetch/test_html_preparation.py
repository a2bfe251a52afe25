"""Pages and feeds as they are prepared for reading."""

from __future__ import annotations

import json

import pytest
from growth import WORST, exponent
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from walled_pages import BANNER, FACT, FOOT, document

from assay.core.errors import NeedsScripts
from assay.core.sources import Extracted, Fetched
from assay.evidence.ingest.units import extractor_for
from assay.fetch.browser import measure_text
from assay.fetch.html import HtmlExtractor
from assay.fetch.html_preparation import expand_components, feed_page, noscript_text, remove_requests
from assay.fetch.text import CodeExtractor, TextExtractor
from assay.fetch.web.response import media_type

# What a page shows without scripts, and what lies over its text.

SHELL = '<div id="root"></div><script src="/app.js"></script>'
BODY = " ".join([FACT] * 4)


def read(page: str) -> Extracted:
    return next(iter(HtmlExtractor().extract(page.encode(), "page.html")))


def linked(**more: object) -> str:
    article = {"@type": "NewsArticle", "headline": "Tides", "articleBody": BODY, **more}
    return f'<script type="application/ld+json">{json.dumps(article)}</script>'


@pytest.mark.parametrize(
    "page",
    [
        document(SHELL, linked()),
        document(SHELL, linked(articleBody=f"<p>{BODY}</p>")),
        document(f"{SHELL}<noscript><h1>Tides</h1><p>{BODY}</p></noscript>"),
        document(f'<iframe srcdoc="<p>{BODY}</p>"></iframe><script>x()</script>'),
        document(f'<x-story><template shadowrootmode="open"><p>{BODY}</p></template></x-story><script>x()</script>'),
    ],
)
def test_text_that_is_there_without_scripts_is_read(page: str):
    assert FACT in read(page).text
    assert not measure_text(page.encode()).is_short or "shadowroot" in page


def test_an_article_that_is_not_free_is_not_taken_from_what_search_engines_are_told():
    teaser = "<main><h1>Tides</h1><p>The tides of the old harbor have been measured again, and much is new.</p></main>"
    found = read(document(f"{teaser}<script>x()</script>", linked(isAccessibleForFree="False")))
    assert FACT not in found.text
    assert found.metadata["access"] == "paywall"
    assert "access" not in read(document(teaser, linked(isAccessibleForFree=True))).metadata
    tier = '<meta property="article:content_tier" content="metered">'
    assert read(document(teaser, tier)).metadata["access"] == "paywall"


@pytest.mark.parametrize(
    "notice",
    [
        "<noscript>You need to enable JavaScript to run this app.</noscript>",
        "<p>We're sorry but harbor doesn't work properly without JavaScript enabled. Please enable it.</p>",
        "<p>Bitte aktivieren Sie JavaScript, um diese Seite anzuzeigen.</p>",
    ],
)
def test_a_notice_that_scripts_are_needed_is_no_text(notice: str):
    page = document(SHELL + notice)
    assert measure_text(page.encode()).is_bare
    if "noscript" not in notice:
        with pytest.raises(NeedsScripts):
            read(page)


def test_a_short_page_about_scripts_is_a_page():
    page = document("<main><h1>JavaScript</h1><p>JavaScript runs in browsers.</p></main>", title="JavaScript")
    assert "runs in browsers" in read(page).text


@pytest.mark.parametrize("before", [True, False])
def test_a_request_for_consent_is_left_out(before: bool):
    story = f"<main><h1>Tides</h1><p>{BODY}</p></main>"
    found = read(document((BANNER + story if before else story + BANNER) + FOOT, title="Tides")).text
    assert FACT in found
    assert "personalise" not in found


def test_a_request_named_in_capitals_is_left_out():
    banner = (
        '<DIV ID="COOKIE-BAR"><p>We use cookies to personalise ads, with your consent.</p><button>Accept</button></DIV>'
    )
    found = read(document(f"<main><h1>Tides</h1><p>{BODY}</p></main>{banner}", title="Tides")).text
    assert FACT in found
    assert "personalise" not in found


def test_an_article_about_consent_in_a_box_named_so_stays():
    about = f"<p>Cookies need consent. {BODY}</p><button>Share</button>"
    for page in (
        f'<div class="cookie-guide"><h1>Cookies</h1>{about}</div>',
        f'<main><h1>Law</h1><div class="consent">{about}</div></main>',
        f'<h1>Law</h1><div id="gdpr"><p>Cookies need consent. {BODY}</p></div>',
    ):
        assert "Cookies need consent" in read(document(page, title="Law")).text


def test_only_the_trees_of_components_are_opened():
    page = (
        "<template><p>a</p></template><template shadowrootmode=open><p>b</p><template><p>c</p></template></template>d"
    )
    assert expand_components(page) == ("<template><p>a</p></template><div><p>b</p><template><p>c</p></template></div>d")


@given(st.lists(st.sampled_from(["<template>", "<template shadowrootmode=open>", "</template>", "text", "<p>"])))
def test_any_templates_are_read(pieces: list[str]):
    page = "".join(pieces)
    opened = expand_components(page)
    assert opened.count("text") == page.count("text")
    assert opened.count("<p>") == page.count("<p>")


def test_the_articles_behind_the_pages_own_are_left_out():
    box = "<article><h2>A box</h2><p>Of the same page.</p></article>"
    own = f"<article><h1>Tides</h1><p>{BODY}</p><p>{BODY}</p>{box}</article>"
    behind = "".join(
        f"<article><h1>Story {n}</h1><p>{'The mayor of Springfield opens a bridge. ' * 20}</p></article>"
        for n in range(3)
    )
    found = read(document(f'{own}{behind}<script src="/app.js"></script>', title="Tides")).text
    assert FACT in found
    assert "Of the same page" in found
    assert "mayor" not in found
    comments = "<article><p>I saw the tide of 1838 in a picture of my grandmother.</p></article>"
    assert "grandmother" in read(document(f"<article><h1>Tides</h1><p>{FACT}</p></article>{comments}")).text


NESTED = {
    "requests": lambda n: document("<h1>Tides</h1>Cookies" + "<span class=cookie>" * n + "consent<button>"),
    "parts without scripts": lambda n: document("<noscript>" * n + "tide"),
    "parts and a frame": lambda n: document("<noscript>" * n + "<iframe>"),
}
"""Elements within each other that are no blocks: those `shallow` keeps."""


@pytest.mark.parametrize("name", NESTED)
def test_nested_elements_are_looked_into_in_linear_time(name: str):
    def look_into(page: str) -> None:
        tree = LexborHTMLParser(page)
        remove_requests(tree, page)
        noscript_text(tree)

    assert exponent(look_into, NESTED[name], 1_000) < WORST


# Feeds where a page was expected.

RSS = """<?xml version="1.0" encoding="utf-8"?><?xml-stylesheet href="x.xsl"?><!-- made by hand -->
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Harbor &amp; sea</title>
<item><title>Tides</title><link>https://harbor.example/1</link><pubDate>Mon, 06 May 2024 10:00:00 GMT</pubDate>
<description>&lt;p&gt;The tide was 5.2 metres high.&lt;/p&gt;</description></item>
<item><title>Winds</title><description>short</description>
<content:encoded><![CDATA[<p>The <b>wind</b> came from the west.</p>]]></content:encoded></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Harbor &amp; sea</title><entry><title>Tides</title>
<published>2024-05-06T10:00:00Z</published><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>The tide
was 5.2 metres high.</p></div></content></entry><entry><title>Winds</title>
<summary>The wind came from the west.</summary></entry></feed>"""


@pytest.mark.parametrize("declared", ["application/rss+xml", "text/xml; charset=utf-8", "text/html", ""])
@pytest.mark.parametrize("feed", [RSS, ATOM])
def test_an_entry_is_a_section(feed: str, declared: str):
    body = feed.encode()
    page = Fetched(
        url="https://harbor.example/feed.xml",
        final_url="https://harbor.example/feed.xml",
        media_type=media_type(declared, body),
        headers={},
        body=body,
        fetched_at="",
    )
    reader = extractor_for(page, [TextExtractor(), CodeExtractor(), HtmlExtractor()])
    assert isinstance(reader, HtmlExtractor)
    (found,) = reader.extract(body, "feed.xml")
    assert found.title == "Harbor & sea"
    assert found.text == (
        "# Harbor & sea\n\n## Tides\n\n2024-05-06\n\nThe tide was 5.2 metres high.\n\n## Winds\n\n"
        "The wind came from the west.\n"
    )


PICTURED = """\ufeff<rss xmlns:media="http://search.yahoo.com/mrss/"><channel><title>Harbor</title><item>
<media:title>A boat</media:title><title>Tides &amp; winds</title><media:content url="https://harbor.example/boat.jpg">
<media:credit>Photo: Ada</media:credit></media:content><description>The tide was <b>5.2</b> metres high.</description>
</item><item><title>Fish</title><description>Fish &amp;amp; ships</description></item></channel></rss>"""


def test_pictures_are_no_text_and_markup_that_is_not_escaped_stays_whole():
    (found,) = HtmlExtractor().extract(PICTURED.encode(), "feed.xml")
    assert found.text == "# Harbor\n\n## Tides & winds\n\nThe tide was 5.2 metres high.\n\n## Fish\n\nFish & ships\n"


@pytest.mark.parametrize("other", ["", "<rss/>", "<rss><channel>", "<html><p>rss</p></html>", "<rssx/>", "feed"])
def test_anything_else_is_no_feed(other: str):
    assert feed_page(other.encode()) == ""


@given(st.binary(max_size=200))
def test_any_bytes_in_a_feed(noise: bytes):
    feed_page(b"<rss><channel><item><title>" + noise)
    feed_page(RSS.encode().replace(b"wind", noise))
