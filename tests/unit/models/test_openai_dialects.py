"""Mistral and Groq, whose formats differ a little from chat completions, against a server which speaks them."""

from __future__ import annotations

import json

import msgspec
import pytest
from chat_server import DONE, USAGE, Answer, call, chunk, fault
from hypothesis import given
from hypothesis import strategies as st
from provider_server import check_groq, check_mistral, provider_server
from sampling import crossed

from assay.core.errors import ModelError
from assay.core.messages import (
    Delta,
    Message,
    ModelFacts,
    Reply,
    Request,
    TextDelta,
    ToolCall,
    ToolDefinition,
)
from assay.core.ports import Access
from assay.core.ports.models import Secret
from assay.models.openai import SERVICES, create
from assay.models.openai.wire import messages

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
    timeout=60.0,
    first_token=60.0,
)
UNKNOWN = ModelFacts()
NAMES = ["mistral:mistral-large-latest", "groq:llama-3.3-70b-versatile"]
PLAIN = Answer(
    [
        chunk({"role": "assistant", "content": "Sev"}),
        chunk({"content": "en"}),
        chunk({}, "stop", x_groq={"id": "r", "usage": USAGE}),
        DONE,
    ]
)


async def play(
    name: str, *answers: Answer, asked: Request = ASKED, facts: ModelFacts = UNKNOWN
) -> tuple[list[Delta], Reply, dict]:
    check = check_mistral if name.startswith("mistral") else check_groq
    base = "/v1" if name.startswith("mistral") else "/openai/v1"
    with provider_server(*answers, check=check) as server:
        adapter = create(name, Access(url=server.url + base, key=Secret(KEY), facts=facts))
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
    assert body["messages"][0]["content"] == "You research."
    assert body["messages"][1]["content"] == "<task>\nFind it.\n</task>"
    made, answered = body["messages"][2]["tool_calls"][0], body["messages"][3]
    assert json.loads(made["function"]["arguments"]) == {"query": "é"}
    assert made["id"] == answered["tool_call_id"]
    assert body["tool_choice"] == ("any" if name.startswith("mistral") else "required")
    assert ("stream_options" in body) is (name.startswith("groq"))


async def test_mistral_is_given_ids_of_its_own_form() -> None:
    body = (await play(NAMES[0], PLAIN))[2]
    assert len(body["messages"][3]["tool_call_id"]) == 9


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


FAILURES: list[tuple[Answer, bool]] = [
    (fault(401, f"no {KEY}"), False),
    (fault(400, "what?"), False),
    (Answer([chunk({"content": "Sev"}), chunk({}, "error"), DONE]), True),
    (Answer([chunk(x_groq={"error": "oh"})]), True),
    (fault(400, "Failed to call a function.", "tool_use_failed"), True),
    (Answer(["data: {not json\n\n"]), True),
    (Answer(['data: {"choices": 7}\n\n']), True),
]


@pytest.mark.parametrize(("failure", "name"), crossed(FAILURES, NAMES))
async def test_failures(name: str, failure: tuple[Answer, bool]) -> None:
    answer, transient = failure
    with pytest.raises(ModelError) as raised:
        await play(name, answer)
    assert raised.value.transient is transient
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "native", "expected"),
    [
        ("mistral:mistral-large-latest", False, {}),
        ("mistral:mistral-medium-latest", True, {"reasoning_effort": "high"}),
        ("mistral:magistral-medium-2509", None, {}),
        ("groq:llama-3.3-70b-versatile", None, {}),
        ("groq:openai/gpt-oss-20b", None, {"reasoning_effort": "low", "reasoning_format": "parsed"}),
        ("groq:qwen/qwen3-32b", None, {"reasoning_effort": "none"}),
        ("groq:qwen/qwen3-32b", True, {"reasoning_format": "parsed"}),
    ],
)
async def test_how_much_to_reason_is_said_as_the_model_takes_it(name: str, native: bool | None, expected: dict) -> None:
    asked = msgspec.structs.replace(ASKED, effort="low")
    body = (await play(name, PLAIN, asked=asked, facts=ModelFacts(native_reasoning=native)))[2]
    assert {field: body[field] for field in ("reasoning_effort", "reasoning_format") if field in body} == expected


async def test_nobody_may_call_where_a_choice_is_not_heeded() -> None:
    for name, sent in zip(NAMES, (False, True), strict=True):
        body = (await play(name, PLAIN, asked=msgspec.structs.replace(ASKED, tool_choice="none")))[2]
        assert ("tools" in body) is sent


async def test_a_users_word_after_a_tools_is_bridged_for_mistral_alone() -> None:
    asked = msgspec.structs.replace(ASKED, messages=(*ASKED.messages, Message(role="user", text="Go on.")))
    for name, roles in zip(NAMES, (["tool", "assistant", "user"], ["assistant", "tool", "user"]), strict=True):
        body = (await play(name, PLAIN, asked=asked))[2]
        assert [message["role"] for message in body["messages"]][-3:] == roles


async def test_thinking_in_blocks_is_told_from_the_answer() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    blocks = [thinking, {"type": "text", "text": "Seven"}, {"type": "reference", "reference_ids": [1]}]
    answer = Answer([chunk({"content": blocks}), chunk({"content": "."}), chunk({}, "stop", USAGE), DONE])
    _, reply, _ = await play("mistral:magistral-medium-2509", answer)
    assert (reply.thinking, reply.text) == ("Hm.", "Seven.")


CALLS = st.lists(st.builds(ToolCall, id=st.text(max_size=12), name=st.just("search")), max_size=3)
MESSAGES = st.one_of(
    st.builds(Message, role=st.just("user"), text=st.text()),
    st.builds(Message, role=st.just("assistant"), text=st.text(), calls=CALLS.map(tuple)),
    st.builds(Message, role=st.just("tool"), call_id=st.text(max_size=12), text=st.text()),
)


@given(st.lists(MESSAGES, max_size=8), st.sampled_from(["mistral", "groq", "openai"]))
def test_every_result_answers_a_call_said_before_it(history: list[Message], name: str) -> None:
    asked = msgspec.structs.replace(ASKED, messages=(*history, Message(role="user", text="?")))
    made = messages(asked, SERVICES[name])
    called: set[str] = set()
    for message in made:
        if message["role"] == "tool":
            assert message["tool_call_id"] in called
        ids = [call["id"] for call in message.get("tool_calls", ())]
        assert len({*ids}) == len(ids)
        assert called.isdisjoint(ids)
        called.update(ids)
    if name == "mistral":
        check_mistral({"messages": made, "model": "m"})
    found = [message["content"] for message in made if message["role"] in ("user", "tool")]
    assert len(found) == sum(message.role != "assistant" for message in asked.messages)
