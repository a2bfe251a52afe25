"""Rows with the headers of their columns."""

from __future__ import annotations

import pytest

from assay.core.tables.cells import ReadTable, TablePiece, read_tables
from assay.core.tables.rows import compare_whole_row, format_row, readable_row

TABLE = """| provider | needs | options |
|---|---|---|
| `vorax` | | country |
| `brax`, `drax` | a key; the last also a name | dates |
| `trax` | an address | country, dates |"""


def tables(text: str = TABLE, title: str = "Search providers") -> tuple[ReadTable, ...]:
    return read_tables([TablePiece(str(at), line) for at, line in enumerate(text.splitlines())], title)


@pytest.mark.parametrize(
    ("row", "head", "stated"),
    [
        (
            "| `vorax` | | country |",
            "| provider | needs | options |",
            "provider: `vorax` | needs: – | options: country",
        ),
        ("| Vorax | 8 |", "| | Speed |", "Vorax | Speed: 8"),
        ("| Vorax | 8 |", "| Gear | Speed | Depth |", ""),
        ("| Vorax | 8 |", "alpha", ""),
        ("Vorax needs oil.", "| Gear |", ""),
    ],
)
def test_a_row_is_stated_with_the_headers_that_fit_it(row: str, head: str, stated: str) -> None:
    assert format_row(row, head) == stated


def test_a_stated_row_is_what_its_table_says_or_another() -> None:
    statement = "provider: `trax` | needs: an address | options: country, dates"
    assert compare_whole_row(statement, tables()) == (True, statement)
    assert compare_whole_row(statement.replace("an address", "a key"), tables()) == (False, statement)
    assert compare_whole_row("provider: `nax` | needs: – | options: –", tables()) is None
    assert compare_whole_row("Trax needs an address.", tables()) is None


READABLE = "`trax` – needs: an address; options: country, dates"


def test_a_row_as_people_read_it_is_what_its_table_says_or_another() -> None:
    assert compare_whole_row(READABLE, tables()) == (True, READABLE)
    assert compare_whole_row(READABLE.replace("an address", "a key"), tables()) == (False, READABLE)
    assert compare_whole_row("`trax` – needs: an address; no options", tables()) is None


@pytest.mark.parametrize(
    ("row", "readable"),
    [
        ("provider: `trax` | needs: an address | options: country, dates", READABLE),
        ("provider: `vorax` | needs: – | options: country", "`vorax` – options: country"),
        ("word: lane | meaning: a branch of a run", "lane – meaning: a branch of a run"),
        ("Port: 80 | Depth: 3 m", "Port: 80; Depth: 3 m"),
        ("Range: kind: number | default: 400", "Range: kind: number; default: 400"),
        ("note: - | needs: a key", "note: -; needs: a key"),
        ("word: lane | meaning: –", "lane – meaning: –"),
        ("The command is a | b.", "The command is a | b."),
        ("A sentence.", "A sentence."),
    ],
)
def test_a_row_as_people_read_it(row: str, readable: str) -> None:
    assert readable_row(row) == readable


def test_a_row_whose_header_row_is_only_its_label_is_of_a_table() -> None:
    piece = TablePiece("S1.5", "| `trax` | an address | dates |", label="| provider | needs | options |")
    (table,) = read_tables([piece])
    assert table.heads == ("provider", "needs", "options")
    assert [row.text(1) for row in table.rows] == ["an address"]
