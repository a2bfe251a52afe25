"""Model providers: how to reach them, which can be used now, and what is known about their models."""

from __future__ import annotations

import asyncio
import difflib
import shlex
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from time import perf_counter

import msgspec

from assay import plugins
from assay.core.brief import Brief
from assay.core.clean import one_line
from assay.core.errors import ConfigError, ModelError, ModelFailed, UnknownName
from assay.core.messages import MAX_OUTPUT, REASONING_ROOM, Delta, Message, ModelFacts, Price, Profile, Reply, Request
from assay.core.ports import Access, DescribableModel, Model, RateLimiter
from assay.core.ports.models import Secret, can_write
from assay.core.ports.store import Store
from assay.run.rate_limits import PermitRateLimiter
from assay.settings import Settings
from assay.settings.sections import Aws, ModelEntry

# The settings for reaching models, as adapters receive them.

COMPATIBLE_ADAPTER = "openai"
"""The adapter of services that the user has named."""
KEY_NAMES = {"google": "gemini"}
"""Providers whose key has another name."""


def provider_access(settings: Settings, name: str) -> Access:
    """The access for the adapter of the model `name` (PROVIDER:NAME)."""
    provider, _ = plugins.split(name)
    service = settings.services.get(provider)
    key = service.key if service else settings.keys.of(KEY_NAMES.get(provider, provider))
    return Access(
        url=service.url if service else "",
        key=key,
        region=settings.aws.region,
        signing=_signing_keys(settings.aws),
        facts=_facts(settings.catalogue.get(name, ModelEntry())),
    )


def _signing_keys(aws: Aws) -> tuple[Secret, ...]:
    """The keys that sign requests, if both are set."""
    if aws.access_key_id is None or aws.secret_access_key is None:
        return ()
    keys = (aws.access_key_id, aws.secret_access_key, aws.session_token)
    return tuple(key for key in keys if key is not None)


def _facts(entry: ModelEntry) -> ModelFacts:
    price = None
    if entry.input_price is not None and entry.output_price is not None:
        price = Price(
            input=entry.input_price,
            output=entry.output_price,
            cached=entry.cached_price,
            cache_write=entry.cache_write_price,
        )
    return ModelFacts(window=entry.window, max_output=entry.max_output, native_reasoning=entry.reasoning, price=price)


# Which providers can be used now, and why others cannot.

INTERNAL_PROVIDERS = frozenset(("scripted",))
"""For tests; not listed."""


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """A provider: whether it can be used, why not, and the models it offers, if it was asked."""

    name: str
    usable: bool
    why: str = ""
    models: tuple[str, ...] = ()


def own_server_hint(name: str, known_names: Collection[str]) -> str:
    """A hint for a provider that is not known; empty if its name is a misspelt one."""
    if difflib.get_close_matches(name, known_names):
        return ""
    return "(to use a server of your own, add [services.NAME] with its url: assay config edit)"


def adapter_of(settings: Settings, name: str) -> str:
    """The name of the adapter of the model called `name` (PROVIDER:NAME).

    Raises:
        UnknownName: there is no such adapter or service.
    """
    provider, _ = plugins.split(name)
    # The user's own service; one with a built-in adapter only has another address.
    installed = plugins.names("models")
    if provider not in installed and provider not in settings.services:
        provider_names = {*installed, *settings.services} - INTERNAL_PROVIDERS
        hint = own_server_hint(provider, provider_names) if ":" in name else "(a model is named PROVIDER:NAME)"
        raise UnknownName("model provider", provider, provider_names, hint)
    return provider if provider in installed else COMPATIBLE_ADAPTER


def load_model(settings: Settings, name: str) -> Model:
    """Load the model called `name` (PROVIDER:NAME).

    Raises:
        UnknownName: there is no such adapter or service.
        ConfigError: the adapter cannot create it (no key, no address, an extra missing).
    """
    model: Model = plugins.load("models", adapter_of(settings, name))(name, provider_access(settings, name))
    return model


async def providers(settings: Settings, names: tuple[str, ...] = ()) -> list[Provider]:
    """List every provider, or those named. Unless named, only local servers are asked.

    Raises:
        UnknownName: one of `names` is not a provider.
    """
    provider_names = tuple(sorted({*plugins.names("models"), *settings.services} - INTERNAL_PROVIDERS))
    return [await _inspect_provider(settings, name, is_named=bool(names)) for name in names or provider_names]


async def _inspect_provider(settings: Settings, name: str, *, is_named: bool) -> Provider:
    try:
        model = load_model(settings, f"{name}:?")
    except ConfigError as error:
        return Provider(name=name, usable=False, why=str(error))
    try:
        if not (is_named or model.profile.local):
            return Provider(name=name, usable=True, why=f"ready; its models: assay models {name}")
        return Provider(name=name, usable=True, models=await model.offered())
    except (ModelError, ModelFailed) as error:
        return Provider(name=name, usable=False, why=str(error))
    finally:
        await model.close()


def model_rate_limiter(store: Store, settings: Settings) -> RateLimiter | None:
    """The rate limiter for calls, by the part of a model's name before the colon; None if no service has a limit."""
    limits = settings.limits.calls_at_once
    return PermitRateLimiter(store.permits, limits, lambda model: plugins.split(model)[0]) if limits else None


def search_rate_limiter(store: Store, settings: Settings) -> RateLimiter | None:
    """The rate limiter for queries to search providers, by name; None if none has a limit.

    A model provider may have the same name: their permits are separate.
    """
    limits = {_search_name(name): count for name, count in settings.search.calls_at_once.items()}
    return PermitRateLimiter(store.permits, limits, _search_name) if limits else None


def _search_name(name: str) -> str:
    return f"search:{name}"


# Models of a local server, used if the settings name none.

PROBE_SECONDS = 0.3
"""Seconds to wait for a server: a local one answers at once, or is not there."""
MAX_NAMED = 3
"""Models listed on a line."""
MAX_MODELS_LISTED = 12
"""Models listed in an error."""


async def local_models(settings: Settings) -> tuple[str, ...]:
    """The models (`PROVIDER:NAME`) of the first local server that answers; none if the settings name some.

    Servers are asked at their usual ports, or where `services` says; remote ones are never asked.
    """
    if settings.model or settings.models.models_by_role:
        return ()
    for provider in _servers(settings):
        if models := await _offered_models(settings, provider):
            return models
    return ()


def _servers(settings: Settings) -> list[str]:
    """The providers that may be a server on this machine."""
    adapter = plugins.origin("models", COMPATIBLE_ADAPTER)
    installed = (name for name in plugins.names("models") if plugins.origin("models", name) == adapter)
    return sorted({*installed, *settings.services})


async def complete_model_name(settings: Settings, name: str) -> str:
    """`PROVIDER` as `PROVIDER:NAME` if it is a server on this machine with one model; any other name unchanged.

    Raises:
        ConfigError: the server has several models; the message names them.
    """
    provider, _, model = name.partition(":")
    models = () if model or provider not in _servers(settings) else await _offered_models(settings, provider)
    if len(models) > 1:
        known = ", ".join(map(one_line, models[:MAX_MODELS_LISTED]))
        others = ", …" if len(models) > MAX_MODELS_LISTED else ""
        raise ConfigError(f"{name!r} names no model: choose one it has: {known}{others}")
    return models[0] if models else name


async def _offered_models(settings: Settings, provider: str) -> tuple[str, ...]:
    try:
        model = load_model(settings, f"{provider}:?")
    except ConfigError:
        return ()
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            names = await model.offered() if model.profile.local else ()
    except (ModelError, ModelFailed, TimeoutError):
        return ()
    finally:
        await model.close()
    return tuple(name for name in names if can_write(name))


def describe_local_models(models: Sequence[str]) -> str:
    """The sentence about `local_models`."""
    provider = models[0].partition(":")[0]
    names = [one_line(name.partition(":")[2]) for name in models]
    others_text = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{provider} runs on this machine with {', '.join(names[:MAX_NAMED])}{others_text}"


def set_model_command(models: Sequence[str]) -> str:
    """The command that makes the first of `local_models` the model in the settings."""
    return f"assay config set model {shlex.quote(one_line(models[0]))}"


# What is known about models, and whether one answers.


async def add_reported(settings: Settings, brief: Brief, models: dict[str, Model]) -> Brief:
    """The brief with what the servers of its local models report, as far as the user's settings are silent.

    A server that does not answer within two seconds reports nothing. Ollama may load a model to say its window.
    """
    describable = [
        (name, model) for name, model in models.items() if model.profile.local and isinstance(model, DescribableModel)
    ]
    facts_by_model = {name: _drop_contradicted(await model.described(), settings, name) for name, model in describable}
    known_facts = {name: facts for name, facts in facts_by_model.items() if facts != ModelFacts()}
    return msgspec.structs.replace(brief, facts=known_facts) if known_facts else brief


def freeze_model(brief: Brief, name: str, model: Model) -> Model:
    """The model `name` with the brief's profile; a local one learns its window in each run by itself."""
    facts = brief.facts.get(name) if isinstance(brief.facts, dict) else None
    if facts is None and not (model.profile.local and isinstance(model, DescribableModel)):
        return model
    return FrozenModel(model, _apply_facts(model.profile, facts or ModelFacts()))


class FrozenModel:
    """A model with the profile frozen in a brief; implements `core.ports.Model` and `LearningModel`."""

    def __init__(self, model: Model, profile: Profile) -> None:
        self._model, self.profile = model, profile

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """See `Model.stream`. A reasoning model gets room for it, even if its adapter does not know that it reasons."""
        if self.profile.native_reasoning and not isinstance(request.room, int):
            request = msgspec.structs.replace(request, room=REASONING_ROOM[request.effort])
        async with aclosing(self._model.stream(request)) as items:
            async for item in items:
                yield item

    def learn(self, refusal: str) -> None:
        window = self._model.refused_window(refusal) if isinstance(self._model, DescribableModel) else 0
        if 0 < window < self.profile.window:
            max_output = min(self.profile.max_output, window)
            self.profile = msgspec.structs.replace(self.profile, window=window, max_output=max_output)

    async def offered(self) -> tuple[str, ...]:
        return await self._model.offered()

    async def close(self) -> None:
        await self._model.close()


def _drop_contradicted(facts: ModelFacts, settings: Settings, name: str) -> ModelFacts:
    """`facts` without those that the user's catalogue contradicts."""
    user = provider_access(settings, name).facts
    return ModelFacts(
        window=facts.window if user.window is None else None,
        native_reasoning=facts.native_reasoning if user.native_reasoning is None else None,
    )


def _apply_facts(profile: Profile, facts: ModelFacts) -> Profile:
    window = facts.window or profile.window
    return msgspec.structs.replace(
        profile,
        window=window,
        max_output=min(MAX_OUTPUT, window) if facts.window else profile.max_output,
        native_reasoning=profile.native_reasoning or bool(facts.native_reasoning),
    )


# One small call of a model: whether it answers, how fast, and at what cost.

TRIAL_PROMPT = "Reply with the one word: ready"
MAX_TRIAL_SECONDS = 45.0
"""Seconds to wait for it."""
TRIAL_TOKENS = 400
"""Enough for a model that reasons before it answers."""
SHOWN_TEXT = 200


class ModelTrial(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a call: its answer, or why there is none. `usd` is None if its price is unknown."""

    model: str
    answered: bool
    text: str = ""
    why: str = ""
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None


async def try_model(settings: Settings, name: str) -> ModelTrial:
    """Ask a model for a word.

    Raises:
        UnknownName: there is no such adapter or service.
        ConfigError: the adapter cannot create it (no key, no address, an extra missing).
    """
    model = load_model(settings, name)
    began = perf_counter()
    try:
        if model.profile.quotes:
            return ModelTrial(model=name, answered=True, text="built in: it quotes documents, and is always there")
        request = Request(
            task="triage",
            system="You are asked whether you can be reached.",
            messages=(Message(role="user", text=TRIAL_PROMPT, name="question"),),
            max_tokens=TRIAL_TOKENS,
            effort="low",
            timeout=MAX_TRIAL_SECONDS,
            first_token=MAX_TRIAL_SECONDS,
            total=MAX_TRIAL_SECONDS,
        )
        async for part in model.stream(request):
            if isinstance(part, Reply):
                price, used = model.profile.price, part.usage
                return ModelTrial(
                    model=name,
                    answered=True,
                    text=part.text.strip()[:SHOWN_TEXT],
                    seconds=perf_counter() - began,
                    input_tokens=used.input_tokens,
                    output_tokens=used.output_tokens,
                    usd=None if price is None else price.cost(used),
                )
    except (ModelError, ModelFailed) as error:
        return ModelTrial(model=name, answered=False, why=str(error), seconds=perf_counter() - began)
    finally:
        await model.close()
    return ModelTrial(model=name, answered=False, why="it ended without an answer", seconds=perf_counter() - began)
