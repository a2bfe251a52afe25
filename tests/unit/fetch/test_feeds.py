"""Feeds where a page was expected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import Fetched
from assay.evidence.ingest.units import extractor_for
from assay.fetch.html import HtmlExtractor
from assay.fetch.html_preparation import feed_page
from assay.fetch.text import CodeExtractor, TextExtractor
from assay.fetch.web.response import media_type

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
