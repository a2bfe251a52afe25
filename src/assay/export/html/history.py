"""What a sentence was before: its versions, and the sentences which were taken out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from assay.core import counts
from assay.core.claims import Version
from assay.core.kinds import reason
from assay.core.report import ReportRemoved
from assay.core.translation import colon
from assay.core.translation import gettext as _
from assay.export.html.markup import Child, el, foreign, framed, join
from assay.export.html.signs import word


def versions(said: Sequence[Version]) -> Child:
    """What a claim said before it was revised, and why it was; the oldest first."""
    if not said:
        return None
    summary = el("summary", counts.revisions(len(said)))
    return el("details", summary, el("ol", *map(_version, said)), class_="versions")


def _version(version: Version) -> Markup:
    return el(
        "li",
        word(version.verdict),
        " ",
        framed(_("was: {text}"), text=el("q", foreign(" ".join(version.text.split())))),
        join((_(", "), framed(_("because {reason}"), reason=foreign(version.why)))) if version.why else None,
        join((" (", foreign(reason(version.reason)), ")")) if version.reason else None,
    )


def removed(claims: Iterable[ReportRemoved]) -> Iterable[Markup]:
    """The sentences which were taken out, each with the verdict it had, and why it went."""
    for claim in claims:
        finding = reason(claim.reason) if claim.reason else ""
        yield el(
            "li",
            word(claim.verdict),
            " ",
            el("q", foreign(" ".join(claim.text.split()))),
            join((" (", foreign(claim.why), ")")) if claim.why else None,
            join((colon(), foreign(finding))) if finding not in claim.why else None,
            versions(claim.versions),
        )
