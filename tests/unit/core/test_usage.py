"""What calls cost: parts of totals, and prices nobody knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.messages import Price
from assay.core.usage import Usage

COUNTS = st.integers(0, 10_000)
PRICES = st.floats(0, 100, allow_nan=False)


def test_each_part_of_the_input_has_its_price() -> None:
    usage = Usage(input_tokens=1_000_000, cached_tokens=600_000, cache_write_tokens=100_000, output_tokens=10_000)
    price = Price(input=3.0, output=15.0, cached=0.3, cache_write=3.75)
    assert price.cost(usage) == pytest.approx(0.3 * 3.0 + 0.6 * 0.3 + 0.1 * 3.75 + 0.01 * 15.0)
    assert Price(input=3.0, output=15.0).cost(usage) == pytest.approx(
        3.0 + 0.15
    )  # what has no price of its own is plain


@given(COUNTS, COUNTS, COUNTS, COUNTS, PRICES, PRICES, st.none() | PRICES, st.none() | PRICES)
def test_a_hold_is_never_less_than_the_call_comes_to(
    plain: int,
    cached: int,
    written: int,
    out: int,
    input: float,
    output: float,
    read: float | None,
    write: float | None,
) -> None:
    price = Price(input=input, output=output, cached=read, cache_write=write)
    whole = Usage(
        input_tokens=plain + cached + written, cached_tokens=cached, cache_write_tokens=written, output_tokens=out
    )
    assert 0 <= price.cost(whole) <= price.max_cost(whole) * (1 + 1e-9) + 1e-12


def test_counts_which_do_not_add_up_cost_nothing_negative() -> None:
    odd = Usage(input_tokens=10, cached_tokens=100)
    assert Price(input=3.0, output=1.0, cached=0.3).cost(odd) == pytest.approx(30 / 1e6)


def test_all_fields_are_added() -> None:
    one = Usage(model_calls=1, cache_write_tokens=2, unpriced_calls=1)
    assert one + one == Usage(model_calls=2, cache_write_tokens=4, unpriced_calls=2)
