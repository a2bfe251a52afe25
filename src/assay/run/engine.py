"""The engine: creates runs, takes them up, keeps their lease, listens to their owner, and writes how they ended."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec
import psutil

from assay.core.brief import Brief
from assay.core.errors import AssayError, Cancelled, FenceLost, InputNeeded, LeaseHeld, StoreError
from assay.core.events import (
    ControlApplied,
    Envelope,
    Event,
    RunCancelled,
    RunCompleted,
    RunCreated,
    RunFailed,
    RunResumed,
    RunStarted,
    encode,
)
from assay.core.ports import FINAL, Action, Commit, EventDraft, Journal, Lease, RunStatus, World
from assay.run import budget
from assay.run.execution import FINISHED_EARLY, Execution
from assay.run.health import Health
from assay.run.run import Run

TTL = 15.0
POLL = 0.25
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a pipeline ended: its stop reason, and whether the final gate passed."""

    stop_reason: str = "done"
    verified: bool = True


Pipeline = Callable[[Run], Awaitable[Outcome]]


def new_run_id() -> str:
    """Ten letters and digits that are not easily confused."""
    return "".join(secrets.choice(ALPHABET) for _ in range(10))


def this_process() -> str:
    """Who holds a lease: process id, host, and when the process started (a number used again is another process)."""
    return f"process {os.getpid()} on {socket.gethostname()} since {psutil.Process().create_time():.2f}"


def is_dead(holder: str) -> bool:
    """Whether `holder` is known to be gone: it ran on this host and is no longer there."""
    words = holder.split()
    if len(words) != 6 or words[3] != socket.gethostname():
        return False
    try:
        return f"{psutil.Process(int(words[1])).create_time():.2f}" != words[5]
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


Prepare = Callable[[], Awaitable[tuple[Brief, World]]]


class RunHandle:
    """A run that is executed in this process."""

    def __init__(self, run_id: str, journal: Journal, work: Callable[[RunHandle], Awaitable[None]]) -> None:
        self.run_id, self._journal = run_id, journal
        self._execution: Execution | None = None
        self._news = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._work(work), name=f"run-{run_id}")
        self._task.add_done_callback(self._ended)

    async def _work(self, work: Callable[[RunHandle], Awaitable[None]]) -> None:
        await work(self)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._news.set()
        if not task.cancelled():
            task.exception()  # whoever waits is told; nobody need wait

    def begin(self, execution: Execution) -> None:
        """From here on there is a log to read and a run to steer."""
        self._execution = execution
        execution.main = self._task
        execution.listen(lambda _: self._news.set())

    @property
    def created(self) -> bool:
        """Whether there is a stored run: its preparation succeeded."""
        return self._execution is not None

    async def __aiter__(self) -> AsyncIterator[Envelope]:
        """Every event from the first, until the run ends."""
        seq = 0
        while True:
            done = self._task.done()
            self._news.clear()
            if self._execution is not None:
                for envelope in await self._journal.events(self.run_id, after=seq):
                    seq = envelope.seq
                    yield envelope
            if done:
                return
            await self._news.wait()

    async def wait(self) -> None:
        """Until the run has ended.

        Raises:
            Cancelled: by its owner.
            InputNeeded: it waits for an answer nobody here can give.
            FenceLost: another process took it over.
            AssayError: it failed.
        """
        try:
            await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if self._execution is None and self._task.cancelled():
                raise Cancelled("cancelled before the run was created") from None
            raise

    async def answer(self, topic: str, value: object) -> None:
        """Give the run what it waits for."""
        await self._journal.post(self.run_id, topic, msgspec.json.encode(value))

    def finish(self) -> None:
        """End research; write and verify what there is. Before the run exists there is nothing: that is a cancel."""
        if self._execution is not None:
            self._execution.finish(FINISHED_EARLY)
        else:
            self._task.cancel()

    def cancel(self) -> None:
        """End every call in flight; findings are kept."""
        if self._execution is not None:
            self._execution.cancel()
        else:
            self._task.cancel()

    async def stop(self) -> None:
        """Let go of the run; it can be resumed."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


class Engine:
    """Runs pipelines over a journal."""

    def __init__(self, journal: Journal, pipeline: Pipeline, *, holder: str = "", ttl: float = TTL) -> None:
        self.journal, self._pipeline, self._ttl = journal, pipeline, ttl
        self._holder = holder or this_process()
        self._handles: set[RunHandle] = set()
        self._health = Health()

    def start(self, prepare: Prepare) -> RunHandle:
        """Create a run and execute it in this process; `prepare` makes its brief and world first.

        Errors of the preparation, and a budget below one report, come out of `RunHandle.wait`.
        """

        async def work(handle: RunHandle) -> None:
            brief, world = await prepare()
            await self.create(handle.run_id, brief, world)
            await self._execute(handle, await self._acquire(handle.run_id), lambda _: world)

        return self._keep(RunHandle(new_run_id(), self.journal, work))

    async def create(self, run_id: str, brief: Brief, world: World) -> None:
        """Store a run with its frozen brief; nothing is executed yet.

        Raises:
            UsageError: the budget is below one report.
        """
        budget.check(brief.budget)
        created = RunCreated(brief=brief)
        draft = EventDraft(key="created", path=(), type=created.kind, data=encode(created), at=world.clock.now())
        await self.journal.create(run_id, brief.question, msgspec.json.encode(brief), [draft], brief.thread)

    async def resume(self, run_id: str, world_for: Callable[[Brief], World]) -> RunHandle:
        """Execute a stored run in this process; a completed one just replays its log.

        Raises:
            LeaseHeld: another live process executes it.
            UnknownName: no such run.
        """
        lease = await self._acquire(run_id)

        async def work(handle: RunHandle) -> None:
            await self._execute(handle, lease, world_for)

        return self._keep(RunHandle(run_id, self.journal, work))

    def _keep(self, handle: RunHandle) -> RunHandle:
        self._handles.add(handle)
        handle._task.add_done_callback(lambda _: self._handles.discard(handle))
        return handle

    async def _acquire(self, run_id: str) -> Lease:
        try:
            return await self.journal.acquire(run_id, self._holder, self._ttl)
        except LeaseHeld as held:
            if not is_dead(held.holder):
                raise
            return await self.journal.acquire(run_id, self._holder, self._ttl, evict=held.holder)

    async def close(self) -> None:
        """Let go of every run of this engine; each can be resumed."""
        for handle in list(self._handles):
            await handle.stop()

    async def _execute(self, handle: RunHandle, lease: Lease, world_for: Callable[[Brief], World]) -> None:
        memory = await self.journal.load(handle.run_id)
        brief = msgspec.json.decode(memory.brief, type=Brief)
        execution = Execution(handle.run_id, brief, self.journal, lease, memory, world_for(brief), self._health)
        handle.begin(execution)
        heart = asyncio.get_running_loop().create_task(self._beat(execution))
        try:
            if memory.status not in FINAL or memory.status == "failed":
                event: Event = RunStarted() if lease.fence == 1 else RunResumed(fence=lease.fence)
                execution.commit(Commit(events=(execution.draft(event, (), f"fence-{lease.fence}"),), status="running"))
                await self._run(execution)
        except asyncio.CancelledError:
            if execution.broken is not None:
                raise execution.broken from None
            raise
        finally:
            heart.cancel()
            execution.stop_everything()
            await asyncio.gather(*execution.tasks, return_exceptions=True)
            await self.journal.release(lease)

    async def _run(self, execution: Execution) -> None:
        """The pipeline, and how it ended as the log's last word."""
        try:
            outcome = await self._pipeline(Run(execution, lane=execution.brief.lane))
        except Cancelled:
            await self._end(execution, "cancelled", RunCancelled())
            raise
        except (FenceLost, InputNeeded):
            raise
        except AssayError as error:
            await self._end(execution, "failed", RunFailed(stop_reason="failed", error=str(error)))
            raise
        except Exception as bug:
            await self._end(execution, "failed", RunFailed(stop_reason="bug", error=f"{type(bug).__name__}: {bug}"))
            raise
        await self._end(
            execution, "completed", RunCompleted(stop_reason=outcome.stop_reason, verified=outcome.verified)
        )

    async def _end(self, execution: Execution, status: RunStatus, event: Event) -> None:
        draft = execution.draft(event, (), f"{event.kind}-{execution.lease.fence}")
        await execution.commit(Commit(events=(draft,), status=status))

    async def _beat(self, execution: Execution) -> None:
        """Hold the lease and read the control row; a lost fence ends the execution."""
        applied: Action = ""
        held_until = execution.world.clock.monotonic() + self._ttl
        while True:
            try:
                action = await self.journal.renew(execution.lease, self._ttl)
                held_until = execution.world.clock.monotonic() + self._ttl
            except FenceLost as lost:
                execution.broken = lost
                execution.stop_everything()
                return
            except StoreError as error:
                if execution.world.clock.monotonic() > held_until:
                    execution.broken = error
                    execution.stop_everything()
                    return
                action = applied
            if action != applied:
                applied = action
                self._apply(execution, action)
            await asyncio.sleep(POLL)

    def _apply(self, execution: Execution, action: Action) -> None:
        if action == "finish":
            execution.finish(FINISHED_EARLY)
        elif action == "cancel":
            execution.cancel()
        event = ControlApplied(action=action)
        execution.commit(Commit(events=(execution.draft(event, (), f"control-{action}-{execution.lease.fence}"),)))
