"""Replies in a form, of providers with an API of their own: asked for where it is taken, and left out where not."""

from __future__ import annotations

from collections.abc import Callable

import anthropic_wire
import google_wire
import pytest
from chat_server import Answer
from provider_server import check_anthropic, check_google, provider_server

from assay.core.errors import ModelError
from assay.core.messages import Message, Reply, Request, Schema, object_schema
from assay.core.ports import Access
from assay.core.ports.models import Secret
from assay.models.direct import create

ASKED = Request(
    task="plan",
    system="You plan.",
    messages=(Message(role="user", name="question", text="What is it?"),),
    tool_choice="none",
    schema=Schema(name="plan", schema=object_schema({"title": {"type": "string"}})),
    first_token=60.0,
)
REPLY = '{"title": "It"}'


async def asked(name: str, check: Callable[[dict], None], *answers: Answer, times: int = 1) -> list[dict]:
    """The requests for as many replies, each of which has to be `SAID`."""
    with provider_server(*answers, check=check) as server:
        model = create(name, Access(url=server.url, key=Secret("planted-0123456789")))
        try:
            for _ in range(times):
                reply = [item async for item in model.stream(ASKED)][-1]
                assert isinstance(reply, Reply)
                assert reply.text == REPLY
        finally:
            await model.close()
    return server.requests


async def test_gemini_is_held_to_a_form() -> None:
    (body,) = await asked("google:gemini-2.5-flash", check_google, google_wire.says(REPLY))
    config = body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert "title" in str(config.get("responseJsonSchema") or config.get("responseSchema"))


async def test_claude_is_held_to_a_form_where_it_can_be() -> None:
    (body,) = await asked("anthropic:claude-sonnet-4-6", check_anthropic, anthropic_wire.says(REPLY))
    assert "title" in str(body.get("output_config") or body.get("output_format"))
    (older,) = await asked("anthropic:claude-sonnet-4-0", check_anthropic, anthropic_wire.says(REPLY))
    assert "title" not in str(older)


async def test_a_form_which_is_refused_is_left_out_from_then_on() -> None:
    refused = google_wire.fault(400, "INVALID_ARGUMENT", "response_schema is not supported by this model")
    found = google_wire.says(REPLY)
    bodies = await asked("google:gemini-2.5-flash", check_google, refused, found, found, times=2)
    assert ["responseMimeType" in body["generationConfig"] for body in bodies] == [True, False, False]


async def test_a_refusal_of_another_thing_is_that_refusal() -> None:
    with pytest.raises(ModelError, match="no such model"):
        await asked("google:gemini-2.5-flash", check_google, google_wire.fault(404, "NOT_FOUND", "no such model"))
    with pytest.raises(ModelError) as raised:
        await asked("google:gemini-2.5-flash", check_google, google_wire.fault(500, "INTERNAL", "broken"))
    assert raised.value.transient
