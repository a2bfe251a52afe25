"""Figures which a claim computed from what its passages state."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.verify.analyzed_text import analyze_text, read_texts
from assay.verify.evidence import SlotFinding
from assay.verify.rules.numbers import find


def findings(claim: str, *passages: str) -> list[SlotFinding]:
    return list(find(analyze_text(claim), read_texts([(f"S1.{at}", text) for at, text in enumerate(passages)])))


def of(claim: str, text: str, *passages: str) -> SlotFinding:
    return next(finding for finding in findings(claim, *passages) if finding.slot.text == text)


TEAMS = ("The northern plant employs 50 people.", "The southern plant employs 70 people.")
SALES = ("Sales were $40 million in 2019.", "Sales were $50 million in 2020.")


@pytest.mark.parametrize(
    ("claim", "figure", "shown", "passages"),
    [
        ("Together the plants employ 120 people.", "120", "50 + 70", TEAMS),
        ("The southern plant employs 20 more people.", "20", "70 - 50", TEAMS),
        ("The plants employ 60 people on average.", "60", "(50 + 70) / 2", TEAMS),
        ("Sales rose 25% in 2020.", "25%", "$50 million / $40 million - 1, in percent", SALES),
        ("Sales in 2019 were 20% lower.", "20%", "1 - $40 million / $50 million, in percent", SALES),
        ("Sales rose by $10 million.", "$10 million", "$50 million - $40 million", SALES),
        ("It opened 14 years later.", "14 years", "1920 - 1906", ("It was planned in 1906.", "It opened in 1920.")),
        ("Two decades later it opened.", "Two decades", "1940 - 1920", ("Closed in 1920.", "It opened in 1940.")),
    ],
)
def test_recomputed(claim: str, figure: str, shown: str, passages: tuple[str, ...]) -> None:
    found = of(claim, figure, *passages)
    assert (found.rule, found.outcome, found.said, found.veto) == ("derived", "stated", shown, False)


@pytest.mark.parametrize(
    ("claim", "figure", "passages"),
    [
        ("Together the plants employ 130 people.", "130", TEAMS),
        ("Sales rose 20% in 2020.", "20%", SALES),
        ("Sales rose by $20 million.", "$20 million", SALES),
        ("The plants employ 120 people.", "120", TEAMS),
        ("The plants employ up to 20 people.", "20", TEAMS),
        ("It opened 14 months later.", "14 months", ("It was planned in 1906.", "It opened in 1920.")),
        ("The old ones lasted 60 months.", "60 months", ("Some last 30 years.", "Some last 90 years.")),
    ],
)
def test_computed_wrongly_or_not_said_to_be_computed(claim: str, figure: str, passages: tuple[str, ...]) -> None:
    found = of(claim, figure, *passages)
    assert (found.rule, found.veto) == ("number", True)


def test_of_many_figures_only_those_the_claim_states_are_combined() -> None:
    rows = [f"Plant {name} employs {count} people." for name, count in zip("ABCDEFG", range(11, 81, 10), strict=True)]
    assert of("Together they employ 32 people.", "32", *rows).veto
    assert not of("With 11 and 21 people, they employ 32 together.", "32", *rows).veto


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_sum_is_the_sum(one: int, other: int) -> None:
    passages = (f"The first ship carried {one} crates.", f"The second ship carried {other} crates.")
    assume(one != other)  # the same figure twice is taken for one fact told twice
    total = one + other
    right, wrong = (f"The ships carried {value} crates in all." for value in (total, total + 1))
    assert [finding.veto for finding in findings(right, *passages)] == [False]
    assert total + 1 in (one, other) or [finding.veto for finding in findings(wrong, *passages)] == [True]


def test_of_very_many_figures_none_are_combined_or_weighed() -> None:
    figures = ", ".join(str(1000 + 7 * at) for at in range(300))
    begun = time.process_time()
    found = of(f"In total {figures} make 99999999.", "99999999", f"There were {figures}.")
    assert (found.rule, found.outcome) == ("number", "absent")
    assert time.process_time() - begun < 20
