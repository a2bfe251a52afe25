"""The section on claims: the counts, the claims to check, and every claim with its checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from markupsafe import Markup

from assay.core import phrases
from assay.core.blocks import outline
from assay.core.claims import VERDICTS, Check, Conflict, Version
from assay.core.clean import one_line
from assay.core.phrases import MISSING, relevance, verdict, verdict_reason
from assay.core.report import ReportClaim, ReportRemoved
from assay.core.text import words
from assay.core.translation import colon_text, format_day, format_number
from assay.core.translation import gettext as _
from assay.export import report_parts
from assay.export.html.comparison import passage_comparisons
from assay.export.html.evidence_section import linked_reason, quote_number
from assay.export.html.markup import (
    Child,
    PageMaterial,
    el,
    fill,
    icon,
    isolate,
    join,
    verdict_word,
)

# Earlier versions of a sentence, and removed sentences.


def claim_versions(material: PageMaterial, earlier: Sequence[Version]) -> Child:
    """The earlier versions of a revised claim, with the reasons; oldest first."""
    if not earlier:
        return None
    summary = el("summary", phrases.revisions(len(earlier)))
    return el("details", summary, el("ol", *(_version(material, version) for version in earlier)), class_="versions")


def _version(material: PageMaterial, version: Version) -> Markup:
    return el(
        "li",
        verdict_word(version.verdict),
        " ",
        fill(_("was: {text}"), text=el("q", isolate(" ".join(version.text.split())))),
        join((_(", "), fill(_("because {reason}"), reason=linked_reason(material, version.why))))
        if version.why
        else None,
        join((" (", linked_reason(material, version.reason), ")")) if version.reason else None,
    )


def removed_sentences(material: PageMaterial, claims: Iterable[ReportRemoved]) -> Iterable[Markup]:
    """The removed sentences, each with its verdict and the reason."""
    for claim in claims:
        finding = verdict_reason(claim.reason) if claim.reason else ""
        yield el(
            "li",
            verdict_word(claim.verdict),
            " ",
            el("q", isolate(" ".join(claim.text.split()))),
            join((" (", linked_reason(material, claim.why), ")")) if claim.why else None,
            join((colon_text(), linked_reason(material, claim.reason))) if finding not in claim.why else None,
            claim_versions(material, claim.versions),
        )


_OPEN_UP_TO = 4  # a longer list at the top starts closed


def counts_section(material: PageMaterial) -> Markup | None:
    """The number of claims by verdict."""
    summary = material.report.summary
    if not summary.claims:
        return None
    items = [
        el("li", icon(name), el("b", format_number(getattr(summary, name))), " ", verdict(name), class_=f"badge {name}")
        for name in VERDICTS
        if getattr(summary, name)
    ]
    dropped = summary.dropped_markers
    note = _("{text}.").format(text=phrases.citations_dropped(dropped)) if dropped else None
    return el("div", el("ul", *items, class_="counts"), el("p", note, class_="facts") if note else None)


def claims_to_check(material: PageMaterial, words: Mapping[int, str]) -> Child:
    """The claims that a reader should check, worst first."""
    worst = [
        (index, claim)
        for name in report_parts.TO_CHECK
        for index, claim in enumerate(material.report.claims)
        if claim.verdict == name
    ]
    items = [
        el(
            "li",
            verdict_word(claim.verdict),
            " ",
            _sentence(index, claim, words),
            _add_prefix(colon_text(), linked_reason(material, claim.reason)),
        )
        for index, claim in worst
    ]
    return details_box(_("Claims to check"), items)


def open_parts(material: PageMaterial) -> Child:
    """Parts of the question without an answer that the text does not name as such, and removed sentences."""
    view, labels = material.view, {"partly": _("answered in part"), "not": _("not answered")}
    named = _missing_section(material)
    open_parts = {part.part: part for part in view.coverage if part.status != "answered"}  # a step may be the question
    parts = [
        el(
            "li",
            isolate(part.part.rstrip("?？؟")),
            colon_text(),
            labels[part.status],
            join((" (", isolate(part.reason), ")")) if part.reason else "",
        )
        for part in open_parts.values()
        if f" {' '.join(words(part.part))} " not in f" {named} "
    ]
    taken_out = removed_sentences(material, material.report.removed)
    continued = el("ul", *parts) if parts else None  # the section has the heading
    missing_parts = continued if named else details_box(_(MISSING), parts)
    return join((missing_parts, details_box(_("Sentences taken out"), taken_out, most_open=0)))


def _missing_section(material: PageMaterial) -> str:
    """The words of what the text says could not be found; "" without such a section."""
    text, stated = material.report.markdown, material.view.report.stated
    titles = {_(MISSING), *(title for title, kind in stated.items() if kind == "missing")}
    sections = [text[part.start : part.end] for part in outline(text) if part.title in titles]
    return " ".join(word for section in sections for word in words(section))


def conflicts_section(material: PageMaterial) -> Child:
    """Where sources disagree."""
    items = (
        el(
            "li",
            isolate(conflict.text),
            " ",
            _quote_links(material.quotes_of(conflict.passages)),
            _sides(material, conflict),
        )
        for conflict in material.view.conflicts
    )
    return details_box(_("Where sources disagree"), items)


def _sides(material: PageMaterial, conflict: Conflict) -> Child:
    """The statements of sources that disagree, next to each other."""
    passages = {passage.id: passage for passage in (*material.report.passages, *material.report.further)}
    titles = {
        id: one_line(source.title) or one_line(source.url)
        for source in material.report.sources
        for id in (source.id, *source.aliases)
    }
    texts = [
        el(
            "div",
            el("p", el("b", isolate(side.value)), class_="value"),
            el("blockquote", isolate(" ".join(passages[side.passage].text.split())))
            if side.passage in passages
            else None,
            el(
                "p",
                el("span", *_said_by(titles.get(side.source, ""), side.date)),
                class_="facts",
            ),
        )
        for side in conflict.sides
    ]
    return el("div", *texts, class_="sides") if texts else None


def _said_by(title: str, date: str) -> Iterator[Child]:
    """The title of a source and the day of its statement, as far as they are known."""
    yield isolate(title)
    if title and date:
        yield ", "
    if date:
        yield format_day(date)


def limits_section(material: PageMaterial) -> Child:
    """The limits of the report, including a failed final check."""
    return details_box(
        _("Limits"),
        (el("li", isolate(limit)) for limit in report_parts.report_limits(material.view, material.report)),
    )


def details_box(title: str, items: Iterable[Markup], *, most_open: int = _OPEN_UP_TO) -> Child:
    """A list that opens and closes, with its length, open if it has at most `most_open`; None if it is empty."""
    entries = list(items)
    if not entries:
        return None
    summary = el("summary", title, " ", el("span", f"({len(entries)})", class_="facts"))
    return el("details", summary, el("ul", *entries), class_="box", open=len(entries) <= most_open)


def ledger_section(material: PageMaterial, words: Mapping[int, str]) -> Markup | None:
    """Every claim with its verdict, the reason, its checks and its quotes."""
    claims = material.report.claims
    if not claims:
        return None
    items = (_entry(material, index, claim, words) for index, claim in enumerate(claims))
    return el(
        "section",
        el("h2", _("Every claim and its checks"), id="claims"),
        legend_section(),
        el("ol", *items, class_="claims"),
        aria_labelledby="claims",
    )


def legend_section() -> Markup:
    """What the verdicts mean."""
    legend = report_parts.legend()
    rows = (el("div", el("dt", verdict_word(name)), el("dd", meaning)) for name, meaning in legend.rows)
    return el(
        "details",
        el("summary", legend.title),
        el("dl", *rows),
        el("p", legend.note, class_="facts"),
        class_="legend",
    )


def _entry(material: PageMaterial, index: int, claim: ReportClaim, words: Mapping[int, str]) -> Markup:
    unmarked_note = None if index in words else _("Not marked in the text.")
    return el(
        "li",
        el("p", verdict_word(claim.verdict), " ", _relevance(claim), _sentence(index, claim, words), class_="sentence"),
        el("p", linked_reason(material, claim.reason), class_="reason") if claim.reason else None,
        el("p", unmarked_note, class_="facts") if unmarked_note else None,
        el(
            "p",
            fill(_("Quotes: {quotes}"), quotes=_quote_links(material.quotes_of_claim(index))),
            class_="facts quoted",
        )
        if claim.citations
        else None,
        _contradicting_passages(material, claim),
        _nearest(material, claim),
        passage_comparisons(material, claim),
        claim_versions(material, claim.versions),
        _checks(material, claim.checks),
        id=f"claim-{index + 1}",
        class_=claim.verdict,
    )


def _relevance(claim: ReportClaim) -> Child:
    """How far a claim answers the question, with its verdict."""
    if not claim.relevance:
        return None
    return join((el("span", relevance(claim.relevance), class_=f"relevance {claim.relevance}"), " "))


def _contradicting_passages(material: PageMaterial, claim: ReportClaim) -> Child:
    """The passages that contradict a claim: links to quotes, else the words."""
    if not claim.against:
        return None
    ids = [contradiction.passage for contradiction in claim.against]
    links = _quote_links(material.quotes_of(ids))
    passages = [
        material.uncited_sources[id] for id in ids if id not in material.quotes and id in material.uncited_sources
    ]
    quotes = (el("q", isolate(" ".join(passage.text.split()))) for passage in passages)
    return el(
        "p",
        fill(_("Speaks against it: {quotes}"), quotes=join((links, *quotes), _(", "))),
        class_="facts quoted",
    )


def _nearest(material: PageMaterial, claim: ReportClaim) -> Child:
    """For a claim that does not hold: the passage with most of it, and the words that the passage lacks."""
    nearest = claim.checks[-1].nearest if claim.checks else None
    if nearest is None:
        return None
    links = _quote_links(material.quotes_of([nearest.passage]))
    if not links:
        return None
    missing_words = isolate(", ".join(nearest.missing))
    text = _("Nearest: quote {quote}, which lacks: {words}") if nearest.missing else _("Nearest: quote {quote}")
    return el("p", fill(text, quote=links, words=missing_words), class_="facts quoted")


def _sentence(index: int, claim: ReportClaim, words: Mapping[int, str]) -> Markup:
    """A claim's text; a link to it if it is in the report."""
    if index not in words:
        return isolate(" ".join(claim.text.split()))
    return el("a", isolate(words[index]), href=f"#at-{index + 1}", class_="to-text")


def _quote_links(quotes: Iterable[str]) -> Markup:
    links = (
        el("a", quote_number(id), href=f"#{id}", aria_label=_("Quote {id}").format(id=quote_number(id)))
        for id in quotes
    )
    return join(links, _(", "))


def _checks(material: PageMaterial, checks: tuple[Check, ...]) -> Child:
    if not checks:
        return None
    items = (
        el(
            "li",
            isolate(check.rule),
            colon_text(),
            verdict(check.verdict),
            _add_prefix(_(", "), linked_reason(material, check.reason)),
        )
        for check in checks
    )
    return el("details", el("summary", phrases.checks(len(checks))), el("ul", *items), class_="checks")


def _add_prefix(sign: str, text: Markup) -> Child:
    return join((sign, text)) if text else None
