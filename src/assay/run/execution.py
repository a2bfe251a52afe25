"""One process's execution of one run: stored and open steps, and the clock of its limits."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import msgspec

from assay.core.brief import Brief, Speculation
from assay.core.errors import Cancelled, LimitReached, Paused
from assay.core.events import Envelope, Event, Path, RunExhausted, encode
from assay.core.messages import Rarity
from assay.core.ports import Commit, EventDraft, Journal, Lease, Memory, StepRecord, World
from assay.run.budget import LANE_TAG, REPORT_OUTPUT, Accounts, Gate, LaneRecord, Reserve, writer_profile
from assay.run.failures import EarlierCourse
from assay.run.process import ActiveTime
from assay.run.rate_limits import CircuitBreakers
from assay.run.speculation import (
    ForeseenCalls,
    Kind,
    WorkAhead,
    affordable_count,
    has_room_for,
    is_near_limit,
    spare_tokens,
)
from assay.run.tasks import retrieve_failure

WRITER_SHARE = 0.25
WRITER_SECONDS = 300.0
LAST_GATES: tuple[Gate, ...] = ("write", "verify")
"""The gates after research, which have the run's whole time."""
EXHAUSTED_KEY = "run:exhausted"
FINISHED_EARLY = "finished_early"
STOPPED = "stopped"
"""Why an agent ended that its user stopped; also the tag of the step that stores this."""


@dataclass(frozen=True)
class EngineParts:
    """The parts that all executions of an engine share. `redo` False: steps that are not stored raise `NotStored`."""

    journal: Journal
    breakers: CircuitBreakers
    redo: bool = True


class Execution:
    """The state that every `Run` of one execution shares. It ends with the process; only the journal survives."""

    def __init__(self, parts: EngineParts, lease: Lease, brief: Brief, memory: Memory, world: World) -> None:
        self.journal, self.breakers, self.redo = parts.journal, parts.breakers, parts.redo
        self.run_id, self.brief, self.lease, self.world = lease.run_id, brief, lease, world
        self.earlier = EarlierCourse(lease.fence)
        self.answering_models: set[str] = set()  # the models that have answered since this process resumed the run
        self.steps = dict(memory.steps)
        self.answer_rows = tuple(row for row in memory.ledger if row.kind == "answer")
        longest = max((depth.report_tokens for depth in brief.depths.values()), default=REPORT_OUTPUT)
        reserve = Reserve.of(brief.budget, writer_profile(brief, world), verify=brief.verify, output=longest)
        self.accounts = Accounts(brief.budget, memory.holds, reserve)
        self.seconds = brief.budget.seconds
        self.rules = brief.rules("medium")
        self.lanes = max((lane.number for lane in self.stored_lanes().values()), default=brief.lane)
        self.opened_lanes: dict[int, LaneRecord] = {}
        self.handles: dict[str, Any] = {}
        self.tasks: set[asyncio.Task[Any]] = set()
        self.ahead, self.foreseen = WorkAhead(), ForeseenCalls()
        self.rarity: Rarity | None = None  # of the question's words, once they are counted
        self.judge_control: asyncio.Task[bool] | None = None  # whether its answers to control questions can be trusted
        self.without_similarity = False  # an embedder took too long for this run
        self.locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.exhausted = self._stored_exhaustion()
        self.finish_reason = self.exhausted if self.exhausted == FINISHED_EARLY else ""
        self.cancelled = self.paused = False
        self.is_ending = False  # nothing more is done here: the run waits for somebody elsewhere, or logs its end
        self.instruction_count = 0
        self.messages = 0  # left for the run, as of the last renewal of the lease
        stops = (step.data for step in memory.steps.values() if step.tag == STOPPED)
        self.stopped_lanes = {msgspec.json.decode(lane, type=int) for lane in stops}
        self.broken: BaseException | None = None
        self.main: asyncio.Task[Any] | None = None
        self._ordinals: Counter[tuple[Path, str]] = Counter()
        self.event_keys = {event.key for event in memory.events}
        self._attempts: dict[str, int] = defaultdict(int)
        self._attempt_seqs: dict[str, list[int]] = defaultdict(list)
        self._live: dict[str, list[Awaitable[tuple[Envelope, ...]]]] = defaultdict(list)
        for event in memory.events:
            if event.step:
                self._attempts[event.step] = max(self._attempts[event.step], event.attempt)
                self._attempt_seqs[event.step].append(event.seq)
        self.time = ActiveTime(world.clock, memory.active_seconds)
        self._news = asyncio.Event()
        self._open: dict[asyncio.Timeout, tuple[Gate, int]] = {}
        self._listeners: list[Callable[[tuple[Envelope, ...]], None]] = []

    def _stored_exhaustion(self) -> str:
        record = self.steps.get(EXHAUSTED_KEY)
        return msgspec.json.decode(record.data, type=str) if record else ""

    def stored_lanes(self, prefix: str = "") -> dict[str, LaneRecord]:
        """The stored lanes, by the key of their spawn."""
        return {
            key: msgspec.json.decode(record.data, type=LaneRecord)
            for key, record in self.steps.items()
            if record.tag == LANE_TAG and key.startswith(prefix)
        }

    # identity

    def ordinal(self, path: Path, name: str) -> int:
        """How many equal names this path had before (from 0); never a count over the run."""
        self._ordinals[path, name] += 1
        return self._ordinals[path, name] - 1

    async def next_attempt(self, step: str) -> tuple[int, tuple[int, ...]]:
        """The number of a step's next attempt, from 1, and the sequence numbers of earlier attempts' events."""
        while step in self._live:  # background tasks of the step may still emit events
            for pending_commit in self._live.pop(step):
                self._attempt_seqs[step] += [envelope.seq for envelope in await pending_commit]
        self._attempts[step] += 1
        return self._attempts[step], tuple(self._attempt_seqs.pop(step, ()))

    def event_key(self, step: str, attempt: int, once: str) -> str:
        """The key of an event that an attempt at a step emits under a name."""
        return f"{step}@{attempt}~{once}"

    def was_emitted(self, path: Path, name: str, once: str) -> bool:
        """True if such an event was emitted beside a step done here and not dropped with it."""
        steps = (f"{'/'.join(path)}:{name}:{ordinal}" for ordinal in range(self._ordinals[path, f":{name}"]))
        return any(self.event_key(step, self._attempts.get(step, 0), once) in self.event_keys for step in steps)

    # the journal

    def commit(self, commit: Commit) -> Awaitable[tuple[Envelope, ...]]:
        """Write in call order and notify readers when it is durable. A lost fence ends the execution."""
        fresh = tuple(event for event in commit.events if event.key not in self.event_keys)
        self.event_keys.update(event.key for event in fresh)
        commit = msgspec.structs.replace(commit, events=fresh, active_seconds=self.active_seconds())
        future = asyncio.ensure_future(self.journal.commit(self.lease, commit))
        future.add_done_callback(self._on_committed)
        return future

    def store_value(self, key: str, tag: str, value: object, *events: EventDraft) -> StepRecord:
        """Store a value now, outside any step; a replay finds it under `key`."""
        record = StepRecord(key=key, input_hash="", tag=tag, data=msgspec.json.encode(value))
        self.steps[key] = record
        self.commit(Commit(steps=(record,), events=events))
        return record

    def write_event(self, draft: EventDraft) -> None:
        """Write an event of a step to the log before the step is done."""
        self._live[draft.step].append(self.commit(Commit(events=(draft,))))

    def _on_committed(self, future: asyncio.Future[tuple[Envelope, ...]]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        if error is None:
            for listen in self._listeners:
                listen(future.result())
        elif self.broken is None:
            self.broken = error
            self.stop_everything()

    def listen(self, listener: Callable[[tuple[Envelope, ...]], None]) -> None:
        """Call `listener` with each group of events once it is durable."""
        self._listeners.append(listener)

    def draft(self, event: Event, path: Path, key: str, step: str = "", attempt: int = 0) -> EventDraft:
        """Make an event ready for the log."""
        return EventDraft(
            key=key,
            path=path,
            type=event.kind,
            data=encode(event),
            at=self.world.clock.now(),
            step=step,
            attempt=attempt,
        )

    # time and limits

    def active_seconds(self) -> float:
        """Seconds this run has been active, over all processes. Waiting for a person does not count."""
        return self.time.active_seconds()

    async def wait_for_news(self, message_count: int) -> None:
        """Wait until another number of messages than `message_count` is left for the run, or its owner ends it."""
        while self.messages == message_count and not (self.cancelled or self.paused):
            self._news.clear()
            await self._news.wait()

    def note_messages(self, message_count: int) -> None:
        """Remember how many messages are left for the run."""
        if message_count != self.messages:
            self.messages = message_count
            self._news.set()

    @property
    def research_seconds(self) -> float | None:
        """When research must end: the deadline minus the writer's reserve."""
        if self.seconds is None:
            return None
        return self.seconds - min(WRITER_SECONDS, self.seconds * WRITER_SHARE)

    def lane_deadlines(self) -> dict[str, float]:
        """When the gates of a lane close that begins now, in active seconds."""
        rules = self.rules
        return {
            "work_until": self._share_deadline(rules.agent_share, rules.agent_seconds),
            "report_until": self._share_deadline(rules.stop_share, rules.stop_seconds),
        }

    def _share_deadline(self, share: float, cap: float) -> float:
        """The active second at which `share` of the time left for research is used, at most `cap` seconds from now."""
        now, ends = self.active_seconds(), self.research_seconds
        return now + (cap if ends is None else min(share * max(0.0, ends - now), cap))

    def renew_deadlines(self, path: Path, lane: int) -> None:
        """See `Run.renew_deadlines`."""
        key = f"{'/'.join(path)}:deadlines"
        record = self.steps.get(key) or self.store_value(key, "deadlines/1", self.lane_deadlines())
        closes = msgspec.json.decode(record.data, type=dict[str, float])
        self.opened_lanes[lane] = msgspec.structs.replace(self.opened_lanes[lane], **closes)

    def closing_time(self, gate: Gate, lane: int) -> float | None:
        """The active second at which `gate` closes for `lane`, None for never."""
        if gate in LAST_GATES:
            return self.seconds
        lane_record = self.opened_lanes.get(lane)
        ends = [
            self.research_seconds,
            (lane_record.work_until if gate == "work" else lane_record.report_until) if lane_record else None,
        ]
        return min((end for end in ends if end is not None), default=None)

    def check_gate(self, gate: Gate, lane: int) -> float | None:
        """Seconds until the gate closes, None for no limit.

        Raises:
            LimitReached: it is closed.
            Cancelled, Paused: by the owner.
        """
        if self.broken is not None:
            raise self.broken
        self.check_owner()
        if gate not in LAST_GATES:
            self._check_ended(gate, lane)
        closes = self.closing_time(gate, lane)
        if closes is None:
            return None
        if closes <= self.active_seconds():
            self._deadline_passed()
            raise LimitReached("time")
        return closes - self.active_seconds()

    def _check_ended(self, gate: Gate, lane: int) -> None:
        """Raise if a limit has ended research; agents may still report.

        A limit on the number of agents does not stop those at work.
        """
        if self.finish_reason:
            raise LimitReached(self.finish_reason)
        if lane in self.stopped_lanes:
            raise LimitReached(STOPPED)
        if self.exhausted and gate == "work" and (self.exhausted != "agents" or lane == self.brief.lane):
            raise LimitReached(self.exhausted)

    def check_owner(self) -> None:
        """Raise if the owner has ended the run.

        Raises:
            Cancelled, Paused: by the owner.
        """
        if self.cancelled:
            raise Cancelled(f"run {self.run_id} was cancelled")
        if self.paused:
            raise Paused(f"run {self.run_id} was paused; to continue: assay runs resume {self.run_id}")

    def can_begin(self, kind: Kind, lane: int) -> bool:
        """True if one more search or page may be begun that a lane will probably ask for."""
        rules = self.brief.speculation
        if (
            not isinstance(rules, Speculation)
            or self.exhausted
            or is_near_limit(self.research_seconds, self.active_seconds())
        ):
            return False
        allowed_count = affordable_count(rules, self.brief.budget, self.accounts.settled_usage, kind)
        return has_room_for(allowed_count, self.ahead, kind, lane, self.rules.agents_at_once)

    def spare_tokens(self) -> int:
        """How many tokens a model call may take before anybody asks for it; 0 if none may be begun ahead."""
        rules, ends = self.brief.speculation, self.research_seconds
        if not isinstance(rules, Speculation) or self.exhausted or is_near_limit(ends, self.active_seconds()):
            return 0
        return spare_tokens(rules, self.brief.budget, self.accounts.settled_usage, self.foreseen.unused_usage())

    def _deadline_passed(self) -> None:
        ends = self.research_seconds
        if ends is not None and self.active_seconds() >= ends:
            self.mark_exhausted("time")

    def mark_exhausted(self, reason: str) -> None:
        """Log, once and durably, that a limit ended research."""
        if self.exhausted:
            return
        self.exhausted = reason
        self.store_value(
            EXHAUSTED_KEY, "exhausted/1", reason, self.draft(RunExhausted(reason=reason), (), EXHAUSTED_KEY)
        )

    @asynccontextmanager
    async def gate_timeout(self, gate: Gate, lane: int) -> AsyncIterator[None]:
        """Let the body run only while the gate is open. A deadline, an early finish or a cancel ends it at once.

        Raises:
            LimitReached, Cancelled, Paused: as `check_gate`.
        """
        remaining = self.check_gate(gate, lane)
        scope = asyncio.timeout(remaining)
        try:
            async with scope:
                self._open[scope] = (gate, lane)
                yield
        except TimeoutError:
            if not scope.expired():
                raise
            self.check_gate(gate, lane)
            raise LimitReached("time") from None
        finally:
            self._open.pop(scope, None)

    def finish(self, reason: str) -> None:
        """End all lanes, then write and verify."""
        if self.finish_reason or self.cancelled:
            return
        self.finish_reason = reason
        self.mark_exhausted(reason)
        self._interrupt("work", "report")

    def stop_lane(self, lane: int, event: Event, id: str) -> bool:
        """End one agent, durably: it reports what it has, and the run goes on. False if it has ended already."""
        if any(handle.lane == lane and handle.done for handle in self.handles.values()):
            return False
        self.stopped_lanes.add(lane)
        self.store_value(f"lane-{lane}:{STOPPED}", STOPPED, lane, self.draft(event, (), f"{event.kind}-{id}"))
        self._interrupt("work", "report", lane=lane)
        return True

    def cancel(self) -> None:
        """End every call in flight; stored steps remain."""
        self.cancelled = True
        self._news.set()
        self._interrupt("work", "report", *LAST_GATES)

    def pause(self) -> None:
        """Abandon every call in flight; stored steps remain, and the run can be resumed."""
        self.paused = True
        self._news.set()
        self._interrupt("work", "report", *LAST_GATES)

    def _interrupt(self, *gates: Gate, lane: int | None = None) -> None:
        now = asyncio.get_running_loop().time()
        for scope, (gate, scope_lane) in list(self._open.items()):
            if gate in gates and lane in (None, scope_lane) and not scope.expired():
                scope.reschedule(now)

    # tasks

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start the task of a lane. The execution makes sure that no task outlives it."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self.tasks.add(task)
        task.add_done_callback(self._lane_ended)
        return task

    def _lane_ended(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if not self.tasks:
            self.ahead.stop()
        retrieve_failure(task)  # nobody waits for an abandoned lane

    def stop_everything(self) -> None:
        """Cancel all tasks of this execution: it may not write any more, or it is over."""
        me = asyncio.current_task()
        self.ahead.stop()
        self.foreseen.drop()
        for task in self.tasks:
            if task is not me:
                task.cancel()
        if self.main is not None and self.main is not me and self.broken is not None:
            self.main.cancel()
