"""A real HTTP server on loopback which speaks chat completions as the services do, faults included."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any

import uvicorn
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from tool_schemas import check_schemas

REQUEST = TypeAdapter(CompletionCreateParamsStreaming)
WHOLE = TypeAdapter(CompletionCreateParamsNonStreaming)
Piece = str | bytes | float
"""Part of a body: text or bytes to send, seconds to wait."""


class Answer:
    """One answer of the server: what is sent, piece by piece; `cut` drops the connection after the last.

    `whole` says that it is no stream.
    """

    def __init__(
        self,
        pieces: Sequence[Piece] = (),
        status: int = 200,
        headers: dict[str, str] | None = None,
        *,
        cut: bool = False,
        whole: bool = False,
    ) -> None:
        self.pieces, self.status, self.headers, self.cut = pieces, status, headers or {}, cut
        self.whole = whole


def chunk(
    delta: dict[str, Any] | None = None, finish: str | None = None, usage: dict[str, Any] | None = None, **more: Any
) -> str:
    """One event of a stream, with all the fields the format demands."""
    choices = [] if delta is None and finish is None else [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
    return f"data: {json.dumps(body | ({'usage': usage} if usage else {}) | more)}\n\n"


def call(index: int, arguments: str, *, id: str | None = None, name: str | None = None) -> dict[str, Any]:
    """The delta of a part of a tool call."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    part: dict[str, Any] = {"index": index, "function": function}
    return {"tool_calls": [part | ({"id": id, "type": "function"} if id else {})]}


USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 100},
    "completion_tokens_details": {"reasoning_tokens": 12},
}
DONE = "data: [DONE]\n\n"


def says(*texts: str, finish: str = "stop") -> Answer:
    """A plain answer in these pieces, with its usage."""
    deltas = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": text}) for text in texts)]
    return Answer([*deltas, chunk({}, finish), chunk(usage=USAGE), DONE])


def fault(status: int, message: str, code: str | None = None, **headers: str) -> Answer:
    """A refusal in the services' words."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return Answer([json.dumps(body)], status, headers)


class ChatServer:
    """Plays answers in order, the last for ever; `requests` and `keys` are what it was sent.

    Where there is one, `decide` says instead what it answers to the body of a request.
    """

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers, self.requests, self.keys = list(answers), [], []
        self.requests: list[dict[str, Any]]
        self.keys: list[str]
        self.url = ""
        self.decide: Callable[[dict[str, Any]], Awaitable[Answer]] | None = None

    async def handle(self, request: Request) -> Response:
        """One request, which must be one that OpenAI's own types allow."""
        body = await request.json()
        (REQUEST if body.get("stream") else WHOLE).validate_python(body, strict=False)
        check_schemas(body)
        self.requests.append(body)
        self.keys.append(request.headers.get("authorization", ""))
        if self.decide is not None:
            answer = await self.decide(body)
        else:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.status != 200 or answer.whole:
            return Response(b"".join(map(_bytes, answer.pieces)), answer.status, answer.headers, "application/json")
        return StreamingResponse(_pieces(answer), headers=answer.headers, media_type="text/event-stream")


async def _pieces(answer: Answer) -> AsyncIterator[bytes]:
    for piece in answer.pieces:
        if isinstance(piece, float):
            await asyncio.sleep(piece)
        else:
            yield _bytes(piece)
    if answer.cut:
        raise ConnectionResetError("cut")  # uvicorn drops the connection without the last chunk


def _bytes(piece: Piece) -> bytes:
    return piece.encode() if isinstance(piece, str) else piece if isinstance(piece, bytes) else b""


async def _models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "x"}]})


_PLAYING: dict[str, ChatServer] = {}


@contextlib.contextmanager
def chat_server(*answers: Answer) -> Iterator[ChatServer]:
    """A service of its own at an address of its own, as long as the block lasts."""
    state = ChatServer(answers)
    name = f"s{id(state)}"
    _PLAYING[name] = state
    state.url = f"http://127.0.0.1:{_port()}/{name}/v1"
    try:
        yield state
    finally:
        del _PLAYING[name]


async def _handle(request: Request) -> Response:
    return await _PLAYING[request.path_params["name"]].handle(request)


@functools.cache
def _port() -> int:
    """The port of the one server of this process, which ends with it."""
    routes = [
        Route("/{name}/v1/chat/completions", _handle, methods=["POST"]),
        Route("/{name}/v1/models", _models),
    ]
    serving = served(Starlette(routes=routes))
    port = serving.__enter__()
    atexit.register(serving.__exit__, None, None, None)
    return port


@contextlib.contextmanager
def served(app: Callable[..., Any]) -> Iterator[int]:
    """The port on which `app` is served while the block lasts."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + 120
    while not server.started and time.monotonic() < end:
        time.sleep(0.005)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        thread.join(10)
