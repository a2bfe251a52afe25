"""Reports that anyone with a link may read, and nothing else of their owner."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec
from starlette.responses import Response

from assay.core.errors import NotNow, UnknownName
from assay.core.ports.users import ShareRow
from assay.core.report import Report
from assay.core.report_state import report_state
from assay.server.api.run_requests import RequestBody
from assay.server.guards import SANDBOX
from assay.server.problems import refusal
from assay.server.wire import JSON, Endpoints, RouteCall, accepts
from assay.services.shares import PATH, Shares

routes = Endpoints("shares")
public = Endpoints("shares", prefix="")

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


@routes.post("/runs/{run}/shares", status=201)
async def share_run(call: RouteCall, run: str, body: ShareWanted) -> ShareMade:
    """Create a link with which anyone may read the report of a run, without login; it is shown only this once."""
    made, secret = await _shares(call).make(run, body.days)
    return ShareMade(share=_shown([made])[0], url=str(call.request.base_url).rstrip("/") + PATH + secret)


@routes.get("/runs/{run}/shares")
async def list_shares(call: RouteCall, run: str) -> ShareList:
    """List the links to a run, without their secrets."""
    return ShareList(shares=_shown(await _shares(call).of(run)))


@routes.delete("/runs/{run}/shares/{share}", status=204)
async def revoke_share(call: RouteCall, run: str, share: str) -> None:
    """Revoke a link at once."""
    await _shares(call).revoke(run, share)


@public.get(PATH + "{secret}", scope="", media=(HTML, JSON), pages=Report)
async def show_shared(call: RouteCall, secret: str) -> Response:
    """Show a shared report: as a page in a sandbox, or as JSON by `Accept`."""
    share = await _shares(call).shown(secret)
    if share is None:
        raise refusal("unknown-name", GONE)
    media = accepts(call.request.headers, (HTML, JSON))
    if not media:
        raise refusal("not-acceptable", f"a shared report comes as {HTML} or {JSON}")
    try:
        if report_state(await call.backend.view(share.owner, share.run_id)) == "none":
            raise NotNow("there is no report yet: come back later")
        data = await call.backend.engine(share.owner).export(share.run_id, ".html" if media == HTML else ".json")
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


def _shown(shares: Iterable[ShareRow]) -> tuple[ShareShown, ...]:
    return tuple(
        ShareShown(id=each.id, run_id=each.run_id, created_at=_iso(each.created), expires_at=_iso(each.expires))
        for each in shares
    )


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else ""
