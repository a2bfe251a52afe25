"""The way of one run: its body is the list of its phases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from assay.agents.task import Kit
from assay.core.errors import UnknownName
from assay.core.plan import Coverage, Plan
from assay.evidence.documents import Reader
from assay.evidence.ledger import Ledger
from assay.phases import check
from assay.phases.background import look_around
from assay.phases.coverage import cover
from assay.phases.dispatch import Crew
from assay.phases.final import finish
from assay.phases.inquiry import inquire
from assay.phases.planning import make_plan
from assay.phases.simple import answer
from assay.phases.state import Research
from assay.phases.triage import classify
from assay.phases.write import write, write_nothing
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
    check(run.brief)
    strategy = services.strategy(run.brief.strategy)
    kit = Kit(ledger=Ledger(), tools=services.allowed(run.brief.tools))
    triage, inquiry = await classify(run, await inquire(run))
    rules = run.limit(triage.depth)
    if triage.answer is not None:
        draft = await answer(run, kit, inquiry, triage.answer)
        return await finish(run, kit, services.reader, inquiry, draft)
    if not inquiry.count:
        draft = await write_nothing(run, kit, inquiry)
        return await finish(run, kit, services.reader, inquiry, draft)
    background = await look_around(run, kit, inquiry)
    plan = await make_plan(run, inquiry, background, rules)
    research, coverage = await investigate(run, strategy, Crew(kit, inquiry, rules), plan)
    draft = await write(run, kit, inquiry, research, coverage)
    return await finish(run, kit, services.reader, inquiry, draft)


async def investigate(run: Run, strategy: Strategy, crew: Crew, plan: Plan) -> tuple[Research, tuple[Coverage, ...]]:
    """Research by the run's strategy, then coverage, which sends agents for what was left open."""
    async with run.phase("research") as phase:
        return await cover(phase, crew, await strategy(phase, crew, plan))
