"""Amounts: bounds, units of one dimension, and years kept apart from quantities."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.measures import (
    MEASURES,
    UNIT_NAMES,
    are_comparable,
    convert,
)
from assay.verify.amounts import Amount, tokens
from assay.verify.analyzed_text import fold_text
from assay.verify.figures import is_same_amount


def amount(text: str) -> Amount:
    [found] = [token for token in tokens(fold_text(text).text) if isinstance(token, Amount)]
    return found


SAME = [
    ("over 1,000 people", "1,247 people"),
    ("more than 37%", "37.6%"),
    ("at least 10 million", "10,400,000"),
    ("nearly 1.3 million", "1,247,000"),
    ("under 40 kg", "39.6 kg"),
    ("up to 250 km", "249.8 km"),
    ("about 40 people", "37.6 people"),
    ("roughly 1,200", "1,247"),
    ("5 km", "5,000 m"),
    ("3.1 miles", "5 km"),
    ("186 miles", "300 km"),
    ("90 minutes", "1.5 hours"),
    ("one year", "12 months"),
    ("2 weeks", "14 days"),
    ("37 °C", "98.6 °F"),
    ("50 basis points", "0.5 percentage points"),
    ("300 km", "300"),
    ("3.515 billion", "3,515,000,000"),
    ("3,515 million", "3.515 Milliarden"),
    ("a billion doses", "1,000,000,000 doses"),
    ("235,000 times", "235, 000 times"),
    ("98.7 per cent", "98. 7 per cent"),
    ("in 2021", "in 2021"),
    ("aged 75", "75 years old"),
    ("at the age of 3", "36 months"),
]
APART = [
    ("over 1,000,000 people", "757,000 people"),
    ("more than 38%", "37.6%"),
    ("nearly 1.2 million", "1,247,000"),
    ("about 40 people", "63 people"),
    ("about 1 million", "7.5"),
    ("about €1 million", "$1 million"),
    ("5 km", "5 miles"),
    ("3 months", "3 years"),
    ("0.375 GB", "0.375 MB"),
    ("0,375 GB", "375 GB"),
    ("75 months old", "at the age of 75"),
    ("64 weeks", "aged 64"),
    ("5 kg", "5 km"),
    ("4%", "4 percentage points"),
    ("in 2021", "2,021 people"),
    ("in 1990", "1990 km"),
    ("3 billion", "3 million"),
    ("$3.515 million", "$3.515 billion"),  # which "3.515" alone might be, its thousands parted by a point
    ("-0.4", "0.4"),
]


@pytest.mark.parametrize(("claim", "evidence"), SAME)
def test_the_same_amount(claim: str, evidence: str) -> None:
    mine = amount(claim)
    theirs = [token for token in tokens(fold_text(evidence).text) if isinstance(token, Amount)]
    assert is_same_amount(mine, theirs[0])


@pytest.mark.parametrize(("claim", "evidence"), APART)
def test_another_amount(claim: str, evidence: str) -> None:
    assert not is_same_amount(amount(claim), amount(evidence))


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("at least 5", "least"),
        ("no fewer than 5", "least"),
        ("up to 5", "most"),
        ("as many as 5", "most"),
        ("more than 5", "over"),
        ("fewer than 5", "under"),
        ("almost 5", "nearly"),
        ("approximately 5", "about"),
        ("~5", "about"),
        ("5", ""),
        ("it fell down to 5", ""),
    ],
)
def test_words_which_bound_a_number(text: str, bound: str) -> None:
    assert amount(text).bound == bound


@given(st.sampled_from(sorted(MEASURES)), st.sampled_from(sorted(MEASURES)), st.decimals(-(10**6), 10**6, places=3))
def test_a_unit_converts_there_and_back(one: str, other: str, value: Decimal) -> None:
    assert are_comparable(one, one)
    if are_comparable(one, other):
        assert are_comparable(other, one)
        assert abs(convert(convert(value, one, other), other, one) - value) < Decimal("0.000001")


def test_every_name_is_a_unit() -> None:
    assert set(UNIT_NAMES.values()) == set(MEASURES)


@given(st.integers(1, 10**9), st.sampled_from(["", " km", " kg", "%", " hours", " million"]))
def test_an_amount_is_the_same_as_itself_and_never_as_its_tenfold(value: int, unit: str) -> None:
    assert is_same_amount(amount(f"{value}{unit}"), amount(f"{value:,}{unit}"))
    assert not is_same_amount(amount(f"{value}{unit}"), amount(f"{value * 10}{unit}"))
    assert not is_same_amount(amount(f"about {value}{unit}"), amount(f"{value * 10}{unit}"))
