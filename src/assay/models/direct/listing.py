"""The models a provider offers, asked for without its client library: a list of names is all that is wanted."""

from __future__ import annotations

import asyncio

import httpx2
import msgspec

from assay.core.errors import ModelError
from assay.core.secrets import Secret
from assay.models import failures
from assay.models.direct.services import Service

WAIT = 5.0
"""Seconds for a list."""
LARGEST = 8_000_000
VERSION = {"anthropic": {"anthropic-version": "2026-10-21"}}
"""Headers without which a provider answers nothing; the version is that of its client library."""


class _Row(msgspec.Struct, frozen=True):
    """A model: its `id`, or at Google and Cohere its `name`, with a path before it."""

    id: str = ""
    name: str = ""


class _List(msgspec.Struct, frozen=True):
    data: tuple[_Row, ...] = ()
    models: tuple[_Row, ...] = ()


async def listed(service: Service, key: Secret) -> tuple[str, ...]:
    """The names of the models at `service`, as Assay calls them, sorted.

    Raises:
        ModelError: it could not be reached, refused, or gives no list.
    """
    if not service.listing:
        raise ModelError(f"{service.name} gives no list of its models at this address", transient=False)
    headers = {service.header: f"{service.scheme}{key.reveal()}"} | VERSION.get(service.name, {})
    try:
        async with (
            asyncio.timeout(WAIT),
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=WAIT) as client,
        ):
            status, data = await _fetched(client, service.url + service.listing)
    except TimeoutError as error:
        raise ModelError(f"{service.name} gave no list of its models in {WAIT:.0f} s") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ModelError(
            f"{service.name} at {service.url} cannot be reached: {str(error) or type(error).__name__}"
        ) from error
    if status != httpx2.codes.OK:
        raise failures.hidden(failures.refusal(service.name, status, data.decode(errors="replace")), key)
    return _names(service.name, data)


async def _fetched(client: httpx2.AsyncClient, url: str) -> tuple[int, bytes]:
    data = bytearray()
    async with client.stream("GET", url) as response:
        async for piece in response.aiter_bytes():
            data += piece
            if len(data) > LARGEST:
                break
    return response.status_code, bytes(data)


def _names(service: str, data: bytes) -> tuple[str, ...]:
    try:
        found = msgspec.json.decode(data, type=_List)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ModelError(f"{service} sent no list of models: {error}") from error
    names = {row.id or row.name.removeprefix("models/") for row in (*found.data, *found.models)}
    return tuple(sorted(f"{service}:{name}" for name in names if name))
