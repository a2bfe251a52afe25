"""How an agent is asked for its findings: after its history, or, if that hides what it read, beside the best of it."""

from __future__ import annotations

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
from assay.agents.shown_evidence import nearest_evidence
from assay.core.citations.reader import citation_reading
from assay.core.events import FindingDelta, FindingStarted
from assay.core.messages import Message, Reply, Request, ToolDefinition
from assay.evidence.ledger import Ledger
from assay.run.run import Run
from assay.run.voice import StreamHooks


async def request_findings(
    run: Run,
    ledger: Ledger,
    history: History,
    *,
    system: str,
    tools: Sequence[ToolDefinition],
    instruction: str,
    topic: str,
) -> Reply:
    """Ask for findings. No tool may be called any more, so what `history` has no room for could not be looked up.

    If it only names results, the passages nearest to `topic` are shown instead of it, as many as fit without the rules
    and tools of research.
    """
    run.emit(FindingStarted(lane=run.lane))
    profile = run.profile("analytical")
    request = Request(
        task="find",
        system=system,
        messages=(),
        tools=tuple(tools),
        tool_choice="none",
        max_tokens=output_cap(profile, run.rules.findings_tokens),
        effort="low",
    )
    closing_messages = [Message(role="user", name="report_findings", text=instruction)]
    hooks = StreamHooks(
        deltas=lambda text: FindingDelta(lane=run.lane, text=text), reader_factory=citation_reading(ledger.knows)
    )
    if not history.hides_results(message_room(profile, system, tools, request.max_tokens), closing_messages):
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
