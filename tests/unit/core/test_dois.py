"""DOIs, as documents state them and as they are in addresses."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.web_addresses import doi_of, find_doi

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
