"""A whole run whose model is behind HTTP: what comes over the wire makes the same run as the same replies at hand."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, aclosing
from functools import partial
from typing import NamedTuple

import anthropic_wire
import pytest
from chat_server import DONE, USAGE, Answer, ChatServer, Piece, call, chat_server, chunk, fault
from provider_server import ProviderServer, check_anthropic, provider_server
from research import Log, Sea, kinds, one_agent, whole

from assay.core import events as e
from assay.core.messages import Delta, Reply, Request
from assay.core.ports import Access, Model
from assay.core.ports.models import Secret
from assay.models import direct, openai
from assay.models.script import Scripted

KEY = "sk-planted-0123456789"
Server = ChatServer | ProviderServer


class Wire(NamedTuple):
    """A format: who speaks it, how a reply and a refusal look in it, and what it says a call counts."""

    model: str
    create: Callable[[str, Access], Model]
    serve: Callable[..., AbstractContextManager[Server]]
    streamed: Callable[[Reply], Answer]
    refusal: Answer
    status: str
    counted: tuple[int, int]


def pieces(text: str) -> list[str]:
    return [text[at : at + 9] for at in range(0, len(text), 9)]


def chat(reply: Reply) -> Answer:
    """A reply as chat completions stream it."""
    deltas = [chunk({"content": piece}) for piece in pieces(reply.text)]
    for index, each in enumerate(reply.calls):
        text = json.dumps(each.arguments)
        deltas += [chunk(call(index, text[:7], id=each.id, name=each.name)), chunk(call(index, text[7:]))]
    return Answer([*deltas, chunk({}, "tool_calls" if reply.calls else "stop"), chunk(usage=USAGE), DONE])


def messages(reply: Reply) -> Answer:
    """A reply as Anthropic's messages stream it."""
    blocks: list[Piece] = list(anthropic_wire.text(0, *pieces(reply.text))) if reply.text else []
    for index, each in enumerate(reply.calls, start=len(blocks) > 0):
        text = json.dumps(each.arguments)
        blocks += anthropic_wire.call(index, each.id, each.name, text[:7], text[7:])
    return anthropic_wire.streamed(blocks, anthropic_wire.stop("tool_use" if reply.calls else "end_turn"))


WIRES = [
    Wire(
        "openai:m",
        openai.create,
        chat_server,
        chat,
        fault(429, f"slow down, {KEY}", **{"retry-after": "0"}),
        "429",
        (120, 100),
    ),
    Wire(
        "anthropic:claude-sonnet-4-6",
        direct.create,
        partial(provider_server, check=check_anthropic),
        messages,
        anthropic_wire.fault(529, "overloaded_error", f"Overloaded, {KEY}", **{"retry-after": "0"}),
        "529",
        (120, 90),
    ),
]


class Relay:
    """A scripted model whose replies travel over HTTP; every third request is refused once before."""

    def __init__(self, script: Scripted, wire: Wire, server: Server) -> None:
        self._script, self._wire, self._server = script, wire, server
        self._adapter = wire.create(wire.model, Access(url=server.url, key=Secret(KEY)))
        self.profile = self._adapter.profile
        self._ready: Answer | None = None
        self._count = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if self._ready is None:
            reply = [item async for item in self._script.stream(request)][-1]
            assert isinstance(reply, Reply)
            self._ready = self._wire.streamed(reply)
            self._count += 1
            if self._count % 3 == 0:
                self._server.answers[:] = [self._wire.refusal]
                async for item in self._adapter.stream(request):
                    yield item
        self._server.answers[:], self._ready = [self._ready], None
        async with aclosing(self._adapter.stream(request)) as items:
            async for item in items:
                yield item

    async def close(self) -> None:
        await self._adapter.close()


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.model)
async def test_a_run_over_the_wire_is_the_same_run(wire: Wire) -> None:
    if wire.create is direct.create:
        pytest.importorskip("pydantic_ai.models.anthropic", reason="the extra `anthropic` is not installed")
    near = await Sea().run(one_agent())
    script = Scripted(one_agent())
    with wire.serve(Answer()) as server:
        relay = Relay(script, wire, server)
        handle = Sea().start(relay)  # type: ignore[arg-type]
        far = Log([envelope async for envelope in handle], script)
        await handle.wait()
        await relay.close()
    assert not script.unused
    assert kinds(far) == kinds(near)
    assert far.text == near.text
    assert whole(far)
    refused = [attempt for attempt in far.of(e.ModelAttempted) if attempt.outcome != "ok"]
    assert len(refused) >= 2
    assert all(wire.status in attempt.outcome for attempt in refused)
    asked = sum(attempt.outcome == "ok" for attempt in far.of(e.ModelAttempted))
    spent = [event.usage for event in far.of(e.UsageUpdated) if event.usage.model_calls]
    inputs, cached = wire.counted
    assert sum(usage.input_tokens for usage in spent) == inputs * asked
    assert sum(usage.cached_tokens for usage in spent) == cached * asked
    assert KEY not in repr(far.envelopes)
