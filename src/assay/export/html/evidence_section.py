"""The sources with their quotes, the sources that were read but not cited, and those that could not be read;
and why a claim has its verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from markupsafe import Markup

from assay.core import phrases
from assay.core.clean import HARMFUL, local_path, one_line
from assay.core.lazy import regex
from assay.core.phrases import notice_line, source_kind, verdict_reason
from assay.core.quote_context import QuoteInContext, plain_words
from assay.core.report import ReportPassage, ReportSource
from assay.core.translation import format_number, format_report_date, label_text
from assay.core.translation import gettext as _
from assay.core.view import Unreadable
from assay.export import report_parts
from assay.export.html.markup import Child, PageMaterial, el, escape_text, fill, isolate, join, web_link

_BLANK = regex(r"\n\s*\n")
_WRAPPED = regex(r"(?<=[^\n]{50})\n(?=[^\W_]|[\"'(“‘`])(?!\d{1,3}[.)][ \t])")


def sources_section(material: PageMaterial) -> Markup | None:
    """The section of sources: the cited ones with their quotes, then the others; None if the run has no sources."""
    cited = [_source_item(material, number, source) for number, source in material.cited.items()]
    uncited = [source for source in material.report.sources if source.number is None]
    lists = (
        el("ol", *cited, class_="sources") if cited else el("p", _("No source is cited.")),
        _others(uncited),
        _unreadable_sources(material.view.unreadable),
    )
    if not (cited or uncited or material.view.unreadable):
        return None
    return el("section", el("h2", _("Sources and quotes"), id="sources"), *lists, aria_labelledby="sources")


def _source_item(material: PageMaterial, number: int, source: ReportSource) -> Markup:
    passages = material.passages.get(number, ())
    quotes = (
        _quote(material, source, passages[part.index], part)
        for group in report_parts.group_passages(passages)
        for part in group
    )
    head = el("div", el("span", f"[{number}]", class_="number"), _head(source), class_="head")
    return el("li", el("div", head, id=f"source-{number}"), *quotes)


def _head(source: ReportSource) -> Markup:
    """Title, author, dates and address of a source, and the hash of its text."""
    title = one_line(source.title) or one_line(source.url)
    facts = (
        isolate(one_line(source.author)) if source.author else None,
        *(el("strong", phrase) for phrase in report_parts.ocr_note(source)),
        *(el("strong", isolate(notice_line(notice)), class_="notice") for notice in source.notices),
        join((source_kind(source.kind), " (", isolate(one_line(source.kind_reason)), ")"))
        if source.kind != "unknown"
        else None,
        report_parts.found_date(source)
        or (
            _("published {date}").format(date=format_report_date(one_line(source.published)))
            if source.published
            else None
        ),
        report_parts.retrieval_text(one_line(source.fetched_at)[:10]),
    )
    return el(
        "div",
        el("div", isolate(title), class_="title"),
        el("div", join((fact for fact in facts if fact), _(", ")), class_="facts"),
        el("div", address_link(source.url), class_="where"),
        el("p", fill(_("SHA-256 of the document {hash}"), hash=el("code", source.document_sha256)), class_="hash")
        if source.number is not None
        else None,
    )


def address_link(url: str) -> Markup:
    """An address as a link; the path of a local file."""
    path = local_path(url)
    return web_link(url) if path is None else el("span", isolate(path), class_="address")


def _quote(material: PageMaterial, source: ReportSource, passage: ReportPassage, part: QuoteInContext) -> Markup:
    """A quote with its part of the context, and its place; one that is `joined` continues the text of the one above."""
    before = _context(part.before.lstrip(), source.media_type)
    after = _context(part.after if part.is_followed else part.after.rstrip(), source.media_type)
    is_cut = not part.follows and len(part.before.encode("utf-8", "surrogatepass")) < passage.start
    text = el(
        "blockquote",
        el("span", "… " if is_cut else "", before, class_="around") if before else None,
        el("mark", _join_lines(passage.text)),
        el("span", after, "" if part.is_followed else " …", class_="around") if after else None,
        dir="auto",
    )
    where = join(
        (
            _("page {number}").format(number=passage.page) if passage.page else None,
            isolate(" › ".join(map(one_line, passage.above))) if passage.above else None,
            _("bytes {start}–{end}").format(start=format_number(passage.start), end=format_number(passage.end)),
            fill(_("passage {id}"), id=el("code", passage.id)),
        ),
        " · ",
    )
    left_out = _("Characters that control a terminal or reorder text are left out here.")
    return el(
        "div",
        text,
        el("p", where, class_="where"),
        el("p", material.opens(passage), class_="opens") if material.opens else None,
        el("p", left_out, class_="where") if HARMFUL.search(passage.text) else None,
        class_="quote joined" if part.follows else "quote",
        id=material.quotes[passage.id],
        data_source=f"source-{source.number}",
    )


def _context(text: str, media_type: str) -> Markup:
    """The text on one side of a quote in plain words, without blank lines."""
    return _join_lines(text, lambda piece: _BLANK.sub("\n", plain_words(piece, media_type)))


def _join_lines(text: str, show: Callable[[str], str] = str) -> Markup:
    """`text` with line ends inside paragraphs shown as spaces, and `show` applied to what is between them."""
    pieces = _WRAPPED.split(text)
    return el("span", "\n", class_="wrap").join([escape_text(show(piece)) for piece in pieces])


def _others(uncited: list[ReportSource]) -> Child:
    if not uncited:
        return None
    items = (el("li", _head(source)) for source in uncited)
    summary = el("summary", label_text(_("Read but not cited"), phrases.sources(len(uncited))))
    return el("details", summary, el("ul", *items, class_="sources"), id="uncited")


def _unreadable_sources(unreadable: tuple[Unreadable, ...]) -> Child:
    if not unreadable:
        return None
    items = (
        el("li", address_link(document.url), el("div", isolate(document.reason), class_="facts"))
        for document in unreadable
    )
    summary = el("summary", label_text(_("Could not be read"), phrases.documents(len(unreadable))))
    return el("details", summary, el("ul", *items, class_="sources"), id="unreadable", open=True)


# Why a claim has its verdict, for a reader: passages by the numbers of their quotes in the page, and plain words.

PASSAGE = regex(r"\bS\d+\.\d+\b")


def linked_reason(material: PageMaterial, text: str) -> Markup:
    """A reason, with links to the quotes of the passages it names; empty stays empty."""
    reason = verdict_reason(text)
    return el("bdi", join(_link_references(material, reason))) if reason else Markup("")


def _link_references(material: PageMaterial, text: str) -> Iterator[Markup]:
    position = 0
    for match in PASSAGE.finditer(text):
        quote = material.quotes.get(match[0])
        if quote is not None:
            yield escape_text(text[position : match.start()])
            yield el("a", passage_label(material, match[0]), href=f"#{quote}")
            position = match.end()
    yield escape_text(text[position:])


def passage_label(material: PageMaterial, passage: str) -> str:
    """The name of a passage for a reader: its quote in the page, else its id."""
    quote = material.quotes.get(passage)
    if quote is None:
        return _("Passage {id}").format(id=passage)
    return _("Quote {id}").format(id=quote_number(quote))


def quote_number(quote: str) -> str:
    """The number of a quote by its id in the page: `quote-1-2` is 1.2."""
    return quote.removeprefix("quote-").replace("-", ".")
