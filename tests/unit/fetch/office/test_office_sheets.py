"""Spreadsheets: rows with their headers, and the cells they stand in."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from office_files import TABLE, book, open_sheet
from sampling import scaled

from assay.core.errors import ExtractError
from assay.core.sources import MAX_PASSAGE_CHARS
from assay.evidence.segment import segment
from assay.fetch.office.xlsx import OdsExtractor, XlsxExtractor, column_letters, format_value


def test_a_row_carries_its_headers_and_where_it_stands():
    (found,) = XlsxExtractor().extract(book({"Ports": TABLE}), "ports.xlsx")
    lines = [span.text for span in segment(found.text, found.syntax)]
    assert lines == [
        "Port: Harwich | Depth: 12 m | cells: A2:B2",
        "Port: Goole | Depth: 7 m | cells: A3:B3",
    ]
    assert found.metadata == {"sheet": "Ports", "rows": "3", "columns": "Port, Depth"}


def test_a_sheet_is_a_document_and_hidden_ones_are_left_out():
    data = book({"Ports": TABLE, "Empty": [], "Notes": TABLE, "Secret": TABLE}, hidden="Secret")
    found = list(XlsxExtractor().extract(data, "b.xlsx"))
    assert [each.title for each in found] == ["b.xlsx: Ports", "b.xlsx: Notes"]
    assert all(each.body is None for each in found)  # one snapshot: the workbook


def test_numbers_follow_the_rows_of_the_sheet():
    rows = [["Depths of ports"], [], ["Port", "Depth"], ["Harwich", 12], [], ["Goole", 7.5]]
    (found,) = XlsxExtractor().extract(book({"S": rows}), "b.xlsx")
    assert found.text.splitlines()[0] == "Depths of ports | cells: A1:B1"
    assert "Port: Harwich | Depth: 12 | cells: A4:B4" in found.text
    assert "Port: Goole | Depth: 7.5 | cells: A6:B6" in found.text


def test_rows_that_share_a_merged_cell_all_have_its_text():
    rows = [
        ["Crews"],
        [],
        ["Ship", "Role"],
        ["Otter", "Captain"],
        [None, "Mate"],
        [None, None],
        [None, "Cook"],
        [None, "None"],
    ]
    (found,) = XlsxExtractor().extract(book({"S": rows}, merged=["A1:B2", "A4:A7"]), "b.xlsx")
    assert found.text.split("\n\n") == [
        "Crews | cells: A1:B1",
        "Ship: Otter | Role: Captain | cells: A4:B4",
        "Ship: Otter | Role: Mate | cells: A5:B5",
        "Ship: Otter | Role: Cook | cells: A7:B7",
        "Role: None | cells: A8:B8\n",
    ]


def test_a_head_of_two_rows_below_notes():
    rows = [
        ["Harbours"],
        ["As of", datetime.date(2024, 3, 1)],
        ["Region", "Revenue", None, "Costs", None],
        [None, 2023, 2024, 2023, 2024],
        ["North", 5, 6, 3, 2],
        ["South", 7, 8, 4, 4],
    ]
    (found,) = XlsxExtractor().extract(book({"S": rows}, merged=["A3:A4", "B3:C3", "D3:E3"]), "b.xlsx")
    assert found.text.split("\n\n")[:3] == [
        "Harbours | cells: A1:E1",
        "As of | 2024-03-01 | cells: A2:E2",
        "Region: North | Revenue 2023: 5 | Revenue 2024: 6 | Costs 2023: 3 | Costs 2024: 2 | cells: A5:E5",
    ]


@pytest.mark.parametrize(
    ("notes", "name", "day"),
    [
        ([["Prices"], ["As of", datetime.date(2024, 3, 1)]], "b.xlsx", "2024-03-01"),
        ([["Prices", "Stand: 01.03.2024"]], "b.xlsx", "2024-03-01"),
        ([["Price list, updated March 2024"]], "b-2024-04-01.xlsx", "2024-03"),
        ([["Prices after the flood of 1 March 2024"]], "b.xlsx", ""),
        ([], "prices_2024-03-01.xlsx", "2024-03-01"),
        ([], "b.xlsx", ""),
    ],
)
def test_the_day_in_the_notes_above_a_head_is_that_of_the_sheet(notes: list[list[object]], name: str, day: str):
    rows = [*notes, ["Port", "Since", "Dues"], ["Goole", datetime.date(1826, 7, 20), 7], ["Hull", "12 May 1778", 9]]
    (found,) = XlsxExtractor().extract(book({"S": rows}), name)
    assert found.published == day


def test_a_second_table_below_an_empty_row_has_its_own_head():
    rows = [["Item", "Price"], ["Oar", 12], ["Sail", 99], [], ["Total", 111], [], ["Discount", "Percent"], ["Club", 10]]
    (found,) = XlsxExtractor().extract(book({"S": rows}), "b.xlsx")
    assert found.text.split("\n\n")[1:] == [
        "Item: Sail | Price: 99 | cells: A3:B3",
        "Item: Total | Price: 111 | cells: A5:B5",
        "Discount: Club | Percent: 10 | cells: A8:B8\n",
    ]


def test_without_a_header_columns_are_their_letters():
    (found,) = XlsxExtractor().extract(book({"S": [[1, 2], [3, 4]]}), "b.xlsx")
    assert found.text.splitlines()[0] == "column A: 1 | column B: 2 | cells: A1:B1"


def test_an_open_document_sheet():
    (found,) = OdsExtractor().extract(open_sheet(), "ports.ods")
    assert "Port: Goole | Depth: 7 m | cells: A3:B3" in found.text


def test_a_book_without_values_is_refused():
    with pytest.raises(ExtractError, match="no values"):
        list(XlsxExtractor().extract(book({"S": []}), "b.xlsx"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12.0, "12"),
        (0.1, "0.1"),
        (True, "TRUE"),
        (datetime.datetime(2020, 1, 2), "2020-01-02"),
        (datetime.datetime(2020, 1, 2, 3, 4), "2020-01-02 03:04:00"),
        (datetime.date(2020, 1, 2), "2020-01-02"),
        ("", ""),
    ],
)
def test_values_as_text(value: float | str | datetime.date, text: str):
    assert format_value(value) == text


@given(st.integers(0, 16_383))
def test_letters_count_as_sheets_do(column: int):
    number = 0
    for letter in column_letters(column):
        number = number * 26 + ord(letter) - ord("A") + 1
    assert number == column + 1


CELL = st.one_of(st.none(), st.integers(-1000, 1000), st.text("abc äöü|:.\n ", max_size=700))


@settings(max_examples=scaled(20), deadline=None)
@given(st.lists(st.lists(CELL, min_size=1, max_size=5), min_size=1, max_size=6))
def test_no_line_is_past_a_passage_and_no_cell_is_lost(rows: list[list[int | str | None]]):
    try:
        found = list(XlsxExtractor().extract(book({"S": rows}), "b.xlsx"))
    except ExtractError:
        assert not any(str(cell).strip() for row in rows for cell in row if cell is not None)
        return
    text = "".join(each.text for each in found)
    assert all(len(span.text) <= MAX_PASSAGE_CHARS for each in found for span in segment(each.text, each.syntax))
    assert all(str(cell) in text for row in rows for cell in row if isinstance(cell, int))
