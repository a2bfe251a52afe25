"""Cohere's models against a server which speaks the format; skipped where its extra is not installed."""

from __future__ import annotations

import pytest
from chat_server import Answer, fault
from provider_server import check_nothing, event, provider_server

from assay.core.errors import ModelError
from assay.core.messages import CallDelta, CallDone, Message, Reply, Request, TextDelta, ToolCall, ToolDefinition
from assay.core.ports import Access
from assay.core.ports.models import Secret
from assay.models.direct import create

pytest.importorskip("cohere", reason="the extra `cohere` is not installed")

KEY = "planted-0123456789"
SEARCH = ToolDefinition(name="search", description="Searches.", parameters={"type": "object", "properties": {}})
ASKED = Request(
    task="research",
    system="You research.",
    messages=(Message(role="user", name="task", text="Find it."),),
    tools=(SEARCH,),
    tool_choice="required",
    first_token=60.0,
)


def wire_event(kind: str, **fields: object) -> str:
    return event({"type": kind, **fields}, kind)


def text(words: str) -> str:
    return wire_event("content-delta", index=0, delta={"message": {"content": {"text": words}}})


def called(kind: str, **call: object) -> str:
    return wire_event(kind, index=0, delta={"message": {"tool_calls": call}})


START = wire_event("message-start", id="1", delta={"message": {"role": "assistant"}})
USAGE = {"tokens": {"input_tokens": 120, "output_tokens": 30}}
CALLING = [
    called("tool-call-start", id="x", type="function", function={"name": "search", "arguments": ""}),
    called("tool-call-delta", function={"arguments": '{"query": "a"}'}),
    wire_event("tool-call-end", index=0),
]
END = wire_event("message-end", delta={"finish_reason": "TOOL_CALL", "usage": USAGE})


async def play(*answers: Answer) -> list[object]:
    with provider_server(*answers, check=check_nothing) as server:
        model = create("cohere:command-a-03-2025", Access(url=server.url, key=Secret(KEY)))
        try:
            return [item async for item in model.stream(ASKED)]
        finally:
            await model.close()
            assert len(server.requests) == 1


async def test_text_and_a_call() -> None:
    *deltas, reply = await play(Answer([START, text("Sev"), text("en"), *CALLING, END]))
    call = ToolCall(id="x", name="search", arguments={"query": "a"})
    whole = [delta for delta in deltas if not isinstance(delta, CallDelta)]
    assert whole == [TextDelta("Sev"), TextDelta("en"), CallDone(0, call)]
    assert isinstance(reply, Reply)
    assert (reply.text, reply.calls, reply.stop) == ("Seven", (call,), "calls")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (120, 30)


@pytest.mark.parametrize(
    ("answer", "transient"),
    [
        (fault(429, f"slow down {KEY}"), True),
        (fault(401, f"invalid token {KEY}"), False),
        (Answer([START, text("Sev")]), True),
        (Answer([START, text("Sev")], cut=True), True),
        (Answer([]), True),
    ],
)
async def test_failures(answer: Answer, transient: bool) -> None:
    with pytest.raises(ModelError) as raised:
        await play(answer)
    assert raised.value.transient is transient
    assert KEY not in str(raised.value)
