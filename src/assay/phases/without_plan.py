"""Runs without a plan: immediate answers from a quick look at the documents, and a single agent."""

from __future__ import annotations

import msgspec

from assay.agents.findings import Finding, quote_nearest_passages, resolve_citations
from assay.agents.history import output_cap
from assay.agents.loop import research_task
from assay.agents.replies import reply_defect, salvage_text
from assay.agents.reply_text import tidy_reply
from assay.core.brief import SetDepth
from assay.core.citations.reader import citation_reading
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import AgentsPlanned, ReportDelta, ReportRevised, ReportStarted
from assay.core.messages import Reply, Request
from assay.core.phrases import nothing_found_text, stop_reason_phrase
from assay.core.plan import Plan
from assay.core.translation import N_, record_statement
from assay.core.translation import gettext as _
from assay.phases.background import QuickLook, recall_all, search_after_limit, search_and_read, search_once
from assay.phases.case import Case, Draft, Research, agent_task, can_search, has_searchable_sources, user_message
from assay.phases.dispatch import SentAgent, check_work_allowed, collect
from assay.phases.fork import log_cited_sources
from assay.phases.write import (
    REVISION_REASON,
    add_date,
    log_code_changes,
    nothing_found,
    require_search,
    shortcoming_notes,
    write_nothing,
)
from assay.run.run import Run
from assay.run.voice import StreamHooks
from assay.verify.proofreader import Proofreader, make_proofreader, streamed_spans

UNSOURCED = N_("This answer rests on no sources.")
ENDED = N_("The answer was put together by code: what follows are the passages found.")
LATE = N_("No search had found anything after {seconds} seconds; the answer rests on no sources.")
CUT = N_("The search was ended after {seconds} seconds; the answer rests on what was found by then.")


def unsourced_line() -> str:
    """The line above an answer that has no sources."""
    return f"*{record_statement(_(UNSOURCED))}*"


async def answer_directly(run: Run, case: Case, text: str) -> Draft:
    """Answer at once. `text` is triage's own answer, empty if there is none.

    The answer's claims are found and checked while it streams, if it has sources.

    Raises:
        ModelFailed: no model worked and nothing was found.
    """
    proofreader = make_proofreader(run, case.ledger, case.reader, "answer", case.added_checks)
    search = search_and_read if run.brief.mode == "web_search" else search_once
    quick_look = QuickLook() if text else await search(run, case)
    async with run.with_gate("write").phase("write") as phase:
        phase.emit(ReportStarted())
        if text:
            phase.emit(ReportDelta(text=text))  # a greeting, or a remark on the conversation: it needs no sources
            return Draft(text=text, researched=False, sourced=False)
        if can_search(run, case) and not quick_look.evidence and not quick_look.late:
            draft = await nothing_found(phase, case)
        else:
            draft = await _write_answer(phase, case, quick_look, proofreader)
    return msgspec.structs.replace(draft, proofreader=proofreader)


async def answer_from_opened(run: Run, case: Case) -> Draft:
    """Answer only from what was opened before."""
    proofreader = make_proofreader(run, case.ledger, case.reader, "answer", case.added_checks)
    quick_look = await recall_all(run, case)
    async with run.with_gate("write").phase("write") as phase:
        phase.emit(ReportStarted())
        if not quick_look.evidence:
            await require_search(phase, case)
            text = record_statement(_("Nothing that answers this question is in {scope}.").format(scope=case.scope))
            phase.emit(ReportDelta(text=text))
            return Draft(text=text, sourced=False, limits=quick_look.limits)
        draft = await _write_answer(phase, case, quick_look, proofreader)
    return msgspec.structs.replace(draft, proofreader=proofreader)


async def _write_answer(phase: Run, case: Case, quick_look: QuickLook, proofreader: Proofreader | None) -> Draft:
    """Ask for the answer.

    Raises:
        ModelFailed: there is none, and nothing was found that could replace it.
    """
    first = "" if quick_look.evidence else f"{unsourced_line()}\n\n"
    active_proofreader = proofreader if quick_look.evidence else None
    if first:
        phase.emit(ReportDelta(text=first))
    try:
        reply = await _ask_for_answer(phase, case, quick_look.evidence, active_proofreader)
    except (LimitReached, ModelFailed) as failed:
        return _show_passages(phase, case, failed, active_proofreader)
    tidy = tidy_reply(reply, case.ledger)
    wrong, content = reply_defect(tidy), tidy.text
    if wrong:
        content = salvage_text(tidy)
        if not resolve_citations(content, case.ledger).passages:
            return _show_passages(
                phase, case, ModelFailed(f"the answer could not be used: {wrong}"), active_proofreader
            )
        phase.warn(_("the answer was used in part: {why}").format(why=wrong.partition(";")[0]))
    cites = bool(resolve_citations(content, case.ledger).passages)
    if active_proofreader and (wrong or not cites):
        active_proofreader.restart_text()  # text without sources is not checked
    text = add_date(content, case) if cites else f"{unsourced_line()}\n\n{content}"
    streamed = reply.text if active_proofreader and cites and not wrong else ""
    log_code_changes(
        phase,
        first + reply.text,
        text,
        REVISION_REASON if cites or first else "the answer cites nothing",
        streamed_spans(streamed, text),
    )
    return Draft(
        text=text,
        researched=bool(quick_look.evidence),
        sourced=cites,
        limits=_cut_short_notes(quick_look, phase.rules.look_seconds),
        streamed=streamed,
    )


def _cut_short_notes(quick_look: QuickLook, seconds: float) -> tuple[str, ...]:
    """A note for readers about a look that was cut short."""
    if not quick_look.late:
        return quick_look.limits
    return (_(CUT if quick_look.evidence else LATE).format(seconds=round(seconds)),)


def _show_passages(phase: Run, case: Case, error: LimitReached | ModelFailed, proofreader: Proofreader | None) -> Draft:
    """Show the passages found instead of an answer; if there are none and no model works, the run fails."""
    text = quote_nearest_passages(case.question, case.ledger)
    if not text and isinstance(error, ModelFailed):
        raise error
    phase.warn(_("no model answered: {why}").format(why=stop_reason_phrase(error.reason)))
    if proofreader:
        proofreader.restart_text()
    text = add_date(text or nothing_found_text(), case)
    phase.emit(ReportRevised(text=text, why="no model answered; the passages found are the report"))
    return Draft(text=text, limits=(_(ENDED),), written=False)


async def _ask_for_answer(phase: Run, case: Case, evidence: str, proofreader: Proofreader | None) -> Reply:
    request = Request(
        task="answer",
        system=phase.prompt("assay.phases", "answer"),
        messages=(*([user_message("evidence", evidence)] if evidence else []), *case.question_messages()),
        tool_choice="none",
        max_tokens=output_cap(phase.profile("complex"), phase.rules.answer_tokens),
    )
    return await phase.ask(
        "complex",
        request,
        StreamHooks(
            deltas=lambda text: ReportDelta(text=text),
            listener=proofreader.listener("") if proofreader else None,
            reader_factory=citation_reading(case.ledger.knows),
        ),
    )


# A single agent: no triage, no planner, no writer. Its findings are the report, verified like any other.

SINGLE_AGENT_DEPTH: SetDepth = "medium"
"""The depth of a single agent if none is set."""


async def run_single_agent(run: Run, case: Case) -> Draft:
    """Have one agent work on the brief's question, and report its findings.

    Raises:
        ModelFailed: no model worked and nothing was found.
        NothingSearched: nothing was found, because nothing was searched.
    """
    run.set_depth(SINGLE_AGENT_DEPTH if run.brief.depth == "auto" else run.brief.depth)
    if not has_searchable_sources(run, case):
        return await write_nothing(run, case)
    draft = await _report_findings(run, case, await _research(run, case))
    log_cited_sources(run, case, draft.text)
    return draft


async def _research(run: Run, case: Case) -> Research:
    research = Research(plan=Plan(title=case.question))
    async with run.phase("research") as phase:
        try:
            await check_work_allowed(phase)
        except LimitReached as limit:
            phase.warn(_("no agent was sent: {why}").format(why=stop_reason_phrase(limit.reason)))
        else:
            task = agent_task(case, research, case.question, step=0, turns=run.rules.agent_turns)
            handle = phase.spawn(
                "agent", task, lambda lane: research_task(lane, task, case.ledger, case.tools), returns=Finding
            )
            phase.emit(AgentsPlanned(cycle=1, lanes=(handle.lane,)))
            research, _why = await collect(SentAgent(task=task, handle=handle), research)
        await search_after_limit(phase, case)
    return research


async def _report_findings(run: Run, case: Case, research: Research) -> Draft:
    """The findings as the report.

    Raises:
        ModelFailed: the agent failed before anything was found.
    """
    async with run.with_gate("write").phase("write") as phase:
        phase.emit(ReportStarted())
        if research.failed:
            raise ModelFailed(f"the agent failed: {research.failed[-1]}")
        limits = shortcoming_notes(research)
        cited_findings = [finding for finding in research.findings if finding.passages]
        if not cited_findings:
            nothing = await nothing_found(phase, case)
            return Draft(text=nothing.text, limits=limits, sourced=nothing.sourced, found=False)
        phase.emit(ReportDelta(text=cited_findings[0].text))
        return Draft(text=cited_findings[0].text, limits=limits)
