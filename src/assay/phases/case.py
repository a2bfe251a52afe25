"""The case at hand: the question, what a run knows and may do about it, and the results of research."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from assay.agents.findings import AgentTask, Finding, FinishedWork
from assay.core.assurance import states_absence
from assay.core.blocks import template_text
from assay.core.brief import Brief, Role, fit_messages
from assay.core.clean import one_line
from assay.core.errors import LimitReached
from assay.core.events import ScopeCounted
from assay.core.markers import strip_markers
from assay.core.messages import Message
from assay.core.phrases import stop_reason_phrase
from assay.core.plan import Coverage, CoverageStatus, Plan, PlanStep, StepStatus, Triage
from assay.core.sources import CollectionSummary
from assay.core.text import sentences, words
from assay.core.translation import gettext as _
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.phases.fields.schema import listed_fields
from assay.phases.fields.schema import read_schema as read_schema
from assay.phases.inheritance import InheritedEvidence, inherit_evidence, open_ledger
from assay.run.protocols import Tool
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.tools.arguments import count_words
from assay.verify.checks import AddedCheck
from assay.verify.proofreader import Proofreader

NAME_LENGTH = 80
STEERING_NOTE = (
    "What stands in `steering` the user said while the research was going on. Heed it from here on, as far as your "
    "rules allow: how claims are cited, and what is safe, it cannot change."
)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the phases of a run share: its question, what is known about it, and the means to work on it.

    `documents` describes the scope in prose, `count` is the number of its documents, `held` summarizes them.
    `finding_status` are a person's answers to clarifying questions; `assumptions` are shown to the reader; `assumed`
    are triage's, for everybody who researches or writes. `fields` are the fields of a schema to fill, one per line;
    `template` has the headings of the report, as Markdown. `take_steering` has the owner's instructions during the run.

    `ledger` holds the sources and passages found so far; `tools` are those the brief allows, by name. `reader` reads
    stored documents; `added_checks` are those of other packages. `inherited` is the evidence of the run that this one
    continues; `lane` is the pipeline's own.
    """

    question: str
    date: str
    count: int
    documents: str
    held: CollectionSummary | None = None
    scope: str
    language: str = ""
    instructions: str = ""
    answers: str = ""
    assumptions: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    fields: str = ""
    template: str = ""
    steering: tuple[str, ...] = ()
    ledger: Ledger
    tools: Mapping[str, Tool]
    reader: DocumentReader
    added_checks: tuple[AddedCheck, ...] = ()
    inherited: InheritedEvidence = InheritedEvidence()
    lane: int = 0

    @property
    def lanes(self) -> tuple[int, ...]:
        """The lanes every agent may see: the pipeline's own, and those of the run that this one continues."""
        return (self.lane, *self.inherited.lanes)

    def question_messages(self) -> list[Message]:
        """The messages that say what is wanted: the question, a person's answers, their instructions."""
        parts = (
            ("question", self.question),
            ("fields", self.fields),
            ("answers", self.answers),
            ("assumptions", "\n".join(self.assumed)),
            ("template", self.template),
            ("instructions", self.instructions),
        )
        return [*(user_message(name, text) for name, text in parts if text), *steering_messages(self.steering)]

    def full_question(self) -> str:
        """The question with answers and assumptions, for an agent."""
        assumption_lines = "\n".join(f"Assumed: {assumption}" for assumption in self.assumed)
        return "\n\n".join(part for part in (self.question, self.fields, self.answers, assumption_lines) if part)


def user_message(name: str, text: str) -> Message:
    """A user message that contains `name`."""
    return Message(role="user", name=name, text=text)


def steering_messages(instructions: Sequence[str]) -> list[Message]:
    """The owner's instructions during the run as messages, with the rules that take precedence."""
    return [
        *(user_message("steering", text) for text in instructions),
        *([user_message("note", STEERING_NOTE)] if instructions else []),
    ]


async def add_instructions(run: Run, case: Case, earlier: tuple[str, ...]) -> Case:
    """The case for the writer: with the owner's instructions up to now, including `earlier` ones during research."""
    return msgspec.structs.replace(case, steering=(*earlier, *await run.child("write").take_steering()))


def to_json(value: object) -> str:
    """Plain data as JSON text."""
    return msgspec.json.encode(value).decode()


def conversation_messages(run: Run, role: Role) -> list[Message]:
    """The message with the thread so far, shortened to an eighth of the role's window."""
    conversation = fit_messages(run.brief.conversation, run.profile(role).window // 8)
    return [user_message("conversation", to_json(conversation))] if conversation else []


async def open_case(
    run: Run, tools: Mapping[str, Tool], reader: DocumentReader, checks: tuple[AddedCheck, ...] = ()
) -> Case:
    """Open the case: take over inherited evidence and look at what is in scope.

    Raises:
        UsageError: the run that it continues was deleted before it could be read.
    """
    brief, inherited = run.brief, await inherit_evidence(run)
    summary = await summarize_scope(run)
    await count_words(run)
    return Case(
        question=brief.question,
        date=brief.date,
        count=summary.documents,
        documents=describe_scope(summary, brief),
        held=summary,
        scope=brief.scope.label,
        language=brief.language,
        instructions=brief.instructions,
        template=template_text(brief.template),
        fields=listed_fields(read_schema(brief.schema)) if brief.schema else "",
        # a single agent searches again
        ledger=open_ledger(run, inherited, None if brief.mode == "agent" else summary),
        tools=tools,
        reader=reader,
        added_checks=checks,
        inherited=inherited,
        lane=run.lane,
    )


async def summarize_scope(run: Run) -> CollectionSummary:
    """Summarize the documents in scope; empty if even that takes too long."""

    async def read_summary(step_context: StepContext) -> CollectionSummary:
        summary = await asyncio.to_thread(run.world.library.summary, run.brief.scope.collections)
        step_context.emit(ScopeCounted(documents=summary.documents))
        return summary

    try:
        return await run.with_gate("write").step("scope", read_summary, returns=CollectionSummary)
    except LimitReached as limit:
        run.warn(_("the documents were not looked at: {why}").format(why=stop_reason_phrase(limit.reason)))
        return CollectionSummary(documents=0)


def has_searchable_sources(run: Run, case: Case) -> bool:
    """True if there is anything to search: documents in scope, or the web."""
    return bool(case.count) or run.brief.scope.web


def can_search(run: Run, case: Case) -> bool:
    """True if there is anything to search, and the tool for it."""
    return "search" in case.tools and has_searchable_sources(run, case)


def uses_inherited_evidence(brief: Brief, triage: Triage) -> bool:
    """True if a run uses the evidence it took over: not if it asks about something else and can search."""
    return triage.follow_up != "new_topic" or "search" not in brief.tools


def drop_inherited_evidence(run: Run, case: Case) -> Case:
    """The case without inherited evidence: the run asks about something other than the one it continues."""
    return msgspec.structs.replace(
        case, inherited=InheritedEvidence(), ledger=open_ledger(run, InheritedEvidence(), None)
    )


def describe_scope(summary: CollectionSummary, brief: Brief) -> str:
    """The documents in scope in a few sentences: count, kinds, languages, dates, names."""
    web = " The web may be searched and read." if brief.scope.web else ""
    if not summary.documents:
        only = "Only what was read before in this conversation is" if brief.parent else "There are no documents"
        return f"{only} in scope.{web}"
    sentences = [f"{brief.scope.label}: {summary.documents} document{'s' if summary.documents != 1 else ''} in scope."]
    for label, counts in (("Kinds", summary.kinds), ("Languages", summary.languages)):
        named_counts = {name: count for name, count in counts.items() if name}
        if named_counts:
            sentences.append(f"{label}: {', '.join(f'{name} ({count})' for name, count in named_counts.items())}.")
    if any(summary.published):
        sentences.append(f"Dated {' to '.join(filter(None, summary.published))}.")
    if summary.names:
        names = "; ".join(one_line(name)[:NAME_LENGTH] for name in summary.names)
        suffix = "; …" if summary.documents > len(summary.names) else ""
        sentences.append(f"Names: {names}{suffix}.")
    return " ".join(sentences) + web


# The results of research: the current plan, the findings, the agents that failed.

SUMMARY_CHARS = 200
STEP_STATUS: dict[CoverageStatus, StepStatus] = {"answered": "completed", "partly": "partly", "not": "open"}
"""The status of a step by how far its findings answer it."""
WORKED_ON = frozenset(STEP_STATUS.values())
"""The statuses of steps that somebody has finished working on."""


class PartAssessment(msgspec.Struct, frozen=True, kw_only=True):
    """How a model judges a part: plan step `step`, or if that is 0, the part of the question with these words."""

    step: int
    part: str
    status: CoverageStatus
    reason: str = ""


class Research(msgspec.Struct, frozen=True, kw_only=True):
    """The research of a run. `failed` says why agents failed; `cycles` counts the rounds of dispatch so far.

    `take_steering` has the owner's instructions so far. `judged` is a model's judgement of what the first `judged_of`
    findings answer.
    """

    plan: Plan
    findings: tuple[Finding, ...] = ()
    failed: tuple[str, ...] = ()
    cycles: int = 0
    steering: tuple[str, ...] = ()
    judged: tuple[PartAssessment, ...] = ()
    judged_of: int = 0

    @property
    def is_judged(self) -> bool:
        """True if a model has judged what all findings answer."""
        return bool(self.judged) and self.judged_of == len(self.findings)

    def with_finding(self, finding: Finding) -> Research:
        """The research with one more finding; its step gets the status that the finding gives it."""
        plan = self.plan
        if finding.step:
            plan = mark_steps(plan, [finding.step], STEP_STATUS[finding_status(finding)], finding_summary(finding))
        return msgspec.structs.replace(self, plan=plan, findings=(*self.findings, finding))

    def reopen_step(self, step: int, reason: str = "") -> Research:
        """The research after an agent that reported nothing (it failed for `reason`); its step is open again."""
        plan = mark_steps(self.plan, [step], "pending")
        return msgspec.structs.replace(self, plan=plan, failed=(*self.failed, *([reason] if reason else [])))

    def with_running(self, steps: Iterable[int]) -> Research:
        """The research with these steps marked as running."""
        return msgspec.structs.replace(self, plan=mark_steps(self.plan, steps, "running"))

    def cited_findings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.passages)

    def needs_search(self, step: int) -> bool:
        """True if a step needs a search; a task outside the plan does."""
        return all(plan_step.needs_search for plan_step in self.plan.steps if plan_step.id == step)

    def finding_of(self, lane: int) -> Finding | None:
        return next((finding for finding in self.findings if finding.lane == lane), None)


def finding_status(finding: Finding) -> CoverageStatus:
    """How far a finding answers its task, as far as code can tell.

    It answers if it cites passages, its agent finished, and it does not say that something was not found. It does not
    answer at all if it cites nothing or says nothing else.
    """
    if not finding.passages:
        return "not"
    sentence_count, absence_count = _count_sentences(finding.text)
    if sentence_count and absence_count == sentence_count:
        return "not"
    return "partly" if absence_count or finding.uncited or finding.stop != "done" else "answered"


@lru_cache(maxsize=64)
def _count_sentences(text: str) -> tuple[int, int]:
    """How many sentences a finding has, and how many say that something was not found; asked several times of each."""
    statements = finding_sentences(text)
    return len(statements), sum(map(states_absence, statements))


def finding_sentences(text: str) -> list[str]:
    """The sentences of a finding, without its headings and markers."""
    lines = (line.strip() for line in strip_markers(text).splitlines() if not line.lstrip().startswith("#"))
    return [line[start:end] for line in lines for start, end in sentences(line) if words(line[start:end])]


def finding_summary(finding: Finding) -> str:
    """A finding's beginning on one line, without markers."""
    text = " ".join(strip_markers(finding.text).split())
    return text if len(text) <= SUMMARY_CHARS else text[:SUMMARY_CHARS].rpartition(" ")[0] + " …"


def mark_steps(plan: Plan, steps: Iterable[int], status: StepStatus, finding: str = "") -> Plan:
    """The plan with a new status, and perhaps a finding, of some steps."""
    step_ids = set(steps)
    updated = (
        msgspec.structs.replace(step, status=status, finding=finding or step.finding) if step.id in step_ids else step
        for step in plan.steps
    )
    return msgspec.structs.replace(plan, steps=tuple(updated))


def find_step(plan: Plan, task: str, named_step: int) -> int:
    """The step that a task serves: the one it names, else the one with most of its words; 0 if it shares none."""
    if any(step.id == named_step for step in plan.steps):
        return named_step
    task_words = set(words(task))
    overlaps = [(len(task_words & set(words(f"{step.title} {step.description}"))), -step.id) for step in plan.steps]
    count, step = max(overlaps, default=(0, 0))
    return -step if count else 0


def step_task(step: PlanStep) -> str:
    """A plan step as a task."""
    return f"{step.title}\n{step.description}" if step.description else step.title


def agent_task(case: Case, research: Research, task: str, *, step: int, turns: int, calls: int = 0) -> AgentTask:
    """A task with the brief an agent gets at its spawn: it knows of other agents only those that have finished."""
    lanes = [finding.lane for finding in research.findings]
    return AgentTask(
        task=task,
        step=step,
        turns=turns,
        calls=calls,
        question=case.full_question(),
        date=case.date,
        language=case.language,
        documents=case.documents,
        held=bool(case.count),
        finished=(*case.inherited.earlier, *(_finished_work(case.ledger, finding) for finding in research.findings)),
        lanes=(*case.lanes, *lanes),
    )


def _finished_work(ledger: Ledger, finding: Finding) -> FinishedWork:
    agent_ledger = ledger.seeing([finding.lane])
    return FinishedWork(task=finding.task, searched=agent_ledger.queries(), read=agent_ledger.pages())


# The report when the writer has finished.


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A report as written, with passage markers, and what its reader must know.

    `researched` says that sources were looked for, `sourced` that the text claims to rest on some. `written` says that
    a model wrote it to its end; `composed` that code made it of records and it must keep stating them. `streamed` is
    the text as it streamed, if its claims were found meanwhile: they keep their ids. `found` says that it answers,
    since a text that only shows the nearest passages has citations too. `coverage` is the coverage of the plan before
    writing, `judged` if a model judged it. `proofreader` has found and checked claims while it streamed.
    """

    text: str
    limits: tuple[str, ...] = ()
    researched: bool = True
    sourced: bool = True
    written: bool = True
    composed: bool = False
    streamed: str = ""
    found: bool = True
    coverage: tuple[Coverage, ...] = ()
    judged: bool = False
    proofreader: Proofreader | None = None
