"""Markdown that would act is shown and does nothing; everything else stays."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assay.core.clean import EditedText, active_markup_edits

READER = MarkdownIt("commonmark", {"html": True})
READER.validateLink = lambda url: True


def quiet(markdown: str) -> str:
    return EditedText(markdown, active_markup_edits(markdown)).text


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("![x](http://evil/?q=1)", "\\![x](http://evil/?q=1)"),
        ("![x][1] and !", "\\![x][1] and !"),
        ("a <script>alert(1)</script>", "a \\<script>alert(1)\\</script>"),
        ("<IMG SRC=x>", "\\<IMG SRC=x>"),
        ("<b onclick=alert(1)>x</b>", "\\<b onclick=alert(1)>x</b>"),
        ("a <!-- hidden --> b", "a \\<!-- hidden --> b"),
        ("[x](javascript:alert(1))", "[x](unsafe:javascript:alert(1))"),
        ("[x](<data:text/html,x>)", "[x](<unsafe:data:text/html,x>)"),
        ("[x](&#106;avascript:alert(1))", "[x](unsafe:&#106;avascript:alert(1))"),
        ("> [x]: javascript:alert(1)", "> \\[x]: javascript:alert(1)"),
    ],
)
def test_what_would_act_is_made_plain(markdown: str, shown: str) -> None:
    assert quiet(markdown) == shown


@pytest.mark.parametrize(
    "markdown",
    [
        "Author: Guido van Rossum <guido@python.org>, Barry Warsaw <barry at python.org>",
        "a < b and b > a, List<String>, <module>",
        "`<script>` and `![x](y)`",
        "```html\n<script>alert(1)</script>\n![x](y)\n```\n",
        "[x](https://e.org/a:b) [y](docs/guide.md) [z](#sources) <https://e.org/a>",
        "[x]: https://e.org/\n[S1.1] [1], [a]: b",
        "wow! [S1.1] and wow![S1.1]",
    ],
)
def test_everything_else_stays(markdown: str) -> None:
    assert active_markup_edits(markdown) == []


PIECES = st.sampled_from(
    ("<script>", "<img src=x>", "<x onload=y>", "<!--", "-->", "![", "[a", "](", "]: ", ")", "javascript:x", "data:,x",
     "&#106;avascript:x", "java\\script\\:x", "<", ">", "`", "\n", "\n\n", " ", "\\", "x", "https://e.org/", "$", "!",
     "[S1.1]")
)  # fmt: skip


@given(markdown=st.lists(PIECES, max_size=9).map("".join))
def test_a_reader_finds_nothing_that_acts(markdown: str) -> None:
    for token in READER.parse(quiet(markdown)):
        for child in (token, *(token.children or ())):
            assert child.type != "image"
            if child.type in ("html_inline", "html_block"):
                assert not re.search(r"<(?:script|img|!--|x\s.*onload)", child.content)
            target = str(child.attrs.get("href", ""))
            assert not target.lower().startswith(("javascript:", "data:"))
