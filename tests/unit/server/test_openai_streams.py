"""Answers which take long: something is said in every silence, and a server which stops breaks nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import logs
import pytest
from starlette.types import Message

from assay.core import events as e
from assay.core.errors import Cancelled, UnknownName
from assay.server.openai import chat, responses
from assay.server.openai.calls import WaitingResponse
from assay.server.openai.chat_stream import ChatProjection
from assay.server.openai.objects import ResponseObject
from assay.server.openai.response_stream import ResponseProjection
from assay.server.streams import HEARTBEAT_FRAME, Tickets

EVENTS = logs.one_agent().events
REQUIRED = """id object created_at completed_at status incomplete_details model previous_response_id instructions output
error tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs
temperature reasoning user usage max_output_tokens max_tool_calls store background service_tier metadata
safety_identifier prompt_cache_key""".split()
"""The keys which Open Responses requires of a response."""


async def groups(*parts: Sequence[e.Envelope], stops: Exception | None = None) -> AsyncIterator[Sequence[e.Envelope]]:
    for part in parts:
        yield part
    if stops is not None:
        raise stops


async def read(chunks: AsyncIterator[bytes]) -> list[bytes]:
    return [chunk async for chunk in chunks]


async def test_silence_is_filled_in_streams() -> None:
    parts = await read(responses.frames(groups(EVENTS[:3], (), (), EVENTS[3:]), ResponseProjection(), -1))
    assert parts.count(HEARTBEAT_FRAME) == 2
    assert parts[-1] == b"data: [DONE]\n\n"
    chunks = await read(chat.frames(groups(EVENTS[:3], (), EVENTS[3:]), ChatProjection("http://here"), usage=True))
    assert chunks.count(HEARTBEAT_FRAME) == 1
    assert chunks[-1] == b"data: [DONE]\n\n"


async def test_the_event_of_a_frame_is_its_type_and_it_has_no_id() -> None:
    for chunk in await read(responses.frames(groups(EVENTS), ResponseProjection(), -1)):
        for block in chunk.decode().strip().split("\n\n"):
            lines = block.split("\n")
            if lines == ["data: [DONE]"]:
                continue
            assert [line.partition(":")[0] for line in lines] == ["event", "data"]
            assert json.loads(lines[1].removeprefix("data: "))["type"] == lines[0].removeprefix("event: ")


@pytest.mark.parametrize("why", [Cancelled("stopping"), UnknownName("run", "x")])
async def test_a_stream_whose_server_stops_ends_without_its_last_part(why: Exception) -> None:
    parts = await read(responses.frames(groups(EVENTS[:9], stops=why), ResponseProjection(), -1))
    assert b"response.completed" not in b"".join(parts)
    assert b"[DONE]" not in b"".join(parts)
    chunks = await read(chat.frames(groups(EVENTS[:9], stops=why), ChatProjection("http://here"), usage=False))
    assert b'"error"' in chunks[-2]


async def sent(answer: WaitingResponse) -> tuple[Message, bytes]:
    """The head and the body."""
    head: Message = {}
    body = b""

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        nonlocal head, body
        head = head or message
        body += message.get("body", b"")

    scope: dict[str, Any] = {"type": "http", "asgi": {"spec_version": "2.4"}, "method": "POST", "headers": []}
    await answer(scope, receive, send)
    return head, body


async def test_silence_is_filled_before_an_answer_in_json() -> None:
    tickets, projection = Tickets(1, 1), ResponseProjection()
    answer = WaitingResponse(
        groups(EVENTS[:3], (), (), EVENTS[3:]), tickets.ticket("ann"), projection.add_event, lambda: projection.response
    )
    _, body = await sent(answer)
    assert body.startswith(b"\n\n{")
    whole = json.loads(body)
    assert whole["status"] == "completed"
    assert set(REQUIRED) <= set(whole)
    tickets.ticket("ann")  # given back


def failed_run() -> list[e.Envelope]:
    log = logs.Log()
    logs.begin(log)
    log.add("", e.RunFailed(stop_reason="failed", error="no model answered"))
    return log.events


@pytest.mark.parametrize("silences", [0, 1])
async def test_a_chat_whose_run_fails_is_an_error_and_no_answer(silences: int) -> None:
    log, projection = failed_run(), ChatProjection("http://here")
    parts = groups(log[:1], *[()] * silences, log[1:])
    answer = WaitingResponse(
        parts, Tickets(1, 1).ticket("ann"), projection.add_event, lambda: chat.completion_or_problem(projection)
    )
    head, body = await sent(answer)
    assert head["status"] == (200 if silences else 502)  # the head goes out with the first white space
    whole = json.loads(body)
    assert whole["error"]["message"] == "The run ended without a report: no model answered"
    assert "choices" not in whole
    assert silences or (b"x-should-retry", b"false") in head["headers"]


async def test_a_chat_whose_server_stops_is_told_to_come_again() -> None:
    projection = ChatProjection("http://here")
    answer = WaitingResponse(
        groups(EVENTS[:9], stops=Cancelled("stopping")),
        Tickets(1, 1).ticket("ann"),
        projection.add_event,
        lambda: chat.completion_or_problem(projection),
    )
    head, body = await sent(answer)
    assert head["status"] == 503
    assert b"retry-after" in dict(head["headers"])
    assert json.loads(body)["error"]["code"] == "stopping"


def test_a_response_has_every_key_which_is_required() -> None:
    assert set(REQUIRED) <= set(ResponseObject.__struct_fields__)
