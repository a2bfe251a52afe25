"""Units in labels, and how a converted number is written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.measures import MEASURES, are_comparable, convert, round_converted, split_label


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("main_span_m", ("main_span", "m")),
        ("Main span m", ("Main span", "m")),
        ("height (ft)", ("height", "ft")),
        ("heightKm", ("height", "Km")),
        ("duration_minutes", ("duration", "minutes")),
        ("minutes", ("minutes", "")),
        ("birth_year", ("birth_year", "")),
        ("price_min", ("price_min", "")),
        ("name", ("name", "")),
        ("", ("", "")),
    ],
)
def test_a_label_may_end_with_its_unit(label: str, expected: tuple[str, str]) -> None:
    assert split_label(label) == expected


@given(st.decimals(min_value="0.001", max_value="1000000", places=3), st.sampled_from(sorted(MEASURES)))
def test_rounding_changes_a_converted_number_by_less_than_one_in_ten_thousand(value: Decimal, unit: str) -> None:
    for other in MEASURES:
        if are_comparable(unit, other) and MEASURES[unit].dimension != "temperature":
            exact = convert(value, unit, other)
            assert abs(round_converted(exact) - exact) <= abs(exact) / 10_000
