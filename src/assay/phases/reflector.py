"""The reflector: after each step it decides that research continues as planned, with another plan, or is complete."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Literal, get_args

import msgspec

from assay.agents.findings import AgentTask
from assay.agents.history import (
    ask_until_readable,
    ask_with_halving,
    ask_with_history,
    number_list,
    output_cap,
    pluralize,
    rules_message,
)
from assay.agents.loop import Agent
from assay.agents.replies import one_line_text, read_calls, read_json
from assay.core.errors import ModelFailed
from assay.core.messages import Message, Request, Schema, ToolCall, object_schema
from assay.core.plan import Coverage
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.phases.background import QueryRules, top_sources
from assay.phases.case import WORKED_ON, PartAssessment, Research, steering_messages, to_json, user_message
from assay.phases.coverage import (
    FINDINGS_WINDOW_DIVISOR,
    PARTS_SCHEMA,
    assess_coverage,
    findings_message,
    parts_json,
    read_assessments,
)
from assay.phases.dispatch import AgentPool
from assay.run.protocols import Tool
from assay.run.run import Run
from assay.run.voice import HEARD, StreamHooks
from assay.tools.search import normalize_query

Choice = Literal["continue", "adjust", "complete"]
MAX_REASONING_CHARS, MAX_CHANGES, MAX_CHANGE_CHARS = 2_000, 8, 300
"""The most characters of the reasoning, the most suggested changes, and the most characters of each."""
UNREADABLE_REPLY_NOTE = "Your reply could not be read. Reply with the JSON object only: no other words, no code fence."
CHOICE_WORDS: dict[str, Choice] = {
    "continue": "continue",
    "go on": "continue",
    "adjust": "adjust",
    "replan": "adjust",
    "complete": "complete",
    "finish": "complete",
    "done": "complete",
}
DECISION_SCHEMA = Schema(
    name="decision",
    schema=object_schema(
        {
            "reasoning": {"type": "string"},
            "decision": {"type": "string", "enum": list(get_args(Choice))},
            "changes": {"type": "array", "items": {"type": "string"}},
            "coverage": PARTS_SCHEMA,
        }
    ),
)


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The decision after step `step`; `note` says why code decides otherwise, so that research continues as planned.

    `judged` says how far the findings answer the plan and the question.
    """

    step: int
    decision: Choice = "continue"
    reasoning: str = ""
    changes: tuple[str, ...] = ()
    note: str = ""
    judged: tuple[PartAssessment, ...] = ()

    @property
    def action(self) -> Choice:
        return "continue" if self.note else self.decision


class ReflectRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message: the last step, the numbers of done, remaining and failed steps, the plan's number,
    the limits.
    """

    step: int
    steps_done: int
    steps_left: int
    failed: tuple[int, ...]
    min_steps: int
    max_steps: int
    plan: int
    plans: int
    date: str

    def sentences(self) -> str:
        texts = [
            f"Today is {self.date}.",
            f"Step {self.step} has just been worked on.",
            f"So far {pluralize(self.steps_done, 'step')} brought findings; {pluralize(self.steps_left, 'step')} left.",
        ]
        if self.failed:
            texts.append(f"Nothing came of {'step' if len(self.failed) == 1 else 'steps'} {number_list(self.failed)}.")
        steps = pluralize(self.min_steps, "step")
        texts += [
            f"Research may be complete after {steps}, and takes up at most {self.max_steps}.",
            f"This is plan {self.plan} of at most {self.plans}.",
        ]
        return " ".join(texts)


class PlanProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a plan, by which decisions are checked: its iteration, and the numbers of done and remaining
    steps.

    `steps_tried` counts the steps worked on, with any result; `failed_steps` are those without any result.
    """

    steps_done: int
    steps_tried: int
    steps_left: int
    failed_steps: tuple[int, ...] = ()
    iteration: int
    min_steps: int
    max_steps: int
    plans: int

    @property
    def can_adjust(self) -> bool:
        """True if there may be another plan, and a step in it."""
        return self.iteration < self.plans and self.steps_tried < self.max_steps


def plan_progress(agent_pool: AgentPool, research: Research, tried_ids: Collection[int]) -> PlanProgress:
    """The progress of a run's plan; `tried_ids` are the ids of the steps worked on."""
    pending = [step.id for step in research.plan.steps if step.status == "pending"]
    return PlanProgress(
        steps_done=sum(step.status in WORKED_ON for step in research.plan.steps),
        steps_tried=len(tried_ids),
        steps_left=sum(id not in tried_ids for id in pending),
        failed_steps=tuple(id for id in pending if id in tried_ids),
        iteration=research.plan.iteration,
        min_steps=agent_pool.rules.min_steps,
        max_steps=agent_pool.rules.max_steps,
        plans=agent_pool.rules.plans,
    )


def rejection_reason(choice: Choice, progress: PlanProgress) -> str:
    """Why a decision must not be followed, "" if it may. Without remaining steps, completing cuts nothing short."""
    if choice == "complete" and progress.steps_left and progress.steps_done < progress.min_steps:
        return f"at this depth at least {progress.min_steps} steps are done first; done: {progress.steps_done}"
    if choice == "adjust" and progress.iteration >= progress.plans:
        return f"there are at most {progress.plans} plans"
    if choice == "adjust" and progress.steps_tried >= progress.max_steps:
        return f"at this depth there are at most {progress.max_steps} steps"
    return ""


async def decide(
    run: Run, agent_pool: AgentPool, research: Research, step: int, progress: PlanProgress, hooks: StreamHooks = HEARD
) -> Decision:
    """Ask the reflector. If it fails, or decides what the rules do not allow, research continues as planned.

    Raises:
        LimitReached: nothing more may be asked.
    """
    try:
        decision = await _ask_for_decision(run, agent_pool, research, step, progress, hooks)
    except ModelFailed as failed:
        run.warn(_("the reflector failed, research goes on as planned: {why}").format(why=failed.reason))
        return Decision(step=step, note=f"the reflector failed: {failed.reason}")
    if decision is None:
        run.warn(_("the reflector's decision could not be read, research goes on as planned"))
        return Decision(step=step, note="the reflector's decision could not be read")
    return msgspec.structs.replace(decision, note=rejection_reason(decision.decision, progress))


async def _ask_for_decision(
    run: Run, agent_pool: AgentPool, research: Research, step: int, progress: PlanProgress, hooks: StreamHooks
) -> Decision | None:
    """The decision; asked for once more if it cannot be read."""
    coverage = assess_coverage(agent_pool.case.question, research) if run.brief.assess else ()
    rules = ReflectRules(
        step=step,
        steps_done=progress.steps_done,
        steps_left=progress.steps_left,
        failed=progress.failed_steps,
        min_steps=progress.min_steps,
        max_steps=progress.max_steps,
        plan=progress.iteration,
        plans=progress.plans,
        date=agent_pool.case.date,
    )

    async def attempt(tokens: int) -> Decision | None:
        request = _request(run, agent_pool, research, coverage, rules, tokens)
        parse = partial(read_decision, step=step, coverage=coverage)
        return await ask_until_readable(run, "simple", request, parse, UNREADABLE_REPLY_NOTE, hooks)

    return await ask_with_halving(attempt, run.profile("simple").window // FINDINGS_WINDOW_DIVISOR)


def _request(
    run: Run,
    agent_pool: AgentPool,
    research: Research,
    coverage: Sequence[Coverage],
    rules: ReflectRules,
    tokens: int,
) -> Request:
    return Request(
        task="reflect",
        system=run.prompt("assay.phases", "reflect"),
        messages=(
            *agent_pool.case.question_messages(),
            *findings_message(agent_pool.case.ledger, research.findings, tokens),
            *([user_message("parts", parts_json(coverage))] if coverage else []),
            user_message("plan", to_json(research.plan)),
            *steering_messages(research.steering),
            rules_message(rules),
        ),
        tool_choice="none",
        max_tokens=output_cap(run.profile("simple"), run.rules.decision_tokens),
        effort="low",
        schema=DECISION_SCHEMA,
    )


def read_decision(text: str, step: int, coverage: Sequence[Coverage] = ()) -> Decision | None:
    """The decision in a model's reply: JSON alone, in a fence or between words; None if there is none.

    `coverage` has the parts that the reply also judges.
    """
    value = read_json(text)
    if not isinstance(value, dict):
        return None
    decision = value.get("decision")
    choice = CHOICE_WORDS.get(" ".join(decision.casefold().split())) if isinstance(decision, str) else None
    if choice is None:
        return None
    changes = value.get("changes")
    entries = changes if isinstance(changes, list) else [changes]
    texts = [one_line_text(entry)[:MAX_CHANGE_CHARS] for entry in entries if isinstance(entry, str) and entry.strip()]
    return Decision(
        step=step,
        decision=choice,
        reasoning=one_line_text(value.get("reasoning"))[:MAX_REASONING_CHARS],
        changes=tuple(texts[:MAX_CHANGES]),
        judged=read_assessments(value.get("coverage"), coverage),
    )


# The classic researcher: code decides the numbers of queries and pages; a model only words the queries.


class Classic(Agent):
    """An agent without a loop: queries, then the best pages found, then findings."""

    def __init__(
        self, task: AgentTask, ledger: Ledger, tools: Mapping[str, Tool], lane: int, *, queries: int, pages: int
    ) -> None:
        super().__init__(task, ledger, tools, lane)
        self._queries, self._pages = queries, pages

    async def run_turns(self, run: Run) -> None:
        """Search, then open.

        Raises:
            LimitReached: what ended it.
        """
        first_turn = run.child("turn-1")
        self.turns = 1
        results = await self.execute_calls(
            first_turn, _call_message("search", [{"query": query} for query in await self._ask_for_queries(first_turn)])
        )
        pages = top_sources(results, self._pages)
        if pages and "open" in self.tools:
            self.turns = 2
            opening = [{"documents": [page], "find": self.subject} for page in pages]
            await self.execute_calls(run.child("turn-2"), _call_message("open", opening))

    @property
    def subject(self) -> str:
        """The task's first line: the title of its plan step."""
        return self.task.task.splitlines()[0]

    async def _ask_for_queries(self, run: Run) -> list[str]:
        """The model's queries, completed with the step's own words; only those words if the model fails."""
        search = self.tools["search"].definition
        request = Request(
            task="research",
            system=run.prompt("assay.phases", "queries"),
            messages=(),
            tools=(search,),
            tool_choice="required",
            max_tokens=output_cap(run.profile("analytical"), run.rules.query_tokens),
            effort="low",
        )
        try:
            closing_messages = [rules_message(QueryRules(queries=self._queries))]
            reply = await ask_with_history(run, "analytical", self.history, request, closing_messages)
        except ModelFailed as failed:
            run.warn(_("searched with the words of the step alone: {why}").format(why=failed.reason))
            return [self.subject]
        queries = [str(call.arguments.get("query", "")) for call in read_calls(reply, [search.name])]
        distinct = {normalize_query(query): query for query in reversed([*queries, self.subject])}
        return [query for query in reversed(distinct.values()) if query.strip()][: self._queries]


def _call_message(tool: str, arguments: Sequence[Mapping[str, object]]) -> Message:
    calls = (
        ToolCall(id=f"{tool}-{number}", name=tool, arguments=dict(values)) for number, values in enumerate(arguments, 1)
    )
    return Message(role="assistant", calls=tuple(calls))
