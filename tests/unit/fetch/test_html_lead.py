"""The lead of an article is put back where the finder of articles dropped it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.fetch.html import HtmlExtractor
from assay.fetch.html_metadata import WITHIN, add_missing_lead

LEAD = "The council of Brest has voted for a new quay in the north of its harbor, which will cost twelve million euros."
FIRST = "It was late on Monday when the last of the councillors had spoken and hands could be raised in the old hall."
NEXT = "The works begin in March and end in June of the year after, when the ferries come back to the northern side."


def page(*blocks: str) -> str:
    return "\n\n".join(blocks) + "\n"


def test_a_lead_below_the_headline_comes_first() -> None:
    full = page("Home", "# A new quay", "By Ada Byron", LEAD, FIRST, NEXT)
    assert add_missing_lead(page(FIRST, NEXT), full, "") == page(LEAD, FIRST, NEXT)


def test_it_comes_after_the_headline_of_the_article() -> None:
    full = page("# A new quay", LEAD, FIRST)
    assert add_missing_lead(page("# A new quay", FIRST), full, "") == page("# A new quay", LEAD, FIRST)


def test_a_lead_the_page_describes_itself_with_needs_no_headline_and_no_full_stop() -> None:
    short = "Brest builds a quay for twelve million euros"
    full = page("Menu", short, FIRST)
    assert add_missing_lead(page(FIRST), full, "BREST builds a quay for twelve million euros - The Paper") == page(
        short, FIRST
    )
    assert add_missing_lead(page(FIRST), full, "") == page(FIRST)


def test_what_the_article_has_is_not_said_twice() -> None:
    full = page("# A new quay", LEAD, FIRST)
    article = page(LEAD.replace("new quay", "**new** quay"), FIRST)
    assert add_missing_lead(article, full, LEAD) == article


def test_bylines_lists_rows_and_what_comes_before_the_headline_are_no_lead() -> None:
    other = "Yesterday's other story, which has nothing to do with this one, was read by more people than this one was."
    item = f"- {other}"
    full = page(other, "# A new quay", "By Ada Byron, 5 May", "Share this", item, f"| {other} |", FIRST)
    assert add_missing_lead(page(FIRST), full, "") == page(FIRST)


def test_an_article_that_is_not_on_the_page_stays_as_it_is() -> None:
    assert add_missing_lead(page(FIRST), page("# A", LEAD, NEXT), LEAD) == page(FIRST)
    beyond = page("# A", LEAD, *["x"] * WITHIN, FIRST)
    assert add_missing_lead(page(FIRST), beyond, LEAD) == page(FIRST)


@given(st.lists(st.sampled_from([LEAD, FIRST, NEXT, "# A", "By", "- an item", "```\ncode\n```", "…"]), max_size=9))
def test_the_article_itself_is_never_changed(blocks: list[str]) -> None:
    for article in (page(FIRST, NEXT), page("# A", FIRST)):
        made = add_missing_lead(article, page(*blocks), LEAD)
        left = made.splitlines()
        for line in article.splitlines():
            assert line in left
            left = left[left.index(line) + 1 :]
        assert len(made) <= len(article) + len(page(*blocks)) + 4


STORY = "".join(f"<p>Paragraph {n} of the story tells what the mayor said about bridges.</p>" for n in range(12))


@pytest.mark.parametrize("around", ["article", "main", "div"])
def test_the_lead_of_a_page_is_read(around: str) -> None:
    found = HtmlExtractor().extract(
        f"""<html><head><title>A new quay</title><meta name="description" content="{LEAD}"></head><body>
        <nav><a href="/">Home</a></nav><{around}><header><h1>A new quay</h1><p class="teaser">{LEAD}</p></header>
        <div class="article-body">{STORY}</div></{around}><footer>Imprint</footer></body></html>""".encode(),
        "quay.html",
    )
    text = next(iter(found)).text
    assert text.count(LEAD) == 1
    assert text.index(LEAD) < text.index("Paragraph 0")
    assert "Imprint" not in text
