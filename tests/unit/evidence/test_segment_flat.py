"""Texts whose lines are blocks: printed pages and table rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import MAX_PASSAGE_CHARS
from assay.evidence.segment import segment

ANY = st.text(st.sampled_from("ab é図. \n\r\f|:-•1)\u2028"), max_size=80)


def test_pages_count_from_one_and_empty_ones_count() -> None:
    spans = segment("One.\n\nTwo.\f\fThree.\f", "pages")
    assert [(span.page, span.text, span.kind) for span in spans] == [
        (1, "One.", "paragraph"),
        (1, "Two.", "paragraph"),
        (3, "Three.", "paragraph"),
    ]


def test_list_items_of_a_page() -> None:
    spans = segment("• first\n\n2. second\n\nprose", "pages")
    assert [(span.kind, span.text) for span in spans] == [
        ("item", "first"),
        ("item", "2. second"),
        ("paragraph", "prose"),
    ]


def test_a_row_is_a_passage_whatever_its_cells_say() -> None:
    text = "a: One. Two. Three. Four. | b: # x\n\n- a: y\n"
    assert [(span.kind, span.text) for span in segment(text, "rows")] == [
        ("row", "a: One. Two. Three. Four. | b: # x"),
        ("row", "- a: y"),
    ]


def test_a_title_above_the_rows_is_their_heading_and_no_row() -> None:
    title, day, row = "Depths of ports", "As of 1 March 2024", "Port: Goole | Depth: 7"
    for place in ("", " | cells: A1:B1"):
        spans = segment(f"{title}{place}\n\n{day}{place}\n\n{row}{place}\n", "rows")
        assert [(span.kind, span.heading) for span in spans] == [
            ("heading", (title,)),
            ("row", (title,)),
            ("row", (title,)),
        ]
    for note in (day, "Source: the office", "The depths are those of spring.", row):
        assert [span.kind for span in segment(f"{note}\n\n{row}\n", "rows")] == ["row", "row"]


@given(ANY, st.sampled_from(["pages", "rows"]))
def test_spans_are_exact_ascending_and_leave_no_word_out(text: str, syntax: str) -> None:
    data, spans = text.encode(), segment(text, syntax)  # type: ignore[arg-type]
    end = 0
    for number, span in enumerate(spans):
        assert span.ordinal == number
        assert end <= span.start < span.end
        end = span.end
        assert data[span.start : span.end].decode() == span.text
        assert len(span.text) <= MAX_PASSAGE_CHARS
        if syntax == "pages":
            assert span.page == data[: span.start].count(b"\f") + 1
    kept = "".join("".join(span.text.split()) for span in spans)
    left = "".join(text.split())
    assert [sign for sign in kept if sign.isalnum()] == [sign for sign in left if sign.isalnum()]
