"""Links to a report: made, listed and revoked beside it. A link is told once, on the page which answers its making."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from assay.core.errors import AssayError
from assay.server.api import shares
from assay.server.page.forms import converted, read_form
from assay.server.page.reportscreen import report_screen
from assay.server.page.templates_environment import go_to
from assay.server.problems import Refusal, problem_of
from assay.server.wire import RouteCall


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
    """Make a link worthless."""
    await shares.revoke_share(call, run, share)
    return go_to(f"/runs/{run}")
