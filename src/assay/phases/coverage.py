"""Coverage: which parts of the plan and the question are answered, and one more dispatch for the open ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import get_args

import msgspec

from assay.agents.findings import Finding
from assay.agents.history import ask_with_halving, output_cap
from assay.agents.replies import one_line_text, read_json
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import CoverageAssessed, PlanChanged
from assay.core.messages import Message, Profile, Request, Schema, object_schema
from assay.core.phrases import stop_reason_phrase
from assay.core.plan import Coverage, CoverageStatus, Plan, PlanStep
from assay.core.text import estimate_tokens, sentences, words
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.phases.case import (
    STEP_STATUS,
    WORKED_ON,
    Case,
    PartAssessment,
    Research,
    finding_status,
    mark_steps,
    to_json,
    user_message,
)
from assay.phases.dispatch import AgentPool, Dispatch, check_work_allowed, collect
from assay.phases.material import fit_findings
from assay.run.execution import STOPPED
from assay.run.run import Run
from assay.run.voice import StreamHooks

# The findings so far, as the reflector, the planner and the agents of later steps see them.

FINDINGS_WINDOW_DIVISOR = 4
"""Findings beside other content take at most 1/`FINDINGS_WINDOW_DIVISOR` of the window."""


def findings_message(ledger: Ledger, findings: Sequence[Finding], tokens: int) -> tuple[Message, ...]:
    """The findings as one message, shortened to `tokens`."""

    def messages(selection: Sequence[Finding]) -> list[Message]:
        return [user_message("findings", to_json([_step_finding(ledger, finding) for finding in selection]))]

    return tuple(fit_findings(findings, tokens, messages))


def _step_finding(ledger: Ledger, finding: Finding) -> dict[str, object]:
    """One finding in the message: `searched` are its queries, `cites` counts the passages it cites."""
    return {
        "step": finding.step,
        "task": finding.task,
        "searched": ledger.seeing([finding.lane]).queries(),
        "cites": 0 if finding.uncited else len(finding.passages),
        "text": finding.text,
    }


def earlier_findings_text(findings: Sequence[Finding], profile: Profile) -> str:
    """Findings of earlier steps for an agent's brief: the newest that fit into an eighth of the window."""
    spare, texts = profile.window // 8, list[str]()
    for finding in reversed([finding for finding in findings if finding.passages]):
        text = f"{finding.task.splitlines()[0]}:\n{finding.text}"
        spare -= estimate_tokens(text)
        if spare < 0:
            break
        texts.append(text)
    return "\n\n".join(reversed(texts))


# A model judges how far findings answer the parts of a question: in one call, or with a reflection.

ASSESS_SLOT = "assess"
"""The slot of the call that judges what is answered."""
MAX_REASON_CHARS = 200
"""Characters of a reason."""
STATUS_WORDS: dict[str, CoverageStatus] = {
    "answered": "answered",
    "partly": "partly",
    "partially": "partly",
    "partly answered": "partly",
    "not": "not",
    "not answered": "not",
    "unanswered": "not",
}

PARTS_SCHEMA = {
    "type": "array",
    "items": object_schema(
        {
            "part": {"type": "integer"},
            "status": {"type": "string", "enum": list(get_args(CoverageStatus))},
            "reason": {"type": "string"},
        }
    ),
}
COVERAGE_SCHEMA = Schema(name="coverage", schema=object_schema({"parts": PARTS_SCHEMA}))


def parts_json(coverage: Sequence[Coverage]) -> str:
    """The `parts` message: the parts to judge, numbered from 1. The question's own status follows from its
    parts.

    `step` is the number of a plan step, 0 for a part of the question.
    """
    return to_json(
        [{"part": number, "step": part.step, "text": part.part} for number, part in enumerate(coverage[1:], 1)]
    )


async def judge_parts(
    run: Run, agent_pool: AgentPool, research: Research, coverage: Sequence[Coverage]
) -> tuple[PartAssessment, ...]:
    """Have a model judge the parts of `coverage`. Returns nothing, with a warning, if it fails or cannot be read."""
    case, tokens = agent_pool.case, run.profile("simple").window // FINDINGS_WINDOW_DIVISOR
    try:
        hooks = StreamHooks(slot=ASSESS_SLOT, on_begin=partial(agent_pool.foresight.begin_report, research))
        build = partial(assess_request, run, case, research, coverage)
        reply = await ask_with_halving(lambda size: run.ask("simple", build(size), hooks), tokens)
    except (LimitReached, ModelFailed) as failed:
        run.with_gate("write").warn(f"what is answered was judged by code: {stop_reason_phrase(failed.reason)}")
        return ()
    assessments = read_assessments(read_json(reply.text), coverage)
    if not assessments:
        run.warn("what is answered was judged by code: the model's reply could not be read")
    return assessments


def assess_request(run: Run, case: Case, research: Research, coverage: Sequence[Coverage], tokens: int) -> Request:
    """The request to judge the parts of `coverage` by the findings, which get `tokens` of the window."""
    return Request(
        task="assess",
        system=run.prompt("assay.phases", "coverage"),
        messages=(
            *case.question_messages(),
            *findings_message(case.ledger, research.findings, tokens),
            user_message("parts", parts_json(coverage)),
        ),
        tool_choice="none",
        max_tokens=output_cap(run.profile("simple"), run.rules.decision_tokens),
        effort="low",
        schema=COVERAGE_SCHEMA,
    )


def read_assessments(value: object, coverage: Sequence[Coverage]) -> tuple[PartAssessment, ...]:
    """Read judgements from a reply's JSON. Unknown parts and statuses are left out; the first judgement of a part
    counts.
    """
    entries = value.get("parts", value.get("coverage")) if isinstance(value, dict) else value
    assessments: dict[int, PartAssessment] = {}
    for entry in entries if isinstance(entries, list) else []:
        number, assessment = _read_assessment(entry, coverage)
        if assessment is not None:
            assessments.setdefault(number, assessment)
    return tuple(assessments.values())


def _read_assessment(value: object, coverage: Sequence[Coverage]) -> tuple[int, PartAssessment | None]:
    if not isinstance(value, dict):
        return 0, None
    number, rating, why = value.get("part"), value.get("status"), value.get("reason")
    if isinstance(number, str) and number.strip().isdecimal():
        number = int(number.strip()[:9])
    status = STATUS_WORDS.get(" ".join(rating.casefold().split())) if isinstance(rating, str) else None
    if type(number) is not int or not 0 < number < len(coverage) or status is None:
        return 0, None
    reason = one_line_text(why)[:MAX_REASON_CHARS]
    part = coverage[number]
    return number, PartAssessment(step=part.step, part=part.part, status=status, reason=reason)


MAX_QUESTION_CHARS = 4_000
"""Code points. A question may be a page long; its parts are at its beginning or are steps of the plan."""
MAX_PARTS = 6
_ASKING = frozenset(
    "what which when where whom whose does have been were will would could should that this with".split()
)


async def complete_coverage(
    run: Run, agent_pool: AgentPool, research: Research
) -> tuple[Research, tuple[Coverage, ...]]:
    """Assess the coverage, send agents once more for open steps if cycles and limits allow, and assess again.

    A step counts as open here if no agent has reported on it: the orchestrator forgot it, or its agent failed or was
    stopped. The orchestrator itself had the chance to retry a step whose search found nothing.
    """
    branch = run.child("coverage")
    open_steps = unreported_steps(research)
    if open_steps and research.cycles < agent_pool.rules.cycles:
        try:
            research = await _dispatch(branch, agent_pool, research, open_steps)
        except LimitReached as limit:
            branch.warn(_("open steps were left: {why}").format(why=stop_reason_phrase(limit.reason)))
    research, coverage = await _assessed_coverage(branch, agent_pool, research)
    branch.emit(CoverageAssessed(coverage=coverage, when="before"))
    plan = closed_plan(research.plan, coverage)
    if plan != research.plan:
        branch.emit(PlanChanged(plan=plan))
    return msgspec.structs.replace(research, plan=plan), coverage


async def _dispatch(run: Run, agent_pool: AgentPool, research: Research, steps: Sequence[PlanStep]) -> Research:
    await check_work_allowed(run)
    cycle = research.cycles + 1
    dispatch = Dispatch(run, agent_pool, research, cycle)
    agents = [dispatch.send(index, agent_pool.task(research, step)) for index, step in enumerate(steps)]
    research = msgspec.structs.replace(research.with_running(step.id for step in steps), cycles=cycle)
    run.emit(PlanChanged(plan=research.plan))
    for agent in agents:
        research, _ = await collect(agent, research)
        run.emit(PlanChanged(plan=research.plan))
    return research


async def _assessed_coverage(
    run: Run, agent_pool: AgentPool, research: Research
) -> tuple[Research, tuple[Coverage, ...]]:
    """Assess what is answered, as judged by the reflector or another model if the brief asks for one; else by code.

    No model is called if no finding cites anything.
    """
    coverage = assess_coverage(agent_pool.case.question, research)
    judged: tuple[PartAssessment, ...] = ()
    if run.brief.assess and research.cited_findings():
        judged = research.judged if research.is_judged else await judge_parts(run, agent_pool, research, coverage)
    research = msgspec.structs.replace(research, judged=judged, judged_of=len(research.findings))
    return research, apply_assessments(research, coverage, judged)


def apply_assessments(
    research: Research, coverage: Sequence[Coverage], assessments: Sequence[PartAssessment]
) -> tuple[Coverage, ...]:
    """Coverage with a model's judgements; the question is answered if all its parts are.

    A finding without citations cannot answer. A step whose agents were all cut short is at most partly answered.
    """
    if not assessments:
        return tuple(coverage)
    by_part = {(assessment.step, assessment.part): assessment for assessment in assessments}
    question_coverage = coverage[0]
    parts = [
        _apply_assessment(part, by_part.get((part.step, part.part)), question_coverage, research)
        for part in coverage[1:]
    ]
    statuses = {part.status for part in parts}
    status: CoverageStatus = "partly"
    if len(statuses) == 1:
        (status,) = statuses
    return (msgspec.structs.replace(question_coverage, status=status), *parts)


def _apply_assessment(
    part: Coverage, assessment: PartAssessment | None, question_coverage: Coverage, research: Research
) -> Coverage:
    if assessment is None:
        return part
    stops = [finding.stop for finding in research.findings if finding.step == part.step and finding.passages]
    cut_short = bool(part.step and stops) and "done" not in stops
    status = "partly" if cut_short and assessment.status == "answered" else assessment.status
    passages = () if status == "not" else part.passages or question_coverage.passages
    reason = "" if status == "answered" else assessment.reason
    return msgspec.structs.replace(part, status=status, passages=passages, reason=reason)


def unreported_steps(research: Research) -> list[PlanStep]:
    """Steps to search for on which no agent has finished or found anything to cite.

    A step that was skipped, or whose agent was stopped on request, is left out: that was intended.
    """
    end_states = ("done", STOPPED)
    reported_steps = {finding.step for finding in research.findings if finding.stop in end_states or finding.passages}
    search_steps = (step for step in research.plan.steps if step.needs_search and step.status != "skipped")
    return [step for step in search_steps if step.id not in reported_steps]


def assess_coverage(question: str, research: Research) -> tuple[Coverage, ...]:
    """Assess what is answered, as far as code can tell: a step as far as the findings of its agents say
    (`finding_status`).

    A step of analysis needs no search; it has the status of the steps it analyses. A step that retries another counts
    for that one. A step skipped by decision does not count. The question comes first, then the steps, then the parts of
    a question with several; each part has the status of the step that shares most words with it.
    """
    steps = _assessed_steps(research.plan)
    coverage_by_step = {step.id: _step_coverage(step, research) for step in steps if step.needs_search}
    question_coverage = _question_coverage(question, list(coverage_by_step.values()), research.findings)
    step_coverages = (
        coverage_by_step.get(step.id) or Coverage(step=step.id, part=step.title, status=question_coverage.status)
        for step in steps
    )
    coverage = (question_coverage, *step_coverages)
    return (*coverage, *(_part_coverage(part, steps, coverage) for part in question_parts(question)))


def question_parts(question: str) -> tuple[str, ...]:
    """The questions in a question with several parts ("How far? And which winds?"); empty if it has only one."""
    texts = [" ".join(question[start:end].split()) for start, end in sentences(question[:MAX_QUESTION_CHARS])]
    questions = [part for part in texts if part.endswith("?") and len(topic_words(part)) > 1]
    return tuple(questions[:MAX_PARTS]) if len(questions) > 1 else ()


def _part_coverage(part: str, steps: Sequence[PlanStep], coverage: Sequence[Coverage]) -> Coverage:
    """A part of the question with the status of the step that serves it, or at most that of the question."""
    part_words = set(topic_words(part))
    overlaps = {step.id: len(part_words & set(words(f"{step.title} {step.description}"))) for step in steps}
    best = max(overlaps, key=lambda step: (overlaps[step], -step), default=0)
    question_coverage, step_coverage = (
        coverage[0],
        next((entry for entry in coverage if entry.step == best and best), None),
    )
    if step_coverage is None or not overlaps[best]:
        return Coverage(step=0, part=part, status="not" if question_coverage.status == "not" else "partly")
    return Coverage(step=0, part=part, status=step_coverage.status, passages=step_coverage.passages)


def topic_words(text: str) -> list[str]:
    """The words of a question that say what it asks about."""
    return [word for word in words(text) if len(word) > 3 and word not in _ASKING]


def _assessed_steps(plan: Plan) -> list[PlanStep]:
    ids = {step.id for step in plan.steps if step.status != "skipped"}
    return [step for step in plan.steps if step.id in ids and step.again not in ids]


def _step_coverage(step: PlanStep, research: Research) -> Coverage:
    ids = {step.id, *(retry.id for retry in research.plan.steps if retry.again == step.id)}
    rated_findings = [(finding, finding_status(finding)) for finding in research.findings if finding.step in ids]
    useful_findings = [finding for finding, status in rated_findings if status != "not"]
    passages = tuple(dict.fromkeys(passage.id for finding in useful_findings for passage in finding.passages))
    complete = any(status == "answered" for _, status in rated_findings)
    status: CoverageStatus = "answered" if complete else "partly" if useful_findings else "not"
    return Coverage(step=step.id, part=step.title, status=status, passages=passages)


def _question_coverage(question: str, steps: Sequence[Coverage], findings: Sequence[Finding]) -> Coverage:
    useful_findings = [finding for finding in findings if finding_status(finding) != "not"]
    passages = tuple(dict.fromkeys(passage.id for finding in useful_findings for passage in finding.passages))
    if not passages:
        return Coverage(step=0, part=question, status="not")
    complete = bool(steps) and all(step.status == "answered" for step in steps)
    return Coverage(step=0, part=question, status="answered" if complete else "partly", passages=passages)


def closed_plan(plan: Plan, coverage: Sequence[Coverage]) -> Plan:
    """The plan at the end: each step by its coverage. A step is skipped if nobody worked on it and nothing answers
    it.
    """
    status_by_step = {part.step: part.status for part in coverage}
    for step in plan.steps:
        coverage_status = status_by_step.get(step.id, "not")
        if step.status in ("pending", "running"):
            plan = mark_steps(plan, [step.id], "skipped" if coverage_status == "not" else STEP_STATUS[coverage_status])
        elif step.status in WORKED_ON and step.id in status_by_step:
            plan = mark_steps(plan, [step.id], STEP_STATUS[coverage_status])
    return plan
