"""Words, numbers and opposites, as the embedded verifier reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.lexicon import stem
from assay.verify.verifier.index import (
    MAX_PART_WORDS,
    UNKNOWN_WEIGHT,
    WordToken,
    index_evidence,
    opposites,
    opposites_table,
    tokens,
    weight,
)


def stems(text: str) -> list[str]:
    return [token.stem for token in tokens(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [("1,000", "1000"), ("2.50", "2.5"), ("seven", "7"), ("3 million", "3,000,000"), ("45%", "45"), ("007", "7")],
)
def test_equal_numbers_have_one_form(one: str, other: str) -> None:
    assert stems(one)[0] == stems(other)[0]


@pytest.mark.parametrize(("one", "other"), [("1,000", "100"), ("2.5", "25"), ("0.5", "5"), ("3 million", "3 months")])
def test_other_numbers_have_others(one: str, other: str) -> None:
    assert stems(one)[0] != stems(other)[0]


def test_kinds_of_words() -> None:
    found = {token.text: token for token in tokens("Later the painter moved to Paris in 1905 [3].")}
    assert found["Paris"].name
    assert not found["Later"].name  # a capital at the beginning tells nothing
    assert found["1905"].number
    assert found["the"].function
    assert "3" not in found  # a citation is no part of the sentence


@given(st.text(max_size=200))
def test_any_text_gives_words_with_stems(text: str) -> None:
    assert all(isinstance(token, WordToken) and token.stem and token.text for token in tokens(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [("rose", "fell"), ("increased", "decreases"), ("accepted", "rejected"), ("professional", "unprofessional")],
)
def test_opposites_hold_both_ways(one: str, other: str) -> None:
    assert stem(other, "en") in opposites(stem(one, "en"))
    assert stem(one, "en") in opposites(stem(other, "en"))


@pytest.mark.parametrize(
    ("one", "other"), [("over", "under"), ("one", "several"), ("play", "display"), ("will", "reluctant")]
)
def test_words_that_do_not_exclude_each_other(one: str, other: str) -> None:
    assert stem(other, "en") not in opposites(stem(one, "en"))


def test_the_table_is_symmetric_and_nothing_opposes_itself() -> None:
    for key, others in opposites_table().items():
        assert key not in others
        assert all(key in opposites_table()[other] for other in others)


def test_the_index_knows_where_words_stand() -> None:
    found = index_evidence("The bridge opened in 1932. It is made of steel.")
    assert found.parts_by_stem["bridg"] == (0,)
    assert found.parts_by_stem["steel"] == (1,)
    assert ("bridg", "open") in found.neighbours
    assert found.stem_similarity("opening") > 0.7 > 0 == found.stem_similarity("harbour")


@given(st.lists(st.sampled_from(["steel", "bridge", "of", "1932", "Sydney"]), max_size=300))
def test_text_without_sentence_ends_is_cut_and_nothing_is_lost(words: list[str]) -> None:
    found = index_evidence(" ".join(words))
    assert all(0 < len(part) <= MAX_PART_WORDS for part in found.parts)
    assert [token.text for part in found.parts for token in part] == words


def test_rare_words_weigh_more() -> None:
    common, rare, unknown = tokens("people bauxite qzxv")
    assert weight(common) < weight(unknown) == UNKNOWN_WEIGHT
    assert weight(common) < weight(rare)
