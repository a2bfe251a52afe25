"""A run: watched, steered and answered while it is active, and then its report."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from assay.core import plan
from assay.core.assurance import report_state
from assay.core.ports import FINAL
from assay.core.ports.lists import CELL_OF, STARRED, read_label
from assay.core.translation import N_
from assay.core.view import RunView
from assay.server.api import reports, run_control, runs
from assay.server.api.run_requests import AddedScope, ForkWanted, QuestionWanted
from assay.server.page.forms import PageForm, begin_once, convert_texts, read_form, requested_run
from assay.server.page.hub import hub_of, render_regions
from assay.server.page.reportscreen import SCRIPT_TEXTS, report_screen
from assay.server.page.templates_environment import form_response, go_to, safe_path, screen
from assay.server.page.words import language_of
from assay.server.problems import refusal, whole_number
from assay.server.streams import HEADERS, EventStream, last_event_of
from assay.server.wire import RouteCall

MAX_RUNS = 20
_OUTCOMES: dict[str, str] = {
    "stored": N_("This takes effect in a moment."),
    "ended": N_("The run had ended before."),
}


async def list_runs(call: RouteCall) -> Response:
    """The user's runs, page by page, or those with certain words in question or report."""
    query = call.request.query_params
    words, cursor, label = (query.get(name, "").strip() for name in ("q", "cursor", "label"))
    back = f"/runs?{call.request.url.query}"
    if words:
        matches = await runs.search_runs(call, runs.WordsWanted(q=words, cursor=cursor, limit=MAX_RUNS))
        rows = [(match.run, match.snippet) for match in matches.runs]
        return screen(call, "runs.html", section="runs", rows=rows, next=matches.next, words=words, label="", back=back)
    page = await runs.list_runs(
        call, runs.RunsWanted(cursor=cursor, label=label, not_label="" if label else CELL_OF, limit=MAX_RUNS)
    )
    rows = [(run, "") for run in page.runs]
    return screen(call, "runs.html", section="runs", rows=rows, next=page.next, words="", label=label, back=back)


async def label(call: RouteCall, run: str) -> Response:
    """Star a run, add a label, or remove one."""
    form = await read_form(call.request)
    added = dict([read_label(form.text("label"))]) if form.text("label") else {}
    removed = form.fields.get("remove", ())
    if form.text("star"):
        added[STARRED] = ""
    if form.text("unstar"):
        removed = (*removed, STARRED)
    await runs.label_run(call, run, runs.LabelsChanged(added=added, removed=removed))
    return go_to(f"{safe_path(form.text('back'))}#run-{run}" if form.text("back") else f"/runs/{run}")


async def show_run(call: RouteCall, run: str) -> Response:
    """The report of an ended run, else the run in progress."""
    view = await call.backend.view(call.owner, run)
    if view.status in FINAL and report_state(view) != "none":
        return await report_screen(call, view)
    return await _run_screen(call, view)


async def show_activity(call: RouteCall, run: str) -> Response:
    """The activity of a run."""
    return await _run_screen(call, await call.backend.view(call.owner, run))


async def _run_screen(call: RouteCall, view: RunView) -> Response:
    regions = await asyncio.to_thread(render_regions, view, language_of(call.request))
    return screen(
        call,
        "run.html",
        section="runs",
        view=view,
        regions=regions,
        over=view.status in FINAL,
        has_report=report_state(view) != "none",
        plan_form=plan.format_plan(view.plan) if view.plan else "",
        words=SCRIPT_TEXTS,
        refreshes="still" not in call.request.query_params,
    )


async def live(call: RouteCall, run: str) -> Response:
    """The regions of a run's screen as they change, as server-sent events."""
    row = await call.assay.find(run)
    value = call.request.query_params.get("after", "0")
    last_seq = last_event_of(call.request)
    after = whole_number(value) if last_seq is None else last_seq
    if after is None:
        raise refusal("invalid", f"expected the number of an event, not {value[:40]!r}")
    if after > row.last_seq:
        raise refusal("invalid", f"run {row.run_id} has no event {after}: its last is {row.last_seq}")
    if call.request.method == "HEAD":
        return Response(headers=HEADERS, media_type=EventStream.media_type)
    frames = hub_of(call.request.app.state, call.backend).frames(
        call.owner, row.run_id, after, language_of(call.request)
    )
    return EventStream(frames, call.backend.streams.ticket(call.owner))


# commands of the owner


async def cancel(call: RouteCall, run: str) -> Response:
    """End every call in flight."""
    return _control_response(call, run, await run_control.cancel_run(call, run), N_("The run is cancelled."))


async def cancel_agent(call: RouteCall, run: str, lane: int) -> Response:
    """Stop one agent; the run goes on without it."""
    result = await run_control.cancel_agent(call, run, lane)
    outcomes = {"ended": N_("The agent had ended before."), "applied": N_("The agent was stopped.")}
    return form_response(call, (_OUTCOMES | outcomes)[result.outcome], f"/runs/{run}")


async def pause(call: RouteCall, run: str) -> Response:
    """Abandon every call in flight; the run can be resumed."""
    return _control_response(
        call, run, await run_control.pause_run(call, run), N_("The run is paused. Nothing is lost.")
    )


async def finish(call: RouteCall, run: str) -> Response:
    """End research and write the report from what was found."""
    return _control_response(
        call, run, await run_control.finish_run(call, run), N_("Research has ended. The report is next.")
    )


def _control_response(call: RouteCall, run: str, result: run_control.Controlled, applied: str) -> Response:
    return form_response(call, _OUTCOMES.get(result.outcome, applied), f"/runs/{run}")


async def resume(call: RouteCall, run: str) -> Response:
    """Continue a run that is paused or has failed."""
    await run_control.resume_run(call, run)
    return form_response(call, N_("It continues."), f"/runs/{run}")


async def steer(call: RouteCall, run: str) -> Response:
    """Give a run an instruction that counts from its next decision on."""
    form = await read_form(call.request)
    if not form.text("text"):
        raise refusal("invalid", N_("write an instruction for the run"))
    steering = await run_control.steer_run(call, run, run_control.SteeringText(text=form.text("text")))
    messages = {"accepted": N_("The run follows it at its next decision."), "applied": N_("The run follows it now.")}
    return form_response(call, messages.get(steering.state, steering.note or N_("It was too late.")), f"/runs/{run}")


async def answer(call: RouteCall, run: str) -> Response:
    """Answer the questions a run waits for; it decides open ones itself."""
    form = await read_form(call.request)
    texts = form.fields.get("answer", ())
    decide = "decide" in form.fields
    answers = tuple("" if decide else text.strip() for text in texts)
    await run_control.answer_run(call, run, run_control.Answered(answers=answers))
    return go_to(f"/runs/{run}")


async def approve(call: RouteCall, run: str) -> Response:
    """Let a run continue with its plan, unchanged or edited."""
    form = await read_form(call.request)
    await run_control.approve_plan(call, run, run_control.PlanGiven(form=_plan(form)))
    return go_to(f"/runs/{run}")


def _plan(form: PageForm) -> str | None:
    """The plan in a form, as the text a person edits; None if it is unchanged."""
    titles = form.fields.get("title", ())
    if not titles:
        return form.text("form") or None
    descriptions, kinds = form.fields.get("description", ()), form.fields.get("kind", ())
    lines = [f"title: {form.text('plan_title')}"]
    steps = zip(titles, (*descriptions, *[""] * len(titles)), (*kinds, *[""] * len(titles)), strict=False)
    for number, (title, description, kind) in enumerate((step for step in steps if step[0].strip()), 1):
        lines.append(f"{number}. {' '.join(title.split())}")
        if description.strip():
            lines.append(f"   description: {' '.join(description.split())}")
        if kind == "analysis":
            lines.append("   type: analysis")
    return "\n".join(lines)


# afterwards


async def follow_up(call: RouteCall, run: str) -> Response:
    """Continue a run: with an answer from what it read, or with more research."""
    form = await read_form(call.request)
    if not form.text("question"):
        raise refusal("invalid", N_("write a question"))

    async def begin() -> str:
        if form.text("how") == "research":
            return (await runs.follow_up(call, run, requested_run(form), runs.Patience())).id
        wanted = convert_texts({"question": form.text("question")}, QuestionWanted)
        return (await runs.ask_run(call, run, wanted, runs.Patience())).id

    return go_to(f"/runs/{await begin_once(call, form, begin)}")


async def exclude(call: RouteCall, run: str) -> Response:
    """Write and check the report again without some sources, in a new run."""
    form = await read_form(call.request)
    left_out = form.texts("source")
    if not left_out:
        raise refusal("invalid", N_("tick the sources to leave out"))

    async def begin() -> str:
        return (await reports.fork_run(call, run, ForkWanted(point="write", exclude=left_out, scope=AddedScope()))).id

    return go_to(f"/runs/{await begin_once(call, form, begin)}")


async def recheck(call: RouteCall, run: str) -> Response:
    """Check a report again by today's rules, against the stored documents."""
    result = await reports.verify_run(call, run, reports.RecheckWanted())
    view = await call.backend.view(call.owner, run)
    return screen(call, "rechecked.html", section="runs", view=view, found=result)


async def delete(call: RouteCall, run: str) -> Response:
    """Delete a run."""
    await runs.delete_run(call, run)
    return go_to("/runs")
