"""Fields filled by the built-in model: header fields, rows with headers, dates and numbers; nothing else."""

from __future__ import annotations

import json

import pytest
from filling import fill

PEP = """## S1001 Bug Fix Releases <file:///pep-6.md>
[S1001.0] PEP: 6
[S1001.1] Title: Bug Fix Releases
[S1001.2] Author: Ann Lee, Bo Ek
[S1001.3] Status: Superseded
[S1001.4] Created: 15-Mar-2001
[S1001.5] Releases are made by a manager."""
TIDES = """## S1002 Tides <file:///tides.md>
[S1002.0] Tides
[S1002.1] The tide at Brest rises 7 metres at most.
[S1002.2] The harbour of Brest was opened on 3 May 1921."""
TABLE = """## S1003 table.csv <file:///table.csv>
[S1003.0] country: France | year: 2020 | population: 67.4
[S1003.1] country: Spain | year: 2020 | population: 47.4"""


def test_header_fields_are_read_by_key_or_by_what_the_description_asks_for() -> None:
    schema = """{"properties": {"status": {"enum": ["Draft", "Superseded"]}, "people": {"type": "array", "items":
      {"type": "string"}, "description": "who wrote it"}, "created": {"type": "string", "format": "date"},
      "number": {"type": "integer"}, "sponsor": {"type": "string"}}}"""
    found = fill("What is PEP 6?", PEP, schema)
    assert found["subject"] == "PEP 6 (Bug Fix Releases)"
    assert found["fields"]["status"] == {"value": "Superseded", "passages": ["S1001.3"]}
    assert found["fields"]["people"] == {"value": ["Ann Lee", "Bo Ek"], "passages": ["S1001.2"]}
    assert found["fields"]["created"] == {"value": "15-Mar-2001", "passages": ["S1001.4"]}
    assert found["fields"]["number"] == {"value": "6", "passages": ["S1001.0"]}
    assert found["fields"]["sponsor"]["value"] is None
    assert found["fields"]["sponsor"]["reason"]


@pytest.mark.parametrize("genitive", ["'s", "’s"])
def test_the_subject_is_the_name_without_its_genitive(genitive: str) -> None:
    schema = '{"properties": {"height": {"type": "integer", "description": "metres the tide rises"}}}'
    assert fill(f"What does the Arnholm Pilots{genitive} almanac say?", TIDES, schema)["subject"] == "Arnholm Pilots"


def test_a_question_that_names_nothing_has_no_subject() -> None:
    schema = '{"properties": {"height": {"type": "integer", "description": "metres the tide rises"}}}'
    assert fill("What does the almanac say?", TIDES, schema)["subject"] == ""


@pytest.mark.parametrize(("text", "value"), [("MX-7 was tested.", None), ("The conductivity of MX-7 is 0.42.", "0.42")])
def test_the_number_in_a_name_is_no_value(text: str, value: str | None) -> None:
    schema = '{"properties": {"conductivity": {"type": "number"}}}'
    found = fill(
        "What is the conductivity of MX-7?", f"## S1001 Conductivity of MX-7 <file:///a.md>\n[S1001.0] {text}", schema
    )
    assert found["fields"]["conductivity"]["value"] == value


def test_numbers_and_dates_are_read_out_of_the_sentence_that_says_them() -> None:
    schema = """{"properties": {"tide": {"type": "integer", "description": "metres the tide rises"},
      "opened": {"type": "string", "format": "date", "description": "when the harbour was opened"},
      "colour": {"type": "string"}}}"""
    found = fill("What of Brest?", TIDES, schema)["fields"]
    assert found["tide"] == {"value": "7", "passages": ["S1002.1"]}
    assert found["opened"] == {"value": "3 May 1921", "passages": ["S1002.2"]}
    assert found["colour"]["value"] is None


def test_the_word_a_sentence_begins_with_is_no_name() -> None:
    leases = """## S1001 Leases <file:///leases.md>
[S1001.0] In its time ("A live process renews it") a lease is held.
[S1001.1] The lease is renewed every second by the process."""
    schema = '{"properties": {"time_to_live": {"type": "string"}}}'
    assert fill("How is a lease renewed?", leases, schema)["fields"]["time_to_live"]["value"] is None


def test_a_cell_is_read_below_its_header_in_the_row_that_answers() -> None:
    schema = '{"properties": {"population": {"type": "number"}, "country": {"type": "string"}}}'
    found = fill("What was the population of Spain in 2020?", TABLE, schema)["fields"]
    assert found["population"] == {"value": "47.4", "passages": ["S1003.1"]}
    assert found["country"] == {"value": "Spain", "passages": ["S1003.1"]}


def test_items_are_the_documents_that_have_the_fields() -> None:
    schema = """{"properties": {"peps": {"type": "array", "items": {"type": "object", "properties":
      {"status": {"type": "string"}}}}}}"""
    found = fill("Which are there?", f"{PEP}\n{TIDES}", schema)["items"]
    assert [(item["subject"], item["fields"]["status"]["value"]) for item in found] == [
        ("PEP 6 (Bug Fix Releases)", "Superseded")
    ]


LENGTH = '{"properties": {"length": {"type": "number", "description": "length in metres"}}}'


@pytest.mark.parametrize(
    ("question", "text", "label", "value"),
    [
        ("What of the quay of Brest?", "The quay of Brest was opened in 1912. It is 450 metres long.", "length", "450"),
        ("What of the quay of Brest?", "The quay of Brest is a 450-metre-long wall of stone.", "length", "450"),
        (
            "What of the quay of Brest?",
            "The ship is 90 m long, and the quay of Brest 450 m long.",
            "length",
            "450",
        ),
        ("What of the lock of Emden?", "The lock of Emden is 40 metres wide and 13.5 metres deep.", "depth", "13.5"),
        ("What of the lock of Emden?", "The lock of Emden has a width of about 40 metres.", "width", "40"),
        ("What of the dog of Anna?", "The dog of Anna is 12 years old.", "age", "12"),
        ("What of the bell of Ulm?", "The bell of Ulm weighs 3.2 tonnes.", "weight", "3.2"),
        ("Was ist mit dem Kai von Brest?", "Der Kai von Brest ist alt. Er ist 1.450 Meter lang.", "Länge", "1450"),
        ("Was ist mit dem Turm von Ulm?", "Der Turm von Ulm ist 161,5 Meter hoch.", "Höhe", "161.5"),
        ("Was ist mit dem Hund von Anna?", "Der Hund von Anna ist seit gestern 12 Jahre alt.", "Alter", "12"),
        ("Que dire du quai de Brest ?", "Le quai de Brest est long de 450 mètres depuis 1912.", "longueur", "450"),
        ("Que dire de la cloche de Brest ?", "La cloche de Brest pèse 3,2 tonnes depuis 1912.", "poids", "3.2"),
        ("¿Qué se dice del muelle de Cádiz?", "El muelle de Cádiz mide 450 metros de largo.", "longitud", "450"),
        ("¿Qué se dice del muelle de Cádiz?", "El muelle de Cádiz tiene una altura de 12 metros.", "altura", "12"),
    ],
)
def test_a_measure_is_read_from_its_number_with_the_word_that_goes_with_it(
    question: str, text: str, label: str, value: str
) -> None:
    evidence = f"## S1001 Notes <file:///notes.md>\n[S1001.0] {text}"
    found = fill(question, evidence, f'{{"properties": {{"{label}": {{"type": "number"}}}}}}')
    assert found["fields"][label]["value"] == value


@pytest.mark.parametrize(
    "text",
    [
        "The quay of Brest was opened in 1912. It is 40 metres wide.",
        "The quay of Brest was opened in 1912. It is 3 tons long.",
        "The quay of Brest was opened in 1912. The ship is 90 metres long.",
    ],
)
def test_another_measure_unit_or_thing_fills_nothing(text: str) -> None:
    evidence = f"## S1001 Notes <file:///notes.md>\n[S1001.0] {text}"
    assert fill("What of the quay of Brest?", evidence, LENGTH)["fields"]["length"]["value"] is None


@pytest.mark.parametrize(
    ("text", "described", "value"),
    [
        ("The quay of Brest is 1.5 kilometres long.", "length in metres", "1500"),
        ("The quay of Brest is 30 feet long.", "length in metres", "9.144"),
        ("The quay of Brest is 2 miles long.", "length in km", "3.218688"),
        ("The quay of Brest is 450 metres long.", "length", "450"),
        ("The quay of Brest is 450 metres long, and 1.5 km long with its moles.", "length in km", "1.5"),
        ("The quay of Brest weighs 2 tons.", "weight in kg", None),
        ("The quay of Brest weighs 2 tonnes.", "weight in kg", "2000"),
    ],
)
def test_a_measure_is_converted_to_the_unit_of_the_field(text: str, described: str, value: str | None) -> None:
    schema = json.dumps({"properties": {"asked": {"type": "number", "description": described}}})
    found = fill("What of the quay of Brest?", f"## S1001 Notes <file:///notes.md>\n[S1001.0] {text}", schema)
    assert found["fields"]["asked"]["value"] == value


BRIDGE = """## S1001 The Long Bridge <file:///bridge.md>
[S1001.0] The Long Bridge
[S1001.1] It was designed by Georg K.S. Rotne. The main span is 490 metres long, each side span 160 metres long.
[S1001.2] Its two pairs of pylons are 204 metres high. The crossing is completed by the 4-kilometre Drogden Tunnel.
[S1001.3] All of the construction cost 30.1 billion Danish kroner in 2000. The city has a harbour since 1921."""


@pytest.mark.parametrize(
    ("name", "described", "value"),
    [
        ("main_span_m", "length of the main span in metres", "490"),
        ("side_span_length", "in metres", "160"),
        ("pylon_height_m", "", "204"),
        ("tunnel_length_km", "", "4"),
        ("tunnel_length_m", "", "4000"),
        ("total_height", "", None),
        ("tunnel_width_m", "", None),
        ("cost_dkk_bn", "cost in billion Danish kroner", "30.1"),
        ("inhabitants", "population of the city", None),
    ],
)
def test_a_field_may_name_a_part_of_the_subject_or_say_in_its_description_what_it_is(
    name: str, described: str, value: str | None
) -> None:
    schema = json.dumps({"properties": {name: {"type": "number", "description": described}}})
    assert fill("What of the Long Bridge?", BRIDGE, schema)["fields"][name]["value"] == value


def test_initials_are_part_of_a_name() -> None:
    schema = '{"properties": {"designed_by": {"type": "string", "description": "who designed it"}}}'
    assert fill("What of the Long Bridge?", BRIDGE, schema)["fields"]["designed_by"]["value"] == "Georg K.S. Rotne"
