"""Payments, hours, currencies and months: sums and extremes by the columns that a question means."""

from __future__ import annotations

import pytest
from read_rows import table

from assay.core.tables.answers import recompute
from assay.core.tables.cells import ReadTable
from assay.core.tables.table_questions import answer_question

TRANSFERS = table(
    "Day;From;To;Amount (EUR)",
    "2026-01-05;Hartwell;Ode Dairy;120",
    "2026-02-07;Ode Dairy;Hartwell;60",
    "2026-02-11;Pike & Son;Ode Dairy;300",
    "2026-03-01;Hartwell;Ode Dairy;90",
    "2026-03-04;Hartwell;Pike & Son;500",
)
CURRENCIES = table(
    "Payer;Payee;Amount;Currency",
    "Hartwell;Ode Dairy;120;EUR",
    "Hartwell;Ode Dairy;70;GBP",
    "Pike;Ode Dairy;30;GBP",
    "Pike;Ode Dairy;15;GBP",
)
HOURS = table(
    "Name;Day;Task;Time",
    "Kim;3 January 2026;Oak;2:30",
    "Lou;9 January 2026;Oak;1:45",
    "Kim;2 February 2026;Elm;3:15",
    "Kim;12 January 2026;Elm;0:50",
)
FILMS = table("Title;Director;Running time", "Alder;Kern;1:52:00", "Birch;Lund;2:10:30", "Cedar;Kern;1:35:10")
INVOICES = table("Invoice;Supplier;Amount;Since", "1;Acme;100;2019", "2;Acme;50;2021", "3;Birk;70;2020")
STAFF = table("Name;Born;Joined", "Ada;4 March 1991;2015-01-02", "Ben;May 12, 1984;2019-06-01", title="The staff")


@pytest.mark.parametrize(
    ("question", "asked", "expected"),
    [
        ("How much did Hartwell pay to Ode Dairy?", TRANSFERS, "Sum of Amount (EUR) over 2 rows: 210"),
        ("How much was paid to Ode Dairy by Hartwell in total?", TRANSFERS, "Sum of Amount (EUR) over 2 rows: 210"),
        (
            "Who made the largest payment to Ode Dairy?",
            TRANSFERS,
            "Pike & Son: Amount (EUR) 300, the highest of 3 rows",
        ),
        ("How much did Pike pay to Ode Dairy in total?", CURRENCIES, "Sum of Amount over 2 rows: 45 GBP"),
        ("How many hours did Kim work in January?", HOURS, "Sum of Time over 2 rows: 3:20"),
        ("Who worked the most hours?", HOURS, "Kim: sum of Time 6:35, the highest of 2 groups by Name"),
        ("What is the largest invoice?", INVOICES, "1: Amount 100, the highest of 3 rows"),
        ("Who has been on the staff for the longest time?", STAFF, "Ada: Joined 2015-01-02, the lowest of 2 rows"),
        ("Who is the oldest of the staff?", STAFF, "Ben: Born May 12, 1984, the lowest of 2 rows"),
    ],
)
def test_amounts_are_of_those_who_paid_or_received_them(question: str, asked: ReadTable, expected: str) -> None:
    found = answer_question(question, [asked])

    assert found is not None
    (computed,) = found.answers
    assert computed.text.partition(" (Day")[0].partition(" (From:")[0].startswith(expected)
    assert recompute(computed.text, [asked]) == (True, computed.text)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How much did Pike & Son pay to Hartwell in total?", TRANSFERS),  # both are there, on other sides
        ("How much did Hartwell pay to Silver Birch in total?", TRANSFERS),
        ("How much did Hartwell pay Ode Dairy in total?", TRANSFERS),  # who paid whom only the verb tells
        ("How much did Ode Dairy receive in total?", TRANSFERS),
        ("Who received the most?", TRANSFERS),
        ("How much did Pike pay in total?", TRANSFERS),  # half of a name
        ("How much did Hartwell pay in April?", TRANSFERS),
        ("How much did Hartwell pay before March?", TRANSFERS),
        ("How often did Hartwell pay Ode Dairy?", TRANSFERS),
        ("How much did Hartwell pay to Ode Dairy in total?", CURRENCIES),  # euros and pounds
        ("Who paid the most?", CURRENCIES),
        ("How many hours did Kim work in March?", HOURS),
        ("How many hours did Kim sleep in January?", HOURS),
        ("Who is the tallest of the staff?", STAFF),
        ("How many hours did Lund work?", FILMS),
    ],
)
def test_what_a_table_does_not_have_is_not_computed(question: str, asked: ReadTable) -> None:
    assert answer_question(question, [asked]) is None
