"""How an agent is asked for its findings: after its history, or, if that hides what it read, beside the best of it.

Passages as text for a model stand below their sources.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from assay.agents.history import (
    History,
    ask_with_halving,
    ask_with_history,
    message_room,
    output_cap,
    total_tokens,
)
from assay.core.citations.reader import citation_reading
from assay.core.events import FindingDelta, FindingStarted
from assay.core.messages import Message, Reply, Request, ToolDefinition
from assay.core.passage_context import format_source
from assay.core.sources import Passage
from assay.core.text import estimate_tokens
from assay.evidence.ledger import Ledger
from assay.run.run import Run
from assay.run.voice import StreamHooks


class PromptOpening(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of every request of an agent: its system text, and its tools."""

    system: str
    tools: tuple[ToolDefinition, ...]


MIN_RECALLED_PASSAGES, PASSAGE_TOKENS = 60, 200
"""Passages looked at to fill a part of a window: at least so many, and one for so many tokens."""


def evidence_text(passages: Sequence[Passage], ledger: Ledger) -> str:
    """Passages below their sources, in the order of first mention."""
    by_source: defaultdict[str, dict[str, Passage]] = defaultdict(dict)
    for passage in passages:
        by_source[passage.source][passage.id] = passage
    sources = {id: ledger.source(id) for id in by_source}
    return "\n\n".join(format_source(source, list(by_source[id].values())) for id, source in sources.items() if source)


def nearest_evidence(ledger: Ledger, topic: str, tokens: int) -> str:
    """The passages that share most with a topic, else the first ones, below their sources, as many as fit."""
    count = max(MIN_RECALLED_PASSAGES, tokens // PASSAGE_TOKENS)
    passages = ledger.recall(topic, count) or list(ledger.passages_and_sources()[0].values())[:count]
    text = evidence_text(passages, ledger)
    while passages and estimate_tokens(text) > tokens:
        passages = passages[: len(passages) * 3 // 4]
        text = evidence_text(passages, ledger)
    return text


async def request_findings(
    run: Run, ledger: Ledger, history: History, opening: PromptOpening, instruction: str, topic: str
) -> Reply:
    """Ask for findings. No tool may be called any more, so what `history` has no room for could not be looked up.

    If it only names results, the passages nearest to `topic` are shown instead of it, as many as fit without the rules
    and tools of research.
    """
    run.emit(FindingStarted(lane=run.lane))
    profile = run.profile("analytical")
    request = Request(
        task="find",
        system=opening.system,
        messages=(),
        tools=opening.tools,
        tool_choice="none",
        max_tokens=output_cap(profile, run.rules.findings_tokens),
        effort="low",
    )
    closing_messages = [Message(role="user", name="report_findings", text=instruction)]
    hooks = StreamHooks(
        deltas=lambda text: FindingDelta(lane=run.lane, text=text), reader_factory=citation_reading(ledger.knows)
    )
    if not history.hides_results(
        message_room(profile, opening.system, opening.tools, request.max_tokens), closing_messages
    ):
        return await ask_with_history(run, "analytical", history, request, closing_messages, hooks)

    async def ask(tokens: int) -> Reply:
        seen = Message(role="user", name="seen", text=nearest_evidence(ledger, topic, tokens))
        messages = (*history.opening, seen)
        return await run.ask(
            "analytical", msgspec.structs.replace(request, system=instruction, tools=(), messages=messages), hooks
        )

    return await ask_with_halving(
        ask, message_room(profile, instruction, (), request.max_tokens) - total_tokens(history.opening)
    )
