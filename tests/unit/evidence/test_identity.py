"""Which documents are one page under several addresses."""

from __future__ import annotations

import logs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import FINAL_URL, SNIPPET, Source
from assay.phases.source_comparison import CANONICAL, group_pages, is_same_site


def source(number: int, url: str, document: str = "", **text: str) -> Source:
    made = logs.source(f"S{number}", document or f"d{number}", url=url)
    return msgspec.structs.replace(made, metadata=text)


def hashes(*sources: Source) -> tuple[str, ...]:
    return tuple(sorted(each.document_sha256 for each in sources))


STORY = "https://www.paper.example/story"


@pytest.mark.parametrize(
    "other",
    [
        source(2, "https://amp.paper.example/story", **{CANONICAL: STORY}),
        source(2, "https://paper.example/story?print=1", **{CANONICAL: STORY + "?utm_source=print"}),
        source(2, "https://short.example/x", **{FINAL_URL: STORY}),
        source(2, "http://www.paper.example/story#part"),
    ],
)
def test_one_page(other: Source) -> None:
    one = source(1, STORY)
    assert group_pages([one, other]) == group_pages([other, one]) == (hashes(one, other),)


@pytest.mark.parametrize(
    "other",
    [
        source(2, "https://evil.example/story", **{CANONICAL: STORY}),
        source(2, "https://b.github.example/story", **{CANONICAL: "https://a.github.example/story"}),
        source(2, "https://www.paper.example/other"),
        source(2, "https://www.paper.example/story?id=2"),
        source(2, "https://www.paper.example/other", **{CANONICAL: "not an address"}),
    ],
)
def test_other_pages(other: Source) -> None:
    named = source(3, "https://a.github.example/story")
    assert group_pages([source(1, STORY), other, named]) == ()


def test_what_two_pages_share_with_a_third_is_one_page() -> None:
    found = [source(1, "https://p.example/a", document="a"), source(2, "https://p.example/b", document="b")]
    both = [source(3, "https://p.example/a", document="c"), source(4, "https://p.example/b", document="c")]
    assert group_pages([*found, *both]) == (hashes(found[0], found[1], both[0]),)


def test_what_a_search_said_of_a_page_is_no_form_of_it() -> None:
    snippet = msgspec.structs.replace(source(2, STORY), media_type=SNIPPET)
    assert group_pages([source(1, STORY), snippet, source(3, ""), source(4, "")]) == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://www.bbc.co.uk/a", "https://m.bbc.co.uk/b", True),
        ("https://news.bbc.co.uk/a", "https://bbc.co.uk/b", True),
        ("https://a.bbc.co.uk/a", "https://b.bbc.co.uk/b", False),
        ("https://amp.example/a", "https://m.example/a", False),
        ("https://notbbc.co.uk/a", "https://bbc.co.uk/b", False),
        ("javascript:alert(1)", "https://bbc.co.uk/b", False),
    ],
)
def test_sites(one: str, other: str, same: bool) -> None:
    assert is_same_site(one, other) is is_same_site(other, one) is same


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("vwxyz")), max_size=12))
def test_groups_are_disjoint_sorted_and_whatever_the_order(met: list[tuple[str, str]]) -> None:
    sources = [source(at, f"https://p.example/{path}", document=text) for at, (text, path) in enumerate(met, 1)]
    found = group_pages(sources)
    assert found == group_pages(sources[::-1]) == tuple(sorted(tuple(sorted(group)) for group in found))
    names = [name for group in found for name in group]
    assert len(names) == len(set(names))
    for one, first in met:
        for other, second in met:
            if first == second and one != other:
                assert any(set(hashes(logs.source("S1", one), logs.source("S1", other))) <= set(g) for g in found)
