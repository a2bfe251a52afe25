"""The models a service offers, asked for without its client library: a list of names is all that is wanted."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Mapping

import httpx2
import msgspec

from assay.core.errors import ModelError
from assay.core.json_decoding import UNREADABLE
from assay.core.ports.models import Secret
from assay.core.remote_services import trusted
from assay.models.failures import hidden, of_response

WAIT = 5.0
"""Seconds for a list."""
LARGEST = 8_000_000
START = {"ollama": "start it (ollama serve)", "lmstudio": "start it (lms server start)"}
"""How servers on this machine are started."""


class _Row(msgspec.Struct, frozen=True):
    """A model: its `id`, or at Google and Cohere its `name`, with a path before it."""

    id: str = ""
    name: str = ""


class _List(msgspec.Struct, frozen=True):
    data: tuple[_Row, ...] = ()
    models: tuple[_Row, ...] = ()


async def listed(
    service: str, base: str, path: str, *, headers: Mapping[str, str], key: Secret | None = None, local: bool = False
) -> tuple[str, ...]:
    """The names of the models at `base` + `path`, as Assay calls them (`SERVICE:NAME`), sorted.

    Args:
        headers: with the key in them, where the service wants one; `key` is what no error may show.
        local: whether it is a server on this machine, which may just not be running.

    Raises:
        ModelError: it could not be reached, refused, or gave no list.
    """
    try:
        async with (
            asyncio.timeout(WAIT),
            httpx2.AsyncClient(headers=dict(headers), trust_env=False, verify=trusted(), timeout=WAIT) as client,
        ):
            response, data = await _fetched(client, base + path)
    except TimeoutError as error:
        raise ModelError(f"{service} gave no list of its models in {WAIT:.0f} s") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ModelError(unreachable(service, base, error, local=local)) from error
    if response.status_code != httpx2.codes.OK:
        raise hidden(of_response(service, response.status_code, response.headers, data), key)
    return _names(service, data)


def unreachable(service: str, url: str, error: Exception, *, local: bool = False) -> str:
    """That nobody answers at `url`: why, and what to do."""
    causes = tuple(_causes(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return f"{service} does not answer at {url} (no such host): check the address and the network"
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        why = "connection refused"
    elif any(isinstance(cause, TimeoutError | httpx2.TimeoutException) for cause in causes):
        why = "no connection in time"
    else:
        return f"{service} at {url} cannot be reached: {str(error) or type(error).__name__}"
    start = START.get(service, "start it") if local else "check the address and the network"
    return f"{service} does not answer at {url} ({why}): {start}, or choose another model"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


async def _fetched(client: httpx2.AsyncClient, url: str) -> tuple[httpx2.Response, bytes]:
    data = bytearray()
    async with client.stream("GET", url) as response:
        async for piece in response.aiter_bytes():
            data += piece
            if len(data) > LARGEST:
                break
    return response, bytes(data[:LARGEST])


def _names(service: str, data: bytes) -> tuple[str, ...]:
    try:
        found = msgspec.json.decode(data, type=_List)
    except UNREADABLE as error:
        raise ModelError(f"{service} sent no list of models: {error}") from error
    names = {row.id or row.name.removeprefix("models/") for row in (*found.data, *found.models)}
    return tuple(sorted(f"{service}:{name}" for name in names if name))
