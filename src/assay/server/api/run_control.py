"""The control of a run by its owner while it is active: end, pause or steer it, answer it, review its plan."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core import plan as plan_form
from assay.core.errors import NotNow
from assay.core.plan import Plan
from assay.core.ports import FINAL
from assay.core.view import Steered
from assay.server.api.run_details import RunBegun, started_run
from assay.server.api.run_requests import RequestBody
from assay.server.problems import refusal
from assay.server.representations import etag_of
from assay.server.wire import Endpoints, RouteCall
from assay.services.run_control import ControlOutcome

routes = Endpoints("control")

WAIT_SECONDS = 5.0
"""Seconds an answer waits for the outcome of a request."""


class Controlled(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a request: it was applied, the run (or agent) had ended before, or it will be (`stored`)."""

    id: str
    outcome: ControlOutcome


class SteeringText(RequestBody, frozen=True, kw_only=True):
    """An instruction for a run from its next decision on."""

    text: str


class Answered(RequestBody, frozen=True, kw_only=True):
    """Answers to a run's questions, in order, or by question."""

    answers: tuple[str, ...] | dict[str, str]


class PlanGiven(RequestBody, frozen=True, kw_only=True):
    """A plan that replaces the proposed one: as data, or as the text a person edits (`form`). None: approve it
    unchanged.
    """

    plan: Plan | None = None
    form: str | None = None


class PlanShown(msgspec.Struct, frozen=True, kw_only=True):
    """A run's plan, with the text that a person may edit."""

    plan: Plan
    form: str
    approved_by: str
    waits: bool


@routes.post("/runs/{run}/cancel")
async def cancel_run(call: RouteCall, run: str) -> Controlled:
    """End every call in flight; findings are kept."""
    return await _control(call, run, "cancel")


@routes.post("/runs/{run}/pause")
async def pause_run(call: RouteCall, run: str) -> Controlled:
    """Abandon every call in flight; `resume` continues the run."""
    return await _control(call, run, "pause")


@routes.post("/runs/{run}/finish")
async def finish_run(call: RouteCall, run: str) -> Controlled:
    """End research now and write the report from what was found."""
    return await _control(call, run, "finish")


@routes.post("/runs/{run}/agents/{lane:number}/cancel")
async def cancel_agent(call: RouteCall, run: str, lane: int) -> Controlled:
    """Stop one agent; its findings are kept, and the run goes on without it."""
    row = await call.assay.find(run)
    return Controlled(id=row.run_id, outcome=await call.assay.stop_agent(row.run_id, lane, wait=WAIT_SECONDS))


async def _control(call: RouteCall, run: str, action: Literal["cancel", "pause", "finish"]) -> Controlled:
    row = await call.assay.find(run)
    outcome = await call.assay.control(row.run_id, action, wait=WAIT_SECONDS)
    return Controlled(id=row.run_id, outcome=outcome)


@routes.post("/runs/{run}/resume", status=202)
async def resume_run(call: RouteCall, run: str) -> RunBegun:
    """Continue a run that is paused, has failed, or that nobody executes."""
    row = await call.assay.find(run)
    if row.status in ("completed", "cancelled"):
        raise NotNow(
            f"run {row.run_id} has ended ({row.status}): there is nothing to continue; ask again with `continues`"
        )
    await call.backend.continue_run(call.owner, row.run_id)
    return started_run(row.run_id, row.status)


@routes.post("/runs/{run}/steer")
async def steer_run(call: RouteCall, run: str, body: SteeringText) -> Steered:
    """Give a run an instruction that counts from its next decision on; returns what became of it."""
    return await call.assay.steer(run, body.text, wait=WAIT_SECONDS)


@routes.post("/runs/{run}/answers", status=202)
async def answer_run(call: RouteCall, run: str, body: Answered) -> RunBegun:
    """Answer the questions a run waits for; it continues."""
    row = await call.assay.find(run)
    await call.assay.answer(row.run_id, body.answers)
    await call.backend.continue_run(call.owner, row.run_id)
    return started_run(row.run_id, "running")


@routes.get("/runs/{run}/plan")
async def show_plan(call: RouteCall, run: str) -> PlanShown:
    """Show a run's plan. Its `ETag` is for `If-Match`, so that nobody overwrites a plan they have not seen."""
    current = await _plan(call, run)
    call.headers["ETag"] = _tag(current.plan)
    return current


@routes.post("/runs/{run}/plan/approve", status=202, headers=("If-Match",))
async def approve_plan(call: RouteCall, run: str, body: PlanGiven) -> RunBegun:
    """Approve the plan a run waits with, or replace it; the run continues."""
    row = await call.assay.find(run)
    current = await _plan(call, row.run_id)
    expected_tag = call.request.headers.get("if-match", "").strip()
    if expected_tag not in ("", "*", _tag(current.plan)):
        raise refusal("changed-meanwhile", "the plan has changed since you read it: read it again")
    if body.plan is not None and body.form is not None:
        raise refusal("invalid", "give a plan as `plan` or as `form`, not both")
    await call.assay.approve(row.run_id, body.plan if body.form is None else body.form)
    await call.backend.continue_run(call.owner, row.run_id)
    return started_run(row.run_id, "running")


@routes.put("/runs/{run}/plan", status=202, headers=("If-Match",))
async def replace_plan(call: RouteCall, run: str, body: PlanGiven) -> RunBegun:
    """Replace the plan a run waits with; the run continues with the new one."""
    if body.plan is None and body.form is None:
        raise refusal("invalid", "the body has neither `plan` nor `form`")
    return await approve_plan(call, run, body)


async def _plan(call: RouteCall, run: str) -> PlanShown:
    view = await call.backend.view(call.owner, run)
    if view.plan is None:
        later = "" if view.status in FINAL else "; ask again later"
        raise NotNow(f"run {view.run_id} has no plan: it is {view.status}{later}")
    waits = view.status == "waiting" and view.waiting_for == "plan"
    return PlanShown(
        plan=view.plan, form=plan_form.format_plan(view.plan), approved_by=view.plan_approved_by, waits=waits
    )


def _tag(plan: Plan) -> str:
    """The tag of a plan as a person sees it."""
    return etag_of(plan_form.format_plan(plan))
