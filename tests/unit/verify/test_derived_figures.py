"""Figures which a claim computed from what its passages state."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.core.tables.cells import TablePiece, read_tables
from assay.verify.analyzed_text import analyze_text, read_texts
from assay.verify.computed_figures import _OPERATIONS, Input
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


LONG = (
    "On 3 May 2021 the port had 27 cranes, 12 sheds and 9 tugs. It employs 640 people, of whom 410 work at night. "
    "Sales were £84 million in 2021, up from £61 million in 2020. The margin fell to 14.1 % from 16.8 %. "
    "Five pumps of 55 MW each keep it dry, and the county paid 40 % of their 30 million euros."
)


@pytest.mark.parametrize(
    ("claim", "figure", "shown"),
    [
        ("That leaves 230 who work by day.", "230", "640 - 410"),
        ("Sales rose by £23 million.", "£23 million", "£84 million - £61 million"),
        ("Sales rose 38 % in 2021.", "38 %", "£84 million / £61 million - 1, in percent"),
        ("The margin lost 2.7 percentage points.", "2.7 percentage points", "16.8 % - 14.1 %"),
        ("The pumps have 275 MW in total.", "275 MW", "Five x 55 MW"),
        ("The county paid 12 million euros.", "12 million euros", "40 % of 30 million euros"),
        ("Each of the pumps cost 6 million euros.", "6 million euros", "30 million euros / Five"),
    ],
)
def test_of_many_figures_those_of_one_sentence_are_combined(claim: str, figure: str, shown: str) -> None:
    found = of(claim, figure, LONG)
    assert (found.rule, found.said, found.veto) == ("derived", shown, False)


def test_a_change_is_told_from_others_in_its_sentence() -> None:
    evidence = (
        "Waiting fell from 78 minutes to 51 minutes in Orley, from 77 minutes to 62 minutes in Sarn and to 70 in Bly."
    )
    found = of("In Orley waiting fell by 27 minutes to 51 minutes.", "27 minutes", evidence)
    assert (found.rule, found.said) == ("derived", "78 minutes - 51 minutes")


@pytest.mark.parametrize(
    ("claim", "figure"),
    [
        ("That leaves 613 who work by day.", "613"),  # 640 - 27: two sentences
        ("The margin lost 14.1 percentage points.", "14.1 percentage points"),
        ("The margin lost 2.7 %.", "2.7 %"),
        ("The report of 2039 is more than that.", "2039"),  # 2021 + ..., but a year is no result
    ],
)
def test_of_many_figures_others_are_not(claim: str, figure: str) -> None:
    assert of(claim, figure, LONG).veto


def test_products_beyond_all_bounds_are_none() -> None:
    factor, measure = (Input(Decimal("1e600000"), "1e600000", unit) for unit in ("", "kg"))
    assert all(operation.compute([factor, measure]) is not None for operation in _OPERATIONS)


def test_days_between_two_dates() -> None:
    text = "The hall was sold on 2 December 2025. The council heard of it on 19 December 2025, from the press."
    assert of("The council heard of it 17 days later.", "17 days", text).said == "19 December 2025 - 2 December 2025"
    assert of("The council heard of it 18 days later.", "18 days", text).veto


HEAD = ("site", "area (ha)", "samples", "oxygen", "year")
SITES = [
    ("Aln", 212, 48, 8.1, 2021),
    ("Bure", 87, 52, 6.4, 2021),
    ("Aln", 212, 50, 7.6, 2024),
    ("Bure", 87, 55, 6.1, 2024),
]
ROWS = [" | ".join(f"{head}: {cell}" for head, cell in zip(HEAD, row, strict=True)) for row in SITES]


@pytest.mark.parametrize(
    ("claim", "figure", "shown"),
    [
        ("Oxygen in Bure fell by 0.3.", "0.3", "6.4 - 6.1"),
        ("In total, 100 samples were taken in 2021.", "100", "sum of 2 rows of samples"),
        ("Together they took 205 samples.", "205", "sum of 4 rows of samples"),
    ],
)
def test_of_a_table_a_column_is_combined(claim: str, figure: str, shown: str) -> None:
    assert of(claim, figure, *ROWS).said == shown


def test_the_whole_table_counts_where_it_is_at_hand() -> None:
    rows = [f"Plant: {name} | Output (t): {count}" for name, count in (("Ayr", 455), ("Bonn", 198), ("Cork", 65))]
    tables = read_tables(TablePiece(f"S1.{at}", row) for at, row in enumerate(rows))
    claim, cited = analyze_text("Ayr accounts for 63 % of output."), read_texts([("S1.0", rows[0])])
    assert [each.rule for each in find(claim, cited) if each.veto] == ["number"]
    assert [each.said for each in find(claim, cited, lambda: tables)] == [
        "455 / sum of 3 rows of Output (t) in percent"
    ]


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
