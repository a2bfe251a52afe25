"""Numbers of list items, which a browser shows and a page does not hold as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.evidence.segment import segment
from assay.fetch.html import HtmlExtractor
from assay.fetch.list_numbers import list_number


def extract(page: str) -> str:
    (found,) = HtmlExtractor().extract(page.encode(), "page.html")
    return found.text


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("<ol start=5><li>Press.<li value=9><p>Open it.</p><p>Wait.</p><li>Go.</ol>", "5. Press.|9. Open it.|10. Go."),
        ("<ol reversed><li>Three.<li>Two.<li>One.</ol>", "3. Three.|2. Two.|1. One."),
        ("<ol type=A start=27><li><b>Bold</b> start.</ol>", "AA. Bold start."),
        ("<ol class='lowerroman simple'><li>One.<li>Two.</ol>", "i. One.|ii. Two."),
        ("<ol start=-1><li>Minus.<li value=x>Zero.</ol>", "-1. Minus.|0. Zero."),
        ("<ol style='list-style-type: none'><li>Bare.</ol><ul><li value=3>Bullet.</ul>", "Bare.|Bullet."),
        ("<ol><li><h2>A result</h2>Text.</ol>", ""),
        ("<ol><li><ul><li>Inner.</ul><li>Second.</ol>", "Inner.|2. Second."),
    ],
)
def test_items_have_the_numbers_that_a_browser_shows(page: str, lines: str):
    text = extract(f"<body><p>Before.</p>{page}")
    assert "|".join(span.text for span in segment(text, "markdown") if span.kind == "item") == lines


def test_the_items_of_an_article_have_one_number():
    story = "".join(
        f"<p>In {year} the pilots sounded the river and found seven metres.</p>" for year in range(1900, 1920)
    )
    page = f"""<html><head><script src="https://a.example/x.js"></script></head><body><nav>Menu</nav><article>
    <h1>River</h1>{story}<ol start="5"><li>Ring the bell of the lock.</li>
    <li><p>Open the <b>gate</b>.</p></li></ol>{story}</article>"""
    assert "\n- 5. Ring the bell of the lock.\n- 6. Open the **gate**.\n" in extract(page)


@given(st.integers(1, 3_999))
def test_roman_numbers_add_up(number: int):
    values = {"m": 1000, "d": 500, "c": 100, "l": 50, "x": 10, "v": 5, "i": 1}
    found = [values[letter] for letter in list_number(number, "i")]
    total = sum(-value if value < max(found[at:]) else value for at, value in enumerate(found))
    assert total == number
    assert list_number(number, "I") == list_number(number, "i").upper()
