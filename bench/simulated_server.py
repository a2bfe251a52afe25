"""A model server on loopback that speaks chat completions at a given pace: `python bench/simulated_server.py`.

It is a separate process, so that its work does not count as the engine's. It gives the replies of `scenario`: the first
token `FIRST_TOKEN` seconds after the complete request, then `TOKENS_A_SECOND`, each as a chunk. The schedule is fixed
at the beginning: a late token does not delay the next. The first line of its output is its port; when its input ends,
it prints what it served as a line of JSON, and exits.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec
from scenario import SIGNS_A_TOKEN, Asked, ScriptedReply, answer, arguments_text, asked_over_http

FIRST_TOKEN = 0.300
TOKENS_A_SECOND = 100.0
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
NOTHING = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"


class Served(msgspec.Struct, frozen=True):
    """A call: when it was asked and when it had been answered, and when each tool call was complete (monotonic)."""

    key: str
    start: float
    end: float
    done: tuple[float, ...] = ()


def tokens(reply: ScriptedReply) -> Iterator[tuple[dict[str, Any], int]]:
    """The deltas of a reply, a token each, with the place of the call that is complete with it, -1 for none."""
    for at in range(0, len(reply.text), SIGNS_A_TOKEN):
        yield {"content": reply.text[at : at + SIGNS_A_TOKEN]}, -1
    for place, (name, arguments) in enumerate(reply.calls):
        text = arguments_text(arguments)
        head: dict[str, Any] = {"index": place, "id": f"call-{place}", "type": "function"}
        yield {"tool_calls": [head | {"function": {"name": name, "arguments": ""}}]}, -1
        for at in range(0, len(text), SIGNS_A_TOKEN):
            piece = {"index": place, "function": {"arguments": text[at : at + SIGNS_A_TOKEN]}}
            yield {"tool_calls": [piece]}, place if at + SIGNS_A_TOKEN >= len(text) else -1


def _event(delta: dict[str, Any] | None, finish: str | None = None, asked: int = 0, count: int = 0) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    body: dict[str, Any] = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": choices,
    }
    if delta is None:
        body["usage"] = {"prompt_tokens": asked, "completion_tokens": count, "total_tokens": asked + count}
    return f"data: {json.dumps(body)}\n\n".encode()


def _chunked(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


class Server:
    """Answers, and remembers what it answered; without `paced` it does so at once."""

    def __init__(self, answering: Callable[[Asked], ScriptedReply] = answer, *, paced: bool = True) -> None:
        self._answering, self._paced = answering, paced
        self.served: list[Served] = []

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, which may bring several requests."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().lower().splitlines()
                length = next((line for line in lines if line.startswith("content-length:")), "")
                body = json.loads(await reader.readexactly(int(length.partition(":")[2] or 0)) or b"{}")
                if "messages" in body:
                    await self._answer(body, writer)
                else:  # what the service offers, and which program it is
                    writer.write(NOTHING)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        start = time.monotonic()
        question = asked_over_http(body)
        answered = self._answering(question)
        writer.write(HEAD)
        done, count = [], 0
        for count, (delta, complete) in enumerate(tokens(answered), 1):
            due = start + FIRST_TOKEN + (count - 1) / TOKENS_A_SECOND
            if self._paced:
                await asyncio.sleep(max(0.0, due - time.monotonic()))
            writer.write(_chunked(_event(delta)))
            if complete >= 0:
                done.append(time.monotonic())
        finish = "tool_calls" if answered.calls else "stop"
        size = len(json.dumps([body["messages"], body.get("tools", [])])) // SIGNS_A_TOKEN
        last = _event({}, finish) + _event(None, asked=size, count=count) + b"data: [DONE]\n\n"
        writer.write(_chunked(last) + b"0\r\n\r\n")
        self.served.append(Served(question.key, start, time.monotonic(), tuple(done)))
        await writer.drain()


async def serve(model: Server) -> None:
    """Serve until the input ends."""
    server = await asyncio.start_server(model.connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(msgspec.json.encode(model.served).decode(), flush=True)


if __name__ == "__main__":
    asyncio.run(serve(Server(partial(answer, after="--after" in sys.argv))))
