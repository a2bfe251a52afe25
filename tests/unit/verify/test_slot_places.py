"""Texts as they are read for comparing, and which place in the evidence a slot of the claim speaks of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.verify.analyzed_text import analyze_text, read_texts, stem
from assay.verify.evidence import EvidenceSpan, bind_slot, slot_context
from assay.verify.rules.names import names
from assay.verify.rules.numbers import find

TEXTS = st.text(max_size=200) | st.lists(
    st.sampled_from(
        ["Norway", "sold", "7", "1.5 million", "on 4 March 2021", ",", ".", "not", "don't", "U.S.", "|", "é"]
    ),
    max_size=30,
).map(" ".join)


@given(TEXTS)
def test_words_ascend_and_stand_where_they_say(text: str) -> None:
    reading = analyze_text(text)
    at = 0
    for word in reading.words:
        assert at <= word.start < word.end
        assert reading.plain.text[word.start : word.end].strip() == word.text or word.kind == "number"
        at = word.end
    for index, word in enumerate(reading.words):
        start, end = reading.origin(index, index)
        assert 0 <= start < end <= len(text)
        if word.kind != "sign":
            assert index in reading.places[word.key]


@given(TEXTS, st.integers(0, 40))
def test_the_nearest_is_the_nearest(text: str, index: int) -> None:
    reading = analyze_text(text)
    for key, found in reading.places.items():
        others = [place for place in found if place != index]
        near = reading.nearest(key, index)
        assert (near is None) == (not others)
        assert near is None or abs(near - index) == min(abs(place - index) for place in others)


@given(TEXTS, TEXTS)
def test_how_well_a_place_fits_is_a_share(claim: str, text: str) -> None:
    held, read_claim = read_texts([("S1.1", text)]), analyze_text(claim)
    for index in range(len(read_claim.words)):
        around = slot_context(read_claim, (index,))
        for place in range(len(held.readings[0].words)):
            assert 0 <= around.fit(held.readings, EvidenceSpan(0, place)) <= 1 + 1e-9


WORDS = "Norway sold seventy tonnes salmon Iceland while boats stayed harbour winter because storms".split()


@given(st.lists(st.sampled_from(WORDS), unique=True, max_size=12).map(" ".join))
def test_a_text_fits_itself_best(text: str) -> None:
    held, reading = read_texts([("S1.1", text)]), analyze_text(text)
    for index in range(len(reading.words)):
        around = slot_context(reading, (index,))
        if around.weights:
            assert around.fit(held.readings, EvidenceSpan(0, index)) > 1 - 1e-9


def test_stems_and_negations() -> None:
    assert stem("increases") == stem("increasing") == stem("Increased")
    assert stem("didn't") == stem("didn’t") == "not"
    assert stem("Smith's") == "smith"


def test_names_are_runs_of_words_with_capitals() -> None:
    reading = analyze_text("The Bank of England met Anna Keller in Ghent. Keller then left the U.S. by sea.")
    found = [reading.plain.text[reading.words[one].start : reading.words[two].end] for one, two in names(reading)]
    assert found == ["Bank of England", "Anna Keller", "Ghent", "Keller", "U.S."]


def test_a_claim_of_few_words_proves_nothing() -> None:
    claim, held = analyze_text("It was 7."), read_texts([("S1.1", "It was 8.")])
    bound = bind_slot(slot_context(claim, (2,)), held.readings, [EvidenceSpan(0, 2)], lambda _: False)
    assert not bound.conflicts(at_least=0.1, ratio=1.0)


def test_a_number_in_another_currency_is_what_was_meant_where_the_bare_number_stands_elsewhere() -> None:
    evidence = read_texts([("S1.1", "A clock with a $3 quartz crystal is worse at keeping time. Section 3 has more.")])
    finding, *_ = find(analyze_text("A clock with a €3 quartz crystal is worse at keeping time."), evidence)
    assert (finding.outcome, finding.said, finding.veto) == ("conflict", "$3", True)
    true, *_ = find(analyze_text("A clock with a $3 quartz crystal is worse at keeping time."), evidence)
    assert (true.outcome, true.veto) == ("stated", False)
