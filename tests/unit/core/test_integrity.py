"""A passage is what its document says at its place, and nothing else passes for it."""

from __future__ import annotations

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.core.assurance import passage_problem, unknown_marker_ids
from assay.core.sources import Passage, sha256

TEXTS = st.text(st.sampled_from("ab é🙂潮\n"), min_size=1, max_size=40)


def passage(document: str, first: int, last: int) -> Passage:
    """Code points `first` to `last` of a document as a passage."""
    text = document[first:last]
    start = len(document[:first].encode())
    return Passage(
        id="S1.2",
        source="S1",
        document_sha256=sha256(document.encode()),
        start=start,
        end=start + len(text.encode()),
        text=text,
        text_sha256=sha256(text.encode()),
    )


@given(TEXTS, st.data())
def test_every_part_of_a_document_is_a_passage_of_it(document: str, draw: st.DataObject) -> None:
    first = draw.draw(st.integers(0, len(document) - 1))
    last = draw.draw(st.integers(first + 1, len(document)))
    made = passage(document, first, last)
    assert passage_problem("S1.2", made, document.encode()) == ""
    assert passage_problem("S1.2", made, memoryview(document.encode())) == ""


@given(TEXTS, st.integers(-5, 170), st.integers(-5, 170))
def test_a_range_which_is_not_the_passage_is_found(document: str, start: int, end: int) -> None:
    made, text = passage(document, 0, len(document)), document.encode()
    assume((start, end) != (made.start, made.end))
    moved = msgspec.structs.replace(made, start=start, end=end)
    assert passage_problem("S1.2", moved, text) != ""


@given(TEXTS, st.integers(0, 200))
def test_a_range_which_cuts_a_character_is_named(document: str, at: int) -> None:
    text = document.encode()
    at %= len(text)
    assume(text[at] & 0xC0 == 0x80)
    cut = msgspec.structs.replace(passage(document, 0, len(document)), start=at)
    assert passage_problem("S1.2", cut, text) == "cuts a character of its document"


def test_a_passage_kept_under_another_name_is_found() -> None:
    made = passage("The tide.", 0, 9)
    assert passage_problem("S1.3", made, b"The tide.") == "is recorded under another id"
    assert (
        passage_problem("S1.2", msgspec.structs.replace(made, source="S2"), b"The tide.")
        == "is recorded under another id"
    )


def test_markers_which_name_nothing_are_counted_as_often_as_they_stand_there() -> None:
    assert unknown_marker_ids("One [S1.2]. Two [S9.9]. Three [S9.9, S1.2].", {"S1.2"}) == ["S9.9", "S9.9"]
