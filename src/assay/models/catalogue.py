"""The catalogue of models: their names at services, windows, prices and abilities; the user's settings come first.

Windows and prices are from the table of genai-prices; abilities follow from the name. A model that is in no table works
with a cautious window and an unknown price, which never counts as free.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

import httpx2
import msgspec

from assay.core.errors import ModelError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import lazy_module, regex
from assay.core.messages import MAX_OUTPUT, ModelFacts, Price, Profile
from assay.core.ports.models import Secret
from assay.core.remote_services import causes_of, connection_problem
from assay.models.failures import hide_key, response_error
from assay.models.streams import brief_client, first_bytes

if TYPE_CHECKING:
    from genai_prices import data_snapshot, types
else:
    data_snapshot = lazy_module("genai_prices.data_snapshot")
    types = lazy_module("genai_prices.types")

# Lists the models a service offers, without its client library: only a list of names is needed.

WAIT_SECONDS = 5.0
"""Seconds for a list."""
MAX_ANSWER_BYTES = 8_000_000
START_HINTS = {"ollama": "start it (ollama serve)", "lmstudio": "start it (lms server start)"}
"""How to start local servers."""


class _Row(msgspec.Struct, frozen=True):
    """A model: its `id`, or at Google and Cohere its `name`, with a path before it."""

    id: str | None = None
    name: str | None = None


class _List(msgspec.Struct, frozen=True):
    data: tuple[_Row, ...] | None = None
    models: tuple[_Row, ...] | None = None


async def list_models(
    service: str, base: str, path: str, *, headers: Mapping[str, str], key: Secret | None = None, local: bool = False
) -> tuple[str, ...]:
    """The names of the models at `base` + `path`, as Assay calls them (`SERVICE:NAME`), sorted.

    Args:
        headers: including the key, if the service wants one; `key` is what no error may show.
        local: whether it is a local server, which may just not be running.

    Raises:
        ModelError: it could not be reached, refused, or returned no list.
    """
    try:
        async with brief_client(headers, WAIT_SECONDS) as client, client.stream("GET", base + path) as response:
            data = await first_bytes(response, MAX_ANSWER_BYTES)
    except TimeoutError as error:
        raise ModelError(f"{service} gave no list of its models in {WAIT_SECONDS:.0f} s") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ModelError(unreachable_message(service, base, error, local=local)) from error
    if response.status_code != httpx2.codes.OK:
        raise hide_key(response_error(service, response.status_code, response.headers, data), key)
    return _model_names(service, data)


def unreachable_message(service: str, url: str, error: Exception, *, local: bool = False) -> str:
    """The message that nobody answers at `url`, with the reason and what to do."""
    causes = tuple(causes_of(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return f"{service} does not answer at {url} (no such host): check the address and the network"
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        why = "connection refused"
    elif any(isinstance(cause, TimeoutError | httpx2.TimeoutException) for cause in causes):
        why = "no connection in time"
    else:
        return f"{service} at {url} cannot be reached: {connection_problem(error, url)}"
    start = START_HINTS.get(service, "start it") if local else "check the address and the network"
    return f"{service} does not answer at {url} ({why}): {start}, or choose another model"


def _model_names(service: str, data: bytes) -> tuple[str, ...]:
    try:
        listing = msgspec.json.decode(data, type=_List | tuple[_Row, ...])  # Together sends a bare list
    except DECODE_ERRORS as error:
        raise ModelError(f"{service} sent no list of models: {error}") from error
    rows = (*(listing.data or ()), *(listing.models or ())) if isinstance(listing, _List) else listing
    names = {row.id or (row.name or "").removeprefix("models/") for row in rows}
    return tuple(sorted(f"{service}:{name}" for name in names if name))


HOSTED_WINDOW = 128_000
LOCAL_WINDOW = 8_192
"""Tokens of a local model without more information: the default of its servers."""

_REASONING = regex(
    r"(?:^|[/:])(?:o[1-9]\d?(?:-|$)|gpt-[5-9]|gpt-oss|deepseek-r\d|qwq|magistral|grok-[34](?!.*non-reasoning))"
    r"|reason|think",
    re.IGNORECASE,
)


def create_profile(name: str, provider: str, model: str, facts: ModelFacts, *, local: bool = False) -> Profile:
    """The profile of `model` at `provider`, called `name` in runs; on a `local` server it is free."""
    unknown = not local and (facts.window is None or facts.price is None)
    info = _find_model_info(provider, model) if unknown else None
    window = facts.window or (info.context_window if info else None) or (LOCAL_WINDOW if local else HOSTED_WINDOW)
    reasoning = facts.native_reasoning
    return Profile(
        name=name,
        window=window,
        max_output=min(facts.max_output or MAX_OUTPUT, window),
        native_reasoning=bool(_REASONING.search(model)) if reasoning is None else reasoning,
        price=facts.price or (Price(input=0.0, output=0.0) if local else _price(info)),
        local=local,
    )


def input_price(provider: str, model: str) -> float | None:
    """US dollars per million tokens of input; None if the table has no price. Embedders have no output."""
    info = _find_model_info(provider, model)
    if info is None or not isinstance(info.prices, types.ModelPrice) or info.prices.input_mtok is None:
        return None
    return _highest_price(info.prices.input_mtok)


PROVIDERS = regex(
    "amazon|anthropic|arcee|avian|aws|azure|baseten|bedrock|cerebras|cloudflare|cohere|copilot|cursor|databricks|deepseek|"
    "doubleword|elevenlabs|fireworks|gemini|google|groq|huggingface|litellm|meta|minimax|mistral|modal|moonshot|novita|"
    "openai|openrouter|ovhcloud|perplexity|quicksilverpro|together|typesafe|vertex|voyage|x-?ai|zai|zhipu",
    re.IGNORECASE,
)
"""Parts of the names of all providers in the table, which takes half a second and 14 MB to load."""


def _find_model_info(provider: str, model: str) -> types.ModelInfo | None:
    if not PROVIDERS.search(provider):
        return None
    try:
        return data_snapshot.get_snapshot().find_provider_model(model, None, provider, None)[1]
    except LookupError:
        return None


def _price(info: types.ModelInfo | None) -> Price | None:
    """The standard price; None if the table has none, or several whose conditions Assay cannot check."""
    if info is None or not isinstance(info.prices, types.ModelPrice):
        return None
    prices = info.prices
    if prices.input_mtok is None or prices.output_mtok is None:
        return None
    cache_read = None if prices.cache_read_mtok is None else _highest_price(prices.cache_read_mtok)
    cache_write = None if prices.cache_write_mtok is None else _highest_price(prices.cache_write_mtok)
    return Price(
        input=_highest_price(prices.input_mtok),
        output=_highest_price(prices.output_mtok),
        cached=cache_read,
        cache_write=cache_write,
    )


def _highest_price(price: Decimal | types.TieredPrices) -> float:
    """The highest of prices that rise with the length of the request, so that a budget is never exceeded."""
    if isinstance(price, types.TieredPrices):
        return float(max(price.base, *(tier.price for tier in price.tiers)))
    return float(price)
