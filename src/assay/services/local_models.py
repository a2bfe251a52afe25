"""Models which a server on this machine offers, looked for where the settings name none."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence

from assay import plugins
from assay.core.clean import one_line
from assay.core.errors import ConfigError, ModelError, ModelFailed
from assay.services.access import COMPATIBLE
from assay.services.providers import load_model
from assay.settings import Settings

WAIT = 0.3
"""Seconds for a server: one on this machine answers at once, or is not there."""
NAMED = 3
"""Models named in a line."""
_NO_WRITERS = ("embed", "rerank")
"""In the names of models which write nothing."""


async def local_models(settings: Settings) -> tuple[str, ...]:
    """The models (`PROVIDER:NAME`) of the first provider whose server answers here; none where the settings name some.

    Servers are asked at their usual ports, or where `services` says; those elsewhere are never asked.
    """
    if settings.model or settings.models.model_fields_set:
        return ()
    adapter = plugins.origin("models", COMPATIBLE)
    installed = (name for name in plugins.names("models") if plugins.origin("models", name) == adapter)
    for provider in sorted({*installed, *settings.services}):
        if found := await _offered(settings, provider):
            return found
    return ()


async def _offered(settings: Settings, provider: str) -> tuple[str, ...]:
    try:
        model = load_model(settings, f"{provider}:?")
    except ConfigError:
        return ()
    try:
        async with asyncio.timeout(WAIT):
            names = await model.offered() if model.profile.local else ()
    except (ModelError, ModelFailed, TimeoutError):
        return ()
    finally:
        await model.close()
    return tuple(name for name in names if not any(word in name.lower() for word in _NO_WRITERS))


def found_here(models: Sequence[str]) -> str:
    """What is said of `local_models`."""
    provider = models[0].partition(":")[0]
    names = [one_line(name.partition(":")[2]) for name in models]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{provider} runs on this machine with {', '.join(names[:NAMED])}{more}"


def how_to_use(models: Sequence[str]) -> str:
    """The command which makes the first of `local_models` the model of the settings."""
    return f"assay config set model {shlex.quote(one_line(models[0]))}"
