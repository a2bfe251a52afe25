"""Thoughts become events while they stream, each once, one after the other."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from assay.core.events import Event, ThinkDelta, ThinkFinished, ThinkStarted
from assay.core.messages import CallDelta, Reply, ToolCall, ToolDefinition
from assay.run.voice import MAX_NATIVE_THOUGHTS, Thoughts

THINK = ToolDefinition(name="think", description="", parameters={}, thought="reasoning")
SEARCH = ToolDefinition(name="search", description="", parameters={})


class Log:
    """The events written, and the thoughts they make."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.thoughts = Thoughts((THINK, SEARCH), self.events.append)

    def streamed(self) -> list[tuple[str, str]]:
        """Each thought as it streamed and as it was finished; they do not overlap."""
        made: list[list[str]] = []
        for event in self.events:
            if isinstance(event, ThinkStarted):
                assert not made or len(made[-1]) == 2, "a thought begins inside another"
                made.append([""])
            elif isinstance(event, ThinkDelta):
                assert len(made[-1]) == 1
                made[-1][0] += event.text
            elif isinstance(event, ThinkFinished):
                made[-1].append(event.text)
        return [(streamed, finished) for streamed, finished in made]


def think(text: str, id: str = "a") -> ToolCall:
    return ToolCall(id=id, name="think", arguments={"reasoning": text})


def test_a_thinking_call_is_told_while_it_streams() -> None:
    log = Log()
    log.thoughts.add_call_part(CallDelta(0, '{"reas', name="think"))
    assert log.events == []
    log.thoughts.add_call_part(CallDelta(0, 'oning": "Fir'))
    log.thoughts.flush()
    assert log.events == [ThinkStarted(), ThinkDelta(text="Fir")]
    log.thoughts.add_call_part(CallDelta(0, 'st."}'))
    log.thoughts.finish_call(0, think("First."))
    log.thoughts.add_call_part(CallDelta(0, "\n"))
    log.thoughts.finish_reply(Reply(calls=(think("First."),)))
    assert log.events[2:] == [ThinkDelta(text="st."), ThinkFinished(text="First.")]


def test_a_call_which_comes_whole_or_only_in_the_reply_is_told_once() -> None:
    log = Log()
    log.thoughts.finish_call(0, think("First."))
    log.thoughts.finish_reply(Reply(calls=(think("First."), think("Second."), think(""))))
    assert log.streamed() == [("", "First."), ("", "Second.")]


def test_a_name_may_come_late_or_not_at_all() -> None:
    log = Log()
    log.thoughts.add_call_part(CallDelta(0, '{"reasoning": "La'))
    log.thoughts.add_call_part(CallDelta(0, 'te."}', name="think"))
    log.thoughts.add_call_part(CallDelta(1, '{"reasoning": "No name."}'))
    log.thoughts.add_call_part(CallDelta(2, '{"reasoning": "Not a thought."}', name="search"))
    calls = (think("Late."), ToolCall(id="", name="", arguments={"reasoning": "No name."}))
    log.thoughts.finish_reply(Reply(calls=calls))
    assert log.streamed() == [("Late.", "Late.")]


def test_native_reasoning_ends_where_the_model_speaks() -> None:
    log = Log()
    for text in ("Hm", "m."):
        log.thoughts.add_native(text)
    log.thoughts.end_native()
    log.thoughts.add_native("Again.")
    log.thoughts.add_call_part(CallDelta(0, '{"reasoning": "By tool."}', name="think"))
    log.thoughts.finish_call(0, think("By tool."))
    log.thoughts.finish_reply(Reply(thinking="Hmm.Again.", calls=(think("By tool."),)))
    assert log.streamed() == [("Hmm.", "Hmm."), ("Again.", "Again."), ("By tool.", "By tool.")]


def test_a_model_which_goes_on_changing_does_not_flood_the_log() -> None:
    log = Log()
    for number in range(500):
        log.thoughts.add_native(str(number))
        log.thoughts.end_native()
    log.thoughts.finish_reply(Reply())
    found = log.streamed()
    assert len(found) == MAX_NATIVE_THOUGHTS
    assert "".join(streamed for streamed, _ in found) == "".join(map(str, range(500)))


def test_reasoning_which_an_adapter_gives_at_the_end_only() -> None:
    log = Log()
    log.thoughts.finish_reply(Reply(thinking="Hmm."))
    assert log.streamed() == [("Hmm.", "Hmm.")]


def test_a_cut_call_leaves_what_was_read_and_one_encoded_twice_is_read() -> None:
    log = Log()
    twice = json.dumps(json.dumps({"reasoning": "Twice."}))
    log.thoughts.add_call_part(CallDelta(0, twice, name="think"))
    log.thoughts.finish_call(0, ToolCall(id="a", name="think", malformed=twice))
    log.thoughts.add_call_part(CallDelta(1, '{"reasoning": "Cut o', name="think"))
    log.thoughts.finish_call(1, ToolCall(id="b", name="think", malformed='{"reasoning": "Cut o'))
    log.thoughts.finish_reply(Reply())
    assert log.streamed() == [("Twice.", "Twice."), ("Cut o", "Cut o")]


def test_an_attempt_which_dies_leaves_no_open_thought() -> None:
    log = Log()
    log.thoughts.add_native("Hm")
    log.thoughts.stop()
    assert log.streamed() == [("Hm", "Hm")]


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4), st.data())
def test_parallel_thoughts_in_any_order_of_their_pieces(texts: list[str], data: st.DataObject) -> None:
    log = Log()
    calls = tuple(think(text, id=str(index)) for index, text in enumerate(texts))
    left = {index: json.dumps(call.arguments) for index, call in enumerate(calls)}
    named: set[int] = set()
    while left:
        index = data.draw(st.sampled_from(sorted(left)))
        size = data.draw(st.integers(1, 8))
        log.thoughts.add_call_part(CallDelta(index, left[index][:size], name="" if index in named else "think"))
        named.add(index)
        left[index] = left[index][size:]
        if data.draw(st.booleans()):
            log.thoughts.flush()
        if not left[index]:
            del left[index]
            log.thoughts.finish_call(index, calls[index])
    log.thoughts.finish_reply(Reply(calls=calls))
    found = log.streamed()
    assert sorted(finished for _, finished in found) == sorted(texts)
    assert all(streamed in ("", finished) for streamed, finished in found)
