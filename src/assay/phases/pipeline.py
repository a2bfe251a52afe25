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
from assay.phases.final import finish
from assay.phases.heritage import Heritage, announce, equip, inherit, recalled
from assay.phases.inquiry import Inquiry, inquire
from assay.phases.planning import make_plan
from assay.phases.simple import answer, answer_from
from assay.phases.state import Research
from assay.phases.survey.survey import survey
from assay.phases.triage import classify
from assay.phases.typed.answer import fill
from assay.phases.write import Draft, write, write_nothing
from assay.run.engine import Outcome
from assay.run.protocols import Tool
from assay.run.run import Run

Strategy = Callable[[Run, Crew, Plan], Awaitable[Research]]


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
        InputNeeded: a person has to answer first.
    """
    strategy = services.strategy(run.brief.strategy)
    tools, heritage = services.allowed(run.brief.tools), await inherit(run)
    if run.brief.mode == "agent":
        return await work_alone(run, equip(run, tools, heritage, None), services.reader)
    triage, inquiry = await classify(run, await inquire(run))
    heritage = heritage if goes_on(run.brief, triage) else Heritage()
    kit = equip(run, tools, heritage, inquiry.held)
    rules = run.limit(triage.depth)
    if triage.answer is not None or run.brief.mode == "web_search":
        draft = await at_once(run, kit, inquiry, triage.answer or "")
        return await finish(run, kit, services.reader, inquiry, draft)
    if not inquiry.count and not run.brief.scope.web:
        draft = await write_nothing(run, kit, inquiry)
        return await finish(run, kit, services.reader, inquiry, draft)
    if triage.whole_collection and not run.brief.schema:
        surveyed = await survey(run, kit, services.reader, inquiry, rules)
        if surveyed is not None:
            return await finish(run, kit, services.reader, inquiry, surveyed)
    background = await look_around(run, kit, inquiry)
    plan = await make_plan(run, inquiry, background, rules)
    research, coverage = await investigate(run, strategy, Crew(kit, inquiry, rules), plan)
    if run.brief.schema:
        draft = await fill(run, kit, inquiry, research)
    else:
        draft = await write(run, kit, inquiry, recalled(kit, inquiry, heritage, research), coverage)
    announce(run, kit, draft.text)
    return await finish(run, kit, services.reader, inquiry, draft)


def goes_on(brief: Brief, triage: Triage) -> bool:
    """Whether a run goes on from the evidence it took over: not where it asks about something else, and may search."""
    return triage.follow_up != "new_topic" or "search" not in brief.tools


async def at_once(run: Run, kit: Kit, inquiry: Inquiry, text: str) -> Draft:
    """An answer without a plan: `text`, what a look at the documents brings, or what was found before.

    Raises:
        ModelFailed: no model worked and nothing was found.
    """
    if not text and "search" not in kit.tools:
        return await answer_from(run, kit, inquiry)
    draft = await answer(run, kit, inquiry, text)
    announce(run, kit, draft.text)
    return draft


async def investigate(run: Run, strategy: Strategy, crew: Crew, plan: Plan) -> tuple[Research, tuple[Coverage, ...]]:
    """Research by the run's strategy, then coverage, which sends agents for what was left open."""
    async with run.phase("research") as phase:
        return await cover(phase, crew, await strategy(phase, crew, plan))
