"""Heads of tables: notes above them, groups over names, units below them, and rows that only look like them."""

from __future__ import annotations

import pytest
from growth import WORST, exponent
from hypothesis import given
from hypothesis import strategies as st

from assay.core.tables.heads import FIGURE, find_head, read_head

VALUES = [["North", "5", "6", "3", "2"], ["South", "7", "8", "4", "4"]]


@pytest.mark.parametrize(
    ("head", "names"),
    [
        (
            [["Region", "Revenue", "", "Costs", ""], ["", "2023", "2024", "2023", "2024"]],
            ["Region", "Revenue 2023", "Revenue 2024", "Costs 2023", "Costs 2024"],
        ),
        (
            [["", "2023", "", "2024", ""], ["Region", "Q1", "Q2", "Q1", "Q2"]],
            ["Region", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"],
        ),
        (
            [["Place", "", "Traffic", "", ""], ["Name", "Code", "Ships", "Boats", "Rafts"]],
            ["Place Name", "Place Code", "Traffic Ships", "Traffic Boats", "Traffic Rafts"],
        ),
        (
            [["Region", "Sales", "", "", ""], ["", "2023", "", "2024", ""], ["", "H1", "H2", "H1", "H2"]],
            ["Region", "Sales 2023 H1", "Sales 2023 H2", "Sales 2024 H1", "Sales 2024 H2"],
        ),
        (
            [["Region", "Depth", "Area", "Cost", "Fee"], ["", "(m)", "ha", "EUR", "%"]],
            ["Region", "Depth (m)", "Area (ha)", "Cost (EUR)", "Fee (%)"],
        ),
        ([["Region", "Depth", "Area", "Cost", "Fee"]], ["Region", "Depth", "Area", "Cost", "Fee"]),
        ([["", "North", "South", "East", "West"]], ["", "North", "South", "East", "West"]),
    ],
)
def test_names_of_several_rows(head: list[list[str]], names: list[str]):
    assert read_head([*head, *VALUES]) == (names, len(head))


@pytest.mark.parametrize(
    "rows",
    [
        [["", "Heron", "Otter"], ["Engine", "petrol", "diesel"], ["Power", "90", "100"], ["Weight", "1200", "1250"]],
        [["Port", "Depth"], ["Goole", "n/a"], ["Hull", "9"], ["Brest", "12"]],
        [["Port", "Master"], ["Goole", "Ann"], ["Hull", "Bob"]],
        [["", "2023", "2024"], ["Sales", "high", "low"], ["Costs", "5", "6"]],
    ],
)
def test_a_first_row_of_values_is_no_part_of_the_head(rows: list[list[str]]):
    assert read_head(rows) == (rows[0], 1)


@pytest.mark.parametrize("first", ["Fish", "", "Kind"])
def test_below_a_merged_cell_a_row_that_begins_otherwise_has_values(first: str):
    rows = [["Kind", "Colour", "Colour"], [first, "red", "blue"], ["Bird", "grey", "brown"]]
    assert bool(read_head(rows)[0]) is (first != "Fish")


@pytest.mark.parametrize(
    "notes",
    [
        [],
        [["Harbours", "", ""]],
        [["Harbours in spring", "", ""], ["As of", "1 March 2024", ""]],
        [["Source:", "the office", "a survey"], ["Figures are those of the last count.", "", ""]],
        [["Harbours", "2024-03-01", ""], ["Depths are below the lowest tide", "", ""]],
    ],
)
def test_notes_above_the_head(notes: list[list[str]]):
    rows = [*notes, ["Port", "Depth", "Ships"], ["Goole", "7", "3"], ["Hull", "9", "4"]]
    assert find_head(rows, 3) == (len(notes), ["Port", "Depth", "Ships"], len(notes) + 1)


def test_of_two_columns_a_key_with_a_day_is_a_note():
    rows = [["As of", "1 March 2024"], ["Port", "Depth"], ["Goole", "7"], ["Hull", "9"]]
    assert find_head(rows, 2) == (1, ["Port", "Depth"], 2)


def test_no_row_below_a_row_of_values_is_a_head():
    assert find_head([["1.5", "2"], ["a", "b"], ["3", "4"]], 2) == (0, [], 0)


@given(st.lists(st.lists(st.sampled_from(["", "a", "b", "2023", "5", "(m)", "x y."]), max_size=4), max_size=6))
def test_any_rows_have_a_head_within_them_or_none(rows: list[list[str]]):
    start, names, end = find_head(rows, 3)
    assert (names, start, end) == ([], 0, 0) or 0 <= start < end < len(rows)


def test_a_cell_of_many_digits_is_read_in_linear_time() -> None:
    def cell(digits: int) -> str:
        return f"{'1' * digits}x"

    assert exponent(FIGURE.fullmatch, cell, 1_000) < WORST


@pytest.mark.parametrize("cell", ["1", "-1 234.50", "+1'234", "12 %", "1,", ".5", "2024-05", "2024-05-01T10:00"])
def test_figures(cell: str) -> None:
    assert FIGURE.fullmatch(cell)


@pytest.mark.parametrize("cell", ["", "-", "1 a", "a 1", "1 .", "1-2", "%"])
def test_what_is_no_figure(cell: str) -> None:
    assert not FIGURE.fullmatch(cell)
