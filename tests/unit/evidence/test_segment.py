"""The segmenter: rules by example, and what holds for every text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work import grows_in_step

from assay.core import sources
from assay.core.sources import PassageSpan, Syntax
from assay.evidence.segment import SEGMENTER, segment

LIMIT = 500

PEP = """PEP: 6
Title: Bug Fix Releases
Author: Aahz <aahz@pythoncraft.com>,
        Anthony Baxter <anthony@interlink.com.au>
Status: Superseded

Abstract
========

Python has had a single fork of development: it never branched.  This PEP describes how
to fork off maintenance releases.
"""


def texts(text: str, kind: str, syntax: Syntax = "markdown") -> list[str]:
    return [span.text for span in segment(text, syntax) if span.kind == kind]


def test_the_version_is_named() -> None:
    assert SEGMENTER == "segment/4"


def test_header_lines_are_fields_with_their_continuation() -> None:
    assert texts(PEP, "field") == [
        "PEP: 6",
        "Title: Bug Fix Releases",
        "Author: Aahz <aahz@pythoncraft.com>,\n        Anthony Baxter <anthony@interlink.com.au>",
        "Status: Superseded",
    ]


def test_prose_with_a_colon_is_no_field() -> None:
    assert len(texts(PEP, "paragraph")) == 1
    assert texts("He said: we shall see. And so it was: nothing.\nMore: of it.", "field") == []
    assert texts("# T\n\nA paragraph first.\n\nNote: this one\nOther: that one\n", "field") == []


def test_front_matter() -> None:
    text = "---\ntitle: Fees\nauthor: A,\n  B\ntags:\n- x\n- y\n---\n\n# Fees\n\nText.\n"
    assert texts(text, "field") == ["title: Fees", "author: A,\n  B", "tags:\n- x\n- y"]
    assert texts(text, "paragraph") == ["Text."]


def test_front_matter_which_never_ends_is_text() -> None:
    assert texts("---\nsome text that goes on\n", "paragraph") == ["some text that goes on"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("- Start Date: 2014-03-11", "Start Date: 2014-03-11"),
        ("* Status: **Implemented (Swift 2.2)**", "Status: **Implemented (Swift 2.2)**"),
        ("- **Status**: Final", "**Status**: Final"),
        ("- **Status:** Final", "**Status:** Final"),
    ],
)
def test_items_of_a_header_are_fields(line: str, found: str) -> None:
    assert texts(f"# Title\n\n{line}\n- RFC PR: [x](y)\n\n## Summary\n\nText.\n", "field")[0] == found


def test_items_behind_prose_are_items() -> None:
    text = "# T\n\nSome prose here.\n\n- Cost: 3\n- Size: 4\n  and more\n1. first\n2) second\n"
    assert texts(text, "field") == []
    assert texts(text, "item") == ["Cost: 3", "Size: 4\n  and more", "1. first", "2) second"]


def test_headings_nest() -> None:
    spans = segment("# A\n\none\n\n## B\n\ntwo\n\n# C\n\nthree\n", "markdown")
    assert [(span.text, span.heading) for span in spans if span.kind == "paragraph"] == [
        ("one", ("A",)),
        ("two", ("A", "B")),
        ("three", ("C",)),
    ]
    assert [(span.text, span.heading) for span in spans if span.kind == "heading"][1] == ("B", ("A",))


def test_underlined_headings_nest_by_first_appearance() -> None:
    spans = segment("====\nTop\n====\n\nA\n---\n\none\n\nB\n'''\n\ntwo\n\nC\n---\n\nthree\n", "markdown")
    paths = [span.heading for span in spans if span.kind == "paragraph"]
    assert paths == [("Top", "A"), ("Top", "A", "B"), ("Top", "C")]


def test_each_table_row_is_a_passage() -> None:
    text = "| a | b |\n|---|:--|\n| 1 | 2 |\n\n===  ===\nx    y\n===  ===\n1    2\n===  ===\n"
    assert texts(text, "row") == ["| a | b |", "| 1 | 2 |", "x    y", "1    2"]


def test_code_keeps_its_indent_and_has_no_fences() -> None:
    text = "Text:\n\n```python\n    def f():\n        return 1\n```\n\n.. code-block:: c\n\n   int x;\n\nMore.\n"
    assert texts(text, "code") == ["    def f():\n        return 1", "   int x;"]
    assert texts(text, "paragraph") == ["Text:", "More."]


def test_comments_are_invisible_unless_they_never_end() -> None:
    assert [span.text for span in segment("<!-- hide\nthis -->\nshown\n", "markdown")] == ["shown"]
    assert "kept" in segment("<!-- never ended\n\nkept\n", "markdown")[-1].text


def test_a_title_line_before_its_text() -> None:
    body = "Data is compiled from the list of top 10 causes of death published by the Centre. It covers everything."
    assert texts(f"20th century deaths\n{body}\n", "heading") == ["20th century deaths"]


def test_sentences_are_grouped_by_three_at_most() -> None:
    sentences = [f"This is sentence number {number} of the whole long paragraph here." for number in range(8)]
    found = texts(" ".join(sentences), "paragraph")
    assert " ".join(found) == " ".join(sentences)
    assert all(text.count(".") <= 3 for text in found)
    assert len(found) == 3


def test_code_is_cut_at_blank_lines() -> None:
    block = "\n".join(f"line {number} = call()" for number in range(20))
    found = texts(f"{block}\n\n{block}\n", "code", "code")
    assert found == [block, block]


def test_a_line_without_spaces_is_cut() -> None:
    found = segment("x" * 1203, "plain")
    assert [len(span.text) for span in found] == [500, 500, 203]


def test_joined_characters_stay_together() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    for offset in range(5):
        cut = segment("x" * (497 + offset) + family + "y" * 50, "plain")
        assert any(family in span.text for span in cut)


def test_crlf() -> None:
    text = "# T\r\n\r\nOne.\r\nTwo.\r\n\r\n- a\r\n- b\r\n"
    assert [span.text for span in segment(text, "markdown")] == ["T", "One.\r\nTwo.", "a", "b"]


LINES = st.sampled_from(
    [
        "# Head",
        "Title",
        "=====",
        "-----",
        "- item",
        "* Key: value",
        "1. one",
        "| a | b |",
        "|---|---|",
        "Key: value",
        "   more",
        "\tcode();",
        "---",
        "",
        "",
        "> quoted",
        "Prose here. And é more! Is it?",
        "你好。世界！",
        "é a",
        "👩\u200d👩\u200d👧 family",
        "مرحبا بالعالم؟ نعم.",
        ".. note:: x",
        "    x = 1;",
        "::",
        "- [a link](page.html)",
        "[one](#one)",
        "Chapter one ........ 3",
        "Area (total): 1,285 sq km",
        "term\n    its description. And more.",
        ": a definition",
        "- `--force`: overwrites. Always. At once. Without a question.",
        "Home » Manual » Head",
        "```\n[![badge](x)](y)\n```",
        "    - nested: item",
        "=== ===",
        "## ",
        "word " * 130,
        "字" * 700,
    ]
)
MARKUP = st.sampled_from(["```", "~~~~", "<!--", "-->", "<!-- a -->", ".. code-block:: c", "+++", "\u2028", "#" * 7])
SMALL = st.text(max_size=40)
ENDING = st.sampled_from(["\n", "\r\n", "\r"])


def joined(lines: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.lists(st.tuples(lines, ENDING), max_size=25)
    return pairs.map(lambda found: "".join(line + ending for line, ending in found))


ANY = joined(LINES | MARKUP | SMALL).map(lambda text: text.encode(errors="replace").decode())
VISIBLE = joined(LINES | SMALL.filter(lambda text: not set(text) & set("`~<>#.+-")))
SYNTAXES = st.sampled_from(["markdown", "plain", "code"])


def check(text: str, spans: tuple[PassageSpan, ...]) -> None:
    data = text.encode()
    end = 0
    for number, span in enumerate(spans):
        assert span.ordinal == number
        assert end <= span.start < span.end <= len(data)
        assert data[span.start : span.end].decode() == span.text
        assert span.text.strip()
        assert len(span.text) <= LIMIT
        end = span.end


@given(ANY, SYNTAXES)
def test_offsets_are_exact_ascending_and_apart(text: str, syntax: Syntax) -> None:
    spans = segment(text, syntax)
    check(text, spans)
    assert segment(text, syntax) == spans


@given(VISIBLE, SYNTAXES)
def test_every_word_is_in_a_passage(text: str, syntax: Syntax) -> None:
    text = text.encode(errors="replace").decode()
    data = bytearray(text.encode())
    for span in segment(text, syntax):
        data[span.start : span.end] = b" " * (span.end - span.start)
    assert [char for char in data.decode() if char.isalnum()] == []


@pytest.mark.parametrize(
    "text",
    [
        "<!--\n\n" * 10000,
        "# " * 50000,
        "a(" * 50000,
        "    " + "a(" * 50000,
        "# x" + " " * 50000 + "y",
        "A: " * 25000,
        "Key word " * 15000,
        "= " * 25000,
        "# a\n" * 12500,
        "- " * 25000,
        "`" * 75000,
        "|" * 50000,
        "A: b\n" * 15000,
        "(" * 75000,
        "\n" * 125000,
        "==  ==\n" * 12500,
        "- [a](b)\n" * 10000,
        "[a](" * 20000,
        "[![" * 25000,
        "- [![a](b) " * 7500,
        "[![a]" * 200 + "\n\n" + "[a [b] " * 7500,
        "a ..... 3\n" * 10000,
        "a . . . " * 10000,
        "A » B " * 12500,
        "# H\n\n- H\n- H\n- H\n\n" * 3750,
        "t\n  d\n    e\n" * 7500,
        "".join(f"{' ' * (depth % 150)}- t\n" for depth in range(2500)),
        "K (x): v\n  more\n" * 7500,
        "K (x): v\n\nshort\n" * 5000,
        "+--+\n| a |\n" * 7500,
        "**a**" * 15000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_text_takes_work_in_step_with_its_length(text: str) -> None:
    check(text, segment(text, "markdown"))
    assert grows_in_step(lambda part: segment(part, "markdown"), text[: len(text) // 4])


@pytest.mark.parametrize("syntax", sources.SYNTAXES)
@pytest.mark.parametrize("text", ["", " ", "\n", "\f"])
def test_a_text_without_words_has_no_passages(text: str, syntax: Syntax) -> None:
    assert segment(text, syntax) == ()
