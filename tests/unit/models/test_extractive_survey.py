"""Questions about all documents, as the built-in model reads them; and over real headers, where they are at hand."""

from __future__ import annotations

import re
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from questions import collections, corpus
from research import document

from assay.core.errors import ModelError
from assay.core.messages import Message, Request, ToolCall
from assay.models.extractive import respond
from assay.models.questions.conditions import is_whole
from assay.phases.survey.filters import SURVEY_TOOLS, count_keys, matching_fields, read_conditions, read_header

HEADERS = [
    {"key": "PEP", "documents": 9, "values": {}},
    {"key": "Status", "documents": 9, "values": {"Final": 4, "Rejected": 3, "Withdrawn": 2}},
    {"key": "Type", "documents": 9, "values": {"Standards Track": 6, "Informational": 3}},
    {"key": "BDFL-Delegate", "documents": 2, "values": {"Barry Warsaw": 2}},
    {"key": "Author", "documents": 9, "values": {}},
    {"key": "Created", "documents": 9, "values": {}},
]


def survey(question: str, headers: Any = HEADERS) -> Any:
    found = msgspec.json.encode(headers).decode()
    messages = (Message(role="user", name="headers", text=found), Message(role="user", name="question", text=question))
    _, called = respond(Request(task="survey", system="", messages=messages, tools=SURVEY_TOOLS))
    return (called[0].name, next(iter(called[0].arguments.values()))) if called and called[0].arguments else None


def called(question: str) -> ToolCall | None:
    found = msgspec.json.encode(HEADERS).decode()
    messages = (Message(role="user", name="headers", text=found), Message(role="user", name="question", text=question))
    return next(iter(respond(Request(task="survey", system="", messages=messages, tools=SURVEY_TOOLS))[1]), None)


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("How many PEPs have status Rejected?", True),
        ("List all rejected PEPs", True),
        ("list every document which mentions tides", False),
        ("Which documents mention tides?", True),
        ("Which PEPs are Final?", True),
        ("For each document: what does it conclude?", True),
        ("How many of the files are from 2020?", True),
        ("How many people live in Brest?", False),
        ("Which PEP introduced decorators?", False),
        ("What is PEP 6?", False),
        ("How many steps does the installation take?", False),
        ("List the reasons for the delay", False),
        ("Who wrote the documents about tides?", False),
    ],
)
def test_the_form_of_a_question_says_whether_it_is_about_all(question: str, whole: bool) -> None:
    assert is_whole(question) is whole


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ("How many PEPs have status Rejected?", ["PEP = *", "Status = Rejected"]),
        ("List all rejected or withdrawn PEPs", ["PEP = *", "Status = Rejected | Withdrawn"]),
        ("How many Informational PEPs are Final?", ["PEP = *", "Status = Final", "Type = Informational"]),
        ("How many documents are of type Standards Track?", ["Type = Standards Track"]),
        ("How many PEPs were created before 2001?", ["PEP = *", "Created < 2001"]),
        ("How many PEPs are there?", ["PEP = *"]),
        ("Which PEPs were written by Barry Warsaw?", ["PEP = *", "Author ~ Barry Warsaw"]),
    ],
)
def test_a_question_that_headers_decide_is_a_filter(question: str, where: list[str]) -> None:
    assert survey(question) == ("filter_documents", where)


@pytest.mark.parametrize(
    "question",
    [
        "How many PEPs about sockets are Final?",
        "How many EIPs are Final?",
        "How many documents have an author?",
        "How many documents are from 1999?",
        "For each document: what does it conclude?",
    ],
)
def test_what_headers_do_not_decide_is_no_filter(question: str) -> None:
    assert survey(question) is None


@pytest.mark.parametrize(
    ("asked", "phrase"),
    [
        ("mention “Abstract Base Classes”", "Abstract Base Classes"),
        ("mention a tide gauge", "tide gauge"),
        ("mention the word crash", "crash"),
        ("mention the phrase “a priori”", "a priori"),
        ('mention "the end"', "the end"),
        ("mention anything", "anything"),
        ("mention the a", "a"),
    ],
)
def test_words_are_looked_for_as_they_stand_but_for_the_article_of_the_question(asked: str, phrase: str) -> None:
    assert survey(f"Which documents {asked}?") == ("find_phrase", [phrase])


@pytest.mark.parametrize(
    "question",
    [
        "How many documents are there?",
        "How many files do you have?",
        "List all documents",
        "How many documents are in the collection?",
        "Please list all the files.",
    ],
)
def test_without_a_condition_all_are_counted(question: str) -> None:
    assert is_whole(question)
    assert called(question) == ToolCall(id="survey-1", name="count_documents")


@pytest.mark.parametrize(
    ("asked", "phrases", "together"),
    [
        ("tides and Genoa", ["tides", "Genoa"], True),
        ("both tides and the port", ["tides", "port"], True),
        ("tides, storms and the port", ["tides", "storms", "port"], True),
        ("tides, storms, and also the port", ["tides", "storms", "port"], True),
        ("tides or storms", ["tides", "storms"], False),
        ("either tides or storms", ["tides", "storms"], False),
        ("“black and white” and grey", ["black and white", "grey"], True),
        ("“black and white”", ["black and white"], False),
        ("tides and tides", ["tides"], False),
        ("brandy", ["brandy"], False),
        ("orchids", ["orchids"], False),
    ],
)
def test_several_words_are_looked_for_together_or_each(asked: str, phrases: list[str], together: bool) -> None:
    call = called(f"Which documents mention {asked}?")
    assert call is not None
    assert call.arguments == {"phrases": phrases} | ({"together": True} if together else {})


@given(st.text(max_size=200))
def test_any_words_may_be_asked_for(words: str) -> None:
    call = called(f"Which documents mention {words}?")
    assert call is None or all(each.strip() for each in call.arguments.get("phrases", ["x"]))


def test_a_long_question_takes_no_longer_than_it_has_to() -> None:
    hostile = ("A-" * 20_000, "A.'" * 13_000, "Aa " * 13_000, ", " * 20_000, "and " * 10_000)
    began = time.process_time()
    for text in hostile:
        called(f"How many documents did the author {text} write?")
        called(f"Which documents mention {text}?")
    assert time.process_time() - began < 10


def test_headers_that_cannot_be_read_are_an_error() -> None:
    with pytest.raises(ModelError, match="headers"):
        survey("How many PEPs have status Rejected?", "nonsense")


@pytest.mark.slow
@pytest.mark.parametrize("name", list(collections.PLURAL))
def test_counts_over_real_headers_are_exact(name: str) -> None:
    folder = corpus.data_folder()
    if folder is None:
        pytest.skip("no documents: set ASSAY_DATA to a folder with documents/*.jsonl.gz")
    rows = list(corpus.read(folder, (name,)))[::4]
    headers = [read_header(document(row.url, row.text), row.text.encode()) for row in rows]
    asked = collections.derive(rows, name)
    assert len(asked) >= 20
    for each in asked:
        assert is_whole(each.text)
        way = survey(each.text, count_keys(headers))
        assert way is not None, each.text
        conditions = read_conditions(way[1])
        found = {rows[at].url for at, header in enumerate(headers) if matching_fields(header, conditions) is not None}
        assert found == each.urls, each.text
        assert re.fullmatch(r"(?:[\w-]+ [=~] .+)", way[1][-1])
