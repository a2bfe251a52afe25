"""A history that fits: what is shortened, what stays, and that no result stands without its call."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.agents.history import CallResult, History, ModelTurn, message_room, output_cap, tool_result, total_tokens
from assay.core.messages import Message, Profile, ToolCall
from assay.core.passage_context import read_sources
from assay.core.sources import Passage, Source
from assay.evidence.ledger import SourceBlock

OPENING = (Message(role="user", name="task", text="Find the tide."),)
RULES = (Message(role="user", name="rules", text="{}"),)


def block(number: int, *texts: str) -> SourceBlock:
    source = Source(
        id=f"S{number}",
        document_sha256="d" * 64,
        snapshot_sha256="e" * 64,
        url="file:///x",
        title=f"Title {number}",
        media_type="text/plain",
        fetched_at="",
    )
    passages = tuple(
        Passage(
            id=f"S{number}.{place}",
            source=source.id,
            document_sha256=source.document_sha256,
            start=0,
            end=1,
            text=text,
            text_sha256="",
        )
        for place, text in enumerate(texts)
    )
    return SourceBlock(source=source, passages=passages)


def turn(number: int, size: int, calls: int = 1) -> ModelTurn:
    made = tuple(ToolCall(id=f"{number}-{place}", name="search") for place in range(calls))
    shorter = ("x" * (size // 3), "x" * (size // 9))
    results = (CallResult(call_id=each.id, text="x" * size, shorten=lambda: shorter) for each in made)
    return ModelTurn(message=Message(role="assistant", calls=made), results=tuple(results))


def test_everything_is_there_while_it_fits() -> None:
    history = History(OPENING)
    history.add(turn(1, 100))
    messages = history.messages(10_000, RULES)
    assert [message.role for message in messages] == ["user", "assistant", "tool", "user"]
    assert messages[2].text == "x" * 100
    assert messages[-1] == RULES[0]


def test_the_oldest_results_are_shortened_first() -> None:
    history = History(OPENING)
    for number in range(3):
        history.add(turn(number, 900))
    whole = total_tokens(history.messages(1_000_000))
    sizes = [len(message.text) for message in history.messages(whole - 10) if message.role == "tool"]
    assert sizes == [300, 900, 900]
    sizes = [len(message.text) for message in history.messages(whole // 3) if message.role == "tool"]
    assert sizes == sorted(sizes)
    assert sizes[0] < 300


def test_whole_turns_are_left_out_last_and_the_last_one_stays() -> None:
    history = History(OPENING)
    for number in range(4):
        history.add(turn(number, 900))
    messages = history.messages(1, RULES)
    assert messages[0] == OPENING[0]
    assert [each.id for message in messages for each in message.calls] == ["3-0"]
    assert messages[-1] == RULES[0]


def test_a_shorter_form_is_made_only_where_there_is_no_room_and_once() -> None:
    made = []

    def shorten() -> tuple[str, str]:
        made.append("shorter")
        return "x" * 300, "x" * 30

    history = History(OPENING)
    call = ToolCall(id="one", name="search")
    answer = CallResult(call_id="one", text="x" * 900, shorten=shorten)
    history.add(ModelTurn(message=Message(role="assistant", calls=(call,)), results=(answer,)))
    whole = total_tokens(history.messages(1_000_000))
    assert made == []
    assert total_tokens(history.messages(whole - 1)) < whole
    assert total_tokens(history.messages(1)) < whole
    assert made == ["shorter"]


def test_a_form_meant_to_be_shorter_is_never_longer() -> None:
    short = tool_result("a", "", [block(1001, "the tide")], "tide")
    assert short.text.endswith("the tide")
    assert "Shortened" not in short.forms[0]
    assert sorted(map(len, short.forms), reverse=True) == list(map(len, short.forms))


def test_what_was_told_after_a_turn_follows_it() -> None:
    history = History(OPENING)
    history.add(ModelTurn(message=Message(role="assistant", text="Hm."), note="Call a tool."))
    assert [message.text for message in history.messages(1000)][1:] == ["Hm.", "Call a tool."]


def test_a_result_shortened_keeps_ids_and_shows_the_passages_that_matter() -> None:
    texts = (
        "on the wind",
        "the tide rises",
        "on sails",
        "the tide falls",
        "tide and moon",
        "on ropes",
        *["long " * 60] * 4,
    )
    made = tool_result("a", "A note.", [block(1001, *texts), block(1002, "of the moon")], "tide and moon")
    full, few, ids = made.forms
    assert full.startswith("A note.")
    assert len(read_sources(full)) == 2
    assert [each.text for source in read_sources(few) for each in source.passages] == [
        texts[1],
        texts[4],
        "of the moon",
    ] or [each.text for source in read_sources(few) for each in source.passages] == [texts[1], texts[3], texts[4]]
    for form in (few, ids):
        assert "S1001.5" in form
        assert "S1002.0" in form
    assert read_sources(ids) == []
    assert len(full) > len(few) > len(ids)


def test_a_result_without_passages_is_its_note() -> None:
    assert tool_result("a", "Nothing found.", (), "x").forms == ("Nothing found.",) * 3


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 3)), max_size=8), st.integers(0, 4000))
def test_calls_and_answers_pair_up_and_the_limit_holds_where_it_can(turns: list[tuple[int, int]], tokens: int) -> None:
    history = History(OPENING)
    for number, (size, calls) in enumerate(turns):
        history.add(turn(number, size, calls))
    messages = history.messages(tokens, RULES)
    asked = [call.id for message in messages for call in message.calls]
    answered = [message.call_id for message in messages if message.role == "tool"]
    assert asked == answered
    assert messages[0] == OPENING[0]
    assert messages[-1] == RULES[0]
    least = total_tokens(history.messages(0, RULES))
    assert total_tokens(messages) <= max(tokens, least)


def test_caps_follow_the_window() -> None:
    small = Profile(name="m", window=8_000, max_output=50_000)
    assert output_cap(small, 10_000) == 2_000
    assert output_cap(small, 1_000) == 1_000
    assert output_cap(Profile(name="m", max_output=500), 1_000) == 500
    assert 0 < message_room(small, "You are an agent.", (), 2_000) < 6_000
    assert message_room(Profile(name="m", window=100), "x" * 1000, (), 25) == 0
