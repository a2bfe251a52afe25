"""Google's chunks as they are read: whatever they hold beside what is used, and however a text is cut."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ContextTooLong, ModelError
from assay.core.messages import CallDone, Delta, Message, Reply, Request, TextDelta, ThinkingDelta
from assay.models.direct.raw_response import GeminiChunk, GeminiReader
from assay.models.streams import decode

ASKED = Request(task="write", system="You write.", messages=(Message(role="user", text="Write."),))


def chunk(*parts: dict[str, Any], finish: str = "", **more: object) -> str:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0, "safetyRatings": []}
    return json.dumps({"candidates": [candidate | ({"finishReason": finish} if finish else {})], **more})


def played(*chunks: str) -> tuple[list[Delta], Reply]:
    reader = GeminiReader("google")
    deltas = [delta for each in chunks for delta in reader.feed(decode(each, GeminiChunk))]
    deltas += reader.end()
    return deltas, reader.reply(ASKED, "google:m")


@given(st.text(), st.lists(st.integers(0, 200)))
def test_a_text_is_whole_however_it_is_cut(text: str, cuts: list[int]) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    places = [0, *sorted(2 * (cut % (len(units) // 2 + 1)) for cut in cuts), len(units)]
    pieces = [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(places)]
    deltas, reply = played(*(chunk({"text": piece}) for piece in pieces), chunk(finish="STOP"))
    assert reply.text == text == "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def test_thinking_text_calls_and_what_nobody_asked_for() -> None:
    deltas, reply = played(
        chunk({"text": "Hm.", "thought": True}, {"text": "", "thoughtSignature": "c2ln"}),
        chunk({"text": "So."}, {"functionCall": {"name": "open", "args": {"id": 1}}, "thoughtSignature": "c2ln"}),
        chunk({"functionCall": {"name": "open"}}, {"executableCode": {"code": "1"}}, {"inlineData": {"data": ""}}),
        chunk(finish="STOP", usageMetadata={"promptTokenCount": 9}, responseId="r"),
    )
    assert deltas[:2] == [ThinkingDelta("Hm."), TextDelta("So.")]
    assert (reply.thinking, reply.text, reply.stop) == ("Hm.", "So.", "calls")
    assert [(call.name, call.arguments) for call in reply.calls] == [("open", {"id": 1}), ("open", {})]
    assert len({call.id for call in reply.calls}) == 2
    assert [delta.call for delta in deltas if isinstance(delta, CallDone)] == list(reply.calls)
    assert (reply.usage.input_tokens, reply.usage.output_tokens > 0) == (9, True)


def test_counts_below_nothing_are_estimated() -> None:
    below = {
        "promptTokenCount": -9,
        "candidatesTokenCount": -5,
        "thoughtsTokenCount": -1,
        "cachedContentTokenCount": -1,
    }
    _, reply = played(chunk({"text": "So."}), chunk(finish="STOP", usageMetadata=below))
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    assert (reply.usage.cached_tokens, reply.usage.reasoning_tokens) == (0, 0)


@pytest.mark.parametrize(
    ("code", "message", "error", "transient"),
    [
        (503, "overloaded", ModelError, True),
        (400, "Unknown name", ModelError, False),
        (400, "The input token count exceeds the maximum number of tokens allowed", ContextTooLong, None),
    ],
)
def test_a_fault_in_the_middle(code: int, message: str, error: type[Exception], transient: bool | None) -> None:
    fault = msgspec.json.encode({"error": {"code": code, "message": message, "status": "X"}}).decode()
    with pytest.raises(error) as raised:
        played(chunk({"text": "Sev"}), fault)
    assert getattr(raised.value, "transient", None) is transient


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"])
def test_a_stop_by_a_fault_is_one(reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        played(chunk({"text": "Sev"}), chunk(finish=reason))


@given(st.sampled_from(["candidates", "usageMetadata", "promptFeedback", "error"]), st.integers() | st.booleans())
def test_what_is_no_chunk_is_a_value_error(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"\$"):
        decode(json.dumps({name: value}), GeminiChunk)
