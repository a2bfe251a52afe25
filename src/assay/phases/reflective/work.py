"""Going through the steps of a plan, one after another, reflecting after each."""

from __future__ import annotations

import msgspec

from assay.agents.loop import conduct, research_agent
from assay.agents.task import AgentTask, Finding
from assay.core.errors import LimitReached
from assay.core.events import AgentsPlanned, PlanChanged, ReflectDecided
from assay.core.phrases import in_words
from assay.core.plan import Plan, PlanStep
from assay.core.translation import gettext as _
from assay.core.translation import number
from assay.phases.case import Research, marked
from assay.phases.coverage import earlier
from assay.phases.dispatch import AgentPool, Sent, analyze, collect, may_work
from assay.phases.reflective.reflector import Classic, Decision, decide, standing
from assay.phases.reflective.replanner import replan
from assay.run.run import Run


async def reflect(run: Run, agent_pool: AgentPool, plan: Plan) -> Research:
    """Work off a plan step by step until the reflector, the steps or a limit end it; what was found is kept."""
    stepwise = Stepwise(agent_pool, Research(plan=plan))
    try:
        while (step := stepwise.next()) is not None:
            if not await stepwise.take(run.child(f"step-{stepwise.research.cycles + 1}"), step):
                break
    except LimitReached as limit:
        run.warn(_("research was ended by a limit: {why}").format(why=in_words(limit.reason)))
    return stepwise.research


class Stepwise:
    """The steps so far, what came of them, and what was decided after each."""

    def __init__(self, agent_pool: AgentPool, research: Research) -> None:
        self.agent_pool, self.research = agent_pool, research
        self.decisions: list[Decision] = []
        self.tried: set[int] = set()
        self._highest = max((step.id for step in research.plan.steps), default=0)

    def next(self) -> PlanStep | None:
        """The next step in the plan's order. An analysis waits for findings; where none can come, it is not done."""
        cited = any(finding.passages for finding in self.research.findings)
        return next((step for step in self._open() if step.needs_search or cited), None)

    def _open(self) -> list[PlanStep]:
        """The steps nobody has worked on."""
        return [step for step in self.research.plan.steps if step.status == "pending" and step.id not in self.tried]

    async def take(self, place: Run, step: PlanStep) -> bool:
        """Do a step and decide how to go on; whether to go on at all.

        Raises:
            LimitReached: nothing more can be done.
        """
        await may_work(place)
        await self._do(place, step)
        at = standing(self.agent_pool, self.research, self.tried)
        if not at.left and not at.may_adjust:
            return False
        self.research = msgspec.structs.replace(
            self.research, steering=(*self.research.steering, *await place.steering())
        )
        decision = await decide(place, self.agent_pool, self.research, step.id, at)
        self.decisions.append(msgspec.structs.replace(decision, judged=()))
        self.research = msgspec.structs.replace(
            self.research, judged=decision.judged, judged_of=len(self.research.findings)
        )
        place.emit(
            ReflectDecided(
                decision=decision.decision,
                reasoning=decision.reasoning,
                step=decision.step,
                changes=decision.changes,
                note=decision.note,
            )
        )
        if decision.applied == "adjust":
            return await self._adjust(place)
        if decision.applied == "complete":
            self._complete(place)
        return decision.applied == "continue"

    async def _do(self, place: Run, step: PlanStep) -> None:
        """Have a step done in a lane of its own; what failed is told to the reflector and left to coverage."""
        task = self._task(place, step)
        handle = place.spawn(
            "agent", task, lambda run: self._work(run, task, step), returns=Finding, at_once=len(self._open())
        )
        self.tried.add(step.id)
        cycle = self.research.cycles + 1
        place.emit(AgentsPlanned(cycle=cycle, lanes=(handle.lane,)))
        self._change(place, msgspec.structs.replace(self.research.with_running([step.id]), cycles=cycle))
        research, _ = await collect(Sent(task=task, handle=handle), self.research)
        self._change(place, research)

    def _task(self, place: Run, step: PlanStep) -> AgentTask:
        """The step as a task which carries what was found before."""
        found = earlier(self.research.findings, place.profile("analytical"))
        return msgspec.structs.replace(self.agent_pool.task(self.research, step), earlier=found)

    async def _work(self, run: Run, task: AgentTask, step: PlanStep) -> Finding:
        toolset, rules = self.agent_pool.toolset, self.agent_pool.rules
        if not step.needs_search:
            return await analyze(run, toolset, task, [each for each in self.research.findings if each.passages])
        if rules.queries and "search" in toolset.tools:
            classic = Classic(toolset, task, run.lane, queries=rules.queries, pages=rules.pages)
            return await conduct(run, classic)
        return await research_agent(run, toolset, task)

    async def _adjust(self, place: Run) -> bool:
        """Another plan, where the planner makes one; whether there is more to do."""
        plan = await replan(place, self.agent_pool, self.research, self.decisions, self.tried, self._highest)
        if plan is None:
            return True
        at = standing(self.agent_pool, self.research, self.tried)
        ends = plan.enough_context and not any(step.status == "pending" for step in plan.steps)
        if ends and at.left and at.done < at.min_steps:
            said = _("the planner wanted to end research; at this depth at least {count} steps are done first")
            place.warn(said.format(count=number(at.min_steps)))
            return True
        self._highest = max(self._highest, *(step.id for step in plan.steps))
        self._change(place, msgspec.structs.replace(self.research, plan=plan))
        return not ends

    def _complete(self, place: Run) -> None:
        """Give up the steps left on purpose: coverage does not send agents for them."""
        left = [step.id for step in self.research.plan.steps if step.status == "pending"]
        self._change(place, msgspec.structs.replace(self.research, plan=marked(self.research.plan, left, "skipped")))

    def _change(self, place: Run, research: Research) -> None:
        if research.plan != self.research.plan:
            place.emit(PlanChanged(plan=research.plan))
        self.research = research
