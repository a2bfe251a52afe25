"""Clarifying questions: put to a person where there is one, else the run goes on with its assumptions, and says so."""

from __future__ import annotations

import msgspec

from assay.core.events import ClarifyAnswered, ClarifyRequested
from assay.core.plan import Triage
from assay.phases.inquiry import Inquiry
from assay.run.run import Run


async def clarify(phase: Run, inquiry: Inquiry, triage: Triage) -> Inquiry:
    """The inquiry with a person's answers, or with the assumptions made in their stead.

    Raises:
        InputNeeded: the brief requires an answer and none is there yet.
    """
    if not triage.questions:
        return inquiry
    phase.emit(ClarifyRequested(questions=triage.questions))
    answers: tuple[str, ...] = ()
    if phase.brief.ask != "never":
        answers = await phase.receive("answers", tuple[str, ...])
    assumed = tuple(
        f"Not asked: {question} The usual reading was assumed."
        for number, question in enumerate(triage.questions)
        if number >= len(answers) or not answers[number].strip()
    )
    phase.emit(ClarifyAnswered(answers=answers, assumptions=assumed))
    return msgspec.structs.replace(inquiry, answers=_told(triage.questions, answers), assumptions=assumed)


def _told(questions: tuple[str, ...], answers: tuple[str, ...]) -> str:
    pairs = zip(questions, answers, strict=False)
    return "\n".join(f"{question} — {answer.strip()}" for question, answer in pairs if answer.strip())
