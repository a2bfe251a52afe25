"""CSV and TSV: delimiters, headers, rows as lines, and what is odd."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ExtractError
from assay.core.sources import MAX_PASSAGE_CHARS, Extracted
from assay.core.tables.heads import is_head
from assay.evidence.segment import segment
from assay.fetch.text import CsvExtractor, sniff


def read(data: bytes | str, name: str = "table.csv") -> Extracted:
    (found,) = CsvExtractor().extract(data.encode() if isinstance(data, str) else data, name)
    return found


def lines(data: bytes | str, name: str = "table.csv") -> list[str]:
    return read(data, name).text.rstrip("\n").split("\n\n")


def test_every_row_carries_its_headers() -> None:
    found = read("country,year,population\nFrance,2020,67.4\nGermany,2020,83.2\n")
    assert found.text == (
        "country: France | year: 2020 | population: 67.4\n\ncountry: Germany | year: 2020 | population: 83.2\n"
    )
    assert (found.syntax, found.title) == ("rows", "table.csv")
    assert found.metadata == {"rows": "2", "columns": "country, year, population"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter: str) -> None:
    table = "name,size,note\nA,1.5,x\nB,2.5,y\n".replace(",", delimiter)
    assert lines(table) == ["name: A | size: 1.5 | note: x", "name: B | size: 2.5 | note: y"]


def test_a_comma_in_numbers_is_no_delimiter_where_semicolons_part() -> None:
    assert lines("name;size\nA;1,5\nB;2,5\n") == ["name: A | size: 1,5", "name: B | size: 2,5"]


def test_a_tsv_is_parted_by_tabs_whatever_its_cells_hold() -> None:
    assert lines("name\tnote\nA\tx, y, z\nB\tu, v, w\n", "table.tsv") == [
        "name: A | note: x, y, z",
        "name: B | note: u, v, w",
    ]


def test_without_a_header_columns_are_numbered() -> None:
    assert lines("1.5,2.5\n3.5,4.5\n") == ["column 1: 1.5 | column 2: 2.5", "column 1: 3.5 | column 2: 4.5"]


@pytest.mark.parametrize(
    ("row", "below", "header"),
    [
        (["name", "size"], [["A", "1"]], True),
        (["", "size"], [["A", "1"]], True),
        (["country", "2019", "2020"], [["France", "67.2", "67.4"]], True),
        (["name", "name"], [["A", "B"]], False),
        (["1", "2"], [["3", "4"]], False),
        (["event", "1998"], [["other", "1999"]], False),
        (["name", "size"], [], False),
    ],
)
def test_what_names_columns(row: list[str], below: list[list[str]], header: bool) -> None:
    assert is_head(row, below) is header


def test_notes_above_the_table() -> None:
    assert lines("Source: the office\n\nname,size,kind\nA,1,x\nB,2,y\nC,3,z\n") == [
        "Source: the office",
        "name: A | size: 1 | kind: x",
        "name: B | size: 2 | kind: y",
        "name: C | size: 3 | kind: z",
    ]


def test_notes_above_the_table_may_be_filled_up_with_delimiters() -> None:
    found = read("Depths of ports,,\nAs of,1 March 2024,\n,,\nPort,Depth,Ships\nGoole,7,3\nHull,9,4\n")
    assert found.text.split("\n\n")[:3] == [
        "Depths of ports",
        "As of | 1 March 2024",
        "Port: Goole | Depth: 7 | Ships: 3",
    ]
    assert found.metadata == {"rows": "2", "columns": "Port, Depth, Ships"}


def test_ragged_rows() -> None:
    assert lines("a,b,c\n1,2,3\n4\n5,6,7,8\n,9,\n") == [
        "a: 1 | b: 2 | c: 3",
        "a: 4",
        "a: 5 | b: 6 | c: 7 | column 4: 8",
        "b: 9",
    ]


def test_odd_headers_are_made_different_and_plain() -> None:
    assert lines("a:b,,x,x y\n1,2,3,4\n") == ["a b: 1 | column 2: 2 | x: 3 | x y: 4"]


def test_cells_stay_on_their_line_and_apart() -> None:
    assert lines('name,note\nA,"one\ntwo\r\n  three"\nB,"x | y"\n') == [
        "name: A | note: one two three",
        "name: B | note: x ¦ y",
    ]


def test_a_nul_byte_is_left_out_of_text_and_refused_in_what_is_none() -> None:
    rows = "".join(f"row {number},value {number}\n" for number in range(50))
    assert "name: row 7 | note: value 7" in lines(("name,note\n" + rows).encode().replace(b"value 7\n", b"val\0ue 7\n"))
    with pytest.raises(ExtractError, match="binary"):
        read(b"\0\1\2\3" * 100)


def test_encodings() -> None:
    assert lines("naïve,größe\nä,1\n".encode("cp1252")) == ["naïve: ä | größe: 1"]
    assert lines("name,size\nа,1\n".encode("utf-16")) == ["name: а | size: 1"]


def test_a_long_row_is_several_passages_which_each_name_it() -> None:
    words = " ".join(f"word{number}" for number in range(300))
    found = read(f"name,short,long\nThe first,1,{words}\nThe second,2,brief\n")
    spans = segment(found.text, found.syntax)
    assert len(spans) > 4
    assert all(span.text.startswith("name: The first | ") for span in spans[:-1])
    assert all(len(span.text) <= MAX_PASSAGE_CHARS for span in spans)
    assert spans[-1].text == "name: The second | short: 2 | long: brief"
    assert " ".join(span.text.rpartition("long: ")[2] for span in spans[1:-1]) == words


def test_a_cell_which_is_too_large_costs_its_row() -> None:
    stream = CsvExtractor().extract(f"a,b\n1,2\n3,{'x' * 200_000}\n5,6\n".encode(), "t.csv")
    assert "a: 5 | b: 6" in next(stream).text
    with pytest.raises(ExtractError, match=r"1 row could not be read \(line 3: field larger"):
        next(stream)


def test_an_empty_table_is_no_document() -> None:
    assert list(CsvExtractor().extract(b"\n\n,,\n", "t.csv")) == []


CELLS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp", "Cf")), max_size=12)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=8), st.sampled_from(",;\t|"))
def test_every_cell_comes_through_and_every_row_is_a_passage(rows: list[tuple[str, ...]], delimiter: str) -> None:
    written = io.StringIO()
    table = [("alpha", "beta", "gamma"), *rows]
    csv.writer(written, delimiter=delimiter).writerows(table)
    found = list(CsvExtractor().extract(written.getvalue().encode(), "t.csv"))
    spans = [span.text for each in found for span in segment(each.text, each.syntax)]
    kept = [" ".join(spans)] if spans else [""]
    assert all(cell.replace("|", "¦") in kept[0] for row in rows for cell in row)
    assert len(spans) <= len(table)
    for each in found:
        assert [span.kind for span in segment(each.text, each.syntax)] == ["row"] * len(spans)


@given(st.text(max_size=300))
def test_any_text_has_a_shape(text: str) -> None:
    shape = sniff(text)
    assert shape.columns >= 1
    assert shape.delimiter in ",;\t|"


def test_the_day_in_the_notes_above_a_head_is_that_of_the_table() -> None:
    (found,) = CsvExtractor().extract(b"Dues;;\nStand: 01.03.2024;;\nPort;Town;Dues\nA;Goole;7\nB;Hull;9\n", "a.csv")
    assert found.published == "2024-03-01"
