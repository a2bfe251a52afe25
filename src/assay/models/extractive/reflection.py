"""Reflection by fixed rules: how far research covers the question, the next step, a new plan, an analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from assay.core.assurance import states_absence
from assay.core.markers import parse_markers, strip_markers
from assay.core.messages import Request
from assay.core.phrases import nothing_found_text
from assay.core.plan import CoverageStatus, Plan, PlanStep
from assay.core.relevance import read_question
from assay.core.relevance.topic_question import TopicQuestion, keys, near_keys
from assay.core.tables.answers import is_computed
from assay.core.text import words
from assay.core.translation import gettext as _
from assay.models.extractive import actions
from assay.models.extractive.actions import (
    SEARCH_FOR,
    plan_form,
    queries,
    shorten_title,
    sources_in_evidence,
    spelling_variants,
    split_evenly,
    task_and_question,
)
from assay.models.extractive.answers import select_answers
from assay.models.extractive.reports import format_findings
from assay.models.extractive.requests import last_message, question_of
from assay.models.questions import links
from assay.models.questions.question import question_parts
from assay.models.questions.words import topic_keys

MAX_OTHER_TERMS = 2
"""The most other terms to try for a step that found nothing."""


# judging parts


class QuestionPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part to judge; `step` is its plan step, 0 for a part of the question."""

    part: int
    text: str
    step: int = 0


class FindingMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One of the `findings`, with the fields that are read here."""

    step: int = 0
    task: str = ""
    searched: tuple[str, ...] = ()
    cites: int = 0
    text: str = ""


class AssessedPart(msgspec.Struct, frozen=True, kw_only=True):
    """A judged part."""

    part: int
    status: CoverageStatus
    reason: str = ""


class Assessment(msgspec.Struct, frozen=True):
    """The reply."""

    parts: tuple[AssessedPart, ...]


def assess(request: Request) -> str:
    """The judgement of each part of the request, as JSON."""
    return msgspec.json.encode(Assessment(assess_parts(request))).decode()


def assess_parts(request: Request) -> tuple[AssessedPart, ...]:
    """Judge each part by the lines that cite something: those of its step's findings, or of all if it has no step.

    A part is answered if such a line has a word of its topic, in whatever form, or is computed, or if the lines of all
    findings together have every word of it. It is not answered without such a line, else partly: the reason names the
    words that no finding has. Lines that say that something was not found do not count.
    """
    parts = last_message(request, "parts", tuple[QuestionPart, ...]) or ()
    findings = last_message(request, "findings", tuple[FindingMessage, ...]) or ()
    statements = [(finding.step, line) for finding in findings for line in _statements(finding)]
    return tuple(_assess_part(part, statements) for part in parts)


def _statements(finding: FindingMessage) -> Iterator[str]:
    lines = (strip_markers(line) for line in finding.text.splitlines() if parse_markers(line))
    return (line for line in lines if not states_absence(line))


def _assess_part(part: QuestionPart, statements: Sequence[tuple[int, str]]) -> AssessedPart:
    own_lines = [line for step, line in statements if step == part.step or not part.step]
    if not own_lines:
        return AssessedPart(part=part.part, status="not")
    topic = read_question(part.text, document_text="\n".join(own_lines))
    missing_keys = frozenset(topic.keys) - _mentioned_keys(topic, [line for _, line in statements])
    if not missing_keys or _mentioned_keys(topic, own_lines) or any(map(is_computed, own_lines)):
        return AssessedPart(part=part.part, status="answered")
    topic_words = (word for word in words(part.text) if not missing_keys.isdisjoint(keys(word, topic.analysis)))
    return AssessedPart(
        part=part.part,
        status="partly",
        reason=_("the passages found do not mention {words}").format(
            words=", ".join(f"“{word}”" for word in dict.fromkeys(topic_words))
        ),
    )


def _mentioned_keys(topic: TopicQuestion, lines: Sequence[str]) -> frozenset[str]:
    """The topic's keys that the lines have, in this form or a near one."""
    line_keys = frozenset(key for line in lines for key in keys(line, topic.analysis))
    return (line_keys & frozenset(topic.keys)) | near_keys(topic.keys, line_keys).keys()


# deciding


class ReflectionRules(msgspec.Struct, frozen=True):
    """The fields of a reflection's `rules` message that are read here."""

    step: int = 0
    steps_done: int = 0
    steps_left: int = 0
    min_steps: int = 1
    max_steps: int = 1
    plan: int = 1
    plans: int = 1


class ReflectedStep(msgspec.Struct, frozen=True):
    """A decision, as written and as a later request shows it."""

    decision: str
    reasoning: str = ""
    changes: tuple[str, ...] = ()
    step: int = 0
    coverage: tuple[AssessedPart, ...] = ()


def reflect(request: Request) -> str:
    """A decision, with how far the findings answer the parts of the question."""
    decision = msgspec.structs.replace(_decide(request), coverage=assess_parts(request))
    return msgspec.json.encode(decision).decode()


def _decide(request: Request) -> ReflectedStep:
    """Decide: complete if each part of the question has a finding that cites something; else continue.

    A step that found nothing is tried again if there are terms it did not search for.
    """
    rules = last_message(request, "rules", ReflectionRules) or ReflectionRules()
    findings = last_message(request, "findings", tuple[FindingMessage, ...]) or ()
    text = question_of(request)
    enough = rules.steps_done >= rules.min_steps or not rules.steps_left
    if enough and all(_is_covered(part, findings) for part in question_parts(text)):
        return ReflectedStep("complete", "Each part of the question has findings that cite passages.")
    if hop_questions := _hop_questions(rules, findings, text):
        return ReflectedStep("adjust", f"Step {rules.step} names the documents which say it.", hop_questions)
    other_terms = _other_terms(request, rules, findings, text)
    if other_terms and rules.plan < rules.plans and rules.steps_done < rules.max_steps:
        why = f"Step {rules.step} found nothing; there are terms it was not searched with."
        return ReflectedStep("adjust", why, other_terms)
    return ReflectedStep("continue", "Parts of the question have no finding yet.")


def _hop_questions(rules: ReflectionRules, findings: Sequence[FindingMessage], text: str) -> tuple[str, ...]:
    """What to ask about the documents that the first step names, if the question leads to others."""
    hop = links.read_hop(text)
    if hop is None or rules.plan > 1:
        return ()
    targets = links.find_targets(hop, (finding.text for finding in findings))
    return tuple(hop.second_question(group) for group in split_evenly(targets, rules.max_steps - rules.steps_done))


def _is_covered(part: str, findings: Sequence[FindingMessage]) -> bool:
    """True if a step that covers the whole part found something citable, other than that nothing is stated."""
    part_keys = set(topic_keys(part))
    cited_findings = [
        finding
        for finding in findings
        if finding.cites and any(_states_something(line) for line in finding.text.splitlines())
    ]
    return any(part_keys <= set(topic_keys(finding.task.split("\n", 1)[0])) for finding in cited_findings)


def _states_something(line: str) -> bool:
    return bool(line.strip()) and not states_absence(strip_markers(line))


def _other_terms(
    request: Request, rules: ReflectionRules, findings: Sequence[FindingMessage], text: str
) -> tuple[str, ...]:
    """Terms that the last step did not search for, if it found nothing and was not itself a second try."""
    plan = last_message(request, "plan", Plan)
    steps = {step.id: step for step in plan.steps} if plan else {}
    step = steps.get(rules.step)
    step_findings = [finding for finding in findings if finding.step == rules.step]
    if (
        step is None
        or step.again
        or not step.needs_search
        or not step_findings
        or any(finding.cites for finding in step_findings)
    ):
        return ()
    searched_queries = {_normalize(query) for finding in findings for query in finding.searched}
    candidates = (*queries(step.title, text), *spelling_variants(step.title, text))
    return tuple(dict.fromkeys(query for query in candidates if _normalize(query) not in searched_queries))[
        :MAX_OTHER_TERMS
    ]


def _normalize(query: str) -> str:
    return " ".join(query.casefold().split())


def plan(request: Request) -> str:
    """A first plan, or a new one if a reflection asks for it."""
    return replan(request) if request.user_texts("reflections") else actions.plan(request)


def replan(request: Request) -> str:
    """The open steps, after one that tries the last step again with the terms from its reflection."""
    plan = last_message(request, "plan", Plan) or Plan(title=shorten_title(question_of(request)))
    reflections = last_message(request, "reflections", tuple[ReflectedStep, ...]) or ()
    last_reflection = reflections[-1] if reflections else ReflectedStep("continue")
    if links.read_hop(question_of(request)) and all(change.endswith("?") for change in last_reflection.changes):
        # a step for each question about the named documents, instead of the question itself
        return plan_form(
            plan.title,
            last_reflection.reasoning,
            [PlanStep(id=0, title=shorten_title(change_text)) for change_text in last_reflection.changes],
        )
    search_line = f"{SEARCH_FOR}{'; '.join(last_reflection.changes)}"
    retried_steps = [
        PlanStep(id=0, title=step.title, description=search_line, again=step.id)
        for step in plan.steps
        if step.id == last_reflection.step and last_reflection.changes
    ]
    pending = [step for step in plan.steps if step.status == "pending" and step.id != last_reflection.step]
    return plan_form(plan.title, last_reflection.reasoning, [*retried_steps, *pending])


def analyze(request: Request) -> str:
    """The evidence for the task, quoted; it neither compares nor judges."""
    task, main_question = task_and_question(request)
    return format_findings(select_answers(task, sources_in_evidence(request), main_question)) or nothing_found_text()
