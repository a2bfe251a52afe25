"""Parties of a sentence which have changed places."""

from __future__ import annotations

import pytest

from assay.verify.analyzed_text import analyze_text, read_texts
from assay.verify.evidence import SlotFinding
from assay.verify.rules.parties import find


def findings(claim: str, *passages: str) -> list[SlotFinding]:
    return list(find(analyze_text(claim), read_texts([(f"S1.{at}", text) for at, text in enumerate(passages)])))


SALE = "Marlow sold its quarry in Kent to Tern Stone for 4 million euros."
BLAME = "The inquiry blames the pilot, not the tower, for the collision."


@pytest.mark.parametrize(
    ("claim", "passage", "slot", "said"),
    [
        ("Tern Stone sold its quarry in Kent to Marlow.", SALE, "Tern Stone", "Marlow"),
        (
            "In 2019 the county sold the pier to Marlow.",
            "Marlow sells the pier back to the county.",
            "county",
            "Marlow",
        ),
        ("The inquiry blamed the tower for the collision, not the pilot.", BLAME, "tower", "pilot"),
        ("The inquiry blames the tower and not the pilot.", BLAME, "tower", "pilot"),
    ],
)
def test_exchanged(claim: str, passage: str, slot: str, said: str) -> None:
    (finding,) = findings(claim, passage)
    assert (finding.rule, finding.outcome, finding.veto) == ("order", "conflict", True)
    assert (finding.slot.text, finding.said) == (slot, said)


@pytest.mark.parametrize(
    ("claim", "passages"),
    [
        ("Marlow sold the quarry in Kent to Tern Stone.", (SALE,)),
        ("The quarry in Kent was sold by Marlow to Tern Stone.", (SALE,)),
        ("Tern Stone bought its quarry in Kent from Marlow.", (SALE,)),
        ("Tern Stone sold its mill to Marlow.", (SALE, "In 2020 Tern Stone sold a mill to Marlow.")),
        ("The inquiry blames the pilot for the collision, not the tower.", (BLAME,)),
        ("Ann Tern joined Marlow in Kent.", ("Marlow joined Ann Tern in Kent in 2019.",)),
        ("Ann Tern played Marlow in Kent.", ("Marlow played Ann Tern in Kent in 2019.",)),
        ("Ann Tern met Marlow in Kent.", ("Marlow met Ann Tern in Kent in 2019.",)),
        ("The tower was not blamed by the inquiry, but the pilot was.", (BLAME,)),
    ],
)
def test_in_their_places(claim: str, passages: tuple[str, ...]) -> None:
    assert findings(claim, *passages) == []


def test_many_deeds_are_compared_in_time() -> None:
    assert findings("Marlow sold the dam to Harlow. " * 150, "Harlow sold the dam to Marlow. " * 1_000)
