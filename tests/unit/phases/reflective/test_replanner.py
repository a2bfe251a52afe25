"""A plan merged with its change."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.plan import Plan, PlanStep
from assay.phases.planner import read_plan
from assay.phases.reflective import merge_plans

OLD = Plan(
    title="Brest",
    thought="first",
    steps=(
        PlanStep(id=1, title="Tide", status="completed", finding="Seven metres."),
        PlanStep(id=2, title="Wind", status="pending"),
        PlanStep(id=3, title="Moon", status="pending"),
        PlanStep(id=4, title="Sun", status="pending"),
    ),
)
TRIED = {1, 2}


def written(*steps: PlanStep, enough: bool = False, thought: str = "") -> Plan:
    return Plan(title="", thought=thought, enough_context=enough, steps=steps)


def test_what_was_done_stays_and_the_rest_is_new() -> None:
    plan = merge_plans(OLD, written(PlanStep(id=1, title="Stars"), PlanStep(id=2, title="moon")), TRIED, 7)
    assert plan is not None
    assert (plan.id, plan.iteration, plan.title, plan.thought) == ("plan-2", 2, "Brest", "first")
    assert plan.steps[0] == OLD.steps[0]
    assert [(step.id, step.title, step.status) for step in plan.steps[1:]] == [
        (2, "Wind", "skipped"),
        (8, "Stars", "pending"),
        (3, "moon", "pending"),
    ]


def test_a_step_done_is_not_planned_again_unless_it_says_so() -> None:
    assert merge_plans(OLD, written(PlanStep(id=1, title="TIDE")), TRIED, 4) is None
    plan = merge_plans(
        OLD, written(PlanStep(id=1, title="High water", again=1), PlanStep(id=2, title="x", again=9)), TRIED, 4
    )
    assert plan is not None
    assert [(step.id, step.again) for step in plan.steps[2:]] == [(5, 1), (6, 0)]
    third = merge_plans(plan, written(PlanStep(id=1, title="Flood", again=5)), {1, 2, 5}, 6)
    assert third is not None
    assert third.steps[-1].again == 1  # of the first step, whichever try it was


def test_a_step_done_may_be_tried_again_under_its_name() -> None:
    plan = merge_plans(OLD, written(PlanStep(id=1, title="Tide", again=1)), TRIED, 4)
    assert plan is not None
    assert [(step.id, step.title, step.again) for step in plan.steps[2:]] == [(5, "Tide", 1)]


def test_enough_leaves_only_what_was_done() -> None:
    plan = merge_plans(OLD, written(enough=True), TRIED, 4)
    assert plan is not None
    assert (plan.enough_context, [step.id for step in plan.steps]) == (True, [1, 2])


STEPS = st.builds(
    PlanStep,
    id=st.integers(1, 9),
    title=st.sampled_from(["Tide", "Wind", "Moon", "Sun", "Stars", "Rain"]),
    again=st.integers(0, 9),
)


@given(st.lists(STEPS, max_size=6, unique_by=lambda step: step.title), st.sets(st.integers(1, 4)), st.integers(4, 9))
def test_no_number_stands_for_two_steps(steps: list[PlanStep], tried: set[int], highest: int) -> None:
    plan = merge_plans(OLD, written(*steps, enough=True), tried, highest)
    assert plan is not None
    ids = [step.id for step in plan.steps]
    assert len(set(ids)) == len(ids)
    known = {step.title.casefold(): step.id for step in OLD.steps}
    for step in plan.steps:
        assert step.id > highest or known[step.title.casefold()] == step.id or step.again
    kept = [step for step in OLD.steps if step.id in tried and step.status == "completed"]
    assert [step for step in plan.steps if step.status == "completed"] == kept
    assert all(step.again in (0, *tried) for step in plan.steps)


def test_only_a_later_plan_may_be_empty_or_without_a_search() -> None:
    analysis = '{"steps": [{"title": "Judge", "type": "analysis", "again": 2}]}'
    first, later = read_plan(analysis, 3), read_plan(analysis, 3, is_continuation=True)
    assert first is not None and later is not None  # noqa: PT018
    assert (first.steps[0].needs_search, first.steps[0].again) == (True, 0)
    assert (later.steps[0].needs_search, later.steps[0].again) == (False, 2)
    assert read_plan('{"enough_context": true, "steps": []}', 3) is None
    enough = read_plan('{"enough_context": true, "steps": []}', 3, is_continuation=True)
    assert enough is not None
    assert enough.enough_context
    assert read_plan('{"enough_context": "yes", "steps": []}', 3, is_continuation=True) is None
    for strange in ("true", "-1", "1e99", "99999999999999999999", '"2"', "[2]"):
        plan = read_plan(f'{{"steps": [{{"title": "x", "again": {strange}}}]}}', 3, is_continuation=True)
        assert plan is not None
        assert plan.steps[0].again == 0
