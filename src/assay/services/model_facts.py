"""What is known of models, and whether one answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import perf_counter

import msgspec

from assay.core.brief import Brief
from assay.core.errors import ModelError, ModelFailed
from assay.core.messages import MAX_OUTPUT, REASONING_ROOM, Delta, Message, ModelFacts, Profile, Reply, Request
from assay.core.ports import DescribableModel, Model
from assay.services.access import access
from assay.services.providers import load_model
from assay.settings import Settings


async def learned(settings: Settings, brief: Brief, models: dict[str, Model]) -> Brief:
    """The brief with what the servers of its local models say of them, as far as the user has said nothing.

    A server which does not answer within two seconds has said nothing.
    """
    asked = [
        (name, model) for name, model in models.items() if model.profile.local and isinstance(model, DescribableModel)
    ]
    told = {name: _unsaid(await model.described(), settings, name) for name, model in asked}
    known = {name: facts for name, facts in told.items() if facts != ModelFacts()}
    return msgspec.structs.replace(brief, facts=known) if known else brief


def frozen(brief: Brief, name: str, model: Model) -> Model:
    """The model `name` as the brief knows it."""
    facts = brief.facts.get(name) if isinstance(brief.facts, dict) else None
    return model if facts is None else Frozen(model, _with(model.profile, facts))


class Frozen:
    """A model with the profile which a brief has frozen; implements `core.ports.Model`."""

    def __init__(self, model: Model, profile: Profile) -> None:
        self._model, self.profile = model, profile

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """See `Model.stream`; a model which thinks has room for it, though its adapter does not know that it does."""
        if self.profile.native_reasoning and not isinstance(request.room, int):
            request = msgspec.structs.replace(request, room=REASONING_ROOM[request.effort])
        async with aclosing(self._model.stream(request)) as items:
            async for item in items:
                yield item

    async def offered(self) -> tuple[str, ...]:
        """See `Model.offered`."""
        return await self._model.offered()

    async def close(self) -> None:
        """See `Model.close`."""
        await self._model.close()


def _unsaid(facts: ModelFacts, settings: Settings, name: str) -> ModelFacts:
    """`facts` without what the user's catalogue says otherwise."""
    user = access(settings, name).facts
    return ModelFacts(
        window=facts.window if user.window is None else None,
        native_reasoning=facts.native_reasoning if user.native_reasoning is None else None,
    )


def _with(profile: Profile, facts: ModelFacts) -> Profile:
    window = facts.window or profile.window
    return msgspec.structs.replace(
        profile,
        window=window,
        max_output=min(MAX_OUTPUT, window) if facts.window else profile.max_output,
        native_reasoning=profile.native_reasoning or bool(facts.native_reasoning),
    )


# One small call of a model: whether it answers, how fast, and what that costs.

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
