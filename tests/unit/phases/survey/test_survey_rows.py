"""Rows: merged, counted, and written as the report."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from research import document

from assay.core.report_sentences import read
from assay.core.sources import PassageSpan
from assay.locale import speaking
from assay.phases.survey.batches import A_DOCUMENT, MOST_DOCUMENTS, batches
from assay.phases.survey.collection import SHOWN, Reached, Row, SurveyLine, composed, first_line, merged


def row(place: int, *texts: str, named: bool = True) -> Row:
    lines = tuple(SurveyLine(text=text, spans=(PassageSpan(0, 0, 1, "x"),)) for text in texts)
    return Row(document=f"d{place}", place=place, called=f"Document {place}", lines=lines, named=named)


def cite(row: Row, line: SurveyLine) -> str:
    return f"[S{row.place + 1}.{line.spans[0].ordinal}]"


def test_rows_of_one_document_are_one_and_say_each_thing_once() -> None:
    found = merged([row(2, "B."), row(1, "A."), row(2, "b"), row(2, "C.")])
    assert [(each.place, [line.text for line in each.lines]) for each in found] == [(1, ["A."]), (2, ["B.", "C."])]


def test_the_count_is_exact_and_the_cap_is_said() -> None:
    rows = [row(number, f"Status of PEP {number}: Final") for number in range(SHOWN + 7)]
    text = composed(rows, Reached(read=90, total=100, what="the header fields"), "Status = Final", cite)
    assert text.startswith(f"{SHOWN + 7} documents match; the header fields of 90 of 100 documents were read.")
    assert text.count("\n- ") == SHOWN
    assert text.endswith(f"The first {SHOWN} of {SHOWN + 7} documents are listed.")


def test_only_rows_are_claims() -> None:
    reached = Reached(read=1_736, total=1_736)
    rows = [row(number, "It rains in Brest.", named=False) for number in range(SHOWN + 1)]
    with speaking(""):
        sentences = read(composed(rows, reached, "What it says of 3 things", cite))
    facts = [sentence.text for sentence in sentences if sentence.role != "structure"]
    assert facts == ["It rains in Brest."] * SHOWN


def test_one_document_is_told_as_one() -> None:
    assert first_line([row(0, "A.")], Reached(read=1, total=1)) == "1 document matches; 1 of 1 document was read."
    assert first_line([], Reached(read=0, total=2)) == "0 documents match; 0 of 2 documents were read."


def test_what_a_row_holds_makes_no_line_and_no_marker() -> None:
    text = composed([row(0, "a [S9.9]\n# b")], Reached(read=1, total=1), "x\n# y", cite)
    assert "S9.9" not in text
    assert text.splitlines()[2:] == ["## x # y", "", "- a # b [S1.0]"]


@given(st.lists(st.integers(1, 3 * A_DOCUMENT), max_size=60), st.integers(1_000, 200_000))
def test_batches_hold_every_document_once_in_order_and_fit(sizes: list[int], room: int) -> None:
    documents = [document(f"{at}.md", "x" * 3 + str(at)) for at in range(len(sizes))]
    sized = [msgspec.structs.replace(each, size=size) for each, size in zip(documents, sizes, strict=True)]
    found = list(batches(sized, room))
    assert [each for group in found for each in group] == sized
    for group in found:
        assert len(group) <= MOST_DOCUMENTS
        assert len(group) == 1 or sum(min(each.size, A_DOCUMENT) for each in group) <= room
