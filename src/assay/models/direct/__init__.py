"""Other providers, each with its own client library: Anthropic, Google, Cohere, Bedrock.

The adapter: one request out, a stream of events in. `run.model_call` does retries, fallbacks and breakers. pydantic-ai
and a provider's client take a second to import: `conversation` and its imports are loaded when a model is first called,
never to list providers or to read settings.
"""

from __future__ import annotations

import asyncio
import importlib.util
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from assay.core.errors import ConfigError, ModelError
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports import Access
from assay.core.ports.models import Secret
from assay.models.catalogue import create_profile, list_models

if TYPE_CHECKING:
    from assay.models.direct.conversation import Conversation

__all__ = ["SERVICES", "Direct", "DirectService", "create"]


# The providers reached through pydantic-ai: their addresses, needs, and differences.

ANY_ID = r"[a-zA-Z0-9_-]{1,64}"


class DirectService(msgspec.Struct, frozen=True, kw_only=True):
    """A provider.

    `url` is the base of its API, empty if the user must set it (`where` shows how), or the region from which `regional`
    makes an address. `key` is the name of the setting with its key, `variables` are other places for it. `module` is
    the client library that its extra of the same name installs; `prices` is its name in the table of prices. Models are
    listed at `models_path`, with the key in `header` after `scheme`, and with the required `headers`. `thinks`
    matches the models that always reason before they answer, `ids` the call ids it accepts. `signed_thinking` says
    that earlier thinking must be sent back with its signature, `has_timeout` that a request can have a timeout,
    `caches_prompts` that prompts are cached on request, `secure` that its client sends keys only over https.
    """

    name: str
    url: str
    key: str
    module: str
    prices: str
    where: str = ""
    regional: str = ""
    variables: str = ""
    models_path: str = ""
    header: str = "authorization"
    scheme: str = "Bearer "
    headers: dict[str, str] = {}
    thinks: str = ""
    ids: str = ANY_ID
    signed_thinking: bool = False
    has_timeout: bool = True
    caches_prompts: bool = False
    secure: bool = False


SERVICES: dict[str, DirectService] = {
    service.name: service
    for service in (
        DirectService(
            name="anthropic",
            url="https://api.anthropic.com",
            key="anthropic",
            module="anthropic",
            prices="anthropic",
            models_path="/v1/models?limit=1000",
            headers={"anthropic-version": "2026-10-21"},  # that of its client library
            thinks=r"^claude-(?:fable-5|mythos-(?:5|preview)|opus-5-5)",
            signed_thinking=True,
            caches_prompts=True,
        ),
        DirectService(
            name="google",
            url="https://generativelanguage.googleapis.com",
            key="gemini",
            module="google.genai",
            prices="google",
            models_path="/v1beta/models?pageSize=1000",
            header="x-goog-api-key",
            scheme="",
            thinks=r"^gemini-(?:2\.5|[3-9])(?!.*flash).*pro|^gemini-[3-9]",
        ),
        DirectService(
            name="cohere",
            url="https://api.cohere.com",
            key="cohere",
            module="cohere",
            prices="cohere",
            models_path="/v1/models?page_size=1000&endpoint=chat",
            has_timeout=False,
        ),
        DirectService(
            name="bedrock",
            url="",
            where="https://bedrock-runtime.REGION.amazonaws.com",
            regional="https://bedrock-runtime.{region}.amazonaws.com",
            variables="AWS_BEARER_TOKEN_BEDROCK (an API key), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            key="bedrock",
            module="boto3",
            prices="aws",
            signed_thinking=True,
            has_timeout=False,
            caches_prompts=True,
            secure=True,
        ),
    )
}


# The adapter.


class Direct:
    """A model behind a provider's own API; implements `core.ports.Model`."""

    def __init__(
        self, model: str, service: DirectService, profile: Profile, key: Secret, signing_keys: tuple[Secret, ...] = ()
    ) -> None:
        """`model` is the provider's own name for it; `key` goes into requests and nowhere else.

        If there are `signing_keys` (see `Access`), they sign the requests, and `key` is not used.
        """
        self._model, self._service, self._profile, self._key = model, service, profile, key
        self._signing_keys, self._takes_forms = signing_keys, True
        self._conversation: Conversation | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def profile(self) -> Profile:
        return self._profile

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        started = False
        try:
            async with aclosing(self._stream_answer(request, with_schema=self._takes_forms)) as items:
                async for item in items:
                    started = True
                    yield item
            return
        except ModelError as error:
            if started or error.transient or not self._takes_forms or request.schema is msgspec.UNSET:
                raise
        async with aclosing(self._stream_answer(request, with_schema=False)) as items:
            async for item in items:
                self._takes_forms = False  # it refused the schema
                yield item

    async def _stream_answer(self, request: Request, *, with_schema: bool) -> AsyncGenerator[Delta | Reply, None]:
        conversation = await self._get_conversation()
        adapted_request = request if with_schema else msgspec.structs.replace(request, schema=msgspec.UNSET)
        async with aclosing(conversation.answer(adapted_request)) as items:
            async for item in items:
                yield item

    async def offered(self) -> tuple[str, ...]:
        service = self._service
        if not service.models_path:
            raise ModelError(f"{service.name} gives no list of its models at this address", transient=False)
        headers = {service.header: f"{service.scheme}{self._key.reveal()}"} | service.headers
        return await list_models(service.name, service.url, service.models_path, headers=headers, key=self._key)

    async def close(self) -> None:
        conversation, self._conversation = self._conversation, None
        if conversation is not None and self._loop is asyncio.get_running_loop():
            await conversation.close()

    async def _get_conversation(self) -> Conversation:
        """The conversation of the running loop; loops cannot share connections.

        Created in a thread, so that the first import of a client library does not block the loop.
        """
        loop = asyncio.get_running_loop()
        if self._conversation is not None and self._loop is loop:
            return self._conversation
        conversation = await asyncio.to_thread(
            _create_conversation, self._model, self._service, self._profile, self._key, self._signing_keys
        )
        if self._conversation is not None and self._loop is loop:
            await conversation.close()  # another task was faster
        else:
            self._conversation, self._loop = conversation, loop
        return self._conversation


def _create_conversation(
    model: str, service: DirectService, profile: Profile, key: Secret, signing_keys: tuple[Secret, ...]
) -> Conversation:
    """Create the client, which sends nothing yet.

    Raises:
        ModelError: the extra is damaged, or its client does not accept the address.
    """
    try:
        from assay.models.direct import conversation, raw_response  # noqa: PLC0415 - an extra, heavy to import

        kind = raw_response.GoogleConversation if service.name == "google" else conversation.Conversation
        return kind(model, service, profile, key, signing_keys)
    except ImportError as error:
        raise ModelError(f"the extra of {service.name} cannot be loaded: {error}", transient=False) from error


def create(name: str, access: Access) -> Direct:
    """The model named `PROVIDER:MODEL`, at its provider or at the given address.

    Raises:
        ConfigError: no model is named, the provider's extra is not installed, or its key or address is missing.
    """
    prefix, _, model = name.partition(":")
    service = SERVICES.get(prefix)
    if service is None:
        raise ConfigError(f"no provider {prefix!r} here; use one of: {', '.join(sorted(SERVICES))}")
    region = service.regional.format(region=access.region) if access.region else ""
    if access.url or region:
        service = msgspec.structs.replace(service, url=access.url.rstrip("/") or region or service.url)
    if not model:
        raise ConfigError(f"{name!r} names no model; write {prefix}:MODEL (assay models {prefix} lists them)")
    if not (_is_installed("pydantic_ai") and _is_installed(service.module)):
        raise ConfigError(f"{prefix} needs an extra: pip install 'assay[{prefix}]'")
    if not service.url:
        region = "AWS_REGION, or " if service.regional else ""
        raise ConfigError(f"{prefix!r} has no address: set {region}services.{prefix}.url ({service.where})")
    schemes = ("https://",) if service.secure else ("https://", "http://")
    if not service.url.startswith(schemes):
        raise ConfigError(
            f"services.{prefix}.url is {service.url!r}; write one that begins with {' or '.join(schemes)}"
        )
    signing_keys = access.signing if service.regional and access.key is None else ()
    key = access.key or (signing_keys[1] if signing_keys else None)
    if key is None:
        raise ConfigError(_missing_key_message(service, access.url))
    return Direct(model, service, _profile(name, model, service, access), key, signing_keys)


def _missing_key_message(service: DirectService, url: str) -> str:
    if url:
        return f"{service.name} needs a key: set services.{service.name}.key, beside the address in the settings file"
    variable = service.variables or f"{service.key.upper()}_API_KEY"
    return f"{service.name} needs a key: assay keys set {service.key}, or the setting keys.{service.key}, or {variable}"


def _profile(name: str, model: str, service: DirectService, access: Access) -> Profile:
    facts = access.facts
    if facts.native_reasoning is None and service.thinks and re.search(service.thinks, model):
        facts = msgspec.structs.replace(facts, native_reasoning=True)
    return create_profile(name, service.prices, model, facts)


def _is_installed(module: str) -> bool:
    """True if `module` can be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False  # its parent does not exist
