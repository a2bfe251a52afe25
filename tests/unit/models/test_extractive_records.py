"""Rows which carry their headers answer questions about a cell by the others."""

from __future__ import annotations

import pytest
from extractive_asking import answered, found

from assay.core.phrases import NOTHING
from assay.models.shown_documents.passages import read_field

ROWS = """country: France | year: 2019 | population: 67.2 | capital: Paris
country: France | year: 2020 | population: 67.4 | capital: Paris
country: Germany | year: 2020 | population: 83.2 | capital: Berlin
"""


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


TABLE = """# Providers

| provider | needs | options |
|---|---|---|
| `vorax` | | country |
| `brax`, `drax` | a key | dates |
| `trax` | an address | country, dates |
"""


def test_a_question_that_denies_something_is_answered_by_the_rows_that_lack_it() -> None:
    lines = found("Which search providers need no key?", "Search on the web", TABLE).splitlines()
    assert lines == [
        "provider: `vorax` | needs: – | options: country [S1001.2]",
        "provider: `trax` | needs: an address | options: country, dates [S1001.4]",
    ]
    assert answered("Which search providers need no key?", "Search on the web", TABLE).startswith(lines[0])
