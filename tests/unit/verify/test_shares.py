"""Fractions in words, rounding words of several languages, numbers in texts without spaces."""

from __future__ import annotations

from decimal import Decimal

import pytest

from assay.verify.amounts import Amount, tokens
from assay.verify.checks import examine, objection
from assay.verify.evidence import text_evidence as the_text
from assay.verify.number_words import shares


@pytest.mark.parametrize(
    ("text", "count", "whole"),
    [
        ("Two thirds of voters agreed.", 2, 3),
        ("It fell by one third.", 1, 3),
        ("A quarter of the houses burned.", 1, 4),
        ("three quarters of them", 3, 4),
        ("Nearly half of the members left.", 1, 2),
        ("more than half the voters", 1, 2),
        ("One in five children", 1, 5),
        ("9 out of 10 doctors", 9, 10),
        ("one in every hundred births", 1, 100),
    ],
)
def test_a_fraction_is_read(text: str, count: int, whole: int) -> None:
    (found,) = shares(text)
    assert (found.count, found.whole) == (count, whole)
    assert found.percent == pytest.approx(Decimal(100 * count) / whole)


@pytest.mark.parametrize(
    "text",
    [
        "a third party",
        "in the first half of the year",
        "the second half of the match",
        "three quarters later",
        "for half of the year",
        "one in two years",
        "ranked 3 in 2008",
        "a half of it and a fifth wheel",
        "five in two cities",
    ],
)
def test_what_is_no_share_is_left_alone(text: str) -> None:
    assert not list(shares(text))


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Two thirds of voters backed the plan.", "The plan was backed by 66.7 percent of voters."),
        ("About two thirds of voters backed the plan.", "The plan was backed by 65 percent of voters."),
        ("Nearly half of the members voted for the plan.", "48.9 % of the members voted for the plan."),
        ("More than half of the members voted for the plan.", "53 % of the members voted for the plan."),
        ("67 % of voters backed the plan.", "Two thirds of voters backed the plan."),
        ("One in five children is overweight.", "Two in ten of the children are overweight."),
        ("3 of 10 patients recovered fully.", "3 out of 10 patients recovered fully last year."),
        ("Two thirds of the members voted for it.", "Of the 30 members, 20 voted for it."),
        ("Rund 9 Prozent der Kinder sind krank.", "Krank sind 8,9 Prozent der Kinder."),
        ("Presque 9 % des enfants sont malades.", "8,9 % des enfants sont malades."),
        ("Casi 9 % de los niños están enfermos.", "El 8,9 % de los niños están enfermos."),
        ("Больны около 9 % детей.", "Больны 8,9 % детей."),
        ("约9%的儿童患病。", "8.9%的儿童患病。"),
        ("超过100万人参加。", "有104万人参加。"),
    ],
)
def test_the_same_share_in_other_words_is_no_objection(claim: str, text: str) -> None:
    assert objection(examine(claim, the_text(text)), the_text(text)) is None


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Two thirds of voters backed the plan.", "48 percent of voters backed the plan."),
        ("One in five children is overweight.", "35 % of the children are overweight."),
        ("More than half of the members voted for the plan.", "43 % of the members voted for the plan."),
        ("67 % of voters backed the plan.", "Three quarters of voters backed the plan."),
    ],
)
def test_another_share_is_contradicted(claim: str, text: str) -> None:
    found = objection(examine(claim, the_text(text)), the_text(text))
    assert found is not None
    assert found.rule == "number"


def test_a_number_in_a_text_without_spaces_is_a_number() -> None:
    (found,) = tokens("约9%的儿童")
    assert isinstance(found, Amount)
    assert (found.values, found.units, found.bound) == ((Decimal(9),), ("%",), "about")
