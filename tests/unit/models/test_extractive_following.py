"""What the built-in model makes of what was said before a question."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.brief import ConversationMessage
from assay.core.errors import ModelError
from assay.core.messages import Message, Rarity, Request
from assay.models.extractive.actions import conversation, follow_up, restate_question

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
        ("When was it written?", "When was the Harbor report written?"),
        ("And why?", "And why (the Harbor report)?"),
        ("Thanks", ""),
        ("When was the bridge of Sandmouth opened?", ""),
        ("When was it written, and who was the engineer of the bridge?", ""),
        ("When was PEP 6 accepted, and was it changed?", ""),
    ],
)
def test_a_pronoun_is_told_what_it_stands_for(question: str, whole: str) -> None:
    assert restate_question(asked(question, *BEFORE)) == whole


def test_documents_named_before_are_named_again() -> None:
    found = (
        ConversationMessage(by="user", text="What is the status of PEP 6?"),
        ConversationMessage(by="user", text="Thanks, and why?"),
    )
    assert restate_question(asked("When was it created?", *found)) == "When was PEP 6 created?"


def test_a_conversation_that_cannot_be_read_is_an_error() -> None:
    broken = Message(role="user", name="conversation", text="[{")
    with pytest.raises(ModelError, match="conversation"):
        conversation(Request(task="triage", system="", messages=(broken,)))


def said(*turns: str) -> tuple[ConversationMessage, ...]:
    """Questions and replies in turn."""
    return tuple(ConversationMessage(by=("user", "assistant")[at % 2], text=text) for at, text in enumerate(turns))  # type: ignore[arg-type]


KEEPER = ("Who kept the light at Skerrow?", "Ines Falk kept the light at Skerrow Point.\n\n*As of today.*")
WARDEN = ("Wer leitete das Archiv in Halden?", "Leiter des Archivs in Halden war Jonas Weil.")


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        (KEEPER, "who replaced her?", "who replaced Ines Falk?"),
        (KEEPER, "And when did she retire to Dunby?", "And when did Ines Falk retire to Dunby?"),
        (KEEPER, "Where did her brother live?", "Where did Ines Falk’s brother live?"),
        (WARDEN, "Wer folgte ihm nach?", "Wer folgte Jonas Weil nach?"),
        (WARDEN, "Wann starb seine Frau?", "Wann starb seine Frau (Jonas Weil)?"),
        (("Who is falk?", "Ines Falk: keeper of the light"), "When did she retire?", "When did Ines Falk retire?"),
        (("Why did Falk leave?", "Ines Falk left."), "and when did she return?", "and when did Ines Falk return?"),
    ],
)
def test_a_person_is_the_one_asked_for_or_named(before: tuple[str, ...], question: str, whole: str) -> None:
    assert restate_question(asked(question, *said(*before))) == whole


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        ("How heavy is the Otter?", "And the Heron?", "How heavy is the Heron?"),
        ("How heavy is the Otter?", "what about Heron II?", "How heavy is the Heron II?"),
        ("Wann wurde der Turm gebaut?", "Und die Halle?", "Wann wurde die Halle gebaut?"),
        ("What was the turnover in 2018?", "and in 2019?", "What was the turnover in 2019?"),
        ("Wie viele Gäste kamen 1928?", "und 1930?", "Wie viele Gäste kamen 1930?"),
    ],
)
def test_what_a_question_leaves_out_is_in_the_one_before(before: str, question: str, whole: str) -> None:
    assert restate_question(asked(question, *said(before))) == whole


def test_a_thing_is_named_with_the_words_before_its_name() -> None:
    before = said("When was the bridge of Vell built?", "In 1891.", "Who was its builder?", "Ottilie Brandt.")
    assert restate_question(asked("How long is it?", *before)) == "How long is the bridge of Vell?"


def test_slips_of_the_pen_are_read_as_what_is_meant() -> None:
    slips = Rarity(meant={"waht": "what", "recieve": "receive"})
    request = msgspec.structs.replace(asked("waht did Ines recieve?"), rarity=slips)
    assert restate_question(request) == "what did Ines receive?"
    assert restate_question(msgspec.structs.replace(asked("What is it?"), rarity=slips)) == ""


def test_a_question_is_read_by_how_the_one_before_it_was_read() -> None:
    before = said(*KEEPER, "who replaced her?", "Olav Brim replaced Ines Falk.")
    assert restate_question(asked("And when did he leave?", *before)) == "And when did Olav Brim leave?"


@pytest.mark.parametrize(
    "question",
    [
        "Is it true that the tower leans?",
        "Why did Olav Brim sell his boat?",
        "Können Sie den Turm von Halden beschreiben?",
    ],
)
def test_a_pronoun_that_needs_nothing_said_before_is_kept(question: str) -> None:
    assert restate_question(asked(question, *said(*KEEPER))) == ""
