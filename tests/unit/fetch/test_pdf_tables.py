"""Tables of print: pieces in columns become rows with heads; all else stays text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from growth import WORST, exponent
from pdfs import Placed, pdf

from assay.fetch.pdf.document import read
from assay.fetch.pdf.paragraphs import PrintedLine, paragraphs
from assay.fetch.pdf.printed_tables import LineOfPrint, PrintedPart, find_tables

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


def test_a_value_has_the_name_of_its_group_before_that_of_its_column() -> None:
    rows = [
        ("", "2023", "2024", "2023", "2024"),
        ("North", "512", "634", "301", "298"),
        ("South", "77", "88", "41", "43"),
        ("West", "1020", "999", "645", "700"),
    ]
    groups = [(72, 718, "Region"), (200, 718, "Revenue"), (385, 718, "Costs")]  # over the middle of two columns each
    found = text([*groups, *placed(rows, width=90)])
    assert found[0] == "| Region: North | Revenue 2023: 512 | Revenue 2024: 634 | Costs 2023: 301 | Costs 2024: 298 |"
    assert len(found) == 3


def test_a_line_over_the_columns_alone_is_of_the_head_too() -> None:
    rows = [("", "2024", "2023"), ("Turnover", "512", "634"), ("Cost of sales", "77", "88"), ("Profit", "1020", "999")]
    found = text([(215, 718, "Year ended 31 December"), *placed(rows)])
    assert "Year ended 31 December 2024: 512 | Year ended 31 December 2023: 634" in found[0]


def test_names_of_groups_close_to_each_other_are_apart_beside_a_row_with_cells() -> None:
    groups = [(72, 718, "Region"), (140, 718, "Revenue (pounds)"), (250, 718, "Costs (pounds)")]
    rows = [
        ("", "2023", "2024", "2023", "2024"),
        ("North", "512", "634", "301", "298"),
        ("South", "77", "88", "41", "43"),
        ("West", "10", "9", "4", "7"),
    ]
    cells = [
        (left, 700 - 18 * at, cell)
        for at, row in enumerate(rows)
        for left, cell in zip((72, 140, 200, 250, 300), row, strict=True)
        if cell
    ]
    assert text([*groups, *cells])[0] == (
        "| Region: North | Revenue (pounds) 2023: 512 | Revenue (pounds) 2024: 634 | Costs (pounds) 2023: 301"
        " | Costs (pounds) 2024: 298 |"
    )


def test_the_label_of_a_total_may_reach_over_columns() -> None:
    rows = [("No.", "Item", "Price"), ("1", "Slates", "222"), ("2", "Work", "88"), ("Sum of all the work", "", "310")]
    assert text(placed(rows, width=60))[-1] == "| No.: Sum of all the work | Price: 310 |"
    rows[-1] = ("Prices are those of", "", "a year")
    assert "| No.: Prices are those of" not in "".join(text(placed(rows, width=60)))


def test_fields_below_each_other_stay_apart() -> None:
    lines = ["Invoice date: 14.11.2024", "Customer number: 40522", "Due on: 28.11.2024"]
    assert text([(300, 700 - 14 * at, line) for at, line in enumerate(lines)]) == [*lines[:2], lines[2]]


def test_lines_drawn_in_no_order_are_read_from_the_top() -> None:
    prose = [
        (72, 740, "The landlord lets the flat at Mill Lane to a tenant, who"),
        (72, 726, "pays a rent of 940 pounds."),
    ]
    rows = [("Meter", "Number", "Reading"), ("Water", "W-33", "482"), ("Gas", "G-20", "106"), ("Power", "P-88", "23")]
    lines = [*prose, *placed(rows, top=600, step=40)]
    half = len(lines) // 2
    shuffled = [line for pair in zip(lines[:half], lines[:half:-1], strict=False) for line in reversed(pair)]
    wanted = text(lines)
    assert wanted[0].endswith("to a tenant, who pays a rent of 940 pounds.")
    assert wanted[1] == "| Meter: Water | Number: W-33 | Reading: 482 |"
    assert text([*shuffled, *(line for line in lines if line not in shuffled)]) == wanted


def test_units_below_the_names() -> None:
    rows = [
        ("Port", "Depth", "Fee"),
        ("", "(m)", "(EUR)"),
        ("Goole", "7", "12"),
        ("Hull", "9", "14"),
        ("Ryde", "5", "8"),
    ]
    assert text(placed(rows))[0] == "| Port: Goole | Depth (m): 7 | Fee (EUR): 12 |"


def test_cells_of_several_lines_that_follow_each_other_in_the_file_are_one_row() -> None:
    head = [(72, 700, "Port"), (202, 700, "Greatest"), (202, 686, "depth"), (332, 700, "Harbour"), (332, 686, "master")]
    rows = [("Goole", "7", "Ann"), ("Hull", "9", "Bob"), ("Brest", "12", "Cleo")]
    first = placed(rows, top=660)
    wrapped = [(332, 600, "Dan of the"), (332, 586, "outer quay")]
    found = text([*head, *first, (72, 600, "Ryde"), (202, 600, "5"), *wrapped, (72, 540, "That is all of them.")])
    assert found == [
        "| Port: Goole | Greatest depth: 7 | Harbour master: Ann |",
        "| Port: Hull | Greatest depth: 9 | Harbour master: Bob |",
        "| Port: Brest | Greatest depth: 12 | Harbour master: Cleo |",
        "| Port: Ryde | Greatest depth: 5 | Harbour master: Dan of the outer quay |",
        "That is all of them.",
    ]


def test_short_texts_side_by_side_stay_texts() -> None:
    left = [(72, 700, "Anna Lee lives here,"), (72, 686, "in the High Street.")]
    right = [(332, 700, "Bob Ray lives there,"), (332, 686, "in the Low Street.")]
    assert text([*left, *right]) == [
        "Anna Lee lives here, in the High Street.",
        "Bob Ray lives there, in the Low Street.",
    ]


def test_a_long_page_of_figures_without_a_head_is_read_in_linear_time() -> None:
    parts = PrintedPart("1", 60, 90), PrintedPart("2", 160, 190)

    def page(size: int) -> list[LineOfPrint]:
        return [LineOfPrint(parts, 20_000 - 12 * at, 10) for at in range(size)]

    assert exponent(lambda lines: list(find_tables(lines)), page, 100) < WORST


def test_a_long_row_beside_a_tall_text_is_read_in_linear_time() -> None:
    def lines(count: int) -> list[PrintedLine]:
        places = [(6.0 * cell, 500.0) for cell in range(count)] + [
            (6.0 * count, 500 - 12.0 * down) for down in range(8)
        ]
        return [PrintedLine(text="a", left=left, right=left + 4, base=base, size=10) for left, base in places]

    assert exponent(paragraphs, lines, 500) < WORST


def test_a_long_table_is_one() -> None:
    names = PrintedPart("Port", 60, 90), PrintedPart("Depth", 160, 190)
    rows = [(PrintedPart(f"Goole {at}", 60, 110), PrintedPart(str(at), 160, 190)) for at in range(200)]
    lines = [LineOfPrint(parts, 20_000 - 12 * at, 10) for at, parts in enumerate([names, *rows])]
    (table,) = find_tables(lines)
    assert (table.first, table.last, table.rows[-1]) == (0, 201, "| Port: Goole 199 | Depth: 199 |")
