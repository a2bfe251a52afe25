"""The two things that a question compares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.relevance import comparisons


@pytest.mark.parametrize(
    ("question", "left", "right"),
    [
        ("How do threads and processes differ?", "threads", "processes"),
        ("How does steel differ from bronze?", "steel", "bronze"),
        ("How is a ketch different from a yawl?", "a ketch", "a yawl"),
        ("What is the difference between the ketch and the yawl?", "ketch", "yawl"),
        ("What are the main differences between ebb and flood?", "ebb", "flood"),
        ("Compare readable and writable streams.", "readable streams", "writable streams"),
        ("Compare ebb with flood", "ebb", "flood"),
        ("TCP vs. UDP", "TCP", "UDP"),
        ("Wie unterscheiden sich Watt und Marsch?", "Watt", "Marsch"),
        ("Was ist der Unterschied zwischen Ebbe und Flut?", "Ebbe", "Flut"),
        ("Quelle est la différence entre la voile et le foc ?", "voile", "foc"),
        ("¿Cuál es la diferencia entre marea y corriente?", "marea", "corriente"),
        ("Чем отличается шхуна от брига?", "шхуна", "брига"),
    ],
)
def test_the_two_things(question: str, left: str, right: str) -> None:
    pair = comparisons.read_comparison(question)
    assert pair is not None
    assert pair.sides == (left, right)


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference?",
        "How high is the tide at Brest?",
        "Compare ebb, flood and slack water",
        "Compare ebb and ebb",
        "Compare the catch in 2023 and 2024",
        "Compare what the harbour office wrote in its last report and the tide",
        "How do " + "very " * 100 + "long things and others differ?",
    ],
)
def test_others_compare_no_two_things(question: str) -> None:
    assert comparisons.read_comparison(question) is None


def test_each_thing_is_asked_for_in_the_language_of_the_question() -> None:
    pair = comparisons.read_comparison("Was ist der Unterschied zwischen Ebbe und Flut?")
    assert pair is not None
    assert [pair.question_about(side) for side in pair.sides] == ["Was ist Ebbe?", "Was ist Flut?"]


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    pair = comparisons.read_comparison(text)
    assert pair is None or all(side.strip() for side in pair.sides)
