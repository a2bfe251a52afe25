"""Rows: merged, counted, and written as the report."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from research import document

from assay.core.report_sentences import read_sentences
from assay.core.sources import PassageSpan
from assay.locale import use_locale
from assay.phases.survey.batches import MAX_BATCH_DOCUMENTS, MAX_DOCUMENT_CHARS, group_documents
from assay.phases.survey.collection import (
    MAX_SHOWN_ROWS,
    Row,
    SurveyExtent,
    SurveyLine,
    compose_report,
    first_line,
    merge_rows,
)


def row(place: int, *texts: str, named: bool = True) -> Row:
    lines = tuple(SurveyLine(text=text, spans=(PassageSpan(0, 0, 1, "x"),)) for text in texts)
    return Row(document=f"d{place}", position=place, name=f"Document {place}", lines=lines, names_document=named)


def cite(row: Row, line: SurveyLine) -> str:
    return f"[S{row.position + 1}.{line.spans[0].ordinal}]"


def test_rows_of_one_document_are_one_and_say_each_thing_once() -> None:
    found = merge_rows([row(2, "B."), row(1, "A."), row(2, "b"), row(2, "C.")])
    assert [(each.position, [line.text for line in each.lines]) for each in found] == [(1, ["A."]), (2, ["B.", "C."])]


def test_the_count_is_exact_and_the_cap_is_said() -> None:
    rows = [row(number, f"Status of PEP {number}: Final") for number in range(MAX_SHOWN_ROWS + 7)]
    text = compose_report(
        rows, SurveyExtent(documents_read=90, total=100, portion="the header fields"), "Status = Final", cite
    )
    assert text.startswith(f"{MAX_SHOWN_ROWS + 7} documents match; the header fields of 90 of 100 documents were read.")
    assert text.count("\n- ") == MAX_SHOWN_ROWS
    assert text.endswith(f"The first {MAX_SHOWN_ROWS} of {MAX_SHOWN_ROWS + 7} documents are listed.")


def test_only_rows_are_claims() -> None:
    reached = SurveyExtent(documents_read=1_736, total=1_736)
    rows = [row(number, "It rains in Brest.", named=False) for number in range(MAX_SHOWN_ROWS + 1)]
    with use_locale(""):
        sentences = read_sentences(compose_report(rows, reached, "What it says of 3 things", cite))
    facts = [sentence.text for sentence in sentences if sentence.role != "structure"]
    assert facts == ["It rains in Brest."] * MAX_SHOWN_ROWS


def test_one_document_is_told_as_one() -> None:
    assert (
        first_line([row(0, "A.")], SurveyExtent(documents_read=1, total=1))
        == "1 document matches; 1 of 1 document was read."
    )
    assert first_line([], SurveyExtent(documents_read=0, total=2)) == "0 documents match; 0 of 2 documents were read."


def test_what_a_row_holds_makes_no_line_and_no_marker() -> None:
    text = compose_report([row(0, "a [S9.9]\n# b")], SurveyExtent(documents_read=1, total=1), "x\n# y", cite)
    assert "S9.9" not in text
    assert text.splitlines()[2:] == ["## x # y", "", "- a # b [S1.0]"]


@given(st.lists(st.integers(1, 3 * MAX_DOCUMENT_CHARS), max_size=60), st.integers(1_000, 200_000))
def test_batches_hold_every_document_once_in_order_and_fit(sizes: list[int], room: int) -> None:
    documents = [document(f"{at}.md", "x" * 3 + str(at)) for at in range(len(sizes))]
    sized = [msgspec.structs.replace(each, size=size) for each, size in zip(documents, sizes, strict=True)]
    found = list(group_documents(sized, room))
    assert [each for group in found for each in group] == sized
    for group in found:
        assert len(group) <= MAX_BATCH_DOCUMENTS
        assert len(group) == 1 or sum(min(each.size, MAX_DOCUMENT_CHARS) for each in group) <= room
