"""Markdown by its headings: sections of reports, and templates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.blocks import close_markup, heading_line, leaf_headings, outline, read_template, template_text
from assay.core.brief import Section
from assay.core.errors import UsageError

REPORT = """Seven metres. [S1.1]

## Tide

It turns
twice.

Setext heading
--------------
- item

  ## not one: it is inside the item

```
# nor this
```
"""
LINES = st.sampled_from(
    [
        "# One",
        "## Two ##",
        "text",
        "",
        "```",
        "~~~~",
        "- item",
        "> # quoted",
        "<!-- open",
        "Title",
        "===",
        "    # code",
        "<pre>",
    ]
)
TEXTS = st.lists(LINES, max_size=12).map("\n".join)


def test_headings_are_found_as_commonmark_has_them() -> None:
    parts = outline(REPORT)
    assert [(part.level, part.title) for part in parts] == [(2, "Tide"), (2, "Setext heading")]
    assert REPORT[: parts[0].start] == "Seven metres. [S1.1]\n\n"
    assert REPORT[parts[0].body : parts[0].end].strip() == "It turns\ntwice."
    assert REPORT[parts[1].body : parts[1].end].startswith("- item")


@given(st.one_of(TEXTS, st.text()))
def test_parts_follow_one_another_to_the_end(text: str) -> None:
    parts = outline(text)
    for part in parts:
        assert 0 <= part.start < part.body <= part.end <= len(text)
        assert text[part.start : part.body].strip()
    assert [part.start for part in parts[1:]] == [part.end for part in parts[:-1]]
    assert not parts or parts[-1].end == len(text)


@given(st.one_of(TEXTS, st.text(alphabet="#->*+ \t\r\n=_.1)[]:'\"a", max_size=40)))
def test_after_a_closed_text_a_heading_is_one(text: str) -> None:
    assert outline(f"{close_markup(text)}\n\n## After")[-1].title == "After"


def test_what_is_closed_already_stays() -> None:
    assert close_markup("```\ncode\n```") == "```\ncode\n```"
    assert close_markup("````\n```\ncode") == "````\n```\ncode\n````"


def test_a_template_has_headings_and_hints() -> None:
    template = read_template("# Report\n\n## Risks\nWhat may go wrong,\nand how.\n\n## Costs\n")
    assert template == (
        Section(level=1, title="Report"),
        Section(level=2, title="Risks", hint="What may go wrong,\nand how."),
        Section(level=2, title="Costs"),
    )
    assert [heading_line(each) for each in template] == ["# Report", "## Risks", "## Costs"]
    assert leaf_headings(template) == {1, 2}
    assert read_template(template_text(template)) == template


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("only text", "no headings"),
        ("- # in a list", "no headings"),
        ("Write about:\n\n## Risks", "above its first heading"),
        ("## Risks\n\n##\n", "is empty"),
        (f"## {'long ' * 50}", "longer than 200"),
        ("## x\n" * 61, "61 headings; at most 60"),
    ],
)
def test_what_is_no_template_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_template(text)
