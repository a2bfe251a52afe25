"""Lists of records read as tables."""

from __future__ import annotations

import pytest

from assay.core.sources import Document, Syntax
from assay.core.tables.answers import recompute
from assay.core.tables.cells import ReadTable, TablePiece
from assay.core.tables.records import record_tables, table_of_documents
from assay.core.tables.rows import Note, note_line, read_notes
from assay.core.tables.table_questions import answer_question
from assay.evidence.segment import segment
from assay.locale import use_locale


def tables(text: str, syntax: Syntax = "markdown") -> tuple[ReadTable, ...]:
    spans = segment(text, syntax)
    return record_tables([TablePiece(str(each.ordinal), each.text, each.start, each.heading) for each in spans], "list")


def record(name: str, **fields: str) -> str:
    return f"## {name}\n\n" + "".join(f"- {key}: {value}\n" for key, value in fields.items()) + "\n"


TENTS = "# Tents\n\n" + "".join(
    record(name, Price=price, Weight=weight)
    for name, price, weight in (
        ("Lark", "310 EUR", "2.9 kg"),
        ("Heron", "745 EUR", "3.4 kg"),
        ("Crane", "99 EUR", "5.1 kg"),
    )
)


def test_records_under_headings_are_rows_that_the_headings_name() -> None:
    (found,) = tables(TENTS)

    assert found.heads == ("column 1", "Price", "Weight")
    assert [row.text(0) for row in found.rows] == ["Lark", "Heron", "Crane"]
    for row in found.rows:
        assert all(TENTS.encode()[cell.start : cell.end].decode() == cell.text for cell in row.cells.values())


def test_extremes_are_computed_over_records() -> None:
    asked = tables(TENTS)
    found = answer_question("Which tent is the most expensive?", asked)

    assert found is not None
    assert found.answers[0].text == "Heron: Price 745 EUR, the highest of 3 rows"
    assert recompute(found.answers[0].text, asked) == (True, found.answers[0].text)
    assert answer_question("Which tent is the longest?", asked) is None
    assert answer_question("What is the total weight of the boats?", asked) is None
    assert answer_question("What is the price of the Lark?", asked) is None  # a field is quoted as it stands


def test_two_records_or_prose_between_them_are_no_list() -> None:
    two = record("Lark", Price="310", Weight="2") + record("Heron", Price="745", Weight="3")
    apart = two + "## About\n\nThese are sold out.\n\n" + record("Crane", Price="99", Weight="5")

    assert tables(two) == ()
    assert tables(apart) == ()


def test_records_that_follow_one_another_begin_where_a_key_comes_again() -> None:
    text = "".join(f"- Name: {name}\n- Age: {age}\n" for name, age in (("Ada", 31), ("Ben", 29), ("Cleo", 44)))
    (found,) = tables(f"# Crew\n\n{text}")

    assert found.heads == ("Name", "Age")
    assert [row.text(1) for row in found.rows] == ["31", "29", "44"]


def of_documents(language: str = "en", **sheets: str) -> ReadTable | None:
    facts = dict.fromkeys(("snapshot_sha256", "extractor", "url", "media_type", "fetched_at"), "")
    return table_of_documents(
        (
            Document(sha256=name, title=name, name=name, syntax="plain", size=1, language=language, **facts),
            [TablePiece(f"{name}/{each.ordinal}", each.text, each.start) for each in segment(text, "plain")],
        )
        for name, text in sheets.items()
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which tent is the heaviest?", "Crane: Weight 5.1 kg, the highest of 3 rows"),
        ("Which of these tents is the heaviest?", "Crane: Weight 5.1 kg, the highest of 3 rows"),
        ("Which tent has the lowest price?", "Crane: Price 99 EUR, the lowest of 3 rows"),
        ("Which tent is the longest?", ""),
        ("Which tent with two doors is the heaviest?", ""),
    ],
)
def test_documents_of_records_are_rows_whose_kind_the_question_names(question: str, expected: str) -> None:
    table = of_documents(
        Lark="Price: 310 EUR\nWeight: 2.9 kg (with bag)\n",
        Heron="Price: 745 EUR\nWeight: 3.4 kg\n",
        Crane="Price: 99 EUR\nWeight: 5.1 kg\n",
    )
    assert table is not None
    found = answer_question(question, [table])
    assert (found.answers[0].text if found is not None else "") == expected
    assert not expected or recompute(expected, [table]) == (True, expected)


def test_a_key_of_two_documents_is_no_column() -> None:
    assert of_documents(Lark="Price: 310 EUR", Heron="Price: 745 EUR", Crane="Weight: 5.1 kg") is None


def test_passages_of_several_documents_are_named_in_a_note() -> None:
    note = Note("Crane: Weight 5.1 kg, the highest of 3 rows", (4, 2, 4), (1, 2, 3))
    assert note_line(note) == "Computed from passages 1/4, 2/2, 3/4: Crane: Weight 5.1 kg, the highest of 3 rows"
    assert read_notes(note_line(note)) == (note,)


def test_documents_too_short_to_tell_their_language_have_the_decimal_sign_of_the_answer() -> None:
    with use_locale("de"):
        table = of_documents("", Linde="Miete: 1.580 EUR", Birke="Miete: 940 EUR", Ahorn="Miete: 1.340 EUR")
        assert table is not None
        found = answer_question("Welche Wohnung hat die höchste Miete?", [table])
        assert found is not None
        assert found.answers[0].text == "Linde: Miete 1.580 EUR, der höchste Wert von 3 Zeilen"
