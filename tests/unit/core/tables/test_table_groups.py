"""Groups of rows asked for ("which supplier got the most?"), and columns that money is in."""

from __future__ import annotations

import pytest
from read_rows import UMSATZ, table

from assay.core.tables.answers import recompute
from assay.core.tables.cells import ReadTable
from assay.core.tables.table_questions import answer_question
from assay.locale import use_locale

DELIVERIES = table(
    "day;supplier;goods;amount",
    "2024-01-08;Mercer;paper;412.50",
    "2024-01-11;Dentalux;gloves;980.00",
    "2024-01-22;Orbis;masks;1310.00",
    "2024-01-29;Dentalux;gloves;1020.00",
    "2024-02-05;Mercer;soap;388.00",
    "2024-02-26;Mercer;soap;291.60",
    title="deliveries.csv",
)
VERKAUF = table(
    "Produkt;Tag;Betrag (EUR)",
    "Stuhl;02.10.2023;1200",
    "Tisch;05.10.2023;2300",
    "Tisch;09.10.2023;1100",
    title="verkauf.csv",
    language="de",
)
EINNAHMEN = table(
    "Produkt;Tag;EUR",
    "Stuhl;02.10.2023;1200,00",
    "Tisch;05.10.2023;2300,50",
    "Tisch;09.10.2023;1100,00",
    title="einnahmen.csv",
    language="de",
)
QUALITY = table(
    "date;beach;bacteria;temperature",
    "2024-05-06;North;22;11.5",
    "2024-05-06;Mill;61;12.0",
    "2024-05-20;North;85;13.1",
    "2024-05-20;Mill;58;14.0",
    title="water.csv",
)


def test_money_is_in_no_column_of_other_figures():
    catches = table(
        "day;boat;boxes", "2024-05-06;Ada;22", "2024-05-07;Mill;61", "2024-05-08;Ada;85", title="catches.csv"
    )
    assert answer_question("Which boat gets the most?", [catches]) is not None
    assert answer_question("Which boat gets the most money?", [catches]) is None
    assert answer_question("How much money did Ada get?", [catches]) is None


@pytest.mark.parametrize(
    ("question", "asked", "said"),
    [
        (
            "Which supplier gets the most?",
            DELIVERIES,
            "Dentalux: sum of amount 2000, the highest of 3 groups by supplier",
        ),
        (
            "Which supplier got the least?",
            DELIVERIES,
            "Mercer: sum of amount 1092.1, the lowest of 3 groups by supplier",
        ),
        (
            "Which supplier gets the most money from us?",
            DELIVERIES,
            "Dentalux: sum of amount 2000, the highest of 3 groups by supplier",
        ),
        (
            "Für welches Produkt wurde am meisten Geld gezahlt?",
            EINNAHMEN,
            "Tisch: sum of EUR 3400,5, the highest of 2 groups by Produkt",
        ),
        (
            "How much money did Dentalux get from us?",
            DELIVERIES,
            "Sum of amount over 2 rows: 2000 (supplier: Dentalux)",
        ),
        ("Which supplier delivers most often?", DELIVERIES, "Mercer: 3 rows, the most of 3 groups by supplier"),
        (
            "Which goods have the highest average amount?",
            DELIVERIES,
            "masks: average of amount 1310, the highest of 4 groups by goods",
        ),
        ("Which goods have the highest amount?", DELIVERIES, "masks: amount 1310.00, the highest of 6 rows"),
        (
            "Für welches Produkt wurde am meisten gezahlt?",
            VERKAUF,
            "Tisch: sum of Betrag (EUR) 3400, the highest of 2 groups by Produkt",
        ),
        ("How much did we pay for masks?", DELIVERIES, "amount of masks: 1310.00"),
        ("How much did we spend on gloves?", DELIVERIES, "Sum of amount over 2 rows: 2000 (goods: gloves)"),
        (
            "Welche Region hat am meisten Umsatz?",
            UMSATZ,
            "Nord: sum of Umsatz (EUR) 3.500,5, the highest of 2 groups by Region",
        ),
        (
            "Which beach has the most bacteria on average?",
            QUALITY,
            "Mill: average of bacteria 59.5, the highest of 2 groups by beach",
        ),
        ("Which beach has the most bacteria?", QUALITY, "North: bacteria 85, the highest of 4 rows"),
    ],
)
def test_an_extreme_of_groups(question: str, asked: ReadTable, said: str) -> None:
    with use_locale("en"):
        found = answer_question(question, [asked])
        assert found is not None
        assert [each.text for each in found.answers] == [said]
        assert recompute(said, [asked]) == (True, said) or found.computation.operation == "cell"


@pytest.mark.parametrize(
    "question",
    ["Which supplier is the most modern?", "How much do gloves weigh?", "Which supplier has the most staff?"],
)
def test_an_amount_is_only_what_is_paid(question: str) -> None:
    assert answer_question(question, [DELIVERIES]) is None


def test_a_wrong_group_is_told() -> None:
    said = "Mercer: sum of amount 2000, the highest of 3 groups by supplier"
    assert recompute(said, [DELIVERIES]) == (
        False,
        "Dentalux: sum of amount 2000, the highest of 3 groups by supplier",
    )


def test_a_column_is_no_answer_without_a_row_that_the_question_names() -> None:
    trial = table("season;sand;sand with 5 per cent lime", "2022;61;68", "2023;60;69", "2024;53;61", title="trial.csv")
    assert answer_question("How much was iron reduced by 5 per cent lime?", [trial]) is None
    assert answer_question("How wide is sand with 5 per cent lime?", [trial]) is None
