"""Fields filled by the built-in model out of prose and tables, in reports which state them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import assay

ENGLISH = """# Annual report of Halden Ferries

Halden Ferries runs nine ships between the islands. The company was founded on 4 May 1961 in Tonsvik.
At the end of the year it employed 2,140 people, 60 more than the year before.
Revenue grew to 312.5 million euros, after 298 million in the year before.
The managing director is Ingrid Solberg. Its registered office is in Mandal.
"""
GERMAN = """# Geschäftsbericht der Nordlicht Werft

Die Nordlicht Werft baut Fähren und Lotsenboote. Gegründet wurde die Werft am 12.03.1987 in Husum.
Zum Jahresende beschäftigte sie 1.250 Mitarbeiter. Der Umsatz stieg auf 84,5 Millionen Euro.
Geschäftsführerin ist Petra Lorenzen. Der Sitz der Gesellschaft ist Flensburg.
"""
FRENCH = """# Rapport annuel des Salines du Morbihan

Les Salines du Morbihan récoltent du sel depuis des siècles. La production a atteint 4 300 tonnes cette année.
L'entreprise emploie 86 salariés. Le directeur est Yann Kerbrat. Le siège se trouve à Vannes.
"""
OTHER = """# Annual report of Borealis Sails

Borealis Sails makes sails. It employed 310 people. The managing director is Ole Hansen.
"""
NUMBER, INTEGER, TEXT = {"type": "number"}, {"type": "integer"}, {"type": "string"}


def schema(**fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


async def filled(folder: Path, question: str, wanted: dict[str, Any], *texts: str) -> dict[str, Any]:
    for number, text in enumerate(texts):
        (folder / f"report-{number}.md").write_text(text)
    report = await assay.research(question, sources=[str(folder)], schema=wanted)
    for name, field in report.fields.items():
        assert (field.value is None) == (not field.claims), name
        assert field.value is None or field.passages, name
    return {name: field.value for name, field in report.fields.items()}


async def test_five_stated_values_fill_five(tmp_path: Path) -> None:
    wanted = schema(
        founded={"type": "string", "format": "date"},
        employed=INTEGER,
        revenue={"type": "number", "description": "revenue in million euros"},
        managing_director=TEXT,
        registered_office=TEXT,
        dividend=NUMBER,
    )
    found = await filled(tmp_path, "What does the report say of Halden Ferries?", wanted, ENGLISH, OTHER)
    assert found == {
        "founded": "1961-05-04",
        "employed": 2140,
        "revenue": 312.5,
        "managing_director": "Ingrid Solberg",
        "registered_office": "Mandal",
        "dividend": None,
    }


async def test_the_scale_counts_where_the_field_does_not_say_it(tmp_path: Path) -> None:
    found = await filled(tmp_path, "Revenue of Halden Ferries?", schema(revenue=NUMBER), ENGLISH)
    assert found == {"revenue": 312_500_000}


async def test_a_length_and_an_age_are_filled_from_adjectives_with_their_number(tmp_path: Path) -> None:
    text = "# The new quay of Brest\n\nThe new quay of Brest was opened in 1912. It is 450 metres long and 12 m wide.\n"
    wanted = schema(
        length={**NUMBER, "description": "length in metres"},
        width={**NUMBER, "description": "width in metres"},
        depth={**NUMBER, "description": "depth in metres"},
    )
    found = await filled(tmp_path, "What is known of the new quay of Brest?", wanted, text, OTHER)
    assert found == {"length": 450, "width": 12, "depth": None}


@pytest.mark.parametrize(
    ("text", "question", "wanted", "values"),
    [
        (
            GERMAN,
            "Was steht im Geschäftsbericht der Nordlicht Werft?",
            schema(mitarbeiter=INTEGER, umsatz={**NUMBER, "description": "Umsatz in Millionen Euro"}, sitz=TEXT),
            {"mitarbeiter": 1250, "umsatz": 84.5, "sitz": "Flensburg"},
        ),
        (
            FRENCH,
            "Que dit le rapport des Salines du Morbihan ?",
            schema(production=INTEGER, salariés=INTEGER, directeur=TEXT),
            {"production": 4300, "salariés": 86, "directeur": "Yann Kerbrat"},
        ),
    ],
)
async def test_other_languages_and_their_numbers(
    tmp_path: Path, text: str, question: str, wanted: dict[str, Any], values: dict[str, Any]
) -> None:
    assert await filled(tmp_path, question, wanted, text) == values


async def test_cells_of_the_row_a_question_names(tmp_path: Path) -> None:
    (tmp_path / "ports.csv").write_text("port,depth,berths,country\nGoole,7.5,12,England\nLeith,8,20,Scotland\n")
    wanted = schema(depth=NUMBER, berths=INTEGER, country=TEXT, cranes=INTEGER)
    found = await filled(tmp_path, "What is known of the port of Leith?", wanted)
    assert found == {"depth": 8, "berths": 20, "country": "Scotland", "cranes": None}
