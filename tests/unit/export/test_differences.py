"""Which words of a claim and its passage differ."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.export.html.comparison import TextDifference, compare_texts


def marked(found: TextDifference) -> tuple[list[str], list[str]]:
    return (
        [piece.text for piece in found.claim if piece.differs],
        [piece.text for piece in found.passage if piece.differs],
    )


def test_a_changed_figure_is_marked_on_both_sides() -> None:
    found = compare_texts(
        "The tide rises nine metres.", "At Brest: the tide rises seven metres. It is high twice a day."
    )
    assert marked(found) == (["nine"], ["seven"])


def test_what_surrounds_the_shared_words_is_context() -> None:
    found = compare_texts("The tide rises.", "People say that the tide rises, or so it is told.")
    assert found.is_none


def test_words_added_and_left_out() -> None:
    assert marked(compare_texts("The plan was never approved.", "The plan was approved.")) == (["never"], [])
    assert marked(compare_texts("The plan was approved.", "The plan was not yet approved.")) == ([], ["not yet"])


def test_nothing_in_common() -> None:
    assert marked(compare_texts("Cats purr.", "Ships sail.")) == (["Cats purr"], [])
    assert marked(compare_texts("", "Ships sail.")) == ([], [])


def test_figures_with_signs_are_one_word() -> None:
    assert marked(compare_texts("It costs 1,500.50 euros.", "It costs 1,500.05 euros.")) == (["1,500.50"], ["1,500.05"])


@given(st.text(max_size=80), st.text(max_size=80))
def test_joined_the_pieces_are_the_texts(claim: str, passage: str) -> None:
    found = compare_texts(claim, passage)
    assert "".join(piece.text for piece in found.claim) == claim
    assert "".join(piece.text for piece in found.passage) == passage
    assert all(piece.text for piece in (*found.claim, *found.passage))


@given(st.lists(st.sampled_from(["tide", "rises", "seven", "metres", "not"]), max_size=12))
def test_a_text_does_not_differ_from_itself(words: list[str]) -> None:
    assert compare_texts(" ".join(words), " ".join(words)).is_none
