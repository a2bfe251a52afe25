"""Questions that ask for a list, and the line above it."""

from __future__ import annotations

import pytest

from assay.core.relevance import read_question
from assay.core.relevance.grades import CitedSentence, grade
from assay.core.relevance.listings import asks_for_list, words_above


@pytest.mark.parametrize(
    "question",
    [
        "Which kinds of sluice gates are there?",
        "What are the five kinds of sluice gate?",
        "List the parts of a sluice.",
        "Which tools can be used for digging?",
        "Welche Arten von Schleusen gibt es?",
        "Was sind die Teile einer Schleuse?",
        "Quelles sont les parties d'une écluse ?",
        "¿Cuáles son las partes de una esclusa?",
        "Какие части есть у шлюза?",
    ],
)
def test_asking_for_several(question: str) -> None:
    assert asks_for_list(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is a sluice?",
        "What are sluices?",
        "Which gate is the largest?",
        "Why are sluices built?",
        "Wer baut Schleusen?",
    ],
)
def test_asking_for_one_thing(question: str) -> None:
    assert not asks_for_list(question)


@pytest.mark.parametrize(
    ("lead", "heading", "held"),
    [
        ("There are three kinds of sluice gate:", "Gates", 3),
        ("There are three kinds:", "Sluice gates", 1),
        ("There are three kinds:", "Locks", 0),
        ("They are:", "Kinds of sluice gate", 0),  # a heading has more than one list below it
        ("", "Kinds of sluice gate", 0),
    ],
)
def test_the_line_above_with_the_heading_names_what_is_asked_for(lead: str, heading: str, held: int) -> None:
    question = read_question("Which three kinds of sluice gates are there?", "", f"{lead} {heading}")
    assert words_above(question, lead, heading) == held


def test_an_item_of_the_list_asked_for_answers() -> None:
    item = CitedSentence(text="Drum: it turns on its axis.", cited="Drum: it turns on its axis.", heading="Locks")
    under = CitedSentence(text=item.text, cited=item.cited, heading=item.heading, lead="Kinds of sluice gate:")
    asked = ["Which kinds of sluice gate are there?"]
    assert grade(asked, [item]) != ("answers",)
    assert grade(asked, [under]) == ("answers",)
