"""A whole run whose model is behind HTTP: what comes over the wire makes the same run as the same replies at hand."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from chat_server import DONE, USAGE, Answer, ChatServer, call, chat_server, chunk, fault
from research import Log, Sea, kinds, one_agent, whole

from assay.core import events as e
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.secrets import Secret
from assay.models.openai import SERVICES, ChatCompletions
from assay.models.scripted import Scripted

KEY = "sk-planted-0123456789"


def wire(reply: Reply) -> Answer:
    """A reply as a service would stream it."""
    deltas = [chunk({"content": reply.text[at : at + 9]}) for at in range(0, len(reply.text), 9)]
    for index, each in enumerate(reply.calls):
        text = json.dumps(each.arguments)
        deltas += [chunk(call(index, text[:7], id=each.id, name=each.name)), chunk(call(index, text[7:]))]
    return Answer([*deltas, chunk({}, "tool_calls" if reply.calls else "stop"), chunk(usage=USAGE), DONE])


class Relay:
    """A scripted model whose replies travel over HTTP; every third request is refused once before."""

    def __init__(self, script: Scripted, server: ChatServer) -> None:
        service = msgspec.structs.replace(SERVICES["openai"], url=server.url)
        self._script, self._server = script, server
        self.profile = Profile(name="openai:m")
        self._adapter = ChatCompletions("m", service, self.profile, Secret(KEY))
        self._ready: Answer | None = None
        self._count = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if self._ready is None:
            reply = [item async for item in self._script.stream(request)][-1]
            assert isinstance(reply, Reply)
            self._ready = wire(reply)
            self._count += 1
            if self._count % 3 == 0:
                self._server.answers[:] = [fault(429, f"slow down, {KEY}", **{"retry-after": "0"})]
                async for item in self._adapter.stream(request):
                    yield item
        self._server.answers[:], self._ready = [self._ready], None
        async with aclosing(self._adapter.stream(request)) as items:
            async for item in items:
                yield item

    async def close(self) -> None:
        await self._adapter.close()


async def test_a_run_over_the_wire_is_the_same_run() -> None:
    near = await Sea().run(one_agent())
    script = Scripted(one_agent())
    with chat_server(Answer()) as server:
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
    assert all("429" in attempt.outcome for attempt in refused)
    asked = sum(attempt.outcome == "ok" for attempt in far.of(e.ModelAttempted))
    spent = [event.usage for event in far.of(e.UsageUpdated) if event.usage.model_calls]
    assert (sum(usage.input_tokens for usage in spent), sum(usage.cached_tokens for usage in spent)) == (
        120 * asked,
        100 * asked,
    )
    assert all(usage.unpriced_calls for usage in spent)
    assert KEY not in repr(far.envelopes)
