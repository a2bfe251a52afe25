"""One provider's model on one event loop, called through pydantic-ai's direct API, with our limits around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing

import httpx2
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelTimeoutError,
    UserError,
)
from pydantic_ai.messages import ModelResponseStreamEvent
from pydantic_ai.models import StreamedResponse

from assay.core.errors import ContextTooLong, ModelError, ModelFailed, Refused
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports.models import Secret
from assay.core.remote_services import retry_after
from assay.models import failures
from assay.models.direct import messages
from assay.models.direct.clients import Closable, client, watched
from assay.models.direct.direct_services import DirectService
from assay.models.direct.messages import EventReader

# Translates the library's errors into ours; the key is in none of them.

MISREAD = (AttributeError, TypeError, LookupError, ValueError, AssertionError, RecursionError)
"""Errors of client libraries for an unexpected form of answer: they check few of its fields."""
RAISED = (AgentRunError, UserError, httpx2.HTTPError, httpx2.InvalidURL, OSError, *MISREAD)
"""All errors that a provider can cause in the library."""


def model_error(service: DirectService, key: Secret, error: BaseException) -> ModelError | ModelFailed:
    """Our error for one of `RAISED`."""
    return failures.hidden(_model_error(service, error), key)


def _model_error(service: DirectService, error: BaseException) -> ModelError | ModelFailed:
    name = service.name
    match error:
        case TimeoutError() | ModelTimeoutError() | httpx2.TimeoutException():
            return ModelError(f"{name} did not answer in time")
        case ModelAPIError():
            return _api(service, error)
        case UserError():
            return ModelError(f"{name} cannot be asked this: {failures.shortened(str(error))}", transient=False)
        case httpx2.HTTPError() | httpx2.InvalidURL() | OSError():
            return ModelError(_unreachable(service, error))
        case AgentRunError():
            return ModelError(f"{name} broke off: {failures.shortened(str(error))}")
        case _:
            message = failures.shortened(str(error))
            return ModelError(f"{name} sent an answer that cannot be read: {type(error).__name__}: {message}")


def _api(service: DirectService, error: ModelAPIError) -> ModelError | ModelFailed:
    name, message = service.name, _words(error.body) or error.message
    if isinstance(error, ModelContextWindowExceededError):
        return ContextTooLong(f"{name}: {failures.shortened(message)}")
    if isinstance(error, ModelQuotaExceededError):
        status = f" {error.status_code}" if isinstance(error, ModelHTTPError) else ""
        return ModelError(f"{name} answered{status}: {failures.shortened(message)}", transient=False)
    if isinstance(error, ModelHTTPError):
        wait = None if error.retry_after is None else max(0.0, error.retry_after)
        if wait is None and error.headers:
            wait = retry_after(error.headers)
        return failures.refusal(name, error.status_code, message, text=f"{message} {error.body}", retry_after=wait)
    if isinstance(error, ModelConnectionError):
        return ModelError(_unreachable(service, error))
    if failures.too_long(message):
        return ContextTooLong(f"{name}: {failures.shortened(message)}")
    if failures.declined(message):
        return Refused(f"it refused to answer: {failures.shortened(message)}")
    return ModelError(f"{name} broke off: {failures.shortened(message)}", retry_after=error.retry_after)


def _unreachable(service: DirectService, error: BaseException) -> str:
    message = failures.shortened(str(error)) or type(error).__name__
    return f"{service.name} at {service.url} cannot be reached: {message}"


def _words(body: object) -> str:
    """A provider's own message in the body of its refusal: `error.message`, `message` or `detail`, else the text."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, str):
            return inner
        found = inner if isinstance(inner, dict) else body
        message = found.get("message") or found.get("detail") or body.get("message") or ""
        return message if isinstance(message, str) else str(message)
    return body if isinstance(body, str) else ""


class Conversation:
    """The model `model` at `service`, on the running loop."""

    def __init__(
        self, model: str, service: DirectService, profile: Profile, key: Secret, signing: tuple[Secret, ...] = ()
    ) -> None:
        """Create the client; sends nothing yet.

        Raises:
            ModelError: the client does not accept the name or the address.
            ImportError: the extra is damaged.
        """
        self._service, self._profile, self._key = service, profile, key
        try:
            self._client = client(service, model, key.reveal(), tuple(each.reveal() for each in signing))
        except RAISED as error:
            raise model_error(service, key, error) from None

    async def answer(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Yield deltas as they come, then the reply.

        Raises:
            ModelError: the provider could not be reached, refused, stalled or broke off.
            ContextTooLong: the request does not fit the model's window.
        """
        reader = EventReader(self._service)
        response: StreamedResponse | None = None
        async with aclosing(self._events(request)) as events:
            async for event in events:
                if isinstance(event, StreamedResponse):
                    response = event
                    continue
                for delta in reader.take(event):
                    yield delta
        for delta in reader.end():
            yield delta
        assert response is not None, "the stream ended without saying so"
        yield reader.reply(request, self._profile.name, response)

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()

    async def _events(self, request: Request) -> AsyncGenerator[ModelResponseStreamEvent | StreamedResponse, None]:
        """Yield the library's events, then their response; all external failures occur here.

        Errors are raised without their cause, which contains the request's headers and the provider's words, and may
        contain the key.
        """
        clock = asyncio.get_running_loop().time
        failing: tuple[type[BaseException], ...] = (*RAISED, *self._client.raised)
        try:
            async with AsyncExitStack() as stack:
                stack.push_async_callback(close_all, watched())  # last, and in the task of the request
                limit = clock() + request.first_token
                async with asyncio.timeout_at(limit):
                    response = await stack.enter_async_context(self._open(request))
                events = aiter(response)
                while True:
                    async with asyncio.timeout_at(limit):
                        event = await anext(events, None)
                    if event is None:
                        break
                    yield event
                    limit = clock() + request.timeout
            yield response
        except failing as error:
            raise model_error(self._service, self._key, error) from None

    def _open(self, request: Request) -> AbstractAsyncContextManager[StreamedResponse]:
        model = self._client.model
        return model_request_stream(
            model,
            messages.messages(request, self._service),
            model_settings=messages.settings(request, self._service, self._profile, model.profile),
            model_request_parameters=messages.parameters(request, model.profile),
            instrument=False,
        )


async def close_all(opened: list[Closable]) -> None:
    """Close responses, the last first."""
    while opened:
        await opened.pop().aclose()
