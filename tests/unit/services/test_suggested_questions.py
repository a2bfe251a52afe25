"""Questions made of the sentences of minutes, mail and chats."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Assay
from assay.services.collection_summary import collection_summary
from assay.services.suggested_questions import passage_questions


def asked(text: str, heading: str = "", *, in_english: bool = True) -> list[str]:
    return list(passage_questions(text, heading, in_english=in_english, is_amount=lambda word: word.lower() == "years"))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The next meeting is on 7 April 2025 at 18:30.", "When is the next meeting?"),
        ("The next meeting is on Monday, 7 April.", "When is the next meeting?"),
        ("The hall was opened in May 1998.", "When was the hall opened?"),
        ("The monthly rent is £940.", "What is the monthly rent?"),
        ("The variety is Agria.", "What is the variety?"),
        ("The board approved the budget of 52,500 euros.", "What did the board approve?"),
        ("Tom Berg reported that three firms had offered.", "What did Tom Berg report?"),
        ("The members agreed to meet at noon.", "What did the members agree on?"),
        ("Decision: the contract goes to the smaller firm.", "What was decided about “Roof”?"),
        ("[12.02.25, 09:21] Nora: The float switch was stuck.", "What did Nora say about the float switch?"),
        ("2025-02-12 09:14 - Emil Ray: I mended the pump.", "What did Emil Ray say about the pump?"),
    ],
)
def test_a_question_of_a_sentence(text: str, question: str) -> None:
    assert asked(text, "2. Roof") == [question]
    assert asked(text, "2. Roof", in_english=False) == []


@pytest.mark.parametrize(
    "text", ["It is on 7 April.", "Years are a burden.", "We approved it.", "09:14 started", "The board approved.", ""]
)
def test_sentences_without_a_subject_ask_nothing(text: str) -> None:
    assert asked(text) == []


@pytest.mark.parametrize(
    ("heading", "subject"),
    [("Budget 2024 plans", "Budget 2024 plans"), ("2.1 Roof", "Roof"), ("a) Plan. New", "Plan. New")],
)
def test_only_the_number_before_a_heading_is_left_out(heading: str, subject: str) -> None:
    assert asked("Decision: the smaller firm.", heading) == [f"What was decided about “{subject}”?"]


def test_a_heading_that_asks_is_the_question() -> None:
    assert asked("At noon.", "When is it?", in_english=False) == ["When is it?"]


@given(st.text("The Board approved [12.02.25, 9:4] Nora: is on 7 May", max_size=60))
def test_any_text_may_be_asked_about(text: str) -> None:
    assert all(question.endswith("?") for question in asked(text))


async def test_minutes_mail_and_chats_have_questions_that_they_answer(tmp_path: Path) -> None:
    texts = {
        "minutes.md": "# Minutes\n\n## 1. Roof\n\nThe board approved the offer of Slate Ltd for 18,200 euros.\n\n"
        "The next meeting is on 7 April 2025 at 18:30.\n",
        "note.eml": "From: ann@example.org\nTo: bob@example.org\nSubject: Seeds\n\nThe variety is Agria.\n",
        "chat.txt": "[12.02.25, 09:14] Nora: The pump stopped again\n[12.02.25, 09:16] Emil: Why?\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    async with Assay(home=tmp_path / "home") as assay:
        await assay.add([tmp_path / name for name in texts], "club")
        overview = await collection_summary(assay, "club", 4)
    answers = {question.question: question.answer for question in overview.questions}
    assert answers["What did the board approve?"].startswith("The board approved the offer of Slate Ltd")
    assert answers["What is the variety?"] == "The variety is Agria."
    assert "The pump stopped again" in answers["What did Nora say about the pump?"]
    assert "7 April 2025" in answers["When is the next meeting?"]
