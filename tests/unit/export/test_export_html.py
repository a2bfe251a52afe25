"""The HTML page: what it holds, that it loads nothing, and that hostile text is only text in it."""

import base64
import hashlib
import re

import logs
import msgspec
import pytest
from hostile import HOSTILE, with_text
from hypothesis import given, settings
from hypothesis import strategies as st
from records import record
from sampling import crossed, scaled
from selectolax.lexbor import LexborHTMLParser, LexborNode

from assay.core.brief import Brief
from assay.core.claims import Conflict, Side
from assay.core.plan import Coverage
from assay.core.report import build_report
from assay.core.sources import Passage, Surroundings
from assay.core.view import RemovedClaim, RunView, RunWarning, Unreadable, fold_events
from assay.export.html import EXPORTER, render


def page(view: RunView, **options: str) -> LexborHTMLParser:
    return LexborHTMLParser(render(view, **options))  # type: ignore[arg-type]


def text(node: LexborNode | None) -> str:
    assert node is not None
    return " ".join(node.text().split())


def texts(found: LexborHTMLParser, selector: str) -> list[str]:
    return [text(node) for node in found.css(selector)]


TWO = fold_events(logs.two_agents().events)


def test_two_agents() -> None:
    found = page(TWO)
    assert EXPORTER.render(record(TWO)) == render(TWO).encode()
    assert texts(found, "h1") == ["Who wrote PEP 8?"]
    assert texts(found, "h2") == [
        "At a glance",
        "What could not be found",
        "Sources and quotes",
        "Every claim and its checks",
        "How this was made",
    ]
    assert texts(found, ".counts li") == ["1 supported", "1 contradicted"]
    assert not any("text/html" in facts for facts in texts(found, ".facts"))
    assert texts(found, "article p[dir]") == [
        "It became active 🐍 in 2001 [1]. contradicted Guido van Rossum wrote it [2], in July 2001 [2] [1]. supported",
        "Nothing [1] else.",
    ]
    assert texts(found, ".box li")[:2] == [
        "contradicted It became active 🐍 in 2001: the number differs",
        "Two documents could not be read.",
    ]
    assert texts(found, ".sources .title") == ["Document pep1", "Document pep8", "Document other"]


def test_every_citation_opens_its_own_passage() -> None:
    found = page(TWO)
    quotes = {node.attributes["id"]: text(node.css_first("mark")) for node in found.css(".quote")}
    cites = [(text(node), [quotes[id] for id in node.attributes["data-show"].split()]) for node in found.css("a.cite")]
    guido, created, status = "Author: Guido van Rossum", "Created: 05-Jul-2001", "Status: Active 🐍"
    assert cites == [("[1]", [status]), ("[2]", [guido]), ("[2]", [created]), ("[1]", [status])]


def test_a_quote_stands_in_its_context() -> None:
    around = {"S2002.3": Surroundings(id="S2002.3", before="Before\n\nit. ", after=" <After> it.")}
    passage = msgspec.structs.replace(TWO.passages["S2002.3"], start=400, end=419, page=3, heading=("Part <1>", "B"))
    quote = quoted(passage, around)
    assert text(quote.css_first("blockquote")) == "… Before it. Status: Active 🐍 <After> it. …"
    assert text(quote.css_first("p.where")) == "page 3 · Part <1> › B · bytes 400–419 · passage S2002.3"
    assert passage.document_sha256 in text(quote.parent.css_first(".head .hash"))


def test_the_context_of_a_quote_is_plain_words_and_the_quote_is_as_stored() -> None:
    stored = "| Part: **hull** | Year: 2001 |"
    before, after = "## Parts\n\n| Part: mast | Year: 1999 |\n", "\n\n## More\n\n- see [the list](list.html)"
    around = {"S2002.3": Surroundings(id="S2002.3", before=before, after=after)}
    quote = quoted(msgspec.structs.replace(TWO.passages["S2002.3"], text=stored, start=len(before)), around)
    lines = quote.css_first("blockquote").text().split("\n")
    assert lines == ["Parts", "Part: mast | Year: 1999", stored, "More", "• see the list …"]


def test_rows_of_a_table_in_the_context_stand_on_lines_of_their_own() -> None:
    row = "Harbour: Brest | Year: 2001 | Height of the tide in metres: 7.25"
    around = {"S2002.3": Surroundings(id="S2002.3", before="", after=f"\n\n{row}\n\n{row}")}
    quote = quoted(msgspec.structs.replace(TWO.passages["S2002.3"], start=0), around)
    assert not quote.css(".wrap")


def test_the_context_of_neighbouring_quotes_is_in_the_page_once() -> None:
    document = "Aa bb. Cc dd. Ee ff. Gg hh. Ii jj."
    passages, around = {}, {}
    for id, words in (("S1001.4", "Gg hh."), ("S2002.3", "Cc dd.")):
        start = document.index(words)
        end = start + len(words)
        passages[id] = msgspec.structs.replace(TWO.passages[id], source="S2002", text=words, start=start, end=end)
        around[id] = Surroundings(id=id, before=document[:start], after=document[end:])
    document_sha256 = passages["S2002.3"].document_sha256
    passages["S1001.4"] = msgspec.structs.replace(passages["S1001.4"], document_sha256=document_sha256)
    found = page(msgspec.structs.replace(TWO, surroundings=around, passages={**TWO.passages, **passages}))
    joined = found.css_first(".quote.joined")
    assert "".join(node.text() for node in found.css(f"li:has(#{joined.id}) blockquote")) == f"{document} …"
    assert [text(node) for node in found.css(f"li:has(#{joined.id}) mark")] == ["Cc dd.", "Gg hh."]


def test_nothing_is_left_out_before_the_first_words_of_a_document() -> None:
    before = "# Før\n\n"
    around = {"S2002.3": Surroundings(id="S2002.3", before=before, after="")}
    for start, shown in ((len(before.encode()), "Før Status"), (len(before.encode()) + 1, "… Før Status")):
        passage = msgspec.structs.replace(TWO.passages["S2002.3"], start=start, end=start + 19)
        assert text(quoted(passage, around).css_first("blockquote")).startswith(shown)


def quoted(passage: Passage, around: dict[str, Surroundings]) -> LexborNode:
    """The quote of `passage` on the page."""
    found = page(msgspec.structs.replace(TWO, surroundings=around, passages={**TWO.passages, passage.id: passage}))
    return found.css_first("#quote-1-1")


def test_a_line_end_inside_a_paragraph_is_kept_in_the_quote() -> None:
    written = "word " * 12 + "and\nmore of it\n  code()\n"
    passage = msgspec.structs.replace(TWO.passages["S2002.3"], text=written)
    mark = page(msgspec.structs.replace(TWO, passages={**TWO.passages, passage.id: passage})).css_first("mark")
    assert mark.text() == written
    assert [node.text() for node in mark.css(".wrap")] == ["\n"]


@pytest.mark.parametrize(
    ("name", "mode"), crossed(sorted(logs.SCENARIOS), ["numbers", "footnotes", "links", "markers", "none"])
)
def test_every_link_within_the_page_leads_somewhere(name: str, mode: str) -> None:
    view = fold_events(logs.SCENARIOS[name]().events)
    found = page(view, citations=mode)
    ids = [node.attributes["id"] for node in found.css("[id]")]
    assert len(ids) == len(set(ids))
    targets = {node.attributes["href"].removeprefix("#") for node in found.css("a[href^='#']")}
    shows = {id for node in found.css("[data-show]") for id in node.attributes["data-show"].split()}
    assert targets | shows <= set(ids)
    assert len(found.css(".claims > li")) == len(view.claims)
    assert len(found.css("article a.badge")) == len(view.claims)
    assert bool(found.css("a.cite")) == (mode != "none" and bool(build_report(view).passages))


def test_one_place_met_by_two_agents_is_one_quote() -> None:
    again = msgspec.structs.replace(TWO.passages["S1001.4"], id="S2001.4", source="S2001")
    claim = msgspec.structs.replace(TWO.claims[1], passages=("S1001.4", "S2001.4"))
    view = msgspec.structs.replace(TWO, passages={**TWO.passages, again.id: again}, claims=(TWO.claims[0], claim))
    found = page(view)
    assert len(found.css("#source-2 ~ .quote")) == 2
    assert found.css_first("#at-2 ~ .verdict a").attributes["data-show"] == "claim-2 quote-2-1"


def test_conflicts_and_removed_sentences_are_told() -> None:
    sides = (
        Side(value="2001", passage="S1001.4", source="S1001"),
        Side(value="<2003>", passage="S2002.3", source="S2002"),
    )
    conflicts = (Conflict(text="2001 or <2003>", sides=sides),)
    removed = (RemovedClaim(id="c9", text="It was 1999.", why="nothing supports it"),)
    found = page(msgspec.structs.replace(TWO, conflicts=conflicts, removed=removed))
    shown = texts(found, ".glance li")
    assert "unchecked It was 1999. (nothing supports it)" in shown
    assert any(each.startswith("2001 or <2003> 2.1, 1.1") for each in shown)
    assert texts(found, ".sides .value") == ["2001", "<2003>"]  # beside one another, each with its words and source
    assert texts(found, ".sides blockquote") == [TWO.passages[side.passage].text for side in sides]
    assert texts(found, ".sides .facts") == [TWO.sources[side.source].title for side in sides]


def test_a_side_has_its_title_by_whichever_id_its_source_was_found() -> None:
    first = TWO.sources["S1001"]
    found_again = msgspec.structs.replace(first, id="S2009")
    passage = msgspec.structs.replace(TWO.passages["S1001.4"], id="S2009.4", source="S2009")
    sides = (
        Side(value="2001", passage="S2009.4", source="S2009", date="2024-03-02"),
        Side(value="2003", passage="S2002.3", source="S2002"),
    )
    view = msgspec.structs.replace(
        TWO,
        sources={**TWO.sources, "S2009": found_again},
        passages={**TWO.passages, "S2009.4": passage},
        conflicts=(Conflict(text="2001 or 2003", sides=sides),),
    )
    assert texts(page(view), ".sides .facts")[0] == f"{first.title}, 2 March 2024"


def test_how_citations_look() -> None:
    looks = {
        mode: texts(page(TWO, citations=mode), "a.cite")
        for mode in ("numbers", "footnotes", "markers", "links", "none")
    }
    assert looks == {
        "numbers": ["[1]", "[2]", "[2]", "[1]"],
        "footnotes": ["[1]", "[2]", "[2]", "[1]"],
        "markers": ["[S2002.3]", "[S1001.4]", "[S2001.9]", "[S2002.3]"],
        "links": ["(Document pep1)", "(Document pep8)", "(Document pep8)", "(Document pep1)"],
        "none": [],
    }


def test_a_claim_that_stands_in_no_prose_is_listed() -> None:
    code = "```\nIt is 2001.\n```\n"
    claim = msgspec.structs.replace(TWO.claims[0], start=4, end=15)
    view = msgspec.structs.replace(TWO, report=msgspec.structs.replace(TWO.report, text=code), claims=(claim,))
    found = page(view)
    assert texts(found, ".claims > li > p") == [
        "contradicted It is 2001.",
        "the number differs",
        "Not marked in the text.",
    ]
    assert texts(found, "article .claim") == []


def test_a_failed_final_check_is_a_limit() -> None:
    assert TWO.gate is not None
    gate = msgspec.structs.replace(TWO.gate, passed=False, problems=("a hash differs",))
    found = page(msgspec.structs.replace(TWO, gate=gate, verified=False))
    assert "This report did not pass its final check: a hash differs" in texts(found, ".glance li")
    assert texts(found, ".short span")[-1] == "did not pass its final check"


def test_a_view_of_nothing() -> None:
    found = page(RunView())
    assert texts(found, "article p:not(.only-note)") == ["No report was written."]
    assert texts(found, "h2") == ["How this was made"]


def test_what_was_not_found() -> None:
    view = msgspec.structs.replace(
        TWO,
        unreadable=(Unreadable(url="https://example.org/x?<y>", reason="it is <encrypted>"),),
        warnings=(RunWarning(message="the plan could not be read"),),
        coverage=(),
    )
    found = page(view)
    assert texts(found, "#unreadable li") == ["https://example.org/x?<y>it is <encrypted>"]
    assert "the plan could not be read" in text(found.css_first("main > section:last-child"))


def test_a_step_that_is_the_question_is_named_once() -> None:
    part = Coverage(step=0, part="How high is it?", status="not")
    step = msgspec.structs.replace(part, step=1, reason="no source")
    found = page(msgspec.structs.replace(TWO, coverage=(part, step)))
    named = [each for each in texts(found, ".glance li") if "How high" in each]
    assert named == ["How high is it: not answered (no source)"]


def test_the_answer_comes_before_what_is_missing_from_it() -> None:
    part = Coverage(step=0, part="How high is it?", status="not")
    side = Conflict(text="2001 or 2003")
    found = page(msgspec.structs.replace(TWO, coverage=(part,), conflicts=(side,)))
    order = [each.attributes.get("class") or each.attributes.get("id") for each in found.css("main > *")]
    assert order[:3] == ["glance", "report", "glance after"]
    assert "2001 or 2003" in text(found.css_first("section.glance"))


def test_what_could_not_be_found_has_one_heading() -> None:
    named = Coverage(step=1, part="nothing [1]  else?", status="not")
    partly = Coverage(step=2, part="Who paid for it?", status="partly", reason="one year only")
    assert not page(msgspec.structs.replace(TWO, coverage=(named,))).css(".glance.after")
    found = page(msgspec.structs.replace(TWO, coverage=(named, partly)))
    assert texts(found, ".glance.after li") == ["Who paid for it: answered in part (one year only)"]
    assert text(found.body).count("What could not be found") == 2  # with the table of contents
    bare = msgspec.structs.replace(TWO.report, text=TWO.report.text.partition("## What could")[0])
    found = page(msgspec.structs.replace(TWO, coverage=(partly,), report=bare))
    assert texts(found, ".glance.after summary") == ["What could not be found (1)"]


def policy(html: str) -> dict[str, str]:
    meta = LexborHTMLParser(html).css_first('meta[http-equiv="Content-Security-Policy"]')
    return dict(part.strip().split(" ", 1) for part in meta.attributes["content"].split(";"))


def test_the_policy_lets_only_the_own_style_and_script_through() -> None:
    html = render(TWO)
    allowed = policy(html)
    assert allowed["default-src"] == allowed["base-uri"] == allowed["form-action"] == "'none'"
    for name in ("style", "script"):
        (body,) = re.findall(f"<{name}>(.*?)</{name}>", html, re.DOTALL)
        assert allowed[f"{name}-src"] == f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"


NAMES = frozenset(
    "html head meta title style body svg symbol path use a header p h1 h2 h3 h4 h5 h6 span div nav details summary ol"
    " ul li label input main section article sup bdi b q blockquote mark code pre dl dt dd script em strong s br hr"
    " table thead tbody tr th td".split()
)
ATTRIBUTES = frozenset(
    "lang charset http-equiv content name id class dir href rel title open type autocomplete role tabindex width height"
    " viewBox d start data-show data-source aria-label aria-labelledby aria-hidden"
    " data-close data-copy data-copied data-selected data-quote data-verdict".split()
)


def harmless(html: str) -> None:
    """Only elements and attributes of the page's own, one script, and links to the web or into the page."""
    found = LexborHTMLParser(html)
    for node in found.css("*"):
        assert node.tag in NAMES, node.tag
        assert set(node.attributes) <= ATTRIBUTES, node.attributes
        target = node.attributes.get("href")
        assert target is None or re.match(r"https?://[^\s]|#[a-z]+(-[a-z0-9]+)*$", target), target
        if target and target.startswith("http"):
            assert node.attributes["rel"] == "noopener noreferrer nofollow"
    assert len(found.css("script")) == len(found.css("style")) == 1
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x00]", html)


def test_hostile_text_is_only_text() -> None:
    html = render(with_text(HOSTILE))
    harmless(html)
    found = LexborHTMLParser(html)
    assert "<script>alert(1)</script>" in text(found.css_first("h1"))
    assert "<img src=x onerror=alert(2)>" in text(found.css_first("mark"))
    assert "[x](unsafe:javascript:alert(3))" in text(found.css_first("article li"))
    assert "\ue000\ue001" in text(found.css_first("article li"))


SIGNS = (*"<>\"'&`[]()!|*_#-\\/=:; \n\r\t", "script", "on", "http://", "javascript:", "-->", "x", "\ue000", "\u202e")


@settings(max_examples=scaled(25), deadline=None)
@given(st.lists(st.sampled_from(SIGNS), min_size=1, max_size=40).map("".join))
def test_no_text_becomes_markup(hostile: str) -> None:
    harmless(render(with_text(hostile)))
    harmless(render(with_text(hostile), citations="links"))


@pytest.mark.parametrize(("asked", "lang"), [("de", "de"), ("pt-BR", "pt-BR"), ("", None), ('de" x="', None)])
def test_the_language_of_the_report_is_said_where_it_is_known(asked: str, lang: str | None) -> None:
    view = msgspec.structs.replace(TWO, brief=Brief(question="Wer?", date="2025-01-02", language=asked))
    assert page(view).css_first("article").attributes.get("lang") == lang


def test_the_state_of_a_step_stands_apart_from_its_title() -> None:
    """A title may be a question: no colon follows its question mark."""
    assert TWO.plan is not None
    steps = (msgspec.structs.replace(TWO.plan.steps[0], title="How high is it?", status="completed"),)
    found = page(msgspec.structs.replace(TWO, plan=msgspec.structs.replace(TWO.plan, steps=steps)))
    assert "How high is it? (completed)" in texts(found, "main > section:last-child li")
