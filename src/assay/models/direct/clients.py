"""The providers' clients: each is given its key and address, reads no environment, and never retries.

Every client library is an extra, so each is imported in the function that needs it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import httpx2
from pydantic_ai.models import Model

from assay.models.direct.direct_services import DirectService

CONNECTED = 600.0
"""Seconds a client waits for bytes unless a request says otherwise; the adapter's own limits are shorter."""

LIMITS = httpx2.Limits(max_connections=2_000, max_keepalive_connections=200, keepalive_expiry=30.0)
"""Parallel streams, and idle connections."""

BEDROCK = 300.0
"""The same for Bedrock, whose client reads in a thread that cannot be stopped: it outlives a stalled answer that
long.
"""


class Client(NamedTuple):
    """A provider's model, ready for requests; how to close its connections; the errors of its library."""

    model: Model[Any]
    close: Callable[[], Awaitable[None]]
    raised: tuple[type[Exception], ...]


def client(service: DirectService, model: str, key: str, signing: tuple[str, ...] = ()) -> Client:
    """The model called `model` at `service`. `signing` keys (see `core.ports.Access`) are used instead of `key`.

    Raises:
        ImportError: the extra is damaged.
    """
    return _bedrock(service, model, key, signing) if signing else _MAKERS[service.name](service, model, key)


def _anthropic(service: DirectService, model: str, key: str) -> Client:
    from anthropic import AnthropicError, AsyncAnthropic  # noqa: PLC0415 - an extra
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - an extra
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - an extra

    http = _http()
    own = AsyncAnthropic(api_key=key, base_url=service.url, max_retries=0, http_client=http, open_telemetry=False)
    return Client(
        AnthropicModel(model, provider=AnthropicProvider(anthropic_client=own)), http.aclose, (AnthropicError,)
    )


def _google(service: DirectService, model: str, key: str) -> Client:
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415 - an extra
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415 - an extra

    http = _http(_Tapped())
    provider = GoogleProvider(api_key=key, base_url=service.url, http_client=http)
    return Client(GoogleModel(model, provider=provider), http.aclose, ())


def _cohere(service: DirectService, model: str, key: str) -> Client:
    import httpx  # noqa: PLC0415 - comes with the extra
    from pydantic_ai.models.cohere import CohereModel  # noqa: PLC0415 - an extra
    from pydantic_ai.providers.cohere import CohereProvider  # noqa: PLC0415 - an extra

    http = httpx.AsyncClient(trust_env=False, timeout=CONNECTED, event_hooks={"response": [_noted]})
    cohere = import_module("cohere")
    own = cohere.AsyncClientV2(api_key=key, base_url=service.url, httpx_client=http)
    return Client(
        CohereModel(model, provider=CohereProvider(cohere_client=own)),
        http.aclose,
        (cohere.core.ApiError, httpx.HTTPError),
    )


def _bedrock(service: DirectService, model: str, key: str, signing: tuple[str, ...] = ()) -> Client:
    from pydantic_ai.models.bedrock import BedrockConverseModel  # noqa: PLC0415 - an extra
    from pydantic_ai.providers.bedrock import BedrockProvider  # noqa: PLC0415 - an extra

    # Imported by name: these have no types.
    boto3, tokens = import_module("boto3"), import_module("botocore.tokens")
    errors = import_module("botocore.exceptions")
    session = import_module("botocore.session").Session()
    # It has what it is given here, and looks for nothing in the environment, in files or on the network.
    session.register_component("token_provider", _OneToken(None if signing else tokens.FrozenAuthToken(key)))
    session.register_component("credential_provider", _NoCredentials())
    config = import_module("botocore.config").Config(
        signature_version="v4" if signing else "bearer",
        retries={"total_max_attempts": 1, "mode": "standard"},
        proxies={},
        read_timeout=BEDROCK,
        connect_timeout=10,
    )
    ours = boto3.Session(botocore_session=session, region_name=_region(service.url))
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    keys = dict(zip(names, signing, strict=False))
    own = ours.client("bedrock-runtime", endpoint_url=service.url, config=config, **keys)

    async def close() -> None:
        await asyncio.to_thread(own.close)

    return Client(
        BedrockConverseModel(model, provider=BedrockProvider(bedrock_client=own)),
        close,
        (errors.BotoCoreError, errors.ClientError),
    )


class _OneToken:
    """A provider of tokens for botocore, with only this one."""

    def __init__(self, token: object) -> None:
        self._token = token

    def load_token(self, **_: object) -> object:
        return self._token


class _NoCredentials:
    """A provider of signing keys for botocore, with none."""

    def load_credentials(self) -> None:
        return None


def _region(url: str) -> str:
    """The region in an address; a key is valid for all, so an address without one may use any."""
    named = re.search(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.", url)
    return named[1] if named else "us-east-1"


def _http(transport: httpx2.AsyncBaseTransport | None = None) -> httpx2.AsyncClient:
    """A client that ignores the environment's proxies and .netrc, and follows no redirects."""
    return httpx2.AsyncClient(
        trust_env=False,
        timeout=CONNECTED,
        follow_redirects=False,
        event_hooks={"response": [_noted]},
        transport=transport,
    )


class ResponseIntercepted(Exception):
    """Not an error: carries a successful response, with its body unread, past the library."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__()
        self.response = response


class _Tapped(httpx2.AsyncHTTPTransport):
    """Connections that raise successful responses, so that the library does not read them."""

    def __init__(self) -> None:
        super().__init__(trust_env=False, limits=LIMITS)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send; other responses are returned unchanged."""
        response = await super().handle_async_request(request)
        if response.status_code != httpx2.codes.OK:
            return response
        response.request = request
        raise ResponseIntercepted(response)


class Closable(Protocol):
    """A response of any HTTP client."""

    async def aclose(self) -> None: ...


_opened: ContextVar[list[Closable] | None] = ContextVar("opened", default=None)


def watched() -> list[Closable]:
    """The responses that this task opens from now on; the caller closes them.

    Client libraries leave a stream open on which they fail. Its generators are then closed by the garbage collector,
    all at once and nested, which ends in tracebacks of asyncio, unless everything is closed before.
    """
    opened: list[Closable] = []
    _opened.set(opened)
    return opened


async def _noted(response: Closable) -> None:
    opened = _opened.get()
    if opened is not None:
        opened.append(response)


_MAKERS: dict[str, Callable[[DirectService, str, str], Client]] = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "cohere": _cohere,
    "google": _google,
}
