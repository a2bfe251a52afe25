"""The built-in model over manuals: defaults, limits, definitions, names as in code, reasons, versions."""

from __future__ import annotations

import pytest
from extractive_asking import answered, found
from hypothesis import given
from hypothesis import strategies as st

from assay.core.passage_context import ShownPassage
from assay.core.phrases import NOTHING
from assay.models.questions.question import question_parts
from assay.models.shown_documents.placed_sentences import place_sentences

OPTIONS = """# Settings

- frob_buffers (integer)
  Sets how much memory the frobnicator keeps for its buffers, in which it holds what was read last. On machines with
  much memory a larger frob_buffers pays off. Restart the frobnicator to change it.

  The default is 96 megabytes.

- frob_peers (integer)
  Sets how many peers may connect.

  The default is 40 peers.
"""
LIMITS = """# Limits

Some limits can be changed.

**Maximum Number Of Gears In A Train**

The frobnicator does not take trains with more than 32 gears.

This limit comes from the number of gears one word can count. Hence there is no way to raise the limit on the number
of gears in a train.

**Maximum Depth Of A Nest**

Nests are read one within the other.
"""
WORDS = """# Words

A closed train is used by those who know it. In most cases a closed train needs more oil.

A closed train is a train whose last gear turns the first.
"""
CALLS = """# Functions

The value which gear_count() returned is kept. Counting takes time. A count of one gear returned by others is no sum.

- gear_sum(train)
  Returns the teeth of all gears.
"""
RELEASES = """# Releases

Frob 3.1 was released in March 2009.

Frob 3.12 was released in June 2021.

Frob 3.12.4 was released in May 2023.
"""
PLAN = """PEP: 9003
Title: Stillness
Author: Ann Lee
Status: Rejected
Created: 01-Jan-2009

Abstract
========

We propose that no gear is added for two years.

Motivation
==========

Others could not follow because gears were added every month.

Rejection
=========

It was rejected because nobody wanted to wait.
"""


def first(text: str) -> str:
    """The first sentence of an answer, without its marker."""
    return text.split(" [S", 1)[0]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("What is the default of frob_buffers?", OPTIONS, "The default is 96 megabytes."),
        ("What is the default of frob_peers?", OPTIONS, "The default is 40 peers."),
        (
            "What is the maximum number of gears in a train?",
            LIMITS,
            "The frobnicator does not take trains with more than 32 gears.",
        ),
        ("What is a closed train?", WORDS, "A closed train is a train whose last gear turns the first."),
        ("What are closed trains?", WORDS, "A closed train is a train whose last gear turns the first."),
        ("What does gear_sum return?", CALLS, "gear_sum(train): Returns the teeth of all gears."),
    ],
)
def test_the_sentence_with_the_answer_comes_first(question: str, text: str, expected: str) -> None:
    assert first(answered(question, "Frobnicator", text)) == expected


def test_what_stands_around_a_passage_counts_for_its_sentences_and_the_heads_of_a_table_are_none() -> None:
    shown = [
        ShownPassage("S1.3", "S1", "| Gear | Speed of the gear in turns |", under="Gears"),
        ShownPassage("S1.4", "S1", "| Vorax | 8 |", under="Gears", about="| Gear | Speed of the gear in turns |"),
        ShownPassage("S1.5", "S1", "The default is 8 turns.", about="alpha", after="The options are:"),
    ]
    assert [(each.text, each.heading, each.label) for each in place_sentences(shown)] == [
        ("Vorax | 8", "Gears", "| Gear | Speed of the gear in turns |"),
        ("The default is 8 turns.", "The options are:", "alpha"),
    ]


@given(st.lists(st.text("ab \n.|:-", min_size=1, max_size=40), max_size=12))
def test_every_placed_sentence_is_of_its_passage_and_comes_once(texts: list[str]) -> None:
    passages = [ShownPassage(f"S1.{at}", "S1", text) for at, text in enumerate(texts)]
    by_id = {passage.id: " ".join(passage.text.split()) for passage in passages}
    sentences = place_sentences(passages)
    assert len({sentence.text for sentence in sentences}) == len(sentences)
    assert all(sentence.text in by_id[sentence.passage] for sentence in sentences)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When was Frob 3.12 released?", "Frob 3.12 was released in June 2021."),
        ("When was Frob 3.1 released?", "Frob 3.1 was released in March 2009."),
    ],
)
def test_versions_are_compared_whole(question: str, expected: str) -> None:
    assert found(question, "Frob", RELEASES).startswith(f"{expected} [")
    assert found(question, "Frob", RELEASES).count("released") == 1


def test_a_version_nothing_speaks_of_is_not_found() -> None:
    assert found("When was Frob 3.2 released?", "Frob", RELEASES) == NOTHING


def test_why_gives_reasons_and_no_header_field() -> None:
    written = answered("Why was PEP 9003 written?", "Stillness", PLAN)
    assert "because gears were added every month" in written
    assert "Ann Lee" not in written
    rejected = answered("Why was PEP 9003 rejected?", "Stillness", PLAN)
    assert first(rejected) == "It was rejected because nobody wanted to wait."


def test_a_title_in_quotation_marks_is_not_cut_where_its_sentence_ends() -> None:
    assert question_parts("Who wrote “Calls. Revert if not. Done.”?") == ("Who wrote “Calls. Revert if not. Done.”?",)
    assert len(question_parts("Who wrote it? When was it?")) == 2


SERVER = """# HTTP server

The server accepts requests and hands them to a listener.

## server.timeout

Default: `5000` (5 seconds).

The number of milliseconds without a sign of life after which a socket counts as lost.

## server.port

Default: `8080`.

The port on which the server listens.

Added in: v12.3.0

## server.close()

Ends the server.

Changed in version 3.12: open connections are closed too.
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the default of server.timeout?", "server.timeout: Default: `5000` (5 seconds)."),
        ("What is the default of server.port?", "server.port: Default: `8080`."),
        ("When was server.port added?", "server.port: Added in: v12.3.0"),
        ("When was server.close changed?", "Changed in version 3.12: open connections are closed too."),
    ],
)
def test_a_value_below_the_head_of_its_entry_is_quoted(question: str, expected: str) -> None:
    assert first(answered(question, "HTTP server", SERVER)) == expected
