"""Decisions as models write them, and the rules over them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.phases.reflector import (
    MAX_CHANGE_CHARS,
    MAX_CHANGES,
    MAX_REASONING_CHARS,
    Choice,
    PlanProgress,
    read_decision,
    rejection_reason,
)

WRITTEN = {"reasoning": "The tide\nis known.", "decision": "adjust", "changes": ["look at Genoa", " "]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(WRITTEN),
        f"```json\n{json.dumps(WRITTEN)}\n```",
        f"I would say:\n{json.dumps(WRITTEN)}\nAgreed?",
        json.dumps(WRITTEN | {"decision": " Adjust "}),
        json.dumps(WRITTEN | {"decision": "replan", "changes": "look at Genoa"}),
    ],
    ids=["plain", "fence", "words", "spaced", "otherwise"],
)
def test_a_decision_is_read_however_it_is_wrapped(text: str) -> None:
    decision = read_decision(text, 3)
    assert decision is not None
    assert (decision.step, decision.decision, decision.reasoning) == (3, "adjust", "The tide is known.")
    assert decision.changes == ("look at Genoa",)


@pytest.mark.parametrize("text", ["", "continue", "[]", "{}", '{"decision": "perhaps"}', '{"decision": ["complete"]}'])
def test_what_is_no_decision(text: str) -> None:
    assert read_decision(text, 1) is None


@given(
    st.fixed_dictionaries({"decision": st.sampled_from(["continue", "complete", "adjust"]) | VALUES}),
    st.fixed_dictionaries({}, optional={"reasoning": VALUES | st.text(), "changes": VALUES | st.lists(st.text())}),
)
def test_whatever_is_written_a_decision_is_bounded(reply: dict[str, object], more: dict[str, object]) -> None:
    decision = read_decision(json.dumps(reply | more), 1)
    if decision is not None:
        assert decision.decision in ("continue", "adjust", "complete")
        assert len(decision.reasoning) <= MAX_REASONING_CHARS
        assert len(decision.changes) <= MAX_CHANGES
        assert all(0 < len(change) <= MAX_CHANGE_CHARS and "\n" not in change for change in decision.changes)
        assert decision.action == decision.decision


@given(
    choice=st.sampled_from(["continue", "adjust", "complete"]),
    done=st.integers(0, 12),
    tried=st.integers(0, 12),
    left=st.integers(0, 12),
    iteration=st.integers(1, 5),
    plans=st.integers(1, 5),
    least=st.integers(1, 5),
    more=st.integers(0, 5),
)
def test_the_rules(
    choice: Choice, done: int, tried: int, left: int, iteration: int, plans: int, least: int, more: int
) -> None:
    limits = {"min_steps": least, "max_steps": least + more, "plans": plans}
    at = PlanProgress(steps_done=done, steps_tried=tried, steps_left=left, iteration=iteration, **limits)
    note = rejection_reason(choice, at)
    if choice == "continue":
        assert note == ""
    if choice == "complete":
        assert bool(note) is (left > 0 and done < least)
    if choice == "adjust":
        assert bool(note) is (iteration >= plans or tried >= least + more)
        assert bool(note) is not at.can_adjust
