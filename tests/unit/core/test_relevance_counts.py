"""The thing that a question counts, and which statements count it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.counts import counted_thing, counting, counts

USERS = "How many people use Debian?"


def counted(question: str, text: str, *around: str) -> bool:
    return counts(read_question(question, beside=text), [text], around)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (USERS, "Debian 12 was published in 2023, and people were glad."),
        (USERS, "People like Debian 3.1 and later."),
        (USERS, "Debian is used by many people; see section 4."),
        (USERS, "The release has 40 packages."),
        ("How much memory does the daemon need?", "Versions up to 4.85, and release 4.80, need more memory."),
        ("Wie viele Menschen leben in der Stadt?", "In der Stadt lebten seit 1850 viele."),
    ],
)
def test_a_version_a_year_and_the_number_of_something_named_count_nothing(question: str, text: str) -> None:
    assert not counted(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (USERS, "Some 20,000 people use Debian."),
        (USERS, "In Algiers 30 to 50 thousand inhabitants use it."),
        ("How many rooms are in the cave?", "The default cave size is twenty-five rooms."),
        ("How many moons does Venus have?", "Neither Mercury nor Venus has moons."),
        ("How many soldiers fell?", "1500 soldiers fell."),
        ("How many rooms are in the cave?", "cave: Anna | Rooms: 2012"),
        ("How many rooms are in the cave?", "Anna Rooms 25"),
        ("How much food does it eat?", "It can eat ten times its own weight."),
        ("How much memory does the daemon need?", "It needs 4.5 MB."),
        ("Wie viele Einwohner hat die Stadt?", "Die Stadt hat 30.000 Einwohner."),
        ("How long is the bridge?", "It is old."),
        ("Who uses Debian?", "Nobody knows."),
    ],
)
def test_what_counts_the_thing_or_is_not_asked_to(question: str, text: str) -> None:
    assert counted(question, text)


def test_the_thing_may_be_named_around_the_number() -> None:
    assert not counted("How many rooms are there?", "There are 25.")
    assert counted("How many rooms are there?", "There are 25.", "The rooms of the cave")


def test_people_are_counted_by_other_words_and_nothing_else_is() -> None:
    assert {"inhabit", "peopl"} <= counted_thing(USERS, "en")
    assert counted_thing("How many extra rooms are there?", "en") == {"extra", "room"}
    assert counted_thing("Who uses Debian?", "en") == frozenset()


def test_the_number_beside_the_thing_comes_first() -> None:
    texts = ["The cave of 5 bats is old and deep, and has rooms.", "The cave has twenty rooms."]
    gains = counting(read_question("How many rooms has the cave?"), texts)
    assert gains[0] < gains[1]


def test_a_number_of_something_else_is_no_answer() -> None:
    texts = ("Debian 12 was published in 2023.", "Debian 11 was published in 2021.", "People use Debian.")
    statements = [QuotableStatement(text=text, place=at) for at, text in enumerate(texts)]
    assert not judge(read_question(USERS, beside=" ".join(texts)), statements).answers()


TEXT = st.text("ab 0123.,-%\nRomskeé中", max_size=40)


@given(TEXT, st.lists(TEXT, max_size=3))
def test_any_text_may_be_counted(question: str, texts: list[str]) -> None:
    read = read_question(f"How many rooms {question}")
    assert len(counting(read, texts)) == len(texts)
    assert counts(read, texts, texts) in (True, False)


@given(st.integers(1, 999))
def test_every_small_number_before_the_thing_counts_it(number: int) -> None:
    text = f"The cave has {number} rooms."
    assert counted("How many rooms has the cave?", text)
    assert counting(read_question("How many rooms has the cave?"), [text]) != [0.0]
