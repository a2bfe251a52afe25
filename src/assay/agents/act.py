"""Carries out the calls of one turn: in parallel, each answered exactly once, in call order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from assay.agents.history import CallResult, result
from assay.core.errors import Failed, LimitReached
from assay.core.events import SourceAdded, SourceReused, ToolFailed, ToolFinished, ToolStarted
from assay.core.messages import ToolCall
from assay.core.ports import LedgerRow
from assay.evidence.ledger import Ledger
from assay.run.place import watched
from assay.run.protocols import DocumentPassages, Observation, Tool
from assay.run.run import Branch, Run
from assay.run.steps import StepContext
from assay.tools.recall import RecallTool

MALFORMED_SHOWN = 200


class Acted(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a call: what it observed, or why not; `limit` if a limit ended it."""

    call: ToolCall
    observation: Observation | None = None
    failure: str = ""
    limit: str = ""


class Observed(msgspec.Struct, frozen=True):
    """The rows that a turn's results added to the ledger."""

    rows: tuple[LedgerRow, ...]


async def act(
    run: Run, ledger: Ledger, tools: Mapping[str, Tool], calls: Sequence[ToolCall], about: str
) -> tuple[CallResult, ...]:
    """Carry out a turn's calls and register what they returned.

    `about` is the task, by which passages are chosen when the history must be shortened.

    Raises:
        LimitReached: a limit ended a call; the results of the others are registered first.
    """
    branches = (
        Branch(f"call-{place}", partial(_call, ledger=ledger, tools=tools, call=call))
        for place, call in enumerate(calls)
    )
    acted = await run.gather(*branches)
    results = await observe(run, ledger, acted, about)
    limit = next((each.limit for each in acted if each.limit), "")
    if limit:
        raise LimitReached(limit)
    return results


async def _call(run: Run, *, ledger: Ledger, tools: Mapping[str, Tool], call: ToolCall) -> Acted:
    run.emit(ToolStarted(call=call.id, tool=call.name, arguments=_arguments(call)))
    try:
        with watched(run, "tool", call.name if call.name in tools else "unknown"):
            observation = await _perform(run, ledger, tools, call)
    except LimitReached as limit:
        run.emit(ToolFailed(call=call.id, tool=call.name, reason=f"limit reached: {limit.reason}"))
        return Acted(call=call, limit=limit.reason)
    except Failed as failed:
        run.emit(ToolFailed(call=call.id, tool=call.name, reason=failed.reason))
        return Acted(call=call, failure=failed.reason)
    run.emit(ToolFinished(call=call.id, tool=call.name, summary=observation.summary))
    return Acted(call=call, observation=observation)


async def _perform(run: Run, ledger: Ledger, tools: Mapping[str, Tool], call: ToolCall) -> Observation:
    tool = tools.get(call.name)
    if tool is None:
        raise Failed(f"there is no tool {call.name!r}; there is: {', '.join(sorted(tools))}")
    if call.malformed:
        shown = call.malformed[:MALFORMED_SHOWN]
        raise Failed(f"the arguments are not a JSON object: {shown}; send the call again with valid JSON")
    return await tool.run(run, ledger, call.arguments)


def _arguments(call: ToolCall) -> str:
    return call.malformed or msgspec.json.encode(call.arguments).decode()


async def observe(run: Run, ledger: Ledger, acted: Sequence[Acted], about: str) -> tuple[CallResult, ...]:
    """Give ids to what a turn's calls showed, in call order, in one step, and return the answers to the calls."""
    shown = [each for one in acted if one.observation for each in one.observation.shown]

    async def register(step_context: StepContext) -> Observed:
        added = ledger.register(run.lane, shown, *_queries_and_opened(acted))
        for source in added.sources:
            step_context.emit(SourceAdded(source=source))
        for id in added.reused:
            step_context.emit(SourceReused(source=id))
        for row in added.rows:
            step_context.record(row)
        return Observed(added.rows)

    # Under the writer's gate: results are kept, whatever limit has been reached meanwhile.
    observed = await run.at("write").step("observe", register, returns=Observed, input=_input(shown))
    ledger.apply(observed.rows)
    return tuple(_result(run, ledger, each, about) for each in acted)


def _queries_and_opened(acted: Sequence[Acted]) -> tuple[list[str], list[str]]:
    """Queries asked and documents opened; recalling asks nobody."""
    done = [each for each in acted if each.observation]
    searches = [each.call.arguments for each in done if each.call.name != RecallTool.name]
    queries = [str(arguments["query"]) for arguments in searches if "query" in arguments]
    opened = [each.observation.shown for each in done if each.observation and "documents" in each.call.arguments]
    return queries, [one.document.title or one.document.name for shown in opened for one in shown]


def _input(shown: Sequence[DocumentPassages]) -> list[tuple[str, list[int]]]:
    return [(each.document.sha256, [span.ordinal for span in each.spans]) for each in shown]


def _result(run: Run, ledger: Ledger, acted: Acted, about: str) -> CallResult:
    if acted.observation is None:
        return result(acted.call.id, f"Failed: {acted.failure or acted.limit}", (), about)
    blocks = ledger.blocks(run.lane, acted.observation.shown)
    return result(acted.call.id, acted.observation.note, blocks, about)
