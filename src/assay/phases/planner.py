"""Planning: a few numbered steps. If a plan cannot be read, ask once more; then the question is the plan."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from assay.agents.history import ask_until_readable, output_cap, pluralize, rules_message
from assay.agents.replies import one_line_text, read_json
from assay.agents.weak_models import is_copied
from assay.core.citations.reader import data_reader
from assay.core.errors import ContextTooLong, LimitReached, ModelFailed
from assay.core.events import PlanApproved, PlanChanged, PlanDelta, PlanProposed, PlanStarted
from assay.core.messages import Request, Schema, object_schema
from assay.core.phrases import stop_reason_phrase
from assay.core.plan import Plan, PlanReview, PlanStep, StepTitles
from assay.core.translation import gettext as _
from assay.phases.case import Case, conversation_messages, user_message
from assay.run.run import Run
from assay.run.voice import StreamCompanion, StreamHooks

TITLE_LENGTH = 200
MAX_STEP_NUMBER = 1_000
"""A higher number is not that of a step."""
PLAN_PROMPTS = {"reflective": "plan_steps"}
"""The planning prompt of each strategy; others use `plan`, which is for agents working in parallel."""
UNREADABLE_PLAN_NOTE = (
    "Your reply could not be read as a plan. Reply with the JSON object only: no other words, no code fence."
)

_STEP = {
    "title": {"type": "string"},
    "description": {"type": "string"},
    "type": {"type": "string", "enum": ["research", "analysis"]},
    "needs_search": {"type": "boolean"},
}


def plan_schema(name: str, step: Mapping[str, Any] | None = None, **fields: Any) -> Schema:
    """The JSON schema of a plan, for services that enforce one; `step` and `fields` add to a step and to the plan."""
    steps = {"type": "array", "items": object_schema({**_STEP, **(step or {})})}
    properties = {"title": {"type": "string"}, "thought": {"type": "string"}, **fields, "steps": steps}
    return Schema(name=name, schema=object_schema(properties))


PLAN_SCHEMA = plan_schema("plan")


class PlanRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of the planner."""

    min_steps: int
    max_steps: int
    date: str

    def sentences(self) -> str:
        usual = f"{self.min_steps} to {self.max_steps}" if self.min_steps < self.max_steps else str(self.max_steps)
        step_limit = pluralize(self.max_steps, "step")
        return f"Today is {self.date}. At this depth a question usually takes {usual} steps; plan at most {step_limit}."


async def make_plan(run: Run, case: Case, background: str) -> Plan:
    """Make the plan that research follows, and show it to a person first if the brief says so.

    Raises:
        InputNeeded: a person must approve it.
    """
    async with run.phase("plan") as phase:
        phase.emit(PlanStarted())
        plan = await _ask_for_plan(phase, case, background)
        phase.emit(PlanProposed(plan=plan))
        if phase.brief.review == "never":
            phase.emit(PlanApproved(plan=plan))
            return plan
        return await review_plan(phase, plan)


async def accept_given_plan(run: Run, plan: Plan) -> Plan:
    """Follow a plan that a person gave before the run began; no model is called."""
    async with run.phase("plan") as phase:
        phase.emit(PlanStarted())
        phase.emit(PlanProposed(plan=plan))
        phase.emit(PlanApproved(plan=plan, by="user"))
    return plan


async def confirm_step(run: Run, step_title: str) -> bool:
    """True if research may go on with this single step; a person decides if the brief says so.

    Raises:
        InputNeeded: a person must approve it.
    """
    if run.brief.review == "never":
        return True
    async with run.phase("plan") as phase:
        plan = single_step_plan(step_title)
        phase.emit(PlanProposed(plan=plan))
        return await review_plan(phase, plan) == plan


async def review_plan(phase: Run, plan: Plan) -> Plan:
    """Return the plan as a person approves it, or the one they replace it with.

    Raises:
        InputNeeded: the brief leaves the run waiting for that.
    """
    reply = await phase.receive("plan", PlanReview, leave=phase.brief.review == "required")
    if reply.plan is not None and reply.plan != plan:
        plan = reply.plan
        phase.emit(PlanChanged(plan=plan))
    phase.emit(PlanApproved(plan=plan, by="user"))
    return plan


async def _ask_for_plan(phase: Run, case: Case, background: str) -> Plan:
    try:
        plan = await _ask_within_window(phase, _request(phase, case, background))
    except (LimitReached, ModelFailed) as failed:
        phase.warn(
            _("the planner failed, the question itself is the plan: {why}").format(
                why=stop_reason_phrase(failed.reason)
            )
        )
        return single_step_plan(case.question)
    if plan is None:
        phase.warn(_("the plan could not be read, the question itself is the plan"))
        return single_step_plan(case.question)
    return drop_repeated_descriptions(plan, case.question)


async def _ask_within_window(phase: Run, request: Request) -> Plan | None:
    """Ask for the plan, without the background if that is too much."""
    steps = Steps()
    hooks = StreamHooks(deltas=steps, listener=steps, reader_factory=data_reader)
    parse = partial(_read_own_plan, max_steps=phase.rules.max_steps, request=request)
    try:
        return await ask_until_readable(phase, "analytical", request, parse, UNREADABLE_PLAN_NOTE, hooks)
    except ContextTooLong:
        messages = tuple(message for message in request.messages if message.name != "background")
        shorter = msgspec.structs.replace(request, messages=messages)
        return await ask_until_readable(phase, "analytical", shorter, parse, UNREADABLE_PLAN_NOTE, hooks)


def _read_own_plan(text: str, max_steps: int, request: Request) -> Plan | None:
    """Read a plan, without the steps that are copied from the prompt's examples; None if it has no other."""
    plan = read_plan(text, max_steps)
    if plan is None:
        return None
    question = "\n".join(message.text for message in request.messages)
    steps = [step for step in plan.steps if not is_copied(f"{step.title} {step.description}", request.system, question)]
    return msgspec.structs.replace(plan, steps=tuple(steps)) if steps else None


class Steps:
    """Shows the steps of a plan while they are written: a line for each, once its title is complete."""

    def __init__(self) -> None:
        self._titles, self._count = StepTitles(), 0

    def __call__(self, text: str) -> PlanDelta | None:
        """Add text of the reply and return the lines it completes; None if there are none."""
        lines = []
        for title in self._titles.feed(text):
            self._count += 1
            lines.append(f"{self._count}. {title}\n")
        return PlanDelta(text="".join(lines)) if lines else None

    def begin(self, companion: StreamCompanion) -> None:
        """A stream begins, for the first time or again."""
        self._titles, self._count = StepTitles(), 0

    def hear(self, text: str) -> None:
        """Do nothing: `__call__` has read the text already."""


def _request(phase: Run, case: Case, background: str) -> Request:
    rules = phase.rules
    plan_rules = PlanRules(min_steps=rules.min_steps, max_steps=rules.max_steps, date=case.date)
    messages = [user_message("documents", case.documents)]
    if background:
        messages.append(user_message("background", background))
    return Request(
        task="plan",
        system=phase.prompt("assay.phases", PLAN_PROMPTS.get(phase.brief.strategy, "plan")),
        messages=(
            *messages,
            *conversation_messages(phase, "analytical"),
            rules_message(plan_rules),
            *case.question_messages(),
        ),
        tool_choice="none",
        max_tokens=output_cap(phase.profile("analytical"), rules.plan_tokens),
        schema=PLAN_SCHEMA,
    )


def single_step_plan(question: str) -> Plan:
    """The plan if there is no other: find the answer."""
    return Plan(title=question[:TITLE_LENGTH], steps=(PlanStep(id=1, title=question),))


def read_plan(text: str, max_steps: int, *, is_continuation: bool = False) -> Plan | None:
    """Read a plan from a model's reply: JSON alone, in a fence or between words. None if it has no step.

    `is_continuation` says that these steps follow others. Then none of them has to search, and there may be none if
    the planner says that there is enough already.
    """
    value = read_json(text)
    if isinstance(value, list):
        value = {"steps": value}
    if not isinstance(value, dict):
        return None
    value = value["plan"] if isinstance(value.get("plan"), dict) else value
    entries = value.get("steps")
    steps = [_read_step(entry) for entry in entries] if isinstance(entries, list) else []
    parsed_steps = [step for step in steps if step is not None]
    if not is_continuation:  # there is no step to retry yet
        parsed_steps = [msgspec.structs.replace(step, again=0) for step in parsed_steps]
    numbered_steps = _number_steps(parsed_steps, max_steps, must_search=not is_continuation)
    enough = is_continuation and value.get("enough_context") is True
    if not numbered_steps and not enough:
        return None
    title = one_line_text(value.get("title")) or (numbered_steps[0].title if numbered_steps else "")
    thought = one_line_text(value.get("thought"))
    return Plan(title=title[:TITLE_LENGTH], thought=thought, enough_context=enough, steps=numbered_steps)


def drop_repeated_descriptions(plan: Plan, question: str) -> Plan:
    """Drop descriptions that only repeat the question or its beginning: every agent gets the question anyway."""
    question_text = one_line_text(question).casefold()
    steps = (
        msgspec.structs.replace(step, description="")
        if question_text.startswith(step.description.casefold().rstrip("…. ")) or step.description == step.title
        else step
        for step in plan.steps
    )
    return msgspec.structs.replace(plan, steps=tuple(steps))


def _read_step(value: object) -> PlanStep | None:
    if isinstance(value, str):
        value = {"title": value}
    if not isinstance(value, dict):
        return None
    title = one_line_text(value.get("title") or value.get("name") or value.get("description"))
    if not title:
        return None
    analysis = value.get("type") == "analysis"
    needs_search = value.get("needs_search", not analysis)
    retried_id = value.get("again")
    return PlanStep(
        id=0,
        title=title,
        description=one_line_text(value.get("description")),
        type="analysis" if analysis else "research",
        needs_search=needs_search if isinstance(needs_search, bool) else not analysis,
        again=retried_id if type(retried_id) is int and 0 < retried_id <= MAX_STEP_NUMBER else 0,
    )


def _number_steps(steps: list[PlanStep], max_steps: int, *, must_search: bool) -> tuple[PlanStep, ...]:
    """Number the steps from 1, without repetitions; with `must_search`, at least one of them searches."""
    by_title: dict[str, PlanStep] = {}
    for step in steps:
        by_title.setdefault(step.title.casefold(), step)
    distinct = list(by_title.values())[:max_steps]
    if must_search and distinct and not any(step.needs_search for step in distinct):
        distinct[0] = msgspec.structs.replace(distinct[0], type="research", needs_search=True)
    return tuple(msgspec.structs.replace(step, id=number) for number, step in enumerate(distinct, 1))
