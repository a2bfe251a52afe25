"""One small call of a model: whether it answers, how fast, and what that costs."""

from __future__ import annotations

from time import perf_counter

import msgspec

from assay.app.providers import load_model
from assay.core.errors import ModelError, ModelFailed
from assay.core.messages import Message, Reply, Request
from assay.settings import Settings

ASKED = "Reply with the one word: ready"
LONGEST_TRIAL = 45.0
"""Seconds it is waited for."""
TRIAL_TOKENS = 400
"""Enough for a model which thinks before it says a word."""
SHOWN_TEXT = 200


class ModelTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a call: its answer, or why there is none. `usd` is None where its price is unknown."""

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
        UnknownName: no adapter and no service of that name.
        ConfigError: the adapter cannot make it (no key, no address, an extra missing).
    """
    model = load_model(settings, name)
    began = perf_counter()
    try:
        if model.profile.quotes:
            return ModelTrial(model=name, answered=True, text="built in: it quotes documents, and is always there")
        request = Request(
            task="triage",
            system="You are asked whether you can be reached.",
            messages=(Message(role="user", text=ASKED, name="question"),),
            max_tokens=TRIAL_TOKENS,
            effort="low",
            timeout=LONGEST_TRIAL,
            first_token=LONGEST_TRIAL,
            total=LONGEST_TRIAL,
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
                    usd=None if price is None else price.of(used),
                )
    except (ModelError, ModelFailed) as error:
        return ModelTrial(model=name, answered=False, why=str(error), seconds=perf_counter() - began)
    finally:
        await model.close()
    return ModelTrial(model=name, answered=False, why="it ended without an answer", seconds=perf_counter() - began)
