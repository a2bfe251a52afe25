"""Model calls begun before their step: who asks exactly the same gets what has streamed, and nobody else."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.brief import Speculation
from assay.core.errors import ModelError
from assay.core.messages import Message, Price, Profile, Reply, Request, TextDelta, input_tokens
from assay.core.usage import Budget, Usage
from assay.models.script import Scene, Scripted, fails, says
from assay.run.speculation import MIN_FORESEEN_TOKENS, ForeseenCall, ForeseenCalls, spare_tokens

PRICED = Profile(name="m", price=Price(input=1.0, output=2.0))
TEXT = "The tide at Brest rises seven metres, twice a day, and nobody there is astonished by it."


def asking(text: str = "Write.") -> Request:
    return Request(task="write", system="", messages=(Message(role="user", text=text),))


def begun(*scenes: Scene, request: Request | None = None, most: int = 10_000) -> ForeseenCall:
    return ForeseenCall("m", Scripted(scenes, profile=PRICED), request or asking(), nullcontext(), most)


async def read(foreseen: ForeseenCalls, request: Request, name: str = "m") -> tuple[str, Reply | None] | None:
    stream = foreseen.take("report", name, request)
    if stream is None:
        return None
    items = [item async for item in stream]
    text = "".join(item.text for item in items if isinstance(item, TextDelta))
    return text, next((item for item in items if isinstance(item, Reply)), None)


@given(waits=st.integers(0, 30))
def test_who_asks_the_same_gets_all_of_it_whenever_he_asks(waits: int) -> None:
    async def ask() -> None:
        foreseen = ForeseenCalls()
        foreseen.add("report", begun(says(TEXT)))
        for _ in range(waits):
            await asyncio.sleep(0)
        found = await read(foreseen, asking())
        assert found is not None
        assert found[0] == TEXT
        assert found[1] is not None
        assert found[1].text == TEXT
        assert foreseen.unused_usage() == Usage()

    asyncio.run(ask())


@pytest.mark.parametrize(("text", "name"), [("Write more.", "m"), ("Write.", "other")])
async def test_who_asks_something_else_gets_nothing_and_the_call_is_ended(text: str, name: str) -> None:
    foreseen, call = ForeseenCalls(), begun(says(TEXT, hang=asyncio.Event()))
    foreseen.add("report", call)
    await asyncio.sleep(0)
    assert await read(foreseen, asking(text), name) is None
    await asyncio.gather(*foreseen.tasks(), return_exceptions=True)
    assert call.task.cancelled()
    unasked = foreseen.unused_usage()
    assert (unasked.model_calls, unasked.input_tokens) == (1, input_tokens(asking()))
    assert unasked.usd == pytest.approx(unasked.input_tokens / 1e6)


async def test_a_failure_is_told_to_who_asks() -> None:
    foreseen = ForeseenCalls()
    foreseen.add("report", begun(fails("overloaded", partial="The t")))
    with pytest.raises(ModelError, match="overloaded"):
        await read(foreseen, asking())
    assert foreseen.unused_usage() == Usage()


async def test_who_stops_listening_ends_the_call() -> None:
    foreseen, call = ForeseenCalls(), begun(says(TEXT, partial="The t", hang=asyncio.Event()))
    foreseen.add("report", call)
    stream = foreseen.take("report", "m", asking())
    assert stream is not None
    assert await anext(stream) == TextDelta("The t")
    await stream.aclose()
    await asyncio.gather(*foreseen.tasks(), return_exceptions=True)
    assert call.task.cancelled()


async def test_a_call_that_takes_more_than_it_may_ends_and_is_asked_as_ever() -> None:
    foreseen, most = ForeseenCalls(), input_tokens(asking()) + 10
    call = begun(says(TEXT), most=most)
    foreseen.add("report", call)
    await call.task
    assert call.given_up
    assert most < foreseen.unused_usage().tokens < most + 10
    assert await read(foreseen, asking()) is None


async def test_another_call_for_a_slot_ends_the_one_before() -> None:
    foreseen, first = ForeseenCalls(), begun(says(TEXT, hang=asyncio.Event()))
    foreseen.add("report", first)
    foreseen.add("report", begun(says("Now."), request=asking("Write now.")))
    assert await read(foreseen, asking("Write now.")) == ("Now.", await last("Now."))
    await asyncio.gather(first.task, return_exceptions=True)
    assert first.task.cancelled()


async def last(text: str) -> Reply:
    """The reply as the script completes it."""
    (*_, reply) = [item async for item in Scripted([says(text)], profile=PRICED).stream(asking())]
    assert isinstance(reply, Reply)
    return reply


@given(share=st.floats(0.01, 0.15), spent=st.integers(0, 10**7), unasked=st.integers(0, 10**6))
def test_so_many_tokens_may_be_spent_before_anybody_asks(share: float, spent: int, unasked: int) -> None:
    rules = Speculation(calls=True, share=share)
    spare = spare_tokens(rules, Budget(), Usage(input_tokens=spent), Usage(input_tokens=unasked))
    assert spare == max(0, max(MIN_FORESEEN_TOKENS, int(share * spent)) - unasked)


@pytest.mark.parametrize("budget", [Budget(tokens=10**9), Budget(usd=1e6)])
def test_nothing_is_begun_where_it_may_use_up_a_limit(budget: Budget) -> None:
    rules, spent = Speculation(calls=True), Usage(input_tokens=10**6)
    assert spare_tokens(rules, budget, spent, Usage()) == 0
    assert spare_tokens(rules, Budget(searches=1, seconds=9.0), spent, Usage()) == 150_000
    assert spare_tokens(Speculation(calls=True, share=0.0), Budget(), spent, Usage()) == 0
    assert spare_tokens(Speculation(), Budget(), spent, Usage()) == 0
