"""The Markdown export: what it holds, where `[1]` leads, and what hostile titles cannot do."""

from typing import get_args

import logs
import msgspec
import pytest
import repaired
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from records import record

from assay.core import events as e
from assay.core.claims import Summary
from assay.core.markers import CitationMode
from assay.core.phrases import MEANINGS, verdict
from assay.core.report import build_report
from assay.core.sources import Source
from assay.core.translation import gettext as _
from assay.core.view import fold_events
from assay.export.markdown import EXPORTER, render
from assay.locale import use_locale

TWO_AGENTS = """\
It became active 🐍 in 2001 [1].
Guido van Rossum wrote it [2], in July 2001 [2] [1].

## What could not be found

Nothing \\[1] else.

## Sources

1. Document pep1, <https://example.org/pep1>, retrieved 2025-01-01
2. Document pep8, <https://example.org/pep8>, retrieved 2025-01-01

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

[1]: <https://example.org/pep1>
[2]: <https://example.org/pep8>
"""


LEGEND = """\
## What the verdicts mean

- **quoted**: Copied word for word from its source.
- **supported**: The source says it in other words.
- **partial**: The source says only a part of it.
- **unsupported**: The passages it was compared with do not say it.
- **contradicted**: A passage says something else.
- **unchecked**: The check could not decide: read its source yourself.

A verdict compares a sentence with its source. It does not say that the source is right.
"""


def links(markdown: str) -> list[tuple[str, str]]:
    """Every link a CommonMark reader finds: its text and target; and that there is no image and no HTML."""
    found, text, target = [], "", ""
    tokens = [child for token in MarkdownIt("commonmark").parse(markdown) for child in token.children or [token]]
    for token in tokens:
        assert token.type not in ("image", "html_inline", "html_block")
        if token.type == "link_open":
            text, target = "", str(token.attrs["href"])
        elif token.type == "link_close":
            found.append((text, target))
        else:
            text += token.content
    return found


def test_two_agents() -> None:
    view = fold_events(logs.two_agents().events)
    assert render(view) == TWO_AGENTS
    assert EXPORTER.render(record(view)).decode() == TWO_AGENTS.replace("\n[1]: <", f"\n{LEGEND}\n[1]: <", 1)


def test_a_file_says_what_the_verdicts_mean_in_the_language_of_the_report() -> None:
    view = fold_events(logs.two_agents().events)
    assert view.brief is not None
    german = msgspec.structs.replace(view, brief=msgspec.structs.replace(view.brief, locale="de"))
    written = EXPORTER.render(record(german)).decode()
    with use_locale("de"):
        assert f"## {_('What the verdicts mean')}" in written
        assert f"**{verdict('quoted')}**: {_(MEANINGS['quoted'])}" in written
    assert "What the verdicts mean" not in written
    assert b"What the verdicts mean" not in EXPORTER.render(record(fold_events(logs.no_evidence().events)))


def test_every_number_leads_to_its_source() -> None:
    pep1, pep8 = "https://example.org/pep1", "https://example.org/pep8"
    assert links(TWO_AGENTS) == [("1", pep1), ("2", pep8), ("2", pep8), ("1", pep1), (pep1, pep1), (pep8, pep8)]


@pytest.mark.parametrize("name", sorted(logs.SCENARIOS))
@pytest.mark.parametrize("mode", get_args(CitationMode))
def test_positions_of_the_json_report_hold_here(name: str, mode: str) -> None:
    view = fold_events(logs.SCENARIOS[name]().events)
    markdown, report = render(view, citations=mode), build_report(view, mode)
    assert all(markdown[claim.start : claim.end] == claim.text for claim in report.claims)
    wanted = any(source.number for source in report.sources)
    assert (("[^1]: " if mode == "footnotes" else "## Sources") in markdown) == wanted


def test_markers_mode_lists_the_ids() -> None:
    markdown = render(fold_events(logs.two_agents().events), citations="markers")
    assert "[S2001.9, S2002.3]" in markdown
    assert "- S1001, S2001: Document pep8, <https://example.org/pep8>, retrieved 2025-01-01\n" in markdown
    assert "\n[1]:" not in markdown


def test_no_evidence_has_no_sources_and_no_counts() -> None:
    assert render(fold_events(logs.no_evidence().events)) == "The documents hold nothing about this question.\n"


def test_a_failed_gate_is_said() -> None:
    log = logs.one_agent()
    log.add("verify", e.VerifySummary(summary=Summary(dropped_markers=2), passed=False, problems=("a hash differs",)))
    markdown = render(fold_events(log.events))
    assert "## Limits\n\n- This report did not pass its final check: a hash differs\n" in markdown
    assert "1 claim: 1 supported; 2 citations of nothing dropped." in markdown


def test_local_files_are_shown_by_path_and_never_twice() -> None:
    markdown = render(fold_events(_cited(logs.source("S1", url="file:///home/me/a_b.md", title="a_b")).events))
    assert "1. a\\_b, /home/me/a\\_b.md, retrieved 2025-01-01\n" in markdown
    assert links(markdown) == [("1", "#sources")]
    markdown = render(fold_events(_cited(logs.source("S1", url="notes.md", title="notes.md")).events))
    assert "1. notes.md, retrieved 2025-01-01\n" in markdown
    assert links(markdown) == [("1", "#sources")]


def _cited(source: Source, text: str = "It is so [S1.1].\n") -> logs.Log:
    log = logs.Log()
    log.add("research/agent-1", e.SourceAdded(source=source))
    log.add("write", e.ReportDelta(text=text))
    shown = msgspec.structs.replace(logs.passage("S1.1", "So it is."), document_sha256=source.document_sha256)
    log.add("verify", e.ClaimFound(id="c1", text=text.strip(), start=0, end=len(text.strip()), passages=(shown,)))
    return log


HEADED = (
    ("Sources say so. It is so [S1.1].\n", "#sources"),
    ("## Sources\n\nIt is so [S1.1].\n", "#sources-1"),
    ("Sources\n-------\n\nIt is so [S1.1].\n\n## Sources 1\n\nMore.\n", "#sources-2"),
    ("> ## **sources**\n\nIt is so [S1.1].\n", "#sources-1"),
)


@pytest.mark.parametrize(("text", "anchor"), HEADED)
def test_numbers_lead_to_the_list_of_sources_though_the_report_has_that_heading_too(text: str, anchor: str) -> None:
    markdown = render(fold_events(_cited(logs.source("S1", url="notes.md"), text).events))
    assert links(markdown) == [("1", anchor)]


HOSTILE = (
    "](javascript:alert(1)) [x", "<script>alert(1)</script>", "![x](http://evil/?q=1)", "\x1b[31mred\x1b[0m",
    "\u202egnp.exe", "a\n\n# Heading\n[1]: http://evil/", "`code", "&lt;b&gt;", "1. x", "| a | b |",
)  # fmt: skip


@pytest.mark.parametrize("title", HOSTILE)
@pytest.mark.parametrize("mode", get_args(CitationMode))
def test_a_hostile_title_is_only_text(title: str, mode: str) -> None:
    markdown = render(fold_events(_cited(logs.source("S1", title=title)).events), citations=mode)
    assert {target for _, target in links(markdown)} <= {"https://example.org/S1"}
    headings = [] if mode == "footnotes" else ["## Sources"]
    assert [line for line in markdown.splitlines() if line.startswith("#")] == [*headings, "## Verification"]
    assert not set("\x1b\u202e") & set(markdown)


HOSTILE_URLS = (
    "javascript:alert(1)", "data:text/html;base64,x", "JAVASCRIPT://x/%0aalert(1)", "file://evil/x",
    "https://e.org/> <b>\n[1]: http://evil/",
)  # fmt: skip


@pytest.mark.parametrize("url", HOSTILE_URLS)
@pytest.mark.parametrize("mode", get_args(CitationMode))
def test_a_hostile_address_is_no_link_and_breaks_nothing(url: str, mode: str) -> None:
    markdown = render(fold_events(_cited(logs.source("S1", url=url)).events), citations=mode)
    assert all(target == "#sources" or target.startswith("https://e.org/%3E") for _, target in links(markdown))


@given(
    url=st.text(st.sampled_from("htps:/e.org<>()[]\\ \"'`&;#lt?%*_~\n"), max_size=30), title=st.sampled_from(HOSTILE)
)
def test_numbers_lead_to_exactly_the_address(url: str, title: str) -> None:
    address = "https://e.org/" + url
    markdown = render(fold_events(_cited(logs.source("S1", url=address, title=title)).events))
    targets = {target for _, target in links(markdown)}
    assert len({target.replace("%5B", "[").replace("%5D", "]") for target in targets}) == 1


def test_the_text_cannot_define_where_a_number_leads() -> None:
    text = "[1]: http://evil/\n\nIt is so [S1.1].\n\n[1]: http://evil/\n\nAs [1] says, arr[1] and [see][1].\n"
    markdown = render(fold_events(_cited(logs.source("S1"), text).events))
    assert [link for link in links(markdown) if link[0] == "1"] == [("1", "https://example.org/S1")]
    assert not any("evil" in target and text == "1" for text, target in links(markdown))


def test_it_ends_with_how_the_claims_fared() -> None:
    text = render(repaired.view())
    assert "| Claims | supported | contradicted |\n|---|---|---|\n| 2 | 1 | 1 |\n" in text
    assert "| The tide at Brest rises nine metres. | contradicted | the claim says 'nine metres'" in text
    assert "| Taken out | Why |\n|---|---|\n| Ships sank in 1999. | nothing supports it |\n" in text
    assert "no passage \\<names\\> \\*anyone\\*" in text


def test_where_all_hold_one_line_says_so() -> None:
    text = render(fold_events(logs.one_agent().events))
    assert "## Verification" not in text
    assert "1 claim: 1 supported." in text


def test_what_is_quoted_is_counted_apart_and_is_no_problem() -> None:
    log = logs.dispatched(1)
    shown = logs.passage("S1001.1", "It became active in 2001.")
    text = "It became active in 2001 [S1001.1].\nIt was in 2001 that it became active [S1001.1].\n"
    logs.agent(log, 1, (logs.source("S1001"), (shown,)))
    logs.write(log, text)
    logs.verify(log, text, {shown.id: shown}, ("quoted", "supported"))
    rendered = render(fold_events(log.events))
    assert "2 claims: 1 quoted, 1 supported." in rendered
    assert "## Verification" not in rendered
