"""Elements of a page. Text becomes HTML here and nowhere else: what is not `Markup` already is cleaned and escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from string import Formatter

import msgspec
from markupsafe import Markup, escape

from assay.core import phrases
from assay.core.bibliography import NumberedCitation
from assay.core.claims import VERDICTS, Verdict
from assay.core.clean import HARMFUL, link_target, one_line
from assay.core.markers import CitationMode
from assay.core.report import Report, ReportClaim, ReportPassage, ReportSource
from assay.core.translation import gettext as _
from assay.core.translation import label_text
from assay.core.view import RunView
from assay.export import report_parts
from assay.export.report_parts import ReportText, numbered_mode, read_body

Child = str | Markup | None
_VOID = frozenset(("br", "hr", "input", "meta"))


def escape_text(text: str) -> Markup:
    """`text` escaped for HTML, without terminal escapes, control characters and marks that reorder text."""
    if isinstance(text, Markup):
        return text
    return escape(text if text.isprintable() else HARMFUL.sub("", text))  # printable text contains none of them


def join(children: Iterable[Child], separator: str = "") -> Markup:
    """The children in order, without those that are None or empty."""
    text = str.join(
        escape_text(separator), [escape_text(child) for child in children if child]
    )  # escaped already, and not to be escaped again
    return Markup(text)


def el(name: str, /, *children: Child, **attributes: str | bool | None) -> Markup:
    """An element. An attribute `class_` is `class`, `data_x` is `data-x`; True is one without a value, None is none."""
    start_tag = f"<{name}{''.join([_attribute(key, value) for key, value in attributes.items()])}>"
    return Markup(start_tag if name in _VOID else f"{start_tag}{join(children)}</{name}>")


def _attribute(key: str, value: str | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape_text(value)}"'


def isolate(text: str) -> Markup:
    """Text of unknown direction inside a line, isolated so that it affects nothing else; empty stays empty."""
    return el("bdi", text) if text else Markup("")


def web_link(url: str, label: Child = None) -> Markup:
    """A link to `url`; only its text if it is not http or https."""
    target = link_target(url)
    text = label or isolate(url)
    if target is None:
        return el("span", text, class_="address")
    return el("a", text, href=target, rel="noopener noreferrer nofollow", class_="address")


def fill(message: str, **parts: Child) -> Markup:
    """A message with elements in its `{places}`; each place occurs once."""
    pieces = (
        escape_text(text) if name is None else join((escape_text(text), parts[name]))
        for text, name, *_ in Formatter().parse(message)
    )
    return Markup("").join(pieces)


# What all parts of a page are made from: the report, and the id of each quote in the page.


class PageMaterial(msgspec.Struct, frozen=True, kw_only=True):
    """A run's report, taken apart for the page. `quotes` maps a passage's id to the id of its quote in the
    page.

    Claims count from 1 in the ids of the page; no id contains text from a log. `opens` is a link to
    a passage in its whole document, None where a page stands alone.
    """

    view: RunView
    report: Report
    mode: CitationMode
    text: ReportText
    cited: dict[int, ReportSource]
    passages: dict[int, tuple[ReportPassage, ...]]
    quotes: dict[str, str]
    opens: Callable[[ReportPassage], Markup] | None = None

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts of the claims, in order."""
        return tuple(claim.verdict for claim in self.report.claims)

    def quotes_of(self, ids: Iterable[str]) -> tuple[str, ...]:
        """The ids in the page of these passages' quotes, each once."""
        return tuple(dict.fromkeys(self.quotes[id] for id in ids if id in self.quotes))

    def quotes_of_claim(self, index: int) -> tuple[str, ...]:
        """The ids in the page of the quotes that a claim cites."""
        return self.quotes_of(citation.passage for citation in self.report.claims[index].citations)

    def passages_of(self, claim: ReportClaim) -> tuple[ReportPassage, ...]:
        cited_ids = {citation.passage for citation in claim.citations}
        return tuple(passage for passage in self.report.passages if passage.id in cited_ids)

    @property
    def uncited_sources(self) -> dict[str, ReportPassage]:
        """The sources in the ledger that are not cited, by id."""
        return {passage.id: passage for passage in self.report.further}


def gather_material(
    view: RunView, mode: CitationMode, *, opens: Callable[[ReportPassage], Markup] | None = None
) -> PageMaterial:
    """The material of a page. In any mode but `none` citations are found as numbers; the mode says how they look."""
    body = read_body(view, numbered_mode(mode))
    report = body.report
    cited = {source.number: source for source in report_parts.cited_sources(report) if source.number is not None}
    passages_by_source = report_parts.cited_passages(report)
    passages = {
        number: _join_neighbours(passages_by_source[source.id])
        for number, source in cited.items()
        if source.id in passages_by_source
    }
    return PageMaterial(
        view=view,
        report=report,
        mode=mode,
        text=body.text,
        cited=cited,
        passages=passages,
        quotes=_quotes(report, passages),
        opens=opens,
    )


def _join_neighbours(passages: Sequence[ReportPassage]) -> tuple[ReportPassage, ...]:
    """The passages in order, but those of one place together, in the order of the document."""
    return tuple(passages[part.index] for group in report_parts.group_passages(passages) for part in group)


def _quotes(report: Report, passages: dict[int, tuple[ReportPassage, ...]]) -> dict[str, str]:
    """The quote of every cited passage; two which agents met in one place share theirs."""
    quote_ids = {
        (passage.source, passage.start, passage.end): f"quote-{number}-{index}"
        for number, group in passages.items()
        for index, passage in enumerate(group, 1)
    }
    return {passage.id: quote_ids[passage.source, passage.start, passage.end] for passage in report.passages}


# Verdicts and citations as they stand in the text. A verdict is always a word and a sign, never a colour alone.

_SHAPES: dict[Verdict, str] = {
    "quoted": "M6.8 4.2C4.6 5.2 3.4 6.9 3.4 9v2.6h3V9H4.6M13 4.2c-2.2 1-3.4 2.7-3.4 4.8v2.6h3V9h-1.8",
    "supported": "M3 8.5l3.2 3.2L13 5",
    "partial": "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11v11a5.5 5.5 0 0 1-3.5-9.7zM6.2 4v8M4.4 5.6v4.8",
    "unsupported": "M4 4l8 8M12 4l-8 8",
    "contradicted": "M8 2.2L14.6 13.6H1.4zM8 6.6v3.2M8 11.6v.2",
    "unchecked": "M5.6 5.8a2.4 2.4 0 1 1 3.4 2.2c-.7.4-1 .8-1 1.7M8 12.3v.2",
}
_LABEL_LENGTH = 60


def sprite() -> Markup:
    """The signs of all verdicts, to be drawn with `icon`."""
    symbols = (
        el("symbol", el("path", d=_SHAPES[verdict]), id=f"sign-{verdict}", viewBox="0 0 16 16") for verdict in VERDICTS
    )
    return el("svg", *symbols, class_="sprite", aria_hidden="true", width="0", height="0")


def icon(verdict: Verdict) -> Markup:
    """A verdict's sign; the word stands beside it."""
    return el("svg", el("use", href=f"#sign-{verdict}"), class_="sign", aria_hidden="true", width="16", height="16")


def verdict_word(verdict: Verdict) -> Markup:
    """A verdict's sign and word."""
    return el("span", icon(verdict), phrases.verdict(verdict), class_=f"badge {verdict}")


def badge(material: PageMaterial, index: int) -> Markup:
    """The badge after a claim: a link to what is said of it."""
    verdict = material.report.claims[index].verdict
    shows = (f"claim-{index + 1}", *material.quotes_of_claim(index))
    link = el(
        "a",
        icon(verdict),
        phrases.verdict(verdict),
        href=f"#claim-{index + 1}",
        class_=f"badge {verdict}",
        data_show=" ".join(shows),
        aria_label=label_text(phrases.verdict(verdict), _("sentence {number}").format(number=index + 1)),
    )
    return el("span", " ", link, class_=f"verdict {verdict}")


def citation_link(material: PageMaterial, citation: NumberedCitation) -> Markup:
    """A citation: a link to its first quote, else to its source."""
    quotes = material.quotes_of(citation.ids)
    source = material.cited.get(citation.number)
    title = one_line(source.title or source.url) if source else ""
    target = quotes[0] if quotes else f"source-{citation.number}"
    link = el(
        "a",
        *_label(material, citation, title),
        href=f"#{target}",
        class_="cite",
        data_show=" ".join(quotes or (f"source-{citation.number}",)),
        title=None if material.mode == "links" else title,
    )
    return link if material.mode == "links" else el("sup", link)


def _label(material: PageMaterial, citation: NumberedCitation, title: str) -> tuple[Markup | str, ...]:
    if material.mode == "markers":
        return (f"[{', '.join(citation.ids)}]",)
    if material.mode == "links":
        short = title if len(title) <= _LABEL_LENGTH else title[: _LABEL_LENGTH - 1] + "…"
        return (join(("(", isolate(short or str(citation.number)), ")")),)
    return (f"[{citation.number}]",)
