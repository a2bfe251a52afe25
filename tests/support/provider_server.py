"""A real HTTP server on loopback which speaks the formats of Anthropic, Google, Mistral, Groq and Cohere."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import chat_server
import pytest
from chat_server import Answer, served
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from tool_schemas import check_schemas

# Tests which import this module are skipped where one of the extras is not installed. The libraries load with the first
# request which is checked: they take seconds, in each process which collects tests.
for needed in ("pydantic_ai", "anthropic", "google.genai"):
    if find_spec(needed.partition(".")[0]) is None or find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed", allow_module_level=True)
KEY_HEADERS = ("x-api-key", "x-goog-api-key", "authorization")


@functools.cache
def _anthropic() -> TypeAdapter[Any]:
    types = import_module("anthropic.types.message_create_params")
    return TypeAdapter(types.MessageCreateParamsStreaming)


@functools.cache
def _google() -> dict[str, TypeAdapter[Any]]:
    types = import_module("google.genai.types")
    return {
        "contents": TypeAdapter(list[types.Content]),
        "systemInstruction": TypeAdapter(types.Content),
        "tools": TypeAdapter(list[types.Tool]),
        "toolConfig": TypeAdapter(types.ToolConfig),
        "generationConfig": TypeAdapter(types.GenerationConfig),
    }


def check_anthropic(body: dict[str, Any]) -> None:
    """Whether Anthropic's own types allow this request (their lists are checked as they are walked), and each id stands
    for one call.
    """
    _exhaust(_anthropic().validate_python(body, strict=False))
    blocks = [block for message in body["messages"] for block in message["content"] if isinstance(block, dict)]
    for kind, field in (("tool_use", "id"), ("tool_result", "tool_use_id")):
        ids = [block[field] for block in blocks if block["type"] == kind]
        assert len(ids) == len(set(ids)), ids


def check_google(body: dict[str, Any]) -> None:
    """Whether Google's own types allow this request; they refuse fields they do not know."""
    unknown = set(body) - set(_google())
    assert not unknown, unknown
    for name, value in body.items():
        _google()[name].validate_python(value)


MISTRAL_FIELDS = frozenset(
    "frequency_penalty guardrails max_tokens messages metadata model n parallel_tool_calls prediction presence_penalty"
    " prompt_cache_key prompt_mode random_seed reasoning_effort response_format safe_prompt stop stream temperature"
    " tool_choice tools top_p".split()
)
"""Those of its API reference; it refuses all others."""


def check_mistral(body: dict[str, Any]) -> None:
    """What Mistral refuses: fields it does not know, ids of another form, a user right after a tool, an empty reply."""
    unknown = set(body) - MISTRAL_FIELDS
    assert not unknown, unknown
    assert body.get("tool_choice", "auto") in ("auto", "any", "none") or isinstance(body["tool_choice"], dict)
    assert body.get("reasoning_effort", "high") in ("high", "none")
    found = body["messages"]
    assert found[-1]["role"] in ("user", "tool")
    for before, message in itertools.pairwise(found):
        assert (before["role"], message["role"]) != ("tool", "user")
    for message in found:
        assert message["role"] != "assistant" or message["content"] or message["tool_calls"]
        ids = [call["id"] for call in message.get("tool_calls", ())] + [message.get("tool_call_id", "aaaaaaaaa")]
        assert all(re.fullmatch("[a-zA-Z0-9]{9}", id) for id in ids), ids


def check_groq(body: dict[str, Any]) -> None:
    """The format is OpenAI's, with a field for reasoning; what OpenAI's types allow, they allow there."""
    assert body.get("reasoning_format", "parsed") in ("parsed", "hidden", "raw")
    known = {name: value for name, value in body.items() if name != "reasoning_format"}
    _exhaust(chat_server.REQUEST.validate_python(known, strict=False))
    if "gpt-oss" not in body["model"]:
        assert body.get("reasoning_effort", "none") in ("none", "default")


def check_nothing(body: dict[str, Any]) -> None:
    """For formats whose client has no types of a request's body."""


def _exhaust(value: object) -> None:
    if isinstance(value, dict):
        for each in value.values():
            _exhaust(each)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for each in value:
            _exhaust(each)


class ProviderServer:
    """Plays answers in order, the last for ever; `requests` and `headers` are what it was sent."""

    def __init__(self, answers: Sequence[Answer], check: Callable[[dict[str, Any]], None]) -> None:
        self.answers, self._check = list(answers), check
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.faults: list[str] = []
        self.url = ""

    async def handle(self, request: Request) -> Response:
        """One request. One which the format does not allow is refused, and noted in `faults`."""
        body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        try:
            self._check(body)
            check_schemas(body)
        except (ValueError, AssertionError) as error:
            self.faults.append(str(error))
            return JSONResponse({"error": {"message": f"not of the format: {error}"}}, 422)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.status != 200:
            data = b"".join(map(chat_server._bytes, answer.pieces))
            return Response(data, answer.status, answer.headers, "application/json")
        pieces = chat_server._pieces(answer)
        return StreamingResponse(pieces, headers=answer.headers, media_type="text/event-stream")

    @property
    def keys(self) -> list[str]:
        """The key each request carried."""
        return [next((sent[name] for name in KEY_HEADERS if name in sent), "") for sent in self.headers]


_PLAYING: dict[str, ProviderServer] = {}


@contextlib.contextmanager
def provider_server(*answers: Answer, check: Callable[[dict[str, Any]], None]) -> Iterator[ProviderServer]:
    """A provider of its own at an address of its own, as long as the block lasts."""
    state = ProviderServer(answers, check)
    name = f"p{id(state)}"
    _PLAYING[name] = state
    state.url = f"http://127.0.0.1:{_port()}/{name}"
    try:
        yield state
        assert state.faults == []
    finally:
        del _PLAYING[name]


async def _handle(request: Request) -> Response:
    return await _PLAYING[request.path_params["name"]].handle(request)


async def _listed(request: Request) -> Response:
    if not any(name in request.headers for name in KEY_HEADERS):
        return JSONResponse({"error": {"message": "no key"}}, 401)
    if "v1beta" in request.url.path:
        return JSONResponse({"models": [{"name": "models/m-2"}, {"name": "models/m-1"}]})
    return JSONResponse({"data": [{"id": "m-2", "type": "model"}, {"id": "m-1", "type": "model"}], "has_more": False})


@functools.cache
def _port() -> int:
    """The port of the one server of this process, which ends with it."""
    chats = ("/v1/chat/completions", "/openai/v1/chat/completions", "/v2/chat")
    posts = ("/v1/messages", "/v1beta/models/{model:path}", *chats)
    gets = ("/v1/models", "/v1beta/models", "/openai/v1/models")
    routes = [Route(f"/{{name}}{path}", _handle, methods=["POST"]) for path in posts]
    routes += [Route(f"/{{name}}{path}", _listed) for path in gets]
    serving = served(Starlette(routes=routes))
    port = serving.__enter__()
    atexit.register(serving.__exit__, None, None, None)
    return port


def event(data: dict[str, Any], name: str = "") -> str:
    """One server-sent event; Anthropic's carry their type as their name."""
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"
