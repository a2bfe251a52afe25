"""Clauses which the evidence denies, affirms, or says the contrary of."""

from __future__ import annotations

import pytest

from assay.verify.analyzed_text import analyze_text, read_texts
from assay.verify.evidence import SlotFinding
from assay.verify.rules.denials import find


def findings(claim: str, evidence: str) -> list[SlotFinding]:
    return list(find(analyze_text(claim), read_texts([("S1.1", evidence)])))


@pytest.mark.parametrize(
    ("claim", "evidence", "slot", "said"),
    [
        ("The pumps damaged seals.", "None of the pumps damaged seals.", "pumps", "None of the pumps"),
        (
            "Leaks were found at the weir, where the water rose to 3 m on 5 of 40 days.",
            "The water rose to 3 m on 5 of 40 days. Leaks were not found at any weir.",
            "found",
            "not found",
        ),
        ("The clerk announced that she would move the archive.", "She would not move the archive.", "move", "not move"),
        ("The survey found no cracks in the tower.", "The survey found cracks in the tower.", "no cracks", "cracks"),
        ("Visitors were admitted to the yard.", "Visitors were excluded from the yard.", "", ""),
        ("Large dogs were included.", "Large dogs and cats were excluded.", "included", "excluded"),
        ("Orley praised the ferry.", "Orley criticised the ferry.", "praised", "criticised"),
    ],
)
def test_the_opposite(claim: str, evidence: str, slot: str, said: str) -> None:
    found = findings(claim, evidence)
    assert [(each.rule, each.slot.text, each.said) for each in found] == ([("negation", slot, said)] if slot else [])


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The pumps damaged seals.", "Not only the pumps damaged seals."),
        ("The shop opens in 2028.", "The shop does not open before 2028."),
        (
            "The pumps damaged seals in 2021.",
            "None of the pumps damaged seals in 2020. The pumps damaged seals in 2021.",
        ),
        ("The board changed its plans in May 2024.", "The board did not change its plans."),
        ("She was not the first mayor of Orley.", "She was the second mayor of Orley."),
        ("The survey found no cracks in the tower.", "Did the survey find cracks in the tower?"),
        ("Tern Stone bought the quarry in Kent.", "Marlow sold the quarry in Kent to Tern Stone."),
        ("O navio afundou perto do porto em 1912.", "O navio afundou no porto em 1912."),
        ("The play was praised.", "Nobody had expected Never Say Never. The play was praised."),
    ],
)
def test_no_opposite(claim: str, evidence: str) -> None:
    assert findings(claim, evidence) == []


def test_many_denials_are_compared_in_time() -> None:
    evidence = "No pump leaked. " * 2_000 + "".join(f"Pump {number} did not leak. " for number in range(2_000))
    assert findings("The pump leaked. " * 100, evidence)
