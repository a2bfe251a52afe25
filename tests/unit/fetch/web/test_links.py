"""Where a page leads to, and what sitemaps say."""

from __future__ import annotations

import gzip
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.web_addresses import parse_url
from assay.fetch.web import response
from assay.fetch.web.response import links, parse_sitemap

AT = "https://x.example/docs/a.html"


def test_links_are_whole_addresses_each_once():
    body = b"""<a href="b.html#x">b</a><a href="b.html">b</a><a href="/c?d=1&amp;e=2">c</a>
    <a href=" //y.example/z ">z</a><a href="mailto:a@b.example">m</a><a href="javascript:alert(1)">j</a>
    <a rel="nofollow ugc" href="n">n</a><a>no</a>"""
    assert links(body, AT).links == (
        "https://x.example/docs/b.html",
        "https://x.example/c?d=1&e=2",
        "https://y.example/z",
    )


def test_a_base_counts():
    assert links(b'<base href="/other/"><a href="b">b</a>', AT).links == ("https://x.example/other/b",)


@pytest.mark.parametrize(
    ("head", "index", "follow"),
    [
        ("", True, True),
        ('<meta name="ROBOTS" content="NoIndex,NoFollow">', False, False),
        ('<meta name="robots" content="none">', False, False),
        ('<meta name="robots" content="noindex">', False, True),
        ('<meta name="description" content="noindex">', True, True),
    ],
)
def test_what_a_page_says_of_itself(head: str, index: bool, follow: bool):
    found = links(head.encode(), AT)
    assert (found.index, found.follow) == (index, follow)


def test_canonical():
    assert links(b'<link rel=canonical href="/docs/">', AT).canonical == "https://x.example/docs/"
    assert links(b'<link rel=canonical href="javascript:x">', AT).canonical == ""


def test_sitemaps_of_all_kinds():
    kind = b'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    urls = b'<?xml version="1.0"?><urlset ' + kind + b"><url><loc> https://x/a </loc></url>"
    whole = urls + b"<url><loc>https://x/b?c=1&amp;d=2</loc></url></urlset>"
    assert parse_sitemap(whole) == (("https://x/a", "https://x/b?c=1&d=2"), ())
    assert parse_sitemap(gzip.compress(whole)) == parse_sitemap(whole)
    assert parse_sitemap(urls) == (("https://x/a",), ())  # cut short
    assert parse_sitemap(b"<sitemapindex><sitemap><loc>https://x/1.xml</loc></sitemap></sitemapindex>") == (
        (),
        ("https://x/1.xml",),
    )
    assert parse_sitemap(b"https://x/a\nno\nhttps://x/b\n") == (("https://x/a", "https://x/b"), ())


def test_entities_are_not_followed_and_bombs_do_not_go_off(tmp_path):
    (tmp_path / "secret").write_text("https://secret.example/")
    outside = f'<!DOCTYPE u [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]><urlset><url><loc>&e;</loc></url></urlset>'
    assert "secret" not in str(parse_sitemap(outside.encode()))
    inside = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE u [<!ENTITY e0 "x">{inside}]><urlset><url><loc>https://x/&e9;</loc></url></urlset>'
    began = time.process_time()
    parse_sitemap(bomb.encode())
    parse_sitemap(gzip.compress(b"<" * 80_000_000, 1))
    assert time.process_time() - began < 5


def test_no_more_than_a_page_can_have(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(response, "MAX_LINKS", 500)
    assert len(links(b"".join(b'<a href="%d">x</a>' % n for n in range(510)), AT).links) == 500


@given(st.binary(max_size=300) | st.text(alphabet="<>/a href='\"=lociurset&;:.#x?", max_size=200).map(str.encode))
@settings(max_examples=scaled(80), deadline=None)
def test_whatever_comes_is_read(body: bytes):
    for link in links(body, AT).links:
        assert parse_url(link).href == link
    parse_sitemap(body)
    parse_sitemap(b"\x1f\x8b" + body)
