"""Tables of print: pieces in columns become rows with heads; all else stays text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pdfs import Placed, pdf

from assay.fetch.pdf.document import read
from assay.fetch.pdf.paragraphs import LineOfPrint, PrintedLine, PrintedPart, find_tables, paragraphs

HEAD = ("River", "Length", "Continent")


def placed(rows: Sequence[Sequence[str]], *, top: float = 700, step: float = 18, width: float = 130) -> list[Placed]:
    return [
        (72 + width * at, top - step * number, cell)
        for number, row in enumerate(rows)
        for at, cell in enumerate(row)
        if cell
    ]


def text(lines: list[Placed]) -> list[str]:
    (document,) = read(pdf([lines]), "rivers.pdf", "pdf/2")
    return document.text.split("\n\n")


def test_rows_carry_their_heads_and_empty_cells_are_left_out() -> None:
    rows = [HEAD, ("Nile", "6650", "Africa"), ("Rhine", "", "Europe"), ("Volga", "3531", "Europe")]
    assert text([(72, 740, "Some rivers of the world."), *placed(rows), (72, 600, "That is all of them.")]) == [
        "Some rivers of the world.",
        "| River: Nile | Length: 6650 | Continent: Africa |",
        "| River: Rhine | Continent: Europe |",
        "| River: Volga | Length: 3531 | Continent: Europe |",
        "That is all of them.",
    ]


def test_a_cell_which_goes_on_in_the_next_line_is_one() -> None:
    rows = placed([HEAD, ("Nile", "6650", "Africa"), ("Amazon", "6400", "South"), ("Volga", "3531", "Europe")], step=30)
    assert "| River: Amazon | Length: 6400 | Continent: South America |" in text(
        [*rows[:9], (332, 626, "America"), *rows[9:]]
    )


@pytest.mark.parametrize(
    "rows",
    [
        [("Nile", "6650", "Africa"), ("Rhine", "1233", "Europe"), ("Volga", "3531", "Europe")],
        [("x", "y", "z"), ("1", "2", "3"), ("4", "5", "6")],
        [HEAD, ("Nile", "6650", "Africa")],
    ],
)
def test_without_a_line_of_heads_it_is_text(rows: list[tuple[str, ...]]) -> None:
    assert not any(line.startswith("|") for line in text(placed(rows)))


def test_columns_of_prose_are_no_table() -> None:
    left = ["The first column of this page tells", "one thing, and goes on for some", "lines until it comes to an end."]
    right = ["the second column tells another,", "which has nothing to do with it,", "and it also ends after a while."]
    rows = list(zip(left, right, strict=True))
    assert not any(line.startswith("|") for line in text(placed(rows, width=240, step=14)))


def test_pieces_which_fit_no_column_end_a_table() -> None:
    def line(base: float, *spans: tuple[str, float, float]) -> LineOfPrint:
        return LineOfPrint(tuple(PrintedPart(*span) for span in spans), base, 10)

    lines = [
        line(100, ("Name", 0, 40), ("Size", 60, 90)),
        line(88, ("Anna", 0, 30), ("12", 60, 70)),
        line(76, ("Bert", 0, 30), ("14", 60, 70)),
        line(64, ("a line over both of them", 10, 85)),
    ]
    (table,) = find_tables(lines)
    assert (table.first, table.last) == (0, 3)
    assert table.rows == ("| Name: Anna | Size: 12 |", "| Name: Bert | Size: 14 |")


def test_a_row_with_long_cells_has_the_columns_of_the_row_beside_it() -> None:
    names = [("Place", "Opened on", "Length"), ("Aa", "1 May", "6"), ("The old quay of Harwich", "30 June 1912", "450")]
    starts = (72, 216, 298)
    rows = [
        (start, 700 - 18 * at, cell) for at, row in enumerate(names) for start, cell in zip(starts, row, strict=True)
    ]
    assert text([*rows, (72, 600, "That is all of them, and none of the others was ever opened.")]) == [
        "| Place: Aa | Opened on: 1 May | Length: 6 |",
        "| Place: The old quay of Harwich | Opened on: 30 June 1912 | Length: 450 |",
        "That is all of them, and none of the others was ever opened.",
    ]


def printed(text: str, left: float, right: float, base: float) -> PrintedLine:
    return PrintedLine(text=text, left=left, right=right, base=base, size=11)


def test_a_narrow_column_below_a_wide_line_keeps_its_sentences() -> None:
    lines = [
        printed("A summary runs over both of the columns, and a long way to the right", 90, 500, 700),
        printed("The conductivity of the pellets was 298", 68, 287, 660),
        printed("K above all that was measured before in", 68, 286, 648),
        printed("Brest.", 68, 95, 636),
    ]
    assert paragraphs(lines)[1:] == [
        "The conductivity of the pellets was 298 K above all that was measured before in Brest."
    ]


def test_rows_of_figures_that_end_at_one_place_stay_rows() -> None:
    lines = [printed(f"{year} 30 July 310,{year}", 68, 287, 700 - 12 * year) for year in range(4)]
    wide = printed("A summary runs over both of the columns, and a long way to the right", 90, 500, 740)
    assert len(paragraphs([wide, *lines])) == 5
