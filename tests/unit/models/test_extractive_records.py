"""Rows which carry their headers answer questions about a cell by the others."""

from __future__ import annotations

import pytest
from extractive_asking import answered, found
from hypothesis import given
from hypothesis import strategies as st

from assay.core.phrases import NOTHING
from assay.models.extractive.passages import is_record, read_field
from assay.models.extractive.records import read_record

ROWS = """country: France | year: 2019 | population: 67.2 | capital: Paris
country: France | year: 2020 | population: 67.4 | capital: Paris
country: Germany | year: 2020 | population: 83.2 | capital: Berlin
"""
HEADS = st.text("abc ", min_size=1, max_size=8).map(str.strip).filter(bool)


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("What was the population of France in 2020?", ROWS.splitlines()[1]),
        ("What was the population of France in 2019?", ROWS.splitlines()[0]),
        ("What is the capital of Germany?", ROWS.splitlines()[2]),
    ],
)
def test_the_row_whose_other_cells_match_is_quoted_whole(question: str, row: str) -> None:
    lines = found(question, "countries", ROWS, "rows").splitlines()
    assert [line.rpartition(" [")[0] for line in lines] == [row]
    assert answered(question, "countries", ROWS, "rows").startswith(f"{row} [S1001.")


@pytest.mark.parametrize(
    "question", ["What was the population of France in 2018?", "What was the population of Portugal in 2020?"]
)
def test_a_row_of_another_year_or_country_does_not_answer(question: str) -> None:
    assert found(question, "countries", ROWS, "rows") == NOTHING


def test_a_row_is_no_header_field() -> None:
    assert read_field("S1.0", ROWS.splitlines()[0]) is None
    assert read_field("S1.0", "country: France") is not None


@given(st.lists(st.tuples(HEADS, HEADS), min_size=2, max_size=6))
def test_a_row_is_read_cell_by_cell(cells: list[tuple[str, str]]) -> None:
    text = " | ".join(f"{head}: {value}" for head, value in cells)
    assert is_record(text)
    assert len(read_record(text)) == len(cells)


@given(st.text("ab:| \n", max_size=60))
def test_other_text_has_no_cells_or_is_a_row(text: str) -> None:
    assert bool(read_record(text)) == is_record(text)
