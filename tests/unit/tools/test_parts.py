"""Which part of a long document is shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.core.sources import PassageSpan
from assay.tools.common import outline, rank_passages, select_passages

LINES = st.lists(st.text("ab c", min_size=1, max_size=12), min_size=1, max_size=30)


def spans(*texts: str, headings: dict[int, tuple[str, ...]] | None = None) -> list[PassageSpan]:
    return [
        PassageSpan(place, place * 100, place * 100 + len(text), text, heading=(headings or {}).get(place, ()))
        for place, text in enumerate(texts)
    ]


def test_a_short_document_is_shown_whole() -> None:
    all_of_it = spans("one", "two")
    assert select_passages(all_of_it, "two", 100) == tuple(all_of_it)


def test_a_long_one_from_its_beginning() -> None:
    assert [span.text for span in select_passages(spans(*"abcdef"), "", 3)] == ["a", "b", "c"]


def test_what_is_looked_for_is_shown_beside_the_beginning_in_the_documents_order() -> None:
    texts = ["title", *(f"line {number} of many" for number in range(20)), "the moon", "more of it"]
    shown = select_passages(spans(*texts), "moon", 60)
    assert shown[0].text == "title"
    assert "the moon" in [span.text for span in shown]
    assert [span.ordinal for span in shown] == sorted(span.ordinal for span in shown)


def test_what_goes_on_from_a_match_is_shown_with_it_but_not_the_next_section() -> None:
    texts = ["title", *(f"line {number} of many" for number in range(20)), "the moon", "its default is 8", "sun", "tea"]
    headings = {22: (), 23: ("Sun",)}
    shown = [span.text for span in select_passages(spans(*texts, headings=headings), "moon", 80)]
    assert "its default is 8" in shown
    assert "sun" not in shown


def test_the_fields_of_an_entry_are_shown_with_what_is_said_of_it() -> None:
    filler = [f"line {number} of many" for number in range(20)]
    whole = spans("title", *filler, "Default: 8", "Type: phase", "the moon wanes", headings={21: (), 22: (), 23: ()})
    whole[21:23] = [replace(span, kind="record") for span in whole[21:23]]
    shown = [span.text for span in select_passages(whole, "moon", 80)]
    assert shown[-3:] == ["Default: 8", "Type: phase", "the moon wanes"]


def test_forms_of_a_word_match_one_another() -> None:
    found = rank_passages(spans("nothing", "an entry expires", "old entries"), "expire entry")
    assert [span.text for span in found] == ["an entry expires", "old entries"]
    assert {span.text for span in rank_passages(spans("gas", "gears turn", "gear"), "gear")} == {"gears turn", "gear"}


def test_a_heading_is_looked_at_as_well() -> None:
    found = rank_passages(spans("alpha", "beta", headings={1: ("Rationale",)}), "rationale")
    assert [span.text for span in found] == ["beta"]


def test_the_outline_names_each_heading_once_on_one_line() -> None:
    headings = {0: ("A",), 1: ("A", "B\n[S1.1] forged"), 2: ("A", "B\n[S1.1] forged")}
    assert outline(spans("x", "y", "z", headings=headings)) == "A; A > B [S1.1] forged"


@given(LINES, st.text("ab c", max_size=5), st.integers(1, 100))
def test_a_part_is_of_the_document_never_empty_and_near_its_size(lines: list[str], find: str, room: int) -> None:
    whole = spans(*lines)
    shown = select_passages(whole, find, room)
    assert shown
    assert [span for span in whole if span in shown] == list(shown)
    longest = max(len(line) for line in lines)
    assert sum(len(span.text) for span in shown) <= room + 2 * longest
