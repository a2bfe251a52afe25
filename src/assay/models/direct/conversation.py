"""A model of one provider on one event loop: its client, called by pydantic-ai's direct API, with our limits around it.

A client is given its key and address, reads no environment, and never retries. Every client library is an extra, so
each is imported in the function that needs it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from contextvars import ContextVar
from importlib import import_module
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol, TypeVar

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
from pydantic_ai.models import Model, StreamedResponse

from assay.core.errors import ContextTooLong, ModelError, ModelFailed, Refused
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports.models import Secret
from assay.core.remote_services import connection_problem, retry_after, tls_context
from assay.models import failures
from assay.models.direct import DirectService, messages
from assay.models.direct.messages import EventReader
from assay.models.streams import CONNECTION_LIMITS

DEFAULT_TIMEOUT_SECONDS = 600.0
"""Seconds a client waits for bytes unless a request says otherwise; the adapter's own limits are shorter."""

BEDROCK_TIMEOUT_SECONDS = 300.0
"""The same for Bedrock, whose reading thread cannot be stopped: it outlives a stalled answer that long."""


class Client(NamedTuple):
    """A provider's model, ready for requests; how to close its connections; the errors of its library."""

    model: Model[Any]
    close: Callable[[], Awaitable[None]]
    errors: tuple[type[Exception], ...]


def client(service: DirectService, model: str, key: str, signing_keys: tuple[str, ...] = ()) -> Client:
    """The model called `model` at `service`. `signing_keys` (see `core.ports.Access`) are used instead of `key`.

    Raises:
        ImportError: the extra is damaged.
    """
    return _bedrock(service, model, key, signing_keys) if signing_keys else _MAKERS[service.name](service, model, key)


def _anthropic(service: DirectService, model: str, key: str) -> Client:
    from anthropic import AnthropicError, AsyncAnthropic  # noqa: PLC0415 - an extra
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - an extra
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - an extra

    http = _http_client()
    api_client = AsyncAnthropic(
        api_key=key, base_url=service.url, max_retries=0, http_client=http, open_telemetry=False
    )
    return Client(
        AnthropicModel(model, provider=AnthropicProvider(anthropic_client=api_client)), http.aclose, (AnthropicError,)
    )


def _google(service: DirectService, model: str, key: str) -> Client:
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415 - an extra
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415 - an extra

    http = _http_client(_TappedTransport())
    provider = GoogleProvider(api_key=key, base_url=service.url, http_client=http)
    return Client(GoogleModel(model, provider=provider), http.aclose, ())


def _cohere(service: DirectService, model: str, key: str) -> Client:
    import httpx  # noqa: PLC0415 - comes with the extra
    from pydantic_ai.models.cohere import CohereModel  # noqa: PLC0415 - an extra
    from pydantic_ai.providers.cohere import CohereProvider  # noqa: PLC0415 - an extra

    hooks = {"response": [_note_response]}
    http = httpx.AsyncClient(trust_env=False, verify=tls_context(), timeout=DEFAULT_TIMEOUT_SECONDS, event_hooks=hooks)
    cohere = import_module("cohere")
    api_client = cohere.AsyncClientV2(api_key=key, base_url=service.url, httpx_client=http)
    return Client(
        CohereModel(model, provider=CohereProvider(cohere_client=api_client)),
        http.aclose,
        (cohere.core.ApiError, httpx.HTTPError),
    )


def _bedrock(service: DirectService, model: str, key: str, signing_keys: tuple[str, ...] = ()) -> Client:
    from pydantic_ai.models.bedrock import BedrockConverseModel  # noqa: PLC0415 - an extra
    from pydantic_ai.providers.bedrock import BedrockProvider  # noqa: PLC0415 - an extra

    # Imported by name: these have no types.
    boto3, tokens = import_module("boto3"), import_module("botocore.tokens")
    errors = import_module("botocore.exceptions")
    session = import_module("botocore.session").Session()
    # It has what it is given here, and looks for nothing in the environment, in files or on the network.
    token = None if signing_keys else tokens.FrozenAuthToken(key)
    session.register_component("token_provider", SimpleNamespace(load_token=lambda **_: token))
    session.register_component("credential_provider", SimpleNamespace(load_credentials=lambda: None))
    config = import_module("botocore.config").Config(
        signature_version="v4" if signing_keys else "bearer",
        retries={"total_max_attempts": 1, "mode": "standard"},
        proxies={},
        read_timeout=BEDROCK_TIMEOUT_SECONDS,
        connect_timeout=10,
    )
    boto_session = boto3.Session(botocore_session=session, region_name=_region(service.url))
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    keys = dict(zip(names, signing_keys, strict=False))
    api_client = boto_session.client("bedrock-runtime", endpoint_url=service.url, config=config, **keys)

    async def close() -> None:
        await asyncio.to_thread(api_client.close)

    return Client(
        BedrockConverseModel(model, provider=BedrockProvider(bedrock_client=api_client)),
        close,
        (errors.BotoCoreError, errors.ClientError),
    )


def _region(url: str) -> str:
    """The region in an address; a key is valid for all, so an address without one may use any."""
    match = re.search(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.", url)
    return match[1] if match else "us-east-1"


def _http_client(transport: httpx2.AsyncBaseTransport | None = None) -> httpx2.AsyncClient:
    """A client that ignores the environment's proxies and .netrc, and follows no redirects."""
    return httpx2.AsyncClient(
        trust_env=False,
        verify=tls_context(),
        timeout=DEFAULT_TIMEOUT_SECONDS,
        follow_redirects=False,
        event_hooks={"response": [_note_response]},
        transport=transport,
    )


class ResponseIntercepted(Exception):
    """Not an error: carries a successful response, with its body unread, past the library."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__()
        self.response = response


class _TappedTransport(httpx2.AsyncHTTPTransport):
    """Connections that raise successful responses, so that the library does not read them."""

    def __init__(self) -> None:
        super().__init__(verify=tls_context(), trust_env=False, limits=CONNECTION_LIMITS)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send; other responses are returned unchanged."""
        response = await super().handle_async_request(request)
        if response.status_code != httpx2.codes.OK:
            return response
        response.request = request
        raise ResponseIntercepted(response)


class ClosableResponse(Protocol):
    """A response of any HTTP client."""

    async def aclose(self) -> None: ...


_opened: ContextVar[list[ClosableResponse] | None] = ContextVar("opened", default=None)


def track_responses() -> list[ClosableResponse]:
    """The responses that this task opens from now on; the caller closes them.

    Client libraries leave a stream open on which they fail. Its generators are then closed by the garbage collector,
    all at once and nested, which ends in tracebacks of asyncio, unless everything is closed before.
    """
    responses: list[ClosableResponse] = []
    _opened.set(responses)
    return responses


async def _note_response(response: ClosableResponse) -> None:
    responses = _opened.get()
    if responses is not None:
        responses.append(response)


_MAKERS: dict[str, Callable[[DirectService, str, str], Client]] = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "cohere": _cohere,
    "google": _google,
}


# Translates the library's errors into ours; the key is in none of them.

MISREAD_ERRORS = (AttributeError, TypeError, LookupError, ValueError, AssertionError, RecursionError)
"""Errors of client libraries for an unexpected form of answer: they check few of its fields."""
LIBRARY_ERRORS = (AgentRunError, UserError, httpx2.HTTPError, httpx2.InvalidURL, OSError, *MISREAD_ERRORS)
"""All errors that a provider can cause in the library."""


def model_error(service: DirectService, key: Secret, error: BaseException) -> ModelError | ModelFailed:
    """Our error for one of `LIBRARY_ERRORS`."""
    return failures.hide_key(_model_error(service, error), key)


def _model_error(service: DirectService, error: BaseException) -> ModelError | ModelFailed:
    name = service.name
    match error:
        case TimeoutError() | ModelTimeoutError() | httpx2.TimeoutException():
            return ModelError(f"{name} did not answer in time")
        case ModelAPIError():
            return _api_error(service, error)
        case UserError():
            return ModelError(f"{name} cannot be asked this: {failures.shorten_message(str(error))}", transient=False)
        case httpx2.HTTPError() | httpx2.InvalidURL() | OSError():
            return ModelError(_unreachable_message(service, error))
        case AgentRunError():
            return ModelError(f"{name} broke off: {failures.shorten_message(str(error))}")
        case _:
            message = failures.shorten_message(str(error))
            return ModelError(f"{name} sent an answer that cannot be read: {type(error).__name__}: {message}")


def _api_error(service: DirectService, error: ModelAPIError) -> ModelError | ModelFailed:
    name, message = service.name, _error_message(error.body) or error.message
    if isinstance(error, ModelContextWindowExceededError):
        return ContextTooLong(f"{name}: {failures.shorten_message(message)}")
    if isinstance(error, ModelQuotaExceededError):
        status = f" {error.status_code}" if isinstance(error, ModelHTTPError) else ""
        return ModelError(f"{name} answered{status}: {failures.shorten_message(message)}", transient=False)
    if isinstance(error, ModelHTTPError):
        wait = None if error.retry_after is None else max(0.0, error.retry_after)
        if wait is None and error.headers:
            wait = retry_after(error.headers)
        own_message, text = _error_message(error.body), f"{message} {error.body}"
        return failures.status_error(
            name, error.status_code, message, text=text, own_message=own_message, retry_after=wait
        )
    if isinstance(error, ModelConnectionError):
        return ModelError(_unreachable_message(service, error))
    if failures.is_context_too_long(message):
        return ContextTooLong(f"{name}: {failures.shorten_message(message)}")
    if failures.is_content_refusal(message):
        return Refused(f"it refused to answer: {failures.shorten_message(message)}")
    return ModelError(f"{name} broke off: {failures.shorten_message(message)}", retry_after=error.retry_after)


def _unreachable_message(service: DirectService, error: BaseException) -> str:
    problem = failures.shorten_message(connection_problem(error, service.url))
    return f"{service.name} at {service.url} cannot be reached: {problem}"


def _error_message(body: object) -> str:
    """A provider's own message in the body of its refusal: `error.message`, `message` or `detail`, else the text."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, str):
            return inner
        details = inner if isinstance(inner, dict) else body
        message = details.get("message") or details.get("detail") or body.get("message") or ""
        return message if isinstance(message, str) else str(message)
    return body if isinstance(body, str) else ""


T = TypeVar("T")
OpenStream = Callable[[AsyncExitStack], Awaitable[AsyncIterator[T]]]
"""Sends a request and gives its events; what must be closed after them goes onto the stack."""


class Conversation:
    """The model `model` at `service`, on the running loop."""

    def __init__(
        self, model: str, service: DirectService, profile: Profile, key: Secret, signing_keys: tuple[Secret, ...] = ()
    ) -> None:
        """Create the client; sends nothing yet.

        Raises:
            ModelError: the client does not accept the name or the address.
            ImportError: the extra is damaged.
        """
        self._service, self._profile, self._key = service, profile, key
        try:
            self._client = client(service, model, key.reveal(), tuple(secret.reveal() for secret in signing_keys))
        except LIBRARY_ERRORS as error:
            raise model_error(service, key, error) from None

    async def answer(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Yield deltas as they come, then the reply.

        Raises:
            ModelError: the provider could not be reached, refused, stalled or broke off.
            ContextTooLong: the request does not fit the model's window.
        """
        reader = EventReader(self._service)
        responses: list[StreamedResponse] = []

        async def begin(stack: AsyncExitStack) -> AsyncIterator[ModelResponseStreamEvent]:
            responses.append(await stack.enter_async_context(self._open(request)))
            return aiter(responses[0])

        async with aclosing(self._stream_events(request, begin)) as events:
            async for event in events:
                for delta in reader.feed(event):
                    yield delta
        for delta in reader.end():
            yield delta
        yield reader.reply(request, self._profile.name, responses[0])

    async def close(self) -> None:
        await self._client.close()

    async def _stream_events(self, request: Request, begin: OpenStream[T]) -> AsyncGenerator[T, None]:
        """Yield the events of a stream that `begin` opens; all external failures occur here.

        Errors are raised without their cause, which contains the request's headers and the provider's words, and may
        contain the key.
        """
        clock = asyncio.get_running_loop().time
        errors: tuple[type[BaseException], ...] = (*LIBRARY_ERRORS, *self._client.errors)
        try:
            async with AsyncExitStack() as stack:
                stack.push_async_callback(close_all, track_responses())  # last, and in the task of the request
                limit = clock() + request.first_token
                async with asyncio.timeout_at(limit):
                    events = await begin(stack)
                while True:
                    async with asyncio.timeout_at(limit):
                        event = await anext(events, None)
                    if event is None:
                        return
                    yield event
                    limit = clock() + request.timeout
        except errors as error:
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


async def close_all(responses: list[ClosableResponse]) -> None:
    """Close responses, the last first."""
    while responses:
        await responses.pop().aclose()
