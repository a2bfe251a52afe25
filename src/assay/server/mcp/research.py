"""Tools for runs: start one, wait for it as long as a client can, steer it, ask about it, end it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Annotated, Any, cast

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Elicit, Resolve
from mcp.types import CallToolResult, ResourceLink, TextContent
from pydantic import BaseModel, Field, create_model

from assay.core.assurance import report_state
from assay.core.claims import VERDICTS
from assay.core.clean import make_inactive
from assay.core.errors import Cancelled
from assay.core.events import RunWaiting
from assay.core.milestones import milestone_line
from assay.core.ports import FINAL
from assay.core.run_options import RunOptions
from assay.core.view import RunView
from assay.core.ways import adapt_wording, suggest_command
from assay.locale.english import EnglishEvents
from assay.server.mcp.answers import RunNews, SteerResult, first_page
from assay.server.mcp.service import (
    Ctx,
    NoStream,
    caller_of,
    check_may_write,
    may_write,
    record_action,
    report_address,
    sources_of,
    stream_for,
    tool_errors,
    view_of,
)
from assay.server.protocol_runs import Caller, add_options, request_key

MAX_WAIT_SECONDS = 50
"""Seconds: most clients give a tool 60."""
WAIT = 45
NEWS_SECONDS = 1.0
"""Seconds between two progress notices."""
STILL_SECONDS = 12.0
"""Seconds without an event after which a notice says that the run is still active."""
LATEST = 5
STEER_SECONDS = 10.0

Wait = Annotated[
    int, Field(ge=0, le=MAX_WAIT_SECONDS, description="Seconds to wait for the report; the run continues afterwards.")
]
RunId = Annotated[str, Field(description="The run's id, as `research` gave it.")]


class StartedResearch(BaseModel):
    """A run that this call started, its questions, and until when (monotonic clock) the call waits for it."""

    run_id: str
    until: float
    questions: tuple[str, ...] = ()


class FormAnswers(BaseModel):
    """The user's answers; the fields are made from the questions."""


Question = Annotated[str, Field(description="The whole question, with everything the run needs to know.")]
Collections = Annotated[
    list[str] | None, Field(description="Collections of documents to search (list_collections); null: the default.")
]
Clarify = Annotated[
    bool | None,
    Field(description="True: the run may ask the user questions first; null: if this client can show them."),
]


@add_options
async def start_run(
    ctx: Ctx, question: str, collections: list[str] | None, clarify: bool | None, wait_seconds: int, **options: Any
) -> StartedResearch:
    """Start the run, or find the one that the same request started before, and get its questions."""
    check_may_write(ctx)
    until = time.monotonic() + wait_seconds
    may_ask = can_elicit(ctx) if clarify is None else clarify
    run_options = cast("RunOptions", {name: value for name, value in options.items() if value not in (None, "")})
    run_options["ask"], run_options["review_plan"] = "required" if may_ask else "never", "never"
    earlier = run_options.get("continues")
    if earlier:
        run_options["continues"] = (await view_of(ctx, earlier)).run_id
    sources = None if earlier and not collections else await sources_of(ctx, collections)
    if sources and not collections and "web" not in run_options:
        sources = None  # the default collection, and the web if the settings say so
    caller = caller_of(ctx)
    key = request_key("mcp", caller.owner, question.strip(), collections, options, may_ask)
    with stream_for(ctx, wait_seconds):  # before it begins: who is refused may send it again
        with tool_errors():
            run_id = await caller.begin(question, key=key, sources=sources, **run_options)
            await caller.continue_run(run_id)
        view = await watch(ctx, run_id, until) if may_ask else await view_of(ctx, run_id)
    return StartedResearch(run_id=run_id, until=until, questions=open_questions(view))


async def elicit_answers(
    ctx: Ctx, run: Annotated[StartedResearch, Resolve(start_run)]
) -> FormAnswers | Elicit[FormAnswers]:
    """The user's answers to the run's questions; none if it has no questions, or the client cannot ask the user."""
    if not run.questions or not can_elicit(ctx):
        return FormAnswers()
    return Elicit("Before the research begins:", _form(run.questions))


@add_options
async def research(
    ctx: Ctx,
    run: Annotated[StartedResearch, Resolve(start_run)],
    answers: Annotated[ElicitationResult[FormAnswers], Resolve(elicit_answers)],
    question: Question,
    collections: Collections = None,
    clarify: Clarify = None,
    wait_seconds: Wait = WAIT,
    **options: Any,
) -> Annotated[CallToolResult, RunNews]:
    """Research a question: a run of Assay plans, searches documents and the web, and writes a report in which every
    sentence is checked against its source. Returns within `wait_seconds`, with the report or with what to do next.
    Calling it again with the same question within ten minutes gives the same run and costs nothing.
    """
    if run.questions and can_elicit(ctx):
        form_answers = answers.data.model_dump() if isinstance(answers, AcceptedElicitation) else {}
        await _answer(
            ctx, run.run_id, [str(form_answers.get(f"q{number}") or "") for number in range(1, len(run.questions) + 1)]
        )
    try:
        with stream_for(ctx, run.until - time.monotonic()):
            return await _state_result(ctx, run.run_id, run.until)
    except NoStream:  # the run has begun all the same
        return await _state_result(ctx, run.run_id, time.monotonic())


async def research_wait(
    ctx: Ctx,
    run_id: RunId,
    wait_seconds: Wait = WAIT,
    answers: Annotated[
        list[str] | None, Field(description="The user's answers to the run's questions, in their order.")
    ] = None,
) -> Annotated[CallToolResult, RunNews]:
    """Wait for a run that `research` began. Returns within `wait_seconds`, with the report or with what to do next.
    A run whose process was ended goes on.
    """
    view = await view_of(ctx, run_id)
    seconds = 0 if view.status in FINAL else wait_seconds
    with stream_for(ctx, seconds):
        if answers is not None:
            check_may_write(ctx)
            await _answer(ctx, view.run_id, answers)
        elif may_write(ctx):
            await caller_of(ctx).continue_run(view.run_id)
        return await _state_result(ctx, view.run_id, time.monotonic() + seconds)


async def ask(
    ctx: Ctx,
    run_id: RunId,
    question: Annotated[str, Field(description="A question about what the run has read.")],
    wait_seconds: Wait = WAIT,
) -> Annotated[CallToolResult, RunNews]:
    """Ask about what a finished run has read. It searches nothing new; the answer cites the same sources."""
    check_may_write(ctx)
    run_id = (await view_of(ctx, run_id)).run_id
    until = time.monotonic() + wait_seconds
    with stream_for(ctx, wait_seconds), tool_errors():
        return await _state_result(ctx, await caller_of(ctx).ask(run_id, question, ask="never"), until)


async def steer(
    ctx: Ctx,
    run_id: RunId,
    text: Annotated[str, Field(description="An instruction for the run, such as: leave out prices before 2024.")],
) -> SteerResult:
    """Give a running run an instruction, which its next decision follows."""
    check_may_write(ctx)
    run_id = (await view_of(ctx, run_id)).run_id
    with tool_errors():
        steering = await caller_of(ctx).assay.steer(run_id, text, wait=STEER_SECONDS)
    await record_action(ctx, "steer_run", run_id)
    return SteerResult(run_id=run_id, state=steering.state, note=steering.note)


async def cancel(
    ctx: Ctx,
    run_id: RunId,
    keep: Annotated[bool, Field(description="End research now and write the report from what was found.")] = False,
    agent: Annotated[int, Field(ge=0, description="Stop only this agent (its lane); the run continues. 0: all.")] = 0,
) -> Annotated[CallToolResult, RunNews]:
    """End a run: at once, or (`keep`) with a report of what was found; or one `agent` of it. Findings are kept."""
    check_may_write(ctx)
    run_id = (await view_of(ctx, run_id)).run_id
    with tool_errors():
        if agent:
            await caller_of(ctx).assay.stop_agent(run_id, agent, wait=STEER_SECONDS)
        else:
            await caller_of(ctx).assay.control(run_id, "finish" if keep else "cancel", wait=STEER_SECONDS)
    await record_action(ctx, "finish_run" if keep else "cancel_run", run_id)
    return await _state_result(ctx, run_id, time.monotonic())


def can_elicit(ctx: Ctx) -> bool:
    """True if the client can show its user a form."""
    capabilities = ctx.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return False
    return ctx.session.can_send_request or (ctx.protocol_version or "") >= "2026-07-28"


def open_questions(view: RunView) -> tuple[str, ...]:
    """The questions whose answers a run waits for."""
    return view.clarification.questions if view.status == "waiting" and view.waiting_for == "answers" else ()


async def watch(ctx: Ctx, run_id: str, until: float) -> RunView:
    """Wait until the run ends or needs a person, at most until `until`; report progress to the client."""
    caller, news, events = caller_of(ctx), _Notices(ctx), EnglishEvents()
    try:
        async with asyncio.timeout(max(0.0, until - time.monotonic())):
            async for group in caller.groups(run_id, idle_seconds=STILL_SECONDS):
                for envelope in group:
                    event = events.decode(envelope)
                    news.note(envelope.seq, milestone_line(event) if event else "")
                await news.notify(idle=not group)
                if any(envelope.type == RunWaiting.kind for envelope in group) and await _awaits_answers(
                    caller, run_id
                ):
                    break
    except (TimeoutError, Cancelled):
        pass  # the wait is over, or the server stops; the run continues, and the client learns that
    return await view_of(ctx, run_id)


async def _awaits_answers(caller: Caller, run_id: str) -> bool:
    """True if a run waits for answers that nobody has given."""
    return bool(open_questions(await caller.view(run_id))) and not await caller.assay.is_answered(run_id)


class _Notices:
    """Progress notices: at most one per second, and one after a long time without events."""

    def __init__(self, ctx: Ctx) -> None:
        self._ctx, self._began, self._notified_at = ctx, time.monotonic(), 0.0
        self._step, self._line, self._new = 0, "", False

    def note(self, seq: int, line: str) -> None:
        """Take the event with number `seq`."""
        self._step = max(self._step, seq)
        if line:
            self._line, self._new = make_inactive(line), True

    async def notify(self, *, idle: bool) -> None:
        """Notify the client if it is time."""
        now = time.monotonic()
        if not idle and (not self._new or now - self._notified_at < NEWS_SECONDS):
            return
        prefix = f"still working after {now - self._began:.0f} s; last: " if idle else ""
        self._notified_at, self._new = now, False
        self._step += idle  # progress must grow
        await self._ctx.report_progress(float(self._step), message=f"{prefix}{self._line or 'begun'}")


async def _answer(ctx: Ctx, run_id: str, answers: Sequence[str]) -> None:
    caller = caller_of(ctx)
    with tool_errors():
        if await _awaits_answers(caller, run_id):
            await caller.assay.answer(run_id, list(answers))
            await record_action(ctx, "answer_run", run_id)
        await caller.continue_run(run_id)


async def _state_result(ctx: Ctx, run_id: str, until: float) -> CallToolResult:
    """The state of the run at `until`, or when it ends if that is earlier."""
    view = await watch(ctx, run_id, until)
    news = _run_news(view, report_address(ctx, run_id))
    content: list[Any] = [TextContent(type="text", text=news.model_dump_json())]
    if news.report:
        content.append(_link(run_id, view.question))
    return CallToolResult(content=content, structured_content=news.model_dump(mode="json"))


def _run_news(view: RunView, url: str) -> RunNews:
    terminal = view.status in FINAL
    report, has_more = first_page(view) if terminal and report_state(view) != "none" else ("", False)
    return RunNews(
        run_id=view.run_id,
        status=view.status,
        terminal=terminal,
        timed_out=not terminal and view.status not in ("waiting", "paused"),
        next_action=_next_step(view, terminal=terminal, has_report=bool(report), has_more=has_more),
        question=view.question,
        phase=view.active_phase,
        sources=len({source.document_sha256 for source in view.sources.values()}),  # a document may have several ids
        claims=len(view.claims),
        latest=[] if terminal else [f"agent {lane.lane} {lane.state}: {lane.task}" for lane in view.lanes[-LATEST:]],
        questions=list(open_questions(view)),
        report=report,
        verdicts={name: count for name in VERDICTS if (count := getattr(view.summary, name))},
        url=url,
    )


def _next_step(view: RunView, *, terminal: bool, has_report: bool, has_more: bool) -> str:
    run_id = view.run_id
    if has_report and has_more:
        return f"The report goes on: research_report(run_id={run_id!r}, cursor=2). Keep its citations."
    if has_report and view.stop_reason == "no_evidence":
        return (
            "Tell the user that nothing was found that answers the question. The passages of the report are the "
            f"closest ones, not an answer. With other places to look: research(…, continues={run_id!r})."
        )
    if has_report:
        return f"Give the user the report with its citations. evidence(run_id={run_id!r}) shows what they rest on."
    if terminal:
        reason = adapt_wording(view.error) or view.stop_reason or view.status
        return f"The run ended without a report ({reason}). Tell the user; do not begin it again unasked."
    if open_questions(view):
        return (
            f"Ask the user these questions, then call research_wait(run_id={run_id!r}, answers=[…]) with the answers "
            "in their order."
        )
    if view.status == "waiting":
        return f"The run waits for its plan: {suggest_command('approve', run_id)}."
    if view.status == "paused":
        return f"Its owner has paused the run. Tell the user; to go on with it: {suggest_command('resume', run_id)}."
    return f"Call research_wait(run_id={run_id!r}). Do not begin another run for this question."


def _link(run_id: str, question: str) -> ResourceLink:
    return ResourceLink(
        name=f"report-{run_id}", title=question, uri=f"assay://runs/{run_id}/report.md", mime_type="text/markdown"
    )


def _form(questions: Sequence[str]) -> type[FormAnswers]:
    """A form with a field for each question; every field may be left empty."""
    fields: dict[str, Any] = {
        f"q{number}": (str, Field("", title=question, description=question))
        for number, question in enumerate(questions, 1)
    }
    return create_model("Answers", __base__=FormAnswers, **fields)
