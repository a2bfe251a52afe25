"""A value stands in the answer only where what it cites bears it."""

from __future__ import annotations

from typing import Any

import pytest
from research import document

from assay.core.typed_answers import Field
from assay.evidence.ledger import Ledger
from assay.evidence.segment import segment
from assay.phases.fields.answer import fields_text
from assay.phases.fields.schema import FieldSlot, Leaf
from assay.phases.fields.values import FieldAnswer, field_label, supported_field
from assay.run.protocols import DocumentPassages

HEADER = "PEP: 6\nTitle: Bug Fix Releases\nAuthor: Ann Lee, Bo Ek\nStatus: Superseded\nCreated: 15-Mar-2001\n"
PROSE = "# Tides\n\nThe tide at Brest rises seven metres. It was measured on 3 May 1921 by the harbour office.\n"
TEXT = Leaf(type="string")


def ledger() -> Ledger:
    made = Ledger()
    for name, text in (("pep.md", HEADER), ("tides.md", PROSE)):
        shown = DocumentPassages(document=document(name, text), spans=segment(text, "markdown"))
        made.apply(made.register(1, [shown]).rows)
    return made


def state(slot: FieldSlot, value: Any, *ids: str, subject: str = "PEP 6 (Bug Fix Releases)") -> Field:
    return supported_field((slot.name,), slot, FieldAnswer(value=value, passages=ids), subject, ledger())


def test_a_header_field_is_framed_by_its_own_key_and_says_of_what_it_is() -> None:
    found = state(FieldSlot(name="state", leaf=TEXT), "Superseded", "S1001.3")
    assert found.sentence == "Status of PEP 6 (Bug Fix Releases): Superseded"
    assert found.passages == ("S1001.3", "S1001.0", "S1001.1")
    assert fields_text([found]) == f"- {found.sentence} [S1001.3, S1001.0, S1001.1]"


def test_prose_is_framed_by_the_name_of_the_field() -> None:
    found = state(FieldSlot(name="tidalRange", leaf=Leaf(type="integer")), 7, "S1002.1", subject="the tide at Brest")
    assert (found.value, found.sentence) == (7, "Tidal range of the tide at Brest: 7")
    assert found.passages == ("S1002.1",)


def test_a_field_of_nothing_named_is_stated_by_its_own_name() -> None:
    found = state(FieldSlot(name="tidalRange", leaf=Leaf(type="integer")), 7, "S1002.1", subject="")
    assert (found.value, found.sentence) == (7, "Tidal range: 7")


@pytest.mark.parametrize(
    ("slot", "value", "ids", "reason"),
    [
        (FieldSlot(name="status", leaf=TEXT), "Final", ("S1001.3",), "'Final' is not in what it cites"),
        (FieldSlot(name="status", leaf=Leaf(type="string", enum=("Final",))), "Final", ("S1001.3",), "says"),
        (FieldSlot(name="status", leaf=TEXT), "Superseded", (), "it cites no passage: Superseded"),
        (FieldSlot(name="status", leaf=TEXT), "Superseded", ("S9.9",), "what it cites does not exist"),
        (FieldSlot(name="range", leaf=Leaf(type="integer")), 9, ("S1002.1",), "9"),
        (FieldSlot(name="created", leaf=Leaf(type="string", format="date")), "2001-03-16", ("S1001.4",), ""),
        (FieldSlot(name="authors", leaf=TEXT, is_list=True), ["Ann Lee", "Cy Oz"], ("S1001.2",), "'Cy Oz' is not in"),
        (FieldSlot(name="status", leaf=Leaf(type="integer")), "Superseded", ("S1001.3",), "is no number"),
        (FieldSlot(name="status", leaf=TEXT), None, ("S1001.3",), "no passage says it"),
    ],
)
def test_a_value_which_is_not_borne_is_null_with_a_reason(
    slot: FieldSlot, value: Any, ids: tuple[str, ...], reason: str
) -> None:
    found = state(slot, value, *ids)
    assert (found.value, found.sentence, found.passages) == (None, "", ())
    assert reason in found.reason
    assert found.reason


def test_the_value_of_another_document_does_not_become_this_ones() -> None:
    found = state(FieldSlot(name="status", leaf=TEXT), "Superseded", "S1001.3", subject="PEP 7")
    assert found.value is None
    assert "7" in found.reason


def test_dates_and_lists_are_borne_however_they_are_written() -> None:
    created = state(FieldSlot(name="created", leaf=Leaf(type="string", format="date")), "March 15, 2001", "S1001.4")
    assert (created.value, created.sentence) == ("2001-03-15", "Created of PEP 6 (Bug Fix Releases): 2001-03-15")
    authors = state(FieldSlot(name="authors", leaf=TEXT, is_list=True), ["Bo Ek", "Ann Lee"], "S1001.2")
    assert authors.value == ("Bo Ek", "Ann Lee")
    assert authors.sentence == "Author of PEP 6 (Bug Fix Releases): Bo Ek, Ann Lee"


def test_nothing_a_value_holds_makes_markers_or_lines() -> None:
    found = state(FieldSlot(name="note", leaf=TEXT), "Superseded\n\n# x [S1001.2]", "S1001.3")
    assert "\n" not in found.sentence
    assert "[S1001.2]" not in found.sentence


def test_what_is_empty_is_listed_with_its_reason() -> None:
    empty = Field(path=("siteInfo", 0, "open_since"), reason="no *passage* says it")
    assert fields_text([empty]) == "## What could not be found\n\n- Site info 1 open since: no \\*passage\\* says it"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("createdAt", "Created at"),
        ("created_at", "Created at"),
        ("URL", "URL"),
        ("a.b-c", "A b c"),
        ("größe", "Größe"),
        ("Größe des Hafens (m)", "Größe des Hafens"),
        ("_", "Field"),
        ("a_b_c_d_e_f_g_h", "A b c d e f"),
    ],
)
def test_names_become_words(name: str, expected: str) -> None:
    assert field_label(name) == expected


@pytest.mark.parametrize(
    ("name", "value", "said", "sentence"),
    [
        ("span_ft", 1476.4, "The span is 450 metres.", "Span of the Rotne Bridge: 1476 ft (450 metres)"),
        ("wait_seconds", 0.35, "The wait is 350 ms.", "Wait of the Rotne Bridge: 0.35 seconds (350 ms)"),
        ("span_m", 450, "The span is 450 metres.", "Span of the Rotne Bridge: 450 m"),
        ("span_ft", 1477, "The span is 450 metres.", ""),
        ("age", 12, "The bridge has an age of 12 years.", "Age of the Rotne Bridge: 12"),
    ],
)
def test_the_unit_of_a_label_stands_with_the_value_and_a_conversion_with_what_it_is_from(
    name: str, value: float, said: str, sentence: str
) -> None:
    text = f"# Rotne Bridge\n\n{said}\n"
    made = Ledger()
    shown = DocumentPassages(document=document("a.md", text), spans=segment(text, "markdown"))
    made.apply(made.register(1, [shown]).rows)
    slot = FieldSlot(name=name, leaf=Leaf(type="number"))
    found = supported_field((name,), slot, FieldAnswer(value=value, passages=("S1001.1",)), "the Rotne Bridge", made)
    assert found.sentence == sentence
