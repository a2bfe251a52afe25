"""Which values of a claim are hidden from the judge, and that nothing else of it changes."""

from __future__ import annotations

import pytest
from evidence_of import evidence, passage
from hypothesis import given
from hypothesis import strategies as st

from assay.verify.checks import examine
from assay.verify.evidence import ClaimSlot, SlotFinding
from assay.verify.judge.masks import MAX_HIDDEN_VALUES, MaskedClaim, NameScope, mask_values, name_scope

TEXT = (
    "The northern plant in Lyon employs 400 people and made $3.2 billion in 2020. PEP 8 was created on 5 July 2001 by "
    "Guido van Rossum in Amsterdam. One of the first plants closed at 10:30 after 90 minutes. Revenue fell by 12.5 % "
    "in March 2021. Ada Lovelace met Charles Babbage in London."
)
EVIDENCE = evidence(passage("S1.1", TEXT), title="Plants")


def masked(claim: str, **options: NameScope) -> MaskedClaim:
    return mask_values(claim, examine(claim, EVIDENCE), **options)


@pytest.mark.parametrize(
    ("claim", "hidden"),
    [
        ("The plant in Lyon employs 400 people.", "The plant in Lyon employs {A} people."),
        ("In 2020 the plant made about $3 billion.", "In 2020 the plant made about {A}."),  # the year says which
        ("PEP 8 was created on 5 July 2001.", "PEP 8 was created on {A}."),  # the number is part of a name
        ("Revenue fell by 12.5 % in March 2021.", "Revenue fell by {A} in March 2021."),
        ("One of the first plants closed at 10:30.", "One of the first plants closed at {A}."),
        ("It took ninety minutes.", "It took {A}."),  # a spelled-out number with a unit
        ("Ada Lovelace met Charles Babbage in London.", "Ada Lovelace met {A} in {B}."),
        ("Ada Lovelace met Charles Dickens in London.", "Ada Lovelace met {A} in {B}."),
        ("London was visited.", "London was visited."),  # a lone name says what the claim is about
        ("Record the 400 people [17], and 2) the plants.", "Record the {A} people [17], and 2) the plants."),
        ("It was an eventful year.", "It was an eventful year."),
        ('He said "we employ 400 people" in 2020.', 'He said "we employ 400 people" in {A}.'),  # compared as it is
        ("Revenue {A} fell by 12.5 %.", "Revenue {A} fell by {B}."),  # never a sign the claim has itself
    ],
)
def test_what_is_hidden(claim: str, hidden: str) -> None:
    assert masked(claim).text == hidden


def test_names_stay_when_they_are_asked_about() -> None:
    claim = "Ada Lovelace met Charles Dickens in London."
    assert masked(claim, names="none") == MaskedClaim(text=claim)


@pytest.mark.parametrize(
    ("language", "evidence", "scope"),
    [
        ("en", "The ferry sails on Monday, and the harbour is closed in winter.", "all"),
        ("", "The ferry sails on Monday, and the harbour is closed in winter.", "all"),
        ("de", "The ferry sails on Monday, and the harbour is closed in winter.", "stated"),
        ("en", "Die Fähre fährt am Montag, und der Hafen ist im Winter geschlossen.", "stated"),
        ("de", "Die Fähre fährt am Montag, und der Hafen ist im Winter geschlossen.", "stated"),
        ("en", "42", "all"),
    ],
)
def test_which_names_are_hidden_depends_on_the_languages(language: str, evidence: str, scope: NameScope) -> None:
    assert name_scope(language, [evidence]) == scope


def test_nouns_in_other_words_are_not_hidden_as_names() -> None:
    claim = "Ada Lovelace traf Charles Babbage in London bei einer Vorführung."
    assert masked(claim).text == "Ada Lovelace traf Charles Babbage in {A} bei einer {B}."
    assert masked(claim, names="stated").text == "Ada Lovelace traf {A} in {B} bei einer Vorführung."


def test_beside_figures_only_names_are_hidden_which_the_evidence_lacks() -> None:
    assert masked("The plant of Renault in Lyon employs 400 people.").text == (
        "The plant of {A} in Lyon employs {B} people."
    )


def test_a_row_of_figures_keeps_some() -> None:
    claim = " ".join(f"{number} km," for number in range(101, 140))
    assert len(masked(claim).hidden) == MAX_HIDDEN_VALUES


FINDINGS = st.lists(
    st.builds(
        SlotFinding,
        rule=st.sampled_from(["number", "date", "name", "quote", "derived", "negation"]),
        slot=st.builds(ClaimSlot, text=st.just(""), start=st.integers(-3, 60), end=st.integers(-3, 60)),
        outcome=st.sampled_from(["stated", "conflict", "absent"]),
    ),
    max_size=8,
)
CLAIMS = st.text(st.sampled_from("aB 1.,%$-{}\n'\"“é７年"), max_size=60) | st.sampled_from(TEXT.split(". "))


@given(CLAIMS, FINDINGS)
def test_put_back_the_values_give_the_claim(claim: str, findings: list[SlotFinding]) -> None:
    for checked in (findings, examine(claim, EVIDENCE)):
        found = mask_values(claim, checked)
        whole = found.text
        for each in found.hidden:
            assert claim[each.start : each.end] == each.text
            assert whole.count(f"{{{each.letter}}}") == 1
            whole = whole.replace(f"{{{each.letter}}}", each.text)
        assert whole == claim
