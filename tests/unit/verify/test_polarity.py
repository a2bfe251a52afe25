"""Negation, direction, quantifiers, qualifiers and names: what is taken for a conflict, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.verify.analyzed_text import analyze_text, read_texts
from assay.verify.evidence import SlotFinding
from assay.verify.rules import names, polarity
from assay.verify.rules.polarity import denied_words

FINDERS = (polarity.find, names.find)


def vetoes(claim: str, text: str) -> list[SlotFinding]:
    held = read_texts([("S1.1", text)])
    return [finding for find in FINDERS for finding in find(analyze_text(claim), held) if finding.veto]


CONFLICTS = [
    ("The drug was not effective in older patients.", "The drug was effective in older patients.", "negation"),
    (
        "The vessel reached the harbour before the storm.",
        "The vessel never reached the harbour before the storm.",
        "negation",
    ),
    (
        "The court found evidence of fraud in the accounts.",
        "The court found no evidence of fraud in the accounts.",
        "negation",
    ),
    ("The engine failed to start in the cold test.", "The engine started in the cold test.", "negation"),
    ("Prices of copper rose sharply in Chile.", "Prices of copper dropped sharply in Chile.", "direction"),
    ("Rents in the old town are higher than in 2010.", "Rents in the old town are lower than in 2010.", "direction"),
    ("All schools in the district were closed.", "Most schools in the district were closed.", "quantifier"),
    (
        "It is the largest lake in the northern province.",
        "It is the smallest lake in the northern province.",
        "quantifier",
    ),
    (
        "Aspirin causes bleeding in the stomach of older dogs.",
        "Aspirin may cause bleeding in the stomach of older dogs.",
        "quantifier",
    ),
    (
        "The rule applies to flights over the open sea.",
        "The rule only applies to flights over the open sea.",
        "quantifier",
    ),
    ("The tower in Ghent was built by Jan Peeters.", "The tower in Ghent was built by Karel Maes.", "name"),
]


@pytest.mark.parametrize(("claim", "text", "rule"), CONFLICTS)
def test_conflicts(claim: str, text: str, rule: str) -> None:
    found = vetoes(claim, text)
    assert rule in {finding.rule for finding in found}
    assert all(finding.outcome == "conflict" and finding.said and finding.passage == "S1.1" for finding in found)
    assert all(claim[finding.slot.start : finding.slot.end] == finding.slot.text for finding in found)


FINE = [
    ("Older patients were not helped by the drug.", "The drug did not help older patients."),
    ("The plan was approved, but not the budget.", "The plan was approved. The budget was not."),
    ("Copper became dearer while zinc got cheaper.", "Prices of copper rose while prices of zinc fell."),
    ("Prices of zinc fell.", "Prices of copper rose while prices of zinc fell."),
    ("Most schools were closed and some shops.", "Most schools and some shops were closed."),
    ("Aspirin may cause bleeding.", "Aspirin may cause bleeding in the stomach of older dogs."),
    ("Keller designed the tower in Ghent.", "The tower in Ghent was designed by Anna Keller, a pupil of Karel Maes."),
    ("The company was founded in Ghent.", "Maes & Co. was founded in Ghent."),
]


@pytest.mark.parametrize(("claim", "text"), FINE)
def test_no_conflict(claim: str, text: str) -> None:
    assert vetoes(claim, text) == []


def test_what_a_negator_governs_ends_with_its_clause() -> None:
    reading = analyze_text("They did not approve the plan, yet the harbour opened.")
    governed = {reading.words[index].text for index in denied_words(reading)}
    assert {"approve", "plan"} <= governed
    assert not {"harbour", "opened"} & governed


def test_a_name_which_is_absent_is_a_sign_and_no_veto() -> None:
    [finding] = names.find(analyze_text("He lived in Antwerp."), read_texts([("S1.1", "He lived there for years.")]))
    assert (finding.slot.text, finding.outcome, finding.veto) == ("Antwerp", "absent", False)


SENTENCES = st.lists(
    st.sampled_from("Norway sold not all salmon rose may the in Ghent Keller first , never fell 7 %".split()),
    max_size=14,
).map(" ".join)


@given(SENTENCES)
def test_a_text_never_conflicts_with_itself(text: str) -> None:
    assert [finding for finding in vetoes(text, text) if finding.rule in ("direction", "name")] == []


@given(SENTENCES, st.text(max_size=80) | SENTENCES)
def test_slots_are_where_they_say(claim: str, text: str) -> None:
    held = read_texts([("S1.1", text)])
    for find in FINDERS:
        for finding in find(analyze_text(claim), held):
            assert 0 <= finding.slot.start < finding.slot.end <= len(claim)
