"""Starts agents: the moment a call is complete in the stream, and again, idempotently, from the stored reply."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Protocol

import msgspec

from assay.agents.findings import added, founded, usable, wrong_with
from assay.agents.history import output, room
from assay.agents.loop import count, research_agent
from assay.agents.replies import decoded
from assay.agents.task import AgentTask, Finding
from assay.core.brief import DepthRules
from assay.core.citations.reader import citing
from assay.core.errors import ContextTooLong, Failed, LimitReached, ModelFailed, ToolError
from assay.core.events import (
    AgentAbandoned,
    AgentFailed,
    AgentFinished,
    AgentsPlanned,
    AgentStarted,
    FindingDelta,
    FindingStarted,
)
from assay.core.messages import Message, Reply, Request, ToolCall
from assay.core.phrases import in_words, nothing
from assay.core.plan import PlanStep
from assay.core.text import estimate_tokens
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.phases.case import (
    Case,
    Research,
    agent_task,
    step_for,
    task_for,
    user,
)
from assay.phases.control import RESEARCH_AGENT, ResearchAgent
from assay.phases.material import evidence, fitted, messages_of, shorter
from assay.run.execution import STOPPED
from assay.run.run import Handle, Run
from assay.run.voice import StreamHooks
from assay.tools.arguments import read

# A step of analysis compares or judges the findings of other steps, without a search.


async def analyze(run: Run, ledger: Ledger, task: AgentTask, findings: Sequence[Finding]) -> Finding:
    """Work on `findings` in a separate lane; the analysis may cite what they cite.

    Raises:
        ModelFailed, LimitReached: there is no analysis.
    """
    run.emit(AgentStarted(lane=run.lane, task=task.task, step=task.step))
    ledger = ledger.seeing((run.lane, *task.lanes))
    place = run.child("findings").at("report")
    try:
        await count(run)
        text = await _write(place, ledger, task, findings)
    except (LimitReached, ModelFailed) as failed:
        run.emit(AgentFailed(lane=run.lane, error=in_words(failed.reason)))
        raise
    finding = added(place, task, founded(text, task, ledger, run.lane), "done", 0)
    run.emit(AgentFinished(lane=run.lane, stop=finding.stop, turns=0))
    return finding


async def _write(place: Run, ledger: Ledger, task: AgentTask, findings: Sequence[Finding]) -> str:
    """Write the analysis, and once more if it is badly written."""
    note: tuple[Message, ...] = ()
    reply = await _ask(place, ledger, task, findings, note)
    first = reply
    if wrong := wrong_with(reply, task, ledger):
        note = (user("note", f"Your last reply could not be used: {wrong}."),)
        reply = await _ask(place, ledger, task, findings, note)
    return usable("the analysis", (first, reply), place, ledger)


async def _ask(
    place: Run, ledger: Ledger, task: AgentTask, findings: Sequence[Finding], note: tuple[Message, ...]
) -> Reply:
    """Ask with as many of the findings as fit, and with half of them if the model says that they do not."""
    place.emit(FindingStarted(lane=place.lane))
    request = Request(
        task="analyze",
        system=place.prompt("assay.phases", "analyze"),
        messages=(),
        tool_choice="none",
        max_tokens=output(place.profile("analytical"), place.rules.analysis_tokens),
    )
    profile = place.profile("analytical")
    tokens = min(room(profile, request.system, (), request.max_tokens), profile.window // 2)

    async def asked(tokens: int) -> Reply:
        fixed = (user("question", task.question), user("task", task.task), *note)
        told = fitted(findings, tokens, lambda some: messages_of(some, ledger))
        return await place.ask(
            "analytical",
            msgspec.structs.replace(request, messages=(*told, *fixed)),
            StreamHooks(deltas=lambda text: FindingDelta(lane=place.lane, text=text), reading=citing(ledger.knows)),
        )

    try:
        return await asked(tokens)
    except ContextTooLong:
        return await asked(tokens // 2)


# An agent that continues an earlier one gets its findings, its passages and its queries.

SHARE = 8
"""Findings and seen passages each take at most 1/`SHARE` of the window."""
MOST = 60
"""Passages looked at to fill it."""
_NUMBER = re.compile(r"\d+")


def predecessor(research: Research, continues: str) -> Finding | None:
    """The finding of the agent with the number in `continues` ("2", "agent-2"); None if there is none."""
    number = _NUMBER.search(continues)
    return research.finding_of(int(number[0][:9])) if number else None


def nobody(research: Research, continues: str) -> str:
    """The message about a number in `continues` that no finished agent has; "" if there is no need for one."""
    number = _NUMBER.search(continues)
    if number is None or not int(number[0][:9]) or predecessor(research, continues):
        return ""
    finished = ", ".join(str(finding.lane) for finding in research.findings) or "none"
    return f"There is no agent {number[0]} to go on from, so this one began anew (finished agents: {finished})."


def going_on(ledger: Ledger, task: AgentTask, earlier: Finding, findings: Research, window: int) -> AgentTask:
    """`task` with the context of `earlier` and of the agents that one continued. Ids in it stay as they are.

    Args:
        window: the model's, in tokens.
    """
    lanes = (*earlier.continued, earlier.lane)
    found = [each for lane in lanes if (each := findings.finding_of(lane)) and each.text != nothing()]
    return msgspec.structs.replace(
        task,
        continued=lanes,
        earlier=_findings_text(found, window // SHARE),
        seen=_passages_for(ledger, lanes, task, window // SHARE),
    )


def _findings_text(findings: list[Finding], tokens: int) -> str:
    """Findings, shortened from the oldest on."""
    kept = list(findings)
    while kept and estimate_tokens(_joined(kept)) > tokens:
        less = shorter(kept[0])
        kept = [less, *kept[1:]] if less != kept[0] else kept[1:]
    return _joined(kept)


def _joined(findings: list[Finding]) -> str:
    return "\n\n".join(finding.text for finding in findings)


def _passages_for(ledger: Ledger, lanes: tuple[int, ...], task: AgentTask, tokens: int) -> str:
    """The passages shown to these lanes that share most with the task, below their sources, as many as fit."""
    ledger = ledger.seeing(lanes)
    passages = ledger.recall(task.about, MOST)
    text = evidence(passages, ledger)
    while passages and estimate_tokens(text) > tokens:
        passages = passages[: len(passages) // 2]
        text = evidence(passages, ledger)
    return text


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that was sent: its task and its lane; `remark` is added to its findings."""

    task: AgentTask
    handle: Handle[Finding]
    remark: str = ""


class Foresight(Protocol):
    """Begins the model calls that follow the last agents, before they are asked for."""

    def ending(self, research: Research) -> None:
        """Begin what follows if these are the last findings."""

    def report(self, research: Research) -> None:
        """Begin the report if everything is answered."""


class AgentPool:
    """What all agents of a run share: a limited number work at once, the rest wait in order."""

    def __init__(self, case: Case, rules: DepthRules, foresight: Foresight | None = None) -> None:
        self.case, self.rules = case, rules
        self._places = asyncio.Semaphore(rules.agents_at_once)
        self._foresight = foresight

    def foresee_ending(self, research: Research) -> None:
        """See `Foresight.ending`."""
        if self._foresight is not None:
            self._foresight.ending(research)

    def foresee_report(self, research: Research) -> None:
        """See `Foresight.report`."""
        if self._foresight is not None:
            self._foresight.report(research)

    def task(self, research: Research, step: PlanStep) -> AgentTask:
        """A plan step as a task for an agent."""
        turns, calls = self.rules.agent_turns, self.rules.calls
        return agent_task(self.case, research, task_for(step), step=step.id, turns=turns, calls=calls)

    async def work(self, run: Run, task: AgentTask, findings: Sequence[Finding] = ()) -> Finding:
        """Let one agent work as soon as there is a free place; an analysis works on `findings`."""
        async with self._places:
            if task.analysis:
                return await analyze(run, self.case.ledger, task, findings)
            return await research_agent(run, task, self.case.ledger, self.case.tools)


class Dispatch:
    """The agents of one cycle."""

    def __init__(self, place: Run, agent_pool: AgentPool, research: Research, cycle: int) -> None:
        self._place, self._agent_pool, self._research, self._cycle = place, agent_pool, research, cycle
        self._sent: dict[tuple[int, str], Sent] = {}

    def take(self, index: int, call: ToolCall) -> None:
        """Take a call from the stream, and send an agent if it asks for one."""
        if call.name == RESEARCH_AGENT.name and index < self._agent_pool.rules.agents_a_cycle:
            try:
                self.send(index, self._task(call))
            except ToolError:
                return  # the model is told when the reply is complete

    def settle(self, calls: Sequence[ToolCall]) -> dict[str, Sent | str]:
        """The agent that each call sent, or why it sent none, by call id. Agents of calls not in the reply are
        abandoned.
        """
        settled: dict[str, Sent | str] = {}
        for index, call in enumerate(calls):
            if call.name == RESEARCH_AGENT.name:
                settled[call.id] = self._settled(index, call)
        self._abandon([sent for sent in settled.values() if isinstance(sent, Sent)])
        return settled

    def _settled(self, index: int, call: ToolCall) -> Sent | str:
        most = self._agent_pool.rules.agents_a_cycle
        if index >= most:
            return f"not sent: at most {most} agents at a time; call again after these"
        try:
            sent = self.send(index, self._task(call))
        except ToolError as failed:
            return f"not sent: {failed.reason}"
        unknown = nobody(self._research, _read_task(call).continues)
        return msgspec.structs.replace(sent, remark=unknown)

    def _task(self, call: ToolCall) -> AgentTask:
        wanted = _read_task(call)
        agent_pool, research = self._agent_pool, self._research
        task = agent_task(
            agent_pool.case,
            research,
            wanted.task.strip(),
            step=step_for(research.plan, wanted.task, wanted.step),
            turns=agent_pool.rules.agent_turns,
            calls=agent_pool.rules.calls,
        )
        if not research.needs_search(wanted.step) and research.cited():
            return msgspec.structs.replace(task, analysis=True)
        earlier = predecessor(research, wanted.continues)
        window = self._place.profile("analytical").window
        return going_on(agent_pool.case.ledger, task, earlier, research, window) if earlier else task

    def send(self, index: int, task: AgentTask) -> Sent:
        """Send an agent, or find the one already sent for this call; its lane is logged before it starts."""
        key = (index, task.task)
        if key not in self._sent:
            self._place.drop_foreseen()  # these are not the last agents
            handle = self._place.spawn(
                "agent",
                task,
                lambda run: self._agent_pool.work(run, task, self._research.cited()),
                returns=Finding,
                slot=index,
                at_once=self._agent_pool.rules.agents_at_once,
            )
            self._sent[key] = Sent(task=task, handle=handle)
            lanes = tuple(sent.handle.lane for sent in self._sent.values())
            self._place.emit(AgentsPlanned(cycle=self._cycle, lanes=lanes))
        return self._sent[key]

    def _abandon(self, kept: Sequence[Sent]) -> None:
        in_background = self._place.child("abandoned")
        for lane in self._place.abandon({sent.handle.lane for sent in kept}):
            in_background.emit(AgentAbandoned(lane=lane))


def _read_task(call: ToolCall) -> ResearchAgent:
    """Read a call of `research_agent`.

    Raises:
        ToolError: it is not such a call, or has no task.
    """
    call = decoded(call)
    if call.malformed:
        raise ToolError("the arguments are not a JSON object")
    wanted = read(RESEARCH_AGENT, call.arguments, ResearchAgent)
    if not wanted.task.strip():
        raise ToolError("the task is empty")
    return wanted


async def may_work(place: Run) -> None:
    """Go on only if the limits allow more work; the decision is stored.

    Raises:
        LimitReached: they do not.
    """
    await place.at("work").step("open", _nothing, returns=int)


async def _nothing(_: object) -> int:
    return 0


GIVEN_UP = "was stopped on request; send no other agent for its task"
"""The orchestrator's message about an agent that the user stopped."""


async def collect(sent: Sent, research: Research) -> tuple[Research, str]:
    """Wait for an agent, and return the research with its findings and the orchestrator's message."""
    lane, step = sent.handle.lane, sent.task.step
    try:
        finding = await sent.handle.result()
    except LimitReached as limit:
        if limit.reason == STOPPED:  # an analysis: it has found nothing itself
            finding = Finding(lane=lane, task=sent.task.task, step=step, stop=STOPPED)
            return research.with_finding(finding), f"Agent {lane} {GIVEN_UP}."
        return research.without(step), _("Agent {lane} was stopped by a limit: {why}.").format(
            lane=lane, why=in_words(limit.reason)
        )
    except Failed as failed:
        return research.without(step, failed.reason), f"Agent {lane} failed: {failed.reason}"
    early = GIVEN_UP if finding.stop == STOPPED else f"ended early: {finding.stop}"
    ended = "" if finding.stop == "done" else f" ({early})"
    told = f"{sent.remark}\n" if sent.remark else ""
    return research.with_finding(finding), f"{told}Agent {lane}{ended} found:\n{finding.text}"
