"""The simple mode: an answer at once, from the documents at hand where there are any."""

from __future__ import annotations

from assay.agents.act import act
from assay.agents.citing import cite
from assay.agents.findings import compose
from assay.agents.replies import defect
from assay.agents.sizing import output
from assay.agents.task import NOTHING, Kit
from assay.agents.wording import prompt
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import ReportDelta, ReportRevised, ReportStarted
from assay.core.messages import Reply, Request, ToolCall
from assay.core.report import in_words
from assay.phases.inquiry import Inquiry, user
from assay.phases.write import Draft, nothing_found
from assay.run.run import Run

OUTPUT = 2_048
UNSOURCED = "*This answer rests on no sources.*"
ENDED = "The answer was put together by code: what follows are the passages found."


async def answer(run: Run, kit: Kit, inquiry: Inquiry, text: str) -> Draft:
    """Answer at once. `text` is what triage has said already, empty when it has not."""
    evidence = "" if text else await _look(run, kit, inquiry)
    async with run.at("write").phase("write") as phase:
        phase.emit(ReportStarted())
        if not text and inquiry.count and not evidence:
            return nothing_found(phase, kit, inquiry)
        if not evidence:
            phase.emit(ReportDelta(text=f"{UNSOURCED}\n\n{text}"))
        if text:
            return Draft(text=f"{UNSOURCED}\n\n{text}", researched=False, sourced=False)
        return await _answer(phase, kit, inquiry, evidence)


async def _look(run: Run, kit: Kit, inquiry: Inquiry) -> str:
    """The best passages for the question."""
    if not inquiry.count or "search" not in kit.tools:
        return ""
    async with run.phase("research") as phase:
        call = ToolCall(id="question", name="search", arguments={"query": inquiry.question})
        try:
            (result,) = await act(phase, kit.ledger.seeing([0]), kit.tools, [call], inquiry.question)
        except LimitReached as limit:
            phase.warn(f"the documents were not searched: {in_words(limit.reason)}")
            return ""
    return result.forms[0] if kit.ledger.count() else ""


async def _answer(phase: Run, kit: Kit, inquiry: Inquiry, evidence: str) -> Draft:
    """Ask for the answer.

    Raises:
        ModelFailed: there is none, and nothing was found that could stand for it.
    """
    first = "" if evidence else f"{UNSOURCED}\n\n"
    try:
        reply = await _ask(phase, inquiry, evidence)
    except (LimitReached, ModelFailed) as failed:
        return _passages(phase, kit, inquiry, failed)
    if wrong := defect(reply):
        return _passages(phase, kit, inquiry, ModelFailed(f"the answer could not be used: {wrong}"))
    cites = bool(cite(reply.text, kit.ledger).passages)
    if evidence and not cites:
        first = f"{UNSOURCED}\n\n"
        phase.emit(ReportRevised(text=first + reply.text, why="the answer cites nothing"))
    return Draft(text=first + reply.text, researched=bool(evidence), sourced=cites)


def _passages(phase: Run, kit: Kit, inquiry: Inquiry, failed: LimitReached | ModelFailed) -> Draft:
    """The passages found in the answer's stead; none were, and no model works: the run fails."""
    text = compose(inquiry.question, kit.ledger)
    if text == NOTHING and isinstance(failed, ModelFailed):
        raise failed
    phase.warn(f"no model answered: {in_words(failed.reason)}")
    phase.emit(ReportRevised(text=text, why="no model answered; the passages found are the report"))
    return Draft(text=text, limits=(ENDED,))


async def _ask(phase: Run, inquiry: Inquiry, evidence: str) -> Reply:
    request = Request(
        task="answer",
        system=prompt("assay.phases", "answer"),
        messages=(*([user("evidence", evidence)] if evidence else []), *inquiry.asked()),
        tool_choice="none",
        max_tokens=output(phase.profile("complex"), OUTPUT),
    )
    return await phase.ask("complex", request, deltas=lambda text: ReportDelta(text=text))
