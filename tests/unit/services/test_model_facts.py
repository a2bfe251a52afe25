"""What a server on this machine says of its model is frozen in the brief, and outlives the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from chat_server import served
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from assay import Assay
from assay.app.composition import open_context
from assay.core.brief import ROLES, Brief
from assay.core.messages import REASONING_ROOM, Message, ModelFacts
from assay.core.messages import Request as Asked
from assay.services import worlds
from assay.settings import Settings

NAME = "mine:m"
ROLE = dict.fromkeys(ROLES, (NAME,))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer to answer than a run waits for it."""
    monkeypatch.setattr("assay.models.openai.chat_services.WAIT_SECONDS", 60.0)


class Server:
    """A local server: what it says of its window, and the requests it was sent."""

    def __init__(self) -> None:
        self.window, self.url = 32_768, ""
        self.sent: list[dict[str, Any]] = []

    async def models(self, request: Request) -> JSONResponse:
        return JSONResponse({"data": [{"id": "m", "max_model_len": self.window}]})

    async def show(self, request: Request) -> JSONResponse:
        return JSONResponse({"capabilities": ["completion", "tools", "thinking"]})

    async def chat(self, request: Request) -> JSONResponse:
        self.sent.append(await request.json())
        return JSONResponse({"choices": [{"message": {"content": "Hm."}, "finish_reason": "stop"}]})


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    routes = [
        Route("/v1/models", server.models),
        Route("/api/show", server.show, methods=["POST"]),
        Route("/v1/chat/completions", server.chat, methods=["POST"]),
    ]
    with served(Starlette(routes=routes)) as port:
        server.url = f"http://127.0.0.1:{port}/v1"
        yield server


def settings(server: Server, **more: Any) -> Settings:
    return Settings(search={"offline": True}, services={"mine": {"url": server.url}}, **more)


async def created(server: Server, home: Path, **more: Any) -> Brief:
    """The stored brief of a run which is created and not executed."""
    (home / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
    async with Assay(settings(server, **more), home=home / "home") as assay:
        run_id = await assay.create("How far does the tide rise?", sources=home / "tides.md", models=ROLE)
        found = (await assay.view(run_id)).brief
        assert found is not None
        return found


async def test_the_brief_freezes_what_a_server_says(tmp_path: Path) -> None:
    with serving() as server:
        brief = await created(server, tmp_path)
        assert brief.facts == {NAME: ModelFacts(window=32_768, native_reasoning=True)}
        server.window = 4_096  # started again with less
        context = open_context(settings(server), None)
        profile = worlds.unchecked_world(context, brief).models[NAME].profile
        assert (profile.window, profile.max_output, profile.native_reasoning) == (32_768, 16_000, True)
        unfrozen = (
            worlds.unchecked_world(context, msgspec.structs.replace(brief, facts=msgspec.UNSET)).models[NAME].profile
        )
        assert (unfrozen.window, unfrozen.native_reasoning) == (8_192, False)
        await context.close()


async def test_what_the_user_says_comes_first(tmp_path: Path) -> None:
    known = {NAME: {"window": 10_000, "reasoning": False}}
    with serving() as server:
        assert (await created(server, tmp_path, catalogue=known)).facts is msgspec.UNSET


async def test_a_model_which_is_said_to_think_has_room_for_it(tmp_path: Path) -> None:
    with serving() as server:
        brief = await created(server, tmp_path)
        context = open_context(settings(server), None)
        model = worlds.unchecked_world(context, brief).models[NAME]
        asked = Asked(task="plan", system="", messages=(Message(role="user", text="?"),), max_tokens=100, effort="low")
        assert [item async for item in model.stream(asked)]
        await context.close()
        assert server.sent[0]["max_tokens"] == 100 + REASONING_ROOM["low"]
        assert "reasoning_effort" not in server.sent[0]
