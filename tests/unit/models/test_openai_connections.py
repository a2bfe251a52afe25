"""How the adapter uses connections: one after another over the same, as many at once as are asked for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from assay.core.messages import Message, Reply, Request
from assay.core.ports import Access
from assay.core.ports.models import Secret
from assay.models.openai import BODY_END_SECONDS, ChatCompletions, create

ASKED = Request(task="write", system="You write.", messages=(Message(role="user", text="Write."),))
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
EVENTS = (
    b'data: {"choices": [{"index": 0, "delta": {"content": "Seven."}}]}\n\n'
    b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
)
END = b"0\r\n\r\n"


class Served:
    """What the server saw."""

    def __init__(self) -> None:
        self.connections = self.requests = 0


@asynccontextmanager
async def serving(
    end: Callable[[Served, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[tuple[ChatCompletions, Served]]:
    """A model whose service sends a whole answer but for the end of its body, which `end` is to send."""
    served = Served()
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        served.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                await reader.readexactly(int(head.partition("content-length:")[2].split()[0]))
                served.requests += 1
                writer.write(HEAD + f"{len(EVENTS):x}\r\n".encode() + EVENTS + b"\r\n")
                await end(served, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    model = create("vllm:m", Access(url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", key=Secret("none")))
    try:
        yield model, served
    finally:
        await model.close()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def asked(model: ChatCompletions) -> str:
    async for item in model.stream(ASKED):
        if isinstance(item, Reply):
            return item.text
    raise AssertionError("no reply")


async def at_once(_: Served, writer: asyncio.StreamWriter) -> None:
    writer.write(END)


async def test_requests_one_after_another_go_over_one_connection() -> None:
    async with serving(at_once) as (model, served):
        assert [await asked(model) for _ in range(5)] == ["Seven."] * 5
    assert (served.connections, served.requests) == (1, 5)


async def test_a_body_that_is_ended_a_little_later_keeps_its_connection_too() -> None:
    async def later(_: Served, writer: asyncio.StreamWriter) -> None:
        await writer.drain()
        await asyncio.sleep(BODY_END_SECONDS / 20)
        writer.write(END)

    async with serving(later) as (model, served):
        assert [await asked(model) for _ in range(3)] == ["Seven."] * 3
    assert served.connections < 3


async def test_a_body_that_is_never_ended_holds_up_no_reply() -> None:
    async def never(_: Served, writer: asyncio.StreamWriter) -> None:
        await writer.drain()
        await asyncio.sleep(60)

    async with serving(never) as (model, served):
        begun = time.monotonic()
        assert [await asked(model) for _ in range(2)] == ["Seven."] * 2
        assert time.monotonic() - begun < 30
    assert served.connections == 2


async def test_a_body_that_never_ends_holds_up_no_reply_either() -> None:
    async def dripping(_: Served, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            writer.write(b"9\r\n: wait\n\n\n\r\n")
            await writer.drain()
            await asyncio.sleep(0.001)

    async with serving(dripping) as (model, _):
        async with asyncio.timeout(30):
            assert await asked(model) == "Seven."


async def test_an_answer_broken_off_after_its_last_event_is_whole() -> None:
    async def broken(_: Served, writer: asyncio.StreamWriter) -> None:
        await writer.drain()
        writer.close()
        raise ConnectionError

    async with serving(broken) as (model, _):
        assert await asked(model) == "Seven."


async def test_as_many_streams_at_once_as_are_asked_for() -> None:
    count = 130
    everybody = asyncio.Event()

    async def together(served: Served, writer: asyncio.StreamWriter) -> None:
        if served.requests == count:
            everybody.set()
        await everybody.wait()
        writer.write(END)

    async def patiently(model: ChatCompletions) -> str:
        return await asked(model)

    async with serving(together) as (model, served):
        async with asyncio.timeout(60):
            assert await asyncio.gather(*(patiently(model) for _ in range(count))) == ["Seven."] * count
    assert served.connections == count
