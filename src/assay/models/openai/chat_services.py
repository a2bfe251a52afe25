"""The services that speak the format: those known by name, and what a server on this machine says about a model.

The tables know hosted models. The window of a local model is the one its server was started with. vLLM states it in its
list of models, llama.cpp at `/props`, LM Studio and Ollama at addresses of their own. The length a model was trained
for is not its window: most servers are started with less, and Ollama silently drops the beginning of a request that
does not fit.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import msgspec

from assay.core.errors import ConfigError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import regex
from assay.core.messages import ModelFacts
from assay.core.ports import Access
from assay.models.failures import MIN_WINDOW_TOKENS
from assay.models.streams import brief_client, first_bytes

# What a server on this machine says about a model: the window it was started with, and what the model can do.

WAIT_SECONDS = 1.5
"""Seconds for all questions together."""
LOADING_SECONDS = 60.0
"""Seconds to wait for Ollama to load a model: only then does it say the window."""
MAX_ANSWER_BYTES = 2_000_000

_RUNNING = ("max_model_len", "loaded_context_length", "n_ctx", "context_length", "context_window", "max_context_length")
_NUM_CTX = regex(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A server's facts about a model; `tools` is None if it does not mention them."""

    facts: ModelFacts = ModelFacts()
    tools: bool | None = None


async def server_facts(base: str, model: str, headers: Mapping[str, str], *, load: bool = True) -> ServerFacts | None:
    """The facts that the server at `base` (…/v1) gives about `model` within `WAIT_SECONDS` seconds; None if nothing
    answers.

    If Ollama has not loaded the model, and nothing sets its window, `load` loads it now instead of at the first call.
    The window depends on the machine's memory, and Ollama silently drops what does not fit.
    """
    answer = await _answers(base.rstrip("/"), model, headers)
    if not answer:
        return None
    facts = _parse_facts(answer, model)
    if load and facts.facts.window is None and _is_unloaded(answer):
        await _load_model(base.rstrip("/"), model, headers)
        facts = _parse_facts(await _answers(base.rstrip("/"), model, headers) or answer, model)
    return facts


def _is_unloaded(answer: Mapping[str, Any]) -> bool:
    """True if this is Ollama, and it executes the model itself but has not loaded it."""
    model_info = answer.get("shown")
    return (
        isinstance(model_info, dict)
        and not model_info.get("remote_model")
        and _value_at(answer.get("loaded"), "models") is not None
    )


async def _load_model(base: str, model: str, headers: Mapping[str, str]) -> None:
    """Have Ollama load a model: a request without a prompt does nothing else. If it cannot, the first call says why."""
    with contextlib.suppress(TimeoutError, httpx2.HTTPError, httpx2.InvalidURL):
        async with brief_client(headers, LOADING_SECONDS) as client:
            await _read(client, "POST", f"{base.removesuffix('/v1')}/api/generate", {"model": model, "stream": False})


def _parse_facts(answer: Mapping[str, Any], model: str) -> ServerFacts:
    """The facts about `model` in a server's answers."""
    props, studio, loaded_models, model_info = (answer.get(name) for name in ("props", "studio", "loaded", "shown"))
    listing = answer.get("listed")
    running_windows = (
        _number(_value_at(props, "default_generation_settings", "n_ctx")),
        _window(_row(studio, model), ("loaded_context_length",)),
        _window(_row(loaded_models, model, alone=False), ("context_length",)),
        _window(_row(listing, model), _RUNNING),
        _num_ctx(_value_at(model_info, "parameters")),
    )
    abilities = _value_at(model_info, "capabilities")
    able = abilities if isinstance(abilities, list) else None
    return ServerFacts(
        facts=ModelFacts(
            window=next((window for window in running_windows if window), None),
            native_reasoning=True if able and "thinking" in able else None,
        ),
        tools=None if able is None else "tools" in able,
    )


async def _answers(base: str, model: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """The answers to the questions that were answered in time."""
    root = base.removesuffix("/v1")
    questions = (
        ("listed", "GET", f"{base}/models", None),
        ("props", "GET", f"{root}/props", None),
        ("shown", "POST", f"{root}/api/show", {"model": model}),
        ("loaded", "GET", f"{root}/api/ps", None),
        ("studio", "GET", f"{root}/api/v0/models", None),
    )
    answers: dict[str, Any] = {}
    with contextlib.suppress(TimeoutError, httpx2.HTTPError, httpx2.InvalidURL):
        async with brief_client(headers, WAIT_SECONDS) as client:
            for name, method, url, body in questions:
                answers[name] = await _read(client, method, url, body)
    return answers


async def _read(client: httpx2.AsyncClient, method: str, url: str, body: object = None) -> Any:
    """The JSON at `url`; None if there is none.

    Raises:
        httpx2.HTTPError: nothing answers, or the server is not ready yet.
    """
    async with client.stream(method, url, json=body) as response:
        if response.status_code == httpx2.codes.SERVICE_UNAVAILABLE:
            response.raise_for_status()
        if response.status_code != httpx2.codes.OK:
            return None
        data = await first_bytes(response, MAX_ANSWER_BYTES + 1)
    try:
        return msgspec.json.decode(data) if len(data) <= MAX_ANSWER_BYTES else None
    except DECODE_ERRORS:
        return None


def _value_at(value: Any, *path: str) -> Any:
    """The value at `path` in nested objects; None if they have another form."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _row(listing: Any, model: str, *, alone: bool = True) -> Any:
    """The entry of `model` in a list of models, or with `alone` the only entry: many servers take any name."""
    rows = [row for row in _rows(listing) if isinstance(row, dict)]
    same = (
        row for row in rows if model in (row.get("id"), row.get("name"), row.get("model"), f"{row.get('id')}:latest")
    )
    latest = (row for row in rows if f"{model}:latest" in (row.get("name"), row.get("model")))
    return next(same, None) or next(latest, None) or (rows[0] if alone and len(rows) == 1 else None)


def _rows(listing: Any) -> Iterator[Any]:
    for name in ("data", "models"):
        rows = _value_at(listing, name)
        if isinstance(rows, list):
            yield from rows


def _window(row: Any, names: tuple[str, ...]) -> int:
    """The first window that a row names, in itself or in its `meta`; 0 if it names none."""
    values = (_number(_value_at(row, name) or _value_at(row, "meta", name)) for name in names)
    return next((value for value in values if value), 0)


def _num_ctx(parameters: Any) -> int:
    match = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return _number(int(match[1])) if match else 0


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= MIN_WINDOW_TOKENS else 0


class ChatService(msgspec.Struct, frozen=True, kw_only=True):
    """A service.

    `url` is the base of its API. `key` is the name of the setting that holds its key, empty if it needs none. `local`:
    it runs on this machine and costs nothing. `window` are the tokens of a local model that the service says nothing
    about, if they are fewer than usual. `takes_cache_key`: requests with the same beginning can be sent to one cache
    by a key. `tells`: it accepts an identifier that distinguishes users.

    Requests: `output` is the field for the most output tokens, `counts` whether the service counts tokens only on
    request. `required` is its word for "call any tool", `chooses` whether a model can be kept from calling tools it
    knows of. `ids` is the pattern of call ids it accepts, empty for any. `needs_bridge`: no user message may directly
    follow a tool's result, and an empty message is refused.

    Reasoning: `effort_models` matches the models whose effort can be named (empty: all), `effort` is the only word
    for it if there is no other, `reasons_by_default` matches the models that reason unless told not to.
    `separate_reasoning` asks for the reasoning apart from the answer. Each pattern matches the beginning of a model's
    name.
    """

    name: str
    url: str
    key: str = ""
    local: bool = False
    window: int = 0
    takes_cache_key: bool = False
    tells: bool = False
    output: str = "max_tokens"
    counts: bool = True
    required: str = "required"
    chooses: bool = True
    ids: str = ""
    needs_bridge: bool = False
    effort_models: str = ""
    effort: str = ""
    reasons_by_default: str = ""
    separate_reasoning: dict[str, str] = {}


SERVICES: dict[str, ChatService] = {
    service.name: service
    for service in (
        ChatService(
            name="openai",
            url="https://api.openai.com/v1",
            key="openai",
            output="max_completion_tokens",
            takes_cache_key=True,
            tells=True,
        ),
        ChatService(name="openrouter", url="https://openrouter.ai/api/v1", key="openrouter", tells=True),
        ChatService(
            name="mistral",
            url="https://api.mistral.ai/v1",
            key="mistral",
            takes_cache_key=True,
            counts=False,
            required="any",
            chooses=False,
            ids=r"[a-zA-Z0-9]{9}",
            needs_bridge=True,
            effort_models=r"(?!magistral)",
            effort="high",
        ),
        ChatService(
            name="groq",
            url="https://api.groq.com/openai/v1",
            key="groq",
            output="max_completion_tokens",
            effort_models=r"openai/gpt-oss",
            reasons_by_default=r"qwen/qwen3",
            separate_reasoning={"reasoning_format": "parsed"},
        ),
        ChatService(name="ollama", url="http://127.0.0.1:11434/v1", local=True, window=4_096, chooses=False),
        ChatService(name="lmstudio", url="http://127.0.0.1:1234/v1", local=True),
        ChatService(name="llamacpp", url="http://127.0.0.1:8080/v1", local=True),
        ChatService(name="vllm", url="http://127.0.0.1:8000/v1", local=True),
    )
}


def parse_service(name: str, access: Access) -> tuple[ChatService, str]:
    """The service that a name `SERVICE:MODEL` means, one of `SERVICES` or at the configured address, and its model.

    Raises:
        ConfigError: no model is named, or the service is unknown and has no address, or needs a key and has none.
    """
    prefix, _, model = name.partition(":")
    service = SERVICES.get(prefix) or ChatService(name=prefix, url=access.url)
    if access.url:
        service = msgspec.structs.replace(service, url=access.url, local=service.local or _is_local(access.url))
    if not model:
        raise ConfigError(f"{name!r} names no model; write {prefix}:MODEL (assay models {prefix} lists them)")
    if not service.url:
        raise ConfigError(f"{prefix!r} has no address: set services.{prefix}.url to the base of its API")
    if service.key and access.key is None and not access.url:
        variable = f"{service.key.upper()}_API_KEY"
        raise ConfigError(
            f"{prefix} needs a key: assay keys set {service.key}, or the setting keys.{service.key}, or {variable}"
        )
    return service, model


def _is_local(url: str) -> bool:
    """True if an address is on this machine."""
    host = httpx2.URL(url).host
    return host in ("localhost", "127.0.0.1", "::1")
