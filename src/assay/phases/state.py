"""What research has come to: the plan as it stands, the findings, the agents that failed."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assay.agents.task import AgentTask, Finding, Finished, Toolset
from assay.core.absence import states_absence
from assay.core.markers import strip
from assay.core.plan import CoverageStatus, Plan, PlanStep, StepStatus
from assay.core.text import sentences, words
from assay.phases.case import Case

SAID_LENGTH = 200
STATUS: dict[CoverageStatus, StepStatus] = {"answered": "completed", "partly": "partly", "not": "open"}
"""How a step stands whose findings answer it so far."""
WORKED_ON = frozenset(STATUS.values())
"""The steps somebody has worked on to some end."""


class PartAssessment(msgspec.Struct, frozen=True, kw_only=True):
    """How a model judges a part: plan step `step`, or where that is 0, the part of the question with these words."""

    step: int
    part: str
    status: CoverageStatus
    reason: str = ""


class Research(msgspec.Struct, frozen=True, kw_only=True):
    """The research of a run: `failed` says why agents failed; `cycles` counts the rounds of dispatch so far.

    `steering` is what the owner told the run so far. `judged` is how the reflector judges what the first `judged_of`
    findings answer.
    """

    plan: Plan
    findings: tuple[Finding, ...] = ()
    failed: tuple[str, ...] = ()
    cycles: int = 0
    steering: tuple[str, ...] = ()
    judged: tuple[PartAssessment, ...] = ()
    judged_of: int = 0

    def with_finding(self, finding: Finding) -> Research:
        """The research with one more finding, its step as far as that answers it."""
        plan = self.plan
        if finding.step:
            plan = marked(plan, [finding.step], STATUS[answers(finding)], said(finding))
        return msgspec.structs.replace(self, plan=plan, findings=(*self.findings, finding))

    def without(self, step: int, reason: str = "") -> Research:
        """The research after an agent that reported nothing (it failed for `reason`); its step is open again."""
        plan = marked(self.plan, [step], "pending")
        return msgspec.structs.replace(self, plan=plan, failed=(*self.failed, *([reason] if reason else [])))

    def with_running(self, steps: Iterable[int]) -> Research:
        """The research with steps agents work on now."""
        return msgspec.structs.replace(self, plan=marked(self.plan, steps, "running"))

    def cited(self) -> tuple[Finding, ...]:
        """The findings which cite something."""
        return tuple(finding for finding in self.findings if finding.passages)

    def needs_search(self, step: int) -> bool:
        """Whether a step has to be searched for; what is no step of the plan has to."""
        return all(each.needs_search for each in self.plan.steps if each.id == step)

    def finding_of(self, lane: int) -> Finding | None:
        """What the agent in `lane` found."""
        return next((finding for finding in self.findings if finding.lane == lane), None)


def answers(finding: Finding) -> CoverageStatus:
    """How far a finding answers its task, as far as code can tell.

    It does where it cites passages, its agent came to its end, and it does not say that something was not found; not at
    all, where it cites nothing or says nothing else.
    """
    if not finding.passages:
        return "not"
    stated = statements(finding.text)
    absent = sum(map(states_absence, stated))
    if stated and absent == len(stated):
        return "not"
    return "partly" if absent or finding.uncited or finding.stop != "done" else "answered"


def statements(text: str) -> list[str]:
    """The sentences of a finding, without its headings and markers."""
    lines = (line.strip() for line in strip(text).splitlines() if not line.lstrip().startswith("#"))
    return [line[start:end] for line in lines for start, end in sentences(line) if words(line[start:end])]


def said(finding: Finding) -> str:
    """A finding's beginning on one line, without markers."""
    text = " ".join(strip(finding.text).split())
    return text if len(text) <= SAID_LENGTH else text[:SAID_LENGTH].rpartition(" ")[0] + " …"


def marked(plan: Plan, steps: Iterable[int], status: StepStatus, finding: str = "") -> Plan:
    """The plan with the status, and perhaps the finding, of some steps changed."""
    wanted = set(steps)
    changed = (
        msgspec.structs.replace(step, status=status, finding=finding or step.finding) if step.id in wanted else step
        for step in plan.steps
    )
    return msgspec.structs.replace(plan, steps=tuple(changed))


def step_for(plan: Plan, task: str, named: int) -> int:
    """The step a task serves: the one it names, else the one with most of its words; 0 when none has any."""
    if any(step.id == named for step in plan.steps):
        return named
    wanted = set(words(task))
    shared = [(len(wanted & set(words(f"{step.title} {step.description}"))), -step.id) for step in plan.steps]
    count, step = max(shared, default=(0, 0))
    return -step if count else 0


def task_for(step: PlanStep) -> str:
    """A plan step as a task."""
    return f"{step.title}\n{step.description}" if step.description else step.title


def agent_task(
    toolset: Toolset,
    case: Case,
    research: Research,
    task: str,
    *,
    step: int,
    turns: int,
    calls: int = 0,
) -> AgentTask:
    """A task with the brief an agent gets at its spawn: of the others it knows those that have finished."""
    lanes = [finding.lane for finding in research.findings]
    return AgentTask(
        task=task,
        step=step,
        turns=turns,
        calls=calls,
        question=case.full(),
        date=case.date,
        language=case.language,
        documents=case.documents,
        held=bool(case.count),
        finished=(*toolset.earlier, *(_finished(toolset, finding) for finding in research.findings)),
        lanes=(*toolset.lanes, *lanes),
    )


def _finished(toolset: Toolset, finding: Finding) -> Finished:
    own = toolset.ledger.seeing([finding.lane])
    return Finished(task=finding.task, searched=own.queries(), read=own.pages())
