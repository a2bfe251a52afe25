"""What the built-in model makes of what was said before a question."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.brief import ConversationMessage
from assay.core.errors import ModelError
from assay.core.messages import Message, Request
from assay.models.extractive.actions import conversation, follow_up, restated

BEFORE = (
    ConversationMessage(by="user", text="Who wrote the Harbor report?"),
    ConversationMessage(by="assistant", text="The Harbor report was written by Ada Byron. It describes Sandmouth."),
)


def asked(question: str, *before: ConversationMessage) -> Request:
    found = [Message(role="user", name="conversation", text=msgspec.json.encode(before).decode())] if before else []
    return Request(task="triage", system="", messages=(*found, Message(role="user", name="question", text=question)))


@pytest.mark.parametrize(
    ("question", "follows"),
    [
        ("When was it written?", "complex_follow_up"),
        ("How large is Sandmouth?", "complex_follow_up"),
        ("How high is the Eiffel tower?", "new_topic"),
    ],
)
def test_a_question_follows_where_it_points_back_or_shares_a_word(question: str, follows: str) -> None:
    assert follow_up(asked(question, *BEFORE)) == follows
    assert follow_up(asked(question)) == "new_topic"


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("When was it written?", "When was it written (harbor report)?"),
        ("And why?", "And why (harbor report)?"),
        ("Thanks", ""),
        ("When was the bridge of Sandmouth opened?", ""),
        ("When was it written, and who was the engineer of the bridge?", ""),
        ("When was PEP 6 accepted, and was it changed?", ""),
    ],
)
def test_a_pronoun_is_told_what_it_stands_for(question: str, whole: str) -> None:
    assert restated(asked(question, *BEFORE)) == whole


def test_documents_named_before_are_named_again() -> None:
    found = (
        ConversationMessage(by="user", text="What is the status of PEP 6?"),
        ConversationMessage(by="user", text="Thanks, and why?"),
    )
    assert restated(asked("When was it created?", *found)) == "When was it created (PEP 6)?"


def test_a_conversation_that_cannot_be_read_is_an_error() -> None:
    broken = Message(role="user", name="conversation", text="[{")
    with pytest.raises(ModelError, match="conversation"):
        conversation(Request(task="triage", system="", messages=(broken,)))
