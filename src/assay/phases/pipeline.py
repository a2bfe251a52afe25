"""The way of one run: its body is the list of its phases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from assay.agents.findings import cite
from assay.agents.task import Toolset
from assay.core.brief import Brief
from assay.core.errors import UnknownName
from assay.core.phrases import expect
from assay.core.plan import Coverage, Plan, Triage
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.evidence.documents import DocumentReader
from assay.locale import speaking
from assay.phases.alone import work_alone
from assay.phases.anticipation import count_unasked, search_names, search_question
from assay.phases.background import look_around
from assay.phases.case import Case, Draft, Research, heard, inquire
from assay.phases.checkpoint import (
    Checkpoint,
    InheritedEvidence,
    announce,
    equip,
    inherit,
    keep,
    recalled,
    take_up,
)
from assay.phases.coverage import cover
from assay.phases.dispatch import AgentPool
from assay.phases.empty_report import check_tools, write_nothing
from assay.phases.fields.answer import fill
from assay.phases.final import finish
from assay.phases.method import forewarn
from assay.phases.planner import agreed, follow, make_plan
from assay.phases.simple import answer, answer_from
from assay.phases.survey.survey_phase import survey
from assay.phases.triage import classify
from assay.phases.write import write
from assay.run.engine import Outcome
from assay.run.protocols import Tool
from assay.run.run import Run
from assay.verify.stream.proofreader import Proofreader, proofreader

Strategy = Callable[[Run, AgentPool, Plan], Awaitable[Research]]

EVERY_DOCUMENT = N_("Read every document in scope")


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """What all runs of a process share: the tools installed, the reader of documents, the strategies by name."""

    tools: Sequence[Tool]
    reader: DocumentReader
    strategies: Mapping[str, Strategy]

    def strategy(self, name: str) -> Strategy:
        """A strategy by name.

        Raises:
            UnknownName: there is none of that name.
        """
        if name not in self.strategies:
            raise UnknownName("strategy", name, self.strategies)
        return self.strategies[name]

    def allowed(self, names: Sequence[str]) -> dict[str, Tool]:
        """The tools a brief allows, in its order.

        Raises:
            UnknownName: one is not installed.
        """
        installed = {tool.name: tool for tool in self.tools}
        for name in names:
            if name not in installed:
                raise UnknownName("tool", name, installed)
        return {name: installed[name] for name in names}


async def pipeline(run: Run, services: Services) -> Outcome:
    """Answer the brief's question, from triage to the verified report.

    Raises:
        UsageError: the brief asks for what there is not.
        ModelFailed: no model worked and nothing was found.
        NothingSearched: nothing was found, because nothing was searched.
        InputNeeded: a person has to answer first.
    """
    services.strategy(run.brief.strategy)
    with speaking(run.brief.locale):
        expect()
        outcome = await _answered(run, services)
        await count_unasked(run)
        return outcome


async def _answered(run: Run, services: Services) -> Outcome:
    """The run, which speaks the language of its report."""
    tools, inheritance = services.allowed(run.brief.tools), await inherit(run)
    if run.brief.mode == "agent":
        return await work_alone(run, equip(run, tools, inheritance, None), services.reader)
    run.limit("extended" if run.brief.depth == "auto" else run.brief.depth)  # until triage has said how far to go
    if run.brief.fork is not None:
        return await go_on(run, services, tools, inheritance)
    case = await inquire(run)
    await search_question(run, case)
    triage, case = await classify(run, case)
    searchable = bool(case.count) or run.brief.scope.web
    inheritance = inheritance if goes_on(run.brief, triage) or not searchable else InheritedEvidence()
    toolset = equip(run, tools, inheritance, case.held)
    rules = run.limit(triage.depth)
    if triage.answer is not None or run.brief.mode == "web_search":
        proof = proofreader(run, toolset.ledger, services.reader, "answer")
        draft = await at_once(run, toolset, services.reader, case, triage.answer or "", proof)
        return await finish(run, toolset, services.reader, case, draft, proofreader=proof)
    if not searchable:
        proof = proofreader(run, toolset.ledger, services.reader, "answer")
        held = bool(toolset.ledger.everything()[1])  # taken over from an earlier run
        draft = await (
            answer_from(run, toolset, services.reader, case, proof) if held else write_nothing(run, toolset, case)
        )
        announce(run, toolset, draft.text)
        return await finish(run, toolset, services.reader, case, draft, proofreader=proof)
    if triage.whole_collection and not run.brief.schema and await agreed(run, _(EVERY_DOCUMENT)):
        surveyed = await survey(run, toolset, services.reader, case, rules)
        if surveyed is not None:
            return await finish(run, toolset, services.reader, case, surveyed)
    at = Checkpoint(triage=triage, question=case.question, answers=case.answers, assumptions=case.assumptions)
    at = msgspec.structs.replace(at, background=await look_around(run, toolset, case))
    return await researched(run, services, AgentPool(toolset, case, rules), inheritance, at)


async def go_on(run: Run, services: Services, tools: Mapping[str, Tool], inheritance: InheritedEvidence) -> Outcome:
    """The way of a run which was forked off another, from where that was."""
    forked, toolset, case = await take_up(run, tools, inheritance)
    triage = forked.standing.triage
    inheritance = inheritance if goes_on(run.brief, triage) else InheritedEvidence()
    return await researched(
        run, services, AgentPool(toolset, case, run.limit(triage.depth)), inheritance, forked.standing
    )


async def researched(
    run: Run, services: Services, agent_pool: AgentPool, inheritance: InheritedEvidence, at: Checkpoint
) -> Outcome:
    """Plan, research, write, verify; what a run was forked with is not done again."""
    toolset, case = agent_pool.toolset, agent_pool.case
    at = await planned(run, agent_pool, at)
    research, coverage = await investigated(run, services.strategy(run.brief.strategy), agent_pool, at)
    case = await heard(run, case, research.steering)
    await forewarn(run, toolset.ledger, research.findings)
    proof = proofreader(run, toolset.ledger, services.reader)
    if run.brief.schema:
        draft = await fill(run, toolset, case, research)
    else:
        draft = await write(run, toolset, case, recalled(toolset, case, inheritance, research), coverage, proof)
    if not draft.found or not cite(draft.text, toolset.ledger).passages:
        await check_tools(run)
    announce(run, toolset, draft.text)
    return await finish(run, toolset, services.reader, case, draft, coverage, proof)


def goes_on(brief: Brief, triage: Triage) -> bool:
    """Whether a run goes on from the evidence it took over: not where it asks about something else, and may search."""
    return triage.follow_up != "new_topic" or "search" not in brief.tools


async def at_once(
    run: Run, toolset: Toolset, reader: DocumentReader, case: Case, text: str, proof: Proofreader | None
) -> Draft:
    """An answer without a plan: `text`, what a look at the documents brings, or what was found before.

    Raises:
        ModelFailed: no model worked and nothing was found.
    """
    if not text and "search" not in toolset.tools:
        return await answer_from(run, toolset, reader, case, proof)
    draft = await answer(run, toolset, case, text, proof)
    announce(run, toolset, draft.text)
    return draft


async def planned(run: Run, agent_pool: AgentPool, at: Checkpoint) -> Checkpoint:
    """With a plan: the one there is, the one somebody gave, or the planner's."""
    if at.plan is not None:
        return at
    keep(run, "plan", at, agent_pool.toolset)
    if at.given:
        plan = await follow(run, at.given)
    else:
        await search_names(run, agent_pool.case)
        plan = await make_plan(run, agent_pool.case, at.background, agent_pool.rules)
    return msgspec.structs.replace(at, plan=plan, given=None)


async def investigated(
    run: Run, strategy: Strategy, agent_pool: AgentPool, at: Checkpoint
) -> tuple[Research, tuple[Coverage, ...]]:
    """The research there is; else that of the run's strategy, then coverage, which sends agents for what is open."""
    if at.research is not None:
        return at.research, at.coverage
    assert at.plan is not None
    keep(run, "research", at, agent_pool.toolset)
    async with run.phase("research") as phase:
        research, coverage = await cover(phase, agent_pool, await strategy(phase, agent_pool, at.plan))
    keep(run, "write", msgspec.structs.replace(at, research=research, coverage=coverage), agent_pool.toolset)
    return research, coverage
