"""Conditions on header fields, compared by code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from research import document

from assay.core.errors import ToolError
from assay.phases.survey.filters import Header, matching_fields, read_conditions, read_header

TEXT = "PEP: 6\nTitle: Typing of Things\nAuthor: Ann Lee, Bo Ek\nStatus: Superseded\nCreated: 15-Mar-2001\nSize: 12\n"


def header(text: str = TEXT) -> Header:
    return read_header(document("a.md", text), text.encode())


@pytest.mark.parametrize(
    ("condition", "meets"),
    [
        ("status = Superseded", True),
        ("Status = superseded", True),
        ("status = Super", False),
        ("status = Final | Superseded", True),
        ("status != Final", True),
        ("status != Superseded", False),
        ("author = Bo Ek", True),
        ("author = Bo", False),
        ("author ~ Ek", True),
        ("title ~ typing", True),
        ("title ~ type", False),
        ("created ~ 2001", True),
        ("created = 2001-03-15", True),
        ("created = 15-Mar-2001", True),
        ("created < 2001-03-16", True),
        ("created < 2001", False),
        ("created <= 2001", True),
        ("created > 2000", True),
        ("created > 2001", False),
        ("created >= 2001", True),
        ("size > 9", True),
        ("size < 9", False),
        ("size >= 12", True),
        ("title < 5", False),
        ("sponsor = Ann", False),
        ("sponsor = *", False),
        ("pep = *", True),
        ("sponsor != Ann", False),
    ],
)
def test_one_condition(condition: str, meets: bool) -> None:
    assert (matching_fields(header(), read_conditions([condition])) is not None) is meets


def test_all_conditions_must_hold_and_their_fields_are_the_evidence() -> None:
    met = matching_fields(header(), read_conditions(["status = Superseded", "created > 2000"]))
    assert met is not None
    assert [field.key for field in met] == ["Status", "Created"]
    assert matching_fields(header(), read_conditions(["status = Superseded", "created > 2005"])) is None
    kind = matching_fields(header(), read_conditions(["pep = *", "status = Superseded"]))
    assert kind is not None
    assert [field.key for field in kind] == ["Status"]


@pytest.mark.parametrize("texts", [[], ["status"], ["= x"], ["status = "], ["status = | "], ["a = b"] * 9, ["?!"]])
def test_what_is_no_condition_is_refused(texts: list[str]) -> None:
    with pytest.raises(ToolError):
        read_conditions(texts)


def test_a_condition_says_itself() -> None:
    assert str(read_conditions(["status = A | B"])[0]) == "Status = A or B"
    assert str(read_conditions(["pep = *"])[0]) == "Any pep"
    assert str(read_conditions(["created < 2001"])[0]) == "Created before 2001"


statuses = st.sampled_from(["Final", "Draft", "Rejected"])


@given(st.lists(statuses, max_size=20), statuses)
def test_filters_divide_documents(values: list[str], wanted: str) -> None:
    headers = [header(f"PEP: {number}\nStatus: {value}\n") for number, value in enumerate(values)]
    having = [each for each in headers if matching_fields(each, read_conditions([f"status = {wanted}"]))]
    lacking = [each for each in headers if matching_fields(each, read_conditions([f"status != {wanted}"]))]
    assert len(having) == values.count(wanted)
    assert len(having) + len(lacking) == len(values)


@given(st.text(max_size=60))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        conditions = read_conditions([text])
    except ToolError:
        return
    assert matching_fields(header(), conditions) in (None, *[(field,) for field in header().fields])
