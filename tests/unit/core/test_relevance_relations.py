"""Who did what is asked: the verb in any form, and which statements say who did it."""

from __future__ import annotations

import pytest

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.signs import asks, doers, tells_who, verb_keys

SPIRE = "Who wrote the book on which the film The Spire is based?"


def statements(*texts: str) -> list[QuotableStatement]:
    return [QuotableStatement(text=text, place=place, title="The Spire") for place, text in enumerate(texts)]


def ordered(question: str, *texts: str) -> list[str]:
    return [
        texts[each.place] for each in judge(read_question(question, beside=" ".join(texts)), statements(*texts)).ranked
    ]


@pytest.mark.parametrize("text", ["Who writes all these programs?", "谁写了这些程序？", "Et pourquoi pas ?"])
def test_a_question_answers_nothing(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text", ["She asked: who writes them?", "His last words were “Why not?”", "It is not known who writes them."]
)
def test_what_tells_of_a_question_may_answer(text: str) -> None:
    assert not asks(text)


def test_the_question_of_a_faq_is_left_out() -> None:
    texts = ("Who writes the programs?", "The programs are written by volunteers.")
    assert ordered("Who writes the programs?", *texts) == [texts[1]]


@pytest.mark.parametrize(
    ("question", "text", "held"),
    [
        ("Who wrote the novel?", "A novel written by Carl Dorn.", True),
        ("Who sang the song?", "The song is sung by Eva Holm.", True),
        ("When did the war begin?", "The war began in 1890.", True),
        ("When was the bridge opened?", "The bridge was painted in 1890.", False),
        ("Who wrote the novel?", "The novel was sold by Carl Dorn.", False),
        ("What is written there?", "She wrote a novel.", False),
    ],
)
def test_the_verb_in_another_form_counts_as_said(question: str, text: str, held: bool) -> None:
    assert bool(verb_keys(read_question(question, beside=text), text)) == held


@pytest.mark.parametrize(
    ("question", "text", "tells"),
    [
        ("Who wrote the tool?", "The tool runs on Unix and Windows.", False),
        ("Who wrote the tool?", "The writer of the tool is not known.", True),
        ("Who wrote the tool?", "It is the work of Carl Dorn.", True),
        ("Who wrote the tool?", "The tool is made by volunteers.", True),
        ("Who is the mayor?", "The mayor is tall.", True),
        ("Wer schrieb das Buch?", "Das Buch ist grün.", True),
        ("What does the tool do?", "It builds.", True),
    ],
)
def test_who_did_it_needs_the_verb_a_doer_or_a_full_name(question: str, text: str, tells: bool) -> None:
    assert tells_who(read_question(question, beside=text), [text]) == tells


WROTE = "Who wrote the manual of the tool?"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Please write a test of the manual first.", False),
        ("The manual is shown by default, or by using -m.", False),
        ("TERMINAL EXTENSIONS and the manual of the tool", False),
        ("If you change the tool, write a manual.", False),
        ("He wrote the manual in 1990.", True),
        ("The manual was written by friends.", True),
        ("The manual is the work of Anna Berg.", True),
    ],
)
def test_a_request_or_a_heading_names_nobody(text: str, told: bool) -> None:
    assert tells_who(read_question(WROTE, beside=text), [text]) is told


def test_who_did_it_comes_before_what_was_done() -> None:
    question = read_question("Who coined the word?")
    texts = ["The word was coined around 1975.", "The word was coined by Anna Berg.", "Anna Berg coined the word."]
    gains = doers(question, texts)
    assert gains[0] == 0.0
    assert gains[1] == gains[2] > 0.0
    assert doers(read_question("Where is the word?"), texts) == [0.0] * 3
