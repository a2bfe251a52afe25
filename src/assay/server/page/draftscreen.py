"""Screens to check a text against documents, and to compare two reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from assay.app.verification import VerifiedText
from assay.core.errors import AssayError
from assay.core.sources import Passage
from assay.server.api import checks, reports, runs
from assay.server.api.run_requests import AddedScope
from assay.server.page.forms import PageForm, read_form
from assay.server.page.templates_environment import screen
from assay.server.problems import Refusal
from assay.server.wire import RouteCall

MOST_RUNS = 100


async def show_verify(call: RouteCall) -> Response:
    """The form for a text."""
    return await _verify(call, PageForm({}))


async def verify(call: RouteCall) -> Response:
    """Check a text, and show each sentence's verdict."""
    form = await read_form(call.request)
    scope = AddedScope(collections=form.texts("collection"))
    try:
        wanted = checks.TextWanted(text=form.text("text"), scope=scope, web=bool(form.text("web")))
        found = await checks.verify_text(call, wanted)
    except (Refusal, AssayError) as error:
        return await _verify(call, form, fault=str(error), status=422)
    return await _verify(call, form, found)


async def _verify(
    call: RouteCall, form: PageForm, found: VerifiedText | None = None, *, fault: str = "", status: int = 200
) -> Response:
    shelves = [row for row in await call.assay.collections() if row.documents]
    values: dict[str, Any] = {"form": form, "found": found, "fault": fault, "collections": shelves}
    values["evidence"] = _evidence(found) if found else ()
    return screen(call, "verify.html", section="verify", status=status, **values)


def _evidence(found: VerifiedText) -> Sequence[Sequence[Passage]]:
    """The passages each claim was checked against."""
    known = {passage.id: passage for passage in found.passages}
    return [[known[id] for id in claim.passages if id in known] for claim in found.claims]


async def compare(call: RouteCall) -> Response:
    """Compare the reports of two runs."""
    asked = call.request.query_params
    first, second = asked.get("a", ""), asked.get("b", "")
    listed = await runs.list_runs(call, runs.RunsWanted(status=("completed",), limit=MOST_RUNS))
    found, fault = None, ""
    if first and second:
        try:
            found = await reports.compare_runs(call, reports.Compared(a=first, b=second))
        except (Refusal, AssayError) as error:
            fault = str(error)
    return screen(call, "compare.html", section="runs", runs=listed.runs, a=first, b=second, found=found, fault=fault)
