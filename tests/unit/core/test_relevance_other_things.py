"""What is about another thing than the question's does not answer: versions, days, rows, sections, speakers, doers."""

from __future__ import annotations

import pytest

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.conversations import said_by_others
from assay.core.relevance.former_states import asks_former, states_former, with_former_states
from assay.core.relevance.numbered_things import is_under_another
from assay.core.relevance.other_things import rows_of_others, under_other_names
from assay.core.relevance.predicates import says_other, synonyms
from assay.core.relevance.signs import verb_keys

HEAD = "| Region | Item | Cost |"
ROWS = (
    "North | Pump | 20",
    "North | Valve | 30",
    "South | Pump, heated | 40",
    "South | Pump | 50",
    "East | Valve | 60",
)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("What did the valve in the North cost?", [1]),
        ("What did the heated pump cost?", [2]),
        ("What did the pumps in the South cost?", [3]),
        ("What did the pumps in the East cost?", []),
        ("What did the things cost?", [0, 1, 2, 3, 4]),
        ("What did the North and the South pay for a pump?", [0, 3]),
    ],
)
@pytest.mark.parametrize("labelled", [True, False])
def test_a_row_has_the_values_that_the_question_names(question: str, left: list[int], labelled: bool) -> None:
    heads = HEAD.strip("| ").split(" | ")
    texts = (
        ROWS
        if labelled
        else [" | ".join(f"{head}: {cell}" for head, cell in zip(heads, row.split(" | "), strict=True)) for row in ROWS]
    )
    statements = [QuotableStatement(text=text, kind="row", label=HEAD if labelled else "") for text in texts]
    others = rows_of_others(read_question(question), statements)
    assert [index for index in range(len(ROWS)) if index not in others] == left


def test_a_value_in_another_column_is_no_other() -> None:
    statements = [
        QuotableStatement(text=text, kind="row", label="| From | To | Sum |")
        for text in ("Ann | Ben | 5", "Ben | Ann | 7")
    ]
    assert rows_of_others(read_question("What did Ann pay?"), statements) == frozenset()


PLANETS = (
    ("Jupiter", "Jupiter is the largest planet."),
    ("Saturn", "Saturn has 146 moons."),
    ("Saturn", "Near Jupiter it looks yellow."),
    ("Orbits", "All of them turn the same way."),
)


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("How many moons does Jupiter have?", {1}),
        ("How many moons does Saturn have?", {0}),
        ("Is Saturn larger than Jupiter?", set()),
        ("How many moons are there?", set()),
        ("Wie viele Monde hat der Jupiter?", set()),
    ],
)
def test_what_stands_below_another_name_is_about_that(question: str, others: set[int]) -> None:
    statements = [QuotableStatement(text=text, heading=f"Planets > {heading}") for heading, text in PLANETS]
    assert under_other_names(read_question(question), statements) == others


@pytest.mark.parametrize(
    ("question", "heading", "other"),
    [
        ("What changed in 3.2.3?", "3.2.1 (2026-08-02)", True),
        ("What changed in 3.2.3?", "Changes > 3.2.3 > Fixed", False),
        ("What changed after 3.2.1?", "3.2.3", False),
        ("What changed in 3.2.3?", "Fixed", False),
        ("What changed?", "3.2.1", False),
        ("What happened on 4 January?", "5 January 1911", True),
        ("What happened on 4 January?", "4 January 1911", False),
        ("What happened on 4 January 1912?", "4 January 1911", True),
    ],
)
def test_what_stands_below_another_version_or_day(question: str, heading: str, other: bool) -> None:
    assert is_under_another(question, heading) is other


TALK = (("Mara Quist", "We tried clay first."), ("Ben Ode", "That costs twice as much."), ("", "The meeting ended."))


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("What did Mara say about clay?", {1}),
        ("What did Ben Ode propose?", {0}),
        ("What did Kolb say?", set()),
        ("Who said to Mara that it costs more?", set()),
        ("What did Mara buy?", set()),
    ],
)
def test_what_others_said(question: str, others: set[int]) -> None:
    statements = [QuotableStatement(text=text, speaker=speaker) for speaker, text in TALK]
    assert said_by_others(read_question(question), statements) == others


def chance(question: str, *statements: QuotableStatement) -> float:
    return judge(read_question(question, "", "\n".join(each.text for each in statements)), statements).chance


def test_nobody_said_something_about_what_he_does_not_name() -> None:
    talk = [QuotableStatement(text=text, speaker=speaker, position=2 * at) for at, (speaker, text) in enumerate(TALK)]
    assert chance("What did Ben Ode say about clay?", *talk) == 0.0
    assert chance("What did Mara Quist say about clay?", *talk) > 0.0


@pytest.mark.parametrize(
    ("question", "text", "may"),
    [
        ("Who built the mill?", "The mill was put up by two brothers.", True),
        ("Who built the mill?", "The mill is the work of Jan Coster, and a play by Kern is about it.", True),
        ("Who built the mill?", "The mill was repaired by the smith Elias Horn.", False),
        ("Who built the mill?", "The aunt of Jan Coster paid for the mill.", False),
        ("Who repaired the mill?", "The mill was restored by the firm Bakker.", True),
        ("Who sold the mill?", "The mill belongs to the town, and Elias Horn lives there.", False),
        ("Who haunts the mill?", "The mill was repaired by the smith Elias Horn.", True),
    ],
)
def test_who_did_something_else_does_not_answer(question: str, text: str, may: bool) -> None:
    assert (chance(question, QuotableStatement(text=text)) > 0.0) is may


def test_a_verb_says_it_of_what_is_asked() -> None:
    mole, boat = "The mole was built by Van Dam.", "The lifeboat was bought from Ann Lee."
    statements = [QuotableStatement(text=text, position=at) for at, text in enumerate((boat, mole))]
    assert chance("Who built the lifeboat?", *statements) == 0.0
    assert chance("Who built the mole?", *statements) > 0.0


def test_other_verbs_are_near_keys_and_known_ones_exclude_one_another() -> None:
    question = read_question("Who built the mill?")
    assert verb_keys(question, "It was erected in 1788.") == {"built": 0.6}
    assert verb_keys(question, "The builder was Jan.") != {}
    assert verb_keys(question, "It was sold in 1788.") == {}
    assert synonyms("haunted") is None
    assert says_other("built", "It was sold")
    assert not says_other("built", "It was haunted")
    assert not says_other("built", "It was sold and built")


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Who was the previous owner?", True),
        ("What was the licence before that?", True),
        ("What was the server before heron?", True),
        ("Wer war der frühere Besitzer?", True),
        ("What did he eat before he left?", False),
        ("When was it built?", False),
    ],
)
def test_a_question_for_what_was_before(question: str, asks: bool) -> None:
    assert asks_former(question) is asks


def test_what_was_before_is_said_in_any_word_of_the_same_thing() -> None:
    texts = ("The owner is Ann.", "Until 1990 it was Ben.", "Until 1980 the road was closed.")
    statements = [QuotableStatement(text=text, position=min(at, 1)) for at, text in enumerate(texts)]
    statements[1] = QuotableStatement(text=texts[1], position=0)
    matches = with_former_states(read_question("Who was the previous owner?"), statements, [{"owner": 1.0}, {}, {}])
    assert matches == [{"owner": 1.0}, {"previous": 1.0}, {}]
    assert [states_former(text) for text in texts] == [False, True, True]
