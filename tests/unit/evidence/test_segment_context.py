"""What passages are about and what leads to them; records and navigation: by example and for every text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import PassageSpan, content_spans
from assay.evidence.segment import segment


def spans(text: str, kind: str = "") -> list[PassageSpan]:
    return [span for span in segment(text, "markdown") if not kind or span.kind == kind]


def navigation(text: str) -> list[str]:
    return [span.text for span in spans(text, "navigation")]


# navigation


@pytest.mark.parametrize(
    "entries",
    [
        ["- [One](one.md)", "- [Two](two.md)", "- [Three](three.md)"],
        ["1. [Eins](a)", "2. [Zwei](b)", "3. [Drei](c)"],
        ["- :doc:`one`", "- :doc:`two`", "- :ref:`three <x>`"],
        ["- [第一章](a)", "- [第二章](b)", "- [第三章](c)"],
        ["[Back](#top)"],
        ["[Previous](a.html) | [Next](b.html)"],
        ["[Modules](m.html) | [Questions](https://wiki.example/faq) | [Map](map.html)"],
        ["[Site](https://a.example) > [Manual](https://a.example/m) > [Version 2](../index.html)"],
        ["[![build](https://ci.example/b.svg)](https://ci.example)"],
        ["Home » Manual » Installing"],
        ["Introduction ........ 1\nInstalling . . . . . 12\nGlossary …… xii"],
        [".. toctree::\n   :maxdepth: 2\n\n   one\n   two"],
    ],
)
def test_what_leads_elsewhere_is_navigation(entries: list[str]) -> None:
    text = "# Manual\n\nThis is the manual.\n\n" + "\n".join(entries) + "\n\nThe text goes on here.\n"
    found = spans(text)
    assert {
        span.kind for span in found if span.text not in ("Manual", "This is the manual.", "The text goes on here.")
    } == {"navigation"}
    assert [span.text for span in content_spans(found)] == ["Manual", "This is the manual.", "The text goes on here."]


@pytest.mark.parametrize(
    "text",
    [
        "- [Debian](https://debian.example) was founded in 1993.\n- [Arch](x) in 2002.\n- [Fedora](y) in 2003.",
        "- Goole\n- Hull\n- Whitby",
        "See the [manual](m.html).",
        "Open File » Save » As and wait. Then close it.",
        "He paused .... and then went on to tell what had happened in the harbour.",
        "[Home page](https://a.example)",
        "These have it:\n\n- [One](one.md)\n- [Two](two.md)\n- [Three](three.md)",
        "- [One](https://one.example)\n- [Two](https://two.example)\n- [Three](https://three.example)",
    ],
)
def test_what_says_something_is_none(text: str) -> None:
    assert navigation(f"# T\n\nProse.\n\n{text}\n") == []


def test_a_list_of_the_documents_headings_is_its_contents() -> None:
    text = "# Manual\n\nContents\n\n- 1. Installing\n- 2. First steps\n- 3. Glossary\n\n## Installing\n\nA.\n\n"
    text += "## First steps\n\n- Start it\n- Stop it\n- Look\n\n## Glossary\n\nB.\n"
    assert navigation(text) == ["Contents", "1. Installing", "2. First steps", "3. Glossary"]


def test_a_page_of_nothing_but_navigation_is_shown_all_the_same() -> None:
    found = spans("- [One](a)\n- [Two](b)\n- [Three](c)\n")
    assert content_spans(found) == found


# records


def test_records_are_passages_of_their_own() -> None:
    text = "Ruritania is a country.\n\nGeography\nGeography - Area (total): 1,234 sq km\n"
    text += "People - Languages spoken at home: Ruritanian\n  and German\nEconomy - GDP (per capita, 2020): 12,000\n"
    found = [(span.text, span.lead) for span in spans(text, "record")]
    assert found == [
        ("Geography - Area (total): 1,234 sq km", "Geography"),
        ("People - Languages spoken at home: Ruritanian\n  and German", "Geography"),
        ("Economy - GDP (per capita, 2020): 12,000", "Geography"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "He said: we shall see. And so it was.\nMore: of it.",
        "The result was clear: nobody came\nand the doors were shut before noon.",
        "One line: alone in prose",
        "See https://a.example/x and\nhttps://b.example/y for more.",
    ],
)
def test_prose_with_colons_is_no_record(text: str) -> None:
    assert spans(f"# T\n\nProse first.\n\n{text}\n", "record") == []


# labels and leads


def test_all_that_is_said_of_a_term_is_about_it() -> None:
    text = "# Words\n\nabort\n    Ends the process. It is at once. No file is closed. The shell sees 134.\n\n"
    text += "    More of it.\n\nProse.\n"
    found = [(span.text.partition(" ")[0].split()[0], span.label) for span in spans(text, "paragraph")]
    assert found == [("abort", ""), ("The", "abort"), ("More", "abort"), ("Prose.", "")]


@pytest.mark.parametrize("item", ["**Harbour dues**: ", "**Harbour dues:** ", "`Harbour dues` — ", "Harbour dues: "])
def test_a_long_item_is_about_what_it_names(item: str) -> None:
    text = f"# T\n\nProse.\n\n- {item}They are paid. They are high. They are old. Nobody likes them. They stay.\n"
    assert [span.label.rstrip(":") for span in spans(text, "item")] == ["", "Harbour dues"]


def test_what_stands_in_an_item_is_about_it_and_what_stands_below_the_list_is_not() -> None:
    text = "# T\n\n- open(file)\n  Opens it.\n\n  Returns a handle.\n\n  ```\n  open('x')\n  ```\n\n```\nother()\n```\n"
    found = {span.text.strip(): span.label for span in spans(text)}
    assert found["Returns a handle."] == found["open('x')"] == "open(file)"
    assert found["other()"] == ""


@pytest.mark.parametrize(
    "table",
    [
        "| Port | Depth |\n|---|---|\n| Goole | 7 m |\n| Hull | 9 m |",
        "+------+------+\n| Port | Depth |\n+======+======+\n| Goole | 7 m |\n+------+------+\n| Hull | 9 m |\n+--+--+",
        "=====  =====\nPort   Depth\n=====  =====\nGoole  7 m\nHull   9 m\n=====  =====",
    ],
)
def test_rows_have_the_heads_of_their_table(table: str) -> None:
    head, *below = spans(f"# T\n\n{table}\n\n| a | b |\n| c | d |\n", "row")
    assert "Port" in head.text
    assert head.label == ""
    assert [span.label for span in below] == [" ".join(head.text.split())] * 2 + ([""] * 2)


def test_code_and_lists_have_the_sentence_before_them() -> None:
    text = "# T\n\nIt is quick. Install it so::\n\n    $ pip install x  # now;\n\n"
    text += "The options are:\n\n- `-a`\n- `-b`\n\nDone.\n\n- c\n"
    found = {span.text.strip(): span.lead for span in spans(text)}
    assert found["$ pip install x  # now;"] == "Install it so:"
    assert found["`-a`"] == found["`-b`"] == "The options are:"
    assert found["c"] == ""


MARKS = "# H|H|- [a](b)|- H|Key (x): v|K: v|t|    d. e. f. g.|: d|```||+--+--+|+==+==+|Prose: it ends here:|a ..... 3"
LINES = st.sampled_from(
    [*MARKS.split("|"), "| a | b |", "|---|---|", "A » B » C", "==  ==", ".. toctree::", "  x", "- **t**: d"]
)


@given(st.lists(LINES, max_size=30))
def test_nothing_is_lost_and_context_comes_from_the_document(lines: list[str]) -> None:
    text = "\n".join(lines)
    data = text.encode()
    found = spans(text)
    ends = [0, *(span.end for span in found)]
    assert all(end <= span.start < span.end for end, span in zip(ends, found, strict=False))
    assert all(data[span.start : span.end].decode() == span.text for span in found)
    flat = " ".join(text.split()).replace("::", ":")
    assert all(part.replace("::", ":") in flat for span in found for part in (span.label, span.lead))
    assert all(not (span.label or span.lead) for span in found if span.kind in ("heading", "navigation", "field"))
