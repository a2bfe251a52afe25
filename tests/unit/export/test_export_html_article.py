"""The report's text as HTML: claims and citations change how it looks, never what it says."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markupsafe import Markup
from sampling import scaled
from selectolax.lexbor import LexborHTMLParser

from assay.core.bibliography import NumberedCitation
from assay.core.clean import link_target
from assay.export.html.article import Article, Signs, render_article
from assay.export.report_parts import ClaimSpan, read_text

SPANS = re.compile(r'<span class="(?:claim|tail) supported"(?: id="at-[0-9]+")?>|</span>|<wbr>')
INLINE = (
    "word 7 Ünï 🐍 **bold** *it* _em_ __s__ ~~gone~~ `co de` ``a`b`` [link](https://example.org/a_b) <https://e.org/>"
    " [1] [2] \\* \\[ &amp; &lt; &#35; <b> </script> --> \ue000 \ue001 ![i](https://e.org/x.png) [bad](javascript:x)"
    ' [a **b [1] c**](https://e.org) **x [2]** a_b_c ** * _ ` [ ] ( ) . , ! ? | \\| [l](</a"b>) $x$ אבג'
).split(" ")
STARTS = ("", "- ", "  - ", "1. ", "# ", "### ", "> ", "> - ", "    ", "```\n", "| ", "---\n", "Title\n===\n", "\t")
ENDS = (
    "\n",
    "\n\n",
    "  \n",
    "\\\n",
    " #\n",
    " |\n|---|\n",
    " | b |\n| --- | --- |\n| **c** | d \\| e |\n",
    "\n```\n",
    "\r\n",
)

lines = st.tuples(
    st.sampled_from(STARTS), st.lists(st.sampled_from(INLINE), max_size=6).map(" ".join), st.sampled_from(ENDS)
).map("".join)
texts = st.lists(lines, max_size=8).map("".join)


def cited(markdown: str) -> list[NumberedCitation]:
    found = re.finditer(r"(?<![\\!\]])\[([12])\](?![(\[:])", markdown)
    return [NumberedCitation(start=m.start(), end=m.end(), number=int(m[1]), ids=()) for m in found]


def shown(markdown: str, spans: Sequence[tuple[int, int]] = (), cites: list[NumberedCitation] | None = None) -> Article:
    signs = Signs(
        cite=lambda cite: Markup("⟦{}⟧").format(cite.number),
        badge=lambda _: Markup("<wbr>"),
        verdicts=("supported",) * len(spans),
    )
    claims = [ClaimSpan(index=index, start=start, end=end, close=end) for index, (start, end) in enumerate(spans)]
    return render_article(read_text(markdown, claims, cited(markdown) if cites is None else cites), signs)


def words(html: str) -> str:
    body = LexborHTMLParser(f"<body>{html}").body
    return " ".join(body.text().split()) if body else ""


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    text = draw(texts)
    point = st.integers(0, len(text))
    spans = draw(st.lists(st.tuples(point, point).map(lambda pair: (min(pair), max(pair))), max_size=5))
    return text, spans


@settings(max_examples=scaled(80), deadline=None)
@given(marked())
@example(("**a b** c", [(2, 7)]))
@example(("x  \ny", [(0, 3), (2, 4)]))
@example(("a [b **c** d](https://e.org) e", [(4, 14)]))
@example(("| a | b |\n|---|---|\n| c | d |\n", [(0, 9), (20, 29)]))
def test_claims_only_add_spans_and_badges(case: tuple[str, list[tuple[int, int]]]) -> None:
    text, spans = case
    found = shown(text, spans)
    assert SPANS.sub("", found.html) == SPANS.sub("", shown(text).html)
    assert found.html.count("<wbr>") >= len(found.words)
    for claim in found.words:
        assert found.html.count(f'id="at-{claim + 1}"') == 1


class Plain(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        return link_target(url) is not None


@settings(max_examples=scaled(40), deadline=None)
@given(texts)
def test_without_citations_the_words_are_those_of_the_library(text: str) -> None:
    plain = Plain("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    assert words(shown(text, [(0, len(text))], cites=[]).html) == words(plain.render(text))


WORD = st.text("abcdefghijklmnopqrstuvwxyzäß🐍", min_size=1, max_size=6)
SENTENCE = st.lists(WORD, min_size=1, max_size=5).map(" ".join)
FORMS = (
    "{}",
    "- {}",
    "> {}",
    "# {}",
    "### {} ###",
    "1. a\n   - {}",
    "| h | i |\n|---|---|\n| {} | z |",
    "**{}**",
    "x *{}*",
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(FORMS), SENTENCE), min_size=1, max_size=6))
def test_every_sentence_is_found_where_it_stands(parts: list[tuple[str, str]]) -> None:
    text, spans = "", []
    for form, sentence in parts:
        start = len(text) + form.index("{}")
        spans.append((start, start + len(sentence)))
        text += form.format(sentence) + "\n\n"
    assert shown(text, spans).words == {at: sentence for at, (_, sentence) in enumerate(parts)}


@settings(deadline=None)
@given(st.lists(SENTENCE, min_size=1, max_size=4))
def test_every_citation_is_found(sentences: list[str]) -> None:
    text = "\n\n".join(f"{each} [{1 + at % 2}]." for at, each in enumerate(sentences))
    assert words(shown(text).html) == " ".join(f"{each} ⟦{1 + at % 2}⟧." for at, each in enumerate(sentences))


def test_a_sentence_over_markup_and_lines_has_a_span_for_each_part() -> None:
    text = "It **rose *by\n3 %* in** 2020 [1]. Then not."
    found = shown(text, [(0, text.index(" [1]"))])
    assert found.words == {0: "It rose by 3 % in 2020"}
    assert found.html == (
        '<p dir="auto"><span class="claim supported" id="at-1">It </span><strong>'
        '<span class="claim supported">rose </span><em><span class="claim supported">by\n3 %</span></em>'
        '<span class="claim supported"> in</span></strong><span class="claim supported"> 2020</span><wbr>'
        " ⟦1⟧. Then not.</p>\n"
    )


def test_a_row_is_one_claim_with_one_badge() -> None:
    row = "| **Brest** | 7 \\| m | [1] |"
    text = f"| port | tide | |\n|---|--:|---|\n{row}\n"
    start = text.index(row) + 2
    found = shown(text, [(start, start + len(row) - 4)])
    assert found.words == {0: "Brest · 7 | m ·"}
    assert found.html.count("<wbr>") == 1
    assert '<td dir="auto" class="to-right"><span class="claim supported">7 | m</span></td>' in found.html
    assert "style=" not in found.html


def test_links_never_hold_links() -> None:
    """As in CommonMark, a citation inside brackets makes them no link; a badge inside a link stands after it."""
    assert words(shown("[see [1] there](https://e.org) now").html) == "[see ⟦1⟧ there](https://e.org) now"
    html = shown("A [long way](https://e.org) there", [(0, 7)]).html
    assert html.index("</a>") < html.index("<wbr>") < html.index(" there")


@pytest.mark.parametrize("text", ["```\nsome code\n```\n", "    indented code\n", "[x]: https://e.org\n", " \n\n"])
def test_what_is_no_prose_is_not_marked(text: str) -> None:
    assert shown(text, [(0, len(text))]).words == {}


def test_headings_stand_below_the_title_and_can_be_linked() -> None:
    found = shown("# A *b*\n\nx\n\n### C `d` [1]\n\n###### E\n")
    assert [(head.id, head.level, head.text) for head in found.headings] == [
        ("part-1", 2, "A b"),
        ("part-2", 4, "C d"),
        ("part-3", 6, "E"),
    ]
    assert '<h2 dir="auto" id="part-1">' in found.html or '<h2 id="part-1" dir="auto">' in found.html
    assert "<h1" not in found.html
