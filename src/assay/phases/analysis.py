"""A step of analysis: what other steps found is compared or judged, without a search."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.agents.findings import added, founded, usable, wrong_with
from assay.agents.loop import count
from assay.agents.prompt_texts import prompt
from assay.agents.task import AgentTask, Finding, Toolset
from assay.agents.windows import output, room
from assay.core.citations.reader import citing
from assay.core.endings import in_words
from assay.core.errors import ContextTooLong, LimitReached, ModelFailed
from assay.core.events import AgentFailed, AgentFinished, AgentStarted, FindingDelta, FindingStarted
from assay.core.messages import Message, Reply, Request
from assay.evidence.ledger import Ledger
from assay.phases.case import user
from assay.phases.material import fitted, messages_of
from assay.run.run import Run


async def analyze(run: Run, toolset: Toolset, task: AgentTask, findings: Sequence[Finding]) -> Finding:
    """Work on `findings` in a lane of its own; it may cite what they cite.

    Raises:
        ModelFailed, LimitReached: there is no analysis.
    """
    run.emit(AgentStarted(lane=run.lane, task=task.task, step=task.step))
    ledger = toolset.ledger.seeing((run.lane, *task.lanes))
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
    """The analysis; what is written badly is written once more."""
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
    """Ask with as much of the findings as fits, and once more with half of it when the model says that it does not."""
    place.emit(FindingStarted(lane=place.lane))
    request = Request(
        task="analyze",
        system=prompt("assay.phases", "analyze"),
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
            deltas=lambda text: FindingDelta(lane=place.lane, text=text),
            reading=citing(ledger.knows),
        )

    try:
        return await asked(tokens)
    except ContextTooLong:
        return await asked(tokens // 2)
