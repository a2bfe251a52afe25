"""The built-in model over records: documents of lines with a key and a value, as profiles and data sheets are."""

from __future__ import annotations

import pytest
from extractive_asking import answered, found

from assay.core.phrases import NOTHING

LAND = """Morvania

Geography - Area: total: 41,200 sq km; land: 40,100 sq km
Geography - Coastline: 215 km
Geography - Highest point: Mount Morva 2,107 m
People and Society - Languages: Morvan (official), Deltic
Government - Independence: 3 May 1911 (from Deltia)
Economy - Jobless rate: 4.1% (2022 est.)
"""
SHEET = """Heron 7 pump

Manufacturer: Alby & Sons
Weight: 8.2 kg
Seal material: nitrile
Flow rate: 30 litres per minute
Noise level: 55 dB at 1 m
Supply: 230 V
Price: 219 EUR
"""
BATH = """Hallenbad Ostrau

Adresse: Seeweg 3, Ostrau
Eintritt: Erwachsene 9 Franken, Kinder 5 Franken
Jahresgebühr: 30 Franken
Leitung: Noemi Keller
"""


def marked(text: str) -> str:
    """The same record as Markdown: a heading, and an item for each line."""
    title, _, lines = text.partition("\n\n")
    items = (f"- **{key}**: {value}" for key, _, value in (line.partition(": ") for line in lines.splitlines()))
    return "\n".join((f"# {title}\n", *items, ""))


@pytest.mark.parametrize("form", [str, marked])
@pytest.mark.parametrize(
    ("question", "title", "text", "expected"),
    [
        ("How long is the coastline of Morvania?", "Morvania", LAND, "215 km"),
        ("What is the highest point of Morvania?", "Morvania", LAND, "Mount Morva"),
        ("What is Morvania's land area?", "Morvania", LAND, "40,100"),
        ("Which languages are spoken in Morvania?", "Morvania", LAND, "Deltic"),
        ("How heavy is the Heron 7?", "Heron 7 pump", SHEET, "8.2 kg"),
        ("How loud is the Heron 7?", "Heron 7 pump", SHEET, "55 dB"),
        ("What does the Heron 7 cost?", "Heron 7 pump", SHEET, "219 EUR"),
        (
            "Which pump replaced the Heron 7?",
            "Heron 7 pump",
            f"{SHEET}Discontinued: replaced by the Heron 8\n",
            "Heron 8",
        ),
        ("How heavy is the Heron 7?", "Heron 7 pump", SHEET.replace("Weight: 8.2 kg", "Weight (kg): 8.2"), "8.2"),
        ("What does the Heron 7 cost?", "Heron 7 pump", SHEET.replace("Price: 219 EUR", "sold_at_eur: 219"), "219"),
        ("What is the seal of the Heron 7 made of?", "Heron 7 pump", SHEET, "nitrile"),
        ("Was kostet der Eintritt ins Hallenbad Ostrau?", "Hallenbad Ostrau", BATH, "9 Franken"),
        ("Wie hoch ist die Jahresgebühr im Hallenbad Ostrau?", "Hallenbad Ostrau", BATH, "30 Franken"),
    ],
)
def test_a_line_of_a_record_answers(question: str, title: str, text: str, expected: str, form: type[str]) -> None:
    record = form(text)
    assert expected in found(question, title, record, "markdown" if record != text else "plain")


@pytest.mark.parametrize(
    ("question", "title", "text"),
    [
        ("Who is the president of Morvania?", "Morvania", LAND),
        ("What is the failure rate of the Heron 7?", "Heron 7 pump", SHEET),
        ("How long is the cable of the Heron 7?", "Heron 7 pump", f"{SHEET}Warranty: 24 months\n"),
        ("Which country has the longest coastline?", "Morvania", LAND),
        ("Welches Bad hat die niedrigste Jahresgebühr?", "Hallenbad Ostrau", BATH),
        ("How hot may the Heron 7 get?", "Heron 7 pump", SHEET),
        ("Wie viele Besucher hat das Hallenbad Ostrau?", "Hallenbad Ostrau", BATH),
    ],
)
def test_what_a_record_does_not_say_is_not_found(question: str, title: str, text: str) -> None:
    assert found(question, title, text, "plain").startswith(NOTHING)


def test_a_measure_that_a_record_has_twice_is_told_twice() -> None:
    both = answered("How heavy is the Heron 7?", "Heron 7 pump", f"{SHEET}Shipping weight: 9.6 kg\n", "plain")
    assert "Weight: 8.2 kg [" in both
    assert "Shipping weight: 9.6 kg [" in both
