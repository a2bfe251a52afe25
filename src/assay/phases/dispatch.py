"""Starts agents: the moment a call is complete in the stream, and again, idempotently, from the stored reply."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from assay.agents.findings import AgentTask, Finding, ask_for_findings, citations_or_nearest, log_finding
from assay.agents.history import ask_with_halving, message_room, output_cap
from assay.agents.loop import count_agent, research_task
from assay.agents.replies import decode_arguments
from assay.agents.weak_models import is_copied
from assay.core.brief import DepthRules, Speculation
from assay.core.citations.reader import citation_reading
from assay.core.errors import Failed, LimitReached, ModelFailed, ToolError
from assay.core.events import (
    AgentAbandoned,
    AgentFailed,
    AgentFinished,
    AgentsPlanned,
    AgentStarted,
    FindingDelta,
    FindingStarted,
)
from assay.core.messages import Reply, Request, ToolCall
from assay.core.phrases import stop_reason_phrase
from assay.core.plan import PlanStep
from assay.core.text import words
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, Research, agent_task, find_step, step_task, user_message
from assay.phases.material import (
    add_needed_findings,
    continue_task,
    fit_findings,
    messages_with_evidence,
    predecessor,
    unknown_agent_note,
    unknown_call_note,
)
from assay.run.execution import STOPPED
from assay.run.run import Handle, Run
from assay.run.voice import StreamHooks
from assay.tools.arguments import define, read

# A step of analysis compares or judges the findings of other steps, without a search.


async def analyze(run: Run, ledger: Ledger, task: AgentTask, findings: Sequence[Finding]) -> Finding:
    """Work on `findings` in a separate lane; the analysis may cite what they cite.

    Raises:
        ModelFailed, LimitReached: there is no analysis.
    """
    run.emit(AgentStarted(lane=run.lane, task=task.task, step=task.step))
    ledger = ledger.seeing((run.lane, *task.lanes))
    child = run.child("findings").with_gate("report")
    try:
        await count_agent(run)
        text = await ask_for_findings(
            "the analysis", partial(_ask_for_analysis, child, ledger, task, findings), child, ledger, task
        )
    except (LimitReached, ModelFailed) as failed:
        run.emit(AgentFailed(lane=run.lane, error=stop_reason_phrase(failed.reason)))
        raise
    finding = log_finding(child, task, citations_or_nearest(text, task, ledger, run.lane), "done", 0)
    run.emit(AgentFinished(lane=run.lane, stop=finding.stop, turns=0))
    return finding


async def _ask_for_analysis(run: Run, ledger: Ledger, task: AgentTask, findings: Sequence[Finding], note: str) -> Reply:
    """Ask with as many of the findings as fit, and with half of them if the model says that they do not."""
    run.emit(FindingStarted(lane=run.lane))
    request = Request(
        task="analyze",
        system=run.prompt("assay.phases", "analyze"),
        messages=(),
        tool_choice="none",
        max_tokens=output_cap(run.profile("analytical"), run.rules.analysis_tokens),
    )
    profile = run.profile("analytical")
    tokens = min(message_room(profile, request.system, (), request.max_tokens), profile.window // 2)

    async def attempt(tokens: int) -> Reply:
        fixed_messages = (
            user_message("question", task.question),
            user_message("task", task.task),
            *([user_message("note", note)] if note else []),
        )
        finding_messages = fit_findings(findings, tokens, lambda some: messages_with_evidence(some, ledger))
        return await run.ask(
            "analytical",
            msgspec.structs.replace(request, messages=(*finding_messages, *fixed_messages)),
            StreamHooks(
                deltas=lambda text: FindingDelta(lane=run.lane, text=text),
                reader_factory=citation_reading(ledger.knows),
            ),
        )

    return await ask_with_halving(attempt, tokens)


class ResearchAgent(msgspec.Struct, frozen=True):
    """`research_agent`: send an agent."""

    task: Annotated[
        str,
        Meta(description="The whole task: what to find, about what, which names and dates; the agent sees no more."),
    ]
    step: Annotated[int, Meta(description="The number of the plan step it serves.")] = 0
    continues: Annotated[str, Meta(description="The number of an agent whose work it carries on.")] = ""
    after: Annotated[
        tuple[int, ...], Meta(description="The calls before it in this reply, from 1, whose findings it needs.")
    ] = ()


RESEARCH_AGENT = define(
    "research_agent",
    "Send a research agent to work on one task. Several calls at once work in parallel. Its findings come back.",
    ResearchAgent,
    control=True,
)


class SentAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that was sent: its task and its lane; `remark` is added to its findings."""

    task: AgentTask
    handle: Handle[Finding]
    remark: str = ""


async def wait_for_finding(agent: SentAgent) -> Finding | None:
    """Wait for an agent and return its finding; None if it failed or was stopped."""
    try:
        return await agent.handle.result()
    except Failed:
        return None


class Foresight:
    """Begins the model calls that follow the last agents, before they are asked for; this one begins none."""

    def begin_final_calls(self, research: Research) -> None:
        """Begin what follows if these are the last findings."""

    def begin_report(self, research: Research) -> None:
        """Begin the report if everything is answered."""


class AgentPool:
    """The pool that all agents of a run share: a limited number work at once, the rest wait in order."""

    def __init__(self, case: Case, rules: DepthRules, foresight: Foresight | None = None) -> None:
        self.case, self.rules, self.foresight = case, rules, foresight or Foresight()
        self._slots = asyncio.Semaphore(rules.agents_at_once)

    def task(self, research: Research, step: PlanStep) -> AgentTask:
        """A plan step as a task for an agent."""
        turns, calls = self.rules.agent_turns, self.rules.calls
        return agent_task(self.case, research, step_task(step), step=step.id, turns=turns, calls=calls)

    async def work(self, run: Run, task: AgentTask, findings: Sequence[Finding] = ()) -> Finding:
        """Let one agent work as soon as there is a free place; an analysis works on `findings`."""
        async with self._slots:
            if task.analysis:
                return await analyze(run, self.case.ledger, task, findings)
            return await research_task(run, task, self.case.ledger, self.case.tools)


class Dispatch:
    """The agents of one cycle."""

    def __init__(self, run: Run, agent_pool: AgentPool, research: Research, cycle: int) -> None:
        self._run, self._agent_pool, self._research, self._cycle = run, agent_pool, research, cycle
        self._agents: dict[tuple[int, str, tuple[int, ...]], SentAgent] = {}
        self._agents_by_index: dict[int, SentAgent] = {}

    def take_call(self, index: int, call: ToolCall) -> None:
        """Take a call from the stream, and send an agent if it asks for one."""
        if call.name == RESEARCH_AGENT.name and index < self._agent_pool.rules.agents_a_cycle:
            try:
                self._send_for_call(index, call)
            except ToolError:
                return  # the model is told when the reply is complete

    def settle_calls(self, calls: Sequence[ToolCall]) -> dict[str, SentAgent | str]:
        """The agent that each call sent, or why it sent none, by call id. Agents of calls not in the reply are
        abandoned.
        """
        outcomes: dict[str, SentAgent | str] = {}
        for index, call in enumerate(calls):
            if call.name == RESEARCH_AGENT.name:
                outcomes[call.id] = self._settle_call(index, call)
        self._abandon([agent for agent in outcomes.values() if isinstance(agent, SentAgent)])
        return outcomes

    def _settle_call(self, index: int, call: ToolCall) -> SentAgent | str:
        max_agents = self._agent_pool.rules.agents_a_cycle
        if index >= max_agents:
            return f"not sent: at most {max_agents} agents at a time; call again after these"
        try:
            agent = self._send_for_call(index, call)
        except ToolError as failed:
            return f"not sent: {failed.reason}"
        arguments = _read_task(call)
        unknown = (
            unknown_agent_note(self._research, arguments.continues),
            unknown_call_note(arguments.after, self._sent_before(index)),
        )
        return msgspec.structs.replace(agent, remark=" ".join(filter(None, unknown)))

    def _send_for_call(self, index: int, call: ToolCall) -> SentAgent:
        """Send the agent that a call asks for.

        Raises:
            ToolError: it asks for none.
        """
        arguments, before = _read_task(call), self._sent_before(index)
        self._check_task(index, arguments)
        needs = tuple(before[position] for position in sorted(set(arguments.after)) if position in before)
        return self.send(index, self._task(arguments, self._research), arguments, needs)

    def _check_task(self, index: int, arguments: ResearchAgent) -> None:
        """Refuse what a weak model sends: a task copied from its prompt, or one that an agent has in the same words.

        Raises:
            ToolError: it is such a task.
        """
        research = self._research
        topic = "\n".join((self._agent_pool.case.question, *map(step_task, research.plan.steps)))
        if is_copied(arguments.task, self._run.prompt("assay.phases", "orchestrate"), topic):
            raise ToolError("the task is copied from your instructions; send one about the question, in your own words")
        if arguments.continues or arguments.after:
            return
        task = words(arguments.task)
        for sent in self._sent_before(index).values():
            if words(sent.task.task) == task:
                raise ToolError(f"agent {sent.handle.lane} was sent with this task in this reply")
        for finding in research.findings:
            if words(finding.task) == task:
                raise ToolError(f"agent {finding.lane} had this task in the same words; say what to try instead")

    def _sent_before(self, index: int) -> dict[int, SentAgent]:
        """The agents sent by the calls before this one, by the place of their call, from 1."""
        return {position + 1: agent for position, agent in self._agents_by_index.items() if position < index}

    def _task(self, arguments: ResearchAgent, research: Research) -> AgentTask:
        agent_pool = self._agent_pool
        task = agent_task(
            agent_pool.case,
            research,
            arguments.task.strip(),
            step=find_step(research.plan, arguments.task, arguments.step),
            turns=agent_pool.rules.agent_turns,
            calls=agent_pool.rules.calls,
        )
        if not research.needs_search(arguments.step) and research.cited_findings():
            return msgspec.structs.replace(task, analysis=True)
        earlier = predecessor(research, arguments.continues)
        window = self._run.profile("analytical").window
        return continue_task(agent_pool.case.ledger, task, earlier, research, window) if earlier else task

    def send(
        self, index: int, task: AgentTask, arguments: ResearchAgent | None = None, needs: tuple[SentAgent, ...] = ()
    ) -> SentAgent:
        """Send an agent, or find the one already sent for this call; its lane is logged before it starts.

        It starts once those it `needs` have reported, and its task is made anew from its `arguments` with their
        findings.
        """
        lanes = tuple(agent.handle.lane for agent in needs)
        key = (index, task.task, lanes)
        if key not in self._agents:
            self._run.drop_foreseen()  # these are not the last agents
            waits = needs if _begins_early(self._run) else tuple(self._sent_before(index).values())
            handle = self._run.spawn(
                "agent",
                (task, lanes) if lanes else task,
                lambda run: self._work(run, task, arguments, needs, waits if needs else ()),
                returns=Finding,
                slot=index,
                at_once=self._agent_pool.rules.agents_at_once,
            )
            self._agents[key] = self._agents_by_index[index] = SentAgent(task=task, handle=handle)
            lanes = tuple(agent.handle.lane for agent in self._agents.values())
            self._run.emit(AgentsPlanned(cycle=self._cycle, lanes=lanes))
        return self._agents[key]

    async def _work(
        self,
        run: Run,
        task: AgentTask,
        arguments: ResearchAgent | None,
        needs: Sequence[SentAgent],
        waits: Sequence[SentAgent],
    ) -> Finding:
        """Work on a task, with the findings of those it needs."""
        for agent in waits:
            await wait_for_finding(agent)
        needed_findings = tuple([finding for agent in needs if (finding := await wait_for_finding(agent)) is not None])
        if arguments is None or not needs:
            return await self._agent_pool.work(run, task, self._research.cited_findings())
        run.renew_deadlines()
        research = msgspec.structs.replace(self._research, findings=(*self._research.findings, *needed_findings))
        window = self._run.profile("analytical").window
        task = add_needed_findings(
            self._agent_pool.case.ledger, self._task(arguments, research), needed_findings, window
        )
        return await self._agent_pool.work(run, task, research.cited_findings())

    def _abandon(self, agents: Sequence[SentAgent]) -> None:
        in_background = self._run.child("abandoned")
        for lane in self._run.abandon_lanes({agent.handle.lane for agent in agents}):
            in_background.emit(AgentAbandoned(lane=lane))


def _begins_early(run: Run) -> bool:
    rules = run.brief.speculation
    return isinstance(rules, Speculation) and rules.tasks


def _read_task(call: ToolCall) -> ResearchAgent:
    """Read a call of `research_agent`.

    Raises:
        ToolError: it is not such a call, or has no task.
    """
    call = decode_arguments(call)
    if call.malformed:
        raise ToolError("the arguments are not a JSON object")
    arguments = read(RESEARCH_AGENT, call.arguments, ResearchAgent)
    if not arguments.task.strip():
        raise ToolError("the task is empty")
    return arguments


async def check_work_allowed(run: Run) -> None:
    """Go on only if the limits allow more work; the decision is stored.

    Raises:
        LimitReached: they do not.
    """
    await run.with_gate("work").step("open", _return_zero, returns=int)


async def _return_zero(_: object) -> int:
    return 0


AGENT_STOPPED_NOTE = "was stopped on request; send no other agent for its task"
"""The orchestrator's message about an agent that the user stopped."""


async def collect(agent: SentAgent, research: Research) -> tuple[Research, str]:
    """Wait for an agent, and return the research with its findings and the orchestrator's message."""
    lane, step = agent.handle.lane, agent.task.step
    try:
        finding = await agent.handle.result()
    except LimitReached as limit:
        if limit.reason == STOPPED:  # an analysis: it has found nothing itself
            finding = Finding(lane=lane, task=agent.task.task, step=step, stop=STOPPED)
            return research.with_finding(finding), f"Agent {lane} {AGENT_STOPPED_NOTE}."
        return research.reopen_step(step), _("Agent {lane} was stopped by a limit: {why}.").format(
            lane=lane, why=stop_reason_phrase(limit.reason)
        )
    except Failed as failed:
        return research.reopen_step(step, failed.reason), f"Agent {lane} failed: {failed.reason}"
    early = AGENT_STOPPED_NOTE if finding.stop == STOPPED else f"ended early: {finding.stop}"
    end_note = "" if finding.stop == "done" else f" ({early})"
    remark = f"{agent.remark}\n" if agent.remark else ""
    return research.with_finding(finding), f"{remark}Agent {lane}{end_note} found:\n{finding.text}"
