"""One research agent alone: no triage, no planner, no writer. Its findings are the report, verified like any other."""

from __future__ import annotations

from assay.agents.loop import research_agent
from assay.agents.task import Finding
from assay.core.brief import SetDepth
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import AgentsPlanned, ReportDelta, ReportStarted
from assay.core.phrases import in_words
from assay.core.plan import Plan
from assay.core.translation import gettext as _
from assay.phases.case import Case, Draft, Research, agent_task
from assay.phases.checkpoint import announce
from assay.phases.dispatch import Sent, collect, may_work
from assay.phases.empty_report import nothing_found, write_nothing
from assay.phases.write import shortcomings
from assay.run.run import Run

DEPTH: SetDepth = "medium"
"""How far an agent goes where nobody says it."""


async def work_alone(run: Run, case: Case) -> Draft:
    """Have one agent work on the brief's question: the findings as the report.

    Raises:
        ModelFailed: no model worked and nothing was found.
        NothingSearched: nothing was found, because nothing was searched.
    """
    turns = run.limit(DEPTH if run.brief.depth == "auto" else run.brief.depth).agent_turns
    if not case.count and not run.brief.scope.web:
        return await write_nothing(run, case)
    draft = await _findings(run, case, await _research(run, case, turns))
    announce(run, case, draft.text)
    return draft


async def _research(run: Run, case: Case, turns: int) -> Research:
    research = Research(plan=Plan(title=case.question))
    async with run.phase("research") as phase:
        try:
            await may_work(phase)
        except LimitReached as limit:
            phase.warn(_("no agent was sent: {why}").format(why=in_words(limit.reason)))
            return research
        task = agent_task(case, research, case.question, step=0, turns=turns)
        handle = phase.spawn(
            "agent", task, lambda lane: research_agent(lane, task, case.ledger, case.tools), returns=Finding
        )
        phase.emit(AgentsPlanned(cycle=1, lanes=(handle.lane,)))
        research, _why = await collect(Sent(task=task, handle=handle), research)
    return research


async def _findings(run: Run, case: Case, research: Research) -> Draft:
    """The findings as the report.

    Raises:
        ModelFailed: the agent failed before anything was found.
    """
    async with run.at("write").phase("write") as phase:
        phase.emit(ReportStarted())
        if research.failed:
            raise ModelFailed(f"the agent failed: {research.failed[-1]}")
        limits = shortcomings(research)
        found = [finding for finding in research.findings if finding.passages]
        if not found:
            nothing = await nothing_found(phase, case)
            return Draft(text=nothing.text, limits=limits, sourced=nothing.sourced, found=False)
        phase.emit(ReportDelta(text=found[0].text))
        return Draft(text=found[0].text, limits=limits)
