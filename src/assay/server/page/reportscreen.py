"""Screens of reports: a run's, with its claims and ways to continue; two compared; a text checked by documents."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
from markupsafe import Markup
from starlette.responses import Response

from assay.app.verification import VerifiedText
from assay.core.claims import HOLDING, VERDICTS
from assay.core.errors import AssayError, UnknownName
from assay.core.phrases import verdict_reason
from assay.core.ports.lists import CELL_OF
from assay.core.ports.models import BUILT_IN
from assay.core.report import ReportPassage
from assay.core.search_record import search_log
from assay.core.sources import Passage
from assay.core.translation import N_, current_phrases, gettext, is_right_to_left
from assay.core.view import RunView
from assay.export.html import method_section, summary_line
from assay.export.html.article import Article, PageHeading, fields_section, render_run_article
from assay.export.html.evidence_section import PASSAGE, sources_section
from assay.export.html.ledger import (
    claims_to_check,
    conflicts_section,
    counts_section,
    ledger_section,
    limits_section,
    open_parts,
)
from assay.export.html.markup import PageMaterial, el, gather_material, join
from assay.export.report_parts import language_tag, report_locale
from assay.locale import use_locale, use_page_locale
from assay.server.api import documents, reports, runs
from assay.server.api.reports import formats, is_format_available, list_shares
from assay.server.api.run_requests import AddedScope
from assay.server.page.forms import EMPTY, PageForm, check_places, convert_texts, read_form
from assay.server.page.regions import active_seconds, summary_of
from assay.server.page.shelfscreen import collection_choices, max_form_bytes, store_files
from assay.server.page.templates_environment import fault_values, go_to, screen
from assay.server.page.words import language_of
from assay.server.problems import Refusal
from assay.server.wire import RouteCall
from assay.settings import Settings
from assay.verify.texts.text_check import CheckedClaim

SCRIPT_TEXTS = {
    "close": N_("Close"),
    "copy": N_("Copy quote"),
    "copied": N_("Copied"),
    "selected": N_("Selected: press Ctrl+C"),
    "quote": N_("Quote of the citation"),
    "verdict": N_("Verdict and quotes"),
}
"""The texts of the script for quotes."""
MAX_CACHED_REPORTS = 8
"""Cached rendered reports: an ended run does not change."""
_REPORT_CACHE: dict[tuple[str, int, str], dict[str, Any]] = {}

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
    key = (view.run_id, view.last_seq, language)
    values = _REPORT_CACHE.get(key)
    if values is None:
        values = _REPORT_CACHE[key] = await asyncio.to_thread(_values, view, language)
        while len(_REPORT_CACHE) > MAX_CACHED_REPORTS:
            del _REPORT_CACHE[next(iter(_REPORT_CACHE))]
    sharing = call.backend.settings.server.shares
    searched_collections = view.brief.scope.collections if view.brief else ()
    collection_names = [row.name for row in await call.assay.collections() if row.name in searched_collections]
    return screen(
        call,
        "report.html",
        section="runs",
        status=status,
        secret=bool(link),
        view=view,
        sharing=sharing,
        shares=(await list_shares(call, view.run_id)).shares if sharing else (),
        link=link,
        fault=fault,
        words=SCRIPT_TEXTS,
        labels=(await call.assay.find(view.run_id)).labels,
        exports=await asyncio.to_thread(offered_formats),
        collections=collection_names,
        **values,
    )


def _values(view: RunView, page: str) -> dict[str, Any]:
    """The values for the report's template, rendered by the code for exports. Takes a while."""
    with use_page_locale(page):
        reads, summary = gettext("Read it in its document"), summary_of(view)
    with use_locale(report_locale(view)):
        material = gather_material(view, "numbers", opens=partial(_place, reads))
        text = render_run_article(material)
        return {
            "report": material.report,
            "text": text.html,
            "headings": _headings(text, material),
            "glance": join(
                (
                    counts_section(material),
                    claims_to_check(material, text.words),
                    conflicts_section(material),
                    limits_section(material),
                )
            ),
            "left_open": open_parts(material),
            "parts": join((fields_section(material.report), sources_section(material), method_section(material))),
            "ledger": ledger_section(material, text.words),
            "in_short": summary_line(material),
            "left_out": tuple(result for row in search_log(view) for result in row.excluded if not result.tried),
            "filters": _filters(material),
            "voice": current_phrases().locale,
            "direction": "rtl" if is_right_to_left(current_phrases().locale) else "ltr",
            "language": (language_tag(view.brief.language) if view.brief else "") or None,
            "summary": summary,
            "seconds": active_seconds(view),
        }


def _place(words: str, passage: ReportPassage) -> Markup:
    """A link to a passage in its document."""
    address = f"/documents/{passage.document_sha256}?start={passage.start}&end={passage.end}#passage"
    return el("a", words, href=address)


def _headings(text: Article, material: PageMaterial) -> tuple[PageHeading, ...]:
    """The entries of the contents; sections have the same names as in exports."""
    present = {
        "fields": bool(material.report.fields),
        "sources": bool(material.report.sources or material.view.unreadable),
        "made": True,
    }
    own_headings = (PageHeading(id, 2, gettext(name)) for id, name in SECTIONS.items() if present[id])
    return (*text.headings, *own_headings)


def _filters(material: PageMaterial) -> tuple[ClaimFilter, ...]:
    """All claims, weak ones, contradicted ones, and those that could not be checked."""
    verdicts = material.verdicts
    weak = sum(verdict in ("partial", "unsupported") for verdict in verdicts)
    filters = (
        ClaimFilter(id="all", name=N_("All"), count=len(verdicts)),
        ClaimFilter(id="weak", name=N_("Weak"), count=weak),
        ClaimFilter(id="contradicted", name=N_("Contradicted"), count=verdicts.count("contradicted")),
        ClaimFilter(id="unchecked", name=N_("Unchecked"), count=verdicts.count("unchecked")),
    )
    assert {"partial", "unsupported", "contradicted", "unchecked", *HOLDING} == set(VERDICTS)
    return filters


EXPORTS = {
    "md": "Markdown",
    "html": N_("Web page"),
    "pdf": "PDF",
    "docx": "Word",
    "json": "JSON",
    "zip": N_("Archive with all evidence"),
    "bib": "BibTeX",
    "csl.json": "CSL-JSON",
    "ris": "RIS",
}
"""The formats of a report, the most wanted first, and what people call them."""


def offered_formats() -> Mapping[str, str]:
    """The formats that can be made here, and their names; others are called by the end of their files' names.

    The page offers no link that only answers with an error.
    """
    available = {name.removeprefix(".") for name in formats() if is_format_available(name)}
    return {
        name: EXPORTS.get(name, name) for name in (*EXPORTS, *sorted(available - EXPORTS.keys())) if name in available
    }


# Links to a report: made, listed and revoked beside it. A link is shown once, on the page after it is made.


async def make_share(call: RouteCall, run: str) -> Response:
    """Make a link, and show it beside the report."""
    form = await read_form(call.request, 10_000)
    fields: dict[str, Any] = {"days": days} if (days := form.text("days")) else {}
    view = await call.backend.view(call.owner, run)
    try:
        share = await reports.share_run(call, view.run_id, convert_texts(fields, reports.ShareWanted))
    except (Refusal, AssayError) as error:
        return await report_screen(call, view, **fault_values(error))
    return await report_screen(call, view, link=share.url)


async def revoke_share(call: RouteCall, run: str, share: str) -> Response:
    """Revoke a link."""
    await reports.revoke_share(call, run, share)
    return go_to(f"/runs/{run}")


MAX_RUNS = 100


async def verify(call: RouteCall) -> Response:
    """Check a text, also against files sent with it, and show each sentence's verdict."""
    form = await read_form(call.request, max_form_bytes(call))
    unread: tuple[str, ...] = ()
    try:
        check_places(form)
        if form.files:
            form_files = await store_files(call, form.files, "checked")
            unread, collections = form_files.unread, (*form.texts("collection"), form_files.collection)
            form = PageForm(
                form.fields | {"collection": collections}
            )  # ticked from now on: they need not be sent again
        scope = AddedScope(collections=form.texts("collection"))
        find = True if form.text("find") else None
        request = documents.TextWanted(
            text=form.text("text"),
            scope=scope,
            web=bool(form.text("web")),
            find=find,
            model=form.text("model") or None,
        )
        with use_page_locale(language_of(call.request)):
            result = await documents.verify_text(call, request)
    except (Refusal, AssayError) as error:
        return await show_verify(call, form, **fault_values(error))
    finally:
        await call.request.close()
    return await show_verify(call, form, msgspec.structs.replace(result, warnings=(*unread, *result.warnings)))


async def show_verify(
    call: RouteCall, form: PageForm = EMPTY, result: VerifiedText | None = None, *, fault: str = "", status: int = 200
) -> Response:
    """The form for a text, and what was found out about it."""
    ticked = frozenset(form.texts("collection")) if form.fields else None
    values: dict[str, Any] = {
        "form": form,
        "found": result,
        "fault": fault,
        "choices": await collection_choices(call, ticked),
        "judges": _judges(call.backend.settings),
        "claims": await _checked_claims(call, result) if result else (),
    }
    return screen(call, "verify.html", section="verify", status=status, **values)


def _judges(settings: Settings) -> Sequence[str]:
    """The models of the settings, the judge first; the built-in one judges nothing."""
    roles = settings.roles()
    models = dict.fromkeys((*roles["judge"], *(name for names in roles.values() for name in names)))
    return [name for name in models if name.partition(":")[0] != BUILT_IN]


class CheckedShown(msgspec.Struct, frozen=True, kw_only=True):
    """A claim of a text on the screen: why it has its verdict, and its evidence by the numbers of the quotes."""

    claim: CheckedClaim
    reason: str
    quotes: tuple[tuple[int, Passage, str], ...]


async def _checked_claims(call: RouteCall, result: VerifiedText) -> Sequence[CheckedShown]:
    """The claims with their quotes, numbered as they are shown, and the titles of the documents these are from."""
    passages = {passage.id: passage for passage in result.passages}
    ids = dict.fromkeys(id for claim in result.claims for id in claim.passages if id in passages)
    numbers = {id: number for number, id in enumerate(ids, 1)}
    titles: dict[str, str] = {}
    for document in {passages[id].document_sha256 for id in ids} - {""}:
        with suppress(AssayError):
            shown = (await call.assay.excerpt(document, 0, 0, 0)).document
            titles[document] = shown.title or shown.name or shown.url
    with use_page_locale(language_of(call.request)):
        names = {id: gettext("Quote {id}").format(id=number) for id, number in numbers.items()}
        return [
            CheckedShown(
                claim=claim,
                reason=PASSAGE.sub(lambda found: names.get(found[0], found[0]), verdict_reason(claim.reason)),
                quotes=tuple(
                    (numbers[id], passages[id], titles.get(passages[id].document_sha256, ""))
                    for id in claim.passages
                    if id in numbers
                ),
            )
            for claim in result.claims
        ]


class RunOffered(msgspec.Struct, frozen=True):
    """A run whose report can be compared."""

    id: str
    question: str
    created_at: str


async def compare(call: RouteCall) -> Response:
    """Compare the reports of two runs."""
    query = call.request.query_params
    first, second = query.get("a", ""), query.get("b", "")
    page = await runs.list_runs(call, runs.RunsWanted(status=("completed",), not_label=CELL_OF, limit=MAX_RUNS))
    comparison, wrong = None, fault_values(None)
    if first and second:
        try:
            comparison = await reports.compare_runs(call, reports.Compared(a=first, b=second))
        except (Refusal, AssayError) as error:
            wrong = fault_values(error)
    choices = [RunOffered(run.id, run.question, run.created_at) for run in page.runs]
    for run in filter(None, (first, second)):
        if all(run != choice.id for choice in choices):
            with suppress(UnknownName):
                row = await call.assay.find(run)  # an older one, or one that did not complete
                choices.append(RunOffered(row.run_id, row.question, row.created_at))
    first, second = _pair(choices, first, second)
    return screen(call, "compare.html", section="runs", runs=choices, a=first, b=second, found=comparison, **wrong)


def _pair(choices: Sequence[RunOffered], first: str, second: str) -> tuple[str, str]:
    """The two runs to choose at first: never one twice; to a chosen one the latest with its question, if any."""
    if not first and len(choices) > 1:
        first, second = choices[1].id, choices[0].id
    if not second:
        question = next((run.question for run in choices if run.id == first), "")
        other_runs = [run for run in choices if run.id != first]
        similar_runs = [run for run in other_runs if run.question == question]
        second = next((run.id for run in (*similar_runs, *other_runs)), "")
    return first, second
