"""Clarifying questions: put to a person where there is one, else the run goes on with its assumptions, and says so."""

from __future__ import annotations

import msgspec

from assay.core.brief import Brief
from assay.core.conversation import matched
from assay.core.events import ClarifyAnswered, ClarifyRequested
from assay.core.plan import Triage
from assay.core.translation import gettext as _
from assay.phases.case import Case
from assay.run.run import Run

LONGEST = 4_000
"""Code points of an answer which are heeded."""


async def clarify(phase: Run, case: Case, triage: Triage) -> Case:
    """The case with a person's answers, or with the assumptions made in their stead.

    Raises:
        InputNeeded: the brief requires an answer and none is there yet.
    """
    questions = triage.questions
    if not questions:
        return case
    phase.emit(ClarifyRequested(questions=questions))
    given = matched(questions, phase.brief.answers)
    received: tuple[str, ...] = ()
    if phase.brief.may_ask and None in given:
        received = await phase.receive("answers", tuple[str, ...])
    answers = settled(given, received)
    assumed = tuple(
        _("Not asked: {question} The usual reading was assumed.").format(question=question)
        for question, answer in zip(questions, answers, strict=True)
        if not answer
    )
    phase.emit(ClarifyAnswered(answers=answers if any(answers) else (), assumptions=assumed))
    told = _told(questions, answers)
    return msgspec.structs.replace(case, answers=told, assumptions=(*case.assumptions, *assumed))


def may_ask(brief: Brief) -> bool:
    """Whether questions can be answered: by a person, or by answers given before the run began."""
    return brief.may_ask or bool(brief.answers)


def settled(given: tuple[str | None, ...], received: tuple[str, ...]) -> tuple[str, ...]:
    """The answer to each question: what came when it was asked, else what was given before, else nothing."""
    later = (*received, *("" for _ in given))
    return tuple((new.strip() or (old or "").strip())[:LONGEST] for old, new in zip(given, later, strict=False))


def _told(questions: tuple[str, ...], answers: tuple[str, ...]) -> str:
    return "\n".join(f"{question} — {answer}" for question, answer in zip(questions, answers, strict=True) if answer)
