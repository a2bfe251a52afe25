"""What servers on this machine say of their models, asked when a run is created and frozen in its brief.

A run sizes its requests by its models' windows, and is the same on every machine and every day: so it goes by what its
brief says, whatever the server was restarted with meanwhile.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from assay.app.access import access
from assay.core.brief import Brief
from assay.core.messages import MAX_OUTPUT, REASONING_ROOM, Delta, ModelFacts, Profile, Reply, Request
from assay.core.ports import DescribableModel, Model
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
