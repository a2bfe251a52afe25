"""Triage: is this a question to research, how far, and is it clear what is asked?"""

from __future__ import annotations

import re

from assay.agents.replies import mend
from assay.agents.sizing import output
from assay.agents.wording import prompt
from assay.core.brief import Mode, SetDepth
from assay.core.errors import LimitReached, ModelFailed, ToolFailed
from assay.core.events import TriageClassified
from assay.core.messages import Reply, Request, ToolCall
from assay.core.plan import Complexity, Triage
from assay.core.report import in_words
from assay.phases.clarify import clarify
from assay.phases.control import ANSWER, GENERATE_PLAN, TRIAGE, GeneratePlan, first, names
from assay.phases.inquiry import Inquiry, user
from assay.run.run import Run
from assay.tools.arguments import read

OUTPUT = 1_024
QUESTIONS = 3
BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])?\s*")
DEPTH_OF: dict[Complexity, SetDepth] = {"simple": "light", "moderate": "medium", "complex": "extended"}


async def classify(run: Run, inquiry: Inquiry) -> tuple[Triage, Inquiry]:
    """One model call decides; where it fails, the question is taken as a moderate one.

    Raises:
        InputNeeded: the question is not clear, and the brief wants a person to say what is meant.
    """
    async with run.phase("triage") as phase:
        triage = _fixed(run, await _ask(phase, inquiry))
        phase.emit(TriageClassified(triage=triage, mode=mode(run, triage), depth=triage.depth))
        return triage, await clarify(phase, inquiry, triage)


def mode(run: Run, triage: Triage) -> Mode:
    """The mode the run works in: its brief's, or what triage chose."""
    if run.brief.mode != "auto":
        return run.brief.mode
    return "simple" if triage.answer is not None else "deep_research"


async def _ask(phase: Run, inquiry: Inquiry) -> Triage:
    if phase.brief.mode == "simple":
        return Triage(complexity="simple", depth="light", answer="")
    request = Request(
        task="triage",
        system=prompt("assay.phases", "triage"),
        messages=(user("documents", inquiry.documents), *inquiry.asked()),
        tools=TRIAGE,
        max_tokens=output(phase.profile("simple"), OUTPUT),
        effort="low",
    )
    try:
        return _read(phase, await phase.ask("simple", request))
    except (LimitReached, ModelFailed) as failed:
        phase.warn(f"triage failed, the question is taken as a moderate one: {in_words(failed.reason)}")
        return Triage()


def _read(phase: Run, reply: Reply) -> Triage:
    calls = mend(reply, names(TRIAGE))
    if plan := first(calls, GENERATE_PLAN.name):
        return _planned(phase, plan)
    if answer := first(calls, ANSWER.name):
        return Triage(complexity="simple", depth="light", answer=str(answer.arguments.get("text", "")))
    questions = read_questions(reply.text)
    return Triage(ambiguous=bool(questions), questions=questions)


def _planned(phase: Run, call: ToolCall) -> Triage:
    try:
        wanted = read(GENERATE_PLAN, call.arguments, GeneratePlan)
    except ToolFailed as failed:
        phase.warn(f"triage called generate_plan wrongly, the question is taken as a moderate one: {failed.reason}")
        return Triage()
    depth = wanted.depth or DEPTH_OF[wanted.complexity]
    return Triage(complexity=wanted.complexity, depth=depth, follow_up=wanted.follow_up)


def read_questions(text: str) -> tuple[str, ...]:
    """Clarifying questions in a reply's text: its lines which end as a question does, at most 3."""
    lines = (BULLET.sub("", line).strip() for line in text.splitlines())
    return tuple(line for line in lines if line.endswith(("?", "？", "؟")))[:QUESTIONS]


def _fixed(run: Run, triage: Triage) -> Triage:
    """What the brief fixes stands, whatever triage thinks."""
    depth = triage.depth if run.brief.depth == "auto" else run.brief.depth
    answer = triage.answer if run.brief.mode in ("auto", "simple") else None
    return Triage(
        complexity=triage.complexity,
        follow_up=triage.follow_up,
        ambiguous=triage.ambiguous,
        questions=triage.questions if run.brief.mode != "simple" else (),
        depth=depth,
        reasoning=triage.reasoning,
        answer=answer,
    )
