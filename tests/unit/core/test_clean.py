"""Harmful characters, Markdown escapes, link targets."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assay.core.clean import (
    HARMFUL,
    Edit,
    EditedText,
    error_words,
    escape_markdown,
    harmful_edits,
    link_target,
    local_path,
    one_line,
)

SIGNS = "ab é🐍\n\x1b[]31m(;)\x07\u202e\u2066\x9b\x00`*_<>&#+-=.1~|$!\\{}:/@\"'"


@given(text=st.text(st.sampled_from(SIGNS)))
def test_nothing_harmful_stays_and_positions_point_at_the_same_character(text: str) -> None:
    cleaned = EditedText(text, harmful_edits(text))
    gone = {at for edit in harmful_edits(text) for at in range(edit.start, edit.end)}
    assert cleaned.text == "".join(sign for at, sign in enumerate(text) if at not in gone)
    for at, sign in enumerate(text):
        if at not in gone:
            assert cleaned.text[cleaned.position(at)] == sign
    points = [cleaned.position(at) for at in range(len(text) + 1)]
    assert points == sorted(points)
    assert points[-1] == len(cleaned.text)


def test_a_terminal_escape_goes_whole() -> None:
    assert one_line("a\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x9b2J\u202eb") == "ared link 2Jb"


def test_an_edit_may_make_text_longer() -> None:
    edited = EditedText("ab[1]c", [Edit(2, 3, "\\["), Edit(5, 6, "")])
    assert edited.text == "ab\\[1]"
    assert [edited.position(at) for at in range(7)] == [0, 1, 2, 4, 5, 6, 6]


@given(text=st.text(st.sampled_from(SIGNS), min_size=1))
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    """In a list item, as a whole paragraph and after other words: plain text and nothing else."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for before, lead in (("", ""), ("1. ", ""), ("- ", ""), ("word ", "word ")):
        inline = [token for token in reader.parse(before + escape_markdown(text)) if token.type == "inline"]
        children = [child for token in inline for child in token.children or ()]
        assert {child.type for child in children} <= {"text", "text_special"}
        assert "".join(child.content for child in children) == (lead + one_line(text)).strip()


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://example.org/a b?x=1&y=ü", "https://example.org/a%20b?x=1&y=ü"),
        ("http://example.org/(x)<y>\"'", "http://example.org/%28x%29%3Cy%3E%22'"),
        ("file:///home/me/a%20b.md", None),
        ("file://server/share/x", None),
        ("javascript:alert(1)", None),
        ("JavaScript://example.org/%0aalert(1)", None),
        ("java\nscript:alert(1)", None),
        ("data:text/html,<script>", None),
        ("//example.org/x", None),
        ("docs/guide.md", None),
        ("http://[broken", None),
        ("https:///nothing", None),
        ("", None),
    ],
)
def test_link_target(url: str, target: str | None) -> None:
    assert link_target(url) == target


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("file:///home/me/a%20b.md", "/home/me/a b.md"),
        ("docs/guide.md", "docs/guide.md"),
        ("https://example.org/x", None),
    ],
)
def test_local_path(url: str, path: str | None) -> None:
    assert local_path(url) == path


@given(url=st.text(st.sampled_from("htps:/javcrif.x1<>()[]\\ \"'`&;#?%\n\x1b\u202e@")))
def test_a_target_never_leaves_its_brackets(url: str) -> None:
    target = link_target(url)
    if target is not None:
        assert not HARMFUL.search(target)
        assert not set('<>()\\ "`\n') & set(target)
        assert target.lower().startswith(("http:", "https:"))


def test_the_words_of_an_error_have_no_number_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Errno") as missing:
        (tmp_path / "none").read_bytes()
    assert error_words(missing.value) == "No such file or directory"
    assert error_words(OSError("odd")) == error_words(ValueError("odd")) == "odd"
    assert error_words(TimeoutError()) == "TimeoutError"
