"""The path of one run: the body of `pipeline` is the list of its phases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

import msgspec

from assay.agents.findings import cite
from assay.core.errors import UnknownName
from assay.core.phrases import expect
from assay.core.plan import Coverage, Plan
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.evidence.documents import DocumentReader
from assay.locale import speaking
from assay.phases.anticipation import NextCalls, count_unasked, foresee_background, search_names, search_question
from assay.phases.background import look_around
from assay.phases.case import Case, Draft, Research, goes_on, on_new_topic, open_case, searchable, with_instructions
from assay.phases.coverage import cover
from assay.phases.dispatch import AgentPool
from assay.phases.fields.answer import fill
from assay.phases.final import finish
from assay.phases.fork import Checkpoint, announce, keep, recalled, take_up
from assay.phases.method import forewarn
from assay.phases.planner import agreed, follow, make_plan
from assay.phases.survey.survey_phase import survey
from assay.phases.triage import classify
from assay.phases.without_plan import answer, answer_from, work_alone
from assay.phases.write import check_tools, write, write_nothing
from assay.run.engine import Outcome
from assay.run.protocols import Tool
from assay.run.run import Run
from assay.verify.checks import AddedCheck

Strategy = Callable[[Run, AgentPool, Plan], Awaitable[Research]]

EVERY_DOCUMENT = N_("Read every document in scope")


class PipelineParts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the runs of a process share: the installed tools, the document reader, the strategies by name.

    `checks` are those of other packages.
    """

    tools: Sequence[Tool]
    reader: DocumentReader
    strategies: Mapping[str, Strategy]
    checks: tuple[AddedCheck, ...] = ()

    def strategy(self, name: str) -> Strategy:
        """Return the strategy with this name.

        Raises:
            UnknownName: there is none.
        """
        if name not in self.strategies:
            raise UnknownName("strategy", name, self.strategies)
        return self.strategies[name]

    def allowed(self, names: Sequence[str]) -> dict[str, Tool]:
        """Return the tools that a brief allows, in its order.

        Raises:
            UnknownName: one is not installed.
        """
        installed = {tool.name: tool for tool in self.tools}
        for name in names:
            if name not in installed:
                raise UnknownName("tool", name, installed)
        return {name: installed[name] for name in names}


async def pipeline(run: Run, parts: PipelineParts) -> Outcome:
    """Answer the brief's question, from triage to the verified report.

    Raises:
        UsageError: the brief asks for something that does not exist.
        ModelFailed: no model worked and nothing was found.
        NothingSearched: nothing was found, because nothing was searched.
        InputNeeded: a person must answer first.
    """
    strategy = parts.strategy(run.brief.strategy)
    with speaking(run.brief.locale):
        expect()
        run.limit("extended" if run.brief.depth == "auto" else run.brief.depth)  # until triage sets the depth
        case = await open_case(run, parts.allowed(run.brief.tools), parts.reader, parts.checks)
        if run.brief.mode == "agent":
            draft = await work_alone(run, case)
        else:
            case, at = await take_up_case(run, case)
            draft = await drafted(run, case, at, strategy)
        outcome = await finish(run, case, draft)
        await count_unasked(run)
        return outcome


async def take_up_case(run: Run, case: Case) -> tuple[Case, Checkpoint]:
    """Do triage. A forked run continues from the checkpoint it was forked at."""
    if run.brief.fork is not None:
        case, at = await take_up(run, case)
    else:
        await search_question(run, case)
        triage, case = await classify(run, case, partial(foresee_background, run, case))
        case = case if goes_on(run.brief, triage) or not searchable(run, case) else on_new_topic(run, case)
        at = Checkpoint(triage=triage, question=case.question, answers=case.answers, assumptions=case.assumptions)
    run.limit(at.triage.depth)
    return case, at


async def drafted(run: Run, case: Case, at: Checkpoint, strategy: Strategy) -> Draft:
    """Write the report: an answer at once, a survey of every document, or the result of research."""
    triage = at.triage
    if run.brief.fork is None:
        if triage.answer is not None or run.brief.mode == "web_search":
            return await at_once(run, case, triage.answer or "")
        if not searchable(run, case):
            return await without_search(run, case)
        if triage.whole_collection and not run.brief.schema and await agreed(run, _(EVERY_DOCUMENT)):
            surveyed = await survey(run, case)
            if surveyed is not None:
                return surveyed
    return await researched(run, case, at, strategy)


async def researched(run: Run, case: Case, at: Checkpoint, strategy: Strategy) -> Draft:
    """Do background, plan, research with coverage, and report, except what a forked run brought along."""
    agent_pool = AgentPool(case, run.rules, NextCalls(run, case))
    at = await oriented(run, case, at)
    at = await planned(run, case, at)
    at, research = await investigated(run, agent_pool, at, strategy)
    case = await with_instructions(run, case, research.steering)
    await forewarn(run, case.ledger, research.findings)
    return await reported(run, case, research, at.coverage)


async def at_once(run: Run, case: Case, text: str) -> Draft:
    """Answer without a plan: with `text`, from a quick look at the documents, or from what was found before.

    Raises:
        ModelFailed: no model worked and nothing was found.
    """
    if not text and "search" not in case.tools:
        return await answer_from(run, case)
    draft = await answer(run, case, text)
    announce(run, case, draft.text)
    return draft


async def without_search(run: Run, case: Case) -> Draft:
    """Answer without a search, from the evidence of an earlier run.

    Raises:
        NothingSearched: nothing was searched.
    """
    inherits = bool(case.ledger.everything()[1])
    draft = await (answer_from if inherits else write_nothing)(run, case)
    announce(run, case, draft.text)
    return draft


async def oriented(run: Run, case: Case, at: Checkpoint) -> Checkpoint:
    """Add what a first search shows the planner."""
    if run.brief.fork is not None:
        return at
    return msgspec.structs.replace(at, background=await look_around(run, case))


async def planned(run: Run, case: Case, at: Checkpoint) -> Checkpoint:
    """Add a plan: the one that exists, one given by the user, or the planner's."""
    if at.plan is not None:
        return at
    keep(run, "plan", at, case.ledger)
    if at.given:
        plan = await follow(run, at.given)
    else:
        await search_names(run, case)
        plan = await make_plan(run, case, at.background)
    return msgspec.structs.replace(at, plan=plan, given=None)


async def investigated(
    run: Run, agent_pool: AgentPool, at: Checkpoint, strategy: Strategy
) -> tuple[Checkpoint, Research]:
    """Return existing research, or do it with the strategy; then coverage sends agents for open parts."""
    if at.research is not None:
        return at, at.research
    assert at.plan is not None
    keep(run, "research", at, agent_pool.case.ledger)
    async with run.phase("research") as phase:
        research, coverage = await cover(phase, agent_pool, await strategy(phase, agent_pool, at.plan))
    at = msgspec.structs.replace(at, research=research, coverage=coverage)
    keep(run, "write", at, agent_pool.case.ledger)
    return at, research


async def reported(run: Run, case: Case, research: Research, coverage: tuple[Coverage, ...]) -> Draft:
    """Report what was found: in the writer's text, or as the fields of a schema.

    Raises:
        ModelFailed, NothingSearched: nothing was found.
    """
    if run.brief.schema:
        draft = await fill(run, case, research)
    else:
        draft = await write(run, case, recalled(case, research), coverage)
    if not draft.found or not cite(draft.text, case.ledger).passages:
        await check_tools(run)
    announce(run, case, draft.text)
    return msgspec.structs.replace(draft, coverage=coverage)
