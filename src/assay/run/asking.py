"""A model call as a run sees it: attempts, fallbacks, timeouts and deltas inside one step.

A stream that dies before its first token is simply tried again; one that dies later has already spoken, so the step is
restarted and the log takes back what the earlier attempt said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import msgspec

from assay.core.brief import Role
from assay.core.counting import input_tokens
from assay.core.errors import ContextTooLong, ModelError, ModelFailed
from assay.core.events import Event, ModelAttempted, ThinkFinished, ThinkStarted
from assay.core.events import ThinkDelta as Thought
from assay.core.messages import CallDone, Delta, Reply, Request, TextDelta, ThinkDelta, ToolCall
from assay.core.ports import Model
from assay.core.usage import Usage
from assay.run.place import Place
from assay.run.steps import Scratch, digest, perform

TRIES = 3
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
DELTA_SECONDS = 0.1
LEAST_OUTPUT = 256


async def ask(
    place: Place,
    role: Role,
    request: Request,
    *,
    deltas: Callable[[str], Event] | None,
    thinking: bool,
    on_call: Callable[[int, ToolCall], None] | None,
) -> Reply:
    """See `Run.ask`."""
    fitted = _fit(place, request)

    async def attempts(scratch: Scratch) -> Reply:
        scratch.role = role
        voice = Voice(scratch, deltas, thinking, on_call)
        return await _attempts(place, role, fitted, scratch, voice)

    return await perform(
        place,
        f"ask-{request.task}",
        attempts,
        returns=Reply,
        input_hash=digest(request),
        cost=_worst_case(place, role, fitted),
    )


def _fit(place: Place, request: Request) -> Request:
    """Shorten the allowed output to what the budget still pays for, where that leaves a useful answer."""
    room = place.execution.accounts.room(place.lane, writing=place.gate == "write").tokens
    if room is None:
        return request
    output = min(request.max_tokens, room - input_tokens(request))
    return request if output < LEAST_OUTPUT else msgspec.structs.replace(request, max_tokens=output)


def _worst_case(place: Place, role: Role, request: Request) -> Usage:
    if not place.execution.accounts.limited:
        return Usage()
    inputs = input_tokens(request)
    price = place.profile(role).price
    usd = (inputs * price.input + request.max_tokens * price.output) / 1e6 if price else 0.0
    return Usage(model_calls=1, input_tokens=inputs, output_tokens=request.max_tokens, usd=usd)


async def _attempts(place: Place, role: Role, request: Request, scratch: Scratch, voice: Voice) -> Reply:
    tried: list[ModelAttempted] = []
    health, clock = place.execution.health, place.world.clock

    def note(model: str, outcome: str, usage: Usage = Usage()) -> None:
        number = len(tried) + 1
        tried.append(
            ModelAttempted(role=role, task=request.task, model=model, attempt=number, outcome=outcome, usage=usage)
        )

    try:
        for name in health.usable(place.brief.models[role], clock.monotonic()):
            model = place.world.models[name]
            for again in range(TRIES):
                if tried:
                    await voice.restart()
                health.asked(name, clock.monotonic())
                try:
                    reply = await _stream(model, request, voice)
                except ContextTooLong:
                    health.succeeded(name)  # it answers; what it was asked is at fault
                    raise
                except ModelError as error:
                    note(name, error.reason)
                    health.failed(name, clock.monotonic(), transient=error.transient, retry_after=error.retry_after)
                    if not error.transient:
                        break
                    if again < TRIES - 1:
                        await clock.sleep(_pause(error, again))
                    continue
                health.succeeded(name)
                usage = _priced(model, reply)
                note(name, "ok", usage)
                scratch.spend(usage)
                return msgspec.structs.replace(reply, model=name, usage=usage)
        told = dict.fromkeys(f"{attempt.model}: {attempt.outcome}" for attempt in tried)
        raise ModelFailed(f"no model answered ({role}): {'; '.join(told)}")
    finally:
        for attempt in tried:
            scratch.emit(attempt)


def _pause(error: ModelError, again: int) -> float:
    """Seconds before the next attempt: what the provider asks for, else doubling."""
    wanted = error.retry_after if error.retry_after is not None else FIRST_PAUSE * 2.0**again
    return min(wanted, LONGEST_PAUSE)


def _priced(model: Model, reply: Reply) -> Usage:
    usage, price = reply.usage, model.profile.price
    if price is None:
        return msgspec.structs.replace(usage, model_calls=1, unpriced_calls=1)
    cached = price.cached if price.cached is not None else price.input
    fresh = usage.input_tokens - usage.cached_tokens
    usd = (fresh * price.input + usage.cached_tokens * cached + usage.output_tokens * price.output) / 1e6
    return msgspec.structs.replace(usage, model_calls=1, usd=usd)


async def _stream(model: Model, request: Request, voice: Voice) -> Reply:
    async with aclosing(model.stream(request)) as items:
        limit = request.first_token
        while True:
            try:
                async with asyncio.timeout(limit):
                    item = await anext(items)
            except StopAsyncIteration:
                raise ModelError("the stream ended without a reply") from None
            except TimeoutError:
                raise ModelError(f"no token for {limit:.0f} s") from None
            limit = request.timeout
            if isinstance(item, Reply):
                voice.end(item)
                return item
            voice.say(item)


class Voice:
    """Turns a reply's stream into events, at most ten a second."""

    def __init__(
        self,
        scratch: Scratch,
        deltas: Callable[[str], Event] | None,
        thinking: bool,
        on_call: Callable[[int, ToolCall], None] | None,
    ) -> None:
        self._scratch, self._deltas, self._thinking, self._on_call = scratch, deltas, thinking, on_call
        self._text: list[str] = []
        self._thought: list[str] = []
        self._thoughts = False
        self._said_at = float("-inf")

    async def restart(self) -> None:
        """Take back what the attempt before this one said."""
        self._text.clear()
        self._thought.clear()
        self._thoughts = False
        await self._scratch.begin()

    def say(self, delta: Delta) -> None:
        """One delta of the stream."""
        match delta:
            case TextDelta(text=text):
                self._text.append(text)
            case ThinkDelta(text=text):
                self._thought.append(text)
            case CallDone(index=index, call=call):
                if self._on_call is not None:
                    self._on_call(index, call)
        now = asyncio.get_running_loop().time()
        if now - self._said_at >= DELTA_SECONDS:
            self._said_at = now
            self._flush()

    def end(self, reply: Reply) -> None:
        """The stream is over: say the rest."""
        self._flush()
        if self._thoughts:
            self._scratch.write(ThinkFinished(text=reply.thinking))

    def _flush(self) -> None:
        if self._thinking and self._thought:
            if not self._thoughts:
                self._thoughts = True
                self._scratch.write(ThinkStarted())
            self._scratch.write(Thought(text="".join(self._thought)))
        self._thought.clear()
        if self._deltas is not None and self._text:
            self._scratch.write(self._deltas("".join(self._text)))
        self._text.clear()
