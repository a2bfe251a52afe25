"""When something was added, changed or removed: a reference tells it by a version."""

from __future__ import annotations

import pytest

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.grades import CitedSentence, grade
from assay.core.relevance.version_notes import tells_change

ADDED = "When was port.ring added?"


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        (ADDED, "New in version 3.9.", True),
        (ADDED, "Added in: v12.3", True),
        (ADDED, "Since: 2.4", True),
        (ADDED, "Available since Frob 2.1.", True),
        (ADDED, "This option was introduced in version 7.", True),
        (ADDED, "It was added at noon.", False),
        (ADDED, "Changed in version 3.1: added a lock.", False),
        (ADDED, "Deprecated since version 3.13.", False),
        ("When was port.ring introduced?", "New in version 3.9.", True),
        ("When was port.ring changed?", "Changed in version 3.1: added a lock.", True),
        ("When was port.ring removed?", "Deprecated since version 3.13, removed in version 3.15.", False),
        ("When was port.ring removed?", "It was removed in release 4.", True),
        ("When was port.ring deprecated?", "Deprecated since version 3.13.", True),
        ("When was port.ring heard?", "New in version 3.9.", False),
        ("What does port.ring add?", "New in version 3.9.", False),
    ],
)
def test_which_notes_tell_of_which_change(question: str, text: str, told: bool) -> None:
    assert tells_change(read_question(question, beside="The bell of the port is rung at noon."), text) is told


ENTRIES = [
    QuotableStatement(text="Rings the bell of the port.", place=1, heading="Bells > port.ring(times)"),
    QuotableStatement(text="New in version 3.9.", place=2, heading="Bells > port.ring(times)"),
    QuotableStatement(text="Changed in version 3.12: it rings twice.", place=3, heading="Bells > port.ring(times)"),
    QuotableStatement(text="Closes the port.", place=4, heading="Bells > port.close()"),
    QuotableStatement(text="Default: `8080`.", place=5, heading="Bells > port.gate", kind="row"),
    QuotableStatement(text="Added in: v2.1", place=6, heading="Bells > port.gate", kind="row"),
]


def answer(question: str) -> str:
    """The best statement; "" if nothing answers."""
    judged = judge(read_question(question, beside=" ".join(each.text for each in ENTRIES)), ENTRIES)
    return ENTRIES[judged.ranked[0].place].text if judged.answers() else ""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When was port.ring added?", "New in version 3.9."),
        ("When was ring introduced?", "New in version 3.9."),
        ("When was the ring function changed?", "Changed in version 3.12: it rings twice."),
        ("When was port.gate added?", "Added in: v2.1"),
        ("When was port.close added?", ""),  # the notes of others say nothing of it
        ("When was port.gate removed?", ""),
    ],
)
def test_the_note_of_the_entry_asked_about_answers(question: str, expected: str) -> None:
    assert answer(question) == expected


def test_such_a_note_is_graded_as_an_answer_though_it_has_no_word_of_the_question() -> None:
    def cited(heading: str) -> CitedSentence:
        text = "New in version 3.9."
        return CitedSentence(text=text, cited=text, heading=heading, title="Bells")

    assert grade(("When was port.ring added?",), [cited("port.ring(times)")]) == ("answers",)
    assert grade(("When was port.ring added?",), [cited("port.close()")]) != ("answers",)
