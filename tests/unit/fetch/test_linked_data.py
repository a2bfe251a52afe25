"""What a page says of itself: JSON-LD, meta tags, and pages which hide their text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.fetch.html import HtmlExtractor
from assay.fetch.html_metadata import LinkedData, read_linked

STORY = {
    "@type": "NewsArticle",
    "author": [{"@type": "Person", "name": "Ada Byron"}, {"name": "C. Babbage"}],
    "datePublished": "2023-05-06T10:00:00+02:00",
    "dateModified": "2023-05-07",
}
READ = LinkedData(author="Ada Byron; C. Babbage", published="2023-05-06", modified="2023-05-07", type="newsarticle")


@pytest.mark.parametrize(
    "data",
    [
        STORY,
        [STORY],
        {"@graph": [{"@type": "WebSite", "author": "x"}, STORY]},
        {**STORY, "@type": ["NewsArticle", "x"]},
    ],
)
def test_an_article_wherever_it_stands(data: object):
    assert read_linked(["no json", json.dumps(data)]) == READ


def test_what_is_no_article_says_nothing_of_the_page():
    assert (
        read_linked([json.dumps({"@type": "Organization", "author": "x", "datePublished": "2023-05-06"})])
        == LinkedData()
    )


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["@type", "@graph", "author", "name", "datePublished"]), inner, max_size=4
            )
        ),
        max_leaves=20,
    )
)
def test_anything_is_read(data: object):
    assert isinstance(read_linked([json.dumps(data)]), LinkedData)


def test_deep_nesting_ends():
    assert read_linked(["[" * 100_000, '{"@graph":' * 50_000]) == LinkedData()


def page(head: str, body: str = "<main><h1>Tides</h1><p>The tide rose by 3 m in that year.</p></main>") -> bytes:
    return f"<!doctype html><html lang=en><head><title>Tides</title>{head}</head><body>{body}</body></html>".encode()


def test_tags_come_before_linked_data_and_fill_what_they_leave_open():
    script = f'<script type="application/ld+json">{json.dumps(STORY)}</script>'
    (found,) = HtmlExtractor().extract(page(script + '<meta name="author" content="E. Editor">'), "a.html")
    assert (found.author, found.published) == ("E. Editor", "2023-05-06")
    assert found.metadata == {"type": "newsarticle", "modified": "2023-05-07"}


def test_a_paper_says_what_it_is():
    tags = {
        "citation_doi": "10.1000/x",
        "citation_journal_title": "Tides Quarterly",
        "citation_publication_date": "2021/03/04",
        "citation_author": "Byron, Ada",
    }
    (found,) = HtmlExtractor().extract(page("".join(f'<meta name="{k}" content="{v}">' for k, v in tags.items())), "a")
    assert found.metadata == {"doi": "10.1000/x", "journal": "Tides Quarterly"}
    assert (found.author, found.published) == ("Byron, Ada", "2021-03-04")


def test_a_page_which_hides_its_text_until_a_script_has_run_is_read():
    text = "".join(f"<p>The tide of the old harbor rose by {number} metres that spring.</p>" for number in range(60))
    hidden = f'<div style="visibility: hidden"><nav>Menu</nav><article><h1>Tides</h1>{text}</article></div>'
    (found,) = HtmlExtractor().extract(page("", hidden), "a.html")
    assert "rose by 59 metres" in found.text
