"""A plan as a text to edit: what is written reads as the same plan, and what cannot be read names its line."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import plan as plan_form
from assay.core.errors import UsageError
from assay.core.plan import Plan, PlanStep

texts = st.text(max_size=60).map(lambda text: " ".join(text.split()))
titles = texts.filter(bool)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    made = draw(
        st.lists(st.tuples(titles, texts, st.sampled_from(["research", "analysis"]), st.booleans()), max_size=6)
    )
    first = PlanStep(id=1, title=draw(titles), description=draw(texts))
    more = (
        PlanStep(id=number, title=title, description=text, type=kind, needs_search=searches)  # type: ignore[arg-type]
        for number, (title, text, kind, searches) in enumerate(made, 2)
    )
    return Plan(title=draw(titles), thought=draw(texts), steps=(first, *more))


@given(plans())
def test_what_is_written_reads_as_the_same_plan(plan: Plan) -> None:
    assert plan_form.read_plan(plan_form.HEADER + plan_form.format_plan(plan)) == plan
    assert plan_form.read_plan(msgspec.json.encode(plan).decode()) == plan
    assert plan_form.check_plan(plan) == plan


@given(st.text(max_size=300))
def test_any_text_is_a_plan_or_a_named_error(text: str) -> None:
    try:
        plan = plan_form.read_plan(text)
    except UsageError:
        return
    assert plan_form.read_plan(plan_form.format_plan(plan)) == plan


@given(st.lists(st.sampled_from(["1. A", "2) B", "type: analysis", "title: T", "needs_search: no", "x", "#", ""])))
def test_any_lines_are_a_plan_or_a_named_error(lines: list[str]) -> None:
    try:
        plan = plan_form.read_plan("\n".join(lines))
    except UsageError:
        return
    assert [step.id for step in plan.steps] == list(range(1, len(plan.steps) + 1))
    assert any(step.needs_search for step in plan.steps)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "title: T\n\n1. A\n   kind: x\n",
            "line 4: 'kind: x' is neither a step nor a key: write 1. … or one of description:, type:",
        ),
        ("title: T\nA step\n", "line 2: 'A step' is neither"),
        ("1. A\n   type: guess\n", "line 2: type: write research or analysis, not 'guess'"),
        ("1. A\n   needs_search: perhaps", "line 2: needs_search: write yes or true or no or false, not 'perhaps'"),
        ("# remark\n1.\n", "line 2: the step has no title"),
        ("1. A\n   type: research\n   type: research\n", "line 3: type: is here twice"),
        ("title: T\n", "1 to 20 steps, and this has 0"),
        ("\n".join(f"{number}. S" for number in range(1, 22)), "1 to 20 steps, and this has 21"),
        ("1. A\n   type: analysis\n", "no step of the plan searches"),
        ("1. " + "x" * 3_000, "the title of step 1 has 3,000 characters"),
        ("x" * 300_000, "at most 200,000"),
        ('{"steps": [{"title": 1}]}', "$.steps[0].title"),
        ('{"steps": [{"title": "A", "type": "guess"}]}', "$.steps[0].type"),
        ('{"steps": [', "cannot be read"),
        ('{"title": "T"}', "steps"),
    ],
)
def test_what_cannot_be_read_names_the_place(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        plan_form.read_plan(text)


def test_steps_are_numbered_anew_and_line_ends_of_any_system_are_read() -> None:
    plan = plan_form.read_plan("\ufefftitle: T\r\n7. B\r\n   description: d\r\n\r\n3) A\r\n")
    assert [(step.id, step.title, step.description) for step in plan.steps] == [(1, "B", "d"), (2, "A", "")]
