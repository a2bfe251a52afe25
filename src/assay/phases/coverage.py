"""Coverage: what of the plan and the question is answered, and one more dispatch for what nobody took up."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.agents.task import Finding
from assay.core.endings import in_words
from assay.core.errors import LimitReached
from assay.core.events import CoverageAssessed, PlanChanged
from assay.core.plan import Coverage, CoverageStatus, Plan, PlanStep
from assay.core.text import sentences, words
from assay.core.translation import gettext as _
from assay.phases.dispatch import AgentPool, Dispatch, collect, may_work
from assay.phases.part_judge import judge
from assay.phases.state import STATUS, WORKED_ON, PartAssessment, Research, answers, marked
from assay.run.run import Run

LONGEST_QUESTION = 4_000
"""Code points; a question may be a page, and its parts stand at its beginning or are steps of the plan."""
MOST_PARTS = 6
_ASKING = frozenset(
    "what which when where whom whose does have been were will would could should that this with".split()
)


async def cover(run: Run, agent_pool: AgentPool, research: Research) -> tuple[Research, tuple[Coverage, ...]]:
    """Assess, send agents once more for open steps while cycles and limits allow, assess again.

    A step counts as open here when no agent has reported on it: forgotten by the orchestrator, failed, or stopped. One
    that was searched for and not found is the orchestrator's to try again, and it had the chance.
    """
    place = run.child("coverage")
    open_steps = unreported(research)
    if open_steps and research.cycles < agent_pool.rules.cycles:
        try:
            research = await _dispatch(place, agent_pool, research, open_steps)
        except LimitReached as limit:
            place.warn(_("open steps were left: {why}").format(why=in_words(limit.reason)))
    coverage = await _assessed(place, agent_pool, research)
    place.emit(CoverageAssessed(coverage=coverage, when="before"))
    plan = closed(research.plan, coverage)
    if plan != research.plan:
        place.emit(PlanChanged(plan=plan))
    return msgspec.structs.replace(research, plan=plan), coverage


async def _dispatch(place: Run, agent_pool: AgentPool, research: Research, steps: Sequence[PlanStep]) -> Research:
    await may_work(place)
    cycle = research.cycles + 1
    dispatch = Dispatch(place, agent_pool, research, cycle)
    sent = [dispatch.send(index, agent_pool.task(research, step)) for index, step in enumerate(steps)]
    research = msgspec.structs.replace(research.with_running(step.id for step in steps), cycles=cycle)
    place.emit(PlanChanged(plan=research.plan))
    for each in sent:
        research, _ = await collect(each, research)
        place.emit(PlanChanged(plan=research.plan))
    return research


async def _assessed(place: Run, agent_pool: AgentPool, research: Research) -> tuple[Coverage, ...]:
    """What is answered: as the reflector judged it, or else another model, where the brief has one judge; else by code.

    Nobody is asked where no finding cites anything.
    """
    coverage = assess(agent_pool.case.question, research)
    if not place.brief.assess or not research.cited():
        return coverage
    if research.judged and research.judged_of == len(research.findings):
        return judged(research, coverage, research.judged)
    return judged(research, coverage, await judge(place, agent_pool, research, coverage))


def judged(research: Research, coverage: Sequence[Coverage], said: Sequence[PartAssessment]) -> tuple[Coverage, ...]:
    """Coverage with what a model said of its parts; the question is answered when all of them are.

    What cites nothing cannot answer. A step whose own agents were cut short is answered in part at most.
    """
    if not said:
        return tuple(coverage)
    known = {(each.step, each.part): each for each in said}
    whole = coverage[0]
    parts = [_judged(part, known.get((part.step, part.part)), whole, research) for part in coverage[1:]]
    statuses = {part.status for part in parts}
    status: CoverageStatus = "partly"
    if len(statuses) == 1:
        (status,) = statuses
    return (msgspec.structs.replace(whole, status=status), *parts)


def _judged(part: Coverage, said: PartAssessment | None, whole: Coverage, research: Research) -> Coverage:
    if said is None:
        return part
    own = [finding.stop for finding in research.findings if finding.step == part.step and finding.passages]
    cut = bool(part.step and own) and "done" not in own
    status = "partly" if cut and said.status == "answered" else said.status
    passages = () if status == "not" else part.passages or whole.passages
    reason = "" if status == "answered" else said.reason
    return msgspec.structs.replace(part, status=status, passages=passages, reason=reason)


def unreported(research: Research) -> list[PlanStep]:
    """Steps to be searched for on which no agent has come to its end or to anything that can be cited.

    A step that was skipped was given up on purpose.
    """
    reported = {finding.step for finding in research.findings if finding.stop == "done" or finding.passages}
    wanted = (step for step in research.plan.steps if step.needs_search and step.status != "skipped")
    return [step for step in wanted if step.id not in reported]


def assess(question: str, research: Research) -> tuple[Coverage, ...]:
    """What is answered, as far as code can tell: a step as far as the findings of its agents say (`answers`).

    A step of analysis needs no search: it stands as what it analyses stands. A step that tries another one again counts
    for that one. A step skipped by decision is no part of what was to be answered. The question comes first, then the
    steps, then the parts of a question which is several: each stands as the step that shares most words with it.
    """
    steps = _counted(research.plan)
    searched = {step.id: _step(step, research) for step in steps if step.needs_search}
    whole = _whole(question, list(searched.values()), research.findings)
    each = (searched.get(step.id) or Coverage(step=step.id, part=step.title, status=whole.status) for step in steps)
    known = (whole, *each)
    return (*known, *(_part(part, steps, known) for part in parts(question)))


def parts(question: str) -> tuple[str, ...]:
    """The questions of which a question is made ("How far? And which winds?"); none where it is one."""
    found = [" ".join(question[start:end].split()) for start, end in sentences(question[:LONGEST_QUESTION])]
    asked = [part for part in found if part.endswith("?") and len(telling(part)) > 1]
    return tuple(asked[:MOST_PARTS]) if len(asked) > 1 else ()


def _part(part: str, steps: Sequence[PlanStep], known: Sequence[Coverage]) -> Coverage:
    """A part of the question, by the step which serves it; where none does, it is open as far as the question is."""
    wanted = set(telling(part))
    shared = {step.id: len(wanted & set(words(f"{step.title} {step.description}"))) for step in steps}
    best = max(shared, key=lambda step: (shared[step], -step), default=0)
    whole, served = known[0], next((each for each in known if each.step == best and best), None)
    if served is None or not shared[best]:
        return Coverage(step=0, part=part, status="not" if whole.status == "not" else "partly")
    return Coverage(step=0, part=part, status=served.status, passages=served.passages)


def telling(text: str) -> list[str]:
    """The words of a question which say what it asks about."""
    return [word for word in words(text) if len(word) > 3 and word not in _ASKING]


def _counted(plan: Plan) -> list[PlanStep]:
    ids = {step.id for step in plan.steps if step.status != "skipped"}
    return [step for step in plan.steps if step.id in ids and step.again not in ids]


def _step(step: PlanStep, research: Research) -> Coverage:
    ids = {step.id, *(other.id for other in research.plan.steps if other.again == step.id)}
    found = [(finding, answers(finding)) for finding in research.findings if finding.step in ids]
    own = [finding for finding, status in found if status != "not"]
    passages = tuple(dict.fromkeys(passage.id for finding in own for passage in finding.passages))
    complete = any(status == "answered" for _, status in found)
    status: CoverageStatus = "answered" if complete else "partly" if own else "not"
    return Coverage(step=step.id, part=step.title, status=status, passages=passages)


def _whole(question: str, steps: Sequence[Coverage], findings: Sequence[Finding]) -> Coverage:
    own = [finding for finding in findings if answers(finding) != "not"]
    passages = tuple(dict.fromkeys(passage.id for finding in own for passage in finding.passages))
    if not passages:
        return Coverage(step=0, part=question, status="not")
    complete = bool(steps) and all(step.status == "answered" for step in steps)
    return Coverage(step=0, part=question, status="answered" if complete else "partly", passages=passages)


def closed(plan: Plan, coverage: Sequence[Coverage]) -> Plan:
    """The plan at the end: each step as it is covered; what nobody worked on, and nothing answers, was skipped."""
    known = {each.step: each.status for each in coverage}
    for step in plan.steps:
        covered = known.get(step.id, "not")
        if step.status in ("pending", "running"):
            plan = marked(plan, [step.id], "skipped" if covered == "not" else STATUS[covered])
        elif step.status in WORKED_ON and step.id in known:
            plan = marked(plan, [step.id], STATUS[covered])
    return plan
