"""`Run`: the only door to the world. A strategy is an async function of one.

Every call on it is either done once (`step`, `ask`, `receive`) or repeated identically when a process
resumes the run (`emit`, `spawn`, `gather`). So a strategy is plain code, and a crash is a pause.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from assay.core.brief import DepthRules, Role, SetDepth
from assay.core.events import Event, Path, PhaseFinished, PhaseStarted, Warned
from assay.core.messages import Reply, Request
from assay.core.ports import Commit
from assay.core.usage import Budget, Usage
from assay.run import control, model_call, steps
from assay.run.budget import LANE_TAG, Gate, LaneRecord
from assay.run.process import HEAP
from assay.run.prompt_files import prompt_in_use
from assay.run.sent_request import begin_foreseen_call
from assay.run.speculation import GUESSED_LANE, Kind
from assay.run.steps import RunPlace, StepContext, digest, perform_step, watch_span
from assay.run.voice import HEARD, StreamHooks

T = TypeVar("T")

KEPT_TAG = "kept/1"
KIND_COST: dict[Kind, Usage] = {"searches": Usage(searches=1), "pages": Usage(pages=1)}
BRANCHES_PER_TURN = 8
"""Branches begun in one turn of the loop."""


@dataclass(frozen=True)
class Branch(Generic[T]):
    """A branch for `gather`; `name` is its part of the path, unique among its siblings."""

    name: str
    fn: Callable[[Run], Awaitable[T]]


class Handle(Generic[T]):
    """A spawned lane, or a branch in the background."""

    def __init__(self, lane: int, task: asyncio.Task[T]) -> None:
        self.lane, self._task = lane, task

    @property
    def done(self) -> bool:
        """True if it has ended, in whatever way."""
        return self._task.done()

    async def result(self) -> T:
        """Wait for the lane and return its result.

        Raises:
            AssayError: what the lane raised.
        """
        return await asyncio.shield(self._task)

    def cancel(self) -> None:
        """Stop the lane; what it stored stays."""
        self._task.cancel()


class Run(RunPlace):
    """One place in the tree of a run, and everything that can be done there."""

    # places

    def child(self, name: str) -> Run:
        """A child place on the path, in the same lane."""
        return Run(self.execution, (*self.path, name), self.lane, self.gate)

    def with_gate(self, gate: Gate) -> Run:
        """The same place under another gate's limits."""
        return Run(self.execution, self.path, self.lane, gate)

    @asynccontextmanager
    async def phase(self, name: str) -> AsyncIterator[Run]:
        """A child place for one phase, between its two events."""
        phase = self.child(name)
        with watch_span(phase, "phase", name):
            phase.emit(PhaseStarted(phase=name))
            yield phase
            phase.emit(PhaseFinished(phase=name))
        HEAP.release_memory_soon()

    # facts

    def emit(self, event: Event) -> None:
        """Append to the log. A replay stores it once."""
        ordinal = self.execution.ordinal(self.path, "@")
        draft = self.execution.draft(event, self.path, f"{'/'.join(self.path)}@{ordinal}")
        self.execution.commit(Commit(events=tuple(self.execution.earlier.revise(draft))))

    def prompt(self, package: str, name: str) -> str:
        """The prompt `name` of one of our packages, or the text that replaces it."""
        return prompt_in_use(self.world.prompts, package, name)

    def warn(self, message: str, **detail: str) -> None:
        """Emit a warning: something a reader should know that did not stop the run."""
        self.emit(Warned(message=message, detail=dict(detail)))

    async def step(
        self,
        name: str,
        fn: Callable[[StepContext], Awaitable[T]],
        *,
        returns: type[T],
        input: object = None,
        cost: Usage = Usage(),
    ) -> T:
        """Do `fn` once. On replay the stored result is returned.

        Args:
            fn: does the work; what it reports to its `StepContext` (events, ledger rows, spending) is committed with
                the result.
            returns: the result's type, plain data that msgspec can decode.
            input: what the result depends on; if it changes, the step is done again.
            cost: the worst case, held before the work begins.

        Raises:
            Failed: a failing service or a limit, stored and the same on replay. `LimitReached` when the gate closed.
        """
        return await perform_step(self, name, fn, returns=returns, input_hash=digest(input), cost=cost)

    async def free_step(self, name: str, fn: Callable[[StepContext], Awaitable[T]], *, returns: type[T]) -> T:
        """Do a step that costs nothing and calls nobody: no limit prevents or ends it."""
        return await perform_step(self, name, fn, returns=returns, input_hash=digest(None), cost=None)

    async def ask(self, role: Role, request: Request, hooks: StreamHooks = HEARD) -> Reply:
        """Call a model, with all attempts and fallbacks, as one step.

        Raises:
            ModelFailed, ContextTooLong, Refused, LimitReached: stored, and the same on replay.
        """
        return await model_call.ask_model(self, role, request, hooks)

    async def receive(self, topic: str, returns: type[T], *, leave: bool | None = None) -> T:
        """Wait for a person, durably: the process may end and any process can continue.

        Args:
            leave: if nothing is there yet, leave the run waiting instead of waiting in this process. None: as the brief
                says about questions.

        Raises:
            InputNeeded: nothing is there yet, and the run is left waiting.
        """
        return await steps.receive_message(
            self, topic, returns, leave=self.brief.ask == "required" if leave is None else leave
        )

    async def take_steering(self) -> tuple[str, ...]:
        """The owner's instructions since the last call, oldest first. The decision made here takes them into account.

        It is a step: a replay gets the same ones, whatever was said since.
        """
        return await control.take_instructions(self)

    def store_progress(self, name: str, value: Any) -> None:
        """Store the progress at this place for a fork to continue from; the run itself does not read it."""
        key = progress_key(self.path, name)
        record = self.execution.steps.get(key)
        if record is None or record.data != msgspec.json.encode(value):
            self.execution.store_value(key, KEPT_TAG, value)

    # branches

    async def gather(self, *branches: Branch[T]) -> list[T]:
        """Run branches in parallel, each on its own path, and return their results in order. The only way to do so.

        Raises:
            Exception: the first that any branch raised, after the others were stopped.
        """
        names = [branch.name for branch in branches]
        if len(set(names)) != len(names):
            raise ValueError(f"branches need different names: {names}")
        try:
            async with asyncio.TaskGroup() as group:
                tasks = []
                for index, branch in enumerate(branches):
                    if index % BRANCHES_PER_TURN == BRANCHES_PER_TURN - 1:
                        # the first parts of a hundred branches would otherwise run in one turn of the loop
                        await asyncio.sleep(0)
                    tasks.append(group.create_task(_run_branch(branch.fn, self.child(branch.name))))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        return [task.result() for task in tasks]

    def in_background(self, name: str, fn: Callable[[Run], Awaitable[T]]) -> Handle[T]:
        """Start a branch in the background: no lane and no barrier, the same limits, its own path.

        Its result is there for whoever waits for it. If nobody waited when the run ends, it is stopped. A replay must
        give the same result with and without it: it does steps, and emits nothing between them.
        """
        return Handle(self.lane, self.execution.start(_run_branch(fn, self.child(name)), name))

    def was_emitted(self, name: str, once: str) -> bool:
        """True if an event was emitted as `once` beside a step with this name and place, and not dropped.

        A replay gives the same answer if it is asked after the last such event.
        """
        return self.execution.was_emitted(self.path, name, once)

    def spawn(
        self,
        name: str,
        args: Any,
        fn: Callable[[Run], Awaitable[T]],
        *,
        returns: type[T],
        slot: int = 0,
        at_once: int = 1,
    ) -> Handle[T]:
        """Start a lane with its own path, budget slice, deadlines and failure.

        The same name, slot and arguments on this path give the same lane, now and on replay. So it may be called while
        an `ask` still streams and again from the stored reply.

        Args:
            slot: the call's index in its reply.
            at_once: how many lanes share what is left of the budget.
        """
        execution = self.execution
        key = f"{'/'.join(self.path)}:{name}:{slot}:{digest(args)[:16]}"
        if key not in execution.handles:
            lane = self._lane(key, at_once)
            run = Run(execution, (*self.path[:1], f"{name}-{lane.number}"), lane.number)
            execution.opened_lanes[lane.number] = lane
            execution.accounts.open_lane(lane.number, self.path, lane.limit)
            execution.handles[key] = Handle(lane.number, execution.start(_run_lane(fn, run), run.path[-1]))
        handle: Handle[T] = execution.handles[key]
        return handle

    def _lane(self, key: str, at_once: int) -> LaneRecord:
        """The lane stored under `key`. A new one gets the next number and its limits, durably."""
        execution = self.execution
        record = execution.steps.get(key)
        if record is not None:
            return msgspec.json.decode(record.data, type=LaneRecord)
        execution.lanes += 1
        lane = LaneRecord(
            number=execution.lanes,
            limit=execution.accounts.lane_budget(self.path, at_once),
            **execution.lane_deadlines(),
        )
        execution.store_value(key, LANE_TAG, lane)
        return lane

    def renew_deadlines(self) -> None:
        """Set this lane's deadlines as if it was spawned now: it has waited for others. A replay sets the same."""
        self.execution.renew_deadlines(self.path, self.lane)

    def abandon_lanes(self, keep: Collection[int]) -> list[int]:
        """Stop the lanes spawned from this path by a stream that was cut and repeated differently.

        Args:
            keep: the lanes that the stored reply asks for.

        Returns:
            The abandoned lanes, ascending.
        """
        prefix = f"{'/'.join(self.path)}:"
        execution = self.execution
        abandoned = {
            key: lane.number for key, lane in execution.stored_lanes(prefix).items() if lane.number not in keep
        }
        for key in abandoned:
            if key in execution.handles:
                execution.handles[key].cancel()
        return sorted(abandoned.values())

    def lock(self, key: str) -> asyncio.Lock:
        """A lock that only one lane of the run holds at a time: `async with run.alone(key)`; the others wait.

        Enter it inside a step, whose limits then end the wait.
        """
        return self.execution.locks.setdefault(key, asyncio.Lock())

    def begin_ahead(self, key: str, work: Callable[[], Awaitable[Any]], kind: Kind, *, guessed: bool = False) -> bool:
        """Begin a search or a page that somebody will probably ask for by this key; return whether it was begun.

        Nothing is stored. Call it inside a step, which a replay does not do again.

        Args:
            guessed: whether no search of this lane led to it.
        """
        execution, lane = self.execution, GUESSED_LANE if guessed else self.lane
        return execution.can_begin(kind, lane) and execution.ahead.begin(key, work, KIND_COST[kind], lane)

    async def result_ahead(self, key: str) -> Any | None:
        """Return the result of such work; None if there is none, and it must be done now. Call it inside a step.

        Raises:
            AssayError: what the work raised.
        """
        return await self.execution.ahead.result(key)

    def foresee(self, slot: str, role: Role, build: Callable[[], Request | None], *, certain: bool = False) -> None:
        """Begin a model call that will probably be made soon, by `ask` with this slot in its hooks.

        If exactly this is asked, the reply is the one begun here; anything else is asked as ever, and this is dropped.
        Nothing is stored. Call it in `StreamHooks.on_begin`, which a replay does not call.

        Args:
            build: makes the request; None if there is none to foresee. Only called if a call may be begun.
            certain: whether only the end of the run can prevent it: then it has no limit of its own.
        """
        begin_foreseen_call(self, slot, role, build, certain=certain)

    def drop_foreseen(self) -> None:
        """End the model calls that were begun and not asked for: the decision went another way."""
        self.execution.foreseen.drop()

    # limits

    @asynccontextmanager
    async def limit_time(self, seconds: float) -> AsyncIterator[None]:
        """Let this lane work for so many active seconds; then its gate closes, at the same moment on a replay.

        In the block, calls raise `LimitReached("time")` once the time is over. After it the lane goes on as before.
        """
        execution = self.execution
        key = f"{'/'.join(self.path)}:hurried:{execution.ordinal(self.path, ':hurried')}"
        record = execution.steps.get(key) or execution.store_value(key, "until/1", execution.active_seconds() + seconds)
        closes, before = msgspec.json.decode(record.data, type=float), execution.opened_lanes.get(self.lane)
        limit = before.limit if before else Budget()
        execution.opened_lanes[self.lane] = LaneRecord(
            number=self.lane, limit=limit, work_until=closes, report_until=closes
        )
        try:
            yield
        finally:
            execution.opened_lanes.pop(self.lane)
            if before is not None:
                execution.opened_lanes[self.lane] = before

    def set_depth(self, depth: SetDepth) -> None:
        """Set the depth: from now on its `rules` apply, and its deadline if the brief has none."""
        reasoning = self.profile("analytical").native_reasoning
        self.execution.rules = self.brief.rules(depth, reasoning=reasoning)
        if self.brief.budget.seconds is None:
            self.execution.seconds = self.rules.seconds

    @property
    def rules(self) -> DepthRules:
        """The rules of the current depth, which `set_depth` set last."""
        return self.execution.rules

    @property
    def limited(self) -> bool:
        """True if anything except time is limited: then parallel calls leave less for one another."""
        return self.execution.accounts.limited


def progress_key(path: Path, name: str) -> str:
    """The key under which `Run.store_progress` stores in the journal."""
    return f"{'/'.join(path)}:kept-{name}"


async def _run_lane(fn: Callable[[Run], Awaitable[T]], run: Run) -> T:
    with watch_span(run, "lane", run.path[-1]):
        return await fn(run)


async def _run_branch(fn: Callable[[Run], Awaitable[T]], run: Run) -> T:
    return await fn(run)
