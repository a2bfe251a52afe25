"""Writing: findings and plan become the report, streamed; where no model can write it, the findings are the report."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.agents.findings import compose
from assay.agents.replies import defect
from assay.agents.sizing import output, room, total
from assay.agents.task import NOTHING, Kit
from assay.agents.wording import prompt
from assay.core.errors import ContextTooLong, LimitReached, ModelFailed
from assay.core.events import ReportDelta, ReportRevised, ReportStarted
from assay.core.messages import Message, Reply, Request
from assay.core.plan import Coverage, Plan
from assay.core.report import in_words
from assay.phases.inquiry import Inquiry, data, user
from assay.phases.material import Part, parts
from assay.phases.state import Research
from assay.run.run import Run

OUTPUT = 20_000
SECONDS_BETWEEN_TOKENS = 300.0
QUERIES_NAMED = 8
NOT_WRITTEN = "No model could write this report: what follows are the findings as the agents reported them."
MODEL_STOPS = {
    "model": "its model failed",
    "context_too_long": "it did not fit its model",
    "refused": "its model refused",
}
CUT_SHORT = "This answer was put together by code because research was cut short"
NEAREST = "these are the passages found by then which are nearest to the question."


class WriteRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of the writer: which part of the report this is, of how many."""

    date: str
    language: str
    part: int = 1
    parts: int = 1


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A report as written, with passage markers, and what its reader must know.

    `researched` says that sources were looked for, `sourced` that the text claims to rest on some.
    """

    text: str
    limits: tuple[str, ...] = ()
    researched: bool = True
    sourced: bool = True


async def write(run: Run, kit: Kit, inquiry: Inquiry, research: Research, coverage: Sequence[Coverage]) -> Draft:
    """The report; where agents came to nothing because research was cut short, the passages found by then.

    Raises:
        ModelFailed: nothing was found, because every agent failed.
    """
    async with run.at("write").phase("write") as phase:
        phase.emit(ReportStarted(title=research.plan.title))
        if not research.findings and research.failed:
            raise ModelFailed(f"every agent failed: {research.failed[-1]}")
        if not any(finding.passages for finding in research.findings):
            draft = _cut_short(phase, kit, inquiry, research)
        else:
            draft = await _draft(phase, kit, inquiry, research, coverage)
    return msgspec.structs.replace(draft, limits=(*draft.limits, *shortcomings(research)))


async def _draft(phase: Run, kit: Kit, inquiry: Inquiry, research: Research, coverage: Sequence[Coverage]) -> Draft:
    try:
        return Draft(text=await _write(phase, kit, inquiry, research, coverage))
    except (LimitReached, ModelFailed) as failed:
        phase.warn(f"the report was put together by code: {in_words(failed.reason)}")
        return _unwritten(phase, research, coverage)


def shortcomings(research: Research) -> tuple[str, ...]:
    """What a reader must know of the research: agents that failed or were cut short."""
    failed = [f"An agent failed: {reason}." for reason in research.failed]
    short = [
        f"Research on “{' '.join(finding.task.split())}” was cut short: {_ended(finding.stop)}."
        for finding in research.findings
        if finding.stop != "done"
    ]
    return (*failed, *short)


def _ended(stop: str) -> str:
    return MODEL_STOPS.get(stop) or in_words(stop)


async def write_nothing(run: Run, kit: Kit, inquiry: Inquiry) -> Draft:
    """The report where there is nothing to search."""
    async with run.at("write").phase("write") as phase:
        phase.emit(ReportStarted())
        return nothing_found(phase, kit, inquiry)


def nothing_found(phase: Run, kit: Kit, inquiry: Inquiry) -> Draft:
    """The report where nothing was found: what was searched for and what ended it, no citation, no model."""
    asked = kit.ledger.queries()
    queries = ", ".join(f"“{query}”" for query in asked[:QUERIES_NAMED])
    more = f" and {len(asked) - QUERIES_NAMED} more" if len(asked) > QUERIES_NAMED else ""
    searched = f"; searched for {queries}{more}" if queries else ""
    ended = f"; research was cut short: {in_words(phase.exhausted)}" if phase.exhausted else ""
    text = f"Nothing that answers this question was found in {inquiry.scope}{searched}{ended}."
    phase.emit(ReportDelta(text=text))
    return Draft(text=text, sourced=False)


def _cut_short(phase: Run, kit: Kit, inquiry: Inquiry, research: Research) -> Draft:
    """The passages shown by the time a limit ended research; nothing, where there are none or agents judged them."""
    judged = any(finding.stop == "done" for finding in research.findings)
    passages = "" if judged or not phase.exhausted else compose(inquiry.question, kit.ledger)
    if passages in ("", NOTHING):
        return nothing_found(phase, kit, inquiry)
    text = f"*{CUT_SHORT} ({in_words(phase.exhausted)}): {NEAREST}*\n\n{passages}"
    phase.emit(ReportDelta(text=text))
    return Draft(text=text)


def _unwritten(phase: Run, research: Research, coverage: Sequence[Coverage]) -> Draft:
    """The findings as the report."""
    text = composed(research, coverage)
    phase.emit(ReportRevised(text=text, why="the writer failed; the findings are the report"))
    return Draft(text=text, limits=(NOT_WRITTEN,))


def composed(research: Research, coverage: Sequence[Coverage]) -> str:
    """The findings under their plan steps, and what could not be found."""
    titles = {step.id: step.title for step in research.plan.steps}
    sections = [
        f"## {titles.get(finding.step) or ' '.join(finding.task.split())}\n\n{finding.text}"
        for finding in research.findings
        if finding.passages
    ]
    missing = [f"- {each.part}" for each in coverage if each.step and each.status == "not"]
    if missing:
        sections.append("## What could not be found\n\n" + "\n".join(missing))
    return "\n\n".join(sections)


async def _write(phase: Run, kit: Kit, inquiry: Inquiry, research: Research, coverage: Sequence[Coverage]) -> str:
    """The report's text as streamed: in one piece, or in parts where the findings do not fit together.

    Raises:
        LimitReached, ModelFailed: there is none.
    """
    request = _request(phase)
    fixed = [*inquiry.asked(), user("coverage", data(coverage)), user("plan", data(research.plan))]
    profile = phase.profile("complex")
    tokens = min(room(profile, request.system, (), request.max_tokens) - total(fixed), profile.window // 2)
    found = [finding for finding in research.findings if finding.passages]
    try:
        return await _parts(phase, inquiry, research.plan, coverage, parts(found, kit.ledger, tokens))
    except ContextTooLong:
        phase.emit(ReportStarted(title=research.plan.title))
        return await _parts(phase, inquiry, research.plan, coverage, parts(found, kit.ledger, tokens // 2))


async def _parts(phase: Run, inquiry: Inquiry, plan: Plan, coverage: Sequence[Coverage], pieces: Sequence[Part]) -> str:
    texts: list[str] = []
    for number, piece in enumerate(pieces, 1):
        if texts:
            phase.emit(ReportDelta(text="\n\n"))
        last = number == len(pieces)
        rules = WriteRules(date=inquiry.date, language=inquiry.language, part=number, parts=len(pieces))
        messages = (
            *inquiry.asked(),
            *piece.messages,
            user("coverage", data(coverage if last else [])),
            user("rules", data(rules)),
            user("plan", data(plan if len(pieces) == 1 else _part_of(plan, piece))),
        )
        texts.append(await _piece(phase, plan.title, "\n\n".join(texts), messages))
    return "\n\n".join(texts)


async def _piece(phase: Run, title: str, before: str, messages: tuple[Message, ...]) -> str:
    """One piece of the report; what is cut off or repeats itself is taken back and written once more."""
    reply = await _ask(phase, messages)
    wrong = defect(reply)
    if wrong:
        phase.emit(ReportStarted(title=title))
        if before:
            phase.emit(ReportDelta(text=before + "\n\n"))
        note = user("note", f"Your last reply could not be used: {wrong}.")
        reply = await _ask(phase, (*messages[:-1], note, messages[-1]))
    if defect(reply):
        raise ModelFailed(f"the report could not be used: {defect(reply)}")
    return reply.text


async def _ask(phase: Run, messages: tuple[Message, ...]) -> Reply:
    request = msgspec.structs.replace(_request(phase), messages=messages)
    return await phase.ask("complex", request, deltas=lambda text: ReportDelta(text=text))


def _request(phase: Run) -> Request:
    return Request(
        task="write",
        system=prompt("assay.phases", "write"),
        messages=(),
        tool_choice="none",
        max_tokens=output(phase.profile("complex"), OUTPUT),
        timeout=SECONDS_BETWEEN_TOKENS,
    )


def _part_of(plan: Plan, piece: Part) -> Plan:
    steps = {finding.step for finding in piece.findings}
    return msgspec.structs.replace(plan, steps=tuple(step for step in plan.steps if step.id in steps))
