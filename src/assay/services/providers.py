"""Which model providers can be used now, and why others cannot."""

from __future__ import annotations

import msgspec

from assay import plugins
from assay.core.errors import ConfigError, ModelError, ModelFailed, UnknownName
from assay.core.ports import Model, RateLimiter
from assay.core.ports.store import Store
from assay.run.rate_limits import PermitRateLimiter
from assay.services.access import COMPATIBLE, access
from assay.settings import Settings

ASIDE = frozenset(("scripted",))
"""For tests: nobody looks for it in a list."""


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """A provider: whether it can be used, why not, and the models it offers where it was asked."""

    name: str
    usable: bool
    why: str = ""
    models: tuple[str, ...] = ()


def load_model(settings: Settings, name: str) -> Model:
    """The model called `name` (PROVIDER:NAME).

    Raises:
        UnknownName: no adapter and no service of that name.
        ConfigError: the adapter cannot make it (no key, no address, an extra missing).
    """
    provider, _ = plugins.split(name)
    # A service of the user's own; one which has an adapter of its own is only elsewhere.
    installed = plugins.names("models")
    if provider not in installed and provider not in settings.services:
        raise UnknownName("model provider", provider, {*installed, *settings.services} - ASIDE)
    own = provider in settings.services and provider not in installed
    adapter = COMPATIBLE if own else provider
    model: Model = plugins.load("models", adapter)(name, access(settings, name))
    return model


async def providers(settings: Settings, names: tuple[str, ...] = ()) -> list[Provider]:
    """Every provider, or those named. Only servers on this machine are asked without being named.

    Raises:
        UnknownName: one of `names` is none.
    """
    known = tuple(sorted({*plugins.names("models"), *settings.services} - ASIDE))
    return [await _look(settings, name, asked=bool(names)) for name in names or known]


async def _look(settings: Settings, name: str, *, asked: bool) -> Provider:
    try:
        model = load_model(settings, f"{name}:?")
    except ConfigError as error:
        return Provider(name=name, usable=False, why=str(error))
    try:
        if not (asked or model.profile.local):
            return Provider(name=name, usable=True, why=f"ready; its models: assay models {name}")
        return Provider(name=name, usable=True, models=await model.offered())
    except (ModelError, ModelFailed) as error:
        return Provider(name=name, usable=False, why=str(error))
    finally:
        await model.close()


def turns_of(store: Store, settings: Settings) -> RateLimiter | None:
    """The turns of calls, by what stands before the colon of a model's name; None where no service has a limit."""
    most = settings.limits.calls_at_once
    return PermitRateLimiter(store.permits, most, lambda model: plugins.split(model)[0]) if most else None


def search_turns_of(store: Store, settings: Settings) -> RateLimiter | None:
    """The turns of questions put to search providers, by their names; None where none has a limit.

    A name may be a model provider's too: their permits are apart.
    """
    most = {_searching(name): count for name, count in settings.search.calls_at_once.items()}
    return PermitRateLimiter(store.permits, most, _searching) if most else None


def _searching(name: str) -> str:
    return f"search:{name}"
