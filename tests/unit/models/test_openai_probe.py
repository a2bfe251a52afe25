"""What servers on this machine say of their models, each in its own way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from chat_server import served
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assay.core.messages import ModelFacts
from assay.core.ports import Access
from assay.models.openai import chat_services, create

SHORT = chat_services.WAIT_SECONDS


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer to answer than a run waits for it."""
    monkeypatch.setattr(chat_services, "WAIT_SECONDS", 60.0)


@contextmanager
def server(
    answers: dict[str, Any],
    asked: list[str] | None = None,
    wait: float = 0.0,
    live: dict[str, Any] | None = None,
) -> Iterator[str]:
    """A server which answers at these paths; the base of its API. What is in `live` may change meanwhile."""

    async def handle(request: Request) -> Response:
        if asked is not None:
            asked.append(request.url.path)
        await asyncio.sleep(wait)
        found = (live or {}).get(request.url.path, answers.get(request.url.path))
        found = found() if callable(found) else found
        if found is None or isinstance(found, int):
            return Response(status_code=found or 404)
        return JSONResponse(found)

    with served(Starlette(routes=[Route("/{path:path}", handle, methods=["GET", "POST"])])) as port:
        yield f"http://127.0.0.1:{port}/v1"


async def described(name: str, url: str) -> ModelFacts:
    model = create(name, Access(url=url))
    try:
        return await model.described()
    finally:
        await model.close()


VLLM = {"/v1/models": {"data": [{"id": "m", "max_model_len": 32_768}, {"id": "n", "max_model_len": 4_096}]}}
LLAMACPP = {
    "/v1/models": {"data": [{"id": "/models/m.gguf", "meta": {"n_ctx_train": 131_072}}]},
    "/props": {"default_generation_settings": {"n_ctx": 16_384}},
}
STUDIO = {
    "/v1/models": {"data": [{"id": "m"}, {"id": "n"}]},
    "/api/v0/models": {"data": [{"id": "m", "max_context_length": 131_072, "loaded_context_length": 4_096}]},
}
OLLAMA = {
    "/v1/models": {"data": [{"id": "m:latest"}]},
    "/api/show": {
        "parameters": 'stop "<|im_end|>"\nnum_ctx                        24576',
        "model_info": {"qwen3.context_length": 40_960},
        "capabilities": ["completion", "tools", "thinking"],
    },
}
LOADED = OLLAMA | {"/api/ps": {"models": [{"name": "m:latest", "context_length": 12_288}]}}
UNSET = OLLAMA | {"/api/show": {"model_info": {"gemma.context_length": 8_192}, "capabilities": ["completion"]}}
ODD = {"/v1/models": {"data": "none"}, "/props": [1], "/api/show": {"parameters": 7, "capabilities": {}}, "/api/ps": []}


@pytest.mark.parametrize(
    ("answers", "window", "thinks"),
    [
        (VLLM, 32_768, None),
        (LLAMACPP, 16_384, None),
        (STUDIO, 4_096, None),
        (OLLAMA, 24_576, True),
        (LOADED, 12_288, True),
        (UNSET, None, None),
        (ODD, None, None),
        ({}, None, None),
    ],
    ids=["vllm", "llama.cpp", "LM Studio", "ollama", "ollama, loaded", "ollama, unset", "odd", "silent"],
)
async def test_the_window_a_server_was_started_with(
    answers: dict[str, Any], window: int | None, thinks: bool | None
) -> None:
    with server(answers) as url:
        assert await described("mine:m", url) == ModelFacts(window=window, native_reasoning=thinks)


async def test_a_server_is_asked_once() -> None:
    asked: list[str] = []
    with server(VLLM, asked) as url:
        model = create("mine:m", Access(url=url))
        assert await model.described() == await model.described() == ModelFacts(window=32_768)
        await model.close()
    assert len(asked) == len(set(asked))
    assert model.profile.max_output == 16_000


async def test_nobody_waits_long_for_a_server_which_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_services, "WAIT_SECONDS", SHORT)
    began = time.monotonic()
    assert await described("mine:m", "http://127.0.0.1:9/v1") == ModelFacts()
    with server(VLLM, wait=120.0) as url:
        assert await described("mine:m", url) == ModelFacts()
        assert time.monotonic() - began < 60


OTHER = UNSET | {"/api/ps": {"models": [{"name": "n:latest", "context_length": 131_072}]}}


async def test_ollama_loads_a_model_to_say_its_window() -> None:
    answers, asked = dict(OTHER), list[str]()

    def load() -> dict[str, Any]:
        answers["/api/ps"] = {"models": [{"name": "m:latest", "context_length": 4_096}]}
        return {"model": "m", "response": "", "done": True, "done_reason": "load"}

    with server(answers | {"/api/generate": load}, asked, live=answers) as url:
        assert await described("ollama:m", url) == ModelFacts(window=4_096)
    assert asked.count("/api/generate") == 1


@pytest.mark.parametrize("shown", [{"remote_model": "m"}, {"parameters": "num_ctx 24576"}])
async def test_a_model_of_another_machine_or_with_a_window_is_not_loaded(shown: dict[str, Any]) -> None:
    asked: list[str] = []
    with server(OTHER | {"/api/show": shown}, asked) as url:
        found = await described("ollama:m", url)
    assert found.window == (24_576 if "parameters" in shown else None)
    assert "/api/generate" not in asked


async def test_a_model_that_cannot_be_loaded_has_ollamas_smallest_window() -> None:
    with server(OTHER) as url:
        model = create("ollama:m", Access(url=url))
        assert await model.described() == ModelFacts()
        assert model.profile.window == 4_096
        await model.close()


async def test_a_server_that_loads_its_model_is_asked_again() -> None:
    answers: dict[str, Any] = {"/v1/models": 503}
    with server(answers, live=answers) as url:
        model = create("llamacpp:m", Access(url=url))
        assert await model.described() == ModelFacts()
        answers.update(LLAMACPP)
        assert await model.described() == ModelFacts(window=16_384)
        await model.close()


async def test_a_server_that_did_not_say_the_window_is_asked_again() -> None:
    answers: dict[str, Any] = {"/v1/models": {"data": []}}
    with server(answers, live=answers) as url:
        model = create("vllm:m", Access(url=url))
        assert await model.described() == ModelFacts()
        answers.update(VLLM)
        assert await model.described() == ModelFacts(window=32_768)
        await model.close()


async def test_a_hosted_service_is_not_asked() -> None:
    model = create("mine:m", Access(url="http://192.0.2.1/v1"))
    assert await model.described() == ModelFacts()
    await model.close()
