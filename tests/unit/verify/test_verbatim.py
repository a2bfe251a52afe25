"""Verbatim claims: whole sentences of the evidence and nothing less."""

from __future__ import annotations

import pytest
from evidence_of import evidence, passage

from assay.verify.evidence import ClaimEvidence
from assay.verify.rules.quotes import verbatim_passage

TEXT = "The plan was approved in 2019. It cost *$3.5 million*, e.g. for\nroads. Nobody said that it was late!"

WHOLE = [
    "The plan was approved in 2019.",
    "The plan was approved in 2019",
    "The **plan** was approved in 2019.",
    "It cost $3.5 million, e.g. for roads.",
    "Nobody said that it was late!",
    "Nobody said that it was late.",
    "The plan was approved in 2019. It cost $3.5 million, e.g. for roads.",
]

NOT_WHOLE = [
    "The plan was approved in 2018.",
    "The plan was not approved in 2019.",
    "the plan was approved in 2019.",
    "The plan was approved.",
    "The plan was approved in 20",
    "it was late!",
    "It was late!",
    "plan was approved in 2019.",
    "It cost $3.5 million",
    "It cost $35 million, e.g. for roads.",
    "",
    "...",
]


@pytest.mark.parametrize("claim", WHOLE)
def test_whole_sentences_are_verbatim(claim: str) -> None:
    assert verbatim_passage(claim, evidence(passage("S1.1", TEXT))) is not None


@pytest.mark.parametrize("claim", NOT_WHOLE)
def test_parts_and_changes_are_not(claim: str) -> None:
    assert verbatim_passage(claim, evidence(passage("S1.1", TEXT))) is None


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("| Brest | 7 m | 2019 |", "Brest | 7 m | 2019"),
        ("| Brest | 7 m | 2019 |", "| Brest | 7 m | 2019 |"),
        ("- an item without an end", "an item without an end"),
        ("one line\n- another item", "another item"),
        ("这是第一句。这是第二句。", "这是第二句。"),
        ("Status: Superseded", "Status: Superseded"),
        ("-5 degrees were measured.", "-5 degrees were measured."),
        ('He said "go." Then he left.', "Then he left."),
        ("Launch moved to June\nBob takes the press kit\nBudget cut by 20 %", "Bob takes the press kit"),
        ("[09:14] Ann: no. Never\n[09:17] Bob: the key is in the box", "[09:17] Bob: the key is in the box"),
        ("x ≤ 10² holds for café.", "x ≤ 10² holds for cafe\u0301."),
    ],
)
def test_rows_items_and_other_scripts(text: str, claim: str) -> None:
    assert verbatim_passage(claim, evidence(passage("S1.1", text))) is not None


def test_a_changed_sign_or_superscript_is_not_verbatim() -> None:
    assert verbatim_passage("5 degrees were measured.", evidence(passage("S1.1", "-5 degrees were measured."))) is None
    assert verbatim_passage("x is 102 here.", evidence(passage("S1.1", "x is 10² here."))) is None


def test_a_sentence_the_passage_holds_only_a_part_of_does_not_count() -> None:
    one = passage("S1.1", "the plan was approved, and it was cheap. All agreed")
    whole = evidence(one)
    assert verbatim_passage("the plan was approved, and it was cheap.", whole) is not None
    cut = ClaimEvidence(
        passages=(one,), sources=whole.sources, cut_before=frozenset(["S1.1"]), cut_after=frozenset(["S1.1"])
    )
    assert verbatim_passage("the plan was approved, and it was cheap.", cut) is None
    assert verbatim_passage("All agreed", cut) is None


@pytest.mark.parametrize(
    "text",
    [
        "Nobody said that\nThe plan was approved",
        "The board denied:\nThe plan was approved",
        "If it rains,\nThe plan was approved\nBy nobody",
        "it is false what they say\nThe plan was approved",
        "1. Nobody said that\nThe plan was approved by all members of it",
    ],
)
def test_a_line_that_goes_on_from_another_is_no_whole(text: str) -> None:
    assert verbatim_passage("The plan was approved", evidence(passage("S1.1", text))) is None


def test_a_numbered_title_is_no_part_of_the_sentence_below_it() -> None:
    text = "4. Liability\nThe plan was approved by the whole council. It costs little."
    assert verbatim_passage("The plan was approved by the whole council.", evidence(passage("S1.1", text))) is not None
    assert verbatim_passage("It costs little.", evidence(passage("S1.1", text))) is not None
    assert verbatim_passage("by the whole council.", evidence(passage("S1.1", text))) is None
