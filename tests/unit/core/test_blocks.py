"""A report as typed blocks: what they are, who they are by, and that their texts are the report."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from assay.core.blocks import Block, parse, read_blocks, render
from assay.core.phrases import missing, nothing
from assay.core.translation import state
from assay.locale import speaking

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
    blocks = parse(REPORT)
    kinds = ["space", "paragraph", "space", "heading", "space", "list", "table", "space", "code", "space"]
    assert [block.kind for block in blocks] == kinds
    heading, items, table = blocks[3], blocks[5], blocks[6]
    assert (heading.level, heading.content, heading.text) == (2, "Tide", "## Tide ##\n")
    (item,) = items.children
    assert items.ordered
    assert [(block.kind, block.content) for block in item.leaves()] == [
        ("paragraph", "It turns\ntwice."),
        ("paragraph", "So they say."),
    ]
    assert [(row.kind, row.line) for row in table.children] == [("head row", "| a | b |"), ("row", "| c | d |")]
    assert blocks[-1].text == "[link]: https://example.org\n"


@given(TEXTS)
def test_a_text_is_its_blocks_sign_for_sign(text: str) -> None:
    blocks = parse(text)
    assert render(blocks) == text
    for block in inside(blocks):
        assert text[block.start : block.end] == block.text
        ends = [block.start, *(end for child in block.children for end in (child.start, child.end)), block.end]
        assert ends == sorted(ends)


def test_what_code_stated_is_known_by_its_origin_and_a_sentence_of_the_writers_is_not() -> None:
    text = "*Stand: heute.*\n\nEs steigt. [S1.1]\n\n> Hierzu wurde nichts gefunden.\n\n## Was nicht gefunden wurde\n"
    with speaking("de"):
        state("Stand: heute.", "date")
        assert {nothing(), missing()} == {"Hierzu wurde nichts gefunden.", "Was nicht gefunden wurde"}
        found = [leaf.origin for block in read_blocks(text) for leaf in block.leaves() if leaf.kind != "space"]
        assert found == ["engine:date", "writer", "engine:notice", "engine:missing"]
    with speaking("de"):
        assert {block.origin for block in inside(read_blocks(text))} == {"writer"}  # another run stated none of it
