"""The engine creates runs, resumes them, keeps their lease, obeys their owner, and records how they ended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence

import msgspec

from assay.core.brief import Brief
from assay.core.errors import (
    AssayError,
    Cancelled,
    FenceLost,
    InputNeeded,
    LeaseHeld,
    OtherRelease,
    Overtaken,
    Paused,
    StoreAway,
    StoreClosed,
    StoreError,
)
from assay.core.events import (
    ControlApplied,
    Event,
    RunCancelled,
    RunCompleted,
    RunCreated,
    RunFailed,
    RunResumed,
    RunStarted,
    encode,
)
from assay.core.json_decoders import ready_types
from assay.core.ports import (
    FINAL,
    FRESH_SHARE,
    NO_INPUTS,
    Action,
    Commit,
    EventDraft,
    Journal,
    Lease,
    QueuePlace,
    Renewal,
    RunInputs,
    RunStatus,
    World,
)
from assay.run import control
from assay.run.budget import check_brief
from assay.run.control import RunTask as RunTask
from assay.run.execution import EngineParts, Execution
from assay.run.failures import ask_again, failure_reason
from assay.run.process import give_up_name, is_dead, name_engine, new_id
from assay.run.rate_limits import CircuitBreakers
from assay.run.releases import check_release, read_brief
from assay.run.run import Run
from assay.run.steps import watch_span
from assay.run.tasks import retrieve_failure

POLL = 0.25
"""Seconds between two looks at the leases."""


class _LeasedRun:
    """A run whose lease is kept: the action that was applied, the messages heeded, and how long it lasted at first."""

    def __init__(self, execution: Execution, applied_action: Action, until: float) -> None:
        self.execution, self.applied_action, self.until = execution, applied_action, until
        self.heeded_messages = 0


class LeaseKeeper:
    """Keeps leases with one request to the store for all runs, so that those that only wait cost next to nothing."""

    def __init__(self, journal: Journal, ttl: float) -> None:
        self.ttl = ttl
        self._journal = journal
        self._leased_runs: dict[str, _LeasedRun] = {}
        self._leases: tuple[Lease, ...] | None = None  # theirs; the same object while they are the same
        self._until = 0.0  # until then, all that were looked at last are kept
        self._task: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def keep(self, execution: Execution, applied_action: Action) -> Iterator[None]:
        """Keep a run's lease, just taken, in this context. A lost fence ends the execution."""
        leased_run = _LeasedRun(execution, applied_action, execution.world.clock.monotonic() + self.ttl)
        self._leased_runs[execution.run_id], self._leases = leased_run, None
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._keep_renewing(), name="leases")
            self._task.add_done_callback(self._on_done)
        try:
            yield
        finally:
            self._drop(leased_run)

    def _drop(self, leased_run: _LeasedRun) -> None:
        if self._leased_runs.get(leased_run.execution.run_id) is leased_run:
            del self._leased_runs[leased_run.execution.run_id]
            self._leases = None
        if not self._leased_runs and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _keep_renewing(self) -> None:
        while True:
            await self._renew_leases()
            await asyncio.sleep(POLL)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        """End what executes without its leases, if a bug has ended the task."""
        if not task.cancelled() and (bug := task.exception()) is not None:
            self._task = None
            for leased_run in list(self._leased_runs.values()):
                self._end(leased_run, bug)

    async def _renew_leases(self) -> None:
        """Renew the leases that need it, and heed what is new. Of most runs that wait, nobody wants anything.

        Then their executions are not touched: a thousand are in no cache of the processor after a quarter of a second.
        """
        if self._leases is None:
            self._leases = tuple(leased_run.execution.lease for leased_run in self._leased_runs.values())
        try:
            news = await self._journal.renew_all(self._leases, self.ttl)
        except StoreError as error:
            for leased_run in list(self._leased_runs.values()):
                if leased_run.execution.world.clock.monotonic() > max(leased_run.until, self._until):
                    self._end(leased_run, error)
            return
        if (first_run := next(iter(self._leased_runs.values()), None)) is not None:  # all have one clock
            self._until = first_run.execution.world.clock.monotonic() + FRESH_SHARE * self.ttl
        for lease, renewal in news.items():
            renewed_run = self._leased_runs.get(lease.run_id)
            if renewed_run is not None and renewed_run.execution.lease == lease:  # it may have ended meanwhile
                await self._apply_renewal(renewed_run, renewal)

    async def _apply_renewal(self, leased_run: _LeasedRun, renewal: Renewal | FenceLost) -> None:
        execution = leased_run.execution
        if isinstance(renewal, FenceLost):
            self._end(leased_run, renewal)
            return
        execution.note_messages(renewal.messages)
        if renewal.action != leased_run.applied_action:
            leased_run.applied_action = renewal.action
            control.apply_action(execution, renewal.action)
        if execution.opened_lanes and execution.messages != leased_run.heeded_messages:
            message_count = execution.messages
            with contextlib.suppress(StoreError):  # the next look tries again and checks the lease
                await control.apply_agent_stops(execution)
                leased_run.heeded_messages = message_count

    def _end(self, leased_run: _LeasedRun, error: BaseException) -> None:
        leased_run.execution.broken = error
        leased_run.execution.stop_everything()
        self._drop(leased_run)


TTL = 15.0
MAX_PREPARATIONS = 100
"""How often a run is prepared again because other runs used up what was left of the day."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a pipeline ended: its stop reason, and whether the final gate passed."""

    stop_reason: str = "done"
    verified: bool = True


Pipeline = Callable[[Run], Awaitable[Outcome]]
Prepare = Callable[[], Awaitable[tuple[Brief, World]]]


class Engine:
    """Runs pipelines over a journal."""

    def __init__(
        self, journal: Journal, pipeline: Pipeline, *, holder: str = "", ttl: float = TTL, redo: bool = True
    ) -> None:
        """`redo` False: steps that are not stored raise `NotStored`."""
        ready_types()  # the store, readers and checks have their own threads
        self.journal, self._pipeline = journal, pipeline
        self.holder = holder or name_engine(self)
        self._handles: set[RunTask] = set()
        self._resuming, self._is_closed = dict[str, asyncio.Task[RunTask]](), False
        self.leases = LeaseKeeper(journal, ttl)
        self._breakers, self._redo = CircuitBreakers(), redo

    @property
    def ttl(self) -> float:
        """Seconds after which another process may take a run whose lease is not renewed."""
        return self.leases.ttl

    def start(self, prepare: Prepare) -> RunTask:
        """Create a run and execute it in this process; `prepare` makes its brief and world first.

        Errors of the preparation, and a budget too small for a report, are raised by `RunTask.wait`.
        """

        async def work(handle: RunTask) -> None:
            world = await self.prepare_and_store(handle.run_id, prepare)
            handle.stored = True
            await self._execute(handle, await self._acquire(handle.run_id), lambda _: world)

        return self._begin(new_id(), work, stored=False)

    async def create(
        self,
        run_id: str,
        brief: Brief,
        world: World,
        log: Sequence[EventDraft] = (),
        inputs: RunInputs = NO_INPUTS,
        priority: int | None = None,
    ) -> None:
        """Store a run with its frozen brief, without executing it.

        A forked run begins with a `log` and with its `inputs`. A run with a `priority` is queued in the same
        transaction, so that no process has to survive until it could be queued afterwards.

        Raises:
            UsageError: the budget is too small for a report.
        """
        check_brief(brief, world)
        event, at, data = RunCreated(brief=brief), world.clock.now(), msgspec.json.encode(brief)
        draft = EventDraft(key="created", path=(), type=event.kind, data=encode(event), at=at)
        if priority is not None:
            place = QueuePlace(user=brief.user, priority=priority, release=brief.release)
            inputs = msgspec.structs.replace(inputs, place=place)
        inputs = msgspec.structs.replace(inputs, owner=brief.owner, within=tuple(world.allowances))
        await self.journal.create(run_id, brief.question, data, [draft, *log], brief.thread, inputs)

    async def prepare_and_store(
        self, run_id: str, prepare: Prepare, priority: int | None = None, inputs: RunInputs = NO_INPUTS
    ) -> World:
        """Prepare a run and store it. Try again if other runs meanwhile used what it needs of a daily limit.

        A run with a `priority` is queued in the transaction that stores its `inputs`.

        Raises:
            UsageError: the budget is too small for a report.
            Overtaken: others were faster each time.
        """
        for _ in range(MAX_PREPARATIONS):
            brief, world = await prepare()
            with contextlib.suppress(Overtaken):
                await self.create(run_id, brief, world, inputs=inputs, priority=priority)
                return world
        raise Overtaken

    async def resume(self, run_id: str, world_for: Callable[[Brief], World]) -> RunTask:
        """Execute a stored run in this process. The log of a completed run is just replayed.

        What this engine executes already goes on, with one handle for all; one about to end is resumed once it has.

        Raises:
            LeaseHeld: another live process, or another engine, executes it.
            UnknownName: there is no such run.
        """
        if run_id not in self._resuming:
            task = self._resuming[run_id] = asyncio.create_task(self._resume(run_id, world_for))
            task.add_done_callback(lambda _: self._resuming.pop(run_id))
            task.add_done_callback(retrieve_failure)
        return await asyncio.shield(self._resuming[run_id])

    async def _resume(self, run_id: str, world_for: Callable[[Brief], World]) -> RunTask:
        while handle := next((handle for handle in self._handles if handle.run_id == run_id), None):
            if not handle.is_ending:
                return handle
            await asyncio.wait([handle._task])
        return self.execute_leased(await self._acquire(run_id), world_for)

    def execute_leased(self, lease: Lease, world_for: Callable[[Brief], World]) -> RunTask:
        """Execute a run whose lease was taken in this engine's name (`holder`, `ttl`)."""

        async def work(handle: RunTask) -> None:
            await self._execute(handle, lease, world_for)

        return self._begin(lease.run_id, work, stored=True)

    @property
    def busy(self) -> bool:
        """True if this process executes or prepares a run."""
        return bool(self._handles)

    async def until_stored(self, run_id: str) -> None:
        """Wait while a run with this id is prepared here; it is stored then, unless its preparation fails."""
        for handle in [handle for handle in self._handles if handle.run_id == run_id]:
            await handle.until_created()

    def _begin(self, run_id: str, work: Callable[[RunTask], Coroutine[object, None, None]], *, stored: bool) -> RunTask:
        if self._is_closed:
            raise StoreClosed
        handle = RunTask(run_id, self.journal, work, stored=stored)
        self._handles.add(handle)
        handle._task.add_done_callback(lambda _: self._handles.discard(handle))
        return handle

    async def _acquire(self, run_id: str) -> Lease:
        try:
            return await self.journal.acquire(run_id, self.holder, self.ttl)
        except LeaseHeld as held:
            if not is_dead(held.holder):
                raise
            return await self.journal.acquire(run_id, self.holder, self.ttl, evict=held.holder)

    async def close(self) -> None:
        """Stop every run of this engine; each can be resumed. It starts none any more."""
        while self._resuming:  # it has taken a lease, which its run gives back
            await asyncio.wait(self._resuming.values())
        self._is_closed = True
        await asyncio.gather(*(handle.stop() for handle in self._handles))
        give_up_name(self.holder)

    async def _execute(self, handle: RunTask, lease: Lease, world_for: Callable[[Brief], World]) -> None:
        try:
            memory = await self.journal.load(handle.run_id)
            brief = read_brief(handle.run_id, memory.brief)
            goes_on = memory.status not in FINAL or memory.status == "failed"
            if goes_on:
                check_release(handle.run_id, brief)
            world = world_for(brief)
            execution = Execution(EngineParts(self.journal, self._breakers, self._redo), lease, brief, memory, world)
            handle.attach_execution(execution)
            if goes_on:
                await ask_again(execution, memory)
                await self._execute_remaining(handle, execution)
        finally:
            await self.journal.release(lease)

    async def _execute_remaining(self, handle: RunTask, execution: Execution) -> None:
        """Execute what is not done yet and obey the owner meanwhile."""
        lease = execution.lease
        renewal = await self.journal.renew(lease, self.ttl)
        action = await control.clear_pause(self.journal, execution.run_id, renewal.action)
        try:
            with self.leases.keep(execution, action):
                event: Event = RunStarted() if lease.fence == 1 else RunResumed(fence=lease.fence)
                execution.commit(Commit(events=(execution.draft(event, (), f"fence-{lease.fence}"),), status="running"))
                control.apply_action(execution, action)
                handle.apply_early_actions(execution)
                await control.apply_agent_stops(execution)
                await self._execute_watched(execution)
        except asyncio.CancelledError:
            if execution.broken is not None:
                raise execution.broken from None
            raise
        finally:
            execution.stop_everything()
            ahead = (*execution.ahead.tasks(), *execution.foreseen.tasks())
            await asyncio.gather(*execution.tasks, *ahead, return_exceptions=True)

    async def _execute_watched(self, execution: Execution) -> None:
        """Execute the run and report it to the watch, if there is one."""
        brief, watch = execution.brief, execution.world.watch
        if watch is not None:
            execution.listen(watch.observe)
        labels = ",".join(f"{name}={value}" for name, value in sorted(brief.labels.items()))
        facts = {"thread": brief.thread, "user": brief.user, "labels": labels}
        known_facts = {name: value for name, value in facts.items() if value}
        run = Run(execution, lane=brief.lane)
        with watch_span(run, "run", "run", strategy=brief.strategy, fence=execution.lease.fence, **known_facts) as span:
            if span is not None:
                span.report()
            await self._run_pipeline(execution)

    async def _run_pipeline(self, execution: Execution) -> None:
        """Execute the pipeline and log how it ended as the last event."""
        try:
            outcome = await self._pipeline(Run(execution, lane=execution.brief.lane))
        except Cancelled:
            await self._log_end(execution, "cancelled", RunCancelled())
            raise
        except Paused:
            await self._log_end(execution, "paused", ControlApplied(action="pause"))
            raise
        except (FenceLost, InputNeeded, OtherRelease, StoreAway):
            raise
        except AssayError as error:
            await self._log_end(execution, "failed", RunFailed(stop_reason=failure_reason(error), error=str(error)))
            raise
        except Exception as bug:
            await self._log_end(execution, "failed", RunFailed(stop_reason="bug", error=f"{type(bug).__name__}: {bug}"))
            raise
        await self._log_end(
            execution, "completed", RunCompleted(stop_reason=outcome.stop_reason, verified=outcome.verified)
        )

    async def _log_end(self, execution: Execution, status: RunStatus, event: Event) -> None:
        execution.is_ending = True
        draft = execution.draft(event, (), f"{event.kind}-{execution.lease.fence}")
        is_final = status in ("completed", "cancelled")
        holds = execution.accounts.close() if status != "paused" else ()
        taken_back = execution.earlier.take_back(draft.at) if status == "completed" else ()
        rejections = await control.reject_untaken(execution, control.ENDED_FIRST) if is_final else ()
        await execution.commit(Commit(events=(*taken_back, *rejections, draft), status=status, holds=holds))
