"""Sections whose title asks the question."""

from __future__ import annotations

import pytest

from assay.core.relevance import judge, read_question
from assay.core.relevance.document_parts import below_titles, title_share
from assay.core.relevance.topic_question import QuotableStatement


@pytest.mark.parametrize(
    ("question", "title", "asks"),
    [
        ("Why was the bridge moved?", "Miscellaneous > Why was the old bridge moved?", True),
        ("How do I ring a bell?", "Ringing a bell", False),
        (
            "What is the difference between a ketch and a yawl?",
            "3.2 What is the difference between ketch and yawl?",
            True,
        ),
        ("What is the difference between a ketch and a yawl?", "Ketch and yawl", False),
        ("When was the bridge moved?", "Moving the bridge", False),
        ("When was the bridge moved?", "When was the bridge moved?", True),
        ("Why was the bridge moved?", "Bridges", False),
        ("Why was the bridge moved?", "Why was the mill sold to the town in spring?", False),
    ],
)
def test_what_a_title_asks(question: str, title: str, asks: bool) -> None:
    assert (title_share(read_question(question), title) > 0) == asks


def test_what_stands_first_below_the_title_is_first() -> None:
    title = "Questions > Why was the bridge moved?"
    texts = ["The river had left its bed.", "It took a year.", "The bridge is of stone.", "The town paid for it."]
    statements = [
        QuotableStatement(text="The bridge was moved, and the bridge was painted.", place=1),
        *(QuotableStatement(text=text, place=at, heading=title) for at, text in enumerate(texts, 7)),
    ]
    question = read_question("Why was the bridge moved?")
    gains = below_titles(question, statements)
    assert gains[0] == 0.0
    assert gains[1] > gains[2] > gains[3] > gains[4] == 0.0
    assert [each.place for each in judge(question, statements).ranked[:2]] == [1, 2]
