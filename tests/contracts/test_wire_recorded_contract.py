"""Every recorded reply of a real service, given again over HTTP: read to the whole reply, or to the right error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest
import recorded
from chat_server import served
from recorded import Row
from sampling import sampled
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from assay.core.errors import ModelError
from assay.core.messages import Message, Reply, Request, TextDelta, ThinkingDelta, ToolDefinition
from assay.core.ports import Access
from assay.core.ports.models import Secret
from assay.models import direct, openai

ROWS = recorded.rows()
pytestmark = pytest.mark.skipif(not ROWS, reason=f"the recorded replies are absent: {recorded.DATA}")

REPLIES = [row for row in ROWS if row.status == 200 and "input_tokens" not in row.text[:20]]
"""Three answers count the tokens of a request, which Assay never asks for."""
REFUSALS = [row for row in ROWS if row.status != 200]
BROKEN = "groq:test_groq/test_tool_use_failed_error_streaming_with_text#0"
"""The stream which ends with a fault: its model wrote prose where a call was demanded."""


class Service(NamedTuple):
    """How the service of a recording is reached."""

    name: str
    base: str


SERVICES = {
    "anthropic": Service("anthropic:claude-sonnet-4-5", ""),
    "google": Service("google:gemini-2.5-flash", ""),
    "cohere": Service("cohere:command-r7b-12-2024", ""),
    "groq": Service("groq:llama-3.3-70b-versatile", "/openai/v1"),
    "mistral": Service("mistral:mistral-large-latest", "/v1"),
    "openrouter": Service("openrouter:a/b", "/api/v1"),
    "openai": Service("openai:gpt-4o", "/v1"),
    "compatible": Service("mine:large", "/v1"),
}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a server which gives every recording at a path of its own."""

    async def handle(request: HttpRequest) -> Response:
        row = ROWS[int(request.path_params["place"])]
        answer = recorded.answer(row)
        if answer.status != 200 or (not row.stream and row.file not in ("anthropic", "google", "cohere")):
            body = "".join(str(piece) for piece in answer.pieces)
            return Response(body, answer.status, answer.headers, "application/json")
        return StreamingResponse(iter(answer.pieces), headers=answer.headers, media_type=recorded.SSE)

    routes = [Route("/{place}/{rest:path}", handle, methods=["GET", "POST"])]
    with served(Starlette(routes=routes)) as listening:
        yield listening


def asked(row: Row) -> Request:
    """A request with the tools which the recorded one had."""
    names = {name for _, _, calls in [recorded.expected(row)] for name, _ in calls} if row.status == 200 else set()
    tools = tuple(ToolDefinition(name=name, description="A tool.", parameters={"type": "object"}) for name in names)
    user = Message(role="user", name="task", text="What is it?")
    return Request(
        task="research", system="You are tested.", messages=(user,), tools=tools, timeout=60.0, first_token=60.0
    )


async def read(row: Row, port: int) -> tuple[Reply, str, str]:
    """The reply, and the text and the thinking as they streamed."""
    if row.file in direct.SERVICES:
        pytest.importorskip("pydantic_ai", reason="no extra of a provider is installed")
        pytest.importorskip(direct.SERVICES[row.file].module, reason=f"the extra `{row.file}` is not installed")
    at = SERVICES[row.file]
    create = direct.create if row.file in direct.SERVICES else openai.create
    url = f"http://127.0.0.1:{port}/{ROWS.index(row)}{at.base}"
    model = create(at.name, Access(url=url, key=Secret("planted-0123456789")))
    try:
        items = [item async for item in model.stream(asked(row))]
    finally:
        await model.close()
    reply = items.pop()
    assert isinstance(reply, Reply)
    text = "".join(item.text for item in items if isinstance(item, TextDelta))
    return reply, text, "".join(item.text for item in items if isinstance(item, ThinkingDelta))


@pytest.mark.parametrize("row", sampled((row for row in REPLIES if row.id != BROKEN), 3), ids=lambda row: row.id)
async def test_a_recorded_reply_is_read_whole(row: Row, port: int) -> None:
    text, thinking, calls = recorded.expected(row)
    reply, streamed, thought = await read(row, port)
    assert reply.text.strip() == text
    assert reply.thinking.strip() == thinking
    assert [(call.name, call.arguments) for call in reply.calls] == calls
    assert not any(call.malformed for call in reply.calls)
    assert (streamed.strip(), thought.strip()) == (text, thinking)
    assert reply.usage.input_tokens > 0
    cut = any(f'"{word}"' in row.text for word in ("length", "MAX_TOKENS", "max_tokens"))
    assert reply.stop == ("length" if cut else "calls" if calls else "end")


@pytest.mark.parametrize("row", REFUSALS, ids=lambda row: row.id)
async def test_a_recorded_refusal_is_told_in_the_services_words(row: Row, port: int) -> None:
    error = json.loads(row.text)["error"]
    if error.get("code") == "tool_use_failed":
        reply, _, _ = await read(row, port)  # what the service would not take is taken all the same
        assert [call.name for call in reply.calls] == ["get_something_by_name"]
        return
    with pytest.raises(ModelError) as raised:
        await read(row, port)
    assert str(row.status) in raised.value.reason
    if raised.value.reason.startswith("no model "):  # told in our words, which say where the names are
        assert (row.status, "does not exist" in error["message"]) == (404, True)
    else:
        assert error["message"][:60] in raised.value.reason
    assert raised.value.transient == (row.status == 429)


async def test_prose_where_a_call_was_demanded_is_the_reply(port: int) -> None:
    row = next(row for row in ROWS if row.id == BROKEN)
    reply, streamed, thought = await read(row, port)
    assert (reply.text, streamed, reply.calls) == ("maybe", "maybe", ())
    assert thought == reply.thinking != ""
