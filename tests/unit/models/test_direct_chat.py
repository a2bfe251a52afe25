"""Mistral's and Groq's models, whose formats are near to chat completions, against a server which speaks them."""

from __future__ import annotations

import json

import chat_server as wire
import pytest
from chat_server import DONE, USAGE, Answer, call, chunk, fault
from provider_server import check_nothing, provider_server

from assay.core.errors import ContextTooLong, ModelError
from assay.core.messages import CallDone, Delta, Message, Reply, Request, TextDelta, ToolCall, ToolDefinition
from assay.core.ports import Access
from assay.core.secrets import Secret
from assay.models.direct import create

KEY = "planted-0123456789"
SEARCH = ToolDefinition(name="search", description="Searches.", parameters={"type": "object", "properties": {}})
ASKED = Request(
    task="research",
    system="You research.",
    messages=(
        Message(role="user", name="task", text="Find it."),
        Message(role="assistant", calls=(ToolCall(id="call-0", name="search", arguments={"query": "é"}),)),
        Message(role="tool", call_id="call-0", text="[S1.1] It."),
    ),
    tools=(SEARCH,),
    tool_choice="required",
    max_tokens=500,
    timeout=5.0,
    first_token=5.0,
)
NAMES = ["mistral:mistral-large-latest", "groq:llama-3.3-70b-versatile"]
PLAIN = Answer(
    [
        chunk({"role": "assistant", "content": "Sev"}),
        chunk({"content": "en"}),
        chunk({}, "stop", USAGE, x_groq={"id": "r", "usage": USAGE}),  # each has its own place for the count
        DONE,
    ]
)


async def play(name: str, *answers: Answer, asked: Request = ASKED) -> tuple[list[Delta], Reply, dict]:
    with provider_server(*answers, check=check_nothing) as server:
        adapter = create(name, Access(url=server.url, key=Secret(KEY)))
        try:
            items = [item async for item in adapter.stream(asked)]
        finally:
            await adapter.close()
        assert server.keys == [f"Bearer {KEY}"]
    assert isinstance(items[-1], Reply)
    return items[:-1], items[-1], server.requests[0]


@pytest.mark.parametrize("name", NAMES)
async def test_a_plain_answer_and_what_is_sent_for_it(name: str) -> None:
    deltas, reply, body = await play(name, PLAIN)
    assert deltas == [TextDelta("Sev"), TextDelta("en")]
    assert (reply.text, reply.stop, reply.model) == ("Seven", "end", name)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (120, 30)
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert "You research." in json.dumps(body["messages"][0])
    assert body["messages"][1]["content"] == "<task>\nFind it.\n</task>"
    made, answered = body["messages"][2]["tool_calls"][0], body["messages"][3]
    assert json.loads(made["function"]["arguments"]) == {"query": "é"}
    assert made["id"] == answered["tool_call_id"]
    assert body["tool_choice"] in ("required", "any")


async def test_mistral_is_given_ids_of_its_own_form() -> None:
    body = (await play(NAMES[0], PLAIN))[2]
    assert len(body["messages"][3]["tool_call_id"]) == 9


@pytest.mark.parametrize("name", NAMES)
async def test_parallel_calls(name: str) -> None:
    answer = Answer(
        [
            chunk({"role": "assistant", "content": ""}),
            chunk(call(0, '{"query": "a"}', id="aaaaaaaaa", name="search")),
            chunk(call(1, '{"query": "b"}', id="bbbbbbbbb", name="search")),
            chunk({}, "tool_calls", USAGE),
            DONE,
        ]
    )
    deltas, reply, _ = await play(name, answer)
    assert [(each.id, each.arguments) for each in reply.calls] == [
        ("aaaaaaaaa", {"query": "a"}),
        ("bbbbbbbbb", {"query": "b"}),
    ]
    assert [delta for delta in deltas if isinstance(delta, CallDone)] == [
        CallDone(index, each) for index, each in enumerate(reply.calls)
    ]
    assert reply.stop == "calls"


@pytest.mark.parametrize("name", NAMES)
async def test_arguments_in_pieces(name: str) -> None:
    # Mistral says the id and the name with every piece.
    again = {"id": "aaaaaaaaa", "name": "search"} if name.startswith("mistral") else {}
    answer = Answer(
        [
            chunk(call(0, '{"query"', id="aaaaaaaaa", name="search")),
            chunk(call(0, ': "a"}', **again)),
            chunk({}, "tool_calls", USAGE),
            DONE,
        ]
    )
    reply = (await play(name, answer))[1]
    assert reply.calls == (ToolCall(id="aaaaaaaaa", name="search", arguments={"query": "a"}),)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("answer", "transient"),
    [
        (fault(429, f"slow down {KEY}", **{"retry-after": "7"}), True),
        (fault(500, "oh"), True),
        (fault(401, f"no {KEY}"), False),
        (fault(400, "what?"), False),
        (Answer([chunk({"content": "Sev"})], cut=True), True),
        (Answer([chunk({"content": "Sev"})]), True),
        (Answer(["data: {not json\n\n"]), True),
        (Answer(['data: {"choices": 7}\n\n']), True),
    ],
)
async def test_failures(name: str, answer: Answer, transient: bool) -> None:
    with pytest.raises(ModelError) as raised:
        await play(name, answer)
    assert raised.value.transient is transient
    assert raised.value.retry_after == (7.0 if answer.status == 429 else None)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("name", NAMES)
async def test_a_request_too_long_is_told_apart(name: str) -> None:
    words = "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"
    with pytest.raises(ContextTooLong):
        await play(name, wire.fault(400, words, "context_length_exceeded"))
