"""Coverage, and the state research is in."""

from __future__ import annotations

import msgspec
import pytest
from research import case_of

from assay.agents.findings import NOTHING, Finding, FinishedWork
from assay.core.plan import Plan, PlanStep
from assay.core.sources import Passage
from assay.phases.case import (
    Research,
    agent_task,
    find_step,
    finding_summary,
    mark_steps,
)
from assay.phases.coverage import (
    assess_coverage,
    closed_plan,
    question_parts,
    unreported_steps,
)
from assay.phases.material import continue_task, predecessor
from assay.phases.write import shortcoming_notes

PLAN = Plan(
    title="Brest",
    steps=(
        PlanStep(id=1, title="Tide at Brest"),
        PlanStep(id=2, title="Winds", description="The mistral"),
        PlanStep(id=3, title="Compare", type="analysis", needs_search=False),
    ),
)


def passage(id: str) -> Passage:
    source = id.partition(".")[0]
    return Passage(id=id, source=source, document_sha256="", start=0, end=1, text="x", text_sha256="")


def finding(step: int, *ids: str, stop: str = "done", lane: int = 1) -> Finding:
    text = " ".join(f"It rises. [{id}]" for id in ids) or NOTHING
    return Finding(lane=lane, task="t", step=step, text=text, passages=tuple(map(passage, ids)), stop=stop)


@pytest.mark.parametrize(
    ("findings", "statuses"),
    [
        ((), ["not", "not", "not", "not"]),
        ((finding(1, "S1001.1"),), ["partly", "answered", "not", "partly"]),
        ((finding(1, "S1001.1"), finding(2)), ["partly", "answered", "not", "partly"]),
        ((finding(1, "S1001.1"), finding(2, "S2001.1", stop="time")), ["partly", "answered", "partly", "partly"]),
        ((finding(1, "S1001.1"), finding(2, "S2001.1")), ["answered"] * 4),
        ((finding(0, "S1001.1"),), ["partly", "not", "not", "partly"]),
    ],
)
def test_what_is_answered(findings: tuple[Finding, ...], statuses: list[str]) -> None:
    coverage = assess_coverage("How far?", Research(plan=PLAN, findings=findings))
    assert [each.step for each in coverage] == [0, 1, 2, 3]
    assert [each.status for each in coverage] == statuses


def test_passages_count_once() -> None:
    findings = (finding(1, "S1001.1", "S1001.2"), finding(1, "S1001.1", lane=2))
    whole, first, *_ = assess_coverage("?", Research(plan=PLAN, findings=findings))
    assert whole.passages == first.passages == ("S1001.1", "S1001.2")


def test_a_question_of_several_has_parts_which_stand_as_the_steps_that_serve_them() -> None:
    question = "How far does the tide rise at Brest? Which winds blow there? Why?"
    assert question_parts(question) == ("How far does the tide rise at Brest?", "Which winds blow there?")
    assert question_parts("How far does the tide rise at Brest, and which winds blow?") == ()
    coverage = assess_coverage(question, Research(plan=PLAN, findings=(finding(1, "S1001.1"), finding(2))))
    assert [(each.step, each.status) for each in coverage[4:]] == [(0, "answered"), (0, "not")]
    assert coverage[4].passages == ("S1001.1",)


def test_a_part_which_no_step_serves_is_not_answered_wholly() -> None:
    question = "How far does the tide rise? Who painted the lighthouse?"
    found = (finding(1, "S1001.1"), finding(2, "S2001.1"))
    assert assess_coverage(question, Research(plan=PLAN, findings=found))[-1].status == "partly"
    assert assess_coverage(question, Research(plan=PLAN))[-1].status == "not"


def test_open_are_steps_nobody_reported_on() -> None:
    def left(*findings: Finding) -> list[int]:
        return [step.id for step in unreported_steps(Research(plan=PLAN, findings=findings))]

    assert left() == [1, 2]
    assert left(finding(1)) == [2]  # searched for and not found
    assert left(finding(1, stop="time")) == [1, 2]
    assert left(finding(1, "S1001.1", stop="time"), finding(2)) == []


def test_a_step_tried_again_counts_for_the_first_and_one_given_up_for_nothing() -> None:
    steps = (
        PlanStep(id=1, title="Tide", status="completed"),
        PlanStep(id=2, title="Winds", status="skipped"),
        PlanStep(id=3, title="Tide by another word", again=1),
    )
    research = Research(plan=Plan(title="Brest", steps=steps), findings=(finding(1), finding(3, "S3001.1", lane=3)))
    assert [(each.step, each.status) for each in assess_coverage("?", research)] == [(0, "answered"), (1, "answered")]
    assert assess_coverage("?", research)[1].passages == ("S3001.1",)
    assert unreported_steps(msgspec.structs.replace(research, findings=())) == [steps[0], steps[2]]


def test_a_plan_is_closed() -> None:
    research = Research(plan=PLAN).with_running([1, 2]).with_finding(finding(1, "S1001.1")).reopen_step(2, "broken")
    assert [step.status for step in research.plan.steps] == ["completed", "pending", "pending"]
    assert research.failed == ("broken",)
    done = closed_plan(research.plan, assess_coverage("?", research))
    assert [step.status for step in done.steps] == ["completed", "skipped", "partly"]


@pytest.mark.parametrize(
    ("task", "named", "step"),
    [("whatever", 2, 2), ("Find the mistral", 0, 2), ("How high is the tide at Brest?", 9, 1), ("volcano", 0, 0)],
)
def test_the_step_a_task_serves(task: str, named: int, step: int) -> None:
    assert find_step(PLAN, task, named) == step


@pytest.mark.parametrize(("continues", "earlier"), [("1", "The tide."), ("agent-1", "The tide."), ("7", ""), ("", "")])
def test_an_agent_is_told_what_others_did_and_what_it_carries_on(continues: str, earlier: str) -> None:
    case = case_of(question="How far?", date="2026-01-01", documents="d", scope="s")
    case.ledger.apply(case.ledger.register(1, [], ["tide"], ["Tides"]).rows)
    done = Finding(lane=1, task="t", text="The tide.")
    research = Research(plan=PLAN, findings=(done,))
    task = agent_task(case, research, "more", step=1, turns=3)
    before = predecessor(research, continues)
    task = continue_task(case.ledger, task, before, research, 8_000) if before else task
    assert task.earlier == earlier
    assert task.lanes == (0, 1)
    assert task.finished == (FinishedWork(task="t", searched=("tide",), read=("Tides",)),)


def test_what_a_finding_says_in_the_plan_is_short_and_without_markers() -> None:
    long = Finding(lane=1, task="t", text="The tide rises. [S1001.1] " * 40)
    assert finding_summary(long).startswith("The tide rises. The tide")
    assert len(finding_summary(long)) <= 202
    assert "S1001" not in finding_summary(long)
    assert mark_steps(PLAN, [1], "completed", "yes").steps[0].finding == "yes"


def test_what_agents_could_not_do_is_said_once() -> None:
    findings = [finding(1, "S1001.1", stop="time") for _ in range(3)] + [finding(1, stop="searches"), finding(2)]
    research = Research(plan=PLAN, findings=tuple(findings), failed=("it is busy", "it is busy", "it is away"))
    assert shortcoming_notes(research) == (
        "An agent failed: it is busy (2 agents).",
        "An agent failed: it is away.",
        "Research on “t” was cut short: the time limit was reached (3 agents).",
        "Research on “t” was cut short: the limit of searches was reached.",
    )
