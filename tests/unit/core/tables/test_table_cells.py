"""Cells bound to their heads, whatever form a row has."""

from __future__ import annotations

import pytest
from growth import WORST, exponent
from hypothesis import given
from hypothesis import strategies as st

from assay.core.tables.cells import ReadTable, TablePiece, read_tables
from assay.core.tables.figures import figures_of
from assay.fetch.text_form import row_lines, unique_column_names

PLAIN = st.text(st.characters(categories=("L", "N", "P", "Zs"), exclude_characters="|¦:\\\u00a0"), min_size=1)


def pieces(*lines: str, start: int = 0) -> list[TablePiece]:
    found: list[TablePiece] = []
    for number, line in enumerate(lines):
        found.append(TablePiece(f"S1.{number}", line, start))
        start += len(line.encode()) + 2
    return found


def bound(table: ReadTable) -> list[dict[str, str]]:
    return [{table.heads[at]: cell.text for at, cell in row.cells.items()} for row in table.rows]


@pytest.mark.parametrize("bars", ["{}", "| {} |"])
def test_rows_which_carry_their_heads(bars: str) -> None:
    lines = [bars.format("port: Goole | depth: 7 m"), bars.format("port: Hull | tide: 6.1 | depth: 9 m")]
    (table,) = read_tables(pieces(*lines), "ports.csv")
    assert table.heads == ("port", "tide", "depth")
    assert bound(table) == [{"port": "Goole", "depth": "7 m"}, {"port": "Hull", "tide": "6.1", "depth": "9 m"}]
    assert table.columns == (("Goole", "Hull"), ("", "6.1"), ("7 m", "9 m"))


def test_rows_below_their_heads_with_rules_and_empty_cells() -> None:
    (table,) = read_tables(pieces("Table 3: Ports", "| Port | Depth |", "|---|---|", "| Goole | |", "| a\\|b | 9 |"))
    assert (table.heads, table.names, table.caption) == (("Port", "Depth"), ("S1.1",), "Table 3: Ports")
    assert bound(table) == [{"Port": "Goole"}, {"Port": "a|b", "Depth": "9"}]


def test_heads_of_two_rows_where_the_first_names_groups() -> None:
    (table,) = read_tables(
        pieces(
            "| Country | Population | Population |",
            "| Country | 2019 | 2020 |",
            "| Europe | Europe | Europe |",
            "| France | 67.2 | 67.4 |",
        )
    )
    assert table.heads == ("Country", "Population 2019", "Population 2020")
    assert bound(table) == [{"Country": "France", "Population 2019": "67.2", "Population 2020": "67.4"}]


def test_a_row_too_long_for_a_passage_is_one_row_again() -> None:
    row = ["Goole", "x" * 300, "y" * 300, "7"]
    head = ["port", "note", "remark", "depth"]
    lines = list(row_lines(row, head))
    assert len(lines) > 1
    (table,) = read_tables(pieces(*lines))
    assert bound(table) == [dict(zip(head, row, strict=True))]
    assert table.rows[0].names == tuple(f"S1.{number}" for number in range(len(lines)))


@pytest.mark.parametrize("bars", [False, True])
def test_many_columns_are_named_in_linear_time(bars: bool) -> None:
    def rows(columns: int) -> list[TablePiece]:
        names = [f"c{number}" for number in range(columns)]
        figures = list(map(str, range(columns)))
        if bars:
            return pieces(*(f"| {' | '.join(cells)} |" for cells in (names, figures, figures)))
        return pieces(*(line for _ in range(3) for line in row_lines(figures, names)))

    assert len(read_tables(rows(3000))[0].heads) == 3000
    assert exponent(read_tables, rows, 2000) < WORST


def test_where_a_row_of_a_sheet_stands_is_no_cell() -> None:
    (table,) = read_tables(pieces("port: Goole | depth: 7 | cells: A2:B2", "port: Hull | depth: 9 | cells: A3:B3"))
    assert table.heads == ("port", "depth")


def test_other_texts_part_tables_and_are_none() -> None:
    found = read_tables(pieces("a: 1 | b: 2", "Some prose.", "a: 3 | b: 4", "x: 5 | y: 6", "Author: Anna"))
    assert [table.heads for table in found] == [("a", "b"), ("a", "b"), ("x", "y")]
    assert read_tables(pieces("Author: Anna", "Note: see | below", "| only |")) == ()


@given(
    st.lists(PLAIN.map(str.strip).filter(bool), min_size=2, max_size=5, unique_by=str.casefold),
    st.lists(st.lists(PLAIN.map(lambda text: text[:40].strip()), min_size=2, max_size=5), min_size=1, max_size=5),
)
def test_what_is_written_with_heads_is_read_back_with_its_bytes(heads: list[str], rows: list[list[str]]) -> None:
    names = unique_column_names(heads)
    rows = [(row + [""] * len(names))[: len(names)] for row in rows]
    rows = [row for row in rows if sum(map(bool, row)) > 1]
    lines = [line for row in rows for line in row_lines(row, names)]
    if not rows or (len({len(line) for line in lines}) and len(lines) != len(rows)):
        return
    text = "\n\n".join(lines).encode()
    found = [row for table in read_tables(pieces(*lines)) for row in _named(table)]
    wanted = [[(name, cell) for name, cell in zip(names, row, strict=True) if cell] for row in rows]
    assert [sorted((head, cell) for head, cell, _, _ in row) for row in found] == [sorted(row) for row in wanted]
    assert all(text[start:end].decode() == cell for row in found for _, cell, start, end in row)


def _named(table: ReadTable) -> list[list[tuple[str, str, int, int]]]:
    return [[(table.heads[at], c.text, c.start, c.end) for at, c in row.cells.items()] for row in table.rows]


def test_fields_below_the_name_of_a_setting_have_no_headers() -> None:
    fields = ("| keep_alive | seconds |", "| Default: | 40 |", "| Range: | 5 to 90 |")
    pieces = [TablePiece(str(at), line) for at, line in enumerate(fields)]

    assert not read_tables(pieces)
    assert read_tables([*pieces[:1], TablePiece("3", "| Default | 40 |"), TablePiece("4", "| Range | 5 to 90 |")])


def test_a_table_with_thousands_of_columns_has_figures() -> None:
    (table,) = read_tables([TablePiece("a.1", "| " + " | ".join(f"c{at}: {at}.5" for at in range(4_000)) + " |")] * 2)
    assert all(figures_of(table, column) is not None for column in range(0, 4_000, 40))


@given(
    st.lists(st.lists(st.text("a1|:\n é\ud800\udfff", max_size=12), min_size=1, max_size=4), max_size=5), st.booleans()
)
def test_no_character_of_a_cell_stops_the_reader(rows: list[list[str]], bars: bool) -> None:
    lines = [
        f"| {' | '.join(row)} |" if bars else " | ".join(f"k{at}: {cell}" for at, cell in enumerate(row))
        for row in rows
    ]
    text = "\n\n".join(lines).encode(errors="surrogatepass")
    tables = read_tables([TablePiece("S1.1", line, text.index(line.encode(errors="surrogatepass"))) for line in lines])
    for head, cell, start, end in (named for table in tables for row in _named(table) for named in row):
        assert head
        assert len(cell.encode(errors="surrogatepass")) == end - start
