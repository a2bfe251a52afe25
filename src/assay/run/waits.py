"""Waiting for a person, durably."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from assay.core.errors import InputNeeded
from assay.core.events import RunWaiting
from assay.core.ports import Commit
from assay.run.place import RunPlace
from assay.run.steps import StepContext, perform

T = TypeVar("T")

POLL = 0.25


async def receive(place: RunPlace, topic: str, returns: type[T], *, leave: bool) -> T:
    """See `Run.receive`. The n-th wait on a topic takes its n-th message, so an answer may come before the question."""
    execution = place.execution
    number = execution.ordinal((), f"receive:{topic}")

    async def wait(step_context: StepContext) -> T:
        while True:
            messages = await execution.journal.inbox(place.run_id, topic)
            if len(messages) > number:
                execution.commit(Commit(status="running"))
                return msgspec.json.decode(messages[number], type=returns)
            execution.check_owner()
            if step_context.attempt and not step_context.events:
                step_context.events.append(step_context.draft(RunWaiting(topic=topic)))
                await execution.commit(Commit(status="waiting", events=tuple(step_context.events)))
            if leave:
                raise InputNeeded(place.run_id, topic)
            began = execution.world.clock.monotonic()
            await execution.world.clock.sleep(POLL)
            execution.rest(execution.world.clock.monotonic() - began)  # a busy machine sleeps longer

    return await perform(place, f"receive-{topic}", wait, returns=returns, input_hash="", gated=False)
