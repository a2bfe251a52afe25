"""The modes which answer at once: from what a look at the documents brings, where there are any."""

from __future__ import annotations

from assay.agents.citing import cite
from assay.agents.findings import compose
from assay.agents.replies import defect
from assay.agents.sizing import output
from assay.agents.task import NOTHING, Kit
from assay.agents.wording import prompt
from assay.core.citations.reader import citing
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import ReportDelta, ReportRevised, ReportStarted
from assay.core.messages import Reply, Request
from assay.core.report import in_words
from assay.phases.background import may_search
from assay.phases.draft import Draft
from assay.phases.inquiry import Inquiry, user
from assay.phases.looking import SECONDS, Look, recall_all, search_and_read, search_once
from assay.phases.nothing import checked, nothing_found
from assay.phases.write import REVISED, settle, with_date
from assay.run.run import Run
from assay.verify.streaming.carrying import spans
from assay.verify.streaming.proofreading import Proofreader

OUTPUT = 2_048
UNSOURCED = "*This answer rests on no sources.*"
ENDED = "The answer was put together by code: what follows are the passages found."
LATE = f"No search had brought anything after {SECONDS:.0f} seconds; the answer rests on no sources."
CUT = f"The search was ended after {SECONDS:.0f} seconds; the answer rests on what was found by then."


async def answer(run: Run, kit: Kit, inquiry: Inquiry, text: str, proofreader: Proofreader | None = None) -> Draft:
    """Answer at once. `text` is what triage has said already, empty when it has not.

    `proofreader` finds and checks the answer's claims as it streams, where it rests on anything.
    """
    look = Look() if text else await _look(run, kit, inquiry)
    async with run.at("write").phase("write") as phase:
        phase.emit(ReportStarted())
        if text:
            said = f"{UNSOURCED}\n\n{text}"
            phase.emit(ReportDelta(text=said))
            return Draft(text=said, researched=False, sourced=False)
        if may_search(run, kit, inquiry) and not look.evidence and not look.late:
            return await nothing_found(phase, kit, inquiry)
        return await _answer(phase, kit, inquiry, look, proofreader)


async def answer_from(run: Run, kit: Kit, inquiry: Inquiry, proofreader: Proofreader | None = None) -> Draft:
    """Answer from what the ledger holds, and from nothing else; `proofreader` is as in `answer`."""
    look = await recall_all(run, kit, inquiry)
    async with run.at("write").phase("write") as phase:
        phase.emit(ReportStarted())
        if look.evidence:
            return await _answer(phase, kit, inquiry, look, proofreader)
        await checked(phase, kit, inquiry)
        text = f"Nothing that answers this question is in {inquiry.scope}."
        phase.emit(ReportDelta(text=text))
        return Draft(text=text, sourced=False)


async def _look(run: Run, kit: Kit, inquiry: Inquiry) -> Look:
    look = search_and_read if run.brief.mode == "web_search" else search_once
    return await look(run, kit, inquiry)


async def _answer(phase: Run, kit: Kit, inquiry: Inquiry, look: Look, proofreader: Proofreader | None) -> Draft:
    """Ask for the answer.

    Raises:
        ModelFailed: there is none, and nothing was found that could stand for it.
    """
    first = "" if look.evidence else f"{UNSOURCED}\n\n"
    heard = proofreader if look.evidence else None
    if first:
        phase.emit(ReportDelta(text=first))
    try:
        reply = await _ask(phase, kit, inquiry, look.evidence, heard)
    except (LimitReached, ModelFailed) as failed:
        return _passages(phase, kit, inquiry, failed, heard)
    if wrong := defect(reply):
        return _passages(phase, kit, inquiry, ModelFailed(f"the answer could not be used: {wrong}"), heard)
    cites = bool(cite(reply.text, kit.ledger).passages)
    if heard and not cites:
        heard.take_back()  # what rests on no sources is not checked
    text = with_date(reply.text, kit, inquiry) if cites else f"{UNSOURCED}\n\n{reply.text}"
    read = reply.text if heard and cites else ""
    settle(
        phase, first + reply.text, text, REVISED if cites or first else "the answer cites nothing", spans(read, text)
    )
    return Draft(text=text, researched=bool(look.evidence), sourced=cites, limits=_said(look), streamed=read)


def _said(look: Look) -> tuple[str, ...]:
    """What a reader must know of a look which was cut short."""
    if not look.late:
        return ()
    return (CUT if look.evidence else LATE,)


def _passages(
    phase: Run, kit: Kit, inquiry: Inquiry, failed: LimitReached | ModelFailed, proofreader: Proofreader | None
) -> Draft:
    """The passages found in the answer's stead; none were, and no model works: the run fails."""
    text = compose(inquiry.question, kit.ledger)
    if text == NOTHING and isinstance(failed, ModelFailed):
        raise failed
    phase.warn(f"no model answered: {in_words(failed.reason)}")
    if proofreader:
        proofreader.take_back()
    text = with_date(text, kit, inquiry)
    phase.emit(ReportRevised(text=text, why="no model answered; the passages found are the report"))
    return Draft(text=text, limits=(ENDED,), written=False)


async def _ask(phase: Run, kit: Kit, inquiry: Inquiry, evidence: str, proofreader: Proofreader | None) -> Reply:
    request = Request(
        task="answer",
        system=prompt("assay.phases", "answer"),
        messages=(*([user("evidence", evidence)] if evidence else []), *inquiry.asked()),
        tool_choice="none",
        max_tokens=output(phase.profile("complex"), OUTPUT),
    )
    return await phase.ask(
        "complex",
        request,
        deltas=lambda text: ReportDelta(text=text),
        listener=proofreader.listener("") if proofreader else None,
        reading=citing(kit.ledger.knows),
    )
