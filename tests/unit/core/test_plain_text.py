"""Numbered titles and spaced columns in plain text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from extractive_asking import found
from hypothesis import given
from hypothesis import strategies as st

from assay.core.phrases import NOTHING
from assay.core.plain_text import sections, spaced_rows
from assay.core.tables.cells import TablePiece, read_tables
from assay.core.tables.table_questions import answer_question

# Titles of numbered sections, which only a line break parts from the sentences below them.

CONTRACT = (
    "2. Term and termination\n2.1 Duration\nThis agreement runs for three years from the day of its signature.\n"
    "2.2 Notice\nEither party may terminate it with six months' notice.\nNotice must be given in writing."
)


def parts(text: str) -> list[tuple[str, str]]:
    return [(title, text[start:end].strip()) for title, start, end in sections(text)]


def test_each_title_is_above_its_text() -> None:
    assert parts(CONTRACT) == [
        ("Term and termination Duration", "This agreement runs for three years from the day of its signature."),
        (
            "Term and termination Notice",
            "Either party may terminate it with six months' notice.\nNotice must be given in writing.",
        ),
    ]
    assert parts("§ 3 Öffnungszeiten\nDas Labor ist von 8 bis 18 Uhr geöffnet.")[0][0] == "Öffnungszeiten"


@pytest.mark.parametrize(
    "text",
    [
        "1. Apples\n2. Pears and other fruit\n3. Plums",
        "1. You may copy the package, if you give\nEvery reader the same rights.",
        "1. The pump was switched off.\nThen the valve was opened by hand.",
        "1. Nobody said that\nThe plan was approved by the whole council.",
        "3.1 The monthly fee is GBP 11,450 excluding VAT.\n3.2 Invoices are payable within 21 days.",
        "10. THIS PACKAGE IS PROVIDED AS IS\nAND WITHOUT WARRANTIES",
        "4. Liability\nis limited to the amount of the fees that were paid",
        "The total of\n12 Apples\nWas never counted by anybody here.",
    ],
)
def test_what_is_no_title(text: str) -> None:
    assert parts(text) == [("", text)]


@given(st.text(alphabet="12. §aB\n", max_size=60))
def test_parts_ascend_and_hold_all_but_titles(text: str) -> None:
    found = list(sections(text))
    assert all(start < end for _, start, end in found)
    assert all(one[2] <= other[1] for one, other in pairwise(found))


# Tables in plain text whose columns only spaces or tabs set apart.

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
    asked = answer_question("What is the price of K-2215?", [table])
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
