"""Extremes asked for by a degree ("the fastest"): which column it measures, and in which direction."""

from __future__ import annotations

import pytest
from read_rows import table

from assay.core.tables.answers import recompute
from assay.core.tables.cells import ReadTable
from assay.core.tables.figures import parse_duration
from assay.core.tables.table_questions import answer_question

TENTS = table(
    "Tent;Price (EUR);Packed [kg];Length (m);Beds", "Lark;310;2.9;2.2;2", "Heron;745;3.4;2.4;3", "Crane;99;5.1;2.1;4"
)
CREW = table(
    "Rower;Born;Joined;Weight in kg;500 m",
    "Ada;1991;2015;71;1:42.5",
    "Ben;1984;2019;93;1:29",
    "Cleo;1998;2012;68;1:47",
    title="The eight",
)
SWIMS = table("Swimmer;Points", "Ada;12", "Ben;31")
PREISE = table("Artikel;Preis (EUR);Gewicht (g)", "Hobel;48,50;910", "Säge;129,00;540", language="de")
VACHES = table("Vache;Prix (CHF);Poids (kg)", "Rosalie;5600;580", "Brune;3100;710", language="fr")


@pytest.mark.parametrize(
    ("question", "asked", "expected"),
    [
        ("Which tent is the most expensive?", TENTS, "Heron: Price (EUR) 745, the highest of 3 rows"),
        ("Which is the least expensive tent?", TENTS, "Crane: Price (EUR) 99, the lowest of 3 rows"),
        ("Which tent is the heaviest?", TENTS, "Crane: Packed [kg] 5.1, the highest of 3 rows"),
        ("Which tent is the longest?", TENTS, "Heron: Length (m) 2.4, the highest of 3 rows"),
        ("Who is the oldest rower of the eight?", CREW, "Ben: Born 1984, the lowest of 3 rows"),
        ("Who was the fastest rower?", CREW, "Ben: 500 m 1:29, the lowest of 3 rows"),
        ("Who was the slowest rower?", CREW, "Cleo: 500 m 1:47, the highest of 3 rows"),
        ("Welcher Artikel ist der teuerste?", PREISE, "Säge: Preis (EUR) 129,00, the highest of 2 rows"),
        ("Quelle vache est la plus légère ?", VACHES, "Rosalie: Poids (kg) 580, the lowest of 2 rows"),
    ],
)
def test_a_degree_is_of_the_column_it_measures(question: str, asked: ReadTable, expected: str) -> None:
    found = answer_question(question, [asked])

    assert found is not None
    assert [each.text for each in found.answers] == [expected]
    assert recompute(expected, [asked]) == (True, expected)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which tent is the widest?", TENTS),  # metres may be of any extent
        ("Which swimmer was the fastest?", SWIMS),
        ("Who had the fastest points?", SWIMS),  # more, or less?
    ],
)
def test_nothing_is_said_of_what_no_column_measures(question: str, asked: ReadTable) -> None:
    assert answer_question(question, [asked]) is None


def test_most_expensive_compares_rows_and_sums_nothing() -> None:
    sold = table("Boat;Day;Price (EUR)", "Gull;2020-05-01;500", "Tern;2020-06-01;400", "Tern;2020-07-01;450")

    found = answer_question("Which boat was the most expensive?", [sold])

    assert found is not None
    assert found.answers[0].text == "Gull: Price (EUR) 500, the highest of 3 rows"


@pytest.mark.parametrize(
    ("text", "seconds"), [("6:21", "381"), ("1:02:33", "3753"), ("1:42.5", "102.5"), ("6:75", None), ("621", None)]
)
def test_a_duration_is_read_as_clocks_show_it(text: str, seconds: str | None) -> None:
    found = parse_duration(text)

    assert (None if found is None else str(found)) == seconds


def test_a_date_alone_is_no_answer_to_what_no_head_says() -> None:
    fleet = table("vessel;built;cars", "MV Plover;2016;0", "MV Avocet;2025;62", title="fleet")
    assert answer_question("When was MV Plover last dry-docked?", [fleet]) is None
    found = answer_question("When was MV Plover built?", [fleet])
    assert found is not None
    assert [answer.text for answer in found.answers] == ["built of MV Plover: 2016"]
