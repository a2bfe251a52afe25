"""What is told of a thread, and which answer belongs to which question."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.brief import (
    MAX_MESSAGE_CHARS,
    USER_MESSAGES,
    ConversationMessage,
    GivenAnswer,
    fit_messages,
    latest_messages,
    match_answers,
    shorten_text,
)
from assay.core.text import estimate_tokens

TEXTS = st.text(max_size=300)
MESSAGES = st.lists(st.builds(ConversationMessage, by=st.sampled_from(["user", "assistant"]), text=TEXTS), max_size=14)


def user(text: str) -> ConversationMessage:
    return ConversationMessage(by="user", text=text)


def reply(text: str) -> ConversationMessage:
    return ConversationMessage(by="assistant", text=text)


@given(MESSAGES)
def test_the_last_messages_are_an_end_of_all_with_at_most_five_of_the_user(messages: list[ConversationMessage]) -> None:
    kept = latest_messages(messages)
    assert [each.by for each in kept] == [each.by for each in messages[len(messages) - len(kept) :]]
    users = sum(each.by == "user" for each in messages)
    assert sum(each.by == "user" for each in kept) == min(users, USER_MESSAGES)
    assert latest_messages(kept) == kept


@given(MESSAGES, st.integers(0, 2_000))
def test_what_is_told_fits_and_keeps_its_order(messages: list[ConversationMessage], tokens: int) -> None:
    kept = fit_messages(messages, tokens)
    assert not kept or estimate_tokens(msgspec.json.encode(kept).decode()) <= tokens
    assert [each.by for each in kept] == [each.by for each in messages[len(messages) - len(kept) :]]


def test_replies_are_shortened_before_anything_is_left_out() -> None:
    found = [user("How far does the tide rise?"), reply("It rises seven metres. " * 100), user("Why?")]
    kept = fit_messages(found, 300)
    assert [each.text for each in kept if each.by == "user"] == ["How far does the tide rise?", "Why?"]
    assert kept[1].text.startswith("It rises seven metres.")
    assert kept[1].text.endswith("…")
    assert fit_messages(found, 10_000) == tuple(found)


@given(st.text(max_size=400), st.integers(3, 100))
def test_a_shortened_text_begins_as_the_whole_and_is_no_longer(text: str, length: int) -> None:
    short = shorten_text(text, length)
    assert len(short) <= length
    assert text.strip().startswith(short.removesuffix("…").rstrip())


def test_a_text_is_cut_after_a_sentence() -> None:
    assert shorten_text("It rises. It falls again. It turns.", 28) == "It rises. It falls again. …"
    assert len(latest_messages([reply("word " * MAX_MESSAGE_CHARS)])[0].text) <= MAX_MESSAGE_CHARS


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ((), (None, None)),
        ((GivenAnswer(text="here"),), ("here", None)),
        ((GivenAnswer(text="here"), GivenAnswer(text="")), ("here", "")),
        ((GivenAnswer(text="spring", question="spring tide"),), (None, "spring")),
        ((GivenAnswer(text="here", question="Which  BREST"), GivenAnswer(text="yes")), ("here", "yes")),
        ((GivenAnswer(text="spring", question="Spring tide?"), GivenAnswer(text="here")), ("here", "spring")),
        ((GivenAnswer(text="no", question="Something else?"),), (None, None)),
    ],
)
def test_answers_find_their_questions(answers: tuple[GivenAnswer, ...], found: tuple[str | None, ...]) -> None:
    assert match_answers(("Which Brest?", "Spring tide?"), answers) == found


@given(st.lists(st.text(min_size=1, max_size=20), max_size=5), st.lists(st.text(max_size=10), max_size=5))
def test_answers_in_order_go_to_the_questions_in_order(questions: list[str], answers: list[str]) -> None:
    found = match_answers(questions, [GivenAnswer(text=text) for text in answers])
    assert list(found) == [*answers, *[None] * len(questions)][: len(questions)]
