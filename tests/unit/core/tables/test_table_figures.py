"""Figures of columns: locales, units, marks, exact sums."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.tables.figures import (
    Figure,
    Figures,
    format_amount,
    mean,
    parse_date,
    read_figure,
    read_figures,
    sum_figures,
)


@pytest.mark.parametrize(
    ("texts", "language", "values"),
    [
        (["1,234", "12.5"], "de", ["1234", "12.5"]),
        (["1.234", "12,5"], "en", ["1234", "12.5"]),
        (["1.234", "5.678"], "de", ["1234", "5678"]),
        (["1.234", "5.678"], "en", ["1.234", "5.678"]),
        (["1,234,567"], "fr", ["1234567"]),
        (["1 234 567", "12,5"], "fr", ["1234567", "12.5"]),
        (["1\u202f234", "1\u00a0500"], "", ["1234", "1500"]),
        (["1'234.50"], "", ["1234.50"]),
        (["67.4[a]", "12*", "8 †", "9 (est.)", "7²"], "", ["67.4", "12", "8", "9", "7"]),
        (["−3", "–4", "(1,200)", "+5"], "", ["-3", "-4", "-1200", "5"]),
        (["$1,200", "$ 3"], "", ["1200", "3"]),
        (["12 km", "3.5 km"], "", ["12", "3.5"]),
        (["5 %", "7%"], "", ["5", "7"]),
        (["ca. 5 Mio.", "3 Mio."], "de", ["5000000", "3000000"]),
        (["1.5 billion", "~2 billion"], "", ["1500000000", "2000000000"]),
        (["1.2e3", "3"], "", ["1200", "3"]),
        (["12,34,567"], "en", ["1234567"]),
    ],
)
def test_columns_are_read_as_a_whole(texts: list[str], language: str, values: list[str]) -> None:
    found = read_figures(texts, language)
    assert found is not None
    assert [figure and figure.value for figure in found.values] == [Decimal(value) for value in values]


def test_empty_cells_have_no_figure_and_other_columns_tell_the_sign() -> None:
    found = read_figures(["1.234", "", "n/a", "–", "2.000"], "en", neighbour_texts=["0,5", "1,75"])
    assert found is not None
    assert [figure and figure.value for figure in found.values] == [1234, None, None, None, 2000]


@pytest.mark.parametrize("texts", [["Goole", "Hull"], ["2019-01-02", "2020-03-04"], ["1.2.3", "4.5.6"], [""], ["3/4"]])
def test_other_columns_hold_none(texts: list[str]) -> None:
    assert read_figures(texts) is None


@pytest.mark.parametrize("text", ["12 Main Street 5", "1,23,4", "1" * 40, "12:30", "v2.1", "1–2"])
def test_what_is_no_amount(text: str) -> None:
    assert read_figure(text) is None


def test_units_are_kept() -> None:
    found = read_figures(["12 km", "800 m"])
    assert found is not None
    assert found.units() == {"km", "m"}


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2012-03-04", (2012, 3, 4)),
        ("2012", (2012, 0, 0)),
        ("4.3.2012", (2012, 3, 4)),
        ("2012/01/02 10:00", (2012, 1, 2)),
    ],
)
def test_dates(text: str, date: tuple[int, int, int]) -> None:
    assert parse_date(text) == date
    assert parse_date("12") is parse_date("9999-99-99") is parse_date("soon") is None


AMOUNTS = st.decimals(min_value=-(10**12), max_value=10**12, places=2, allow_nan=False)
STYLES = st.sampled_from([(".", ","), (",", "."), (".", ""), (",", ""), (".", "'"), (",", " "), (",", "\u202f")])


@given(st.lists(AMOUNTS, min_size=2, max_size=8), STYLES)
def test_amounts_written_in_any_style_are_read_back_and_summed_exactly(
    amounts: list[Decimal], style: tuple[str, str]
) -> None:
    point, group = style
    texts = [f"{amount:,.2f}".replace(",", "\0").replace(".", point).replace("\0", group) for amount in amounts]
    found = read_figures(texts)
    assert found is not None
    read = [figure for figure in found.values if figure is not None]
    assert [figure.value for figure in read] == amounts
    assert sum_figures(read) == sum(amounts)
    low, high = min(amounts), max(amounts)
    assert low - 1 <= mean(read) <= high + 1
    again = read_figures([format_amount(sum_figures(read), found, ""), texts[0]], neighbour_texts=texts)
    assert again is not None
    assert again.values[0] is not None
    assert again.values[0].value == sum_figures(read)


def test_sums_do_not_drift() -> None:
    cents = [Figure(Decimal("0.1"), "", 1)] * 1000
    assert sum_figures(cents) == 100
    assert mean(cents) == Decimal("0.100")
    assert format_amount(Decimal("1234567.5"), Figures((), ",", "."), "EUR") == "1.234.567,5 EUR"
    assert format_amount(Decimal("-1234"), Figures((), ".", ","), "") == "-1,234"


def test_a_mean_of_small_amounts_is_not_rounded_away() -> None:
    figures = [read_figure("1.5e-5"), read_figure("2.5e-5")]
    assert mean([each for each in figures if each]) == Decimal("0.00002")


def test_amounts_far_apart_have_a_sum_and_a_mean() -> None:
    """A hostile exponent must not break a table: it makes the cell no figure."""
    figures = [figure for text in ("1e60", "1e-60", "2") if (figure := read_figure(text))]
    assert len(figures) == 3
    assert str(sum_figures(figures)) == "1" + "0" * 59 + "2." + "0" * 59 + "1"
    assert mean(figures).adjusted() == 59
    assert read_figure("1e300") is None
    assert read_figure("1e-999") is None


@pytest.mark.parametrize("unit", ["*", "[1]", "(p)", " ", "* ", "12 "])
def test_marks_without_an_end_take_no_time(unit: str) -> None:
    """A masked number in a cell, `****…x`, once took a minute for 29 marks, and twice as long for each more."""
    assert read_figure("1" + unit * 20_000 + "x?") is None
