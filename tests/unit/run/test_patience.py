"""How long a stream may be silent: its timer is renewed now and then only, and never too late."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from research import Sea, within
from simulated_time import in_simulated_time

from assay.core import events as e
from assay.core.brief import Timeouts
from assay.core.errors import ModelFailed
from assay.core.messages import Delta, Message, Profile, Reply, Request, TextDelta
from assay.core.usage import Usage
from assay.models.script import Scripted
from assay.run.run import Run

SILENCE = 0.4
ASKED = Request(task="write", system="", messages=(Message(role="user", text="hello"),))
TIMES = Timeouts(report=SILENCE, first_token=30.0)


class Dripping(Scripted):
    """Waits before each token; `pauses` are seconds."""

    def __init__(self, pauses: list[float]) -> None:
        super().__init__([], profile=Profile(name="scripted", deterministic=True))
        self._pauses = pauses
        self.said_at: list[float] = []
        self.ended_at = 0.0

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        clock = asyncio.get_running_loop().time
        try:
            for pause in self._pauses:
                await asyncio.sleep(pause)
                self.said_at.append(clock())
                yield TextDelta("more ")
            yield Reply(text="more " * len(self._pauses), usage=Usage(model_calls=1), model="scripted")
        finally:
            self.ended_at = clock()


async def asked(model: Dripping) -> list[Reply | str]:
    got: list[Reply | str] = []

    async def body(run: Run) -> None:
        try:
            got.append(await run.ask("complex", ASKED))
        except ModelFailed as failed:
            got.append(failed.reason)

    log = await within(Sea(), body, timeouts=TIMES, models={"scripted": model})
    assert log.of(e.ModelAttempted)
    return got


@in_simulated_time
async def test_a_stream_may_take_longer_than_its_silence_allows_while_it_goes_on() -> None:
    model = Dripping([SILENCE * 1.5, *[SILENCE / 8] * 16])
    (reply,) = await asked(model)
    assert isinstance(reply, Reply)
    assert model.said_at[-1] - model.said_at[0] > SILENCE


@in_simulated_time
async def test_a_stream_which_falls_silent_is_given_all_the_time_it_may_take() -> None:
    model = Dripping([0.0, 0.0, SILENCE / 32, SILENCE / 32, 60.0])
    (reason,) = await asked(model)
    assert isinstance(reason, str)
    assert "no token" in reason
    assert model.ended_at - model.said_at[-1] >= SILENCE * 0.99
