"""The path of one run: the body of `pipeline` is the list of its phases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

import msgspec

from assay.agents.findings import resolve_citations
from assay.core.errors import ModelFailed, UnknownName
from assay.core.phrases import record_phrases
from assay.core.plan import Coverage, Plan
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.evidence.documents import DocumentReader
from assay.locale import use_locale
from assay.phases.anticipation import (
    NextCalls,
    count_unused_speculation,
    foresee_background,
    search_names,
    search_question,
)
from assay.phases.background import search_after_limit, search_background
from assay.phases.case import (
    Case,
    Draft,
    Research,
    add_instructions,
    drop_inherited_evidence,
    has_searchable_sources,
    open_case,
    uses_inherited_evidence,
)
from assay.phases.coverage import complete_coverage
from assay.phases.dispatch import AgentPool
from assay.phases.fields.answer import fill_fields
from assay.phases.final import finish_run
from assay.phases.fork import Checkpoint, add_recalled_finding, load_fork, log_cited_sources, store_checkpoint
from assay.phases.method import look_up_before_writing
from assay.phases.planner import accept_given_plan, confirm_step, make_plan
from assay.phases.survey.survey_phase import write_survey
from assay.phases.triage import classify_question
from assay.phases.without_plan import answer_directly, answer_from_opened, run_single_agent
from assay.phases.write import check_tools, write_nothing, write_report
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

    def allowed_tools(self, names: Sequence[str]) -> dict[str, Tool]:
        """Return the tools that a brief allows, in its order.

        Raises:
            UnknownName: one is not installed.
        """
        installed = {tool.name: tool for tool in self.tools}
        for name in names:
            if name not in installed:
                raise UnknownName("tool", name, installed)
        return {name: installed[name] for name in names}


TRY_AGAIN = "resume the run later, or choose another model (--model)"
"""The advice if a run failed because no model answered."""
OTHER_MODEL = "choose another model (--model)"
"""The advice if the model refused, or the request does not fit it."""


async def pipeline(run: Run, parts: PipelineParts) -> Outcome:
    """Answer the brief's question, from triage to the verified report.

    Raises:
        UsageError: the brief asks for something that does not exist.
        ModelFailed: no model worked and nothing was found.
        NothingSearched: nothing was found, because nothing was searched.
        InputNeeded: a person must answer first.
    """
    strategy = parts.strategy(run.brief.strategy)
    with use_locale(run.brief.locale):
        record_phrases()
        run.set_depth("extended" if run.brief.depth == "auto" else run.brief.depth)  # until triage sets the depth
        case = await open_case(run, parts.allowed_tools(run.brief.tools), parts.reader, parts.checks)
        try:
            if run.brief.mode == "agent":
                draft = await run_single_agent(run, case)
            else:
                case, checkpoint = await take_up_case(run, case)
                draft = await write_draft(run, case, checkpoint, strategy)
        except ModelFailed as failed:
            advice = TRY_AGAIN if failed.kind == ModelFailed.kind else OTHER_MODEL
            raise type(failed)(f"{failed.reason}; {advice}") from failed
        outcome = await finish_run(run, case, draft)
        await count_unused_speculation(run)
        return outcome


async def take_up_case(run: Run, case: Case) -> tuple[Case, Checkpoint]:
    """Do triage. A forked run continues from the checkpoint it was forked at."""
    if run.brief.fork is not None:
        case, checkpoint = await load_fork(run, case)
    else:
        await search_question(run, case)
        triage, case = await classify_question(run, case, partial(foresee_background, run, case))
        case = (
            case
            if uses_inherited_evidence(run.brief, triage) or not has_searchable_sources(run, case)
            else drop_inherited_evidence(run, case)
        )
        checkpoint = Checkpoint(
            triage=triage, question=case.question, answers=case.answers, assumptions=case.assumptions
        )
    run.set_depth(checkpoint.triage.depth)
    return case, checkpoint


async def write_draft(run: Run, case: Case, checkpoint: Checkpoint, strategy: Strategy) -> Draft:
    """Write the report: an answer at once, a survey of every document, or the result of research."""
    triage = checkpoint.triage
    if run.brief.fork is None:
        if triage.answer is not None or run.brief.mode == "web_search":
            return await answer_at_once(run, case, triage.answer or "")
        if not has_searchable_sources(run, case):
            return await answer_without_search(run, case)
        if triage.whole_collection and not run.brief.schema and await confirm_step(run, _(EVERY_DOCUMENT)):
            draft = await write_survey(run, case)
            if draft is not None:
                return draft
    return await draft_from_research(run, case, checkpoint, strategy)


async def draft_from_research(run: Run, case: Case, checkpoint: Checkpoint, strategy: Strategy) -> Draft:
    """Do background, plan, research with coverage, and report, except what a forked run brought along."""
    agent_pool = AgentPool(case, run.rules, NextCalls(run, case))
    checkpoint = await add_background(run, case, checkpoint)
    checkpoint = await add_plan(run, case, checkpoint)
    checkpoint, research = await do_research(run, agent_pool, checkpoint, strategy)
    case = await add_instructions(run, case, research.steering)
    await look_up_before_writing(run, case.ledger, research.findings)
    return await report_findings(run, case, research, checkpoint.coverage)


async def answer_at_once(run: Run, case: Case, text: str) -> Draft:
    """Answer without a plan: with `text`, from a quick look at the documents, or from what was found before.

    Raises:
        ModelFailed: no model worked and nothing was found.
    """
    if not text and "search" not in case.tools:
        return await answer_from_opened(run, case)
    draft = await answer_directly(run, case, text)
    log_cited_sources(run, case, draft.text)
    return draft


async def answer_without_search(run: Run, case: Case) -> Draft:
    """Answer without a search, from the evidence of an earlier run.

    Raises:
        NothingSearched: nothing was searched.
    """
    inherits = bool(case.ledger.passages_and_sources()[1])
    draft = await (answer_from_opened if inherits else write_nothing)(run, case)
    log_cited_sources(run, case, draft.text)
    return draft


async def add_background(run: Run, case: Case, checkpoint: Checkpoint) -> Checkpoint:
    """Add what a first search shows the planner."""
    if run.brief.fork is not None:
        return checkpoint
    return msgspec.structs.replace(checkpoint, background=await search_background(run, case))


async def add_plan(run: Run, case: Case, checkpoint: Checkpoint) -> Checkpoint:
    """Add a plan: the one that exists, one given by the user, or the planner's."""
    if checkpoint.plan is not None:
        return checkpoint
    store_checkpoint(run, "plan", checkpoint, case.ledger)
    if checkpoint.given:
        plan = await accept_given_plan(run, checkpoint.given)
    else:
        await search_names(run, case)
        plan = await make_plan(run, case, checkpoint.background)
    return msgspec.structs.replace(checkpoint, plan=plan, given=None)


async def do_research(
    run: Run, agent_pool: AgentPool, checkpoint: Checkpoint, strategy: Strategy
) -> tuple[Checkpoint, Research]:
    """Return existing research, or do it with the strategy; then coverage sends agents for open parts."""
    if checkpoint.research is not None:
        return checkpoint, checkpoint.research
    assert checkpoint.plan is not None
    store_checkpoint(run, "research", checkpoint, agent_pool.case.ledger)
    async with run.phase("research") as phase:
        research = await strategy(phase, agent_pool, checkpoint.plan)
        await search_after_limit(phase, agent_pool.case)
        research, coverage = await complete_coverage(phase, agent_pool, research)
    checkpoint = msgspec.structs.replace(checkpoint, research=research, coverage=coverage)
    store_checkpoint(run, "write", checkpoint, agent_pool.case.ledger)
    return checkpoint, research


async def report_findings(run: Run, case: Case, research: Research, coverage: tuple[Coverage, ...]) -> Draft:
    """Report what was found: in the writer's text, or as the fields of a schema.

    Raises:
        ModelFailed, NothingSearched: nothing was found.
    """
    if run.brief.schema:
        draft = await fill_fields(run, case, research)
    else:
        draft = await write_report(run, case, add_recalled_finding(case, research), coverage)
    if not draft.found or not resolve_citations(draft.text, case.ledger).passages:
        await check_tools(run)
    log_cited_sources(run, case, draft.text)
    return msgspec.structs.replace(draft, coverage=coverage, judged=research.is_judged)
