"""Markdown with footnotes: every `[^1]` has one definition, which quotes the source, and no text makes another."""

import re

import logs
import pytest
from citing import citing, page, quoted
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assay.core import events as e
from assay.core.report import build_report
from assay.core.view import fold_events
from assay.export.markdown import render

DEFINITION = re.compile(r"^\[\^(\d+)\]: ", re.MULTILINE)
REFERENCE = re.compile(r"(?<!\\)\[\^(\d+)\]")


def test_two_agents() -> None:
    markdown = render(fold_events(logs.two_agents().events), citations="footnotes")
    assert (
        markdown
        == """\
It became active 🐍 in 2001 [^1].
Guido van Rossum wrote it [^2], in July 2001 [^2] [^1].

## What could not be found

Nothing [1] else.

## Limits

- Two documents could not be read.

## Verification

| Claims | supported | contradicted |
|---|---|---|
| 2 | 1 | 1 |

| To check | Verdict | Why |
|---|---|---|
| It became active 🐍 in 2001. | contradicted | the number differs |

2 claims: 1 supported, 1 contradicted.

[^1]: Document pep1, <https://example.org/pep1>, retrieved 2025-01-01: “Status: Active 🐍”

[^2]: Document pep8, <https://example.org/pep8>, retrieved 2025-01-01: “Author: Guido van Rossum” “Created: 05-Jul-2001”
"""
    )


def test_the_page_of_a_quote_is_told() -> None:
    source = page()
    record = citing(source, passages=[quoted(source, "So it *is*.", page=7)])
    assert "“So it \\*is\\*.” (page 7)\n" in render(record.view, citations="footnotes")


def test_a_source_without_a_passage_is_defined_all_the_same() -> None:
    log = logs.Log()
    log.add("research", e.SourceAdded(source=page(url="javascript:alert(1)", title="", fetched_at="")))
    log.add("write", e.ReportDelta(text="It is so [S1].\n"))
    markdown = render(fold_events(log.events), citations="footnotes")
    assert markdown.endswith("[^1]: javascript:alert(1): no passage is quoted\n")
    assert "<a " not in MarkdownIt("commonmark").render(markdown)


TEXTS = st.lists(
    st.sampled_from(
        [
            "word ",
            "[S1.1]",
            "[S2.1]",
            "[S9.9]",
            "[^1]",
            "[^2]: evil",
            "[^x]",
            "\n",
            "\n\n",
            "[1]",
            "^",
            "!",
            "(x y)",
            ": ",
            "]",
        ]
    ),
    max_size=12,
).map("".join)


@given(TEXTS)
def test_every_reference_has_exactly_one_definition(text: str) -> None:
    view = citing(page(1), page(2), text=text).view
    report = build_report(view, "footnotes")
    markdown = render(view, citations="footnotes")
    defined = [int(number) for number in DEFINITION.findall(markdown)]
    assert defined == [source.number for source in report.sources if source.number is not None]
    assert {int(number) for number in REFERENCE.findall(report.markdown)} == set(defined)
    assert not DEFINITION.search(report.markdown)


HOSTILE = [
    "x\n\n[^1]: evil",
    "](javascript:alert(1))",
    "<script>alert(1)</script>",
    "\u202egnp",
    "![x](http://evil/)",
    "`a",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_titles_and_quotes_stay_in_their_footnote(text: str) -> None:
    source = page(title=text)
    markdown = render(citing(source, passages=[quoted(source, text)]).view, citations="footnotes")
    assert DEFINITION.findall(markdown) == ["1"]
    html = MarkdownIt("commonmark").render(markdown)
    assert not re.search(r"<(script|img)|javascript:[^<]*\"", html)
    assert "\u202e" not in markdown
