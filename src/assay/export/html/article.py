"""The text of a report as HTML: its claims in spans, its citations and verdicts as links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

import msgspec
from markdown_it.presets import commonmark
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

from assay.core.bibliography import NumberedCitation
from assay.core.blocks import Block
from assay.core.claims import VERDICTS, Verdict
from assay.core.lazy import regex
from assay.core.phrases import verdict_reason
from assay.core.report import Report
from assay.core.translation import gettext as _
from assay.core.typed_answers import ReportField
from assay.export import report_parts
from assay.export.formatted_text import Mark, read_inline
from assay.export.html import markup
from assay.export.html.markup import Child, PageMaterial, el, escape_text, isolate, verdict_word
from assay.export.report_parts import ReportText, read_text

_OPTIONS = OptionsDict(commonmark.make()["options"])
_TOP, _MAX_HEADING_LEVEL = 2, 6  # the page's own title is the only h1


class PageHeading(msgspec.Struct, frozen=True):
    """A heading of the text, its level in the page (2 to 6), and the id to link to."""

    id: str
    level: int
    text: str


class Article(msgspec.Struct, frozen=True):
    """The rendered text. `words` has the words of each claim in it, without markup, by the claim's index."""

    html: Markup
    headings: tuple[PageHeading, ...] = ()
    words: dict[int, str] = {}


class Signs(msgspec.Struct, frozen=True):
    """How a citation and the badge of a claim are written, and each claim's verdict."""

    cite: Callable[[NumberedCitation], Markup]
    badge: Callable[[int], Markup]
    verdicts: Sequence[Verdict] = ()


def render_run_article(material: PageMaterial) -> Article:
    """The text of a run's report."""
    cite, badge = partial(markup.citation_link, material), partial(markup.badge, material)
    return render_article(material.text, Signs(cite, badge, material.verdicts))


def render_article(text: ReportText, signs: Signs) -> Article:
    """Render the blocks of a report.

    Every span of a claim's text is a `span.claim`, the first with id `at-N` (claims count from 1); what stands
    between its end and its badge (citations, a full stop) a `span.tail`. A claim which crosses markup or blocks has
    several spans. Without those spans and the badges the HTML is that of the same text without claims.
    """
    writer = _Writer(text, signs)
    html = writer.blocks(text.blocks)
    words = {claim: " ".join("".join(parts).split()) for claim, parts in writer.words.items()}
    return Article(Markup(html), tuple(writer.headings), words)


_PART = regex(r' id="part-\d+"')


def render_plain(markdown: str) -> Markup:
    """Render a text without claims and citations, such as an answer in a conversation.

    Its headings have no ids, since several such texts stand on one page.
    """
    signs = Signs(cite=lambda _: Markup(""), badge=lambda _: Markup(""))
    return Markup(_PART.sub("", render_article(read_text(markdown, (), ()), signs).html))


class _Writer:
    """Writes blocks as the library does.

    A list and a quotation have the direction of the report: HTML gives `auto` by what is in no element with its own.
    Tables and code never widen the page.
    """

    def __init__(self, text: ReportText, signs: Signs) -> None:
        self.headings: list[PageHeading] = []
        self.words: dict[int, list[str]] = {}
        self._text, self._signs = text, signs
        self._level_offset = text.top_level - _TOP
        self._inline = _renderer()

    def blocks(self, blocks: Iterable[Block]) -> str:
        """The HTML of blocks which follow one another."""
        return "".join(map(self._block, blocks))

    def _block(self, block: Block) -> str:
        match block.kind:
            case "heading":
                return self._heading(block)
            case "paragraph":
                return f'<p dir="auto">{self._line(block)}</p>\n'
            case "list":
                return self._list(block)
            case "quote":
                line_break = "\n" if block.children else ""
                return f"<blockquote>{line_break}{self.blocks(block.children)}</blockquote>\n"
            case "table":
                return self._table(block)
            case "code":
                return f"{el('pre', el('code', block.content))}\n"
            case "rule":
                return "<hr />\n"
            case _:
                return ""

    def _heading(self, block: Block) -> str:
        """A heading with a number, below the page's title."""
        tokens = self._tokens(block)
        level = min(block.level - self._level_offset, _MAX_HEADING_LEVEL)
        text = "".join(" " if token.type.endswith("break") else token.content for token in tokens).strip()
        heading = PageHeading(f"part-{len(self.headings) + 1}", level, text)
        self.headings.append(heading)
        return f'<h{level} id="{heading.id}" dir="auto">{self._render_inline(tokens)}</h{level}>\n'

    def _list(self, block: Block) -> str:
        name = "ul" if block.number is None else "ol"
        start = f' start="{block.number}"' if block.number not in (None, 1) else ""
        items = "".join(f'<li dir="auto">{self._item(item.children)}</li>\n' for item in block.children)
        return f"<{name}{start}>\n{items}</{name}>\n"

    def _item(self, blocks: Sequence[Block]) -> str:
        """The content of an item: tight paragraphs are no elements."""
        markup = "\n" if blocks and not blocks[0].tight else ""
        for block, after in zip(blocks, (*blocks[1:], None), strict=False):
            markup += self._line(block) if block.tight else self._block(block)
            markup += "\n" if block.tight and after and after.kind not in ("table", "code") else ""
        return markup

    def _table(self, block: Block) -> str:
        head, *rows = block.children
        start = f'<div class="wide" role="group" aria-label="{escape_text(_("Table"))}" tabindex="0"><table>\n'
        above = f"<thead>\n{self._row(head, 'th')}</thead>\n"
        body = f"<tbody>\n{''.join(self._row(row, 'td') for row in rows)}</tbody>\n" if rows else ""
        return f"{start}{above}{body}</table></div>\n"

    def _row(self, row: Block, name: str) -> str:
        """A row; a column's alignment is a class, for the page allows no style attribute."""
        sides = (f' class="to-{cell.align}"' if cell.align else "" for cell in row.cells)
        cells = (
            f'<{name} dir="auto"{side}>{self._line(cell)}</{name}>\n'
            for side, cell in zip(sides, row.cells, strict=True)
        )
        return f"<tr>\n{''.join(cells)}</tr>\n"

    def _line(self, block: Block) -> str:
        return self._render_inline(self._tokens(block))

    def _tokens(self, block: Block) -> list[Token]:
        return read_inline(self._text, block, block.claims)

    def _render_inline(self, tokens: Sequence[Token]) -> str:
        return self._inline.renderInline(_ClaimMarker(self._signs, self.words).add_spans(tokens), _OPTIONS, {})


class _ClaimMarker:
    """Puts the spans of claims around what is inside one block, never across the borders of markup."""

    def __init__(self, signs: Signs, words: dict[int, list[str]]) -> None:
        self._signs, self._words = signs, words
        self._output: list[Token] = []
        self._inside: list[int] = []
        self._tail: list[int] = []
        self._span = ""  # the span that is open: its classes
        self._links = 0
        self._after_link: list[Token] = []

    def add_spans(self, children: Sequence[Token]) -> list[Token]:
        """The children with spans, citations and badges as HTML."""
        for child in children:
            if child.type == "mark":
                self._mark(child.meta["mark"])
            elif child.nesting:
                self._border(child)
            else:
                self._leaf(child)
        self._close()
        return self._output

    def _mark(self, mark: Mark) -> None:
        self._close()
        if mark.edge == "start":
            self._inside.append(mark.claim)
            if mark.claim in self._words:
                self._words[mark.claim].append(" · ")  # of another block
        elif mark.edge == "end":
            self._inside.remove(mark.claim)
            self._tail.append(mark.claim)
        else:
            self._tail.remove(mark.claim)
            self._add_sign(_html(self._signs.badge(mark.claim)))

    def _border(self, child: Token) -> None:
        self._close()
        self._output.append(child)
        if child.tag == "a":
            self._links += child.nesting
            self._flush_signs()

    def _leaf(self, child: Token) -> None:
        if child.type == "cite":
            self._cite(child.meta["cite"])
            return
        self._open()
        if self._inside:
            self._words[self._inside[-1]].append(" " if child.type.endswith("break") else child.content)
        self._output.append(child)

    def _cite(self, citation: NumberedCitation) -> None:
        if not self._links:
            self._open()
        self._add_sign(_html(self._signs.cite(citation)))

    def _add_sign(self, sign: Token) -> None:
        """A sign that is a link itself, so it never stands inside one."""
        (self._after_link if self._links else self._output).append(sign)

    def _flush_signs(self) -> None:
        if not self._links:
            self._output += self._after_link
            self._after_link = []

    def _open(self) -> None:
        """Open the span of the claim at hand, where there is one and none is open."""
        if self._span or not (self._inside or self._tail):
            return
        claim = (self._inside or self._tail)[-1]
        kind = "claim" if self._inside else "tail"
        self._span = f"{kind} {self._signs.verdicts[claim]}"
        first = kind == "claim" and claim not in self._words
        if first:
            self._words[claim] = []
        start_tag = f'<span class="{self._span}"' + (f' id="at-{claim + 1}">' if first else ">")
        self._output.append(_html(Markup(start_tag)))

    def _close(self) -> None:
        if self._span:
            self._output.append(_html(Markup("</span>")))
        self._span = ""


def _html(markup: Markup) -> Token:
    return Token("sign", "", 0, content=markup)


class _Renderer(RendererHTML):
    """HTML whose links tell no one where they were followed from."""

    def sign(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return tokens[idx].content

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        if not str(token.attrs.get("href", "")).startswith("#"):
            token.attrSet("rel", "noopener noreferrer nofollow")
        return self.renderToken(tokens, idx, options, env)


_renderer = cache(_Renderer)


# The fields of a typed answer, as a table.

_VERDICTS: dict[str, Verdict] = {verdict: verdict for verdict in VERDICTS}


def fields_section(report: Report) -> Child:
    """The section with name, value, verdict and reason of each field; None without fields."""
    if not report.fields:
        return None
    head = el("tr", *(el("th", name, scope="col") for name in report_parts.field_headings()))
    rows = (_row(name, field) for name, field in report.fields.items())
    table = el("table", el("thead", head), el("tbody", *rows))
    wide = el("div", table, class_="wide", tabindex="0", role="region", aria_labelledby="fields")
    return el("section", el("h2", _("Fields"), id="fields"), wide, aria_labelledby="fields")


def _row(name: str, field: ReportField) -> Markup:
    verdict = _VERDICTS.get(field.verdict)
    return el(
        "tr",
        el("th", isolate(name), scope="row"),
        el("td", isolate(report_parts.value_text(field.value))),
        el("td", verdict_word(verdict) if verdict else isolate(field.verdict)),
        el("td", isolate(verdict_reason(field.reason))),
    )
