"""A model which thinks until its cap: how much room it is granted, within its window and the budget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
import pytest
from runtime import ASK, ready, world
from runtime import DONE as OUTCOME

from assay.core.errors import ContextTooLong
from assay.core.events import ModelAttempted, decode
from assay.core.messages import REASONING_ROOM, Message, Price, Profile, Reply, Request
from assay.core.usage import Budget, Usage
from assay.models.script import Scripted
from assay.run.engine import Engine, Outcome
from assay.run.model_call import CUT_OFF_THINKING
from assay.run.run import Run
from assay.store.memory import memory_store

CUT = Reply(thinking="Hm.", stop="length", usage=Usage(model_calls=1, input_tokens=100, output_tokens=900))
UNLIMITED = Budget()


async def played(
    test: Callable[[Run], Awaitable[None]], needed: int, profile: Profile, budget: Budget = UNLIMITED
) -> tuple[list[int], list[str]]:
    """The room of each request to a model which needs so many tokens to think, and what came of each attempt."""
    rooms: list[int] = []

    def reply(request: Request) -> Reply:
        rooms.append(request.room if isinstance(request.room, int) else 0)
        return Reply(text="Seven.") if rooms[-1] >= needed else CUT

    model = Scripted(reply, profile=profile)
    store = memory_store()

    async def pipeline(run: Run) -> Outcome:
        await test(run)
        return OUTCOME

    handle = Engine(store.journal, pipeline).start(ready(world(model), budget=budget))
    log = [decode(envelope) async for envelope in handle]
    await handle.wait()
    return rooms, [event.outcome for event in log if isinstance(event, ModelAttempted)]


async def ask_twice(run: Run) -> None:
    for _ in range(2):
        assert (await run.ask("analytical", ASK)).text == "Seven."


WIDE = Profile(name="scripted", window=128_000, max_output=40_000)


@pytest.mark.parametrize(("needed", "granted"), [(5_000, [0, 10_000, 10_000]), (20_000, [0, 10_000, 25_000, 25_000])])
async def test_it_is_granted_more_and_keeps_it(needed: int, granted: list[int]) -> None:
    rooms, outcomes = await played(ask_twice, needed, WIDE)
    assert rooms == granted
    assert outcomes == [CUT_OFF_THINKING] * (len(granted) - 2) + ["ok", "ok"]


async def test_a_model_which_never_comes_to_an_end_is_given_up() -> None:
    async def test(run: Run) -> None:
        assert (await run.ask("analytical", ASK)).stop == "length"

    rooms, _ = await played(test, 10**6, WIDE)
    assert rooms == [0, REASONING_ROOM["medium"], REASONING_ROOM["high"]]


async def test_a_request_which_fills_the_window_is_too_long() -> None:
    long = msgspec.structs.replace(ASK, messages=(Message(role="user", text="tide " * 5_000),))

    async def test(run: Run) -> None:
        with pytest.raises(ContextTooLong, match="no room for its thinking"):
            await run.ask("analytical", long)
        assert (await run.ask("analytical", ASK)).text == "Seven."

    rooms, _ = await played(test, 1_000, Profile(name="scripted", window=8_192, max_output=8_192))
    assert len(rooms) == 3


async def test_a_budget_which_does_not_pay_for_it_leaves_the_reply_as_it_is() -> None:
    async def test(run: Run) -> None:
        assert (await run.ask("analytical", ASK)).stop == "length"

    profile = msgspec.structs.replace(WIDE, price=Price(input=1.0, output=1.0), max_output=12_000)
    rooms, _ = await played(test, 5_000, profile, Budget(tokens=9_000))
    assert rooms == [0]
