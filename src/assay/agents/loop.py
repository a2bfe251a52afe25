"""A research agent's loop: ask, act, observe. A turn's calls run in parallel, each answered exactly once, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from assay.agents.findings import (
    CONTROL_TOOLS,
    DONE,
    THINK,
    AgentTask,
    AgentWork,
    Finding,
    brief_json,
    prompt_opening,
    report_findings,
)
from assay.agents.findings_request import PromptOpening
from assay.agents.history import (
    CallResult,
    History,
    ModelTurn,
    ask_with_history,
    fit_request,
    output_cap,
    pluralize,
    rules_message,
    tool_result,
)
from assay.agents.replies import log_ignored_tools, read_calls, tool_names
from assay.agents.weak_models import CallRecord, is_copied_query
from assay.core.brief import shorten_text
from assay.core.errors import ContextTooLong, Failed, LimitReached, ModelFailed
from assay.core.events import (
    AgentFailed,
    AgentFinished,
    AgentStarted,
    SourceAdded,
    SourceReused,
    ToolFailed,
    ToolFinished,
    ToolStarted,
)
from assay.core.messages import Message, Reply, Request, ToolCall
from assay.core.phrases import stop_reason_phrase
from assay.core.ports import LedgerRow
from assay.core.sources import SNIPPET
from assay.core.usage import Usage
from assay.evidence.ledger import Ledger
from assay.run.protocols import Observation, Tool
from assay.run.run import Branch, Run
from assay.run.steps import StepContext, watch_span
from assay.run.voice import HEARD, StreamHooks
from assay.tools.recall import RecallTool

MALFORMED_SHOWN = 200


class CallOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a call: what it observed, or why not; `limit` if a limit ended it."""

    call: ToolCall
    observation: Observation | None = None
    failure: str = ""
    limit: str = ""


class TurnRows(msgspec.Struct, frozen=True):
    """The rows that a turn's results added to the ledger."""

    rows: tuple[LedgerRow, ...]


async def execute_calls(
    run: Run, ledger: Ledger, tools: Mapping[str, Tool], calls: Sequence[ToolCall], topic: str
) -> tuple[CallResult, ...]:
    """Carry out a turn's calls and register what they returned.

    `topic` is the task, by which passages are chosen when the history must be shortened.

    Raises:
        LimitReached: a limit ended a call; the results of the others are registered first.
    """
    branches = (
        Branch(f"call-{index}", partial(_execute_call, ledger=ledger, tools=tools, call=call))
        for index, call in enumerate(calls)
    )
    outcomes = await run.gather(*branches)
    results = await register_results(run, ledger, outcomes, topic)
    limit = next((outcome.limit for outcome in outcomes if outcome.limit), "")
    if limit:
        raise LimitReached(limit)
    return results


async def _execute_call(run: Run, *, ledger: Ledger, tools: Mapping[str, Tool], call: ToolCall) -> CallOutcome:
    arguments = call.malformed or msgspec.json.encode(call.arguments).decode()
    run.emit(ToolStarted(call=call.id, tool=call.name, arguments=arguments))
    try:
        with watch_span(run, "tool", call.name if call.name in tools else "unknown"):
            observation = await _perform(run, ledger, tools, call)
    except LimitReached as limit:
        run.emit(ToolFailed(call=call.id, tool=call.name, reason=f"limit reached: {limit.reason}"))
        return CallOutcome(call=call, limit=limit.reason)
    except Failed as failed:
        run.emit(ToolFailed(call=call.id, tool=call.name, reason=failed.reason))
        return CallOutcome(call=call, failure=failed.reason)
    run.emit(ToolFinished(call=call.id, tool=call.name, summary=observation.summary))
    return CallOutcome(call=call, observation=observation)


async def _perform(run: Run, ledger: Ledger, tools: Mapping[str, Tool], call: ToolCall) -> Observation:
    tool = tools.get(call.name)
    if tool is None:
        raise Failed(f"there is no tool {call.name!r}; there is: {', '.join(sorted(tools))}")
    if call.malformed:
        excerpt = call.malformed[:MALFORMED_SHOWN]
        raise Failed(f"the arguments are not a JSON object: {excerpt}; send the call again with valid JSON")
    return await tool.run(run, ledger, call.arguments)


async def register_results(
    run: Run, ledger: Ledger, outcomes: Sequence[CallOutcome], topic: str
) -> tuple[CallResult, ...]:
    """Give ids to what a turn's calls showed, in call order, in one step, and return the answers to the calls."""
    excerpts = [excerpt for outcome in outcomes if outcome.observation for excerpt in outcome.observation.shown]

    async def register(step_context: StepContext) -> TurnRows:
        registration = ledger.register(run.lane, excerpts, *_queries_and_opened(outcomes))
        for source in registration.sources:
            step_context.emit(SourceAdded(source=source))
        for id in registration.reused:
            step_context.emit(SourceReused(source=id))
        step_context.record(*registration.rows)
        return TurnRows(registration.rows)

    locations = [(excerpt.document.sha256, [span.ordinal for span in excerpt.spans]) for excerpt in excerpts]
    # Under the writer's gate: results are kept, whatever limit has been reached meanwhile.
    turn_rows = await run.with_gate("write").step("observe", register, returns=TurnRows, input=locations)
    ledger.apply(turn_rows.rows)
    return tuple(_result(run, ledger, outcome, topic) for outcome in outcomes)


def _queries_and_opened(outcomes: Sequence[CallOutcome]) -> tuple[list[str], list[str]]:
    """Queries asked and documents opened; recalling asks nobody."""
    successful = [outcome for outcome in outcomes if outcome.observation]
    searches = [outcome.call.arguments for outcome in successful if outcome.call.name != RecallTool.name]
    queries = [str(arguments["query"]) for arguments in searches if "query" in arguments]
    opened_excerpts = [
        outcome.observation.shown
        for outcome in successful
        if outcome.observation and "documents" in outcome.call.arguments
    ]
    return queries, [
        excerpt.document.title or excerpt.document.name for excerpts in opened_excerpts for excerpt in excerpts
    ]


def _result(run: Run, ledger: Ledger, outcome: CallOutcome, topic: str) -> CallResult:
    if outcome.observation is None:
        return tool_result(outcome.call.id, f"Failed: {outcome.failure or outcome.limit}", (), topic)
    blocks = ledger.blocks(run.lane, outcome.observation.shown)
    return tool_result(outcome.call.id, outcome.observation.note, blocks, topic)


FIRST_TURN = "first-turn"
"""The slot of the call with which an agent begins."""
SEARCH_TOOL = "search"
QUERY_LENGTH = 200
"""Characters of a query that code takes from a task."""
NOTED = "Noted."
COPIED = "Not carried out: this query is copied from your instructions. Search for what your task needs."
NO_CALLS_LEFT = "Not carried out: the calls of this task are used up."
OPEN_PAGES = (
    "These are excerpts a search engine made. Open the pages that matter, and read there what your task needs, before "
    "you conclude anything."
)
CALL_A_TOOL = "Call a tool: search for what your task needs. Answer with a tool call, not with text."


async def research_task(run: Run, task: AgentTask, ledger: Ledger, tools: Mapping[str, Tool]) -> Finding:
    """Work on one task in a separate lane and return findings, whatever ended the work.

    Raises:
        ModelFailed: the model failed before anything was found; only this agent fails.
    """
    return await run_agent(run, Agent(task, ledger, tools, run.lane))


async def run_agent(run: Run, agent: Agent) -> Finding:
    """Let an agent work, and report.

    Raises:
        ModelFailed: as `research_task`.
        LimitReached: the run may have no more agents.
    """
    task = agent.task
    run.emit(AgentStarted(lane=run.lane, task=task.task, step=task.step))
    stop = await agent.work(run)
    if agent.failure and not agent.ledger.seeing([run.lane]).count():
        run.emit(AgentFailed(lane=run.lane, error=agent.failure))
        raise ModelFailed(agent.failure)
    if stop == "agents":  # it never began, and has nothing to report
        run.emit(AgentFailed(lane=run.lane, error=stop_reason_phrase(stop)))
        raise LimitReached(stop)
    work = AgentWork(task=task, history=agent.history, opening=agent.opening(run), stop=stop, turns=agent.turns)
    finding = await report_findings(run, agent.ledger, work)
    run.emit(AgentFinished(lane=run.lane, stop=finding.stop, turns=finding.turns))
    return finding


async def count_agent(run: Run) -> None:
    """Count an agent that begins to work.

    Raises:
        LimitReached: the run may have no more agents.
    """

    async def spend_agent(step_context: StepContext) -> int:
        step_context.role = "analytical"
        step_context.spend(Usage(agents=1))
        return 1

    await run.step("start", spend_agent, returns=int, cost=Usage(agents=1))


class TurnRules(msgspec.Struct, frozen=True, omit_defaults=True):
    """The `rules` message: the number of this turn, of how many, and how many calls are left if they are
    limited.
    """

    turn: int
    turns: int
    calls_left: int | None = None

    def sentences(self) -> str:
        remaining = "" if self.calls_left is None else f" You may make {pluralize(self.calls_left, 'more tool call')}."
        return f"This is turn {self.turn} of {self.turns}.{remaining}"


class Agent:
    """One agent's state: its history and its progress."""

    def __init__(self, task: AgentTask, ledger: Ledger, tools: Mapping[str, Tool], lane: int) -> None:
        self.task = task
        self.ledger = ledger.seeing((lane, *task.lanes))
        self.tools = tools
        seen_messages = [Message(role="user", name="seen", text=task.seen)] if task.seen else []
        self.history = History(
            [
                Message(role="user", name="brief", text=brief_json(task)),
                *seen_messages,
                Message(role="user", name="task", text=task.task),
            ]
        )
        self.turns = 0
        self.calls = 0
        self.failure = self.model = ""
        self.nudged = False

    def opening(self, run: Run) -> PromptOpening:
        """The beginning of its requests."""
        return prompt_opening(run, self.task, self.tools)

    async def work(self, run: Run) -> str:
        """Work, and return what ended it: done, a limit's reason, or the kind of a failure."""
        try:
            await count_agent(run)
            try:
                await self.run_turns(run)
            except ModelFailed as failed:
                self.failure = failed.reason
                if isinstance(failed, ContextTooLong):  # its model can be asked, for findings
                    await self._search_anyway(run)
                return failed.kind
        except LimitReached as limit:
            return limit.reason
        return "done"

    async def run_turns(self, run: Run) -> None:
        """Run the loop.

        Raises:
            LimitReached, ModelFailed: what ended it.
        """
        record = CallRecord()
        for turn in range(1, self.task.turns + 1):
            turn_run = run.child(f"turn-{turn}")
            if self.task.calls and self.calls >= self.task.calls:
                break
            message = await self._ask_for_calls(turn_run, turn)
            if not action_calls(message):
                break
            self.turns = turn
            answers = zip(message.calls, await self.execute_calls(turn_run, message), strict=True)
            record.add_turn((call, result.text) for call, result in answers if call.name not in CONTROL_TOOLS)
            if record.is_stuck or DONE.name in tool_names(message.calls):
                break
        await self._search_anyway(run)

    async def execute_calls(self, run: Run, message: Message) -> tuple[CallResult, ...]:
        """Carry out the calls of a turn, as many as the agent has left; each is answered, in call order.

        Raises:
            LimitReached: a limit ended a call.
        """
        prompt = self.opening(run).system
        copied = [call for call in action_calls(message) if is_copied_query(call, prompt, self.task.about)]
        calls = [call for call in action_calls(message) if call not in copied]
        limit = len(calls) if not self.task.calls else self.task.calls - self.calls
        allowed, refused = calls[:limit], calls[limit:]
        self.calls += len(allowed)
        executed = await execute_calls(run, self.ledger, self.tools, allowed, self.task.about)
        notes = (*((call, NO_CALLS_LEFT) for call in refused), *((call, COPIED) for call in copied))
        answers = {
            result.call_id: result for result in (*executed, *(self._note_result(call, note) for call, note in notes))
        }
        results = tuple(answers.get(call.id) or self._note_result(call, NOTED) for call in message.calls)
        self.history.add(ModelTurn(message=message, results=results, note=self._nudge(run)))
        return results

    def _note_result(self, call: ToolCall, text: str) -> CallResult:
        return tool_result(call.id, text, (), self.task.about)

    def _nudge(self, run: Run) -> str:
        """A reminder, once after a web search, that results are excerpts and pages should be opened."""
        if self.nudged or "open" not in self.tools:
            return ""
        own_sources = self.ledger.seeing([run.lane]).passages_and_sources()[1].values()
        if not any(source.media_type == SNIPPET for source in own_sources):
            return ""
        self.nudged = True
        return "" if any(source.media_type != SNIPPET for source in own_sources) else OPEN_PAGES

    async def _ask_for_calls(self, run: Run, turn: int) -> Message:
        """Ask what to do next, after thinking, which uses up no turn but has a limit.

        In the first turn the model must call a tool that acts; if it does not, it is reminded once.
        """
        (message, reply), reminded = await self._reply(run, turn), turn > 1
        for _thought in range(run.rules.thoughts + 1):
            only_thinks = tool_names(message.calls) == {THINK.name}
            if action_calls(message) or (reminded and not only_thinks):
                break
            reminded = reminded or not only_thinks
            noted_results = tuple(self._note_result(call, NOTED) for call in message.calls)
            self.history.add(ModelTurn(message=message, results=noted_results, note="" if only_thinks else CALL_A_TOOL))
            message, reply = await self._reply(run, turn)
        if turn == 1 and not message.calls:
            log_ignored_tools(run, reply.model, "research")
        return message

    async def _search_anyway(self, run: Run) -> None:
        """Search once for a model that has not looked anywhere: an agent reports what it was shown, not what it knows.

        Raises:
            LimitReached: a limit ended the search.
        """
        own = self.ledger.seeing([run.lane])
        if SEARCH_TOOL not in self.tools or self.task.seen or own.queries() or own.pages() or own.count():
            return
        query = shorten_text(self.task.task.partition("\n")[0], QUERY_LENGTH)
        call = ToolCall(id=SEARCH_TOOL, name=SEARCH_TOOL, arguments={"query": query})
        self.turns = max(self.turns, 1)
        await self.execute_calls(run.child("search-anyway"), Message(role="assistant", calls=(call,)))

    def first_request(self, run: Run) -> Request:
        """The first request of its work."""
        request, closing_messages = self._request(run, 1)
        return fit_request(run, "analytical", self.history, request, closing_messages)[0]

    async def _reply(self, run: Run, turn: int) -> tuple[Message, Reply]:
        request, closing_messages = self._request(run, turn)
        hooks = StreamHooks(slot=FIRST_TURN) if turn == 1 else HEARD
        reply = await ask_with_history(run, "analytical", self.history, request, closing_messages, hooks)
        return Message(role="assistant", text=reply.text, calls=read_calls(reply, {*self.tools, *CONTROL_TOOLS})), reply

    def _request(self, run: Run, turn: int) -> tuple[Request, Sequence[Message]]:
        """The request of a turn without its history, and the messages at its end."""
        opening = self.opening(run)
        request = Request(
            task="research",
            system=opening.system,
            messages=(),
            tools=opening.tools,
            tool_choice="required" if turn == 1 else "auto",
            max_tokens=output_cap(run.profile("analytical"), run.rules.turn_tokens),
            effort="low",
        )
        remaining_calls = self.task.calls - self.calls if self.task.calls else None
        return request, [rules_message(TurnRules(turn, self.task.turns, remaining_calls))]


def action_calls(message: Message) -> tuple[ToolCall, ...]:
    """The calls of a reply that do something, rather than signal to the loop."""
    return tuple(call for call in message.calls if call.name not in CONTROL_TOOLS)
