"""Header fields as a survey reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from research import document

from assay.evidence.segment import segment
from assay.phases.survey.filters import HEADER_BYTES, Header, count_keys, read_header, value_parts

PEP = "PEP: 0006\nTitle: Bug Fix Releases\nStatus: Superseded\nType: Process\n\nAbstract\n========\n\nNote: all this.\n"
EIP = "---\neip: 20\ntitle: Token Standard\nstatus: Final\n---\n\n## Abstract\n\nA token.\n"
SWIFT = (
    "# Labels\n\n* Proposal: [SE-0001](x.md)\n* Status: **Implemented (Swift 2.2)**\n\n## Introduction\n\nMore: no.\n"
)


def header(name: str, text: str) -> Header:
    return read_header(document(name, text), text.encode())


@pytest.mark.parametrize(
    ("text", "fields", "called"),
    [
        (
            PEP,
            {"pep": "0006", "title": "Bug Fix Releases", "status": "Superseded", "type": "Process"},
            "PEP 6 (Bug Fix Releases)",
        ),
        (EIP, {"eip": "20", "title": "Token Standard", "status": "Final"}, "EIP-20 (Token Standard)"),
        (SWIFT, {"proposal": "[SE-0001](x.md)", "status": "Implemented (Swift 2.2)"}, "Labels"),
        ("# Tides\n\nThe tide rises. Note: it falls.\n\nKey: value\n", {}, "Tides"),
        ("PEP: 622\nSponsor:\nStatus: Final\n", {"pep": "622", "status": "Final"}, "PEP 622 (PEP: 622)"),
        ("", {}, "a.md"),
    ],
)
def test_fields_stand_above_the_first_prose(text: str, fields: dict[str, str], called: str) -> None:
    found = header("a.md", text)
    assert {field.name: field.value for field in found.fields} == fields
    assert found.display_name == called


def test_keys_are_counted_with_the_values_that_sort_documents() -> None:
    headers = [header(f"{number}.md", f"Id: {number}\nStatus: {'ab'[number % 2]}\n") for number in range(101)]
    ids, status = count_keys(headers)
    assert (ids.key, ids.documents, ids.different, ids.values) == ("Id", 101, 101, {})
    assert (status.key, status.documents, status.values) == ("Status", 101, {"a": 51, "b": 50})


@given(
    st.lists(
        st.sampled_from(["Key: value", "Other: x, y", "# Head", "Prose here.", "", "  more", "- item"]), max_size=20
    )
)
def test_a_long_text_has_the_header_it_has_when_short(lines: list[str]) -> None:
    text = "\n".join(lines)
    long = f"{text}\n\nEnd of it.\n\n" + "Sentence upon sentence. " * (HEADER_BYTES[-1] // 10)
    short = header("a.md", f"{text}\n\nEnd of it.")
    assert [(f.key, f.value, f.span.start) for f in header("a.md", long).fields] == [
        (f.key, f.value, f.span.start) for f in short.fields
    ]


@given(st.lists(st.sampled_from(["PEP: 6", "Status: Final", "Größe: 3 m", "x", "", "* A: b"]), max_size=12))
def test_every_field_is_a_passage_of_the_whole(lines: list[str]) -> None:
    text = "\n".join(lines)
    spans = segment(text, "markdown")
    assert all(field.span in spans for field in header("a.md", text).fields)


def test_a_list_has_elements() -> None:
    assert value_parts("Ann Lee, Bo") == (("ann", "lee", "bo"), ("ann", "lee"), ("bo",))
