"""What a weak model copied or repeats; what it may not state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.weak_models import COPIED_RUN, CallRecord, is_copied, states
from assay.core.messages import ToolCall
from assay.core.text import words

PROMPT = (
    "Find the range of the ship Aurora in nautical miles, with its date. At least one independent test is wanted. "
    "Call the tool again."
)
QUESTION = "Which licence does the library have, and who wrote it?"
WORDS = st.text("abcdefgh", min_size=1, max_size=4)
LISTS = st.lists(WORDS, max_size=12).map(" ".join)


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("Find the range of the ship Aurora in nautical miles.", True),
        ("find the RANGE of the ship Aurora in nautical miles; the agent sees no more", True),
        ("ship Aurora in nautical", True),
        ("Aurora ship", False),  # too short to tell
        ("Find the licence of the library, with its date. At least one independent test is wanted.", False),
        ("Find the licence of the library and its authors, as the file itself and one independent test say", False),
        ("", False),
    ],
)
def test_what_is_copied(text: str, copied: bool) -> None:
    assert is_copied(text, PROMPT, QUESTION) is copied


def test_what_is_asked_is_not_copied() -> None:
    assert not is_copied("Find the range of the ship Aurora", PROMPT, "What is the range of the ship Aurora?")


@given(LISTS, LISTS)
def test_a_prompt_copied_whole_is_a_copy_and_one_of_other_words_is_not(prompt: str, topic: str) -> None:
    shares_topic = bool(set(words(prompt)) & set(words(topic)))
    if len(words(prompt)) >= COPIED_RUN and not shares_topic:
        assert is_copied(prompt, prompt, topic)
    assert not is_copied(prompt.upper().translate(str.maketrans("ABCDEFGH", "ijklmnop")), prompt, topic)


def _search(query: str, answer: str = "Nothing was found.") -> tuple[ToolCall, str]:
    return ToolCall(id=query, name="search", arguments={"query": query}), answer


def test_an_agent_is_stuck_after_two_turns_of_calls_it_made_before() -> None:
    record = CallRecord()
    record.add_turn([_search("tide"), _search("moon")])
    record.add_turn([_search("tide")])
    assert not record.is_stuck
    record.add_turn([_search("wind")])
    record.add_turn([_search("wind"), _search("moon")])
    assert not record.is_stuck
    record.add_turn([_search("moon")])
    assert record.is_stuck


def test_a_call_with_another_answer_is_no_repetition() -> None:
    """A service that failed twice may answer the third time, and the agent goes on with what it brought."""
    record = CallRecord()
    for answer in ("away", "away", "The tide rises."):
        record.add_turn([_search("tide", answer)])
        assert not record.is_stuck
    for stuck in (False, True):
        record.add_turn([_search("tide", "The tide rises.")])
        assert record.is_stuck is stuck


@pytest.mark.parametrize("text", ["Nothing was found.", "Rien n'a été trouvé.", "没有找到", "It does not say so.", "–"])
def test_what_states_nothing(text: str) -> None:
    assert not states(text)


def test_what_states_something() -> None:
    assert states("The tide rises ten metres.")
