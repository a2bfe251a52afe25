"""Triage: is research needed, how deep should it go, and is the question clear?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from assay.agents.history import output_cap, pluralize, rules_message
from assay.agents.replies import first_call, one_line_text, read_calls, tool_names
from assay.core.brief import Brief, Mode, SetDepth, match_answers
from assay.core.errors import LimitReached, ModelFailed, ToolError
from assay.core.events import ClarifyAnswered, ClarifyRequested, TriageClassified
from assay.core.lazy import regex
from assay.core.messages import Reply, Request, ToolCall
from assay.core.phrases import stop_reason_phrase
from assay.core.plan import Complexity, FollowUp, Triage
from assay.core.translation import gettext as _
from assay.core.translation import quote_text
from assay.phases.case import Case, conversation_messages, user_message
from assay.run.run import Run
from assay.run.voice import StreamHooks
from assay.tools.arguments import define, read

# Its tools: their calls are signals, never actions.


class Answer(msgspec.Struct, frozen=True):
    """`answer`: nothing has to be looked up."""

    text: Annotated[str, Meta(description="The whole answer.")] = ""


class GeneratePlan(msgspec.Struct, frozen=True):
    """`generate_plan`: research it."""

    reasoning: Annotated[str, Meta(description="What is asked, and why it is as complex as you say.")] = ""
    complexity: Annotated[Complexity, Meta(description="How much there is to find out.")] = "moderate"
    depth: Annotated[
        Literal["", "light", "medium", "extended"], Meta(description="How far to go; follows complexity when absent.")
    ] = ""
    follow_up: Annotated[
        Literal["", FollowUp], Meta(description="How it relates to what was said before; leave out where nothing was.")
    ] = ""
    restated: Annotated[
        str, Meta(description="The whole question, where it cannot be understood without what was said before.")
    ] = ""
    whole_collection: Annotated[
        bool, Meta(description="Whether every document in scope has to be looked at: list all, how many, for each.")
    ] = False
    assumptions: Annotated[
        tuple[str, ...], Meta(description="How you read the question where it can be read in different ways.")
    ] = ()


ANSWER = define(
    "answer",
    "Answer at once. Only for greetings, thanks, and requests about this conversation that need no facts.",
    Answer,
    control=True,
)
GENERATE_PLAN = define(
    "generate_plan", "Have the question researched.", GeneratePlan, control=True, required=("reasoning",)
)
TRIAGE = (ANSWER, GENERATE_PLAN)


# Clarifying questions go to a person if there is one; else the run goes on with assumptions and reports them.

MAX_ANSWER_CHARS = 4_000
"""Code points of an answer that count."""


async def clarify(phase: Run, case: Case, triage: Triage) -> Case:
    """Return the case with a person's answers, or with the assumptions made instead.

    Raises:
        InputNeeded: the brief requires an answer and there is none yet.
    """
    questions = triage.questions
    if not questions:
        return case
    phase.emit(ClarifyRequested(questions=questions))
    given_answers = match_answers(questions, phase.brief.answers)
    received_answers: tuple[str, ...] = ()
    if phase.brief.may_ask and None in given_answers:
        received_answers = await phase.receive("answers", tuple[str, ...])
    answers = merge_answers(given_answers, received_answers)
    assumptions = tuple(
        _("Not asked: {question} The usual reading was assumed.").format(question=question)
        for question, answer in zip(questions, answers, strict=True)
        if not answer
    )
    phase.emit(ClarifyAnswered(answers=answers if any(answers) else (), assumptions=assumptions))
    dialogue = "\n".join(
        f"{question} — {answer}" for question, answer in zip(questions, answers, strict=True) if answer
    )
    return msgspec.structs.replace(case, answers=dialogue, assumptions=(*case.assumptions, *assumptions))


def can_ask(brief: Brief) -> bool:
    """True if questions can be answered: by a person, or by answers given before the run began."""
    return brief.may_ask or bool(brief.answers)


def merge_answers(given_answers: tuple[str | None, ...], received_answers: tuple[str, ...]) -> tuple[str, ...]:
    """The answer to each question: the one received, else the one given beforehand, else an empty one."""
    later = (*received_answers, *("" for _ in given_answers))
    return tuple(
        (new.strip() or (old or "").strip())[:MAX_ANSWER_CHARS] for old, new in zip(given_answers, later, strict=False)
    )


MAX_ASSUMPTIONS = 3
MAX_QUESTION_CHARS = 1_000
"""Code points of a restated or clarifying question of triage."""
QUICK_MODES = ("simple", "web_search")
"""Modes that answer at once, without clarifying questions; without a conversation there is nothing to classify."""
BULLET = regex(r"^\s*(?:[-*•]|\d{1,2}[.)])?\s*")
DEPTH_OF: dict[Complexity, SetDepth] = {"simple": "light", "moderate": "medium", "complex": "extended"}


class TriageRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of triage: the date, and how many questions it may ask the user (0 if nobody can
    answer).
    """

    date: str
    questions: int

    def sentences(self) -> str:
        question_limit = f"You may ask the user at most {pluralize(self.questions, 'question')}."
        return f"Today is {self.date}. {question_limit if self.questions else 'Nobody can be asked.'}"


async def classify_question(run: Run, case: Case, on_begin: Callable[[], None] | None = None) -> tuple[Triage, Case]:
    """Classify the question with one model call; if it fails, the question counts as moderate.

    A question that refers to the conversation continues as triage restates it. `on_begin` is called when the model has
    been asked.

    Raises:
        InputNeeded: the question is not clear, and the brief requires a person to clarify it.
    """
    async with run.phase("triage") as phase:
        triage = _apply_brief(run, await _ask_for_triage(phase, case, StreamHooks(on_begin=on_begin)))
        phase.emit(TriageClassified(triage=triage, mode=run_mode(run, triage), depth=triage.depth))
        return triage, await clarify(phase, _add_assumptions(_restate_question(case, triage), triage), triage)


def _add_assumptions(case: Case, triage: Triage) -> Case:
    """The case with triage's assumptions, for those who research and write, and for the reader."""
    assumptions = tuple(f"Assumed: {assumption}" for assumption in triage.assumptions)
    return msgspec.structs.replace(case, assumed=triage.assumptions, assumptions=(*case.assumptions, *assumptions))


def _restate_question(case: Case, triage: Triage) -> Case:
    if not triage.restated or triage.restated == case.question:
        return case
    assumption = _("The question was read as {question}.").format(question=quote_text(triage.restated))
    return msgspec.structs.replace(case, question=triage.restated, assumptions=(assumption,))


def run_mode(run: Run, triage: Triage) -> Mode:
    """The mode of the run: the brief's, or triage's choice."""
    if run.brief.mode != "auto":
        return run.brief.mode
    return "simple" if triage.answer is not None else "deep_research"


async def _ask_for_triage(phase: Run, case: Case, hooks: StreamHooks) -> Triage:
    if phase.brief.mode in QUICK_MODES and not phase.brief.conversation:
        return Triage(complexity="simple")
    request = Request(
        task="triage",
        system=phase.prompt("assay.phases", "triage"),
        messages=(
            user_message("documents", case.documents),
            *conversation_messages(phase, "simple"),
            rules_message(TriageRules(date=case.date, questions=phase.rules.questions if can_ask(phase.brief) else 0)),
            *case.question_messages(),
        ),
        tools=TRIAGE,
        max_tokens=output_cap(phase.profile("simple"), phase.rules.decision_tokens),
        effort="low",
    )
    try:
        return _read_reply(phase, await phase.ask("simple", request, hooks))
    except (LimitReached, ModelFailed) as failed:
        phase.warn(
            _("triage failed, the question is taken as a moderate one: {why}").format(
                why=stop_reason_phrase(failed.reason)
            )
        )
        return Triage(follow_up=_follow_up_kind(phase, ""))


def _read_reply(phase: Run, reply: Reply) -> Triage:
    calls = read_calls(reply, tool_names(TRIAGE))
    if plan := first_call(calls, GENERATE_PLAN.name):
        return _read_plan_call(phase, plan)
    if answer := first_call(calls, ANSWER.name):
        return Triage(complexity="simple", depth="light", answer=str(answer.arguments.get("text", "")))
    questions = read_questions(reply.text)[: phase.rules.questions]
    return Triage(ambiguous=bool(questions), questions=questions, follow_up=_follow_up_kind(phase, ""))


def _read_plan_call(phase: Run, call: ToolCall) -> Triage:
    try:
        arguments = read(GENERATE_PLAN, call.arguments, GeneratePlan)
    except ToolError as failed:
        phase.warn(
            _("triage called generate_plan wrongly, the question is taken as a moderate one: {why}").format(
                why=failed.reason
            )
        )
        return Triage(follow_up=_follow_up_kind(phase, ""))
    depth = arguments.depth or DEPTH_OF[arguments.complexity]
    misread = phase.brief.conversation or (phase.rarity is not None and phase.rarity.meant)
    restated = " ".join(arguments.restated.split())[:MAX_QUESTION_CHARS] if misread else ""
    follow_up = _follow_up_kind(phase, arguments.follow_up)
    return Triage(
        complexity=arguments.complexity,
        depth=depth,
        follow_up=follow_up,
        restated=restated,
        whole_collection=arguments.whole_collection,
        reasoning=one_line_text(arguments.reasoning)[:MAX_QUESTION_CHARS],
        assumptions=tuple(
            line[:MAX_QUESTION_CHARS]
            for assumption in arguments.assumptions[:MAX_ASSUMPTIONS]
            if (line := one_line_text(assumption))
        ),
    )


def _follow_up_kind(phase: Run, kind: Literal["", FollowUp]) -> FollowUp:
    """The kind of follow-up by triage; if it names none, it follows from whether the run continues another."""
    return kind or ("complex_follow_up" if phase.brief.parent else "new_topic")


def read_questions(text: str) -> tuple[str, ...]:
    """Find clarifying questions in a reply's text: lines that end with a question mark and are not too long."""
    lines = (BULLET.sub("", line).strip() for line in text.splitlines())
    return tuple(line for line in lines if line.endswith(("?", "？", "؟")) and len(line) <= MAX_QUESTION_CHARS)


def _apply_brief(run: Run, triage: Triage) -> Triage:
    """Overrule triage with what the brief fixes."""
    brief, quick = run.brief, run.brief.mode in QUICK_MODES
    depth: SetDepth = "light" if quick else triage.depth
    answers: dict[str, str | None] = {"auto": triage.answer, "simple": ""}
    return msgspec.structs.replace(
        triage,
        depth=depth if brief.depth == "auto" else brief.depth,
        ambiguous=triage.ambiguous and not quick,
        questions=() if quick else triage.questions,
        answer=None if brief.schema else answers.get(brief.mode),
    )
