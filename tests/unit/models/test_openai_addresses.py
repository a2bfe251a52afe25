"""What stands behind the address of an OpenAI-compatible service: lists of models, something else, or nobody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import msgspec
import pytest
from chat_server import served

from assay.core.errors import ModelError
from assay.core.messages import Message, Profile, Request
from assay.models.openai import SERVICES, ChatCompletions, ChatService

ASKED = Request(
    task="research",
    system="You research.",
    messages=(Message(role="user", name="task", text="Find it."),),
    timeout=60.0,
)


def model(url: str) -> ChatCompletions:
    at = msgspec.structs.replace(SERVICES["openai"], url=url)
    return ChatCompletions("m", at, Profile(name="openai:m"))


async def test_an_address_with_something_else_behind_it_is_told_from_an_outage() -> None:
    async def page(scope: dict, receive: object, send: Callable) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": b"<p>Welcome"})

    with served(page) as port, pytest.raises(ModelError, match="base of its API") as raised:
        await anext(model(f"http://127.0.0.1:{port}").stream(ASKED))
    assert not raised.value.transient


async def test_a_list_which_never_ends_does(monkeypatch: pytest.MonkeyPatch) -> None:
    async def drip(scope: dict, receive: object, send: Callable) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(100):
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await asyncio.sleep(0.05)

    monkeypatch.setattr("assay.models.catalogue.WAIT_SECONDS", 0.3)
    with served(drip) as port:
        adapter = model(f"http://127.0.0.1:{port}")
        with pytest.raises(ModelError, match="no list"):
            await adapter.offered()
        await adapter.close()


@pytest.mark.parametrize(
    ("sent", "names"),
    [
        ({"object": "list", "data": [{"id": "b"}, {"id": "a", "name": None}]}, ("openai:a", "openai:b")),
        ({"models": [{"name": "models/a"}]}, ("openai:a",)),
        ({"object": "list", "data": None}, ()),
        ([{"id": "a", "type": "chat"}], ("openai:a",)),
    ],
    ids=["OpenAI", "Google", "a new Ollama", "Together"],
)
async def test_lists_of_models_as_services_send_them(sent: object, names: tuple[str, ...]) -> None:
    async def answer(scope: dict, receive: object, send: Callable) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(sent).encode()})

    with served(answer) as port:
        assert await model(f"http://127.0.0.1:{port}").offered() == names


async def test_nobody_there() -> None:
    service = ChatService(name="ollama", url="http://127.0.0.1:9/v1", local=True)
    with pytest.raises(ModelError, match=r"connection refused\): start it \(ollama serve\)"):
        await anext(ChatCompletions("m", service, Profile(name="ollama:m")).stream(ASKED))
