"""What a model says instead of a sentence: what is taken, and what is no repair."""

from __future__ import annotations

import pytest
from evidence_of import evidence, passage
from hypothesis import given
from hypothesis import strategies as st

from assay.core.claims import Check
from assay.core.report_sentences import claims
from assay.verify.claim_check import ClaimResult
from assay.verify.repair.remedies import adds_hedge, read_rewrite

SAYS = passage("S1.1", "The plant employs 400 people, and may grow.")
OTHER = passage("S2.4", "It was built in 1931.")


def failing(report: str) -> ClaimResult:
    (sentence,) = claims(report)
    check = Check(rule="number", verdict="contradicted", reason="the claim says '900', S1.1 says '400'")
    return ClaimResult(id="c1", sentence=sentence, evidence=evidence(SAYS), check=check)


BEFORE = failing("The plant employs 900 people [S1.1].")


@pytest.mark.parametrize(
    "reply",
    [
        "The plant employs 400 people. [S1.1]",
        "The plant employs 400 people [S1.1].",
        "  The plant\nemploys 400 people. [S1.1]\n",
        "```\nThe plant employs 400 people. [S1.1]\n```",
        "The plant, built in 1931, employs 400 people. [S1.1, S2.4]",
        "The plant may grow. [S1.1]",
    ],
)
def test_one_sentence_with_passages_shown_is_taken(reply: str) -> None:
    found = read_rewrite(reply, BEFORE, (SAYS, OTHER))
    assert found is not None
    assert "[" not in found.text


@pytest.mark.parametrize(
    "reply",
    [
        "Here is the corrected sentence:\n\nThe plant employs 400 people. [S1.1]",
        '**Corrected sentence:** "The plant employs 400 people. [S1.1]"',
        '"The plant employs 400 people." [S1.1]',
        "Berichtigter Satz: *The plant employs 400 people [S1.1].*",
        "**The plant employs 400 people. [S1.1]**",
        "The plant employs 400 people [S1.1].\n\nI took out 900, since no passage says it.",
    ],
)
def test_what_a_model_puts_around_its_sentence_is_left_out(reply: str) -> None:
    found = read_rewrite(reply, BEFORE, (SAYS, OTHER))
    assert found is not None
    assert found.text.rstrip(".") == "The plant employs 400 people"


def test_words_before_a_colon_stay_if_they_belong_to_the_sentence() -> None:
    before = failing("Staff: The plant in Orley employs 900 people [S1.1].")
    for reply in (
        "Orley: The plant employs 400 people [S1.1].",
        "Staff: The plant employs 400 people [S1.1].",
        "It is clear: the plant employs 400 people [S1.1].",
        '"The plant" employs 400 "people" [S1.1].',
        "*The plant* employs 400 *people* [S1.1].",
    ):
        found = read_rewrite(reply, before, (SAYS, OTHER))
        assert found is not None
        assert found.text == reply.replace(" [S1.1]", "")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "NOTHING",
        "**Nothing.**",
        "The plant employs 400 people.",
        "The plant employs 400 people. [S9.9]",
        "The plant employs 400 people. [S1.1, S9.9]",
        "The plant employs 400 people. [S1.1] It was built in 1931. [S2.4]",
        "Here is the sentence: it is short. The plant employs 400 people. [S1.1]",
        "The plant employs 900 people [S1.1].",
        "The plant reportedly employs 900 people. [S1.1]",
        "The plant might employ 900 people. [S1.1]",
        "Some sources say the plant employs 900 people. [S1.1]",
        "The plant employs around 900 people. [S1.1]",
        "- The plant employs 400 people. [S1.1]",
        "# The plant employs 400 people. [S1.1]",
        "| The plant | 400 people [S1.1] |",
        "x" * 2_000 + " 400. [S1.1]",
    ],
)
def test_what_is_no_such_sentence_is_not(reply: str) -> None:
    assert read_rewrite(reply, BEFORE, (SAYS, OTHER)) is None


def test_a_hedge_which_stood_there_or_in_the_passage_is_no_invention() -> None:
    assert adds_hedge("It grew.", "It may have grown.", ["It grew."])
    assert not adds_hedge("It may grow.", "It may have grown.", [])
    assert not adds_hedge("It grew.", "It may have grown.", ["It may have grown, they say."])
    assert adds_hedge("Es wuchs.", "Es wuchs vermutlich.", ["Es wuchs."])


@given(st.text(max_size=200))
def test_no_reply_crashes_and_what_is_taken_cites_what_was_shown(reply: str) -> None:
    found = read_rewrite(reply, BEFORE, (SAYS, OTHER))
    if found is not None:
        assert {id for marker in found.markers for id in marker.ids} <= {"S1.1", "S2.4"}
