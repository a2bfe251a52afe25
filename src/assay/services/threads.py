"""A run in a conversation: the messages before it, and the run it continues."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from assay.core import phrases
from assay.core.brief import Brief, ConversationMessage, GivenAnswer, Scope, latest_messages, match_answers
from assay.core.errors import NotNow, UnknownName, UsageError
from assay.core.markers import strip_markers
from assay.core.ports import Journal, Memory, RunRow
from assay.core.run_options import Answers
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.core.view import RunView, fold_events
from assay.core.ways import suggest_command
from assay.locale import LOCALES, catalogue, use_locale
from assay.run.budget import LANE_TAG, LaneRecord
from assay.services.stored_runs import find_run, require_ended

MAX_NAME_CHARS = 200
MAX_FOLLOW_UPS = 100
"""Follow-up questions on one run, before its documents are looked for."""
WEB = N_(" and the web")
"""Ends the label of a scope that includes the web."""
DEFAULT_NAME = N_("the default collection")


def brief_answers(answers: Answers) -> tuple[GivenAnswer, ...]:
    """Answers in the form of a brief."""
    if isinstance(answers, Mapping):
        return tuple(GivenAnswer(question=question, text=text) for question, text in answers.items())
    return tuple(GivenAnswer(text=text) for text in answers)


async def add_thread(journal: Journal, brief: Brief, *, web: bool | None = False) -> Brief:
    """The brief with the messages of its thread, and the full id of the run it continues.

    `brief.parent` may be the start of an id, or `last`. Without a thread of its own, a run is in that of its parent.
    `web` says whether this run uses the web; None takes it from the run it continues.

    Raises:
        UnknownName: there is no such run.
        UsageError: the run it continues has not ended, or the thread's name is not valid.
    """
    if len(brief.thread) > MAX_NAME_CHARS or not brief.thread.isprintable():
        raise UsageError(f"a thread's name is at most {MAX_NAME_CHARS} printable characters")
    parent = await _parent(journal, brief.parent) if brief.parent else None
    thread = brief.thread or (parent.thread or parent.run_id if parent else "")
    previous = await journal.latest(thread) or parent
    conversation = await _thread_messages(journal, previous) if previous else brief.conversation
    if parent is None:
        return msgspec.structs.replace(brief, thread=thread, conversation=latest_messages(conversation))
    if previous is not None and previous.thread != (parent.thread or parent.run_id) and previous != parent:
        conversation = (*conversation, *messages(await _view(journal, parent)))
    memory = await journal.load(parent.run_id)
    parent_brief = msgspec.json.decode(memory.brief, type=Brief)
    scope = await _documents(journal, parent_brief)
    return msgspec.structs.replace(
        brief,
        thread=thread,
        conversation=latest_messages(conversation),
        parent=parent.run_id,
        lane=highest_lane(memory, parent_brief) + 1,
        scope=_continued_scope(scope, brief.scope, web=scope.web if web is None else web),
    )


def web_suffix(*, web: bool) -> str:
    """The end of a scope's name if the web is in scope."""
    return _(WEB) if web else ""


def remove_web_suffix(label: str) -> str:
    """The name of a scope without that end, in any language."""
    ends = (catalogue(locale).gettext(WEB) for locale in LOCALES)
    return next((label.removesuffix(end) for end in ends if label.endswith(end)), label)


def translate_label(label: str) -> str:
    """The name of a scope, without its web, with its number of documents in the current language: a run may continue
    one in another.
    """
    name, _space, end = label.removesuffix(")").rpartition(" (") if label.endswith(")") else ("", "", label)
    count = _document_count(end)
    if count is None:
        return label
    ours = _(DEFAULT_NAME) if name in {catalogue(locale).gettext(DEFAULT_NAME) for locale in LOCALES} else name
    return f"{ours} ({phrases.documents(count)})" if ours else phrases.documents(count)


def _document_count(text: str) -> int | None:
    """The number of documents that a text in any language is; None if it is none."""
    figures = "".join(filter(str.isdecimal, text))
    possible = (int(figures),) if figures else (1, 2, 0)  # Arabic has words for them
    for locale in LOCALES:
        with use_locale(locale):
            if matches := [count for count in possible if phrases.documents(count) == text]:
                return matches[0]
    return None


async def _documents(journal: Journal, brief: Brief) -> Scope:
    """The scope of a run; for one that only asked what another had read, that of the other, if it is known."""
    for _step in range(MAX_FOLLOW_UPS):
        if brief.scope.collections or not brief.parent:
            break
        try:
            memory = await journal.load(brief.parent)
        except UnknownName:
            break
        brief = msgspec.json.decode(memory.brief, type=Brief)
    return brief.scope


async def previous_scope(journal: Journal, brief: Brief, *, web: bool | None) -> Scope | None:
    """The documents of the last run in the thread of a run for which nobody named any; None if it is the first.

    `web` is as for `add_thread`.
    """
    previous = await journal.latest(brief.thread) if brief.thread else None
    if previous is None:
        return None
    memory = await journal.load(previous.run_id)
    scope = await _documents(journal, msgspec.json.decode(memory.brief, type=Brief))
    return _continued_scope(scope, brief.scope, web=scope.web if web is None else web) if scope.collections else None


def _continued_scope(scope: Scope, new_scope: Scope, *, web: bool) -> Scope:
    """The documents of an earlier scope, with the web as the new run says."""
    label = translate_label(remove_web_suffix(scope.label)) + web_suffix(web=web)
    return msgspec.structs.replace(scope, label=label, web=web, rules=new_scope.rules)


async def _parent(journal: Journal, reference: str) -> RunRow:
    row = await find_run(journal, reference, "evidence")
    await require_ended(journal, row, "nothing can continue from it")
    return row


async def _thread_messages(journal: Journal, row: RunRow) -> tuple[ConversationMessage, ...]:
    """The messages of a thread up to a run's end."""
    view = await _view(journal, row)
    return (*(view.brief.conversation if view.brief else ()), *messages(view))


async def _view(journal: Journal, row: RunRow) -> RunView:
    """The run, with answers that it has not taken up yet."""
    view = fold_events(await journal.events(row.run_id))
    if not view.clarification.questions or view.clarification.answers:
        return view
    pending = await journal.inbox(row.run_id, "answers")
    answers = msgspec.json.decode(pending[0], type=tuple[str, ...]) if pending else ()
    clarification = msgspec.structs.replace(view.clarification, answers=answers)
    return msgspec.structs.replace(view, clarification=clarification)


def messages(view: RunView) -> tuple[ConversationMessage, ...]:
    """The user's messages in a run, and the replies; reports without markers.

    Questions are those that were put to the user: all of them if the run could wait for answers, else those answered
    beforehand.
    """
    questions, answers = view.clarification.questions, view.clarification.answers
    pairs = [(question, answer) for question, answer in zip(questions, answers, strict=False) if answer.strip()]
    answers_text = "\n".join(f"{question} — {answer}" for question, answer in pairs)
    may_ask = view.brief is not None and view.brief.may_ask
    asked_questions = questions if may_ask else tuple(question for question, _ in pairs)
    messages = [ConversationMessage(by="user", text=view.question)]
    if asked_questions:
        messages.append(ConversationMessage(by="assistant", text="\n".join(asked_questions), questions=True))
    if answers_text:
        messages.append(ConversationMessage(by="user", text=answers_text))
    if view.report.text.strip():
        messages.append(ConversationMessage(by="assistant", text=strip_markers(view.report.text).strip()))
    return tuple(messages)


def highest_lane(memory: Memory, brief: Brief) -> int:
    """The highest lane number in a stored run."""
    lane_records = [
        msgspec.json.decode(step.data, type=LaneRecord) for step in memory.steps.values() if step.tag == LANE_TAG
    ]
    return max(brief.lane, *(row.lane for row in memory.ledger), *(lane.number for lane in lane_records), 0)


def evidence_scope(brief: Brief) -> Scope:
    """The scope of a run that only asks what another has read: no collection at all."""
    return Scope(collections=(), label=_("the evidence of run {id}").format(id=brief.parent))


async def is_answered(journal: Journal, run_id: str, topic: str) -> bool:
    """True if a run has been left what it waits for on `topic`."""
    return bool(await journal.inbox(run_id, topic))


async def answer(journal: Journal, row: RunRow, view: RunView, answers: Answers) -> None:
    """Leave answers for a run that waits for them.

    Raises:
        UsageError: it does not wait for answers, has them already, or these do not fit its questions.
    """
    if row.status == "waiting" and view.waiting_for == "plan":
        raise NotNow(
            f"run {row.run_id} waits for its plan to be approved, not for answers: "
            f"{suggest_command('approve', row.run_id)}"
        )
    if row.status != "waiting" or view.waiting_for != "answers":
        raise NotNow(f"run {row.run_id} does not wait for answers: it is {row.status}")
    if await is_answered(journal, row.run_id, "answers"):
        raise NotNow(
            f"run {row.run_id} already has its answers; to continue it: {suggest_command('resume', row.run_id)}"
        )
    questions = view.clarification.questions
    answer_list = brief_answers(answers)
    matches = match_answers(questions, answer_list)
    if len(answer_list) > len(questions) or sum(match is not None for match in matches) < len(answer_list):
        questions_text = "; ".join(questions)
        raise UsageError(
            f"{len(answer_list)} answers do not fit the {len(questions)} questions of run {row.run_id}: "
            f"{questions_text}"
        )
    await journal.post(row.run_id, "answers", msgspec.json.encode([match or "" for match in matches]))
