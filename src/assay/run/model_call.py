"""A model call as a run sees it: attempts, fallbacks, timeouts and deltas inside one step.

A stream that dies before its first token is simply tried again. One that dies later has emitted text, so the step is
restarted and the log drops what the earlier attempt emitted.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, nullcontext

import msgspec

from assay.core.brief import Role
from assay.core.errors import ContextTooLong, LimitReached, ModelError, ModelFailed, ModelUnusable, Refused
from assay.core.events import ModelAttempted
from assay.core.messages import (
    REASONING_ROOM,
    Delta,
    Reply,
    Request,
    Retracted,
    Task,
    TextDelta,
    ThinkingDelta,
)
from assay.core.ports import Fact, LearningModel, Model
from assay.core.usage import Usage
from assay.run.budget import fit_output, reasoning_tokens, worst_case
from assay.run.rate_limits import pause_seconds
from assay.run.reply_length import ReplySoFar
from assay.run.sent_request import (
    add_timeouts,
    compare_passages,
    extra_tokens,
    free_window_tokens,
    max_comparison_cost,
    prepare_request,
    wait_for_turn,
)
from assay.run.speculation import price_usage
from assay.run.steps import RunPlace, StepContext, digest, hold_cost, perform_step, watch_span
from assay.run.voice import StreamHooks, Voice, thinking_length

MAX_TRIES = 3
YIELD_SECONDS = 0.02
"""Seconds after which a stream lets other tasks run."""
RENEWAL_SHARE = 1 / 16
"""The part of a stream's timeout after which it is renewed. Not at each token: a timer costs as much as a token."""
PROSE_TASKS: frozenset[Task] = frozenset(("find", "analyze", "answer", "write"))
"""Tasks that are answered in prose with citations."""
REASONING_STEPS = (REASONING_ROOM["medium"], REASONING_ROOM["high"])
"""Tokens granted, one step after the other, to a model that reasons before it answers."""
MIN_EXTRA_TOKENS = 500
"""Fewer extra tokens than this are not worth another call."""
REFUSAL_SHOWN = 300
"""Code points of a refusal in an event."""
CUT_OFF_THINKING = "cut off while it was thinking"
FIRST_ROLES: frozenset[Role] = frozenset(("simple", "analytical"))
"""The roles that work before anything is written: without a model for them it is useless to go on."""


async def ask_model(run: RunPlace, role: Role, request: Request, hooks: StreamHooks) -> Reply:
    """See `Run.ask`."""
    fitted_request = _fit(run, role, add_timeouts(request, run.brief.timeouts))

    async def attempts(step_context: StepContext) -> Reply:
        step_context.role = role
        return await Attempts(run, role, fitted_request, step_context, hooks).get_reply()

    try:
        return await perform_step(
            run,
            f"ask-{request.task}",
            attempts,
            returns=Reply,
            input_hash=digest(msgspec.structs.replace(request, schema=msgspec.UNSET)),
            cost=_worst_case(run, role, fitted_request),
        )
    except ContextTooLong as error:  # now or on a replay, which learns the same from the stored words
        for name in run.brief.models[role]:
            model = run.world.models[name]
            if isinstance(model, LearningModel) and error.reason.startswith(f"{name}: "):
                model.learn(error.reason)
        raise


def _fit(run: RunPlace, role: Role, request: Request) -> Request:
    """Cut the allowed output to what the budget still pays for, if that leaves a useful answer."""
    accounts = run.execution.accounts
    if not accounts.limited:
        return request
    return fit_output(_models(run, role), request, accounts.room(run.lane, run.gate))


def _worst_case(run: RunPlace, role: Role, request: Request) -> Usage:
    if not run.execution.accounts.limited:
        return Usage()
    room = max(run.execution.breakers.granted_tokens(name) for name in run.brief.models[role])
    return worst_case(_models(run, role), request, room) + max_comparison_cost(run, role, request)


def _models(run: RunPlace, role: Role) -> list[Model]:
    return [run.world.models[name] for name in run.brief.models[role]]


class Attempts:
    """The attempts of one call: each model of the role in turn, each as often as may help."""

    def __init__(
        self, run: RunPlace, role: Role, request: Request, step_context: StepContext, hooks: StreamHooks
    ) -> None:
        self._run, self._role, self._request = run, role, request
        self._step_context, self._hooks = step_context, hooks
        self._voice = Voice(step_context, request.tools, hooks)
        self._breakers, self._clock = run.execution.breakers, run.world.clock
        self._attempts: list[ModelAttempted] = []
        self._refused = False
        self._unusable: dict[str, str] = {}

    async def get_reply(self) -> Reply:
        """Return the first reply of any model.

        Raises:
            ModelFailed: there was none. `Refused` if the last model declined, `ContextTooLong` at once.
            ModelUnusable: none has answered yet in this process, and none will until a person changes something.
        """
        names: tuple[str, ...] = ()
        try:
            names = self._breakers.usable_models(self._run.brief.models[self._role], self._clock.monotonic())
            for remaining, name in zip(range(len(names) - 1, -1, -1), names, strict=True):
                reply = await self._ask_model(name, fallback=remaining > 0)
                if reply is not None:
                    return reply
        finally:
            for attempt in self._attempts:
                self._step_context.emit(attempt)
        self._voice.stop()
        if self._is_hopeless(names):
            raise ModelUnusable("; ".join(self._unusable.values()))
        outcomes = dict.fromkeys(f"{attempt.model}: {attempt.outcome}" for attempt in self._attempts)
        failure = Refused if self._refused else ModelFailed
        raise failure(f"no model answered ({self._role}): {'; '.join(outcomes)}")

    @property
    def _is_unanswered(self) -> bool:
        """True if no model of the role has answered since this process resumed the run."""
        return self._run.execution.answering_models.isdisjoint(self._run.brief.models[self._role])

    def _is_hopeless(self, names: Sequence[str]) -> bool:
        """True if the run must end: the cause existed before the run began, and is the same for all models it would
        call.
        """
        return self._role in FIRST_ROLES and self._is_unanswered and len(self._unusable) == len(names)

    async def _ask_model(self, name: str, *, fallback: bool) -> Reply | None:
        """Ask the model `name`; None if it gives no reply.

        If there is a `fallback`, the model is left alone as soon as its breaker is open, whoever opened it.
        """
        was_open = self._breakers.is_open(name, self._clock.monotonic())
        for attempt in itertools.count():
            try:
                return await self._try_with_room(name)
            except Refused:
                self._breakers.record_success(name)
                self._refused = True
                return None
            except ContextTooLong as error:
                self._breakers.record_success(name)  # it answers; the request is at fault
                self._voice.stop()
                raise ContextTooLong(_with_full_name(name, error.reason)) from error
            except ModelError as error:
                now = self._clock.monotonic()
                self._refused = False
                self._record_attempt(name, error.reason)
                self._breakers.record_failure(name, now, transient=error.transient, retry_after=error.retry_after)
                # others have tried more than once; or it is the last hope, and nobody is there
                is_unreachable = (was_open or (self._is_unanswered and not fallback)) and not error.reached
                self._record_unusable(name, error)
                is_final = not error.transient or is_unreachable or attempt >= MAX_TRIES - 1
                may_return = self._may_return(name, error, fallback)
                if (is_final and not may_return) or self._has_given_up(name, fallback):
                    return None
                await self._clock.sleep(pause_seconds(error, attempt, waited_for=may_return))
                if self._has_given_up(name, fallback):
                    return None
        raise AssertionError  # it counts without an end

    def _may_return(self, name: str, error: ModelError, fallback: bool) -> bool:
        """True if a model has answered before, cannot be reached now, and is waited for: there is no other."""
        has_answered = name in self._run.execution.answering_models and not (error.reached or fallback)
        return has_answered and self._breakers.may_return(name, self._clock.monotonic(), self._request.first_token)

    def _record_unusable(self, name: str, error: ModelError) -> None:
        """Remember why a model cannot be used, while that is the latest information about it."""
        if error.usable and error.reached:
            self._unusable.pop(name, None)
        else:
            self._unusable[name] = _with_full_name(name, error.reason)

    def _has_given_up(self, name: str, fallback: bool) -> bool:
        return fallback and self._breakers.is_open(name, self._clock.monotonic())

    async def _try_with_room(self, name: str) -> Reply:
        """Make one attempt, and another with more room if the model reasoned up to its cap and said nothing.

        Raises:
            ModelError, Refused, LimitReached: as `_try`.
            ContextTooLong: as `_try`, or the request leaves no room to reason in the window.
        """
        reply = await self._try(name)
        for _ in REASONING_STEPS:
            if not _is_unspoken(reply):
                return reply
            self._attempts[-1] = msgspec.structs.replace(self._attempts[-1], outcome=CUT_OFF_THINKING)
            if not self._widen_room(name):
                break
            try:
                reply = await self._try(name)
            except LimitReached:
                return reply  # the budget does not pay for more of it
        if _is_unspoken(reply) and self._room_left(name) < self._granted_tokens(name) + MIN_EXTRA_TOKENS:
            raise ContextTooLong(f"{name}: the request leaves no room for its thinking")
        return reply

    def _widen_room(self, name: str) -> bool:
        """True if the model can get more room than it had; it keeps that from now on."""
        granted, max_output = self._granted_tokens(name), self._run.world.models[name].profile.max_output
        room = min(next((step for step in REASONING_STEPS if step > granted), 0), self._room_left(name), max_output)
        if room < granted + MIN_EXTRA_TOKENS or self._request.max_tokens + granted >= max_output:
            return False
        self._breakers.grant_tokens(name, room)
        return True

    def _granted_tokens(self, name: str) -> int:
        profile = self._run.world.models[name].profile
        return max(extra_tokens(self._run, name, self._request), reasoning_tokens(profile, self._request.effort))

    def _room_left(self, name: str) -> int:
        return free_window_tokens(self._run, name, self._request)

    async def _try(self, name: str) -> Reply:
        """Make one attempt.

        Raises:
            ModelError: it failed. ContextTooLong, Refused: the model would not answer this; a refusal is logged.
            LimitReached: an earlier attempt has spent what this one needs.
        """
        if self._attempts:
            await self._hold_again()
            await self._voice.restart()
        self._breakers.record_start(name, self._clock.monotonic())
        model = self._run.world.models[name]
        try:
            reply, usage = await self._call_model(name, model)
        except Refused as refused:
            self._record_attempt(name, refused.reason)
            raise
        self._step_context.spend(usage)
        is_refusal = reply.stop == "refused"
        self._record_attempt(name, _refusal(reply) if is_refusal else "ok", usage)
        if is_refusal:
            raise Refused(_refusal(reply))
        self._breakers.record_success(name)
        self._run.execution.answering_models.add(name)
        return msgspec.structs.replace(reply, model=name, usage=usage)

    async def _call_model(self, name: str, model: Model) -> tuple[Reply, Usage]:
        """Return the reply of one attempt and its cost, and report the call to the watch."""
        request = prepare_request(self._run, name, self._request)
        ahead = self._run.execution.foreseen.take(self._hooks.slot, name, request) if self._hooks.slot else None
        async with nullcontext() if ahead else wait_for_turn(self._run, name):
            if model.profile.quotes:
                request = await self._add_similarities(request)
            if self._hooks.on_begin is not None:
                self._hooks.on_begin()
            return await self._read_stream(name, model, request, ahead or model.stream(request))

    async def _read_stream(
        self, name: str, model: Model, request: Request, items: AsyncGenerator[Delta | Reply, None]
    ) -> tuple[Reply, Usage]:
        facts = {"role": self._role, "task": request.task, "attempt": len(self._attempts) + 1}
        with watch_span(self._run, "model", name, max_tokens=request.max_tokens, **facts) as span:
            if span is not None:
                span.report()
            reply = await _read_reply(model, request, items, self._voice)
            usage = price_usage(model, reply.usage)
            if span is not None:
                span.add_facts(stop=reply.stop, **_usage_facts(usage))
        return reply, usage

    async def _add_similarities(self, request: Request) -> Request:
        """Add to `request` the similarities by which a quoting model chooses."""
        if (rarity := self._run.execution.rarity) is not None:
            request = msgspec.structs.replace(request, rarity=rarity)
        close, usage = await compare_passages(self._run, request)
        self._step_context.spend(usage)
        return request if close is None else msgspec.structs.replace(request, closeness=close)

    async def _hold_again(self) -> None:
        """Hold the cost again: an attempt that was answered but not usable has spent the first hold."""
        if self._attempts[-1].usage != Usage():
            await hold_cost(self._run, self._step_context.key, _worst_case(self._run, self._role, self._request))

    def _record_attempt(self, name: str, outcome: str, usage: Usage = Usage()) -> None:
        self._attempts.append(
            ModelAttempted(
                role=self._role,
                task=self._request.task,
                model=name,
                attempt=len(self._attempts) + 1,
                outcome=outcome,
                usage=usage,
            )
        )


def _with_full_name(name: str, reason: str) -> str:
    """Why the model `name` failed; its full name replaces the provider's name at the start of the reason."""
    if reason.startswith(f"{name}: "):
        return reason
    provider = name.partition(":")[0]
    remainder = reason.removeprefix(provider)
    return f"{name}{remainder}" if remainder != reason and remainder[:1] in (" ", ":") else f"{name}: {reason}"


def _is_unspoken(reply: Reply) -> bool:
    """True if a reply was cut at its cap before it said anything: all went into reasoning, shown or not."""
    return reply.stop == "length" and not reply.text.strip() and not reply.calls


def _refusal(reply: Reply) -> str:
    """A refusal in one line, with the model's own words if there are any."""
    words = " ".join(reply.text.split())
    short = words if len(words) <= REFUSAL_SHOWN else words[:REFUSAL_SHOWN] + "…"
    return f"it refused to answer{': ' if short else ''}{short}"


def _usage_facts(usage: Usage) -> dict[str, Fact]:
    """The usage of a call as facts for the watch."""
    names = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens", "usd")
    return {name: getattr(usage, name) for name in names}


async def _drop_thinking(task: Task, reply: Reply, voice: Voice) -> Reply:
    """Remove the thinking at the beginning of a reply in prose, and take back what was emitted of it."""
    length = thinking_length(reply.text) if task in PROSE_TASKS else 0
    if not length:
        return reply
    thinking, text = reply.text[:length].strip(), reply.text[length:]
    await voice.restart()
    for delta in (ThinkingDelta(reply.thinking + thinking), TextDelta(text)):
        voice.add_delta(delta)
    return msgspec.structs.replace(reply, text=text, thinking=reply.thinking + thinking)


async def _read_reply(
    model: Model, request: Request, stream: AsyncGenerator[Delta | Reply, None], voice: Voice
) -> Reply:
    """Read one stream and emit it as it comes, within the three timeouts of the request and a length.

    Raises:
        ModelError: it failed, or took too long to begin, to continue, or to end.
    """
    clock = asyncio.get_running_loop().time
    ends, limit, renewed_at = clock() + request.total, request.first_token, float("-inf")
    yielded_at, so_far = clock(), ReplySoFar(model.profile, request)
    async with aclosing(stream) as items:
        try:
            async with asyncio.timeout_at(min(clock() + limit, ends)) as patience:
                async for item in items:
                    if isinstance(item, Reply) or so_far.exceeds(item):
                        reply = item if isinstance(item, Reply) else so_far.to_cut_reply()
                        return voice.end(
                            reply if model.profile.quotes else await _drop_thinking(request.task, reply, voice)
                        )
                    if isinstance(item, Retracted):
                        await voice.restart()
                        continue
                    voice.add_delta(item)
                    if (now := clock()) - yielded_at >= YIELD_SECONDS:
                        # a reply that came at once would otherwise be read in one turn of the loop
                        await asyncio.sleep(0)
                        yielded_at = clock()
                    if now - renewed_at >= limit * RENEWAL_SHARE:
                        limit, renewed_at = request.timeout, now
                        patience.reschedule(min(now + limit * (1 + RENEWAL_SHARE), ends))
        except TimeoutError:
            if clock() >= ends:  # a service that drips will do so again
                raise ModelError(f"no whole reply in {request.total:g} s", transient=False) from None
            silent = renewed_at == float("-inf")  # not even the beginning of an answer
            hint = "; it may be loading the model or be busy: try again, or allow more (timeouts.first_token)"
            raise ModelError(f"no token for {limit:g} s{hint if silent else ''}", reached=not silent) from None
    raise ModelError("the stream ended without a reply")
