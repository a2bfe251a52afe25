"""Work begun before anybody asks for it, because somebody probably will: its limits and its results.

It changes no result. It is not stored with the run, and nothing depends on it. What was not begun is done when it is
asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, Literal

import msgspec

from assay.core.brief import Speculation
from assay.core.messages import Delta, Reply, Request, TextDelta, ThinkingDelta, input_tokens
from assay.core.ports import Model
from assay.core.text import estimate_tokens
from assay.core.usage import Budget, Usage
from assay.core.web_addresses import canonical_url
from assay.run.budget import LOW_SHARE
from assay.run.tasks import retrieve_failure

Kind = Literal["searches", "pages"]
MAX_TASKS = 4
"""The most pieces of such work at once in one execution; others wait until they are asked for."""
MIN_WAITING: dict[Kind, int] = {"searches": 2, "pages": 3}
"""How many pieces may wait to be asked for, at least, even if a share of the run's own work would be less."""
MIN_FORESEEN_TOKENS = 3_000
"""The tokens that foreseen calls may take, at least, even if a share of the run's own would be less."""
GUESSED_LANE = -1
"""The owner of work that no lane's own search led to."""
MAX_GUESSED_PAGES = 2
"""How many pages from guessed searches may wait to be asked for."""
SPECULATION_ROLE = "ahead"
"""The role under which a run's usage counts work that nobody asked for in the end."""


class WorkAhead:
    """Work that was begun, by the key under which it may be asked for."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._unused: dict[str, tuple[int, Usage]] = {}

    def begin(
        self, key: str, work: Callable[[], Awaitable[Any]], cost: Usage = Usage(), lane: int = GUESSED_LANE
    ) -> bool:
        """Begin; False if it was begun before or there is enough of it. `lane` will probably ask."""
        going = sum(not task.done() for task in self._tasks.values())
        if key in self._tasks or key in self._unused or going >= MAX_TASKS:
            return False
        self._unused[key] = (lane, cost)
        task = self._tasks[key] = asyncio.get_running_loop().create_task(_run(work), name=key)
        task.add_done_callback(retrieve_failure)
        return True

    async def result(self, key: str) -> Any | None:
        """Return its result to whoever asks first; None if it was not begun, or was stopped.

        Raises:
            AssayError: what the work raised.
        """
        self._unused.pop(key, None)
        task = self._tasks.get(key)
        if task is None:
            return None
        await asyncio.wait((task,))  # who stops waiting does not stop the work: the next one may want it
        self._tasks.pop(key, None)
        return None if task.cancelled() else task.result()

    def unused_usage(self, lane: int | None = None) -> Usage:
        """The usage of work that nobody has asked for so far; of one lane, or of all."""
        return sum((cost for task_lane, cost in self._unused.values() if lane in (None, task_lane)), Usage())

    def tasks(self) -> list[asyncio.Task[Any]]:
        return list(self._tasks.values())

    def stop(self) -> None:
        """End the work that nobody has asked for so far."""
        for task in self._tasks.values():
            task.cancel()


async def _run(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


class ForeseenCall:
    """A model call begun before its step: what has streamed so far, and what follows."""

    def __init__(
        self, name: str, model: Model, request: Request, turn: AbstractAsyncContextManager[None], max_tokens: int
    ) -> None:
        """Begin. If it takes more than `max_tokens` before anybody asks, it ends.

        Args:
            name: the model's.
            model: who is asked.
            request: in the form in which it is sent.
            turn: the wait for the model's rate limiter.
        """
        self.name, self.request, self._model, self._max_tokens = name, request, model, max_tokens
        self._input, self._output = input_tokens(request), 0
        self._items: list[Delta | Reply] = []
        self._has_more = asyncio.Event()
        self._is_asked = False
        self.given_up = False
        self.task = asyncio.get_running_loop().create_task(self._read(turn), name=f"foreseen {request.task}")
        self.task.add_done_callback(self._on_done)

    @property
    def usage(self) -> Usage:
        """The usage so far: the service's own count once the reply is complete, an estimate before."""
        last = self._items[-1] if self._items else None
        raw_usage = (
            last.usage if isinstance(last, Reply) else Usage(input_tokens=self._input, output_tokens=self._output)
        )
        return price_usage(self._model, raw_usage)

    async def _read(self, turn: AbstractAsyncContextManager[None]) -> None:
        async with turn, aclosing(self._model.stream(self.request)) as items:
            async for item in items:
                if isinstance(item, TextDelta | ThinkingDelta):
                    self._output += estimate_tokens(item.text)
                self._items.append(item)
                self._has_more.set()
                if not self._is_asked and self._input + self._output > self._max_tokens:
                    self.given_up = True
                    return

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._has_more.set()
        retrieve_failure(task)

    def take_reply(self) -> AsyncGenerator[Delta | Reply, None]:
        """The reply, from its beginning, for the step that asks for it.

        Raises:
            ModelError, ContextTooLong: the call failed.
        """
        self._is_asked = True
        return self._stream()

    async def _stream(self) -> AsyncGenerator[Delta | Reply, None]:
        index = 0
        try:
            while True:
                self._has_more.clear()
                while index < len(self._items):
                    yield self._items[index]
                    index += 1
                if self.task.done():
                    self.task.result()
                    return
                await self._has_more.wait()
        finally:
            self.task.cancel()


def price_usage(model: Model, usage: Usage) -> Usage:
    """The usage of one call with its cost. A model without a price is counted as unpriced, never as free."""
    if model.profile.price is None:
        return msgspec.structs.replace(usage, model_calls=1, unpriced_calls=1)
    return msgspec.structs.replace(usage, model_calls=1, usd=model.profile.price.cost(usage))


class ForeseenCalls:
    """The model calls of one execution that were begun and not asked for so far, each in a slot of its own."""

    def __init__(self) -> None:
        self._calls: dict[str, ForeseenCall] = {}
        self._dropped_usage = Usage()
        self._tasks: set[asyncio.Task[None]] = set()

    def expects(self, slot: str, name: str, request: Request) -> bool:
        """True if exactly this call was begun for a slot."""
        call = self._calls.get(slot)
        return call is not None and call.name == name and call.request == request

    def add(self, slot: str, call: ForeseenCall) -> None:
        """Keep a call that was begun, in place of the one in its slot."""
        self.drop(slot)
        self._calls[slot] = call
        self._tasks.add(call.task)
        call.task.add_done_callback(self._tasks.discard)

    def take(self, slot: str, name: str, request: Request) -> AsyncGenerator[Delta | Reply, None] | None:
        """The stream of the call in a slot, if it is the one that is asked for; else it is dropped."""
        if not self.expects(slot, name, request) or self._calls[slot].given_up:
            self.drop(slot)
            return None
        return self._calls.pop(slot).take_reply()

    def drop(self, *slots: str) -> None:
        """End what is in these slots, or in all: nobody will ask for it."""
        for slot in slots or tuple(self._calls):
            if (call := self._calls.pop(slot, None)) is not None:
                self._dropped_usage = self._dropped_usage + call.usage
                call.task.cancel()

    def unused_usage(self) -> Usage:
        """The usage of the calls that nobody has asked for so far."""
        return sum((call.usage for call in self._calls.values()), self._dropped_usage)

    def tasks(self) -> list[asyncio.Task[None]]:
        return list(self._tasks)


def spare_tokens(rules: Speculation, budget: Budget, spent: Usage, unused: Usage) -> int:
    """How many tokens a foreseen call may take before anybody asks for it: a share of what the run has used.

    0 if tokens or money are limited: what turns out unused must not reduce what the run may do.
    """
    if not rules.calls or not rules.share or budget.tokens is not None or budget.usd is not None:
        return 0
    return max(0, max(MIN_FORESEEN_TOKENS, int(rules.share * spent.tokens)) - unused.tokens)


def affordable_count(rules: Speculation, budget: Budget, spent: Usage, kind: Kind) -> int:
    """How many pieces of a kind, begun ahead, may wait to be asked for.

    0 if the budget counts that kind, since unused work must not reduce what agents may do, and 0 if any other limit is
    near. Else a share of what the run has done of it.
    """
    if (
        getattr(budget, kind) is not None
        or is_near_limit(budget.usd, spent.usd)
        or is_near_limit(budget.tokens, spent.tokens)
    ):
        return 0
    return max(MIN_WAITING[kind], int(rules.share * getattr(spent, kind))) if rules.share else 0


def has_room_for(allowed_count: int, ahead: WorkAhead, kind: Kind, lane: int, lanes: int) -> bool:
    """True if one of `allowed_count` pieces is left for a lane, with `lanes` at work.

    Lanes at work have equal parts, at least one each. Pages from guessed searches are counted apart, so they take
    nothing from lanes, whose guesses are better, until a share of the run's own work exceeds both.
    """
    if not allowed_count:
        return False
    waiting_count: int = getattr(ahead.unused_usage(), kind)
    if kind == "searches":
        return waiting_count < allowed_count
    lane_pages, guessed_pages = ahead.unused_usage(lane).pages, ahead.unused_usage(GUESSED_LANE).pages
    limit = MAX_GUESSED_PAGES if lane == GUESSED_LANE else max(1, allowed_count // max(1, lanes))
    return lane_pages < limit and waiting_count < max(
        allowed_count, MIN_WAITING[kind] + min(guessed_pages, MAX_GUESSED_PAGES)
    )


def is_near_limit(limit: float | None, used: float) -> bool:
    """True if most of a limit is used."""
    return limit is not None and used >= LOW_SHARE * limit


def page_key(url: str) -> str:
    """The key of the page at an address, however it is spelt."""
    return f"page {canonical_url(url)}"
