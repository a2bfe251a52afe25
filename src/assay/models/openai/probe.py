"""What a server on this machine says of a model: the window it was started with, and what the model can do.

Tables know hosted models; the window of a local one is whatever its server was started with. vLLM says it in its list
of models, llama.cpp at `/props`, LM Studio and Ollama at addresses of their own. What the model was trained for is no
window: servers are mostly started with less, and Ollama drops the beginning of what does not fit without a word.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import msgspec

from assay.core.json_decoding import UNREADABLE
from assay.core.messages import ModelFacts
from assay.core.remote_services import trusted

WAIT = 1.5
"""Seconds for all that is asked."""
LARGEST = 2_000_000
LEAST = 512
"""Tokens of the smallest window which is believed."""

_RUNNING = ("max_model_len", "loaded_context_length", "n_ctx", "context_length", "context_window", "max_context_length")
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a server says of a model; `tools` None where it says nothing of them."""

    facts: ModelFacts = ModelFacts()
    tools: bool | None = None


async def told(base: str, model: str, headers: Mapping[str, str]) -> ServerFacts | None:
    """What the server at `base` (…/v1) says of `model` within `WAIT` seconds, None where nobody answers."""
    said = await _answers(base.rstrip("/"), model, headers)
    if not said:
        return None
    props, studio, loaded, shown = (said.get(name) for name in ("props", "studio", "loaded", "shown"))
    listed = said.get("listed")
    running = (
        _number(_at(props, "default_generation_settings", "n_ctx")),
        _window(_row(studio, model), ("loaded_context_length",)),
        _window(_row(loaded, model), ("context_length",)),
        _window(_row(listed, model), _RUNNING),
        _num_ctx(_at(shown, "parameters")),
    )
    abilities = _at(shown, "capabilities")
    able = abilities if isinstance(abilities, list) else None
    return ServerFacts(
        facts=ModelFacts(
            window=next((each for each in running if each), None),
            native_reasoning=True if able and "thinking" in able else None,
        ),
        tools=None if able is None else "tools" in able,
    )


async def _answers(base: str, model: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """What each question was answered with, as far as there was time."""
    root = base.removesuffix("/v1")
    questions = (
        ("listed", "GET", f"{base}/models", None),
        ("props", "GET", f"{root}/props", None),
        ("shown", "POST", f"{root}/api/show", {"model": model}),
        ("loaded", "GET", f"{root}/api/ps", None),
        ("studio", "GET", f"{root}/api/v0/models", None),
    )
    said: dict[str, Any] = {}
    with contextlib.suppress(TimeoutError, httpx2.HTTPError, httpx2.InvalidURL):
        async with (
            asyncio.timeout(WAIT),
            httpx2.AsyncClient(headers=dict(headers), trust_env=False, verify=trusted(), timeout=WAIT) as client,
        ):
            for name, method, url, sent in questions:
                said[name] = await _read(client, method, url, sent)
    return said


async def _read(client: httpx2.AsyncClient, method: str, url: str, sent: object = None) -> Any:
    """The JSON at `url`; None where there is none.

    Raises:
        httpx2.HTTPError: nobody answers.
    """
    data = bytearray()
    async with client.stream(method, url, json=sent) as response:
        if response.status_code != httpx2.codes.OK:
            return None
        async for piece in response.aiter_bytes():
            data += piece
            if len(data) > LARGEST:
                return None
    try:
        return msgspec.json.decode(data)
    except UNREADABLE:
        return None


def _at(value: Any, *path: str) -> Any:
    """What stands at `path` of nested objects, None where they are of another form."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _row(listed: Any, model: str) -> Any:
    """The entry of `model` in a list of models; the only one, where there is one."""
    rows = [row for row in _rows(listed) if isinstance(row, dict)]
    same = (
        row for row in rows if model in (row.get("id"), row.get("name"), row.get("model"), f"{row.get('id')}:latest")
    )
    latest = (row for row in rows if f"{model}:latest" in (row.get("name"), row.get("model")))
    return next(same, None) or next(latest, None) or (rows[0] if len(rows) == 1 else None)


def _rows(listed: Any) -> Iterator[Any]:
    for name in ("data", "models"):
        rows = _at(listed, name)
        if isinstance(rows, list):
            yield from rows


def _window(row: Any, names: tuple[str, ...]) -> int:
    """The first window a row names, in itself or in its `meta`; 0 where it names none."""
    values = (_number(_at(row, name) or _at(row, "meta", name)) for name in names)
    return next((value for value in values if value), 0)


def _num_ctx(parameters: Any) -> int:
    found = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return _number(int(found[1])) if found else 0


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= LEAST else 0
