"""The report of a run on a screen: the exported report with a list of claims, and ways to continue."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import msgspec
from markupsafe import Markup
from starlette.responses import Response

from assay.core.claims import HOLDING, VERDICTS
from assay.core.errors import AssayError
from assay.core.report import ReportPassage
from assay.core.search_record import search_log
from assay.core.translation import N_, gettext
from assay.core.view import RunView
from assay.export.html.article import Article, PageHeading, article, fields
from assay.export.html.evidence_section import sources
from assay.export.html.ledger import counts, ledger, limits, not_found, to_check
from assay.export.html.markup import Material, el, gather
from assay.export.html.page import in_short, made
from assay.export.sections import language, spoken_in
from assay.locale import speaking, speaking_page
from assay.server.api import shares
from assay.server.api.reports import formats
from assay.server.api.shares import ShareShown, list_shares
from assay.server.page.forms import converted, read_form
from assay.server.page.regions import active_seconds, report_signs, summary_of
from assay.server.page.templates_environment import go_to, screen
from assay.server.page.words import language_of
from assay.server.problems import Refusal, problem_of
from assay.server.wire import RouteCall

WORDS = {
    "close": N_("Close"),
    "copy": N_("Copy quote"),
    "copied": N_("Copied"),
    "selected": N_("Selected: press Ctrl+C"),
    "quote": N_("Quote of the citation"),
    "verdict": N_("Verdict and quotes"),
}
"""The texts of the script for quotes."""
KEPT = 8
"""Cached rendered reports: an ended run does not change."""
_SHOWN: dict[tuple[str, int, str], dict[str, Any]] = {}

SECTIONS = {"fields": "Fields", "sources": "Sources and quotes", "made": "How this was made"}


class ClaimFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A filter of the claims: verdicts, and how many claims have them."""

    id: str
    name: str
    count: int


async def report_screen(
    call: RouteCall, view: RunView, *, link: str = "", fault: str = "", status: int = 200
) -> Response:
    """The report of a run; `link` is a new link to it, `fault` why none could be made."""
    language = language_of(call.request)
    known = (view.run_id, view.last_seq, language)
    values = _SHOWN.get(known)
    if values is None:
        values = _SHOWN[known] = await asyncio.to_thread(_values, view, language)
        while len(_SHOWN) > KEPT:
            del _SHOWN[next(iter(_SHOWN))]
    searched = view.brief.scope.collections if view.brief else ()
    known_here = [row.name for row in await call.assay.collections() if row.name in searched]
    return screen(
        call,
        "report.html",
        section="runs",
        status=status,
        secret=bool(link),
        view=view,
        sharing=call.backend.settings.server.shares,
        shares=await _shares(call, view),
        link=link,
        fault=fault,
        words=WORDS,
        labels=(await call.assay.find(view.run_id)).labels,
        exports=_exports(),
        collections=known_here,
        **values,
    )


async def _shares(call: RouteCall, view: RunView) -> tuple[ShareShown, ...]:
    """The links to a report, if sharing is on."""
    return (await list_shares(call, view.run_id)).shares if call.backend.settings.server.shares else ()


def _values(view: RunView, page: str) -> dict[str, Any]:
    """The values for the report's template, rendered by the code for exports. Takes a while."""
    with speaking_page(page):
        reads, summary = gettext("Read it in its document"), summary_of(view)
    with speaking(spoken_in(view)):
        material = gather(view, "numbers", opens=partial(_place, reads))
        text = article(material.report.markdown, material.claims, material.cites, report_signs(material))
        return {
            "report": material.report,
            "text": text.html,
            "headings": _headings(text, material),
            "glance": _joined(counts(material), to_check(material, text.words), not_found(material), limits(material)),
            "parts": _joined(fields(material.report), sources(material), made(material)),
            "ledger": ledger(material, text.words),
            "in_short": in_short(material),
            "left_out": tuple(left for row in search_log(view) for left in row.excluded if not left.tried),
            "filters": _filters(material),
            "language": (language(view.brief.language) if view.brief else "") or None,
            "summary": summary,
            "seconds": active_seconds(view),
        }


def _place(words: str, passage: ReportPassage) -> Markup:
    """A link to a passage in its document."""
    address = f"/documents/{passage.document_sha256}?start={passage.start}&end={passage.end}#passage"
    return el("a", words, href=address)


def _joined(*parts: str | Markup | None) -> Markup:
    return Markup("").join(part for part in parts if part)


def _headings(text: Article, material: Material) -> tuple[PageHeading, ...]:
    """The entries of the contents; sections have the same names as in exports."""
    there = {
        "fields": bool(material.report.fields),
        "sources": bool(material.report.sources or material.view.unreadable),
        "made": True,
    }
    own = (PageHeading(id, 2, gettext(name)) for id, name in SECTIONS.items() if there[id])
    return (*text.headings, *own)


def _filters(material: Material) -> tuple[ClaimFilter, ...]:
    """All claims, weak ones, contradicted ones, and those that could not be checked."""
    verdicts = material.verdicts
    weak = sum(verdict in ("partial", "unsupported") for verdict in verdicts)
    found = (
        ClaimFilter(id="all", name=N_("All"), count=len(verdicts)),
        ClaimFilter(id="weak", name=N_("Weak"), count=weak),
        ClaimFilter(id="contradicted", name=N_("Contradicted"), count=verdicts.count("contradicted")),
        ClaimFilter(id="unchecked", name=N_("Unchecked"), count=verdicts.count("unchecked")),
    )
    assert {"partial", "unsupported", "contradicted", "unchecked", *HOLDING} == set(VERDICTS)
    return found


def _exports() -> tuple[str, ...]:
    """The formats of a report, the most wanted first."""
    first = ("md", "html", "pdf", "docx")
    known = {name.removeprefix(".") for name in formats()}
    return (*(name for name in first if name in known), *sorted(known - set(first)))


# Links to a report: made, listed and revoked beside it. A link is shown once, on the page after it is made.


async def make_share(call: RouteCall, run: str) -> Response:
    """Make a link, and show it beside the report."""
    form = await read_form(call.request, 10_000)
    given: dict[str, Any] = {"days": days} if (days := form.text("days")) else {}
    view = await call.backend.view(call.owner, run)
    try:
        made = await shares.share_run(call, view.run_id, converted(given, shares.ShareWanted))
    except Refusal as refused:
        fault = refused.problem.detail or refused.problem.title
        return await report_screen(call, view, fault=fault, status=refused.problem.status)
    except AssayError as error:
        return await report_screen(call, view, fault=str(error), status=problem_of(error).status)
    return await report_screen(call, view, link=made.url)


async def revoke_share(call: RouteCall, run: str, share: str) -> Response:
    """Revoke a link."""
    await shares.revoke_share(call, run, share)
    return go_to(f"/runs/{run}")
