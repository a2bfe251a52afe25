"""Headers as four series of documents write them: lines, front matter, lists below a title, lists without one."""

from __future__ import annotations

import pytest
from extractive_asking import answered, shown

from assay.core.messages import Message, Request, ToolDefinition
from assay.models.extractive import respond
from assay.models.shown_documents.passages import quotable_sentences
from assay.models.shown_documents.shelf import ShownSources

SWIFT = """# Let every gear of a train turn at the speed it likes, equivalent to loose gears

* Proposal: [SE-0931](0931-loose-gears.md)
* Authors: [Ann Lee](https://example.org/ann), [Bo Moe](https://example.org/bo)
* Review Manager: [Cy Orr](https://example.org/cy)
* Status: **Implemented (Swift 4.2)**
* Bug: [SR-77](https://bugs.example.org/SR-77)

## Introduction

Gears turn at one speed. We let them turn as they like.
"""
RUST = """- Feature Name: `loose_gears`
- Start Date: 2014-05-22
- RFC PR #: [example/rfcs#932](https://example.org/932)
- Rust Issue: [20361](https://example.org/issues/20361)

## Summary

Gears may be loose.
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who wrote SE-0931?", "Ann Lee"),
        ("What is the status of SE 931?", "Implemented (Swift 4.2)"),
        ("Who was the review manager of SE-0931?", "Cy Orr"),
        ("Which bug does SE-0931 name?", "SR-77"),
    ],
)
def test_a_list_below_a_long_title_is_a_header(question: str, expected: str) -> None:
    title = SWIFT.splitlines()[0].removeprefix("# ")
    answer = answered(question, title, SWIFT)
    assert expected in answer.split(" [S1001.", 1)[0].replace("\\", "")
    assert " of SE-0931 (Let every gear" in answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the start date of RFC 932?", "2014-05-22"),
        ("Which issue tracks RFC 932?", "20361"),
        ("What is the feature name of Rust RFC 932?", "loose_gears"),
    ],
)
def test_a_list_at_the_very_beginning_is_a_header(question: str, expected: str) -> None:
    messages = (
        Message(role="user", name="question", text=question),
        Message(
            role="user", name="evidence", text=shown("text/0932.md", RUST, url="https://example.org/rfcs/0932-a.html")
        ),
    )
    answer, _ = respond(Request(task="answer", system="", messages=messages))
    assert expected in answer.split(" [S1001.", 1)[0].replace("\\", "")


def test_who_keeps_a_series_says_nothing_of_a_field_which_is_not_there() -> None:
    text = RUST + "\nbrson writes that Rust gears are fine, and has written so before.\n"
    evidence = shown("text/0932.md", text, url="https://rust.example/rfcs/0932-a.html")
    messages = (
        Message(role="user", name="question", text="By whom was Rust RFC 932 written?"),
        Message(role="user", name="evidence", text=evidence),
    )
    answer, _ = respond(Request(task="answer", system="", messages=messages))
    assert "brson" not in answer


def test_replacing_something_is_not_being_replaced() -> None:
    text = SWIFT.replace("Gears turn at one speed.", "This proposal aims at replacing loose wheels.")
    assert "wheels" not in answered("Which SE superseded SE-0931?", "Loose gears", text)


def test_a_title_is_not_quoted_and_no_prose() -> None:
    (book,) = ShownSources([shown("Notes", SWIFT)]).books
    assert book.title_passage == "S1001.0"
    assert [field.name for field in book.fields][:2] == ["proposal", "authors"]
    assert not any("equivalent to loose gears" in sentence.text for sentence in book.sentences)


def test_targets_of_links_are_not_quoted() -> None:
    assert (
        quotable_sentences("S1.0", "[SE-0931]: https://example.org/0931 and [more]: https://example.org/more of it.")
        == ()
    )


def test_each_document_is_opened_by_a_call_of_its_own() -> None:
    texts = [
        shown(f"Loose gears {number}", f"Loose gears turn {number} times.").replace("S1001", f"S100{number}")
        for number in (1, 2)
    ]
    messages = [
        Message(role="user", name="task", text="How many times do loose gears turn?"),
        Message(role="assistant"),
        Message(role="tool", text="\n\n".join(texts)),
    ]
    tools = (ToolDefinition(name="open", description="", parameters={}),)
    _, calls = respond(Request(task="research", system="", messages=tuple(messages), tools=tools))
    assert [call.arguments["documents"] for call in calls] == [["S1001"], ["S1002"]]
