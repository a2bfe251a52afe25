"""Services that speak OpenAI's chat completions: OpenAI, Mistral, Groq, vLLM, Ollama and others.

The adapter sends one request and receives a stream of chunks. `run.model_call` handles retries, fallbacks and breakers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any

import httpx2
import msgspec

from assay.core.errors import ModelError, ModelFailed
from assay.core.messages import MAX_OUTPUT, Delta, ModelFacts, Profile, Reply, Request
from assay.core.ports import Access
from assay.core.ports.models import Secret, can_write
from assay.core.remote_services import tls_context
from assay.models.catalogue import create_profile, list_models, unreachable_message
from assay.models.failures import (
    ServiceFault,
    fault_error,
    hide_key,
    is_loading,
    is_unknown_model,
    read_fault,
    stated_window,
)
from assay.models.openai import chat_services, concessions, reply_assembly
from assay.models.openai.chat_services import SERVICES, ChatService, parse_service
from assay.models.openai.reply_assembly import Assembler
from assay.models.openai.wire import CompletionChunk, decode_without_usage, request_fields
from assay.models.streams import CONNECTION_LIMITS, decode, event_data, first_bytes

__all__ = ["SERVICES", "ChatCompletions", "ChatService", "create"]


CONNECT_SECONDS = 5.0
"""Seconds to connect to a service."""
BODY_END_SECONDS = 0.1
"""Seconds between the last event and the end of the body; most services send both together."""
MAX_FAULT_BYTES = 64_000
MAX_EVENT_BYTES = 4_000_000
MAX_MODELS_SHOWN = 8
"""How many of a service's models an error lists."""
LOADING_RETRY_SECONDS = 1.0
"""Seconds between two requests to a server that is loading its model."""
LOAD_HINTS = {"ollama": "get it (ollama pull {})", "lmstudio": "load it (lms load {})"}
"""How local servers get a model."""
BASE_HINT = "is the address the base of its API, with the version (…/v1)?"


class ChatCompletions:
    """A model of an OpenAI-compatible service. Implements `core.ports.Model`."""

    def __init__(self, model: str, service: ChatService, profile: Profile, key: Secret | None = None) -> None:
        """`model` is the service's own name for it. `key` is put only into the request's header.

        The adapter remembers what the service refused, and how its model marks its thinking.
        """
        self._model, self._service, self._profile, self._key = model, service, profile, key
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._concessions, self._opens_thinking = concessions.NO_CONCESSIONS, False
        self._server_facts: ModelFacts | None = None
        self._learnt = 0

    @property
    def profile(self) -> Profile:
        return self._profile

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        assembler = Assembler(opens_thinking=self._opens_thinking)
        try:
            async with aclosing(self._chunks(request)) as chunks:
                async for chunk in chunks:
                    if chunk is None:
                        assembler.mark_done()
                    elif (fault := chunk.fault) is None:
                        for delta in assembler.feed(chunk):
                            yield delta
                    elif (
                        isinstance(fault, ServiceFault)
                        and fault.is_rejected_call
                        and assembler.recover_rejected_call(fault)
                    ):
                        break
                    else:
                        if isinstance(fault, ServiceFault):
                            self._note_window(fault)
                        raise hide_key(reply_assembly.stream_error(self._service.name, fault), self._key)
        except (httpx2.HTTPError, httpx2.SSEError) as error:
            raise self._connection_error(error) from error
        for delta in assembler.end():
            yield delta
        self._opens_thinking = self._opens_thinking or assembler.has_unopened_reasoning
        yield assembler.reply(request, self._profile.name)

    async def offered(self) -> tuple[str, ...]:
        service = self._service
        headers = self._headers()
        return await list_models(
            service.name, service.url.rstrip("/"), "/models", headers=headers, key=self._key, local=service.local
        )

    async def described(self, *, load: bool = True) -> ModelFacts:
        """Return what a server on this machine says about the model; it is asked until it has said the window.

        A smaller window that it named since, as it refused a request, counts instead.
        """
        facts = await self._fetch_facts(load=load)
        window = min(self._learnt, facts.window or self._learnt)
        return msgspec.structs.replace(facts, window=window) if window else facts

    def refused_window(self, refusal: str) -> int:
        return stated_window(refusal)

    async def _fetch_facts(self, *, load: bool) -> ModelFacts:
        if not self._service.local or self._server_facts is not None:
            return self._server_facts or ModelFacts()
        facts = await chat_services.server_facts(self._service.url, self._model, self._headers(), load=load)
        if facts is None:
            return ModelFacts()
        if facts.facts.window:
            self._server_facts = facts.facts
            max_output = min(MAX_OUTPUT, facts.facts.window)
            self._profile = msgspec.structs.replace(self._profile, max_output=max(max_output, self._profile.max_output))
        if facts.tools is False:
            self._concessions = msgspec.structs.replace(self._concessions, tools=False)
        return facts.facts

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _chunks(self, request: Request) -> AsyncGenerator[CompletionChunk | None, None]:
        """Yield the chunks of the answer, and None when the service says that there are no more.

        If the service refuses a part of the request, the request is repeated at once without that part. If it is
        still loading its model, the request is repeated until it has, as long as the first token may take.
        """
        clock, concessions_left = asyncio.get_running_loop().time, concessions.MAX_CONCESSIONS
        until = clock() + request.first_token
        while True:
            fields = request_fields(request, self._model, self._profile, self._service, self._concessions)
            async with self._post(request, fields) as response:
                if response.status_code == httpx2.codes.OK:
                    async with aclosing(self._read(response)) as chunks:
                        async for chunk in chunks:
                            yield chunk
                    return
                fault = read_fault(await first_bytes(response, MAX_FAULT_BYTES))
            if is_loading(response.status_code, fault):
                await self._wait_for_loading(until - clock(), request.first_token)
                continue
            if fault.is_rejected_call and fault.rejected_call_text:
                yield CompletionChunk(error=fault)
                return
            new_concessions = (
                concessions.next_concessions(self._concessions, fields, response.status_code, fault)
                if concessions_left
                else None
            )
            if new_concessions is None:
                raise await self._response_error(response, fault)
            self._concessions, concessions_left = new_concessions, concessions_left - 1

    async def _wait_for_loading(self, seconds_left: float, max_seconds: float) -> None:
        """Wait for a server that is loading its model; `seconds_left` of `max_seconds` remain."""
        if seconds_left <= LOADING_RETRY_SECONDS:
            raise ModelError(
                f"{self._service.name} is still loading its model after {max_seconds:g} s: try again, or allow more "
                "(timeouts.first_token)",
                reached=False,
            )
        await asyncio.sleep(LOADING_RETRY_SECONDS)

    def _post(self, request: Request, fields: dict[str, Any]) -> AbstractAsyncContextManager[httpx2.Response]:
        timeout = httpx2.Timeout(max(request.timeout, request.first_token), connect=CONNECT_SECONDS)
        url = f"{self._service.url.rstrip('/')}/chat/completions"
        return self._get_client().stream("POST", url, content=msgspec.json.encode(fields), timeout=timeout)

    async def _read(self, response: httpx2.Response) -> AsyncGenerator[CompletionChunk | None, None]:
        """Yield the events of a stream, or the single body of a service that does not stream."""
        if response.headers.get("content-type", "").partition(";")[0].strip().endswith("json"):
            yield self._chunk((await first_bytes(response, MAX_EVENT_BYTES)).decode(errors="replace"))
            yield None
            return
        async with aclosing(event_data(response, MAX_EVENT_BYTES)) as events:
            async for data in events:
                if data == "[DONE]":
                    yield None
                    await _drain(events)
                    return
                yield self._chunk(data)

    def _chunk(self, data: str) -> CompletionChunk:
        try:
            try:
                return decode(data, CompletionChunk)
            except msgspec.ValidationError:
                return decode_without_usage(data)
        except (ValueError, RecursionError) as error:
            raise ModelError(f"{self._service.name} sent a chunk that cannot be read: {error}") from error

    def _get_client(self) -> httpx2.AsyncClient:
        """The client of the running loop; loops cannot share connections."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            headers = {"content-type": "application/json", "accept": "text/event-stream"} | self._headers()
            # The user has not told Assay about the environment's proxies and .netrc, so they are not used.
            client = httpx2.AsyncClient(
                headers=headers, trust_env=False, verify=tls_context(), limits=CONNECTION_LIMITS
            )
            self._client, self._loop = client, loop
        return self._client

    def _headers(self) -> dict[str, str]:
        return {} if self._key is None else {"authorization": f"Bearer {self._key.reveal()}"}

    async def _response_error(self, response: httpx2.Response, fault: ServiceFault) -> ModelError | ModelFailed:
        """The error for a service's refusal; if the service lacks the model, the error lists those it has."""
        service, status = self._service, response.status_code
        self._note_window(fault)
        if is_unknown_model(status, fault):
            return ModelError(await self._unknown_model_message(status), transient=False, usable=False)
        if status == httpx2.codes.NOT_FOUND:
            words = f"{service.name} has no chat completions at {service.url} (404): {BASE_HINT}"
            return ModelError(words, transient=False, usable=False)
        return hide_key(fault_error(service.name, status, response.headers, fault), self._key)

    def _note_window(self, fault: ServiceFault) -> None:
        """Learn the window of a local model that its server names as it refuses a request that is too long.

        The server may have been too busy to say it before the run. It counts for the runs that begin now (`described`);
        the run that was refused learns it from its own step.
        """
        window = stated_window(fault.text)
        if self._service.local and 0 < window < self._profile.window:
            self._learnt = min(window, self._learnt or window)

    async def _unknown_model_message(self, status: int) -> str:
        """A message that the service lacks the model, with the models it has that write."""
        service, model_names = self._service, list[str]()
        with contextlib.suppress(ModelError, ModelFailed):
            other_names = (name for name in await self.offered() if not name.endswith(f":{self._model}"))
            model_names = [name for name in other_names if can_write(name)]
        pull = f"{LOAD_HINTS[service.name].format(self._model)}, or " if service.name in LOAD_HINTS else ""
        name_list = ", ".join(model_names[:MAX_MODELS_SHOWN]) + (", …" if len(model_names) > MAX_MODELS_SHOWN else "")
        choose = (
            f"choose one it has: {name_list}" if model_names else f"look for its name (assay models {service.name})"
        )
        return f"no model {self._model!r} at {service.url} ({status}): {pull}{choose}"

    def _connection_error(self, error: httpx2.HTTPError | httpx2.SSEError) -> ModelError:
        """The error for an HTTP failure. If a server on this machine is down, a retry does not help."""
        service = self._service
        match error:
            case httpx2.ConnectError() | httpx2.ConnectTimeout():
                words = unreachable_message(service.name, service.url, error, local=service.local)
                return ModelError(words, transient=not service.local, reached=False, usable=not service.local)
            case httpx2.TimeoutException():
                return ModelError(f"{service.name} did not answer in time")
            case httpx2.SSEError():
                return ModelError(
                    f"{service.name} answers at {service.url}, but not with chat completions: {BASE_HINT} ({error})",
                    transient=False,
                    usable=False,
                )
            case _:
                return ModelError(unreachable_message(service.name, service.url, error, local=service.local))


async def _drain(events: AsyncIterator[object]) -> None:
    """Read the end of a body after its last event: only then can the next request use its connection.

    If the service leaves the body open or breaks it off now, the answer is still valid, and the connection is closed.
    """
    with contextlib.suppress(TimeoutError, httpx2.HTTPError, httpx2.SSEError, ModelError):
        async with asyncio.timeout(BODY_END_SECONDS):
            async for _ in events:
                pass


def create(name: str, access: Access) -> ChatCompletions:
    """Create the model named `SERVICE:MODEL`, at one of `SERVICES` or at the configured address.

    Raises:
        ConfigError: no model is named, or the service is unknown and has no address, or needs a key and has none.
    """
    service, model = parse_service(name, access)
    facts = access.facts
    if service.window and facts.window is None:
        facts = msgspec.structs.replace(facts, window=service.window)
    profile = create_profile(name, service.name, model, facts, local=service.local)
    return ChatCompletions(model, service, profile, access.key)
