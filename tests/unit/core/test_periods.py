"""Weeks, quarters, halves and fiscal years are one time in whatever form they are written."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.lexicon import terms
from assay.core.periods import periods_in, read_period, spell_periods
from assay.core.tables.cells import TablePiece, read_tables
from assay.core.tables.table_questions import answer_question
from assay.models.questions.question import analyze
from assay.verify.amounts import tokens
from assay.verify.number_matches import states


@pytest.mark.parametrize(
    ("code", "year", "texts"),
    [
        ("w20", 2025, ("week 20 of 2025", "2025-W20", "2025 W20", "KW 20 2025", "Week 20, 2025", "semaine 20 de 2025")),
        ("w5", 0, ("week 5", "W05", "wk 5", "calendar week 5")),
        (
            "q3",
            2025,
            (
                "Q3 2025",
                "2025-Q3",
                "Q3/2025",
                "3Q 2025",
                "third quarter of 2025",
                "3rd quarter 2025",
                "3. Quartal 2025",
            ),
        ),
        ("q1", 0, ("Q1", "first quarter", "quarter 1", "premier trimestre")),
        (
            "h1",
            2024,
            (
                *("H1 2024", "H1/2024", "2024-H1", "1H 2024", "first half of 2024", "first half of the year 2024"),
                *("1. Halbjahr 2024", "ersten Halbjahres 2024", "1er semestre 2024", "primer semestre de 2024"),
            ),
        ),
        (
            "fy2024to2025",
            2024,
            (
                *("FY2024/25", "FY 2024-25", "FY24/25", "FY2024–2025", "fiscal year 2024/25", "financial year 2024-25"),
                *("Geschäftsjahr 2024/25", "exercice 2024-2025"),
            ),
        ),
        (
            "fy2024",
            2024,
            ("FY24", "FY2024", "FY 24", "FY'24", "fiscal year 2024", "financial year 2024", "fiscal 2024"),
        ),
    ],
)
def test_forms_of_one_period(code: str, year: int, texts: tuple[str, ...]) -> None:
    for text in texts:
        period = read_period(text)
        assert period is not None, text
        assert (period.code, period.year) == (code, year), text
    assert len({frozenset(terms(text, "en")) for text in texts}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "20 weeks",
        "a motor of 5 kW 20 km away",
        "week 20.5",
        "week 54",
        "a quarter of 3",
        "the first half of the match",
        "Q5",
        "H12",
        "The H2 tank is full",
        "2H and 3H",
        "H1",
        "2024/26",
        "on 2010-11",
        "on 2024-12-31",
        "2024-25-07",
        "12/2024/25",
        "2024/255",
        "Rule 2013/14/X",
        "XQ3",
    ],
)
def test_what_is_no_period(text: str) -> None:
    assert list(periods_in(text)) == []
    assert spell_periods(text) == text


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("2023 Q4, 2024 Q1", [("q4", 2023), ("q1", 2024)]),
        ("Q4 2023, Q1 2024", [("q4", 2023), ("q1", 2024)]),
        ("It opened in 2023. Week 20 was wet.", [("w20", 0)]),
        ("It opened in 2023. Q3 2024 was wet.", [("q3", 2024)]),
        ("2025.Q3", [("q3", 2025)]),
        ("Sales of 2024/25, and in 2023-24", [("fy2024to2025", 2024), ("fy2023to2024", 2023)]),
        ("Saison 1999/2000", [("fy1999to2000", 1999)]),
        ("H2 of fiscal 2024", [("h2", 0), ("fy2024", 2024)]),
        ("first half FY24", [("h1", 0), ("fy2024", 2024)]),
        ("H1 2024/25", [("h1", 0), ("fy2024to2025", 2024)]),
        ("FY24 2024-06-30", [("fy2024", 2024)]),
        ("FY2024, 2025", [("fy2024", 2024)]),
        ("Q2 2024-06-30", [("q2", 0)]),
    ],
)
def test_a_year_is_of_the_period_beside_it(text: str, periods: list[tuple[str, int]]) -> None:
    assert [(period.code, period.year) for period in periods_in(text)] == periods


def test_periods_may_be_equal_if_one_leaves_out_the_year() -> None:
    bare, this, other = (next(periods_in(text)) for text in ("week 20", "2025-W20", "2024-W20"))
    assert bare.may_equal(this)
    assert bare.may_equal(other)
    assert not this.may_equal(other)


@given(st.text("week 20Q3/-. of5thirdquarteFY'", max_size=40))
def test_a_text_keeps_all_but_its_periods(text: str) -> None:
    found = list(periods_in(text))
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(each.start <= each.first < each.last <= each.end for each in found)


def test_a_period_numbers_no_document() -> None:
    assert analyze("What was sold in week 20?").mentions == ()
    assert analyze("What does PEP 20 say?").mentions


@pytest.mark.parametrize(
    ("lines", "question", "value"),
    [
        (("week: 2025-W20 | sold: 52", "week: 2025-W21 | sold: 29"), "How many were sold in week 20?", "52"),
        (("week: 20 | sold: 52", "week: 21 | sold: 29"), "How many were sold in week 21?", "29"),
        (("period: 2025-Q2 | sold: 47", "period: 2025-Q3 | sold: 52"), "How many were sold in Q3 2025?", "52"),
        (("period: Q2 | sold: 47", "period: Q3 | sold: 52"), "How many were sold in the second quarter?", "47"),
        (("year: 2023/24 | sold: 47", "year: 2024/25 | sold: 52"), "How many were sold in FY 2023-24?", "47"),
        (("year: FY2023/24 | sold: 47", "year: FY2024/25 | sold: 52"), "How many were sold in 2024/25?", "52"),
        (
            ("y: 2024 | half: H1 | sold: 47", "y: 2024 | half: H2 | sold: 52"),
            "How many were sold in the second half of 2024?",
            "52",
        ),
    ],
)
def test_a_row_is_found_by_its_period(lines: tuple[str, ...], question: str, value: str) -> None:
    (table,) = read_tables([TablePiece(str(number), line) for number, line in enumerate(lines)], "sales.csv")
    found = answer_question(question, [table])
    assert found is not None
    assert [answer.value for answer in found.answers] == [value]


def test_a_row_of_another_year_is_not_the_one_asked_for() -> None:
    pieces = [TablePiece("0", "week: 2025-W20 | sold: 52"), TablePiece("1", "week: 2025-W21 | sold: 29")]
    assert answer_question("How many were sold in week 20 of 2024?", list(read_tables(pieces, "sales.csv"))) is None


@pytest.mark.parametrize(
    ("evidence", "claim", "same"),
    [
        ("2025-W20", "week 20", True),
        ("2025-Q3", "the third quarter", True),
        ("2025-Q3", "the second quarter", False),
        ("fiscal year 2024", "FY24", True),
        ("FY23", "2023", True),
        ("2024/25", "FY 2024-25", True),
        ("2024/25", "2023/24", False),
    ],
)
def test_a_claim_may_write_a_period_in_another_form(evidence: str, claim: str, same: bool) -> None:
    stated, (said,) = tokens(evidence), tokens(claim)
    assert any(states(token, said, stated) for token in stated) is same
