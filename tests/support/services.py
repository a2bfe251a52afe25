"""A scripted model behind a real HTTP server which has the habits of model services."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import msgspec
from chat_server import DONE, USAGE, Answer, ChatServer, call, chat_server, chunk, fault
from research import Log, Sea, two_agents
from stepwise import two_steps

from assay.core.messages import Delta, Reply, Request
from assay.core.ports import Access, Model
from assay.models import openai
from assay.models.script import Scene, Scripted

Say = Callable[[], Awaitable[Reply]]
"""Gives the scripted reply to what was asked; asked again for the same, the same one."""
Habit = Callable[[dict[str, Any], Say], Awaitable[Answer]]
"""What a service answers to the body of a request."""


def pieces(text: str, size: int = 9) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def streamed(reply: Reply, *, finish: bool = True, thinking: str = "reasoning_content") -> Answer:
    """A reply as chat completions stream it."""
    deltas = [chunk({thinking: piece}) for piece in pieces(reply.thinking)]
    deltas += [chunk({"content": piece}) for piece in pieces(reply.text)]
    for index, each in enumerate(reply.calls):
        text = json.dumps(each.arguments)
        deltas += [chunk(call(index, text[:7], id=each.id, name=each.name)), chunk(call(index, text[7:]))]
    end = [chunk({}, stop_word(reply))] if finish else []
    return Answer([*deltas, *end, chunk(usage=USAGE), DONE])


def stop_word(reply: Reply) -> str:
    """Why a reply stopped, as chat completions say it."""
    return "length" if reply.stop == "length" else "tool_calls" if reply.calls else "stop"


async def plain(body: dict[str, Any], say: Say) -> Answer:
    """A service without any habit."""
    return streamed(await say())


def refusing(when: Callable[[dict[str, Any]], bool], status: int, message: str, param: str | None = None) -> Habit:
    """A service which refuses requests with something it does not take."""

    async def habit(body: dict[str, Any], say: Say) -> Answer:
        if when(body):
            refused = fault(status, message)
            refused.pieces = [
                json.dumps({"error": {"message": message, "type": "invalid_request_error", "param": param}})
            ]
            return refused
        return streamed(await say())

    return habit


class Habitual:
    """A model whose scripted replies travel over HTTP, from a service with a habit."""

    def __init__(self, script: Scripted, server: ChatServer, habit: Habit, name: str = "mine:m") -> None:
        self.script, self.server = script, server
        self.adapter: Model = openai.create(name, Access(url=server.url))
        self.profile = msgspec.structs.replace(self.adapter.profile, name="scripted")
        self._replies: dict[bytes, Reply] = {}
        self._one = asyncio.Lock()

        async def decide(body: dict[str, Any]) -> Answer:
            return await habit(body, self._say)

        server.decide = decide

    @property
    def unused(self) -> list[object]:
        return list(self.script.unused)

    @property
    def requests(self) -> list[Request]:
        return self.script.requests

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Answer `request` over the wire, one at a time: so it is known what the server is asked."""
        async with self._one, aclosing(self.adapter.stream(request)) as items:
            self._request = request
            async for item in items:
                yield item

    async def _say(self) -> Reply:
        asked = msgspec.json.encode(msgspec.structs.replace(self._request, room=msgspec.UNSET))
        if asked not in self._replies:
            reply = [item async for item in self.script.stream(self._request)][-1]
            assert isinstance(reply, Reply)
            self._replies[asked] = reply
        return self._replies[asked]

    async def close(self) -> None:
        await self.adapter.close()


# Whole runs with such a service.

STRATEGIES: dict[str, tuple[Callable[[], list[Scene]], dict[str, Any]]] = {
    "orchestrated": (two_agents, {}),
    "reflective": (two_steps, {"strategy": "reflective"}),
}


async def played(
    habit: Habit, strategy: str = "orchestrated", name: str = "mine:m"
) -> tuple[Log, list[dict[str, Any]]]:
    """A whole run, and the bodies which the service was sent."""
    script, changes = STRATEGIES[strategy]
    with chat_server(Answer()) as server:
        model = Habitual(Scripted(script()), server, habit, name)
        handle = Sea().start(model, **changes)  # type: ignore[arg-type]
        log = Log([envelope async for envelope in handle], model)  # type: ignore[arg-type]
        await handle.wait()
        await model.close()
    assert not model.unused
    return log, server.requests


PLAIN: dict[str, Log] = {}


async def near(strategy: str) -> Log:
    """The run with a model which is no service, played once a strategy."""
    if strategy not in PLAIN:
        script, changes = STRATEGIES[strategy]
        PLAIN[strategy] = await Sea().run(script(), **changes)
    return PLAIN[strategy]
