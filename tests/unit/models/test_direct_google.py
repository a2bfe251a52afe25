"""Google's models against a server which speaks the format, faults included."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import google_wire as wire
import msgspec
import pytest
from chat_server import Answer
from provider_server import check_google, provider_server

from assay.core.errors import AssayError, ContextTooLong, ModelError
from assay.core.messages import (
    CallDone,
    Delta,
    Message,
    Reply,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolDefinition,
)
from assay.core.ports import Access
from assay.core.ports.models import Secret
from assay.models.direct import create

KEY = "AIza-planted-0123456789"
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
SEARCH = ToolDefinition(name="search", description="Searches.", parameters=SCHEMA)
OPEN = ToolDefinition(name="open", description="Opens.", parameters={"type": "object", "properties": {}})
ASKED = Request(
    task="research",
    system="You research.",
    messages=(
        Message(role="user", name="task", text="Find it."),
        Message(role="assistant", calls=(ToolCall(id="a", name="search", arguments={"query": "é"}),)),
        Message(role="tool", call_id="a", text="[S1.1] It."),
    ),
    tools=(SEARCH, OPEN),
    tool_choice="required",
    max_tokens=500,
    timeout=60.0,
    first_token=60.0,
)


async def play(
    answers: Sequence[Answer], asked: Request = ASKED, name: str = "gemini-2.5-flash"
) -> tuple[list[Delta], Reply, dict]:
    with provider_server(*answers, check=check_google) as server:
        adapter = create(f"google:{name}", Access(url=server.url, key=Secret(KEY)))
        try:
            items = [item async for item in adapter.stream(asked)]
        finally:
            await adapter.close()
        assert server.keys == [KEY]
    assert isinstance(items[-1], Reply)
    return items[:-1], items[-1], server.requests[0]


async def failed(answer: Answer, asked: Request = ASKED) -> AssayError:
    with pytest.raises((ModelError, ContextTooLong)) as raised:
        await play([answer], asked)
    assert KEY not in str(raised.value)
    return raised.value


async def test_a_plain_answer_and_what_is_sent_for_it() -> None:
    deltas, reply, body = await play([wire.says("Seven ", "metres.")])
    assert deltas == [TextDelta("Seven "), TextDelta("metres.")]
    assert (reply.text, reply.stop, reply.model) == ("Seven metres.", "end", "google:gemini-2.5-flash")
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens) == (120, 30)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (90, 12)
    user, assistant, results = body["contents"]
    assert user["parts"] == [{"text": "<task>\nFind it.\n</task>"}]
    assert assistant["parts"][0]["functionCall"]["args"] == {"query": "é"}
    assert results["parts"][0]["functionResponse"]["name"] == "search"
    assert "[S1.1] It." in str(results["parts"][0]["functionResponse"]["response"])
    assert "You research." in str(body["systemInstruction"])
    assert body["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"
    assert body["generationConfig"]["maxOutputTokens"] == 500


async def test_a_model_which_always_reasons_has_room_for_it() -> None:
    body = (await play([wire.says("Yes.")], name="gemini-2.5-pro"))[2]
    assert body["generationConfig"]["maxOutputTokens"] == 500 + 4_000
    assert body["generationConfig"]["thinkingConfig"]["thinking_budget"] >= 128


@pytest.mark.parametrize(
    ("choice", "mode", "allowed"),
    [("auto", "VALIDATED", None), ("none", "NONE", None), ("open", "ANY", ["open"])],
)
async def test_the_choice_of_tools(choice: str, mode: str, allowed: list[str] | None) -> None:
    body = (await play([wire.says("Yes.")], msgspec.structs.replace(ASKED, tool_choice=choice)))[2]
    config = body["toolConfig"]["functionCallingConfig"]
    assert config["mode"] == mode
    assert config.get("allowedFunctionNames") == allowed


async def test_thinking_text_and_several_calls_in_one_chunk() -> None:
    answer = wire.streamed(
        wire.chunk(wire.thought("Hmm.")),
        wire.chunk(wire.text("So."), wire.call("search", {"query": "a"}, "x")),
        wire.chunk(wire.call("search", {"query": "b"}), wire.call("open", {})),
        wire.chunk(finish="STOP", usageMetadata=wire.USAGE),
    )
    deltas, reply, _ = await play([answer])
    assert (reply.thinking, reply.text, reply.stop) == ("Hmm.", "So.", "calls")
    assert [(call.name, call.arguments, call.malformed) for call in reply.calls] == [
        ("search", {"query": "a"}, ""),
        ("search", {"query": "b"}, ""),
        ("open", {}, ""),
    ]
    assert len({call.id for call in reply.calls}) == 3
    assert [delta for delta in deltas if isinstance(delta, CallDone)] == [
        CallDone(index, call) for index, call in enumerate(reply.calls)
    ]
    assert deltas[0] == ThinkingDelta("Hmm.")


@pytest.mark.parametrize(
    ("finish", "stop"), [("MAX_TOKENS", "length"), ("SAFETY", "refused"), ("RECITATION", "refused")]
)
async def test_why_it_stopped(finish: str, stop: str) -> None:
    assert (await play([wire.says("Seven", finish=finish)]))[1].stop == stop


async def test_a_question_which_is_blocked() -> None:
    blocked = '{"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}'
    assert (await play([Answer([f"data: {blocked}\n\n"])]))[1].stop == "refused"


@pytest.mark.parametrize(
    ("answer", "transient", "retry_after"),
    [
        (wire.fault(429, "RESOURCE_EXHAUSTED", f"slow down {KEY}", **{"retry-after": "7"}), True, 7.0),
        (wire.fault(403, "PERMISSION_DENIED", f"API key not valid: {KEY}"), False, None),
        (wire.fault(404, "NOT_FOUND", "models/m is not found"), False, None),
        (wire.fault(400, "INVALID_ARGUMENT", "Unknown name"), False, None),
    ],
)
async def test_refusals_say_whether_to_try_again(answer: Answer, transient: bool, retry_after: float | None) -> None:
    error = await failed(answer)
    assert isinstance(error, ModelError)
    assert (error.transient, error.retry_after) == (transient, retry_after)
    assert str(answer.status) in error.reason


async def test_a_request_too_long_is_told_apart() -> None:
    words = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."
    assert isinstance(await failed(wire.fault(400, "INVALID_ARGUMENT", words)), ContextTooLong)


@pytest.mark.parametrize(
    "answer",
    [
        Answer([]),
        Answer(["data: {not json\n\n"]),
        Answer(["data: []\n\n"]),
        Answer(['data: {"candidates": 7}\n\n']),
        Answer(['data: {"candidates": [{"content": {"parts": [{"functionCall": {"name": 7}}]}}]}\n\n']),
        wire.streamed(wire.chunk(finish="MALFORMED_FUNCTION_CALL")),
    ],
)
async def test_a_broken_stream_is_worth_another_try(answer: Answer) -> None:
    error = await failed(answer)
    assert isinstance(error, ModelError)
    assert error.transient


BROKEN = '{"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}'


@pytest.mark.parametrize("piece", [f"data: {BROKEN}\n\n", 'data: {"candidates": 7}\n\n', "data: {not json\n\n", 5.0])
def test_a_stream_left_in_the_middle_leaves_nothing_to_close(piece: str | float) -> None:
    """What is left open, asyncio closes at its end, from without: that fails, on standard error and nowhere else."""
    received: list[dict] = []

    async def asked() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: received.append(context))
        with provider_server(wire.streamed(wire.chunk(wire.text("Sev")), piece), check=check_google) as server:
            adapter = create("google:gemini-2.5-flash", Access(url=server.url, key=Secret(KEY)))
            stream = adapter.stream(ASKED)
            assert await anext(stream) == TextDelta("Sev")
            if isinstance(piece, str):
                with pytest.raises(ModelError):
                    await anext(stream)
            await stream.aclose()
            await adapter.close()

    asyncio.run(asked())
    assert received == []
