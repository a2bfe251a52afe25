"""Plans as models write them."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.plan import Plan
from assay.phases.planner import drop_repeated_descriptions, read_plan, single_step_plan

STEPS = [{"title": "Tides", "description": "How far", "type": "research", "needs_search": True}, {"title": "Winds"}]
WRITTEN = {"title": "Brest", "thought": "two parts", "steps": STEPS}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(WRITTEN),
        f"```json\n{json.dumps(WRITTEN, indent=2)}\n```",
        f"Here is the plan:\n\n{json.dumps(WRITTEN)}\n\nShall I go on?",
        json.dumps({"plan": WRITTEN}),
        json.dumps(STEPS),
        json.dumps(["Tides", "Winds"]),
        json.dumps({"steps": [*STEPS, {"title": "tides"}, {"title": " "}, 7]}),
    ],
    ids=["plain", "fence", "words", "wrapped", "list", "texts", "double"],
)
def test_a_plan_is_read_however_it_is_wrapped(text: str) -> None:
    plan = read_plan(text, 6)
    assert plan is not None
    assert [(step.id, step.title) for step in plan.steps] == [(1, "Tides"), (2, "Winds")]
    assert plan.title in ("Brest", "Tides")


@pytest.mark.parametrize(
    "text", ["", "I cannot plan this.", "{}", '{"steps": []}', '{"steps": "none"}', "[]", "3", '"x"']
)
def test_what_is_no_plan(text: str) -> None:
    assert read_plan(text, 6) is None


def test_steps_are_capped_and_one_of_them_searches() -> None:
    plan = read_plan(json.dumps([{"title": str(number), "needs_search": False} for number in range(9)]), 3)
    assert plan is not None
    assert [step.needs_search for step in plan.steps] == [True, False, False]


def test_analysis_needs_no_search() -> None:
    plan = read_plan(json.dumps([{"title": "a"}, {"title": "b", "type": "analysis"}]), 3)
    assert plan is not None
    assert [(step.type, step.needs_search) for step in plan.steps] == [("research", True), ("analysis", False)]


def test_descriptions_which_only_repeat_the_question_are_left_out() -> None:
    question = "Who wrote PEP 8,  and when was it created?"
    found = ["Who wrote PEP 8, and when was it created?", "who wrote PEP 8, and…", "Its authors", ""]
    written = [{"title": str(number), "description": text} for number, text in enumerate(found)]
    plan = read_plan(json.dumps(written), 6)
    assert plan is not None
    assert [step.description for step in drop_repeated_descriptions(plan, question).steps] == [
        "",
        "",
        "Its authors",
        "",
    ]


def test_the_question_as_a_plan() -> None:
    plan = single_step_plan("How far? " * 60)
    assert len(plan.title) == 200
    assert plan.steps[0].title == "How far? " * 60


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.lists(st.text(max_size=3), max_size=2)
STEP = st.dictionaries(st.sampled_from(["title", "name", "description", "type", "needs_search", "id"]), VALUES)


@given(st.lists(STEP | VALUES, max_size=8), st.integers(1, 6))
def test_any_json_is_a_plan_or_none(steps: list[object], most: int) -> None:
    plan = read_plan(json.dumps({"steps": steps, "title": None}), most)
    if plan is not None:
        assert 1 <= len(plan.steps) <= most
        assert [step.id for step in plan.steps] == list(range(1, len(plan.steps) + 1))
        assert all(step.title for step in plan.steps)
        assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan
