"""What kind of source a page is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import SOURCE_KINDS, SourceKind
from assay.core.web_addresses import UNKNOWN, assess_source


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.rfc-editor.org/rfc/rfc9110", "primary"),
        ("https://www.legislation.gov.uk/ukpga/2018/12", "primary"),
        ("https://www.ons.gov.uk/economy", "official"),
        ("https://www.bfs.admin.ch/bfs", "official"),
        ("https://www.mhlw.go.jp/english", "official"),
        ("https://nasa.gov/", "official"),
        ("https://arxiv.org/abs/1706.03762", "scholarly"),
        ("https://doi.org/10.1000/182", "scholarly"),
        ("https://cs.stanford.edu/people", "scholarly"),
        ("https://www.ox.ac.uk/", "scholarly"),
        ("https://en.wikipedia.org/wiki/Tide", "reference"),
        ("https://old.reddit.com/r/tides", "forum"),
        ("https://forum.example.org/t/1", "forum"),
        ("https://www.reuters.com/world", "news"),
        ("https://example.org/", "unknown"),
        ("file:///home/a/b.pdf", "unknown"),
        ("no address", "unknown"),
    ],
)
def test_by_its_address(url: str, kind: SourceKind):
    found = assess_source(url, {})
    assert found.kind == kind
    assert bool(found.reason) == (kind != "unknown")


@pytest.mark.parametrize(
    "url",
    [
        "https://nasa.gov.example.org/",
        "https://notarxiv.org/",
        "https://gov.example/",
        "https://reddit.community-x.net/",
    ],
)
def test_a_host_which_only_looks_like_one(url: str):
    assert assess_source(url, {}) == UNKNOWN


@pytest.mark.parametrize(
    ("metadata", "kind"),
    [
        ({"doi": "10.1234/abc"}, "scholarly"),
        ({"journal": "Tides Quarterly"}, "scholarly"),
        ({"type": "newsarticle"}, "news"),
        ({"type": "article", "section": "World"}, "news"),
        ({"type": "article"}, "unknown"),
        ({"type": "website"}, "unknown"),
    ],
)
def test_by_what_it_says_of_itself(metadata: dict[str, str], kind: SourceKind):
    assert assess_source("https://example.org/a", metadata).kind == kind


def test_what_a_page_says_of_itself_does_not_win_over_where_it_is():
    assert assess_source("https://www.reddit.com/r/a", {"doi": "10.1234/abc"}).kind == "forum"


def test_the_word_of_the_user_wins():
    found = assess_source("https://wiki.reddit.com/a", {}, trusted=("reddit.com",))
    assert (found.kind, found.reason) == ("primary", "reddit.com is in sources.allow")


@given(
    st.text(max_size=80), st.dictionaries(st.sampled_from(["doi", "type", "journal", "section"]), st.text(max_size=40))
)
def test_anything_is_of_some_kind_and_no_page_makes_itself_official(path: str, metadata: dict[str, str]):
    assert assess_source(path, metadata).kind in SOURCE_KINDS
    assert assess_source(f"https://example.org/{path}", metadata).kind not in ("official", "primary")
