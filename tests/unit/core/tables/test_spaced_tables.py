"""Tables in plain text whose columns only spaces or tabs set apart."""

from __future__ import annotations

import pytest
from extractive_asking import found
from hypothesis import given
from hypothesis import strategies as st

from assay.core.phrases import NOTHING
from assay.core.plain_text import spaced_rows
from assay.core.tables.cells import TablePiece, read_tables
from assay.core.tables.table_questions import answer

FERRIES = (
    "Departure    Arrival     Days             Vessel\n"
    "06:10        06:28       Mon-Fri          Sandpiper\n"
    "07:30        07:48                        Curlew\n"
    "19:20        19:38       daily            Old Marigold\n"
)
PRICES = (
    "Description                     Unit        Price GBP    Minimum order\n"
    "K-1001        Paper cups 200 ml               1000 pcs        21.50                5\n"
    "K-1045        Napkins, two-ply, green         2400 pcs        36.40                1\n"
    "K-2200        Hand soap, unscented            5 litres        12.95                4"
)
JUSTIFIED = (
    "The  memory  usage of 4 programs varies from a few\n"
    "hundred  kilobytes to  several gigabytes in 2 ways\n"
    "depending  on the compression  settings of 3 sorts\n"
)


def cells(text: str) -> list[list[str]]:
    return [[text[start:end] for start, end in row] for row in spaced_rows(text)]


def test_columns_are_what_stands_above_each_other() -> None:
    assert cells(FERRIES)[2] == ["07:30", "07:48", "", "Curlew"]
    assert cells(PRICES)[0] == ["", "Description", "Unit", "Price GBP", "Minimum order"]
    assert cells("a\tn\tb\n1\t2\t3\n4\t5\t6") == [["a", "n", "b"], ["1", "2", "3"], ["4", "5", "6"]]


@pytest.mark.parametrize(
    "text",
    [
        JUSTIFIED,
        "-f        the file of 1 name\n-v        be verbose to 2 people\n-q        be quiet",
        "One line  with 2  gaps\nand another  of 3  of them",
        "| a  | b  | c |\n| 1  | 2  | 3 |\n| 4  | 5  | 6 |",
        "Anna    Hull    cook\nBert    York    smith\nCarl    Leeds   clerk",
        "",
    ],
)
def test_what_is_no_table(text: str) -> None:
    assert spaced_rows(text) == ()


def test_cells_have_their_bytes_and_continue_in_the_next_passage() -> None:
    first, rest = PRICES.rsplit("\nK-2200", 1)
    more = f"K-2200{rest}\nK-2210        Surface disinfectant é          10 litres       48.60                2\n"
    more += "K-2215        Dishwasher tablets              200 pcs         19.90                3"
    (table,) = read_tables([TablePiece("0", f"{first}\n{first.splitlines()[1]}", 7), TablePiece("1", more, 900)])
    assert table.heads == ("column 1", "Description", "Unit", "Price GBP", "Minimum order")
    row = table.rows[-2]
    assert row.names == ("1",)
    assert more.encode()[row.cells[3].start - 900 : row.cells[3].end - 900] == b"48.60"
    asked = answer("What is the price of K-2215?", [table])
    assert asked is not None
    assert [each.text for each in asked.answers] == ["Price GBP of K-2215: 19.90"]


def test_a_row_is_quoted_with_its_heads() -> None:
    said = found("What is the price of green napkins?", "Prices", PRICES, "plain").splitlines()[0]
    assert said.startswith("K-1045 | Description: Napkins, two-ply, green | Unit: 2400 pcs | Price GBP: 36.40 | ")
    assert "Vessel: Curlew" in found("Which vessel leaves at 07:30?", "Ferries", FERRIES, "plain").splitlines()[0]
    assert found("What does a helmet weigh?", "Prices", PRICES, "plain") == NOTHING


@given(st.text(alphabet="a1 \t\n|é", max_size=80))
def test_any_text_may_be_read(text: str) -> None:
    rows = spaced_rows(text)
    assert len({len(row) for row in rows}) <= 1
    for row in rows:
        assert all(0 <= start <= end <= len(text) for start, end in row)
    read_tables([TablePiece("0", text)])
