"""A report as typed blocks: what they are, who they are by, and that their texts are the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.core.blocks import Block, parse_blocks, read_blocks
from assay.core.phrases import missing_heading, nothing_found_text
from assay.core.translation import record_statement
from assay.locale import use_locale

REPORT = """
Seven metres. [S1.1]

## Tide ##

1. It turns
   twice.
   > So they say.

| a | b |
|---|---|
| c | d |

```
# no heading
```
[link]: https://example.org
"""
PIECES = st.sampled_from(
    [
        *(
            "# One\n",
            "## Two ##\n",
            "Title\n===\n",
            "text",
            "Nothing about this was found.",
            "\n",
            "\n\n",
            "\r\n",
            "\r",
        ),
        *("- ", "1. ", "> ", "    ", "```\n", "~~~\n", "<div>\n", "<!-- ", " -->", "***\n", "\x00", "\u2028", "\t"),
        *("| a | b |\n", "|---|---|\n", "| c [S1.1] | d |\n", "[x]: /url\n", "*It turns.*\n", "---\n"),
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text())


def inside(blocks: tuple[Block, ...]) -> Iterator[Block]:
    for block in blocks:
        yield block
        yield from inside(block.children)


def test_blocks_are_those_of_commonmark_with_tables() -> None:
    blocks = parse_blocks(REPORT)
    kinds = ["space", "paragraph", "space", "heading", "space", "list", "table", "space", "code", "space"]
    assert [block.kind for block in blocks] == kinds
    heading, items, table = blocks[3], blocks[5], blocks[6]
    assert (heading.level, heading.content, heading.text) == (2, "Tide", "## Tide ##\n")
    (item,) = items.children
    assert items.number == 1
    assert [(block.kind, block.content) for block in item.leaves()] == [
        ("paragraph", "It turns\ntwice."),
        ("paragraph", "So they say."),
    ]
    assert [(row.kind, row.line) for row in table.children] == [("head row", "| a | b |"), ("row", "| c | d |")]
    assert [cell.content for row in table.children for cell in row.cells] == ["a", "b", "c", "d"]
    assert blocks[8].content == "# no heading\n"
    assert blocks[-1].text == "[link]: https://example.org\n"


@given(TEXTS)
def test_each_sign_of_what_is_read_has_its_place_in_the_text(text: str) -> None:
    for block in (leaf for each in parse_blocks(text) for leaf in each.prose_blocks()):
        assert len(block.points) == len(block.content)
        assert list(block.points) == sorted(block.points)
        assert not block.points or 0 <= block.points[0] <= block.points[-1] <= len(text)


def test_a_cell_is_found_in_its_row_and_an_escaped_bar_has_the_place_of_the_bar() -> None:
    text = "> | a | a |\n> |:--|--:|\n> | b \\| c | b |\n"
    (table,) = parse_blocks(text)[0].children
    cells = [cell for row in table.children for cell in row.cells]
    assert [(cell.content, cell.align) for cell in cells] == [
        ("a", "left"),
        ("a", "right"),
        ("b | c", "left"),
        ("b", "right"),
    ]
    for cell in cells:
        assert "".join(text[at] for at in cell.points) == cell.content
    assert [cell.start for cell in cells] == [4, 8, text.index("b"), text.rindex("b")]


def test_what_readers_see_has_no_html_and_links_only_to_the_web() -> None:
    text = "<div>\n# One\n</div>\n\n[a]: https://example.org\n\n[b]: mailto:a@example.org\n"
    links: dict[str, Any] = {}
    assert [block.content for block in parse_blocks(text, links=links) if block.kind != "space"] == [
        "<div>", "One", "</div>", "[b]: mailto:a@example.org",
    ]  # fmt: skip
    assert links["A"]["href"] == "https://example.org"
    assert parse_blocks(text) == parse_blocks(text, links={})
    assert [block.kind for block in parse_blocks(text, html=True) if block.kind != "space"] == ["html"]


@given(TEXTS)
def test_a_text_is_its_blocks_sign_for_sign(text: str) -> None:
    blocks = parse_blocks(text)
    assert "".join(block.text for block in blocks) == text
    for block in inside(blocks):
        assert text[block.start : block.end] == block.text
        ends = [block.start, *(end for child in block.children for end in (child.start, child.end)), block.end]
        assert ends == sorted(ends)


def test_what_code_stated_is_known_by_its_origin_and_a_sentence_of_the_writers_is_not() -> None:
    text = "*Stand: heute.*\n\nEs steigt. [S1.1]\n\n> Hierzu wurde nichts gefunden.\n\n## Was nicht gefunden wurde\n"
    with use_locale("de"):
        record_statement("Stand: heute.", "date")
        assert {nothing_found_text(), missing_heading()} == {
            "Hierzu wurde nichts gefunden.",
            "Was nicht gefunden wurde",
        }
        found = [leaf.origin for block in read_blocks(text) for leaf in block.leaves() if leaf.kind != "space"]
        assert found == ["engine:date", "writer", "engine:notice", "engine:missing"]
    with use_locale("de"):
        assert {block.origin for block in inside(read_blocks(text))} == {"writer"}  # another run stated none of it
