"""Control questions for a judge: sentences in other words than their evidence, which supports half of them.

A judge on this machine may be too small to judge, and support whatever it is asked about. So the first time that it
supports a claim of a run, it is asked about six sentences that are false. If it supports two of them, or fails on most,
its support counts no more in this run. Answers are remembered like all of a judge's: the next run asks nothing.
"""

from __future__ import annotations

import asyncio
from functools import partial

import msgspec

from assay.core.claims import Verdict
from assay.core.events import Warned
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.run.run import Branch, Run
from assay.run.steps import StepContext
from assay.verify.checks import drop_faults, examine
from assay.verify.evidence import text_evidence
from assay.verify.judge import ask_judge

NOT_TRUSTED = N_("{name} supports sentences that their evidence does not say: its support of claims does not count")
MAX_SUPPORTED = 1
"""False sentences, of six, that a trusted judge may support: one may be a slip."""
MAX_UNANSWERED = 3
"""Questions, of six, on which it may fail."""
PLACE = "judge-control"


class ControlQuestion(msgspec.Struct, frozen=True):
    """A sentence with a text, and whether the text supports it. No rule decides it."""

    is_true: bool
    text: str
    sentence: str


CONTROL_QUESTIONS = tuple(
    ControlQuestion(*row)
    for row in (
        (True, "The harbour was dredged for larger ferries.", "The harbour was deepened to let in larger ferries."),
        (True, "In winter the ferry sails only on Thursdays.", "On winter Mondays there is no ferry."),
        (True, "Its keeper has been replaced by a machine.", "Nobody keeps the lighthouse any more."),
        (True, "The council turned the plan down.", "The plan was rejected by the council."),
        (True, "A pilot is needed in fog.", "Without a pilot no ship may enter when it is foggy."),
        (True, "Most of the guests were satisfied with the rooms.", "The rooms pleased the majority of guests."),
        (False, "The harbour was dredged, so larger ferries came.", "Since larger ferries came, it was dredged."),
        (False, "The council talked about the plan.", "The plan was adopted by the council."),
        (False, "The council turned the plan down.", "The plan was welcomed by the council."),
        (False, "A pilot is needed in fog.", "Ships in fog are guided by the lighthouse keeper."),
        (False, "The yard may build a second ferry.", "The yard has decided to build a second ferry."),
        (False, "The captain praised the pilot.", "The pilot praised the captain."),
    )
)  # fmt: skip


async def is_trusted(run: Run, model: str) -> bool:
    """True if the support of a claim by `model` counts: it is hosted, or the judge has passed the control questions."""
    execution, judge = run.execution, run.world.models.get(model)
    if judge is not None and not judge.profile.local:
        return True
    if execution.judge_control is None:  # a task of the run: the claim that began it may be dropped meanwhile
        place = Run(execution, (PLACE,), lane=run.brief.lane, gate=run.gate)
        execution.judge_control = execution.start(_passes_control(place, model), PLACE)
    return await asyncio.shield(execution.judge_control)


async def _passes_control(run: Run, name: str) -> bool:
    async def ask(question_run: Run, question: ControlQuestion) -> Verdict:
        evidence = text_evidence(question.text)
        findings = drop_faults(examine(question.sentence, evidence))
        return (await ask_judge(question_run, question.sentence, evidence, findings)).check.verdict

    false_questions = [question for question in CONTROL_QUESTIONS if not question.is_true]
    verdicts = await run.gather(
        *(Branch(f"question-{number}", partial(ask, question=each)) for number, each in enumerate(false_questions))
    )

    async def decide(step_context: StepContext) -> bool:
        supports_too_much = verdicts.count("supported") > MAX_SUPPORTED
        if supports_too_much:
            step_context.emit(Warned(message=_(NOT_TRUSTED).format(name=name)))
        return not supports_too_much and verdicts.count("unchecked") <= MAX_UNANSWERED

    return await run.free_step("trust", decide, returns=bool)
