"""What a model gives for a field, as what the schema asks for; held against the library jsonschema-rs."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.phases.fields.answer import fill_tool
from assay.phases.fields.schema import FieldGroup, FieldSlot, Leaf
from assay.phases.fields.values import UnfitValue, convert_value, list_values


@pytest.mark.parametrize(
    ("leaf", "value", "expected"),
    [
        (Leaf(type="integer"), "1,234", 1234),
        (Leaf(type="integer"), 7.0, 7),
        (Leaf(type="integer"), "−3", -3),
        (Leaf(type="number"), "67.4", 67.4),
        (Leaf(type="number"), "1 000 000", 1_000_000),
        (Leaf(type="boolean"), "Yes", True),
        (Leaf(type="boolean"), False, False),
        (Leaf(type="string"), 6, "6"),
        (Leaf(type="string"), "  a\n b [S1.2]", "a b"),
        (Leaf(type="string", enum=("Draft", "Final")), "final", "Final"),
        (Leaf(type="integer", enum=(1, 2)), "2", 2),
        (Leaf(type="string", format="date"), "13-Jun-2000", "2000-06-13"),
        (Leaf(type="string", format="date"), "June 13, 2000", "2000-06-13"),
        (Leaf(type="string", format="date"), "2000-06-13T10:00:00Z", "2000-06-13"),
        (Leaf(type="string", format="date-time"), "2000-06-13T10:00:00Z", "2000-06-13T10:00:00+00:00"),
    ],
)
def test_what_means_the_same_is_read(leaf: Leaf, value: object, expected: object) -> None:
    found = convert_value(leaf, value)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("leaf", "value", "reason"),
    [
        (Leaf(type="integer"), "about 7", "no number"),
        (Leaf(type="integer"), 7.5, "no whole number"),
        (Leaf(type="integer"), True, "no number"),
        (Leaf(type="number"), "nan", "no number"),
        (Leaf(type="number"), "9" * 400, "no number"),
        (Leaf(type="boolean"), "perhaps", "neither true nor false"),
        (Leaf(type="string"), {"a": 1}, "no text"),
        (Leaf(type="string"), "  ", "no text"),
        (Leaf(type="string"), "x" * 3_000, "longer than"),
        (Leaf(type="string", enum=("a",)), "b", "none of a"),
        (Leaf(type="string", format="date"), "June 2000", "no whole date"),
        (Leaf(type="string", format="date"), "2000-02-31", "no whole date"),
        (Leaf(type="string", format="date-time"), "noon", "no date with a time"),
        (Leaf(type="integer", bounds={"maximum": 5}), 6, "outside its bounds"),
        (Leaf(type="number", bounds={"exclusiveMinimum": 0}), 0, "outside its bounds"),
        (Leaf(type="string", bounds={"maxLength": 2}), "abc", "bounds do not allow"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(leaf: Leaf, value: object, reason: str) -> None:
    with pytest.raises(UnfitValue, match=reason):
        convert_value(leaf, value)


def test_a_list_holds_each_value_once_and_keeps_its_bounds() -> None:
    slot = FieldSlot(name="a", leaf=Leaf(type="integer"), is_list=True, max_count=2)
    assert list_values(slot, ["1", 1, 2]) == (1, 2)
    assert list_values(slot, 7) == (7,)
    with pytest.raises(UnfitValue, match="3 values are not from 0 to 2"):
        list_values(slot, [1, 2, 3])


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | st.lists(st.integers())
leaves = st.builds(
    Leaf,
    type=st.sampled_from(["string", "integer", "number", "boolean"]),
    bounds=st.fixed_dictionaries(
        {},
        optional={
            "minimum": st.integers(-5, 5),
            "exclusiveMaximum": st.integers(-5, 5),
            "maxLength": st.integers(0, 12),
        },
    ),
) | st.builds(Leaf, type=st.just("string"), enum=st.just(("yes", "No", "maybe so")))


@given(leaves, values)
def test_whatever_is_read_satisfies_the_schema(leaf: Leaf, value: Any) -> None:
    slot = FieldSlot(name="a", leaf=leaf)
    schema = fill_tool(FieldGroup(slots=(slot,)), [slot]).parameters["properties"]["fields"]["properties"]["a"]
    wanted = schema["properties"]["value"]
    try:
        found = convert_value(leaf, value)
    except UnfitValue:
        if type(value) in (bool, int) or (isinstance(value, str) and value == " ".join(value.split()) and value):
            refused = isinstance(value, str) and "[" in value  # a marker may have been taken out
            assert refused or not jsonschema_rs.is_valid(wanted, value)
        return
    jsonschema_rs.validate(wanted, found)
