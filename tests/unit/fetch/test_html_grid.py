"""Merged cells of HTML tables stand in every column and row they span."""

from __future__ import annotations

import pytest
from growth import WORST, exponent
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from assay.fetch.html_markdown import to_markdown
from assay.fetch.html_tables import MAX_SPAN, resolve_raised, table_grid


def rows(inner: str) -> list[list[str]]:
    node = LexborHTMLParser(f"<table>{inner}</table>").css_first("table")
    assert node is not None
    resolve_raised(node)
    return table_grid(node)


def test_columns_and_rows_spanned() -> None:
    assert rows(
        "<tr><th rowspan=2>Country</th><th colspan=2>Population</th></tr><tr><th>2019</th><th>2020</th></tr>"
        "<tr><td>France<td>67.2<td>67.4</tr>"
    ) == [["Country", "Population", "Population"], ["Country", "2019", "2020"], ["France", "67.2", "67.4"]]


def test_a_row_which_only_goes_on_is_left_out() -> None:
    assert rows("<tr><th rowspan=2>a</th><th>b</th><th rowspan=2>c</th></tr><tr></tr><tr><td>1<td>2<td>3</tr>") == [
        ["a", "b", "c"],
        ["1", "2", "3"],
    ]


def test_what_goes_on_at_the_end_of_a_row() -> None:
    assert rows("<tr><td>1<td>2<td rowspan=2>x</tr><tr><td>3</tr>") == [["1", "2", "x"], ["3", "", "x"]]


def test_footnote_marks_are_no_part_of_a_value() -> None:
    assert rows('<tr><td>67.4<sup class="reference"><a href="#n">[1]</a></sup><td>10<sup>3</sup></tr>') == [
        ["67.4", "10³"]
    ]
    assert rows('<tr><td>67.4<sup>a</sup><sup><a href="#n">b</a></sup><td>8.9<sup>1</sup></tr>') == [["67.4a", "8.9¹"]]


@pytest.mark.parametrize("span", ["0", "-1", "x", "", "1.5"])
def test_odd_spans_count_one(span: str) -> None:
    assert rows(f"<tr><td colspan='{span}'>a<td>b</tr>") == [["a", "b"]]


def test_endless_spans_end() -> None:
    assert len(rows("<tr><td colspan=99999>a</tr>")[0]) == MAX_SPAN


SPANS = st.lists(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=4), max_size=5)


@given(SPANS)
def test_every_cell_is_there(cells: list[list[tuple[int, int]]]) -> None:
    inner = ""
    for at, row in enumerate(cells):
        made = (f"<td colspan={wide} rowspan={high}>{at}.{column}</td>" for column, (wide, high) in enumerate(row))
        inner += f"<tr>{''.join(made)}</tr>"
    found = {text for row in rows(inner) for text in row}
    assert found - {""} == {f"{at}.{column}" for at, row in enumerate(cells) for column in range(len(row))}


@pytest.mark.parametrize("stated", ["9" * 5_000, "²", "-1", "0", "x", ""])
def test_a_span_that_is_no_number_of_columns_is_one(stated: str) -> None:
    spans = f"<td colspan='{stated}'>1</td><td rowspan='{stated}'>2</td>"
    assert rows(f"<tr><th>a</th><th>b</th></tr><tr>{spans}</tr>") == [["a", "b"], ["1", "2"]]


def test_a_head_of_two_rows_is_written_as_one() -> None:
    page = LexborHTMLParser(
        "<table><tr><th rowspan=2>Country<th colspan=2>Population</tr><tr><th>2019<th>2020</tr>"
        "<tr><td>France<td>67.2<td>67.4</tr><tr><td>Spain<td>47.1<td>47.4</tr></table>"
    )
    assert page.body is not None
    assert to_markdown(page.body).strip().split("\n") == [
        "| Country | Population 2019 | Population 2020 |",
        "|---|---|---|",
        "| France | 67.2 | 67.4 |",
        "| Spain | 47.1 | 47.4 |",
    ]


def test_lines_of_a_cell_do_not_run_together() -> None:
    assert rows("<tr><td>Aries<br>a ram<td><p>one</p><p>two</p><td><b>x</b>y</tr>") == [
        ["Aries a ram", "one two", "xy"]
    ]


def test_raised_texts_within_each_other_are_read_in_linear_time() -> None:
    def read(page: str) -> None:
        tree = LexborHTMLParser(page)
        assert tree.body is not None
        resolve_raised(tree.body)

    assert exponent(read, lambda size: "<sup>" * size + "2", 2_000) < WORST


def test_a_few_cells_do_not_fill_the_memory() -> None:
    wide = "<tr>" + "<td colspan=100 rowspan=100>a" * 30
    assert sum(map(len, rows(wide + "<tr><td>b" * 99))) < 5_000
    long = "".join(f"<tr><td rowspan=2>{year}<td>a</tr><tr><td>b</tr>" for year in range(2_000))
    assert all(len(row) == 2 for row in rows(long))
