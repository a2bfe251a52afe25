"""Takes up jobs and does them; a job in hand stores its progress and works with its parts.

When a worker dies, another takes its job once the lease has expired.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from assay.core.errors import AssayError, FenceLost, FetchFailed, InUse, LeaseHeld, SearchAway, StoreAway, StoreError
from assay.core.ports import Clock
from assay.core.ports.jobs import JOBS_NEWS, MAX_JOB_TRIES, Job, JobClaim, Jobs
from assay.run.process import this_process
from assay.run.releases import is_newer_than_installed
from assay.run.tasks import event_setter, wait_for_event

HELP_SECONDS = 0.25
"""Seconds between two looks for a part to help with."""


W = TypeVar("W", bound=msgspec.Struct)


class JobInHand:
    """A job that this process has claimed. Updates are stored under its fence, one after the other."""

    def __init__(self, jobs: Jobs, job: Job, clock: Clock, part: Callable[[str], Awaitable[bool]]) -> None:
        self.job, self.jobs = job, jobs
        self._clock, self._part, self._turn = clock, part, asyncio.Lock()
        self._line, self._notes = job.line, dict(job.notes)
        self.stopped = False
        """True if its owner ended it. A worker that shuts down leaves it to others."""

    def decoded_arguments(self, arguments_type: type[W]) -> W:
        return msgspec.convert(self.job.arguments | {"kind": self.job.kind}, arguments_type)

    def set_progress(self, line: str) -> None:
        """Set the latest progress message, from any thread. It is stored with the next sign of life (`flush`)."""
        self._line = line

    def add_notes(self, **notes: Any) -> None:
        """Add notes for whoever continues the job or asks for its figures. They are stored with the next update."""
        self._notes = self._notes | notes  # not in place: the writer's thread may be reading the old ones

    async def flush(self) -> None:
        """Store the latest progress message, if it is new."""
        if self._line != self.job.line:
            await self.store_changes()

    async def store_changes(self, parts: Sequence[Job] = (), pause: float = 0.0, **changes: Any) -> None:
        """Store changes and new parts in one transaction; with a `pause`, also when the job is due again.

        Raises:
            FenceLost: another process has the job now.
        """
        async with self._turn:
            update = {"line": self._line, "notes": self._notes, **changes, "updated_at": self._clock.now()}
            if changes.get("finished", 0) > self.job.finished:
                update["tries"] = 1  # a job that makes progress is not what kills its workers
            updated_job = msgspec.structs.replace(self.job, **update)
            await self.jobs.update(updated_job, parts, pause)
            self.job = updated_job

    async def do_part_or_wait(self) -> None:
        """Do one of its parts here, or wait a moment if there is none to do."""
        if not await self._part(self.job.id):
            await asyncio.sleep(HELP_SECONDS)


class PutOff(Exception):
    """Raised by a handler whose job comes after another: it waits `PUT_OFF` seconds, which count as no failure."""


Result = Mapping[str, Any]
Handler = Callable[[JobInHand], Awaitable[Result]]
"""Does a job and returns its result. It does not repeat what was done before a worker died."""


log = logging.getLogger(__name__)

POLL = 0.5
"""Seconds between two looks for jobs: notifications can get lost, and an expired lease sends none."""
IDLE_SECONDS = 5.0
"""The same while there are no jobs, if notifications cover all processes."""
PUT_OFF = 2.0
"""Seconds after which a job that comes after another is taken up again."""
RENEWALS_PER_LEASE = 4
"""How often a lease is renewed within its time."""
TRANSIENT_ERRORS = (StoreAway, LeaseHeld, InUse, FetchFailed, SearchAway)
"""Temporary errors: the job is tried again, each time after a longer pause."""
BUG_NOTE = "an error of Assay ended it; the log of the worker says which"


Subscribe = Callable[[Callable[[str], None]], Callable[[], None]]


class JobWorkerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a worker of jobs does at once.

    Args:
        slots: how many jobs are done here at once.
        per_user: how many jobs of one owner are done at once, over all workers; 0: no limit.
        ttl: seconds after which another worker may take a job whose lease is not renewed.
        tells_all: whether notifications cover jobs queued by other processes; then the worker looks less often.
    """

    slots: int
    per_user: int
    ttl: float
    tells_all: bool


class JobWorker:
    """Does jobs until it is stopped, a limited number at once."""

    def __init__(
        self,
        jobs: Jobs,
        kinds: Mapping[str, Handler],
        clock: Clock,
        listen: Subscribe,
        limits: JobWorkerLimits,
        say: Callable[[str], None],
    ) -> None:
        """A worker over the jobs of all owners.

        Args:
            jobs: the store of the jobs.
            kinds: the handler of each kind of job.
            clock: the time.
            listen: `Journal.listen`, which reports new jobs.
            limits: how many are done at once, and for how long one is held.
            say: called with a line of text when a job is taken up and when it ends.
        """
        self._jobs, self._kinds, self._clock, self._listen, self._say = jobs, kinds, clock, listen, say
        self._slots, self._per_user, self._ttl = limits.slots, limits.per_user, limits.ttl
        self._tells_all = limits.tells_all
        self._going: set[asyncio.Task[None]] = set()
        self._mine: set[str] = set()
        self._stopping, self._news = False, asyncio.Event()
        self.done_count = 0
        """The number of jobs that ended here."""

    def stop(self) -> None:
        """Take up nothing more and release the jobs in hand; other workers continue them at once."""
        self._stopping = True
        self._news.set()

    async def work(self, *, until_empty: bool = False) -> None:
        """Do jobs until `stop`. With `until_empty`, until none is left for this worker, now or after a pause."""
        is_store_down = False
        stop = self._listen(event_setter(JOBS_NEWS, self._news))
        try:
            while not self._stopping:
                self._news.clear()
                pause = POLL
                try:
                    await self._fill_slots()
                    pause, is_store_down = await self._seconds_to_rest(), False
                    if (
                        until_empty
                        and not self._going
                        and await self._jobs.seconds_until_retry(self._claim_filter(None)) is None
                    ):
                        return
                except StoreError as error:
                    if not is_store_down:
                        self._say(f"{error}; trying again")
                    is_store_down = True
                await wait_for_event(self._news, pause)
        finally:
            stop()
            self._stopping = True
            for task in self._going:
                task.cancel()
            await asyncio.gather(*self._going, return_exceptions=True)

    async def _seconds_to_rest(self) -> float:
        """Seconds until the next look."""
        if self._tells_all and not self._going:
            due = await self._jobs.seconds_until_due()
            return IDLE_SECONDS if due is None else min(max(due, POLL), IDLE_SECONDS)
        return POLL

    async def _fill_slots(self) -> None:
        while len(self._going) < self._slots and not self._stopping:
            job = await self._jobs.claim(self._claim_filter(None))
            if job is None:
                return
            task = asyncio.create_task(self._do_job(job), name=f"job {job.id}")
            self._going.add(task)
            task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._going.discard(task)
        self._news.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s: %s", task.get_name(), error, exc_info=error)

    def _claim_filter(self, parent: str | None) -> JobClaim:
        return JobClaim(
            holder=this_process(),
            ttl=self._ttl,
            kinds=tuple(self._kinds),
            per_user=self._per_user,
            parent=parent,
            but=tuple(self._mine),
            unfit=is_newer_than_installed,
        )

    async def _do_part(self, parent: str) -> bool:
        """Do a part of a job that is in hand here; False if there is none to do."""
        job = await self._jobs.claim(self._claim_filter(parent))
        if job is not None:
            await self._do_job(job)
        return job is not None

    async def _do_job(self, job: Job) -> None:
        """Do one job until it ends or another worker has it."""
        self._mine.add(job.id)
        self._say(f"job {job.id} ({job.name}): {'started' if job.fence == 1 else f'taken up (fence {job.fence})'}")
        hand = JobInHand(self._jobs, job, self._clock, self._do_part)
        work = asyncio.ensure_future(self._kinds[job.kind](hand))
        heartbeat = asyncio.create_task(self._keep_renewing(hand, work))
        try:
            await asyncio.wait({work, heartbeat}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():  # it is to stop, or another worker has it
                hand.stopped = heartbeat.exception() is None
                work.cancel()
                await asyncio.wait({work})
        finally:
            heartbeat.cancel()
            if not work.done():  # this worker is to stop
                work.cancel()
                await asyncio.wait({work})
            self._mine.discard(job.id)
            ending = asyncio.ensure_future(self._store_result(hand, work, heartbeat))
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:  # its result is stored all the same, before this worker ends
                await ending
                raise

    async def _keep_renewing(self, hand: JobInHand, work: asyncio.Future[Result]) -> bool:
        """Renew the lease while the job is ours and in progress. Returns True when the job is to stop.

        Raises:
            StoreError: another worker has it now, or the store was away for longer than the lease.
        """
        while await self._jobs.renew(hand.job, self._ttl):
            await hand.flush()
            await asyncio.wait({work}, timeout=self._ttl / RENEWALS_PER_LEASE)
            if work.done():
                return False
        return True

    async def _store_result(self, hand: JobInHand, work: asyncio.Future[Result], heartbeat: asyncio.Task[bool]) -> None:
        heartbeat_ended = heartbeat.done() and not heartbeat.cancelled()
        if heartbeat_ended and (loss := heartbeat.exception()) is not None:
            if not work.cancelled():
                work.exception()  # it has failed for the same reason; asyncio would log that nobody asked for it
            self._say(f"job {hand.job.id}: {loss}")
            return
        outcome = self._outcome(hand.job, work, stopped=heartbeat_ended and heartbeat.result())
        try:
            await hand.store_changes(**outcome)
        except FenceLost as error:
            self._say(f"job {hand.job.id}: {error}")
            return
        if outcome["state"] != "waiting":
            self.done_count += 1
        why = f" ({outcome['error']})" if outcome.get("error") else ""
        self._say(f"job {hand.job.id}: {outcome['state']}{why}")

    def _outcome(self, job: Job, work: asyncio.Future[Result], *, stopped: bool) -> dict[str, Any]:
        if work.cancelled():  # by whoever requested it, or because this worker is to stop
            return {"state": "cancelled"} if stopped else {"state": "waiting", "tries": job.tries - 1}
        error = work.exception()
        if error is None:
            return {"state": "done", "result": work.result(), "line": "", "error": ""}
        if isinstance(error, PutOff):  # one try is left on it, by which `seconds_until_retry` knows that it will go on
            return {"state": "waiting", "tries": 1, "line": str(error), "pause": PUT_OFF}
        if isinstance(error, TRANSIENT_ERRORS) and job.tries < MAX_JOB_TRIES:
            return {"state": "waiting", "error": str(error), "pause": 2.0**job.tries}
        if isinstance(error, AssayError):
            return {"state": "failed", "error": str(error)}
        log.error("job %s failed: %s", job.id, error, exc_info=error)
        return {"state": "failed", "error": BUG_NOTE}
