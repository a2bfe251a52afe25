"""The results of a run: its report in every format, the evidence for it, and links with which anyone may read it."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable
from typing import cast

import msgspec
from starlette.responses import Response

from assay import plugins
from assay.core.assurance import report_state
from assay.core.brief import Estimate
from assay.core.claims import Conflict
from assay.core.difference import Difference, difference
from assay.core.errors import ConfigError, NotNow, UnknownName
from assay.core.markers import CitationMode
from assay.core.ports.users import ShareRow
from assay.core.report import Report, ReportClaim, ReportPassage, ReportRemoved, ReportSource, build_report
from assay.core.run_options import ForkOptions
from assay.core.search_record import SearchRow, SearchSummary, search_log
from assay.core.usage import Budget
from assay.core.view import Low, Spending
from assay.evidence.documents import CitedPassage
from assay.server.api.run_details import RunBegun, located_run
from assay.server.api.run_requests import (
    ForkWanted,
    RequestBody,
    RunWanted,
    models_by_role,
    options_of,
    run_once,
    sources_of,
)
from assay.server.guards import SANDBOX
from assay.server.problems import refusal, whole_number
from assay.server.representations import accepts
from assay.server.wire import JSON, Endpoints, RouteCall, format_timestamp, struct_from
from assay.services.arguments import check_format
from assay.services.stored_runs import SHARES_PATH, Shares, comparable_report
from assay.verify.pipeline import Rechecked

routes = Endpoints("reports")

MEDIA = {
    ".bib": "application/x-bibtex",
    ".csl.json": "application/vnd.citationstyles.csl+json",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".md": "text/markdown",
    ".ris": "application/x-research-info-systems",
}
"""The media types of formats that the standard table does not have."""
PREFERRED = (".md", ".json", ".html", ".pdf")
"""Of equal formats the first counts."""


class Formatted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The format of a report, by the suffix of a file (`md`, `csl.json`); without it, `Accept` decides."""

    format: str = ""
    citations: CitationMode = "numbers"
    download: bool = False


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """The documents and pages a run read, cited ones first, by number."""

    sources: tuple[ReportSource, ...]
    copies: tuple[tuple[str, ...], ...]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """The passages that a report cites, with their context; `further` are contradicting or removed ones."""

    passages: tuple[ReportPassage, ...]
    further: tuple[ReportPassage, ...]


class CitationShown(msgspec.Struct, frozen=True, kw_only=True):
    """The passages behind one number of a report, each in its document."""

    number: int
    passages: tuple[CitedPassage, ...]


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """The factual sentences of a report with their verdicts, removed ones, and where sources disagree."""

    claims: tuple[ReportClaim, ...]
    removed: tuple[ReportRemoved, ...]
    conflicts: tuple[Conflict, ...]


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of a run, in total and in parts, and its limits."""

    usage: Spending
    budget: Budget
    low: tuple[Low, ...]


class Method(msgspec.Struct, frozen=True, kw_only=True):
    """How a run searched: each query to each provider, and what became of the results."""

    searches: tuple[SearchRow, ...]
    looked: SearchSummary


class RecheckWanted(RequestBody, frozen=True, kw_only=True):
    """Who judges what the rules do not decide, and the limits; without a model nobody does."""

    model: str | None = None
    allow_private: bool = False
    budget: Budget = Budget()


class Compared(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two runs, the earlier one first."""

    a: str
    b: str


def formats() -> dict[str, str]:
    """The media type of each installed format of reports, preferred ones first."""
    names = sorted(plugins.names("exporters"), key=lambda each: (*PREFERRED, each).index(each))
    media_types = {name: MEDIA.get(name) or mimetypes.guess_type(f"x{name}")[0] for name in names}
    return {name: type or "application/octet-stream" for name, type in media_types.items()}


def is_format_available(suffix: str) -> bool:
    """True if what a format needs is installed: Word and PDF files need an extra."""
    try:
        check_format(suffix)
    except ConfigError:
        return False
    return True


@routes.get("/runs/{run}/report", media=tuple(dict.fromkeys(formats().values())), pages=Report)
async def show_report(call: RouteCall, run: str, query: Formatted) -> Response:
    """Return the report, as far as it is written, in the requested format."""
    row = await call.assay.find(run)
    media_types = formats()
    suffix = _suffix(call, query.format, media_types)
    view = await call.backend.view(call.owner, row.run_id)
    if report_state(view) == "none" and suffix != ".json":
        raise NotNow(f"run {row.run_id} has no report yet: it is {row.status}; ask again when it has ended")
    data = await call.assay.export(row.run_id, suffix, query.citations)
    media = media_types[suffix]
    type = f"{media}; charset=utf-8" if media.startswith("text/") else media
    kind = "attachment" if query.download or not media.startswith(("text/", "application/json")) else "inline"
    headers = {"Content-Disposition": f'{kind}; filename="assay-{row.run_id}{suffix}"', "Vary": "Accept"}
    if media == "text/html":
        headers["Content-Security-Policy"] = SANDBOX
    return Response(data, headers=headers, media_type=type)


def _suffix(call: RouteCall, format: str, media_types: dict[str, str]) -> str:
    if format:
        suffix = f".{format.lower().removeprefix('.')}"
        if suffix not in media_types:
            raise UnknownName("format", format, [extension.removeprefix(".") for extension in media_types])
        return suffix
    by_type = {media_types[suffix]: suffix for suffix in reversed(media_types)}
    media_type = accepts(call.request.headers, tuple(media_types.values()))
    if not media_type:
        raise refusal("not-acceptable", f"a report comes as {', '.join(by_type)}")
    return by_type[media_type]


@routes.get("/runs/{run}/sources")
async def list_sources(call: RouteCall, run: str) -> Sources:
    """List what a run read, with the numbers of cited sources."""
    report = await _report(call, run)
    return Sources(sources=report.sources, copies=report.copies)


@routes.get("/runs/{run}/evidence")
async def list_evidence(call: RouteCall, run: str) -> Evidence:
    """List the passages a report rests on, each with its place in the stored bytes."""
    report = await _report(call, run)
    return Evidence(passages=report.passages, further=report.further)


@routes.get("/runs/{run}/citations/{number}")
async def show_citation(call: RouteCall, run: str, number: str) -> CitationShown:
    """Show the evidence for a citation: its passages in their documents, and the sentences that rest on them."""
    citation_number = whole_number(number)
    if citation_number is None:
        raise refusal("invalid", f"a citation is a number, not {number[:40]!r}")
    passages = await call.assay.passage(run, citation_number)
    return CitationShown(number=citation_number, passages=tuple(passages))


@routes.get("/runs/{run}/claims")
async def list_claims(call: RouteCall, run: str) -> Claims:
    """List a report's claims, with verdict, reason and evidence."""
    report = await _report(call, run)
    return Claims(claims=report.claims, removed=report.removed, conflicts=report.conflicts)


@routes.get("/runs/{run}/usage")
async def show_usage(call: RouteCall, run: str) -> Used:
    """Show what a run has used, by role and phase."""
    view = await call.backend.view(call.owner, run)
    return Used(usage=view.usage, budget=view.brief.budget if view.brief else Budget(), low=view.low)


@routes.get("/runs/{run}/method")
async def show_method(call: RouteCall, run: str) -> Method:
    """Show how a run searched: queries, providers, and what became of the results."""
    view = await call.backend.view(call.owner, run)
    return Method(searches=search_log(view), looked=build_report(view).looked)


@routes.get("/runs/{run}/estimate")
async def show_estimate(call: RouteCall, run: str) -> Estimate:
    """Estimate the total time and cost of a run, from its plan if it has one."""
    return await call.assay.estimate(run)


@routes.post("/estimate", scope="read")
async def estimate_run(call: RouteCall, body: RunWanted) -> Estimate:
    """Estimate what a run would take, without starting one."""
    sources = sources_of(body.scope, call.backend.settings)
    return await call.assay.foresee(body.question, sources=sources, **options_of(body))


@routes.post("/runs/{run}/verify")
async def verify_run(call: RouteCall, run: str, body: RecheckWanted) -> Rechecked:
    """Check a report again by today's rules, against the stored documents."""
    row = await call.assay.find(run)
    models_by_role(body.model, {})  # refuses models that clients may not name
    return await call.assay.recheck(
        row.run_id,
        model=body.model,
        allow_private=body.allow_private,
        max_usd=body.budget.usd,
        max_tokens=body.budget.tokens,
    )


@routes.post("/runs/{run}/fork", status=202, headers=("Idempotency-Key",))
async def fork_run(call: RouteCall, run: str, body: ForkWanted) -> RunBegun:
    """Start a run that continues from a point of this one: everything before it is taken over at no cost."""
    if body.plan is not None and body.form is not None:
        raise refusal("invalid", "give a plan as `plan` or as `form`, not both")

    async def begin() -> str:
        add = sources_of(body.scope, call.backend.settings)
        plan = body.plan if body.form is None else body.form
        return await call.backend.begin_fork(
            call.owner,
            run,
            body.point,
            plan=plan,
            exclude=body.exclude,
            add=add,
            **cast("ForkOptions", options_of(body)),
        )

    return located_run(call, await run_once(call, body, begin))


@routes.get("/compare")
async def compare_runs(call: RouteCall, query: Compared) -> Difference:
    """Compare the report of run `b` with that of run `a`: claims, verdicts, cited sources, plan."""
    views = [await call.backend.view(call.owner, run) for run in (query.a, query.b)]
    return difference(*map(comparable_report, views))


async def _report(call: RouteCall, run: str) -> Report:
    return build_report(await call.backend.view(call.owner, run), "numbers")


share_routes = Endpoints("shares")
public_routes = Endpoints("shares", prefix="")

HTML = "text/html"
GONE = "this link leads nowhere: it is none, was revoked, or has expired"


class ShareWanted(RequestBody, frozen=True, kw_only=True):
    """A link to a report, for so many days; by default until it is revoked."""

    days: float | None = None


class ShareShown(msgspec.Struct, frozen=True, kw_only=True):
    """A link without its secret; times are ISO 8601 UTC, `expires_at` is empty for never."""

    id: str
    run_id: str
    created_at: str
    expires_at: str


class ShareMade(msgspec.Struct, frozen=True, kw_only=True):
    """A new link. Its `url` is shown only this once."""

    share: ShareShown
    url: str


class ShareList(msgspec.Struct, frozen=True, kw_only=True):
    """The links to a run."""

    shares: tuple[ShareShown, ...]


@share_routes.post("/runs/{run}/shares", status=201)
async def share_run(call: RouteCall, run: str, body: ShareWanted) -> ShareMade:
    """Create a link with which anyone may read the report of a run, without login; it is shown only this once."""
    share, secret = await _shares(call).make(run, body.days)
    return ShareMade(share=_shares_shown([share])[0], url=str(call.request.base_url).rstrip("/") + SHARES_PATH + secret)


@share_routes.get("/runs/{run}/shares")
async def list_shares(call: RouteCall, run: str) -> ShareList:
    """List the links to a run, without their secrets."""
    return ShareList(shares=_shares_shown(await _shares(call).of_run(run)))


@share_routes.delete("/runs/{run}/shares/{share}", status=204)
async def revoke_share(call: RouteCall, run: str, share: str) -> None:
    """Revoke a link at once."""
    await _shares(call).revoke(run, share)


@public_routes.get(SHARES_PATH + "{secret}", scope="", media=(HTML, JSON), pages=Report)
async def show_shared(call: RouteCall, secret: str) -> Response:
    """Show a shared report: as a page in a sandbox, or as JSON by `Accept`."""
    share = await _shares(call).find_valid(secret)
    if share is None:
        raise refusal("unknown-name", GONE)
    media = accepts(call.request.headers, (HTML, JSON))
    if not media:
        raise refusal("not-acceptable", f"a shared report comes as {HTML} or {JSON}")
    try:
        if report_state(await call.backend.view(share.owner, share.run_id)) == "none":
            raise NotNow("there is no report yet: come back later")
        data = await call.backend.assay_for(share.owner).export(share.run_id, ".html" if media == HTML else ".json")
    except UnknownName:  # it was just deleted
        raise refusal("unknown-name", GONE) from None
    headers = {"Vary": "Accept", "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer"}
    if media == HTML:
        headers["Content-Security-Policy"] = SANDBOX
    return Response(data, headers=headers, media_type=f"{media}; charset=utf-8" if media == HTML else media)


def _shares(call: RouteCall) -> Shares:
    """The links of the user.

    Raises:
        Refusal: sharing is off.
    """
    if not call.backend.settings.server.shares:
        raise refusal("not-set-up", "shared links are off on this server (setting server.shares)")
    return call.assay.shares


def _shares_shown(shares: Iterable[ShareRow]) -> tuple[ShareShown, ...]:
    return tuple(
        struct_from(
            ShareShown, share, created_at=format_timestamp(share.created), expires_at=format_timestamp(share.expires)
        )
        for share in shares
    )
