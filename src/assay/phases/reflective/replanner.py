"""Another plan: steps done keep their numbers, what was open is planned anew, with the reflector's reasons in hand."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from assay.agents.history import output
from assay.agents.prompt_texts import counted, prompt
from assay.agents.prompt_texts import rules as stated
from assay.core.errors import ContextTooLong, ModelFailed
from assay.core.messages import Message, Request
from assay.core.plan import Plan, PlanStep
from assay.core.translation import gettext as _
from assay.phases.case import WORKED_ON, Research, data, steered, user
from assay.phases.coverage import SHARE, findings_message
from assay.phases.dispatch import AgentPool
from assay.phases.planner import AGAIN, PROMPTS, concise, plan_form, read_plan
from assay.phases.reflective.reflector import Decision
from assay.run.run import Run

FORM = plan_form("changed_plan", {"again": {"type": "integer"}}, enough_context={"type": "boolean"})


class ReplanRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of the planner at a change of plan: how many steps may come, and which plan this will be."""

    min_steps: int
    max_steps: int
    steps_done: int
    plan: int
    plans: int
    date: str

    def stated(self) -> str:
        """The rules as sentences."""
        return (
            f"Today is {self.date}. So far {counted(self.steps_done, 'step')} brought findings. "
            f"Plan at least {self.min_steps} and at most {counted(self.max_steps, 'new step')}. "
            f"This will be plan {self.plan} of at most {self.plans}."
        )


async def replan(
    place: Run,
    agent_pool: AgentPool,
    research: Research,
    decisions: Sequence[Decision],
    tried: Collection[int],
    highest: int,
) -> Plan | None:
    """The next plan: the steps tried, and new ones; None where the planner fails, and the old plan stands.

    Args:
        decisions: all of the reflector's, the last is the one to act upon.
        tried: ids of the steps worked on.
        highest: the highest id a step of this run ever had; no id is used for two steps.

    Raises:
        LimitReached: nothing more may be asked.
    """
    most = agent_pool.rules.max_steps - len(tried)
    try:
        written = await _ask(place, agent_pool, research, decisions, most)
    except ModelFailed as failed:
        place.warn(_("the planner failed, the plan stays as it was: {why}").format(why=failed.reason))
        return None
    plan = merged(research.plan, written, tried, highest) if written else None
    if plan is None:
        place.warn(_("the changed plan could not be read, the plan stays as it was"))
        return None
    return concise(plan, agent_pool.case.question)


def merged(old: Plan, written: Plan, tried: Collection[int], highest: int) -> Plan | None:
    """`old` with its steps not yet tried replaced by those of `written`; None when that leaves nothing to do.

    A step that was planned before and is again keeps its number. One tried without a result is skipped from now on.
    """
    kept = [_settled(step) for step in old.steps if step.id in tried]
    open_ids = {step.title.casefold(): step.id for step in old.steps if step.id not in tried}
    done = {step.title.casefold() for step in kept if step.status in WORKED_ON}
    roots = {step.id: step.again or step.id for step in kept}
    fresh: list[PlanStep] = []
    for step in written.steps:
        title, again = step.title.casefold(), roots.get(step.again, 0)
        if title in done and not again:
            continue
        number = open_ids.get(title) or (highest := highest + 1)
        fresh.append(msgspec.structs.replace(step, id=number, again=again))
    if not fresh and not written.enough_context:
        return None
    return msgspec.structs.replace(
        old,
        id=f"plan-{old.iteration + 1}",
        iteration=old.iteration + 1,
        thought=written.thought or old.thought,
        enough_context=written.enough_context,
        steps=(*kept, *fresh),
    )


def _settled(step: PlanStep) -> PlanStep:
    return step if step.status in WORKED_ON else msgspec.structs.replace(step, status="skipped")


async def _ask(
    place: Run, agent_pool: AgentPool, research: Research, decisions: Sequence[Decision], most: int
) -> Plan | None:
    tokens = place.profile("analytical").window // SHARE
    try:
        return await _written(place, _request(place, agent_pool, research, decisions, most, tokens), most)
    except ContextTooLong:
        return await _written(place, _request(place, agent_pool, research, decisions, most, tokens // 2), most)


async def _written(place: Run, request: Request, most: int) -> Plan | None:
    """The plan as written, asked for once more when it cannot be read."""
    reply = await place.ask("analytical", request)
    plan = read_plan(reply.text, most, more=True)
    if plan is None:
        said = (Message(role="assistant", text=reply.text),) if reply.text.strip() else ()
        again = msgspec.structs.replace(request, messages=(*request.messages, *said, user("note", AGAIN)))
        plan = read_plan((await place.ask("analytical", again)).text, most, more=True)
    return plan


def _request(
    place: Run, agent_pool: AgentPool, research: Research, decisions: Sequence[Decision], most: int, tokens: int
) -> Request:
    done = sum(step.status in WORKED_ON for step in research.plan.steps)
    rules = ReplanRules(
        min_steps=max(0, agent_pool.rules.min_steps - done),
        max_steps=most,
        steps_done=done,
        plan=research.plan.iteration + 1,
        plans=agent_pool.rules.plans,
        date=agent_pool.case.date,
    )
    return Request(
        task="plan",
        system=f"{prompt('assay.phases', PROMPTS['reflective'])}\n\n{prompt('assay.phases', 'replan')}",
        messages=(
            user("documents", agent_pool.case.documents),
            stated(rules),
            *agent_pool.case.asked(),
            *findings_message(agent_pool.toolset, research.findings, tokens),
            user("plan", data(research.plan)),
            user("reflections", data(decisions)),
            *steered(research.steering),
        ),
        tool_choice="none",
        max_tokens=output(place.profile("analytical"), agent_pool.rules.plan_tokens),
        schema=FORM,
    )
