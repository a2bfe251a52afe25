"""The ordinal that a question asks about: which statements have the same, and which another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.grades import CitedSentence, grade
from assay.core.relevance.ordinals import has_other_ordinal, same_ordinals

THIRD = "When was the third edition of the atlas published?"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (THIRD, "The second edition of the atlas came out in 1990."),
        (THIRD, "The atlas appeared in Oslo, 2nd ed. 1996."),
        (THIRD, "Edition 4 of the atlas is green."),
        ("When was the first Holmcon?", "The second Holmcon was in Oslo."),
        ("When was the first Holmcon?", "Holmcon 2 was in Oslo."),
        ("When did the 2nd Holm War end?", "The first Holm War ended in 1890."),
        ("Wann erschien die dritte Auflage?", "Die 2. Auflage erschien 1990."),
        ("Wann erschien die zweite Auflage?", "Die erste Auflage erschien 1990."),
        ("Quand parut la deuxième édition ?", "La première édition parut en 1990."),
        ("¿Cuándo salió la segunda edición?", "La primera edición salió en 1990."),
        ("Когда вышло второе издание?", "Первое издание вышло в 1990 году."),
        ("第三届大会在哪里举行？", "第二届大会在奥斯陆举行。"),
    ],
)
def test_another_ordinal_of_the_same_thing(question: str, text: str) -> None:
    assert has_other_ordinal(read_question(question, beside=text), text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (THIRD, "The third edition came after the second edition."),
        (THIRD, "The atlas appeared in Oslo, 3rd ed. 1996."),
        (THIRD, "The second printing of the atlas was sold out."),
        (THIRD, "The atlas was printed in 1990."),
        (THIRD, "On the second day the edition was sold. It was green."),
        ("When was the first Holmcon?", "Holmcon 1 was in Oslo, Holmcon 2 in Bergen."),
        ("When did the second Holm War end?", "Holm War II ended in 1890."),
        ("Wann erschien die dritte Auflage?", "Die 3. Auflage erschien 1990."),
        ("Who came first?", "The second runner was Carl Dorn."),
        ("When was the atlas published?", "The second edition of the atlas came out in 1990."),
    ],
)
def test_the_same_ordinal_or_one_of_something_else(question: str, text: str) -> None:
    assert not has_other_ordinal(read_question(question, beside=text), text)


@pytest.mark.parametrize(
    ("question", "text", "same"),
    [
        ("When was the second edition printed?", "The 2nd edition was printed in 1990.", True),
        ("When was the 2nd edition printed?", "The second edition was printed in 1990.", True),
        ("When was the second Holmcon?", "Holmcon 2 was in Oslo.", True),
        ("When was the second edition printed?", "The 3rd edition was printed in 1990.", False),
        ("When was the second edition printed?", "A second book was printed in 1990.", False),
    ],
)
def test_an_ordinal_in_another_form_counts_as_said(question: str, text: str, same: bool) -> None:
    assert bool(same_ordinals(read_question(question, beside=text), text)) == same


ATLAS = (
    "The first edition of the atlas came out in 1980.",
    "The 2nd edition of the atlas was printed in 1990.",
    "The third edition of the atlas appeared in 2000.",
)


def chosen(question: str, *texts: str) -> tuple[list[str], bool]:
    statements = [QuotableStatement(text=text, place=place, title="The atlas") for place, text in enumerate(texts)]
    judgement = judge(read_question(question, beside=" ".join(texts)), statements)
    return [texts[each.place] for each in judgement.ranked], judgement.answers()


def test_only_the_sentence_with_the_ordinal_answers() -> None:
    assert chosen("When was the second edition of the atlas published?", *ATLAS) == ([ATLAS[1]], True)
    assert chosen(THIRD, *ATLAS) == ([ATLAS[2]], True)


def test_nothing_answers_if_all_are_about_other_ordinals() -> None:
    assert not chosen("When was the fifth edition of the atlas published?", *ATLAS, "The atlas is sold in Oslo.")[1]


def test_in_a_report_another_ordinal_does_not_answer() -> None:
    cited = [CitedSentence(text=text, cited=text) for text in ATLAS]
    grades = grade(["When was the second edition of the atlas printed?"], cited)
    assert [each == "answers" for each in grades] == [False, True, False]


@given(st.text("ab first2nd3.第一 IVDe", max_size=40), st.text("ab first2nd3.第一 IVDe", max_size=40))
def test_any_text_may_have_ordinals(question: str, text: str) -> None:
    asked = read_question(f"the third {question}")
    assert not (has_other_ordinal(asked, text) and "3" in same_ordinals(asked, text))
