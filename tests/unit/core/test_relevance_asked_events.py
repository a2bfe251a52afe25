"""The event whose time a question asks for, and which statements tell the time of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.asked_events import asked_event, is_of_life, points_to_it, tells_event


@pytest.mark.parametrize(
    ("question", "event"),
    [
        ("When did he die?", "die"),
        ("When did Anna Berg die in Paris?", "die"),
        ("In what year was the old bridge opened?", "opened"),
        ("Wann starb Anna Berg?", "starb"),
        ("When did the war begin?", ""),
        ("When did Obama visit Kenya?", ""),
        ("Who opened the bridge?", ""),
        ("Wann wurde die Brücke geöffnet?", ""),
    ],
)
def test_the_verb_of_the_event(question: str, event: str) -> None:
    assert asked_event(read_question(question)) == event


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("When did he die?", "He wrote the book in 1956.", False),
        ("When did he die?", "His death in 1956 was sudden.", True),
        ("When did he die?", "Carl Dorn (1901–1956) was a painter.", True),
        ("When was he born?", "He was baptised in 1901.", False),
        ("Wann starb Anna Berg?", "Anna Berg ist 1956 gestorben.", True),
        ("When was the bridge opened?", "The opening was in 1956.", True),
    ],
)
def test_what_tells_of_the_event(question: str, text: str, told: bool) -> None:
    read = read_question(question, beside=text)
    assert tells_event(read, asked_event(read), (text,)) is told


def answered(question: str, *texts: str) -> bool:
    statements = [QuotableStatement(text=text, place=3 * at) for at, text in enumerate(texts)]
    return judge(read_question(question, beside=" ".join(texts)), statements).answers()


def test_the_time_of_something_else_is_no_answer() -> None:
    written = "The term was coined by Carl Dorn in 1956 for a new machine."
    assert not answered("When did Carl Dorn die?", written, "Most old machines have died since 1990.")
    assert answered("When did Carl Dorn die?", written, "Carl Dorn died in 1984.")
    assert answered("When did Carl Dorn die?", written, "He died in 1984, when Carl Dorn Street was built.")


def test_an_event_in_other_words_is_told_if_all_else_is() -> None:
    assert answered(
        "When was the second edition of the atlas published?", "The second edition of the atlas is of 1990."
    )


def test_words_of_a_life_and_for_something_before() -> None:
    died = read_question("When did Carl Dorn die?")
    assert is_of_life(died, "die")
    assert not is_of_life(died, "published")
    assert points_to_it("He left.")
    assert not points_to_it("Carl left.")


@given(st.text("When did he die1956?()–- é中", max_size=40), st.text("When did he die1956()–- é中", max_size=40))
def test_any_text_may_be_read(question: str, text: str) -> None:
    read = read_question(f"When did {question}")
    assert tells_event(read, asked_event(read), (text,)) in (True, False)
