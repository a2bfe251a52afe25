"""Replies of all shapes: calls, calls written as text, JSON, prose, and garbage."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import verdict

from assay.core.messages import Reply, ToolCall
from assay.verify.judge.answers import RULINGS, JudgedValue, read_answer
from assay.verify.judge.masks import HiddenValue, compare_values

OBJECT = {"slots": [{"slot": "A", "value": "400"}], "reason": "so", "verdict": "supported"}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(OBJECT),
        f"```json\n{json.dumps(OBJECT, indent=1)}\n```",
        f"Let me see. {json.dumps(OBJECT)} That is all.",
        json.dumps({"name": "verdict", "arguments": OBJECT}),
        json.dumps({"name": "verdict", "arguments": json.dumps(OBJECT)}),
        json.dumps({**OBJECT, "slots": {"{A}": "400"}}),
        json.dumps({**OBJECT, "slots": {"a": ["400"]}, "verdict": "Supported."}),
    ],
)
def test_json_is_read_wherever_it_stands(text: str) -> None:
    answer = read_answer(Reply(text=text))
    assert answer is not None
    assert (answer.ruling, answer.slots) == ("supported", (JudgedValue("A", "400"),))


@pytest.mark.parametrize(
    ("text", "ruling"),
    [
        (json.dumps({"verdict": "NOT SUPPORTED"}), "unsupported"),
        (json.dumps({"verdict": "partially_supported"}), "partial"),
        (json.dumps({"verdict": "maybe"}), None),
        (json.dumps({"verdict": 5}), None),
        (json.dumps({"verdict": "supported"}) + json.dumps({"verdict": "contradicted"}), None),
        (json.dumps({"note": "none"}) + " NOT SUPPORTED", "unsupported"),
        ("", None),
    ],
)
def test_a_verdict_is_one_of_five_or_none(text: str, ruling: str | None) -> None:
    answer = read_answer(Reply(text=text))
    assert (answer.ruling if answer else None) == ruling


def test_calls_which_disagree_are_no_answer() -> None:
    one, two = verdict("supported").calls[0], verdict("contradicted").calls[0]
    assert read_answer(Reply(calls=(one, two))) is None
    assert read_answer(Reply(calls=(one, one))) is not None
    assert read_answer(Reply(calls=(ToolCall(id="1", name="verdict", malformed='{"verdict": "supp'),))) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(RULINGS),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["verdict", "slots", "slot", "value", "reason", "A"]), inner, max_size=5)
    ),
    max_leaves=12,
)
HIDDEN = HiddenValue(letter="A", kind="name", text="x", start=0, end=1)


@given(JSON, st.text(max_size=60))
def test_nothing_crashes(value: object, text: str) -> None:
    arguments = value if isinstance(value, dict) else {"slots": value, "verdict": "supported"}
    call = ToolCall(id="1", name="verdict", arguments=arguments)
    for reply in (Reply(calls=(call,)), Reply(text=json.dumps(value)), Reply(text=f"{text}{json.dumps(value)}{text}")):
        answer = read_answer(reply)
        if answer is not None:
            assert answer.ruling in RULINGS
            assert len(answer.reason) <= 300
            [slot] = compare_values([HIDDEN], answer.slots, [text])
            assert slot.outcome in ("same", "other", "not stated", "invented", "missing")
