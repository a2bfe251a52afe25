"""How models are reached: the settings as adapters are told them."""

from __future__ import annotations

from assay import plugins
from assay.core.messages import ModelFacts, Price
from assay.core.ports import Access
from assay.core.ports.models import Secret
from assay.settings import Settings
from assay.settings.sections import Aws, ModelEntry

COMPATIBLE = "openai"
"""The adapter of services which the user has named."""
KEYS = {"google": "gemini"}
"""Providers whose key has another name."""


def access(settings: Settings, name: str) -> Access:
    """What the adapter of the model `name` (PROVIDER:NAME) is told."""
    provider, _ = plugins.split(name)
    service = settings.services.get(provider)
    key = service.key if service else settings.keys.of(KEYS.get(provider, provider))
    return Access(
        url=service.url if service else "",
        key=Secret(key.get_secret_value()) if key else None,
        region=settings.aws.region,
        signing=_signing(settings.aws),
        facts=_facts(settings.catalogue.get(name, ModelEntry())),
    )


def _signing(aws: Aws) -> tuple[Secret, ...]:
    """What signs requests, where both of its halves are there."""
    if aws.access_key_id is None or aws.secret_access_key is None:
        return ()
    keys = (aws.access_key_id, aws.secret_access_key, aws.session_token)
    return tuple(Secret(key.get_secret_value()) for key in keys if key is not None)


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
