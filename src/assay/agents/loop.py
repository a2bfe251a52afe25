"""A research agent: ask, act, observe, until it has what it needs or a limit ends it; then report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay.agents.act import act
from assay.agents.findings import AgentWork, report
from assay.agents.history import CallResult, History, ModelTurn, ask, fitted, output, result
from assay.agents.prompt_texts import CONTROL, DONE, THINK, PromptOpening, counted, opening, rules
from assay.agents.replies import mend, tell_ignored
from assay.agents.task import AgentTask, Finding, brief
from assay.core.brief import shortened
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import AgentFailed, AgentFinished, AgentStarted
from assay.core.messages import Message, Reply, Request, ToolCall
from assay.core.phrases import in_words
from assay.core.sources import SNIPPET
from assay.core.usage import Usage
from assay.evidence.ledger import Ledger
from assay.run.protocols import Tool
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.run.voice import HEARD, StreamHooks

FIRST_TURN = "first-turn"
"""The slot of the call with which an agent begins."""
SEARCH = "search"
QUERY_LENGTH = 200
"""Characters of a query that code takes from a task."""
NOTED = "Noted."
NO_CALLS_LEFT = "Not carried out: the calls of this task are used up."
OPEN_PAGES = (
    "These are excerpts a search engine made. Open the pages that matter, and read there what your task needs, before "
    "you conclude anything."
)
CALL_A_TOOL = "Call a tool: search for what your task needs. Answer with a tool call, not with text."


async def research_agent(run: Run, task: AgentTask, ledger: Ledger, tools: Mapping[str, Tool]) -> Finding:
    """Work on one task in a separate lane and return findings, whatever ended the work.

    Raises:
        ModelFailed: the model failed before anything was found; only this agent fails.
    """
    return await conduct(run, Agent(task, ledger, tools, run.lane))


async def conduct(run: Run, agent: Agent) -> Finding:
    """Let an agent work, and report.

    Raises:
        ModelFailed: as `research_agent`.
        LimitReached: the run may have no more agents.
    """
    task = agent.task
    run.emit(AgentStarted(lane=run.lane, task=task.task, step=task.step))
    stop = await agent.work(run)
    if agent.failure and not agent.ledger.seeing([run.lane]).count():
        run.emit(AgentFailed(lane=run.lane, error=agent.failure))
        raise ModelFailed(agent.failure)
    if stop == "agents":  # it never began, and has nothing to report
        run.emit(AgentFailed(lane=run.lane, error=in_words(stop)))
        raise LimitReached(stop)
    work = AgentWork(task=task, history=agent.history, opening=agent.opening(run), stop=stop, turns=agent.turns)
    finding = await report(run, agent.ledger, work)
    run.emit(AgentFinished(lane=run.lane, stop=finding.stop, turns=finding.turns))
    return finding


async def count(run: Run) -> None:
    """Count an agent that begins to work.

    Raises:
        LimitReached: the run may have no more agents.
    """

    async def one(step_context: StepContext) -> int:
        step_context.role = "analytical"
        step_context.spend(Usage(agents=1))
        return 1

    await run.step("start", one, returns=int, cost=Usage(agents=1))


class TurnRules(msgspec.Struct, frozen=True, omit_defaults=True):
    """The `rules` message: the number of this turn, of how many, and how many calls are left if they are limited."""

    turn: int
    turns: int
    calls_left: int | None = None

    def sentences(self) -> str:
        """The rules as sentences."""
        left = "" if self.calls_left is None else f" You may make {counted(self.calls_left, 'more tool call')}."
        return f"This is turn {self.turn} of {self.turns}.{left}"


class Agent:
    """One agent's state: its history and its progress."""

    def __init__(self, task: AgentTask, ledger: Ledger, tools: Mapping[str, Tool], lane: int) -> None:
        self.task = task
        self.ledger = ledger.seeing((lane, *task.lanes))
        self.tools = tools
        seen = [Message(role="user", name="seen", text=task.seen)] if task.seen else []
        self.history = History(
            [
                Message(role="user", name="brief", text=brief(task)),
                *seen,
                Message(role="user", name="task", text=task.task),
            ]
        )
        self.turns = 0
        self.calls = 0
        self.failure = self.model = ""
        self.nudged = False

    def opening(self, run: Run) -> PromptOpening:
        """The beginning of its requests."""
        return opening(run, self.task, self.tools)

    async def work(self, run: Run) -> str:
        """Work, and return what ended it: done, a limit's reason, or the kind of a failure."""
        try:
            await count(run)
            await self.go(run)
        except LimitReached as limit:
            return limit.reason
        except ModelFailed as failed:
            self.failure = failed.reason
            return failed.kind
        return "done"

    async def go(self, run: Run) -> None:
        """Run the loop.

        Raises:
            LimitReached, ModelFailed: what ended it.
        """
        for turn in range(1, self.task.turns + 1):
            place = run.child(f"turn-{turn}")
            if self.task.calls and self.calls >= self.task.calls:
                return
            said = await self._ask(place, turn)
            if turn == 1 and not acting(said):
                await self._search_anyway(place, said)
            if not acting(said):
                return
            self.turns = turn
            await self.act(place, said)
            if DONE.name in _names(said):
                return

    async def act(self, place: Run, said: Message) -> tuple[CallResult, ...]:
        """Carry out the calls of a turn, as many as the agent has left; each is answered, in call order.

        Raises:
            LimitReached: a limit ended a call.
        """
        wanted = acting(said)
        most = len(wanted) if not self.task.calls else self.task.calls - self.calls
        made, refused = wanted[:most], wanted[most:]
        self.calls += len(made)
        acted = await act(place, self.ledger, self.tools, made, self.task.about)
        answers = {
            each.call_id: each for each in (*acted, *(self._note_result(call, NO_CALLS_LEFT) for call in refused))
        }
        results = tuple(answers.get(call.id) or self._note_result(call, NOTED) for call in said.calls)
        self.history.add(ModelTurn(said=said, results=results, told=self._nudge(place)))
        return results

    def _note_result(self, call: ToolCall, text: str) -> CallResult:
        return result(call.id, text, (), self.task.about)

    def _nudge(self, place: Run) -> str:
        """A reminder, once after a web search, that results are excerpts and pages should be opened."""
        if self.nudged or "open" not in self.tools:
            return ""
        own = self.ledger.seeing([place.lane]).everything()[1].values()
        if not any(source.media_type == SNIPPET for source in own):
            return ""
        self.nudged = True
        return "" if any(source.media_type != SNIPPET for source in own) else OPEN_PAGES

    async def _ask(self, place: Run, turn: int) -> Message:
        """Ask what to do next, after thinking, which uses up no turn but has a limit.

        In the first turn the model must call a tool that acts; if it does not, it is reminded once.
        """
        (said, reply), reminded = await self._reply(place, turn), turn > 1
        for _thought in range(place.rules.thoughts + 1):
            only_thinks = _names(said) == {THINK.name}
            if acting(said) or (reminded and not only_thinks):
                break
            reminded = reminded or not only_thinks
            noted = tuple(self._note_result(call, NOTED) for call in said.calls)
            self.history.add(ModelTurn(said=said, results=noted, told="" if only_thinks else CALL_A_TOOL))
            said, reply = await self._reply(place, turn)
        if turn == 1 and not said.calls:
            tell_ignored(place, reply.model, "research")
        return said

    async def _search_anyway(self, place: Run, said: Message) -> None:
        """Search once for a model that calls no tools: an agent reports what it was shown, not what it knows.

        Raises:
            LimitReached: a limit ended the search.
        """
        if SEARCH not in self.tools or self.task.seen:
            return
        query = shortened(self.task.task.partition("\n")[0], QUERY_LENGTH)
        call = ToolCall(id=SEARCH, name=SEARCH, arguments={"query": query})
        self.turns = 1
        await self.act(place, msgspec.structs.replace(said, calls=(call,)))

    def first_request(self, place: Run) -> Request:
        """The first request of its work."""
        request, closing = self._request(place, 1)
        return fitted(place, "analytical", self.history, request, closing)[0]

    async def _reply(self, place: Run, turn: int) -> tuple[Message, Reply]:
        request, closing = self._request(place, turn)
        hooks = StreamHooks(slot=FIRST_TURN) if turn == 1 else HEARD
        reply = await ask(place, "analytical", self.history, request, closing, hooks)
        return Message(role="assistant", text=reply.text, calls=mend(reply, {*self.tools, *CONTROL})), reply

    def _request(self, place: Run, turn: int) -> tuple[Request, Sequence[Message]]:
        """The request of a turn without its history, and the messages at its end."""
        opening = self.opening(place)
        request = Request(
            task="research",
            system=opening.system,
            messages=(),
            tools=opening.tools,
            tool_choice="required" if turn == 1 else "auto",
            max_tokens=output(place.profile("analytical"), place.rules.turn_tokens),
            effort="low",
        )
        left = self.task.calls - self.calls if self.task.calls else None
        return request, [rules(TurnRules(turn, self.task.turns, left))]


def acting(said: Message) -> tuple[ToolCall, ...]:
    """The calls of a reply that do something, rather than signal to the loop."""
    return tuple(call for call in said.calls if call.name not in CONTROL)


def _names(said: Message) -> set[str]:
    return {call.name for call in said.calls}
