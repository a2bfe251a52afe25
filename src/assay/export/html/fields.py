"""The fields of a typed answer, as a table."""

from __future__ import annotations

from markupsafe import Markup

from assay.core.claims import VERDICTS, Verdict
from assay.core.kinds import reason
from assay.core.report import Report
from assay.core.translation import gettext as _
from assay.core.typed_answers import ReportField
from assay.export import sections
from assay.export.html.markup import Child, el, foreign
from assay.export.html.signs import word

_VERDICTS: dict[str, Verdict] = {verdict: verdict for verdict in VERDICTS}


def fields(report: Report) -> Child:
    """The section with name, value, verdict and reason of each field; None without fields."""
    if not report.fields:
        return None
    head = el("tr", *(el("th", name, scope="col") for name in sections.field_headings()))
    rows = (_row(name, field) for name, field in report.fields.items())
    table = el("table", el("thead", head), el("tbody", *rows))
    wide = el("div", table, class_="wide", tabindex="0", role="region", aria_labelledby="fields")
    return el("section", el("h2", _("Fields"), id="fields"), wide, aria_labelledby="fields")


def _row(name: str, field: ReportField) -> Markup:
    verdict = _VERDICTS.get(field.verdict)
    return el(
        "tr",
        el("th", foreign(name), scope="row"),
        el("td", foreign(sections.value(field.value))),
        el("td", word(verdict) if verdict else foreign(field.verdict)),
        el("td", foreign(reason(field.reason))),
    )
