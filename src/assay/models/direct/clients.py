"""The clients of the providers: each given its key and address, none reading the environment, none trying again.

Every client library is an extra, so each is imported by the function which needs it.
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
"""Seconds which a client waits for bytes where a request says nothing else; the adapter's own limits are shorter."""

LIMITS = httpx2.Limits(max_connections=2_000, max_keepalive_connections=200, keepalive_expiry=30.0)
"""Streams at once, and connections kept."""

BEDROCK = 300.0
"""The same for Bedrock, whose client reads in a thread nobody can stop: it outlives a stalled answer that long."""


class Client(NamedTuple):
    """A provider's model, ready to be asked; how to let go of its connections; what its library raises of its own."""

    model: Model[Any]
    close: Callable[[], Awaitable[None]]
    raised: tuple[type[Exception], ...]


def client(service: DirectService, model: str, key: str, signing: tuple[str, ...] = ()) -> Client:
    """The model called `model` at `service`. `signing` keys (see `core.ports.Access`) are used in place of `key`.

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
    """A provider of tokens, as botocore asks them, which has this one."""

    def __init__(self, token: object) -> None:
        self._token = token

    def load_token(self, **_: object) -> object:
        return self._token


class _NoCredentials:
    """A provider of signing keys, as botocore asks them, which has none."""

    def load_credentials(self) -> None:
        return None


def _region(url: str) -> str:
    """The region an address names; a key is good for any, so that one which names none is as good as another."""
    named = re.search(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.", url)
    return named[1] if named else "us-east-1"


def _http(transport: httpx2.AsyncBaseTransport | None = None) -> httpx2.AsyncClient:
    """The environment's proxies and .netrc are nothing a user has told Assay; nor are redirects followed."""
    return httpx2.AsyncClient(
        trust_env=False,
        timeout=CONNECTED,
        follow_redirects=False,
        event_hooks={"response": [_noted]},
        transport=transport,
    )


class ResponseIntercepted(Exception):
    """No error: a good answer, its body not yet read, on its way past the library."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__()
        self.response = response


class _Tapped(httpx2.AsyncHTTPTransport):
    """Connections whose good answers are raised, so that the library which asked does not read them."""

    def __init__(self) -> None:
        super().__init__(trust_env=False, limits=LIMITS)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send; what is no good answer comes back as it is."""
        response = await super().handle_async_request(request)
        if response.status_code != httpx2.codes.OK:
            return response
        response.request = request
        raise ResponseIntercepted(response)


class Closable(Protocol):
    """A response, of whichever HTTP client."""

    async def aclose(self) -> None: ...


_opened: ContextVar[list[Closable] | None] = ContextVar("opened", default=None)


def watched() -> list[Closable]:
    """The responses which this task opens from now on; whoever asks closes them.

    Client libraries leave a stream which they fail at as it is. Its generators are then closed when they are collected,
    all at once and in the middle of one another, which ends in tracebacks of asyncio; unless nothing is left to close.
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
