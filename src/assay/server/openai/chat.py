"""`/v1/chat/completions` and `/v1/models`."""

from __future__ import annotations

import re
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
from assay.core.lazy import regex
from assay.core.milestones import shorten
from assay.core.usage import Usage
from assay.server.openai.calls import (
    DONE,
    WaitingResponse,
    begin_run,
    caller_of,
    error_body,
    events,
    json_response,
    ticket_for,
)
from assay.server.openai.chat_stream import (
    ChatChoice,
    ChatChunk,
    ChatMessage,
    ChatProjection,
    ChunkChoice,
    Completion,
    Delta,
    Finish,
    chat_usage,
)
from assay.server.openai.requests import ChatRequest, Format, chat_run, text_of
from assay.server.openai.text import ListedModel, available_models, read_model
from assay.server.problems import Problem, problem
from assay.server.streams import HEARTBEAT_FRAME, EventStream, frame
from assay.server.wire import read_body

# Prompts that chat clients send besides those of their users: for titles, tags, next questions, completions.

MIN_ANSWER_TOKENS = 50
"""Tokens of an answer too few for a report: clients use so small a cap to test a connection."""
TITLE_WORDS = 6
TITLE = 60
"""Code points of a title."""
HEAD = 700
"""Code points at the start of a prompt that say what it wants."""
_TASK = regex(r"\s*#{2,4}\s*Task\s*:", re.IGNORECASE)
_HISTORY = regex(r"<chat_history>", re.IGNORECASE)
_TITLE = regex(r"\btitle\b", re.IGNORECASE)
_ABOUT = regex(r"\b(?:conversation|chat|dialogue|discussion|user'?s? messages?|session)\b", re.IGNORECASE)
_SHORT = regex(r"\b(?:words?|characters?|concise|short|brief)\b", re.IGNORECASE)
_FORM = regex(r"""\{\s*["'](\w+)["']\s*:\s*(\[|["'])""")
_USER = regex(r"^[ \t>*-]*(?:user|human)\b[^:\n]{0,20}:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)


class HelperAnswer(msgspec.Struct, frozen=True):
    """The answer to a prompt that starts no research."""

    text: str
    finish: Finish = "stop"


def help_answer(request: ChatRequest) -> HelperAnswer | None:
    """The answer to a client's own prompt; None for a question of the user."""
    texts = [text_of(message.content) for message in request.messages if message.role in ("system", "developer")]
    users = [text_of(message.content) for message in request.messages if message.role == "user"]
    prompt = users[-1] if users else ""
    if _is_helper(prompt) or any(_wants_title(text) for text in texts[:1]):
        instruction = prompt if _is_helper(prompt) else texts[0]
        title = _title(prompt, users)
        return HelperAnswer(_fill_format(instruction, request.response_format, title))
    cap = request.max_tokens if request.max_completion_tokens is None else request.max_completion_tokens
    if cap is not None and cap < MIN_ANSWER_TOKENS:
        return HelperAnswer(f"No report fits into {cap} tokens: leave max_tokens out.", "length")
    return None


def _is_helper(prompt: str) -> bool:
    return bool(_TASK.match(prompt) or _HISTORY.search(prompt) or _wants_title(prompt))


def _wants_title(text: str) -> bool:
    head = text[:HEAD]
    return all(pattern.search(head) for pattern in (_TITLE, _ABOUT, _SHORT))


def _fill_format(instruction: str, format: Format | None, title: str) -> str:
    """The requested form, filled as far as code can; without a form the title."""
    fields = _fields(instruction, format)
    if not fields:
        return title
    return msgspec.json.encode(
        {name: [] if is_list else title * (name == "title") for name, is_list in fields}
    ).decode()


def _fields(instruction: str, format: Format | None) -> Sequence[tuple[str, bool]]:
    """The names of a form's fields, and whether each is a list."""
    schema = format.json_schema.schema if format and format.json_schema else None
    if schema:
        properties = schema.get("properties")
        fields = properties if isinstance(properties, dict) else {}
        return [(name, isinstance(kind, dict) and kind.get("type") == "array") for name, kind in fields.items()]
    match = _FORM.search(instruction)
    return [(match[1], match[2] == "[")] if match else []


def _title(prompt: str, users: Sequence[str]) -> str:
    """The user's first message, shortened."""
    match = _USER.search(prompt)
    title = match[1] if match else next((text for text in users if not _is_helper(text)), "New chat")
    return shorten(" ".join(title.split()[:TITLE_WORDS]).rstrip("?!.,;:"), TITLE)


class ModelList(msgspec.Struct, frozen=True, kw_only=True):
    """The available models."""

    object: Literal["list"] = "list"
    data: tuple[ListedModel, ...]


async def list_models(request: Request) -> Response:
    """`GET /v1/models`."""
    return json_response(ModelList(data=tuple(await available_models(caller_of(request).assay))))


async def show_model(request: Request) -> Response:
    """`GET /v1/models/{id}`."""
    name = request.path_params["id"]
    await read_model(caller_of(request).assay, name)
    return json_response(ListedModel(id=name))


async def complete(request: Request) -> Response:
    """`POST /v1/chat/completions`."""
    body = await read_body(request, ChatRequest)
    model = await read_model(caller_of(request).assay, body.model)
    if help := help_answer(body):
        return _help_response(request, help, body)
    run_id, ticket = await begin_run(request, body, chat_run(body, model))
    projection = ChatProjection(str(request.base_url).rstrip("/"))
    groups = events(caller_of(request), run_id)
    if not body.stream:
        return WaitingResponse(groups, ticket, projection.add_event, lambda: completion_or_problem(projection))
    usage = bool(body.stream_options and body.stream_options.include_usage)
    return EventStream(frames(groups, projection, usage=usage), ticket)


async def frames(
    groups: AsyncIterator[Sequence[Envelope]], projection: ChatProjection, *, usage: bool
) -> AsyncIterator[bytes]:
    """The chunks of a stream as server-sent events, until the run ends or the server stops."""
    try:
        async for group in groups:
            chunks = [chunk for envelope in group for chunk in projection.add_event(envelope)]
            yield b"".join(frame(msgspec.json.encode(chunk)) for chunk in chunks) or HEARTBEAT_FRAME
    except (Cancelled, UnknownName):
        pass
    if fault := _fault(projection):
        yield frame(msgspec.json.encode(error_body(fault)))
    elif usage:
        yield frame(msgspec.json.encode(projection.usage_chunk()))
    yield DONE


def completion_or_problem(projection: ChatProjection) -> Completion | Problem:
    """The answer to a chat that is not streamed."""
    return _fault(projection) or projection.completion


def _fault(projection: ChatProjection) -> Problem | None:
    """Why there is no answer: the run failed, or goes on when the server is started again."""
    if projection.failure:
        return problem("service-failed", projection.failure)
    if not projection.ended:
        return problem("stopping", "the server is stopping; the run continues when it restarts: repeat the request")
    return None


def _help_response(request: Request, help: HelperAnswer, body: ChatRequest) -> Response:
    """The response to a prompt that starts no research."""
    id, created = f"chatcmpl-{secrets.token_hex(8)}", int(time.time())
    if not body.stream:
        message = ChatMessage(role="assistant", content=help.text)
        choice = ChatChoice(message=message, finish_reason=help.finish)
        usage = chat_usage(Usage())
        return json_response(Completion(id=id, created=created, model=body.model, choices=(choice,), usage=usage))
    choices = (
        ChunkChoice(delta=Delta(role="assistant", content=help.text)),
        ChunkChoice(finish_reason=help.finish),
    )
    chunks = [
        ChatChunk(id=id, object="chat.completion.chunk", created=created, model=body.model, choices=(choice,))
        for choice in choices
    ]

    async def lines() -> AsyncIterator[bytes]:
        yield b"".join(frame(msgspec.json.encode(chunk)) for chunk in chunks) + DONE

    return EventStream(lines(), ticket_for(request))


ROUTES = (
    Route("/v1/models", list_models, methods=["GET"]),
    Route("/v1/models/{id:path}", show_model, methods=["GET"]),
    Route("/v1/chat/completions", complete, methods=["POST"]),
)
