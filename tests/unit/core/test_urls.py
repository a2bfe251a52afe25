"""Web addresses, and DOIs in them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.web_addresses import BadUrl, canonical_url, doi_of, find_doi, names_address, parse_url

ODD = (
    Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[4] / "shared" / "data"))
    / "hostile/url/urltestdata-odd.json"
)


@pytest.mark.parametrize(
    ("found", "same"),
    [
        ("HTTP://Example.COM:80/a?b=1#c", "http://example.com/a?b=1"),
        ("https://example.com:443", "https://example.com/"),
        ("https://example.com/?utm_source=x&id=7&fbclid=y", "https://example.com/?id=7"),
        ("https://example.com/?utm_source=x", "https://example.com/"),
        ("https://example.com/a?b&a=&c=%zz", "https://example.com/a?b&a=&c=%zz"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("https://example.com./x", "https://example.com/x"),
        ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("https://example.com/a/../b", "https://example.com/b"),
    ],
)
def test_canonical(found: str, same: str):
    assert canonical_url(found) == same
    assert canonical_url(same) == same


@pytest.mark.parametrize(
    ("text", "address", "named"),
    [
        ("See [it](https://Example.com/a_b?c=1#d).", "https://example.com/a_b?c=1", True),
        (r"See https://example.com/a\_b.", "https://example.com/a_b", True),
        ("on www.example.com/a/ today", "http://example.com/a", True),
        ("https://bücher.example/ü", "https://bücher.example/ü", True),
        ("https://bücher.example/ü", "https://bücher.example/%C3%BC", True),
        ("https://example.com/?utm_source=x&id=7", "https://example.com/?utm_source=x&id=7", True),
        ("https://example.com/a/b", "https://example.com/", True),
        ("https://example.com:8080/a", "https://example.com:8080/a", True),
        ("https://example.com/a", "https://example.com/a?q=secret", False),
        ("https://example.com/a", "https://example.com/ab", False),
        ("https://my-example.com/a", "https://example.com/a", False),
        ("https://a.example.com/a", "https://example.com/a", False),
        ("https://example.com/a", "https://exam/", False),
        ("https://example.com.evil.example/a", "https://example.com", False),
        ("mail@example.com", "https://example.com", False),
        ("nothing", "https://example.com/", False),
        ("https://example.com/a", "https://example.com/a?utm_source=secret", False),
        ("https://example.com/a", "https://example.com/a#b", True),
    ],
)
def test_an_address_is_named_in_full_or_from_its_beginning(text: str, address: str, named: bool):
    assert names_address(text, address) is named


def test_canonical_keeps_what_tells_pages_apart():
    assert canonical_url("https://example.com/?q=1") != canonical_url("https://example.com/?q=2")
    assert canonical_url("https://example.com/A") != canonical_url("https://example.com/a")
    assert canonical_url("https://example.com/a?x=1&y=2") != canonical_url("https://example.com/a?y=2&x=1")
    assert canonical_url("file:///etc/passwd") == "file:///etc/passwd"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("file:///etc/passwd", "not http or https"),
        ("gopher://example.com/", "not http or https"),
        ("javascript:alert(1)", "not http or https"),
        ("http://user@example.com/", "names a user"),
        ("http://:pass@example.com/", "names a user"),
        ("http://example.com\\@evil.example/ x", "spaces"),
        ("http://exa mple.com/", "spaces"),
        ("http://a.example/\r\nHost: b.example", "control characters"),
        ("http://", "not an address"),
        ("example.com", "not an address"),
        ("http://./", "without a host"),
        ("http://[::%25eth0]/", "not an address"),
        ("http://" + "a" * 9000, "characters"),
    ],
)
def test_what_is_no_page(text: str, why: str):
    with pytest.raises(BadUrl, match=why):
        parse_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://0x7f.1/",
        "http://017700000001/",
        "http://2130706433/",
        "http://127.1/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
    ],
)
def test_every_notation_of_an_address_is_that_address(text: str):
    assert parse_url(text).host == "127.0.0.1"


@given(st.text(max_size=60))
def test_no_text_breaks_it_and_what_is_read_is_read_the_same_again(text: str):
    for address in (text, f"http://{text}", f"https://example.com/{text}"):
        try:
            url = parse_url(address)
        except BadUrl:
            continue
        assert parse_url(url.href) == url
        assert url.scheme in ("http", "https")
        assert not any(char.isspace() for char in url.href)
        assert canonical_url(canonical_url(address)) == canonical_url(address)


@pytest.mark.skipif(not ODD.is_file(), reason="no odd addresses (set ASSAY_DATA)")
def test_the_web_platforms_own_odd_addresses():
    rows = json.loads(ODD.read_text())
    plain = [
        row
        for row in rows
        if isinstance(row, dict) and not row.get("failure") and row["protocol"] in ("http:", "https:")
    ]
    wrong = []
    for row in plain:
        if row["username"] or row["password"] or row["hostname"] == ".":
            continue
        try:
            url = parse_url(row["input"], row["base"] or "https://base.example/")
        except BadUrl as error:
            wrong.append((row["input"], str(error)))
            continue
        if url.host != row["hostname"].strip("[]").rstrip("."):
            wrong.append((row["input"], url.host))
    assert len(plain) > 100
    assert wrong == []


# DOIs, as documents state them and as they are in addresses.

DOIS = [
    ("10.1038/s41586-020-2649-2", "", "10.1038/s41586-020-2649-2"),
    ("https://doi.org/10.1145/3397271", "", "10.1145/3397271"),
    ("doi:10.1000/182.", "", "10.1000/182"),
    ("", "https://doi.org/10.1038/s41586-020-2649-2", "10.1038/s41586-020-2649-2"),
    (
        "", "https://dx.doi.org/10.1002/(SICI)1097-4571(199806)49:8%3C693::AID-ASI4%3E3.0.CO;2-O",
        "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
    ),
    ("", "https://onlinelibrary.wiley.com/doi/full/10.1002/abc.123", "10.1002/abc.123"),
    ("", "https://journals.example.org/doi/10.1371/journal.pone.0000217/full", "10.1371/journal.pone.0000217"),
    ("", "https://www.biorxiv.org/content/10.1101/2020.01.01.123456v1.full.pdf", "10.1101/2020.01.01.123456v1"),
    ("", "https://e.org/article?id=1&doi=10.1234/abc", "10.1234/abc"),
    ("", "https://e.org/version/10.2/notes", ""),
    ("10.1234/pdf", "", "10.1234/pdf"),
    ("(10.1234/abc).", "", "10.1234/abc"),
    ("see [10.1234/(a)b(c)]", "", "10.1234/(a)b(c)"),
    ("", "file:///tmp/10.1234/abc", ""),
    ("", "javascript:10.1234/abc", ""),
    ("none", "https://[bad", ""),
]  # fmt: skip


@pytest.mark.parametrize(("stated", "url", "doi"), DOIS)
def test_dois(stated: str, url: str, doi: str) -> None:
    assert find_doi(stated, url) == doi


@given(st.text(max_size=60) | st.text(st.sampled_from("10.123/abc\\{}%$ \n<>?doi=&#:")), st.text(max_size=40))
def test_a_doi_holds_nothing_that_acts_anywhere(stated: str, tail: str) -> None:
    for doi in (
        find_doi(stated, ""),
        find_doi("", f"https://doi.org/10.1234/{stated}"),
        find_doi("10.1234/" + tail, ""),
    ):
        assert re.fullmatch(r"(10\.[0-9.]+/[-._;()/:A-Za-z0-9<>\[\]+]*)?", doi)


@pytest.mark.parametrize(
    ("metadata", "url", "doi"),
    [
        ({"doi": "https://doi.org/10.1016/S0140-6736(97)11096-0"}, "", "10.1016/S0140-6736(97)11096-0"),
        ({"doi": "doi:10.1/x"}, "", ""),
        ({}, "https://doi.org/10.1000/182", "10.1000/182"),
        ({}, "https://example.org/10.1000/182", "10.1000/182"),
        ({"citation_doi": "10.1000/182"}, "https://example.org/a", "10.1000/182"),
        ({"dc.identifier.DOI": "10.1000/182"}, "", "10.1000/182"),
        ({"doi": "none", "DOI": "10.1000/182"}, "", "10.1000/182"),
        ({"ohdoi": "10.1000/182"}, "", ""),
    ],
)
def test_the_doi_of_a_document(metadata: dict[str, str], url: str, doi: str):
    assert doi_of(metadata, url) == doi
