"""A whole run ends within its deadline, whatever its services do, and says something: proved in simulated time.

The built-in model plays every role, behind a wire which is slow, silent, cut or down as a drawn seed wants it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from research import DOCUMENTS, Log, Sea
from sampling import scaled
from simulated_time import SimulatedClock, simulated

from assay.core import events as e
from assay.core.brief import ROLES, Timeouts
from assay.core.errors import ModelError, ModelFailed, ModelUnusable, NothingSearched, SearchError
from assay.core.messages import Delta, Reply, Request
from assay.core.phrases import LIMIT_REASONS
from assay.core.ports import Hit, Query, World
from assay.core.usage import Budget, Usage
from assay.models.extractive import Extractive

GRACE = 1.0
"""Seconds past the deadline: what code does in the end takes no simulated time, so a step in flight is all there is."""
QUESTION = "How far does the tide rise at Brest, and where does the mistral blow from?"


class Wire(Extractive):
    """The built-in model, as far away as `chance` makes it; `trouble` is how often something goes wrong."""

    def __init__(self, chance: random.Random, slowest: float, trouble: float) -> None:
        super().__init__()
        self._chance, self._slowest, self._trouble = chance, slowest, trouble
        self.spent = Usage()

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        await asyncio.sleep(self._chance.uniform(0, self._slowest))
        wrong = self._chance.random() < self._trouble
        if wrong:
            await self._fail()
        for delta in [each async for each in super().stream(request)]:
            await asyncio.sleep(self._chance.uniform(0, self._slowest / 8))
            if wrong and self._chance.random() < 0.2:
                await self._fail()
            if isinstance(delta, Reply):
                self.spent += delta.usage
            yield delta

    async def _fail(self) -> None:
        match self._chance.randrange(4):
            case 0:
                raise ModelError("it is down", retry_after=self._chance.choice([None, 5.0, 600.0]))
            case 1:
                raise ModelError("it will not", transient=False)
            case 2:
                await asyncio.sleep(100_000)


class SlowSearch:
    """A search which takes its time, and fails at times."""

    name = "words"

    def __init__(self, inner: Any, chance: random.Random, slowest: float, trouble: float) -> None:
        self._inner, self._chance, self._slowest, self._trouble = inner, chance, slowest, trouble

    async def search(self, query: Query) -> list[Hit]:
        wrong = self._chance.random() < self._trouble
        await asyncio.sleep(
            100_000 if wrong and self._chance.random() < 0.3 else self._chance.uniform(0, self._slowest)
        )
        if wrong:
            raise SearchError("it is down")
        found: list[Hit] = await self._inner.search(query)
        return found


async def played(seed: int, slowest: float, trouble: float, budget: Budget, **changes: Any) -> tuple[Log, Wire, float]:
    """A run with such services: its log, its model, and the second at which it had ended."""
    chance, sea = random.Random(seed), Sea(DOCUMENTS)
    wire = Wire(chance, slowest, trouble)
    search = SlowSearch(sea.search, chance, slowest / 2, trouble)
    roles = dict.fromkeys(ROLES, (wire.profile.name,))
    brief = sea.brief(question=QUESTION, models=roles, budget=budget, timeouts=Timeouts(total=300.0), **changes)

    async def prepare() -> tuple[Any, World]:
        models = {wire.profile.name: wire}
        return brief, msgspec.structs.replace(
            sea.world(wire),  # type: ignore[arg-type]
            models=models,
            searches=(search,),
            clock=SimulatedClock(),
        )

    handle = sea.engine().start(prepare)
    envelopes = [envelope async for envelope in handle]
    ended = asyncio.get_running_loop().time()
    try:
        await handle.wait()
    except (ModelFailed, ModelUnusable, NothingSearched):
        assert envelopes[-1].type == e.RunFailed.kind
    return Log(envelopes, wire), wire, ended  # type: ignore[arg-type]


seeds, slow = st.integers(0, 2**32), st.floats(0.1, 90)


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
@settings(max_examples=scaled(12), deadline=None)
@given(seed=seeds, slowest=slow, trouble=st.sampled_from([0.0, 0.1, 0.5, 1.0]), seconds=st.floats(20, 900))
def test_a_run_ends_within_its_deadline(
    strategy: str, seed: int, slowest: float, trouble: float, seconds: float
) -> None:
    log, _, ended = simulated(played(seed, slowest, trouble, Budget(seconds=seconds), strategy=strategy))
    assert ended <= seconds + GRACE
    if log.envelopes[-1].type == e.RunFailed.kind:  # nothing was found, and it says why
        assert trouble
        assert log.last(e.RunFailed).error
        return
    assert log.last(e.RunCompleted).stop_reason in {*LIMIT_REASONS, "done", "no_evidence"}
    assert log.text.strip()
    assert log.last(e.ReportFinished)


@settings(max_examples=scaled(8), deadline=None)
@given(seed=seeds, slowest=st.floats(5, 90), depth=st.sampled_from(["light", "medium"]))
def test_without_a_limit_of_its_own_a_run_keeps_that_of_its_depth(seed: int, slowest: float, depth: str) -> None:
    log, _, ended = simulated(played(seed, slowest, 0.1, Budget(), depth=depth))
    assert ended <= {"light": 120, "medium": 600}[depth] + GRACE
    assert log.types()[-1] in (e.RunCompleted.kind, e.RunFailed.kind)


def test_a_model_which_never_answers_costs_the_run_its_time_and_no_more() -> None:
    log, _, ended = simulated(played(0, 100_000.0, 0.0, Budget(seconds=60)))
    assert 45 <= ended <= 60 + GRACE  # the writer's part is left: there is nothing to write of
    assert log.last(e.RunCompleted).stop_reason == "time"
    assert log.text.strip()
