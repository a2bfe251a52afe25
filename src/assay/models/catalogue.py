"""What is known of models: windows and prices from the table of genai-prices, abilities by name; the user's word first.

A model which is in no table works: with a cautious window, and a price nobody knows, which is never taken for nothing.
"""

from __future__ import annotations

import re
from decimal import Decimal

from genai_prices import data_snapshot
from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

from assay.core.messages import MAX_OUTPUT, ModelFacts, Price, Profile

HOSTED_WINDOW = 128_000
LOCAL_WINDOW = 8_192
"""Tokens of a model on this machine nobody said more of: what its servers allow when started without options."""

_REASONING = re.compile(
    r"(?:^|[/:])(?:o[1-9]\d?(?:-|$)|gpt-[5-9]|gpt-oss|deepseek-r\d|qwq|magistral|grok-[34](?!.*non-reasoning))"
    r"|reason|think",
    re.IGNORECASE,
)


def profile(name: str, provider: str, model: str, facts: ModelFacts, *, local: bool = False) -> Profile:
    """The profile of `model` at `provider`, called `name` in runs; on a `local` server it costs nothing."""
    known = None if local else _find(provider, model)
    window = facts.window or (known.context_window if known else None) or (LOCAL_WINDOW if local else HOSTED_WINDOW)
    reasoning = facts.native_reasoning
    return Profile(
        name=name,
        window=window,
        max_output=min(facts.max_output or MAX_OUTPUT, window),
        native_reasoning=bool(_REASONING.search(model)) if reasoning is None else reasoning,
        price=facts.price or (Price(input=0.0, output=0.0) if local else _price(known)),
        local=local,
    )


def input_price(provider: str, model: str) -> float | None:
    """US dollars for a million tokens of input; None where the table has no price. Embedders have no output."""
    known = _find(provider, model)
    prices = known.prices if known else None
    return _highest(prices.input_mtok) if isinstance(prices, ModelPrice) and prices.input_mtok is not None else None


def _find(provider: str, model: str) -> ModelInfo | None:
    try:
        return data_snapshot.get_snapshot().find_provider_model(model, None, provider, None)[1]
    except LookupError:
        return None


def _price(known: ModelInfo | None) -> Price | None:
    """The standard price; None where the table has none, or several whose conditions Assay cannot tell."""
    prices = known.prices if known else None
    if not isinstance(prices, ModelPrice) or prices.input_mtok is None or prices.output_mtok is None:
        return None
    cached = None if prices.cache_read_mtok is None else _highest(prices.cache_read_mtok)
    written = None if prices.cache_write_mtok is None else _highest(prices.cache_write_mtok)
    return Price(
        input=_highest(prices.input_mtok), output=_highest(prices.output_mtok), cached=cached, cache_write=written
    )


def _highest(price: Decimal | TieredPrices) -> float:
    """Of a price which rises with the length of the request the highest: a budget is never overrun by it."""
    if isinstance(price, TieredPrices):
        return float(max(price.base, *(tier.price for tier in price.tiers)))
    return float(price)
