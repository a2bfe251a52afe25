"""Words which say little of what a sentence is about are known as they are written, not by their stems."""

from __future__ import annotations

import pytest

from assay.verify.analyzed_text import COMMON, analyze_text
from assay.verify.evidence import slot_context


@pytest.mark.parametrize("word", sorted(COMMON - {"t", "s"}))
def test_every_common_word_is_one_where_it_is_read(word: str) -> None:
    assert [each.common for each in analyze_text(word).words if each.kind == "word"] in ([True], [])


def test_words_with_a_common_stem_are_not() -> None:
    found = {
        word.text
        for word in analyze_text("They severed it, in accord, and it accords with having no heir.").words
        if not word.common
    }
    assert {"severed", "accord", "accords", "heir"} <= found


def test_they_count_little_around_a_slot() -> None:
    reading = analyze_text("It closed because of 40 storms during the winter.")
    weights = {key: weight for key, weight, _ in slot_context(reading, (4,)).weights}
    assert weights["becaus"] < weights["close"] / 3
    assert weights["dure"] < weights["winter"] / 2
