"""The library's events as deltas, also in orders its model classes are free to send them in."""

from __future__ import annotations

import itertools
import json

import provider_server  # noqa: F401 - skips where no extra is installed
from hypothesis import given
from hypothesis import strategies as st

from assay.core.messages import CallDelta, CallDone, TextDelta, ThinkingDelta
from assay.models.direct import SERVICES

ARGUMENTS = st.dictionaries(st.text(max_size=3), st.text(max_size=6) | st.lists(st.integers(), max_size=2), max_size=3)


@given(st.lists(ARGUMENTS, min_size=1, max_size=3), st.lists(st.integers(0, 60), max_size=6), st.booleans())
def test_calls_do_not_depend_on_the_cuts(wanted: list[dict], cuts: list[int], escaped: bool) -> None:
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, ToolCallPart, ToolCallPartDelta

    from assay.models.direct.messages import EventReader

    reader, deltas = EventReader(SERVICES["anthropic"]), []
    for index, arguments in enumerate(wanted):
        text = json.dumps(arguments, ensure_ascii=escaped)
        places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
        part = ToolCallPart(tool_name="search", args=None, tool_call_id=f"c{index}")
        deltas += reader.feed(PartStartEvent(index=index, part=part))
        for start, end in itertools.pairwise(places):
            delta = ToolCallPartDelta(args_delta=text[start:end])
            deltas += reader.feed(PartDeltaEvent(index=index, delta=delta))
        done = [delta for delta in deltas if isinstance(delta, CallDone)]
        assert len(done) == index + 1  # given when it is whole, not when the next begins
        streamed = "".join(delta.text for delta in deltas if isinstance(delta, CallDelta) and delta.index == index)
        assert streamed == text
    deltas += reader.end()
    assert [delta.index for delta in deltas if isinstance(delta, CallDone)] == list(range(len(wanted)))
    assert [delta.call.arguments for delta in deltas if isinstance(delta, CallDone)] == wanted


def test_a_part_which_starts_again_is_one_call() -> None:
    from pydantic_ai.messages import PartStartEvent, ToolCallPart

    from assay.models.direct.messages import EventReader

    reader = EventReader(SERVICES["cohere"])
    first = ToolCallPart(tool_name="search", args='{"que', tool_call_id="c")
    again = ToolCallPart(tool_name="search", args={"query": "a"}, tool_call_id="c")
    deltas = [*reader.feed(PartStartEvent(index=0, part=first)), *reader.feed(PartStartEvent(index=0, part=again))]
    assert [(delta.index, delta.call.arguments) for delta in deltas if isinstance(delta, CallDone)] == [
        (0, {"query": "a"})
    ]
    assert list(reader.end()) == []
    assert "".join(delta.text for delta in deltas if isinstance(delta, CallDelta)) == '{"query":"a"}'


def test_what_nobody_asked_for_adds_nothing() -> None:
    from pydantic_ai.messages import NativeToolCallPart, PartStartEvent, TextPart, ThinkingPart

    from assay.models.direct.messages import EventReader

    reader = EventReader(SERVICES["google"])
    parts = [NativeToolCallPart(tool_name="web_search", args={}), TextPart(""), ThinkingPart("Hm"), TextPart("So")]
    deltas = [
        delta for index, part in enumerate(parts) for delta in reader.feed(PartStartEvent(index=index, part=part))
    ]
    assert deltas == [ThinkingDelta("Hm"), TextDelta("So")]
