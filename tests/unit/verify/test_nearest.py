"""The passage nearest to a claim, and what it lacks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.claims import HOLDING, VERDICTS, Check, Verdict
from assay.core.sources import Passage, sha256
from assay.verify.verifier.index import add_nearest, nearest_passage


def passage(id: str, text: str) -> Passage:
    data = text.encode()
    return Passage(
        id=id,
        source=id.partition(".")[0],
        document_sha256=sha256(data),
        start=0,
        end=len(data),
        text=text,
        text_sha256=sha256(data),
    )


TIDES = passage("S1.1", "The tide at Brest rises seven metres, twice a day.")
WINDS = passage("S1.2", "The mistral blows from the north-west.")


def test_the_nearest_passage_has_most_of_the_claim_and_what_it_lacks_is_named() -> None:
    found = nearest_passage("The tide at Brest rises nine metres in spring.", [WINDS, TIDES])
    assert found is not None
    assert (found.passage, found.missing) == ("S1.1", ("nine", "spring"))


def test_a_day_or_an_amount_in_another_form_is_not_missing() -> None:
    row = passage("S1.3", "Datum: 14.01.2022 | Heron | Betrag: 620.000,00")
    found = nearest_passage("Heron got 620,000 euros on 14 January 2022 and 5,000 on 15 May 2023.", [row])
    assert found is not None
    assert found.missing == ("got", "euros", "5,000", "15", "2023")


def test_other_forms_of_a_word_are_not_missing() -> None:
    found = nearest_passage("The tides of Brest are rising.", [TIDES])
    assert found is not None
    assert found.missing == ()


def test_where_no_word_is_shared_nothing_is_near() -> None:
    assert nearest_passage("Volcanoes erupt.", [TIDES, WINDS]) is None
    assert nearest_passage("Volcanoes erupt.", []) is None


@given(st.sampled_from(VERDICTS))
def test_only_what_does_not_hold_is_shown_it(verdict: Verdict) -> None:
    check = add_nearest(Check(rule="lexical", verdict=verdict), "The tide rises nine metres.", [TIDES])
    assert (check.nearest is None) == (verdict in HOLDING)


@given(st.lists(st.sampled_from("tide Brest rises nine metres mistral snow 1999 north-west".split()), min_size=1))
def test_what_is_missing_is_of_the_claim_and_not_of_the_passage(words: list[str]) -> None:
    claim = " ".join(words) + "."
    found = nearest_passage(claim, [WINDS, TIDES])
    if found is not None:
        text = {"S1.1": TIDES, "S1.2": WINDS}[found.passage].text.lower()
        assert all(word in claim and word.lower() not in text.split() for word in found.missing)
