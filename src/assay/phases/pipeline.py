"""The way of one run: its body is the list of its phases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from assay.agents.task import Kit
from assay.core.brief import Brief
from assay.core.errors import UnknownName
from assay.core.plan import Coverage, Plan, Triage
from assay.evidence.documents import Reader
from assay.phases.alone import work_alone
from assay.phases.background import look_around
from assay.phases.coverage import cover
from assay.phases.dispatch import Crew
from assay.phases.draft import Draft
from assay.phases.final import finish
from assay.phases.heritage import Heritage, announce, equip, inherit, recalled
from assay.phases.inquiry import Inquiry, heard, inquire
from assay.phases.nothing import write_nothing
from assay.phases.noticing import forewarn
from assay.phases.planning import agreed, follow, make_plan
from assay.phases.simple import answer, answer_from
from assay.phases.standing import Standing, keep, take_up
from assay.phases.state import Research
from assay.phases.survey.survey import survey
from assay.phases.triage import classify
from assay.phases.typed.answer import fill
from assay.phases.write import write
from assay.run.engine import Outcome
from assay.run.protocols import Tool
from assay.run.run import Run
from assay.verify.streaming.proofreading import Proofreader, proofreader

Strategy = Callable[[Run, Crew, Plan], Awaitable[Research]]

EVERY_DOCUMENT = "Read every document in scope"


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """What all runs of a process share: the tools installed, the reader of documents, the strategies by name."""

    tools: Sequence[Tool]
    reader: Reader
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
    tools, heritage = services.allowed(run.brief.tools), await inherit(run)
    if run.brief.mode == "agent":
        return await work_alone(run, equip(run, tools, heritage, None), services.reader)
    run.limit("extended" if run.brief.depth == "auto" else run.brief.depth)  # until triage has said how far to go
    if run.brief.fork is not None:
        return await go_on(run, services, tools, heritage)
    triage, inquiry = await classify(run, await inquire(run))
    searchable = bool(inquiry.count) or run.brief.scope.web
    heritage = heritage if goes_on(run.brief, triage) or not searchable else Heritage()
    kit = equip(run, tools, heritage, inquiry.held)
    rules = run.limit(triage.depth)
    if triage.answer is not None or run.brief.mode == "web_search":
        proof = proofreader(run, kit.ledger, services.reader, "answer")
        draft = await at_once(run, kit, inquiry, triage.answer or "", proof)
        return await finish(run, kit, services.reader, inquiry, draft, proofreader=proof)
    if not searchable:
        proof = proofreader(run, kit.ledger, services.reader, "answer")
        held = bool(kit.ledger.everything()[1])  # taken over from an earlier run
        draft = await (answer_from(run, kit, inquiry, proof) if held else write_nothing(run, kit, inquiry))
        announce(run, kit, draft.text)
        return await finish(run, kit, services.reader, inquiry, draft, proofreader=proof)
    if triage.whole_collection and not run.brief.schema and await agreed(run, EVERY_DOCUMENT):
        surveyed = await survey(run, kit, services.reader, inquiry, rules)
        if surveyed is not None:
            return await finish(run, kit, services.reader, inquiry, surveyed)
    at = Standing(triage=triage, question=inquiry.question, answers=inquiry.answers, assumptions=inquiry.assumptions)
    at = msgspec.structs.replace(at, background=await look_around(run, kit, inquiry))
    return await researched(run, services, Crew(kit, inquiry, rules), heritage, at)


async def go_on(run: Run, services: Services, tools: Mapping[str, Tool], heritage: Heritage) -> Outcome:
    """The way of a run which was forked off another, from where that was."""
    forked, kit, inquiry = await take_up(run, tools, heritage)
    triage = forked.standing.triage
    heritage = heritage if goes_on(run.brief, triage) else Heritage()
    return await researched(run, services, Crew(kit, inquiry, run.limit(triage.depth)), heritage, forked.standing)


async def researched(run: Run, services: Services, crew: Crew, heritage: Heritage, at: Standing) -> Outcome:
    """Plan, research, write, verify; what a run was forked with is not done again."""
    kit, inquiry = crew.kit, crew.inquiry
    at = await planned(run, crew, at)
    research, coverage = await investigated(run, services.strategy(run.brief.strategy), crew, at)
    inquiry = await heard(run, inquiry, research.steering)
    await forewarn(run, kit.ledger, research.findings)
    proof = proofreader(run, kit.ledger, services.reader)
    if run.brief.schema:
        draft = await fill(run, kit, inquiry, research)
    else:
        draft = await write(run, kit, inquiry, recalled(kit, inquiry, heritage, research), coverage, proof)
    announce(run, kit, draft.text)
    return await finish(run, kit, services.reader, inquiry, draft, coverage, proof)


def goes_on(brief: Brief, triage: Triage) -> bool:
    """Whether a run goes on from the evidence it took over: not where it asks about something else, and may search."""
    return triage.follow_up != "new_topic" or "search" not in brief.tools


async def at_once(run: Run, kit: Kit, inquiry: Inquiry, text: str, proof: Proofreader | None) -> Draft:
    """An answer without a plan: `text`, what a look at the documents brings, or what was found before.

    Raises:
        ModelFailed: no model worked and nothing was found.
    """
    if not text and "search" not in kit.tools:
        return await answer_from(run, kit, inquiry, proof)
    draft = await answer(run, kit, inquiry, text, proof)
    announce(run, kit, draft.text)
    return draft


async def planned(run: Run, crew: Crew, at: Standing) -> Standing:
    """With a plan: the one there is, the one somebody gave, or the planner's."""
    if at.plan is not None:
        return at
    keep(run, "plan", at, crew.kit)
    plan = await (follow(run, at.given) if at.given else make_plan(run, crew.inquiry, at.background, crew.rules))
    return msgspec.structs.replace(at, plan=plan, given=None)


async def investigated(run: Run, strategy: Strategy, crew: Crew, at: Standing) -> tuple[Research, tuple[Coverage, ...]]:
    """The research there is; else that of the run's strategy, then coverage, which sends agents for what is open."""
    if at.research is not None:
        return at.research, at.coverage
    assert at.plan is not None
    keep(run, "research", at, crew.kit)
    async with run.phase("research") as phase:
        research, coverage = await cover(phase, crew, await strategy(phase, crew, at.plan))
    keep(run, "write", msgspec.structs.replace(at, research=research, coverage=coverage), crew.kit)
    return research, coverage
