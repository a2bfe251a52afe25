"""Back matter, announcements, and titles that ask the question."""

from __future__ import annotations

import pytest

from assay.core.relevance import read_question
from assay.core.relevance.document_parts import back_matter_losses, only_announces, title_share
from assay.core.relevance.topic_question import QuotableStatement

# Changelogs, indexes and licences answer only who asks for them.


def losses(question: str, **place: str) -> list[float]:
    return back_matter_losses(
        question, [QuotableStatement(text="It rings."), QuotableStatement(text="It rings.", **place)]
    )


PLACES = [
    ({"title": "Change Log — Bells"}, "When was the bell added?"),
    ({"title": "Bells", "address": "file:///doc/changes.html"}, "What is new in bells?"),
    ({"heading": "Bells > Version 1.4.2 (2016-08-28) New features:"}, "What did version 1.4 change?"),
    ({"heading": "3.0.1 (2019-05-02)"}, "What was fixed?"),
    ({"title": "Stichwortverzeichnis"}, "Wo ist das Verzeichnis?"),
    ({"title": "Index"}, "What does the index hold?"),
    ({"heading": "4 Bells > References"}, "Which papers are about bells?"),
    ({"heading": "Literaturverzeichnis"}, "Wer schrieb über Glocken?"),
    ({"title": "GNU Free Documentation License"}, "Under which license may I copy it?"),
]


@pytest.mark.parametrize(("place", "asking"), PLACES)
def test_it_is_behind_all_others_unless_it_is_asked_for(place: dict[str, str], asking: str) -> None:
    assert losses("What does the bell do?", **place)[0] == 0.0
    assert losses("What does the bell do?", **place)[1] > 0.0
    assert losses(asking, **place) == [0.0, 0.0]


@pytest.mark.parametrize(
    "place",
    [
        {"title": "Bells"},
        {"heading": "2.1.4. Double bells"},
        {"title": "Changes of the tide"},
        {"address": "https://example.org/index.html"},
        {"title": "Glossary"},
    ],
)
def test_other_places_lose_nothing(place: dict[str, str]) -> None:
    assert losses("What does the bell do?", **place) == [0.0, 0.0]


def test_where_nothing_else_was_found_it_loses_nothing() -> None:
    each = QuotableStatement(text="Ring the bell twice.", title="Changelog")
    assert back_matter_losses("What does the bell do?", [each]) == [0.0]


# Sentences that only say what a part of a document is about.

QUESTION = "What is a sluice?"


@pytest.mark.parametrize(
    "text",
    [
        "This chapter introduces the sluice and its parts.",
        "In this section, we will look at sluices.",
        "The following sections describe each kind of sluice.",
        "In diesem Kapitel wird beschrieben, was eine Schleuse ist.",
        "Dieser Abschnitt erklärt die Schleuse.",
        "Ce chapitre décrit l'écluse.",
        "Este capítulo presenta la esclusa.",
        "В этой главе описывается шлюз.",
    ],
)
def test_what_a_part_is_about(text: str) -> None:
    assert only_announces(QUESTION, text)
    assert not only_announces(
        "What is this chapter about? Was steht im Kapitel? Ce chapitre? Este capítulo? В этой главе?", text
    )


@pytest.mark.parametrize(
    "text",
    [
        "A sluice is a gate that holds water back.",
        "This section of the canal was dug in 1852.",
        "This section presents three kinds of sluice: the lift gate, the swing gate and the drum gate.",
        "The keeper explains the sluice in this chapter of his life.",
        "This page intentionally left blank.",
    ],
)
def test_what_says_more(text: str) -> None:
    assert not only_announces(QUESTION, text)


# Sections whose title asks the question.


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
