"""What a request does without after a refusal, in the words of real servers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.messages import Message, Profile, Request, Schema, ToolCall, ToolDefinition, object_schema
from assay.models.failures import ServiceFault, read_fault
from assay.models.openai.chat_services import ChatService
from assay.models.openai.concessions import MAX_CONCESSIONS, NO_CONCESSIONS, Concessions, next_concessions
from assay.models.openai.wire import request_fields

SEARCH = ToolDefinition(name="search", description="Searches.", parameters={"type": "object", "properties": {}})
ASKED = Request(
    task="research",
    system="You research.",
    messages=(
        Message(role="user", text="Find it."),
        Message(role="assistant", calls=(ToolCall(id="c", name="search", arguments={"query": "it"}),)),
        Message(role="tool", call_id="c", text="Here."),
    ),
    tools=(SEARCH,),
    tool_choice="search",
    max_tokens=20_000,
)
SERVICE = ChatService(name="mine", url="http://127.0.0.1:9/v1", takes_cache_key=True)
PROFILE = Profile(name="mine:m", native_reasoning=True, max_output=30_000)


def sent(asked: Request = ASKED, without: Concessions = NO_CONCESSIONS) -> dict[str, Any]:
    return request_fields(asked, "m", PROFILE, SERVICE, without)


def without(**fields: Any) -> Concessions:
    return Concessions(
        **{**{name: getattr(NO_CONCESSIONS, name) for name in NO_CONCESSIONS.__struct_fields__}, **fields}
    )


def refusal(message: str, param: str | None = None) -> ServiceFault:
    return read_fault(json.dumps({"error": {"message": message, "param": param, "code": None}}).encode())


PLAIN = Request(
    task="plan",
    system="You plan.",
    messages=(Message(role="user", text="?"),),
    schema=Schema(name="plan", schema=object_schema({"title": {"type": "string"}})),
)


@pytest.mark.parametrize(
    ("status", "message", "param", "after"),
    [
        (400, "'messages[0].role' does not support 'developer'.", "messages[0].role", {"system": False}),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it", None, {"system": False}),
        (400, "Conversation roles must alternate user/assistant/user/assistant/...", None, {"system": False}),
        (400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens",
         {"cap": "max_completion_tokens"}),
        (400, "max_tokens must be less than or equal to `8192`, which is less than the `context_window`", None,
         {"most": 8192}),
        (400, "max_tokens: 30000 > 8192, which is the maximum allowed number of output tokens: at most 8192", None,
         {"most": 8192}),
        (400, "Invalid tool_choice, named tools are not supported", "tool_choice", {"choice": "required"}),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', None,
         {"tools": False}),
        (500, "tools param requires --jinja flag", None, {"tools": False}),
        (500, "Cannot use tools with stream", None, {"dropped": frozenset({"stream"})}),
        (400, "Failed to parse grammar", None, {"tools": False}),
        (404, "No endpoints found that support tool use.", None, {"tools": False}),
        (400, "registry.ollama.ai/library/gemma:2b does not support tools", None, {"tools": False}),
        (422, "body.stream_options: Extra inputs are not permitted", None, {"dropped": frozenset({"stream_options"})}),
        (400, "Unknown name \"stream_options\": Cannot find field.", None, {"dropped": frozenset({"stream_options"})}),
        (400, "reasoning_effort is not supported with this model", None, {"dropped": frozenset({"reasoning_effort"})}),
        (400, "`reasoning_effort` must be one of `none` or `default`", None,
         {"dropped": frozenset({"reasoning_effort"})}),
    ],
)  # fmt: skip
def test_a_refusal_names_what_to_leave_out(status: int, message: str, param: str | None, after: dict[str, Any]) -> None:
    assert next_concessions(NO_CONCESSIONS, sent(), status, refusal(message, param)) == without(**after)


@pytest.mark.parametrize(
    "words",
    [
        "This model does not support response format `json_schema`.",
        "Failed to parse grammar",
        "JSON schema conversion failed:\nUnrecognized schema: true",
    ],
)
def test_a_form_which_is_not_taken_is_left_out(words: str) -> None:
    fault = refusal(words)
    after = next_concessions(NO_CONCESSIONS, sent(PLAIN), 400, fault)
    assert after == without(dropped=frozenset({"response_format"}))
    assert "response_format" in sent(PLAIN)
    assert "response_format" not in sent(PLAIN, after)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "Invalid key; tool_choice is not supported"),
        (429, "max_tokens: slow down"),
        (400, "This model's maximum context length is 8192 tokens, however you requested max_tokens=20000"),
        (400, "The user is not supported in your country"),
        (400, "Something is wrong"),
        (404, "The model `m` does not exist"),
    ],
)
def test_other_refusals_concede_nothing(status: int, message: str) -> None:
    assert next_concessions(NO_CONCESSIONS, sent(), status, refusal(message)) is None


def test_a_wrong_call_is_no_refusal_of_the_request() -> None:
    error = {"message": "Tool choice is required, but model did not call a tool", "code": "tool_use_failed"}
    fault = read_fault(json.dumps({"error": error | {"type": "invalid_request_error"}}).encode())
    assert next_concessions(NO_CONCESSIONS, sent(), 400, fault) is None
    plain = read_fault(json.dumps({"error": {"message": "max_tokens", "type": "invalid_request_error"}}).encode())
    assert next_concessions(NO_CONCESSIONS, sent(), 400, plain) is None


def test_a_demand_is_weakened_step_by_step_and_said_in_words() -> None:
    at, ways = NO_CONCESSIONS, []
    for _ in range(3):
        body = sent(without=at)
        ways.append((body.get("tool_choice"), body["messages"][-1]["role"]))
        after = next_concessions(at, body, 400, refusal("tool_choice is not supported", "tool_choice"))
        assert after is not None
        at = after
    named = {"type": "function", "function": {"name": "search"}}
    assert ways == [(named, "tool"), ("required", "user"), ("auto", "user")]
    last = sent(without=at)
    assert "tool_choice" not in last
    assert last["tools"]
    assert "search" in last["messages"][-1]["content"]


def test_without_tools_they_are_told_in_words() -> None:
    body = sent(without=without(tools=False, system=False))
    assert not {"tools", "tool_choice"} & body.keys()
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    first, call, result = (message["content"] for message in body["messages"])
    assert first.startswith("You research.")
    assert first.endswith("Find it.")
    assert '"name":"search"' in first
    assert json.loads(call) == {"name": "search", "arguments": {"query": "it"}}
    assert result.startswith("Here.")


@given(
    st.lists(st.text(max_size=60) | st.sampled_from(["tool_choice", "max_tokens", "unsupported stream"]), max_size=20)
)
def test_conceding_comes_to_an_end(messages: list[str]) -> None:
    at, times = NO_CONCESSIONS, 0
    for message in messages * 4:
        after = next_concessions(at, sent(without=at), 400, refusal(f"not supported: {message}", None))
        times += after is not None
        at = after or at
    assert times <= MAX_CONCESSIONS + 4
    assert {"model", "messages"} <= sent(without=at).keys()
