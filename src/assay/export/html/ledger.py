"""What is said of the claims: the counts, those to check, and every one with its checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from markupsafe import Markup

from assay.core.claims import VERDICTS, Check
from assay.core.report import ReportClaim
from assay.export import sections
from assay.export.html.comparing import comparisons
from assay.export.html.history import removed, versions
from assay.export.html.markup import Child, counted, el, foreign, join
from assay.export.html.material import Material
from assay.export.html.signs import icon, word

_OPEN_UP_TO = 4  # a longer list at the top is closed


def counts(material: Material) -> Markup | None:
    """How many claims have which verdict."""
    summary = material.report.summary
    if not summary.claims:
        return None
    items = [
        el("li", icon(verdict), el("b", f"{getattr(summary, verdict):,}"), " ", verdict, class_=f"badge {verdict}")
        for verdict in VERDICTS
        if getattr(summary, verdict)
    ]
    dropped = summary.dropped_markers
    note = f"{counted(dropped, 'citation')} of nothing that exists dropped." if dropped else None
    return el("div", el("ul", *items, class_="counts"), el("p", note, class_="facts") if note else None)


def to_check(material: Material, words: Mapping[int, str]) -> Child:
    """The claims a reader should look at, the worst first."""
    worst = [
        (index, claim)
        for verdict in sections.TO_CHECK
        for index, claim in enumerate(material.report.claims)
        if claim.verdict == verdict
    ]
    items = [
        el(
            "li",
            word(claim.verdict),
            " ",
            _sentence(index, claim, words),
            _after(": ", claim.reason),
        )
        for index, claim in worst
    ]
    return box("Claims to check", items)


def not_found(material: Material) -> Child:
    """Parts of the question without an answer, sources that disagree, and sentences which were taken out."""
    view = material.view
    parts = (
        el("li", foreign(part.part), ": ", "answered in part" if part.status == "partly" else "not answered")
        for part in view.coverage
        if part.status != "answered"
    )
    conflicts = (
        el("li", foreign(conflict.text), " ", _quote_links(material.quotes_of(conflict.passages)))
        for conflict in view.conflicts
    )
    return join(
        (
            box("What could not be found", parts),
            box("Where sources disagree", conflicts),
            box("Sentences taken out", removed(material.report.removed)),
        )
    )


def limits(material: Material) -> Child:
    """What restricts the report; a failed final check among it."""
    return box("Limits", (el("li", foreign(limit)) for limit in sections.limits(material.view, material.report)))


def box(title: str, items: Iterable[Markup]) -> Child:
    """A list which opens and closes, with its length; None when it is empty."""
    listed = list(items)
    if not listed:
        return None
    summary = el("summary", title, " ", el("span", f"({len(listed)})", class_="facts"))
    return el("details", summary, el("ul", *listed), class_="box", open=len(listed) <= _OPEN_UP_TO)


def ledger(material: Material, words: Mapping[int, str]) -> Markup | None:
    """Every claim with its verdict, the reason, its checks and its quotes."""
    claims = material.report.claims
    if not claims:
        return None
    items = (_entry(material, index, claim, words) for index, claim in enumerate(claims))
    return el(
        "section",
        el("h2", "Every claim and its checks", id="claims"),
        el("ol", *items, class_="claims"),
        aria_labelledby="claims",
    )


def _entry(material: Material, index: int, claim: ReportClaim, words: Mapping[int, str]) -> Markup:
    lost = None if index in words else "Not marked in the text."
    return el(
        "li",
        el("p", word(claim.verdict), " ", _sentence(index, claim, words), class_="sentence"),
        el("p", foreign(claim.reason), class_="reason") if claim.reason else None,
        el("p", lost, class_="facts") if lost else None,
        el("p", "Quotes: ", _quote_links(material.quotes_of_claim(index)), class_="facts quoted")
        if claim.citations
        else None,
        _opposed(material, claim),
        _nearest(material, claim),
        comparisons(claim.text, material.passages_of(claim), is_open=claim.verdict in sections.TO_CHECK),
        versions(claim.versions),
        _checks(claim.checks),
        id=f"claim-{index + 1}",
        class_=claim.verdict,
    )


def _opposed(material: Material, claim: ReportClaim) -> Child:
    """The passages which speak against a claim: a link to a quote, else the words."""
    if not claim.against:
        return None
    ids = [each.passage for each in claim.against]
    links = _quote_links(material.quotes_of(ids))
    others = [material.further[id] for id in ids if id not in material.quotes and id in material.further]
    quoted = (el("q", foreign(" ".join(passage.text.split()))) for passage in others)
    return el("p", "Speaks against it: ", join((links, *quoted), ", "), class_="facts quoted")


def _nearest(material: Material, claim: ReportClaim) -> Child:
    """Of a claim which does not hold, the passage which says most of it, and what that lacks."""
    near = claim.checks[-1].nearest if claim.checks else None
    if near is None:
        return None
    links = _quote_links(material.quotes_of([near.passage]))
    lacks = join((", which lacks: ", foreign(", ".join(near.missing)))) if near.missing else None
    return el("p", "Nearest: quote ", links, lacks, class_="facts quoted") if links else None


def _sentence(index: int, claim: ReportClaim, words: Mapping[int, str]) -> Markup:
    """A claim's text, a link to it where it stands in the report."""
    if index not in words:
        return foreign(" ".join(claim.text.split()))
    return el("a", foreign(words[index]), href=f"#at-{index + 1}", class_="to-text")


def _quote_links(quotes: Iterable[str]) -> Markup:
    links = (
        el("a", id.removeprefix("quote-").replace("-", "."), href=f"#{id}", aria_label=f"Quote {id[6:]}")
        for id in quotes
    )
    return join(links, ", ")


def _checks(checks: tuple[Check, ...]) -> Child:
    if not checks:
        return None
    items = (el("li", foreign(check.rule), ": ", check.verdict, _after(", ", check.reason)) for check in checks)
    return el("details", el("summary", counted(len(checks), "check")), el("ul", *items), class_="checks")


def _after(sign: str, text: str) -> Child:
    return join((sign, foreign(text))) if text else None
