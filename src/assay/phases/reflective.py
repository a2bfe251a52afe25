"""The reflective strategy: one step at a time, and a new look at the plan after each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import msgspec

from assay.agents.findings import AgentTask, Finding
from assay.agents.history import ask_until_readable, ask_with_halving, output_cap, pluralize, rules_message
from assay.agents.loop import FIRST_TURN, Agent, research_task, run_agent
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import AgentsPlanned, PlanChanged, ReflectDecided
from assay.core.messages import Request
from assay.core.phrases import ended_by_text
from assay.core.plan import Plan, PlanStep
from assay.core.translation import format_number
from assay.core.translation import gettext as _
from assay.phases.case import WORKED_ON, Research, mark_steps, steering_messages, to_json, user_message
from assay.phases.coverage import FINDINGS_WINDOW_DIVISOR, earlier_findings_text, findings_message
from assay.phases.dispatch import AgentPool, SentAgent, analyze, check_work_allowed, collect
from assay.phases.planner import PLAN_PROMPTS, UNREADABLE_PLAN_NOTE, drop_repeated_descriptions, plan_schema, read_plan
from assay.phases.reflector import Classic, Decision, decide, plan_progress
from assay.run.run import Run
from assay.run.voice import StreamHooks

# Another plan: finished steps keep their numbers; open ones are planned again, with the reflector's reasons.

CHANGED_PLAN_SCHEMA = plan_schema("changed_plan", {"again": {"type": "integer"}}, enough_context={"type": "boolean"})


class ReplanRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of the planner for a change of plan: how many steps it may have, and its number."""

    min_steps: int
    max_steps: int
    steps_done: int
    plan: int
    plans: int
    date: str

    def sentences(self) -> str:
        return (
            f"Today is {self.date}. So far {pluralize(self.steps_done, 'step')} brought findings. "
            f"Plan at least {self.min_steps} and at most {pluralize(self.max_steps, 'new step')}. "
            f"This will be plan {self.plan} of at most {self.plans}."
        )


async def replan(
    run: Run,
    agent_pool: AgentPool,
    research: Research,
    decisions: Sequence[Decision],
    tried_ids: Collection[int],
    highest: int,
) -> Plan | None:
    """The next plan: the steps tried, and new ones; None if the planner fails, so that the old plan stays.

    Args:
        decisions: all of the reflector's; the last one asks for the new plan.
        tried_ids: ids of the steps worked on.
        highest: the highest id that a step of this run ever had; no id is used for two steps.

    Raises:
        LimitReached: no more model calls are allowed.
    """
    max_new_steps = agent_pool.rules.max_steps - len(tried_ids)

    async def attempt(tokens: int) -> Plan | None:
        request = _request(run, agent_pool, research, decisions, max_new_steps, tokens)
        return await ask_until_readable(
            run,
            "analytical",
            request,
            partial(read_plan, max_steps=max_new_steps, is_continuation=True),
            UNREADABLE_PLAN_NOTE,
        )

    try:
        new_plan = await ask_with_halving(attempt, run.profile("analytical").window // FINDINGS_WINDOW_DIVISOR)
    except ModelFailed as failed:
        run.warn(_("the planner failed, the plan stays as it was: {why}").format(why=failed.reason))
        return None
    plan = merge_plans(research.plan, new_plan, tried_ids, highest) if new_plan else None
    if plan is None:
        run.warn(_("the changed plan could not be read, the plan stays as it was"))
        return None
    return drop_repeated_descriptions(plan, agent_pool.case.question)


def merge_plans(old: Plan, new: Plan, tried_ids: Collection[int], highest: int) -> Plan | None:
    """`old` with its untried steps replaced by those of `new`; None if nothing is left to do.

    A step that is planned again keeps its number. One tried without a result is skipped from now on.
    """
    tried_steps = [_skip_if_unanswered(step) for step in old.steps if step.id in tried_ids]
    open_ids = {step.title.casefold(): step.id for step in old.steps if step.id not in tried_ids}
    done_titles = {step.title.casefold() for step in tried_steps if step.status in WORKED_ON}
    roots = {step.id: step.again or step.id for step in tried_steps}
    fresh: list[PlanStep] = []
    for step in new.steps:
        title, root = step.title.casefold(), roots.get(step.again, 0)
        if title in done_titles and not root:
            continue
        number = open_ids.get(title) or (highest := highest + 1)
        fresh.append(msgspec.structs.replace(step, id=number, again=root))
    if not fresh and not new.enough_context:
        return None
    return msgspec.structs.replace(
        old,
        id=f"plan-{old.iteration + 1}",
        iteration=old.iteration + 1,
        thought=new.thought or old.thought,
        enough_context=new.enough_context,
        steps=(*tried_steps, *fresh),
    )


def _skip_if_unanswered(step: PlanStep) -> PlanStep:
    return step if step.status in WORKED_ON else msgspec.structs.replace(step, status="skipped")


def _request(
    run: Run, agent_pool: AgentPool, research: Research, decisions: Sequence[Decision], max_steps: int, tokens: int
) -> Request:
    steps_done = sum(step.status in WORKED_ON for step in research.plan.steps)
    rules = ReplanRules(
        min_steps=max(0, agent_pool.rules.min_steps - steps_done),
        max_steps=max_steps,
        steps_done=steps_done,
        plan=research.plan.iteration + 1,
        plans=agent_pool.rules.plans,
        date=agent_pool.case.date,
    )
    return Request(
        task="plan",
        system="\n\n".join(run.prompt("assay.phases", name) for name in (PLAN_PROMPTS["reflective"], "replan")),
        messages=(
            user_message("documents", agent_pool.case.documents),
            rules_message(rules),
            *agent_pool.case.question_messages(),
            *findings_message(agent_pool.case.ledger, research.findings, tokens),
            user_message("plan", to_json(research.plan)),
            user_message("reflections", to_json(decisions)),
            *steering_messages(research.steering),
        ),
        tool_choice="none",
        max_tokens=output_cap(run.profile("analytical"), agent_pool.rules.plan_tokens),
        schema=CHANGED_PLAN_SCHEMA,
    )


async def reflect(run: Run, agent_pool: AgentPool, plan: Plan) -> Research:
    """Work through a plan step by step until the reflector, the steps or a limit end it; findings are kept."""
    stepwise = Stepwise(agent_pool, Research(plan=plan))
    try:
        while (step := stepwise.next_step()) is not None:
            if not await stepwise.do_step(run.child(f"step-{stepwise.research.cycles + 1}"), step):
                break
    except LimitReached as limit:
        run.warn(ended_by_text(limit.reason))
    return stepwise.research


class Stepwise:
    """The steps so far, their results, and the decision after each."""

    def __init__(self, agent_pool: AgentPool, research: Research) -> None:
        self.agent_pool, self.research = agent_pool, research
        self.decisions: list[Decision] = []
        self.tried_ids: set[int] = set()
        self._highest = max((step.id for step in research.plan.steps), default=0)

    def next_step(self) -> PlanStep | None:
        """The next step in the plan's order. An analysis waits for findings; if there can be none, it is skipped."""
        has_citations = any(finding.passages for finding in self.research.findings)
        return next((step for step in self._open_steps() if step.needs_search or has_citations), None)

    def _open_steps(self) -> list[PlanStep]:
        """The steps that nobody has worked on."""
        return [step for step in self.research.plan.steps if step.status == "pending" and step.id not in self.tried_ids]

    async def do_step(self, run: Run, step: PlanStep) -> bool:
        """Do a step, reflect, and return whether to continue.

        Raises:
            LimitReached: nothing more can be done.
        """
        await check_work_allowed(run)
        await self._send_agent(run, step)
        progress = plan_progress(self.agent_pool, self.research, self.tried_ids)
        if not progress.steps_left and not progress.can_adjust:
            return False
        self.research = msgspec.structs.replace(
            self.research, steering=(*self.research.steering, *await run.take_steering())
        )
        hooks = StreamHooks(on_begin=partial(self._begin_next_call, run))
        decision = await decide(run, self.agent_pool, self.research, step.id, progress, hooks)
        if decision.action != "continue":
            run.drop_foreseen()
        self.decisions.append(msgspec.structs.replace(decision, judged=()))
        self.research = msgspec.structs.replace(
            self.research, judged=decision.judged, judged_of=len(self.research.findings)
        )
        run.emit(
            ReflectDecided(
                decision=decision.decision,
                reasoning=decision.reasoning,
                step=decision.step,
                changes=decision.changes,
                note=decision.note,
            )
        )
        if decision.action == "adjust":
            return await self._adjust(run)
        if decision.action == "complete":
            self._skip_remaining_steps(run)
        return decision.action == "continue"

    def _begin_next_call(self, run: Run) -> None:
        """Begin what follows if research goes on as planned: the first turn of the next step, or the report."""
        step = self.next_step()
        if step is None:
            self.agent_pool.foresight.begin_report(self.research)
        elif step.needs_search and not self._is_classic():
            run.foresee(FIRST_TURN, "analytical", partial(self._first_request, run, step))

    def _first_request(self, run: Run, step: PlanStep) -> Request:
        case = self.agent_pool.case
        return Agent(self._task(run, step), case.ledger, case.tools, run.lane).first_request(run)

    def _is_classic(self) -> bool:
        return bool(self.agent_pool.rules.queries) and "search" in self.agent_pool.case.tools

    async def _send_agent(self, parent_run: Run, step: PlanStep) -> None:
        """Do a step in a lane of its own; the reflector learns of failures, and coverage handles them."""
        task = self._task(parent_run, step)
        handle = parent_run.spawn(
            "agent", task, lambda run: self._work(run, task, step), returns=Finding, at_once=len(self._open_steps())
        )
        self.tried_ids.add(step.id)
        cycle = self.research.cycles + 1
        parent_run.emit(AgentsPlanned(cycle=cycle, lanes=(handle.lane,)))
        self._set_research(parent_run, msgspec.structs.replace(self.research.with_running([step.id]), cycles=cycle))
        research, _ = await collect(SentAgent(task=task, handle=handle), self.research)
        self._set_research(parent_run, research)

    def _task(self, run: Run, step: PlanStep) -> AgentTask:
        """The step as a task with the findings so far."""
        earlier_text = earlier_findings_text(self.research.findings, run.profile("analytical"))
        return msgspec.structs.replace(self.agent_pool.task(self.research, step), earlier=earlier_text)

    async def _work(self, run: Run, task: AgentTask, step: PlanStep) -> Finding:
        case, rules = self.agent_pool.case, self.agent_pool.rules
        if not step.needs_search:
            return await analyze(
                run, case.ledger, task, [finding for finding in self.research.findings if finding.passages]
            )
        if self._is_classic():
            classic = Classic(task, case.ledger, case.tools, run.lane, queries=rules.queries, pages=rules.pages)
            return await run_agent(run, classic)
        return await research_task(run, task, case.ledger, case.tools)

    async def _adjust(self, run: Run) -> bool:
        """Change the plan, if the planner makes one; return whether anything is left to do."""
        plan = await replan(run, self.agent_pool, self.research, self.decisions, self.tried_ids, self._highest)
        if plan is None:
            return True
        progress = plan_progress(self.agent_pool, self.research, self.tried_ids)
        ends = plan.enough_context and not any(step.status == "pending" for step in plan.steps)
        if ends and progress.steps_left and progress.steps_done < progress.min_steps:
            text = _("the planner wanted to end research; at this depth at least {count} steps are done first")
            run.warn(text.format(count=format_number(progress.min_steps)))
            return True
        self._highest = max(self._highest, *(step.id for step in plan.steps))
        self._set_research(run, msgspec.structs.replace(self.research, plan=plan))
        return not ends

    def _skip_remaining_steps(self, run: Run) -> None:
        """Give up the remaining steps on purpose: coverage sends no agents for them."""
        pending_ids = [step.id for step in self.research.plan.steps if step.status == "pending"]
        self._set_research(
            run, msgspec.structs.replace(self.research, plan=mark_steps(self.research.plan, pending_ids, "skipped"))
        )

    def _set_research(self, run: Run, research: Research) -> None:
        if research.plan != self.research.plan:
            run.emit(PlanChanged(plan=research.plan))
        self.research = research
