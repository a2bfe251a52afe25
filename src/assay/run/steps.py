"""Steps: work that is done exactly once, at a place in the tree of a run; and durable waiting for a person."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from assay.core.brief import Brief, Role
from assay.core.errors import Failed, InputNeeded, LimitReached, ModelUnusable, NotStored, OtherRelease, failure
from assay.core.events import BudgetLow, Envelope, Event, Path, RunWaiting, StepDiverged, StepRestarted, UsageUpdated
from assay.core.messages import Profile, Rarity
from assay.core.ports import (
    Commit,
    EventDraft,
    Fact,
    HoldRecord,
    LedgerRow,
    Memory,
    SpanKind,
    StepRecord,
    Watch,
    WatchedSpan,
    World,
)
from assay.core.usage import Budget, Usage
from assay.evidence.ledger import SourceRow
from assay.run.budget import Gate
from assay.run.execution import Execution
from assay.run.failures import FAILED_TAG, StoredFailure
from assay.run.releases import own_release


class RunPlace:
    """A path, a lane, and the gate whose limits apply there."""

    def __init__(self, execution: Execution, path: Path = (), lane: int = 0, gate: Gate = "work") -> None:
        self.execution, self.path, self.lane, self.gate = execution, path, lane, gate

    @property
    def brief(self) -> Brief:
        return self.execution.brief

    @property
    def run_id(self) -> str:
        return self.execution.run_id

    @property
    def world(self) -> World:
        return self.execution.world

    @property
    def exhausted(self) -> str:
        """The limit that ended research, empty while there is none."""
        return self.execution.exhausted

    def profile(self, role: Role) -> Profile:
        """The abilities of the first model of a role."""
        return self.world.models[self.brief.models[role][0]].profile

    async def log(self, run_id: str = "") -> list[Envelope]:
        """The events stored so far, of this run or another. Call it inside a step, like `memory`.

        Raises:
            UnknownName: there is no such run.
        """
        return await self.execution.journal.events(run_id or self.run_id)

    async def memory(self, run_id: str) -> Memory:
        """Load everything stored about another run.

        Raises:
            UnknownName: there is no such run.
        """
        return await self.execution.journal.load(run_id)

    def check_owner(self) -> None:
        """Raise if the owner has ended the run, in a step that no limit ends.

        Raises:
            Cancelled, Paused: by the owner.
        """
        self.execution.check_owner()

    @property
    def room(self) -> Budget:
        """The amounts that may still be spent here; None for measures without a limit."""
        return self.execution.accounts.room(self.lane, self.gate)

    @property
    def rarity(self) -> Rarity | None:
        """How rare the question's words are in the documents in scope; None until they are counted."""
        return self.execution.rarity

    @rarity.setter
    def rarity(self, value: Rarity) -> None:
        self.execution.rarity = value

    @property
    def unused_calls(self) -> Usage:
        """The usage of model calls that were begun in this process and nobody asked for."""
        return self.execution.foreseen.unused_usage()

    def stop_speculation(self) -> None:
        """End what was begun before anybody asked for it."""
        self.execution.ahead.stop()
        self.execution.foreseen.drop()


# Spans of work for the watch: only those with real work, not replayed ones.

_OUTER: dict[SpanKind, tuple[SpanKind, ...]] = {"lane": ("run", "phase")}
"""The kind of span that contains a kind, where it is not the one it began in: a lane outlives the call that began
it.
"""


class WorkSpan:
    """A span of work, as a context manager."""

    def __init__(self, watch: Watch, kind: SpanKind, name: str, facts: dict[str, Fact]) -> None:
        self._watch, self.kind, self._name, self._facts = watch, kind, name, facts
        self.outer = _enclosing_span(kind)
        self._before: WorkSpan | None = None
        self._began = time.time_ns()
        self._span: WatchedSpan | None = None
        self._extra_facts: dict[str, Fact] = {}

    def report(self) -> WatchedSpan:
        """Report the span, and first those around it: it does real work."""
        if self._span is None:
            outer = self.outer.report() if self.outer else None
            self._span = self._watch.begin(self.kind, self._name, self._began, outer, self._facts)
        return self._span

    def add_facts(self, **facts: Fact) -> None:
        """Add facts that are known at its end."""
        self._extra_facts |= facts

    def __enter__(self) -> WorkSpan:
        self._before = _current.get()
        _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.set(self._before)
        if self._span is not None:
            self._span.end(self._extra_facts, kind.__name__ if kind else "")


_current: ContextVar[WorkSpan | None] = ContextVar("span", default=None)
_NOTHING: AbstractContextManager[None] = nullcontext()


def _enclosing_span(kind: SpanKind) -> WorkSpan | None:
    outer = _current.get()
    kinds = _OUTER.get(kind)
    while outer is not None and kinds is not None and outer.kind not in kinds:
        outer = outer.outer
    return outer


def watch_span(run: RunPlace, kind: SpanKind, name: str, **facts: Fact) -> AbstractContextManager[WorkSpan | None]:
    """A span of the work of `run`; None if nobody watches."""
    watch = run.world.watch
    if watch is None:
        return _NOTHING
    where: dict[str, Fact] = {"run_id": run.run_id, "path": "/".join(run.path), "lane": run.lane}
    return WorkSpan(watch, kind, name, where | facts)


def report_work(run: RunPlace) -> None:
    """Report that real work is done here, which no replay does."""
    if run.world.watch is not None and (span := _current.get()) is not None:
        span.report()


# How one step is done exactly once.

T = TypeVar("T")


def digest(value: object) -> str:
    """A hash of plain data: equal data, equal hash, whatever the order of keys."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


class StepContext:
    """The reports of a step while it works; committed with its result, or not at all."""

    def __init__(self, run: RunPlace, key: str) -> None:
        self._run, self.key = run, key
        self.attempt = 0
        self._event_count = 0
        self.events: list[EventDraft] = []
        self.rows: list[LedgerRow] = []
        self.usage = Usage()
        self.role = ""

    def emit(self, event: Event) -> None:
        """Emit `event` when the step is done."""
        self.events.append(self.draft(event))

    def draft(self, event: Event) -> EventDraft:
        """Make a draft of `event` with a key of this attempt, to be written before the step is done."""
        self._event_count += 1
        key = f"{self.key}@{self.attempt}.{self._event_count}"
        return self._run.execution.draft(event, self._run.path, key, self.key, self.attempt)

    def record(self, *rows: LedgerRow) -> None:
        """Put rows into the ledger when the step is done."""
        self.rows += rows

    def spend(self, usage: Usage) -> None:
        """Count what the step spent."""
        self.usage = self.usage + usage

    async def begin(self) -> None:
        """Begin a new attempt; events of an earlier one are dropped."""
        self.attempt, dropped = await self._run.execution.next_attempt(self.key)
        self._event_count = 0
        self.events.clear()
        self.rows.clear()
        if dropped:
            self.write(StepRestarted(step=self.key, attempt=self.attempt, dropped=dropped))

    def write(self, event: Event) -> None:
        """Write `event` to the log now; a later attempt drops it."""
        self._run.execution.write_event(self.draft(event))

    def write_beside(self, event: Event, once: str) -> None:
        """Write `event` under a name, once per attempt, even after the step is done. See `Run.stands`."""
        execution = self._run.execution
        key = execution.event_key(self.key, self.attempt, once)
        execution.write_event(execution.draft(event, self._run.path, key, self.key, self.attempt))


async def perform_step(
    run: RunPlace,
    name: str,
    fn: Callable[[StepContext], Awaitable[T]],
    *,
    returns: type[T],
    input_hash: str,
    cost: Usage | None = Usage(),
) -> T:
    """Do a step, or return its stored result; see `Run.step`. A cost of None means that no limit ends it."""
    execution = run.execution
    key = f"{'/'.join(run.path)}:{name}:{execution.ordinal(run.path, ':' + name)}"
    stored_step = execution.steps.pop(key, None)  # the only one who asks for it: it need not stay in memory
    if stored_step is not None and stored_step.input_hash == input_hash:
        return _replay(run, stored_step, returns)
    if not execution.redo:
        raise NotStored(key, diverged=stored_step is not None)
    step_context = StepContext(run, key)
    step_context.role = name
    report_work(run)
    await step_context.begin()
    if stored_step is not None:
        step_context.emit(StepDiverged(step=key))
    died = execution.accounts.step_hold(run.lane, key) or Usage()
    try:
        async with execution.gate_timeout(run.gate, run.lane) if cost is not None else nullcontext():
            await hold_cost(run, key, cost or Usage())
            result = await fn(step_context)
    except Failed as failed:
        failure_data = msgspec.json.encode(StoredFailure(failed.kind, failed.reason))
        await _store(
            run, step_context, StepRecord(key=key, input_hash=input_hash, tag=FAILED_TAG, data=failure_data), died
        )
        raise
    except ModelUnusable:
        await _release_hold(run, step_context, died)
        raise
    tag = f"{_result_tag(returns)}/1"
    record = StepRecord(key=key, input_hash=input_hash, tag=tag, data=msgspec.json.encode(result))
    await _store(run, step_context, record, died)
    return result


def _result_tag(returns: type[Any]) -> str:
    """The tag of a stored result: the name of its type, or the tag that the type sets."""
    return str(getattr(returns, "step_tag", "") or getattr(returns, "__name__", "value").lower())


def _replay(run: RunPlace, stored_step: StepRecord, returns: type[T]) -> T:
    if stored_step.tag == FAILED_TAG:
        stored_failure = msgspec.json.decode(stored_step.data, type=StoredFailure)
        raise failure(stored_failure.kind, stored_failure.reason)
    try:
        return msgspec.json.decode(stored_step.data, type=returns)
    except msgspec.ValidationError as error:
        why = f"the step {stored_step.key} is stored as {stored_step.tag} in another form ({error})"
        raise OtherRelease(run.run_id, run.brief.release, own_release(), why) from error


async def hold_cost(run: RunPlace, key: str, cost: Usage) -> None:
    """Hold `cost` for the step `key`, in addition to its holds, before it is spent. It is stored on return.

    A process that died before that has spent nothing; one that dies later is charged for what it may have spent.

    Raises:
        LimitReached: less than that is left. If it is the whole run's limit, research ends.
    """
    if cost == Usage() or not run.execution.accounts.limited:
        return
    accounts = run.execution.accounts
    try:
        hold = accounts.hold(run.lane, key, cost, run.gate)
    except LimitReached as limit:
        if accounts.is_exhausted_by(cost) and run.gate in ("work", "report"):
            run.execution.mark_exhausted(limit.reason)
        raise
    await asyncio.shield(run.execution.commit(Commit(holds=(hold,))))


async def _release_hold(run: RunPlace, step_context: StepContext, died: Usage) -> None:
    """Release the hold of a step that was not done: no service answered, and the step is done on resume."""
    accounts = run.execution.accounts
    if accounts.step_hold(run.lane, step_context.key):
        settlement = accounts.settle(run.lane, step_context.key, step_context.usage, died=died)
        await asyncio.shield(run.execution.commit(Commit(holds=(settlement,))))


async def _keep_readable(run: RunPlace, step_context: StepContext) -> None:
    """Make sure that what the step read stays readable, where that is not certain."""
    keep = run.execution.world.keep
    hashes = [
        msgspec.json.decode(row.data, type=SourceRow).document.sha256
        for row in step_context.rows
        if row.kind == "source"
    ]
    if keep is not None and hashes:
        await asyncio.to_thread(keep, hashes)


async def _store(run: RunPlace, step_context: StepContext, record: StepRecord, died: Usage) -> None:
    execution = run.execution
    holds: tuple[HoldRecord, ...] = ()
    if step_context.usage != Usage() or execution.accounts.step_hold(run.lane, step_context.key):
        holds = (execution.accounts.settle(run.lane, step_context.key, step_context.usage, died=died),)
    if step_context.usage != Usage():
        step_context.emit(UsageUpdated(role=step_context.role, usage=step_context.usage))
        for measure, used, limit in execution.accounts.newly_low_measures():
            step_context.emit(BudgetLow(measure=measure, used=used, limit=limit))
    await _keep_readable(run, step_context)
    commit = Commit(steps=(record,), events=tuple(step_context.events), holds=holds, ledger=tuple(step_context.rows))
    await asyncio.shield(execution.commit(commit))


# Waiting for a person, durably.


async def receive_message(run: RunPlace, topic: str, returns: type[T], *, leave: bool) -> T:
    """See `Run.receive`. The n-th wait on a topic takes its n-th message, so an answer may come before the
    question.
    """
    execution = run.execution
    number = execution.ordinal((), f"receive:{topic}")

    async def wait(step_context: StepContext) -> T:
        while True:
            message_count = execution.messages  # before they are read: what comes later changes the count
            messages = await execution.journal.inbox(run.run_id, topic)
            if len(messages) > number:
                execution.commit(Commit(status="running"))
                return msgspec.json.decode(messages[number], type=returns)
            execution.check_owner()
            execution.is_ending = leave
            if step_context.attempt and not step_context.events:
                step_context.events.append(step_context.draft(RunWaiting(topic=topic)))
                await execution.commit(Commit(status="waiting", events=tuple(step_context.events)))
            if leave:
                raise InputNeeded(run.run_id, topic)
            with execution.time.pause():
                await execution.wait_for_news(message_count)
            execution.check_owner()

    return await perform_step(run, f"receive-{topic}", wait, returns=returns, input_hash="", cost=None)
