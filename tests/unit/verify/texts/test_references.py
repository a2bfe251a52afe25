"""Lists of references as people and models write them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.scanner import scan
from assay.verify.texts.references import Definitions, normalize_label, read_definitions, trim_url

LISTS = {
    "numbered in a section": "It rose [1].\n\n## References\n\n1. A title. https://example.org/a\n",
    "brackets in a section": "It rose [1].\n\n### Sources\n\n[1] A title: https://example.org/a  \n[2] Another\n",
    "items in a section": "It rose [1].\n\n## Sources\n\n- [1] A title: https://example.org/a\n",
    "links in a section": "It rose [1].\n\n## 七、参考来源\n\n1. [A title](https://example.org/a)\n",
    "bold title": "It rose [1].\n\n**Sources:**\n\n[1] A title https://example.org/a.\n",
    "plain title": "It rose [1].\n\nReferences:\n1. A title <https://example.org/a>\n",
    "underlined title": "It rose [1].\n\nReferences\n----------\n\n1) A title https://example.org/a\n",
    "link definition": 'It rose [1].\n\n[1]: https://example.org/a "A title"\n',
    "footnote": "It rose [^1].\n\n[^1]: A title, https://example.org/a\n",
    "no title at all": "It rose [1].\n\n[1] A title: https://example.org/a\n",
    "two lines": "It rose [1].\n\n## Sources\n\n[1] A title\n    https://example.org/a\n\n[2] B\n",
}


def defined(text: str) -> Definitions:
    return read_definitions(text, tuple(scan(text)))


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://example.org/a).", "https://example.org/a"),
        ("https://example.org/a_(b)", "https://example.org/a_(b)"),
        ("https://example.org/a_(b)),", "https://example.org/a_(b)"),
        ("https://example.org/a[1]*_]", "https://example.org/a[1]"),
        ("https://example.org/(a", "https://example.org/(a"),
        (")]...", ""),
    ],
)
def test_the_punctuation_around_an_address_is_not_a_part_of_it(url: str, kept: str) -> None:
    assert trim_url(url) == kept


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_a_reference_is_found_with_its_address(text: str) -> None:
    found = defined(text).lookup("1", 0)
    assert found is not None
    assert found.url == "https://example.org/a"
    assert text[found.start : found.end].strip().startswith(("[1]", "[^1]", "1.", "1)", "- [1]"))


@pytest.mark.parametrize(
    "text",
    [
        "1. It rose.\n2. It fell.\n",
        "[1] says that it rose.\n",
        "```\n[1]: https://example.org/a\n```\n",
        "## Results\n\n1. It rose by 5.\n",
        "## Sources of error\n\n1. The scale.\n",
        "See the sources.\n1. A step.\n",
    ],
)
def test_what_is_no_reference(text: str) -> None:
    assert defined(text).entries == ()


def test_each_part_of_a_text_may_have_its_own_list() -> None:
    part = "It rose [1].\n\n## Sources\n\n1. https://example.org/{}\n\n# Next\n\n"
    text = part.format("a") + part.format("b")
    known = defined(text)
    assert [known.lookup("1", at).url for at in (0, text.rindex("It rose"))] == [  # type: ignore[union-attr]
        "https://example.org/a",
        "https://example.org/b",
    ]


def test_an_entry_which_is_repeated_as_a_definition_keeps_its_title() -> None:
    text = "It rose [1].\n\n## Sources\n\n1. Tides, /papers/tides.md, retrieved 2025-01-01\n\n[1]: #sources\n"
    found = defined(text).lookup("1", 0)
    assert found is not None
    assert "tides.md" in found.text


def test_hostile_headings_and_lists_take_no_time() -> None:
    begun = time.process_time()
    assert defined("# " + "-" * 20_000 + "x").entries == ()
    known = defined("[1]: https://example.org/a\n\n" * 5_000)
    assert {known.lookup("1", at) for at in range(5_000)} <= set(known.entries)
    assert time.process_time() - begun < 5


def test_labels_are_compared_without_case_space_and_zeros() -> None:
    assert [normalize_label(label) for label in ("^Note", " A  b ", "007", "0", "^12")] == [
        "note",
        "a b",
        "7",
        "0",
        "12",
    ]


@given(st.text(alphabet="[]^:.1aS \n*#-(h)t`p/", max_size=200))
def test_entries_ascend_and_lie_in_the_text(text: str) -> None:
    at = 0
    for each in defined(text).entries:
        assert at <= each.start < each.end <= len(text)
        at = each.end
