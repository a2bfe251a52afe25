"""The OpenAI-compatible adapter against a server which speaks the format, faults included."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
import openai
import pytest
from chat_server import DONE, USAGE, Answer, call, chat_server, chunk, fault, says

from assay.core.errors import AssayError, ContextTooLong, ModelError
from assay.core.messages import (
    CallDelta,
    CallDone,
    Delta,
    Message,
    Profile,
    Reply,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolDefinition,
)
from assay.core.ports.models import Secret
from assay.models.openai import MAX_EVENT_BYTES, SERVICES, ChatCompletions

KEY = "sk-planted-0123456789"
SEARCH = ToolDefinition(name="search", description="Searches.", parameters={"type": "object", "properties": {}})
ASKED = Request(
    task="research",
    system="You research.",
    messages=(
        Message(role="user", name="task", text="Find it."),
        Message(role="assistant", calls=(ToolCall(id="a", name="search", arguments={"query": "é"}),)),
        Message(role="tool", call_id="a", text="[S1.1] It."),
    ),
    tools=(SEARCH,),
    tool_choice="required",
    max_tokens=500,
    timeout=60.0,
    first_token=60.0,
)


def model(url: str, service: str = "openai", **profile: object) -> ChatCompletions:
    at = msgspec.structs.replace(SERVICES[service], url=url)
    return ChatCompletions("m", at, Profile(name=f"{service}:m", **profile), Secret(KEY))  # type: ignore[arg-type]


async def play(answers: Sequence[Answer], asked: Request = ASKED, **profile: object) -> tuple[list[Delta], Reply]:
    with chat_server(*answers) as server:
        adapter = model(server.url, **profile)
        try:
            items = [item async for item in adapter.stream(asked)]
        finally:
            await adapter.close()
    assert isinstance(items[-1], Reply)
    assert not any(isinstance(item, Reply) for item in items[:-1])
    return items[:-1], items[-1]


async def failed(*answers: Answer) -> AssayError:
    with pytest.raises((ModelError, ContextTooLong)) as raised:
        await play(answers)
    assert KEY not in str(raised.value)
    return raised.value


async def test_a_plain_answer() -> None:
    deltas, reply = await play([says("Seven ", "metres", ".")])
    assert deltas == [TextDelta("Seven "), TextDelta("metres"), TextDelta(".")]
    assert (reply.text, reply.stop, reply.calls, reply.model) == ("Seven metres.", "end", (), "openai:m")
    usage = reply.usage
    assert (usage.model_calls, usage.input_tokens, usage.output_tokens) == (1, 120, 30)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (100, 12)


async def test_what_is_sent() -> None:
    with chat_server(says("Yes.")) as server:
        for adapter, asked in (
            (model(server.url, native_reasoning=True), ASKED),
            (model(server.url, "ollama"), msgspec.structs.replace(ASKED, tool_choice="search")),
            (model(server.url), msgspec.structs.replace(ASKED, tools=())),
        ):
            assert [item async for item in adapter.stream(asked)]
            await adapter.close()
        first, second, third = server.requests
    assert first["messages"] == [
        {"role": "system", "content": "You research."},
        {"role": "user", "content": "<task>\nFind it.\n</task>"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"query":"é"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "[S1.1] It."},
    ]
    assert (first["tool_choice"], first["reasoning_effort"]) == ("required", "medium")
    assert first["max_completion_tokens"] == 500 + 10_000
    assert "max_tokens" not in first
    assert second["tool_choice"] == {"type": "function", "function": {"name": "search"}}
    assert second["max_tokens"] == 500
    assert "reasoning_effort" not in second
    assert "tools" not in third
    assert "tool_choice" not in third
    assert server.keys == [f"Bearer {KEY}"] * 3


@pytest.mark.parametrize(("service", "sent"), [("vllm", True), ("ollama", False)])
async def test_tools_nobody_may_call_are_told_where_a_choice_is_heeded(service: str, sent: bool) -> None:
    with chat_server(says("Yes.")) as server:
        adapter = model(server.url, service)
        assert [item async for item in adapter.stream(msgspec.structs.replace(ASKED, tool_choice="none"))]
        await adapter.close()
    assert ("tools" in server.requests[0]) is sent
    assert server.requests[0].get("tool_choice") == ("none" if sent else None)


async def test_calls_are_given_as_soon_as_they_are_whole() -> None:
    answer = Answer(
        [
            chunk(call(0, "", id="x", name="search")),
            chunk(call(0, '{"query": "a')),
            chunk(call(0, 'b"}')),
            chunk({"content": "."}),
            chunk(call(1, '{"query":{}}', id="y", name="search")),
            chunk({}, "tool_calls"),
            chunk(usage=USAGE),
            DONE,
        ]
    )
    deltas, reply = await play([answer])
    first = ToolCall(id="x", name="search", arguments={"query": "ab"})
    second = ToolCall(id="y", name="search", arguments={"query": {}})
    assert deltas == [
        CallDelta(0, name="search", id="x"),
        CallDelta(0, '{"query": "a'),
        CallDelta(0, 'b"}'),
        CallDone(0, first),
        TextDelta("."),
        CallDelta(1, '{"query":{}}', name="search", id="y"),
        CallDone(1, second),
    ]
    assert (reply.calls, reply.stop) == ((first, second), "calls")


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([call(0, "", id="x", name="think")], [("x", {}, "")]),
        ([call(0, '{"a": ', name="think")], [("call-0", {}, '{"a": ')]),
        ([call(0, '"{}"', id="x", name="think")], [("x", {}, '"{}"')]),
        ([call(0, "[1]", id="x", name="think")], [("x", {}, "[1]")]),
        (
            [call(0, '{"a":1}', id="x", name="think"), call(0, '{"b":2}', id="y", name="think")],
            [("x", {"a": 1}, ""), ("y", {"b": 2}, "")],
        ),
        (
            [
                {"tool_calls": [{"function": {"name": "think", "arguments": '{"a"'}}]},
                {"tool_calls": [{"function": {"arguments": ":1}"}}]},
                {"tool_calls": [{"function": {"name": "think", "arguments": "{}"}}]},
            ],
            [("call-0", {"a": 1}, ""), ("call-1", {}, "")],
        ),
        (
            [call(0, '{"a"', id="x", name="think"), call(0, ":", id="y"), call(0, "1}", id="z")],
            [("x", {"a": 1}, "")],
        ),
        (
            [call(0, '{"a":1}', name="think"), call(0, '{"b":2}', name="think")],
            [("call-0", {"a": 1}, ""), ("call-1", {"b": 2}, "")],
        ),
        (
            [call(0, '{"a"', id="x", name="think"), call(0, ":1}", id="x", name="think"), call(0, "\n", name="think")],
            [("x", {"a": 1}, "")],
        ),
    ],
    ids=[
        "no arguments",
        "cut, no id",
        "encoded twice",
        "no object",
        "one index for all",
        "no index",
        "another id in each part",
        "one index for all, no ids",
        "its name in each part",
    ],
)
async def test_calls_as_services_really_send_them(parts: list[dict], expected: list[tuple]) -> None:
    deltas, reply = await play([Answer([*map(chunk, parts), chunk({}, "stop"), DONE])])
    assert [(each.id, each.arguments, each.malformed) for each in reply.calls] == expected
    assert [delta.call for delta in deltas if isinstance(delta, CallDone)] == list(reply.calls)
    assert reply.stop == "calls"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_native_reasoning(field: str) -> None:
    answer = Answer([chunk({field: "Hm"}), chunk({field: "m."}), chunk({"content": "So."}), chunk({}, "stop"), DONE])
    deltas, reply = await play([answer])
    assert deltas == [ThinkingDelta("Hm"), ThinkingDelta("m."), TextDelta("So.")]
    assert (reply.thinking, reply.text) == ("Hmm.", "So.")
    assert reply.usage.input_tokens > 0  # estimated: the service did not count
    assert reply.usage.output_tokens > 0


async def test_a_reply_cut_at_its_limit_and_one_refused() -> None:
    assert (await play([says("Seven", finish="length")]))[1].stop == "length"
    assert (await play([says("", finish="content_filter")]))[1].stop == "refused"
    answer = Answer([chunk({"refusal": "I can"}), chunk({"refusal": "not."}), chunk({}, "stop"), DONE])
    reply = (await play([answer]))[1]
    assert (reply.text, reply.stop) == ("I cannot.", "refused")


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("model_context_window_exceeded", "length"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("sensitive", "refused"),
        ("SAFETY", "refused"),
        ("eos", "end"),
    ],
)
async def test_reasons_for_stopping_in_other_words(finish: str, stop: str) -> None:
    assert (await play([says("Seven", finish=finish)]))[1].stop == stop


@pytest.mark.parametrize("finish", ["error", "insufficient_system_resource", "network_error", "abort"])
async def test_a_reply_that_the_service_broke_off_is_none(finish: str) -> None:
    error = await failed(says("Seven", finish=finish))
    assert isinstance(error, ModelError)
    assert error.transient
    assert finish in error.reason


@pytest.mark.parametrize(
    ("status", "raw", "kind", "word"),
    [
        (429, "m is temporarily rate-limited upstream.", ModelError, "rate-limited upstream"),
        (400, '{"error": {"message": "maximum context length is 8192", "code": 400}}', ContextTooLong, "8192"),
        (400, {"error": {"message": "maximum context length is 8192"}}, ContextTooLong, "8192"),
        (400, "ERROR", ModelError, "Provider returned error: ERROR"),
        (502, None, ModelError, "Provider returned error"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_router_passes_on_what_the_service_behind_it_says(
    status: int, raw: object, kind: type[Exception], word: str, streamed: bool
) -> None:
    """The shape is that of OpenRouter's errors, which are recorded in pydantic-ai's tests."""
    error = {"message": "Provider returned error", "code": status, "metadata": {"raw": raw, "provider_name": "P"}}
    answer = Answer([chunk(error=error)]) if streamed else Answer([json.dumps({"error": error})], status)
    raised = await failed(answer)
    assert isinstance(raised, kind)
    assert word in str(raised)


@pytest.mark.parametrize(
    ("answer", "transient", "retry_after"),
    [
        (fault(429, "Rate limit", **{"retry-after": "7"}), True, 7.0),
        (fault(429, "Rate limit on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000"), True, None),
        (fault(429, "Rate limit", **{"retry-after-ms": "1500"}), True, 1.5),
        (fault(429, "Rate limit", **{"retry-after": "Fri, 01 Jan 2010 00:00:00 GMT"}), True, 0.0),
        (fault(429, "Rate limit", **{"retry-after": "soon"}), True, None),
        (fault(429, "You exceeded your current quota", "insufficient_quota"), False, None),
        (fault(500, "The server had an error"), True, None),
        (Answer(["<html>Bad gateway</html>"], 502), True, None),
        (fault(401, f"Incorrect API key provided: {KEY}"), False, None),
        (fault(404, "The model `m` does not exist", "model_not_found"), False, None),
        (fault(400, "Unsupported parameter"), False, None),
        (Answer(["{" * 500], 400), False, None),
    ],
)
async def test_refusals_say_whether_to_try_again(answer: Answer, transient: bool, retry_after: float | None) -> None:
    error = await failed(answer)
    assert isinstance(error, ModelError)
    assert (error.transient, error.retry_after) == (transient, retry_after)
    assert str(answer.status) in error.reason


@pytest.mark.parametrize(
    "answer",
    [
        fault(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
        fault(400, "the request exceeds the available context size, try increasing it"),
        fault(413, "prompt is too long: 210000 tokens > 200000 maximum"),
        fault(400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
        fault(400, "max_tokens must be at least 1, got 0."),
        fault(400, "max_tokens must be at least 1, got -72."),
        fault(400, "Prompt exceeds max length", "1261"),
        fault(400, "Range of input length should be [1, 30720]"),
        fault(422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"),
        fault(413, "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7062"),
        fault(429, "Request too large for m on tokens per min (TPM): Limit 30000, Requested 41021."),
        Answer([chunk(error={"message": "maximum context length is 4096", "code": 400})]),
    ],
)
async def test_a_request_too_long_is_told_apart(answer: Answer) -> None:
    assert isinstance(await failed(answer), ContextTooLong)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (Answer([chunk({"content": "Sev"})], cut=True), "cannot be reached"),
        (Answer([chunk({"role": "assistant"}), DONE]), "cut off"),
        (Answer([chunk({"content": "Sev"})]), "cut off"),
        (Answer(["data: {not json\n\n"]), "cannot be read"),
        (Answer([chunk({"content": "Sev"}), chunk(error={"message": "overloaded", "code": 529})]), "overloaded"),
        (Answer([chunk({"content": "Sev"}), chunk(error="worker died")]), "worker died"),
        (Answer([chunk(error={"message": f"bad key {KEY}", "code": 500})]), "bad key ***"),
        (Answer([chunk(error={"message": "no call", "code": "tool_use_failed", "status_code": 400})]), "no call"),
    ],
)
async def test_a_broken_stream_is_worth_another_try(answer: Answer, word: str) -> None:
    error = await failed(answer)
    assert isinstance(error, ModelError)
    assert error.transient
    assert word in error.reason


async def test_the_server_is_true_to_the_format() -> None:
    """OpenAI's own client reads the same answers alike."""
    answer = Answer([chunk({"content": "Sev"}), chunk({"content": "en"}), chunk({}, "stop"), chunk(usage=USAGE), DONE])
    with chat_server(answer) as server:
        client = openai.AsyncOpenAI(api_key=KEY, base_url=server.url, max_retries=0)
        async with client:
            stream = await client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": "?"}],
                stream=True,
                stream_options={"include_usage": True},
            )
            parts = [part async for part in stream]
    assert "".join(part.choices[0].delta.content or "" for part in parts if part.choices) == "Seven"
    assert parts[-1].usage is not None
    assert parts[-1].usage.completion_tokens == 30
    _, reply = await play([answer])
    assert reply.text == "Seven"


def test_a_key_is_shown_nowhere() -> None:
    secret = Secret(KEY)
    shown = f"{secret} {secret!r} {[secret]} {json.dumps(str(secret))} {vars(model('http://x'))}"
    assert KEY not in shown


@pytest.mark.parametrize("before", range(270, 302, 3))
async def test_no_part_of_a_key_is_shown_where_a_services_words_are_cut(before: int) -> None:
    words = f"{'-' * before}{KEY} is not a key"
    for answer in (fault(401, words), Answer([chunk(error={"message": words, "code": 500})])):
        said = str(await failed(answer))
        assert "***" in said or before > 296  # fewer than four letters tell nothing
        assert KEY[:4] not in said


@pytest.mark.parametrize(
    "counted",
    [
        {"prompt_tokens": "120", "completion_tokens": "20"},
        {"prompt_tokens": 1e30, "completion_tokens": 10**20},
        {"prompt_tokens": -120, "completion_tokens": -20, "completion_tokens_details": {"reasoning_tokens": -5}},
        {"prompt_tokens": None, "completion_tokens": None, "prompt_tokens_details": []},
        "many",
    ],
)
async def test_counts_in_an_unknown_form_are_estimated_and_cost_no_reply(counted: object) -> None:
    told = chunk({}, "stop", usage=counted)  # type: ignore[arg-type]
    _, reply = await play([Answer([chunk({"content": "Seven metres."}), told, DONE])])
    assert (reply.text, reply.stop) == ("Seven metres.", "end")
    assert 0 < reply.usage.output_tokens < 20
    assert 0 < reply.usage.input_tokens < 500
    assert reply.usage.reasoning_tokens == 0


async def test_an_event_too_large_is_a_failure_of_this_call_alone() -> None:
    error = await failed(Answer([chunk({"content": "x" * MAX_EVENT_BYTES}), chunk({}, "stop"), DONE]))
    assert isinstance(error, ModelError)
    assert (error.transient, error.usable) == (True, True)
    assert str(error) == "an event of its stream has more than 4,000,000 bytes, the most that is read of one"
