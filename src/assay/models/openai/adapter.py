"""The adapter: one request out, a stream of chunks in. Retries, fallbacks and health are `run.asking`'s."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import httpx2

from assay.core.errors import ModelError, ModelFailed
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports import Access
from assay.core.secrets import Secret
from assay.models.catalogue import profile
from assay.models.failures import hidden, of_response
from assay.models.halves import decode
from assay.models.listing import listed, unreachable
from assay.models.openai import failures
from assay.models.openai.assembling import Assembler
from assay.models.openai.services import Service, service_of
from assay.models.openai.wire import Chunk, body

CONNECT = 10.0
"""Seconds to reach a service."""
BODY_END = 0.1
"""Seconds between the last event and the end of the body, which most services send together."""
LIMITS = httpx2.Limits(max_connections=2_000, max_keepalive_connections=200, keepalive_expiry=30.0)
"""Streams at once, and connections kept: a new one to a service far away costs as much as some ten tokens."""
LARGEST_FAULT = 64_000
LARGEST_EVENT = 4_000_000


class ChatCompletions:
    """A model behind an OpenAI-compatible service; implements `core.ports.Model`."""

    def __init__(self, model: str, service: Service, profile: Profile, key: Secret | None = None) -> None:
        """`model` is the service's own name of it; `key` goes into the request's header and nowhere else."""
        self._model, self._service, self._profile, self._key = model, service, profile, key
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def profile(self) -> Profile:
        """What the model can do."""
        return self._profile

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Answer `request`: deltas as they come, then the reply.

        Raises:
            ModelError: the service could not be reached, refused, stalled or broke off.
            ContextTooLong: the request does not fit the model's window.
        """
        assembler = Assembler()
        try:
            async with aclosing(self._chunks(request)) as chunks:
                async for chunk in chunks:
                    if fault := chunk.fault:
                        raise hidden(failures.of_fault(self._service.name, fault), self._key)
                    for delta in assembler.take(chunk):
                        yield delta
        except httpx2.TimeoutException as error:
            raise ModelError(f"{self._service.name} did not answer in time") from error
        except httpx2.SSEError as error:
            raise ModelError(
                f"{self._service.name} answers at {self._service.url}, but not with chat completions:"
                f" is the address the base of its API, with the version (…/v1)? ({error})",
                transient=False,
            ) from error
        except httpx2.HTTPError as error:
            raise ModelError(self._unreachable(error)) from error
        for delta in assembler.end():
            yield delta
        yield assembler.reply(request, self._profile.name)

    async def offered(self) -> tuple[str, ...]:
        """The models the service lists, sorted.

        Raises:
            ModelError: it could not be reached, or gave no list.
        """
        at = self._service
        headers = self._headers()
        return await listed(at.name, at.url.rstrip("/"), "/models", headers=headers, key=self._key, local=at.local)

    async def close(self) -> None:
        """Let go of the connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _chunks(self, request: Request) -> AsyncGenerator[Chunk, None]:
        data = body(request, self._model, self._profile, self._service)
        timeout = httpx2.Timeout(max(request.timeout, request.first_token), connect=CONNECT)
        url = f"{self._service.url.rstrip('/')}/chat/completions"
        async with self._connected().stream("POST", url, content=data, timeout=timeout) as response:
            if response.status_code != httpx2.codes.OK:
                raise self._refused(response, await _start(response, LARGEST_FAULT))
            events = aiter(httpx2.EventSource(response, max_event_size=LARGEST_EVENT))
            async for event in events:
                if event.data == "[DONE]":
                    await _finish(events)
                    return
                try:
                    yield decode(event.data, Chunk)
                except (ValueError, RecursionError) as error:
                    raise ModelError(f"{self._service.name} sent what is no chunk: {error}") from error

    def _connected(self) -> httpx2.AsyncClient:
        """The client of the running loop; connections cannot be shared between loops."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            headers = {"content-type": "application/json", "accept": "text/event-stream"} | self._headers()
            # The environment's proxies and .netrc are nothing a user has told Assay.
            self._client, self._loop = httpx2.AsyncClient(headers=headers, trust_env=False, limits=LIMITS), loop
        return self._client

    def _headers(self) -> dict[str, str]:
        return {} if self._key is None else {"authorization": f"Bearer {self._key.reveal()}"}

    def _refused(self, response: httpx2.Response, data: bytes) -> ModelError | ModelFailed:
        """The error a service answered with."""
        error = of_response(self._service.name, response.status_code, response.headers, data)
        return hidden(error, self._key)

    def _unreachable(self, error: httpx2.HTTPError) -> str:
        return unreachable(self._service.name, self._service.url, error, local=self._service.local)


async def _finish(events: AsyncIterator[object]) -> None:
    """Read the end of a body whose last event has come: only then can its connection be used for the next request.

    A service which leaves the body open, or breaks it off now, has answered all the same; its connection is closed.
    """
    with contextlib.suppress(TimeoutError, httpx2.HTTPError, httpx2.SSEError):
        async with asyncio.timeout(BODY_END):
            async for _ in events:
                pass


async def _start(response: httpx2.Response, most: int) -> bytes:
    """The first `most` bytes of a response."""
    data = bytearray()
    async for piece in response.aiter_bytes():
        data += piece
        if len(data) >= most:
            break
    return bytes(data[:most])


def create(name: str, access: Access) -> ChatCompletions:
    """The model named `SERVICE:MODEL`, at one of `SERVICES` or at the address given.

    Raises:
        ConfigError: no model is named, or the service is unknown and has no address, or wants a key and has none.
    """
    service, model = service_of(name, access)
    known = profile(name, service.name, model, access.facts, local=service.local)
    return ChatCompletions(model, service, known, access.key)
