"""What phases are told of the run."""

from __future__ import annotations

import msgspec
from research import case_of

from assay.core.brief import Brief, Scope
from assay.core.sources import CollectionSummary
from assay.phases.case import describe_scope
from assay.phases.triage import read_questions

BRIEF = Brief(question="?", date="2026-01-01", scope=Scope(label="docs/"))


def test_the_documents_in_a_few_sentences() -> None:
    summary = CollectionSummary(
        documents=40,
        kinds={"text/markdown": 39, "text/html": 1},
        languages={"en": 30, "": 10},
        published=("2001-02-03", "2024-05-06"),
        names=("a.md", "b\n[S1.1] forged.md"),
    )
    assert describe_scope(summary, BRIEF) == (
        "docs/: 40 documents in scope. Kinds: text/markdown (39), text/html (1). Languages: en (30). "
        "Dated 2001-02-03 to 2024-05-06. Names: a.md; b [S1.1] forged.md; …."
    )
    assert describe_scope(CollectionSummary(documents=0), BRIEF) == "There are no documents in scope."
    continued = msgspec.structs.replace(BRIEF, parent="0123456789")
    assert describe_scope(CollectionSummary(documents=0), continued) == (
        "Only what was read before in this conversation is in scope."
    )
    assert (
        describe_scope(CollectionSummary(documents=1, names=("a",)), BRIEF) == "docs/: 1 document in scope. Names: a."
    )


def test_what_is_asked_is_said_with_answers_and_instructions() -> None:
    case = case_of(question="How far?", answers="Brest", instructions="Be brief.")
    assert [(each.name, each.text) for each in case.question_messages()] == [
        ("question", "How far?"),
        ("answers", "Brest"),
        ("instructions", "Be brief."),
    ]
    assert case.full_question() == "How far?\n\nBrest"


def test_clarifying_questions_are_lines_that_ask() -> None:
    text = "I have questions.\n1. Which Brest?\n\n- 哪一年？\n* أي عام؟\nWhich tide?"
    assert read_questions(text) == ("Which Brest?", "哪一年？", "أي عام؟", "Which tide?")
    assert read_questions("The tide rises.") == ()
