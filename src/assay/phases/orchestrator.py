"""The orchestrated strategy: a model loop that only decides which agents to send, and when there is enough.

It never touches a tool. Its agents work in parallel lanes; their findings are the results of its calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from assay.agents.findings import THINK
from assay.agents.history import CallResult, History, ModelTurn, ask_with_history, output_cap, pluralize, rules_message
from assay.agents.replies import log_ignored_tools, read_calls, tool_names
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import PlanChanged, ThinkFinished, ThinkStarted
from assay.core.messages import Message, Request, ToolCall, ToolDefinition
from assay.core.phrases import ended_by_text
from assay.core.plan import Plan
from assay.core.translation import gettext as _
from assay.phases.case import Research, steering_messages, to_json, user_message
from assay.phases.dispatch import RESEARCH_AGENT, AgentPool, Dispatch, SentAgent, collect
from assay.run.run import Run
from assay.run.voice import StreamHooks
from assay.tools.arguments import define

CALL_A_TOOL = "Answer with a tool call: research_agent for what is open, or generate_report."
MAX_SHORT_CHARS = 1_500


class GenerateReport(msgspec.Struct, frozen=True):
    """`generate_report`: research is done."""


GENERATE_REPORT = define(
    "generate_report", "End research and have the report written from the findings.", GenerateReport, control=True
)


class CycleRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of a decision."""

    cycle: int
    cycles: int
    agents_at_once: int
    date: str
    unconsidered: bool = False
    """True if the last decision was made without `think`, although the model could have called it."""

    def sentences(self) -> str:
        last = " It is the last; the report is written after it." if self.cycle == self.cycles else ""
        think = " You decided without `think` before; call it first this time." if self.unconsidered else ""
        return (
            f"Today is {self.date}. This is cycle {self.cycle} of {self.cycles}.{last} "
            f"At most {pluralize(self.agents_at_once, 'agent')} can work at the same time; others wait for a place."
            f"{think}"
        )


async def orchestrate(run: Run, agent_pool: AgentPool, plan: Plan) -> Research:
    """Send agents until the orchestrator, the cycles or a limit end it; findings are kept whatever ended it."""
    orchestrator, continues = Orchestrator(agent_pool, Research(plan=plan)), True
    try:
        for cycle in range(1, agent_pool.rules.cycles + 1):
            cycle_run = run.child(f"cycle-{cycle}")
            if not await orchestrator.take_instructions(cycle_run) and not continues:
                break
            continues = await orchestrator.run_cycle(cycle_run, cycle)
    except LimitReached as limit:
        run.warn(ended_by_text(limit.reason))
    except ModelFailed as failed:
        run.warn(_("the orchestrator failed, the plan is carried out without it: {why}").format(why=failed.reason))
    return orchestrator.research


class Orchestrator:
    """The decisions so far and their results."""

    def __init__(self, agent_pool: AgentPool, research: Research) -> None:
        self.agent_pool, self.research = agent_pool, research
        self.history = History(agent_pool.case.question_messages())
        self._unconsidered = False

    async def take_instructions(self, run: Run) -> bool:
        """Take the owner's instructions since the last decision; return whether there were any."""
        instructions = await run.take_steering()
        for message in steering_messages(instructions):
            self.history.add(ModelTurn(message=message))
        self.research = msgspec.structs.replace(self.research, steering=(*self.research.steering, *instructions))
        return bool(instructions)

    async def run_cycle(self, run: Run, cycle: int) -> bool:
        """Make one decision and send its agents. Returns whether another cycle follows.

        Raises:
            LimitReached, ModelFailed: nothing more can be decided.
        """
        message, outcomes = await self._decide(run, cycle)
        agents = [outcome for outcome in outcomes.values() if isinstance(outcome, SentAgent)]
        if not agents:
            return False
        self._set_research(run, self.research.with_running(outcome.task.step for outcome in agents))
        self.research = msgspec.structs.replace(self.research, cycles=cycle)
        answers = {id: await self._collect_result(run, outcome) for id, outcome in outcomes.items()}
        hint = run.prompt("assay.phases", "explore") if cycle == 1 else ""
        self.history.add(ModelTurn(message=message, results=_results(message.calls, answers), note=hint))
        return True

    async def _collect_result(self, run: Run, outcome: SentAgent | str) -> str:
        if isinstance(outcome, str):
            return outcome
        research, results = await collect(outcome, self.research)
        self._set_research(run, research)
        return results

    def _set_research(self, run: Run, research: Research) -> None:
        if research.plan != self.research.plan:
            run.emit(PlanChanged(plan=research.plan))
        self.research = research

    async def _decide(self, run: Run, cycle: int) -> tuple[Message, Mapping[str, SentAgent | str]]:
        """Ask until agents are sent or the report is wanted. Thinking and mistakes use up no cycle, but have limits."""
        thoughts = mistakes = 0
        while True:
            message, outcomes = await self._ask_for_calls(run, cycle, thoughts)
            names = tool_names(message.calls)
            is_thought = THINK.name in names
            if any(isinstance(outcome, SentAgent) for outcome in outcomes.values()) or GENERATE_REPORT.name in names:
                self._unconsidered = not (is_thought or thoughts) and THINK in self._tools(run, thoughts)
                return message, outcomes
            mistakes += not is_thought or thoughts >= self.agent_pool.rules.thoughts
            thoughts += sum(call.name == THINK.name for call in message.calls)
            if mistakes > 1:
                if not message.calls:
                    log_ignored_tools(run, run.profile("analytical").name, "orchestrate")
                return message, {}
            results = _results(message.calls, {id: str(reason) for id, reason in outcomes.items()})
            self.history.add(ModelTurn(message=message, results=results, note="" if message.calls else CALL_A_TOOL))

    async def _ask_for_calls(
        self, run: Run, cycle: int, thoughts: int
    ) -> tuple[Message, Mapping[str, SentAgent | str]]:
        tools = self._tools(run, thoughts)
        depth = self.agent_pool.rules
        cycle_rules = CycleRules(
            cycle=cycle,
            cycles=depth.cycles,
            agents_at_once=depth.agents_at_once,
            date=self.agent_pool.case.date,
            unconsidered=self._unconsidered and THINK in tools,
        )
        request = Request(
            task="orchestrate",
            system=_system_prompt(run, tools),
            messages=(),
            tools=tools,
            tool_choice="required",
            max_tokens=output_cap(run.profile("analytical"), depth.decision_tokens),
        )
        dispatch = Dispatch(run, self.agent_pool, self.research, cycle)
        try:
            closing_messages = [user_message("plan", to_json(self.research.plan)), rules_message(cycle_rules)]
            hooks = StreamHooks(
                on_call=dispatch.take_call, on_begin=partial(self.agent_pool.foresight.begin_final_calls, self.research)
            )
            reply = await ask_with_history(run, "analytical", self.history, request, closing_messages, hooks)
        except (LimitReached, ModelFailed):
            dispatch.settle_calls([])
            raise
        calls = read_calls(reply, tool_names(tools))
        if not reply.calls:
            _log_thoughts(run, calls)
        return Message(role="assistant", text=reply.text, calls=calls), dispatch.settle_calls(calls)

    def _tools(self, run: Run, thoughts: int) -> tuple[ToolDefinition, ...]:
        native = run.profile("analytical").native_reasoning
        may_think = not native and thoughts < self.agent_pool.rules.thoughts
        return (RESEARCH_AGENT, GENERATE_REPORT, *((THINK,) if may_think else ()))


def _system_prompt(run: Run, tools: Sequence[ToolDefinition]) -> str:
    """The orchestrator's prompt; for models with native reasoning without `think`."""
    text = run.prompt("assay.phases", "orchestrate")
    return f"{text}\n\n{run.prompt('assay.phases', 'think')}" if THINK in tools else text


def _log_thoughts(run: Run, calls: Sequence[ToolCall]) -> None:
    """Log the thoughts of `calls` that were read from a reply's text, where no stream could report them."""
    for thought in (str(call.arguments.get(THINK.thought, "")) for call in calls if call.name == THINK.name):
        if thought:
            run.emit(ThinkStarted())
            run.emit(ThinkFinished(text=thought))


def _results(calls: Sequence[ToolCall], answers: Mapping[str, str]) -> tuple[CallResult, ...]:
    """The answer to each call, exactly one."""
    return tuple(_result(call.id, answers.get(call.id) or _remark(call, bool(answers))) for call in calls)


def _remark(call: ToolCall, agents: bool) -> str:
    if call.name == THINK.name:
        return "Noted."
    if call.name == GENERATE_REPORT.name:
        return "The agents were sent first. Decide again with what they found." if agents else "Noted."
    return f"There is no tool {call.name!r}; there is: research_agent, generate_report."


def _result(id: str, text: str) -> CallResult:
    short = text if len(text) <= MAX_SHORT_CHARS else text[:MAX_SHORT_CHARS] + " … (shortened)"
    return CallResult(call_id=id, text=text, shorten=lambda: (short, short[:200]))
