"""A whole run whose model is Claude's API over HTTP: the same run as the same replies at hand make."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

import anthropic_wire as wire
from chat_server import Answer, Piece
from provider_server import ProviderServer, check_anthropic, provider_server
from research import Log, Sea, kinds, one_agent, whole

from assay.core import events as e
from assay.core.messages import Delta, Reply, Request
from assay.core.ports import Access
from assay.core.secrets import Secret
from assay.models.direct import create
from assay.models.scripted import Scripted

KEY = "sk-ant-planted-0123456789"


def streamed(reply: Reply) -> Answer:
    """A reply as Anthropic would stream it."""
    blocks: list[Piece] = []
    if reply.text:
        blocks += wire.text(0, *(reply.text[at : at + 9] for at in range(0, len(reply.text), 9)))
    for index, each in enumerate(reply.calls, start=len(blocks) > 0):
        text = json.dumps(each.arguments)
        blocks += wire.call(index, each.id, each.name, text[:7], text[7:])
    return wire.streamed(blocks, wire.stop("tool_use" if reply.calls else "end_turn"))


class Relay:
    """A scripted model whose replies travel over HTTP; every third request is refused once before."""

    def __init__(self, script: Scripted, server: ProviderServer) -> None:
        self._script, self._server = script, server
        self._adapter = create("anthropic:claude-sonnet-4-6", Access(url=server.url, key=Secret(KEY)))
        self.profile = self._adapter.profile
        self._ready: Answer | None = None
        self._count = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if self._ready is None:
            reply = [item async for item in self._script.stream(request)][-1]
            assert isinstance(reply, Reply)
            self._ready = streamed(reply)
            self._count += 1
            if self._count % 3 == 0:
                refusal = wire.fault(529, "overloaded_error", f"Overloaded, {KEY}", **{"retry-after": "0"})
                self._server.answers[:] = [refusal]
                async for item in self._adapter.stream(request):
                    yield item
        self._server.answers[:], self._ready = [self._ready], None
        async with aclosing(self._adapter.stream(request)) as items:
            async for item in items:
                yield item

    async def close(self) -> None:
        await self._adapter.close()


async def test_a_run_over_anthropics_wire_is_the_same_run() -> None:
    near = await Sea().run(one_agent())
    script = Scripted(one_agent())
    with provider_server(Answer(), check=check_anthropic) as server:
        relay = Relay(script, server)
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
    assert all("529" in attempt.outcome for attempt in refused)
    asked = sum(attempt.outcome == "ok" for attempt in far.of(e.ModelAttempted))
    spent = [event.usage for event in far.of(e.UsageUpdated) if event.usage.model_calls]
    assert (sum(usage.input_tokens for usage in spent), sum(usage.cached_tokens for usage in spent)) == (
        120 * asked,
        90 * asked,
    )
    assert KEY not in repr(far.envelopes)
