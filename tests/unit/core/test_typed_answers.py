"""Fields of typed answers as a report holds them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.core.claims import Claim, Verdict
from assay.core.typed_answers import GONE, Field, report_fields, shape_answer


def filled(*path: str | int, value: Any = "x", sentence: str = "A of b: x") -> Field:
    return Field(path=path, value=value, sentence=sentence, passages=("S1.1",))


def claim(text: str, verdict: Verdict = "supported") -> Claim:
    return Claim(id="c1", text=text, start=0, end=len(text), passages=("S1.1",), verdict=verdict, reason="why")


def test_a_field_has_the_verdict_of_its_sentence() -> None:
    found = report_fields([filled("a")], [claim("A of b: x")])["a"]
    assert (found.value, found.verdict, found.reason, found.claims) == ("x", "supported", "why", ("c1",))
    assert found.passages == ("S1.1",)


def test_a_refuted_value_is_taken_back_with_the_reason() -> None:
    for verdict in ("unsupported", "contradicted"):
        found = report_fields([filled("a")], [claim("A of b: x", verdict)])["a"]
        assert (found.value, found.verdict, found.reason) == (None, verdict, "why")


def test_a_value_whose_sentence_was_changed_or_removed_is_taken_back() -> None:
    found = report_fields([filled("a")], [claim("A of b: y")])["a"]
    assert (found.value, found.reason, found.claims) == (None, GONE, ())


def test_an_empty_field_keeps_its_reason() -> None:
    found = report_fields([Field(path=("a",), reason="no passage says it")], [])["a"]
    assert (found.value, found.verdict, found.reason) == (None, "", "no passage says it")


def test_values_are_put_in_the_shape_asked_for() -> None:
    fields = [
        filled("a", value=1),
        filled("b", "c", value=("x", "y")),
        filled("d", 0, "e", value=True),
        filled("d", 1, "e", value=None, sentence=""),
    ]
    values = report_fields(fields, [claim("A of b: x")])
    assert list(values) == ["a", "b.c", "d[0].e", "d[1].e"]
    assert shape_answer(fields, values) == {"a": 1, "b": {"c": ("x", "y")}, "d": [{"e": True}, {"e": None}]}


def test_without_fields_there_is_no_data() -> None:
    assert shape_answer([], {}) is None


names = st.sampled_from("abcdef")


@given(st.dictionaries(names, st.dictionaries(names, st.integers(), min_size=1), min_size=1), st.lists(st.integers()))
def test_every_value_is_found_again_by_its_path(groups: dict[str, dict[str, int]], items: list[int]) -> None:
    fields = [filled(name, key, value=value) for name, group in groups.items() for key, value in group.items()]
    fields += [filled("list", at, "n", value=value) for at, value in enumerate(items)]
    data = shape_answer(fields, report_fields(fields, [claim("A of b: x")]))
    for field in fields:
        at: Any = data
        for part in field.path:
            at = at[part]
        assert at == field.value
