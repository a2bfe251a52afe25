"""`/v1/chat/completions` and `/v1/models`."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Sequence
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.core.errors import Cancelled, UnknownName
from assay.core.events import Envelope
from assay.core.usage import Usage
from assay.server.openai import identifiers
from assay.server.openai.calls import DONE, Waiting, answered, begin, caller_of, events, fault, ticket_for
from assay.server.openai.chat_stream import (
    ChatChoice,
    ChatChunk,
    ChatMessage,
    ChatProjection,
    ChunkChoice,
    Completion,
    Delta,
    chat_usage,
)
from assay.server.openai.helper_prompts import Helped, helped
from assay.server.openai.identifiers import ListedModel
from assay.server.openai.requests import ChatRequest, chat_run
from assay.server.problems import problem
from assay.server.streams import BEAT, EventStream, frame
from assay.server.wire import read_body

_encode = msgspec.json.Encoder().encode


class ModelList(msgspec.Struct, frozen=True, kw_only=True):
    """The models there are."""

    object: Literal["list"] = "list"
    data: tuple[ListedModel, ...]


async def list_models(request: Request) -> Response:
    """`GET /v1/models`."""
    return answered(ModelList(data=tuple(await identifiers.models(caller_of(request).assay))))


async def show_model(request: Request) -> Response:
    """`GET /v1/models/{id}`."""
    name = request.path_params["id"]
    await identifiers.read_model(caller_of(request).assay, name)
    return answered(ListedModel(id=name))


async def complete(request: Request) -> Response:
    """`POST /v1/chat/completions`."""
    body = await read_body(request, ChatRequest)
    model = await identifiers.read_model(caller_of(request).assay, body.model)
    if help := helped(body):
        return _helped(request, help, body)
    run_id, ticket = await begin(request, body, chat_run(body, model))
    projection = ChatProjection(str(request.base_url).rstrip("/"))
    groups = events(caller_of(request), run_id)
    if not body.stream:
        return Waiting(groups, ticket, projection.take, lambda: projection.completion)
    usage = bool(body.stream_options and body.stream_options.include_usage)
    return EventStream(frames(groups, projection, usage=usage), ticket)


async def frames(
    groups: AsyncIterator[Sequence[Envelope]], projection: ChatProjection, *, usage: bool
) -> AsyncIterator[bytes]:
    """The chunks of a stream as server-sent events, until the run ends or the server stops."""
    try:
        async for group in groups:
            chunks = [chunk for envelope in group for chunk in projection.take(envelope)]
            yield b"".join(frame(_encode(chunk)) for chunk in chunks) or BEAT
    except (Cancelled, UnknownName):
        told = problem("stopping", "the server stops; the run goes on when it is started again: ask again")
        yield frame(_encode(fault(told))) + DONE
        return
    if projection.failure:
        yield frame(_encode(fault(problem("service-failed", projection.failure))))
    elif usage:
        yield frame(_encode(projection.usage()))
    yield DONE


def _helped(request: Request, help: Helped, body: ChatRequest) -> Response:
    """The answer to a prompt which starts no research."""
    id, created = f"chatcmpl-{secrets.token_hex(8)}", int(time.time())
    if not body.stream:
        message = ChatMessage(role="assistant", content=help.text)
        choice = ChatChoice(message=message, finish_reason=help.finish)
        usage = chat_usage(Usage())
        return answered(Completion(id=id, created=created, model=body.model, choices=(choice,), usage=usage))
    choices = (
        ChunkChoice(delta=Delta(role="assistant", content=help.text)),
        ChunkChoice(finish_reason=help.finish),
    )
    chunks = [
        ChatChunk(id=id, object="chat.completion.chunk", created=created, model=body.model, choices=(choice,))
        for choice in choices
    ]

    async def told() -> AsyncIterator[bytes]:
        yield b"".join(frame(_encode(chunk)) for chunk in chunks) + DONE

    return EventStream(told(), ticket_for(request))


ROUTES = (
    Route("/v1/models", list_models, methods=["GET"]),
    Route("/v1/models/{id:path}", show_model, methods=["GET"]),
    Route("/v1/chat/completions", complete, methods=["POST"]),
)
