"""What every route works with: the caller's library, the audit log; and what runs beside them: a worker, schedules."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, Unpack, cast

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.routing import BaseRoute

from assay.app.assay import Assay
from assay.core.brief import ForkPoint
from assay.core.errors import AssayError, Cancelled, ConfigError, StoreError
from assay.core.events import Envelope
from assay.core.plan import Plan
from assay.core.ports import QueueLimits
from assay.core.ports.jobs import Job
from assay.core.ports.webhooks import Webhook
from assay.core.run_options import ForkOptions, RunOptions
from assay.core.view import RunView, ViewBuilder
from assay.run.tasks import Tasks
from assay.server.audit import Auditor
from assay.server.broadcasts import Broadcasts, RunLists
from assay.server.health import StoreHealth
from assay.server.limits import LimitBook, Rates
from assay.server.metrics import Metrics
from assay.server.problems import Problem, problem_response
from assay.server.streams import Tickets
from assay.services.arguments import Sources
from assay.services.jobs.specifications import JobWork
from assay.services.schedule_runs import run_due
from assay.services.schedules import ScheduleBook
from assay.settings import Settings

if TYPE_CHECKING:
    from assay.server.oidc import OidcProvider

log = logging.getLogger(__name__)

# Data that a server stores for a limited time.

TIDY_SECONDS = 3_600.0
DELIVERED_SECONDS = 7 * 86_400.0
"""How long deliveries of webhooks are stored."""
MAX_AUDIT_ENTRIES = 100_000
"""The most entries of the audit log, the newest."""


async def tidy_hourly(assay: Assay) -> None:
    """Delete expired data now and every hour, until cancelled. Other servers may do the same."""
    while True:
        try:
            await tidy(assay)
        except StoreError as error:
            log.warning("upkeep: %s; trying again in an hour", error)
        await asyncio.sleep(TIDY_SECONDS)


async def tidy(assay: Assay) -> None:
    """Delete old requests, full buckets, old deliveries, and old entries of the audit log."""
    await assay.forget_requests()
    if assay.buckets is not None:
        await assay.buckets.drop_full()
    await assay.forget_deliveries(DELIVERED_SECONDS)
    if assay.audit is not None:
        await assay.audit.drop(assay.settings.server.audit_days * 86_400, MAX_AUDIT_ENTRIES)


DEFAULT_PRIORITY = 0
"""The priority of a run started over HTTP."""
MAX_CACHED_VIEWS = 64
"""Cached views of runs, the last ones requested."""


class Backend:
    """The library, a worker over it, and what requests share. Its runs depend on no connection and outlive the process.

    A run started here is stored and queued. The worker of this process takes it up, or after a kill that of the next
    process. Use it as a context manager.
    """

    def __init__(self, assay: Assay) -> None:
        self.assay, self.settings = assay, assay.settings
        self.tasks = Tasks()
        self.closing = asyncio.Event()
        """Set when the server stops: then streams end."""
        self.streams = Tickets(self.settings.server.streams, self.settings.server.all_streams)
        self.metrics = Metrics(self.streams)
        assay.watched_by(self.metrics.meters)  # before there is a worker: every execution is then observed
        self.health = StoreHealth()
        self.auditor = Auditor(assay.audit)
        self.limits = LimitBook(assay.limits, self.settings)
        self.rates = Rates(assay.buckets, self.limits)
        self.oidc = _oidc(self.settings)
        workers = self.settings.workers
        limits = QueueLimits(running=workers.running, per_user=workers.per_user)
        self.worker = assay.worker(workers.slots, limits)
        all_owners = assay.owned_by(None)  # a route has found the run before, so the caller may follow it
        self.run_lists = RunLists(self.closing, self.tasks)
        self.broadcasts = Broadcasts(
            lambda run, after, rest: all_owners.groups(run, after, rest=rest), all_owners.events
        )
        self._worker_task: asyncio.Task[None] | None = None
        self._folders: OrderedDict[str, ViewBuilder] = OrderedDict()

    async def __aenter__(self) -> Backend:
        await self.assay.ready()
        await self.assay.owned_by(None).go_on_adding()
        self._worker_task = self.tasks.start(self.worker.work(), "the server's worker")
        self.tasks.start(ask_due_schedules(self.assay, self.limits), "the server's schedules")
        self.tasks.start(self.assay.tell_webhooks(), "the server's webhooks")
        self.tasks.start(tidy_hourly(self.assay), "the server's upkeep")
        return self

    async def __aexit__(self, *_: object) -> None:
        self.worker.stop()
        if self._worker_task is not None:
            await asyncio.wait_for(self._worker_task, timeout=None)
        await self.broadcasts.close()
        await self.tasks.close()

    async def end_streams(self) -> None:
        """End every stream and start no more: the server stops."""
        self.closing.set()
        await self.assay.unfollow()

    async def not_ready_reason(self) -> str:
        """Why the server cannot work now, "" if it can."""
        if self.closing.is_set():
            return "the server is stopping"
        if self._worker_task is None or self._worker_task.done():
            return "the worker of the server has ended"
        await self.health.try_read(self.assay.runs(1))
        return self.health.fault

    def assay_for(self, owner: str) -> Assay:
        """The library as `owner` sees it."""
        return self.assay.owned_by(owner, self.limits.daily_limits(owner))

    # runs

    async def begin(
        self,
        owner: str,
        question: str,
        *,
        sources: Sources | None = None,
        webhook: Webhook | None = None,
        **options: Unpack[RunOptions],
    ) -> str:
        """Store a run and have it executed; return its id. A `webhook` is notified about this run only.

        Raises:
            UsageError: as `Assay.create`.
        """
        async with self.rates.run_token(owner):
            assay = self.assay_for(owner)
            run_id = await assay.create(
                question, sources=sources, priority=DEFAULT_PRIORITY, webhook=webhook, **options
            )
        return await self._wake_worker(owner, run_id)

    async def begin_ask(self, owner: str, reference: str, question: str, **options: Unpack[RunOptions]) -> str:
        """Store a run that answers from what another has read, and have it executed; return its id.

        Raises:
            UnknownName, UsageError: as `Assay.ask`.
        """
        async with self.rates.run_token(owner):
            run_id = await self.assay_for(owner).create_ask(reference, question, priority=DEFAULT_PRIORITY, **options)
        return await self._wake_worker(owner, run_id)

    async def begin_fork(
        self,
        owner: str,
        reference: str,
        point: ForkPoint,
        *,
        plan: Plan | str | None = None,
        exclude: Sequence[str] = (),
        add: Sources | None = None,
        **options: Unpack[ForkOptions],
    ) -> str:
        """Store a run that continues from a point of another, and have it executed; return its id.

        Raises:
            UnknownName, UsageError: as `Assay.fork`.
        """
        async with self.rates.run_token(owner):
            assay = self.assay_for(owner)
            run_id = await assay.fork(
                reference, point, plan=plan, exclude=exclude, add=add, priority=DEFAULT_PRIORITY, **options
            )
        return await self._wake_worker(owner, run_id)

    async def begin_job(self, owner: str, work: JobWork) -> Job:
        """Leave long work to the workers; it counts like a run.

        Raises:
            UsageError: as `Assay.begin_job`.
        """
        async with self.rates.run_token(owner):
            return await self.assay_for(owner).begin_job(work)

    async def retry_job(self, owner: str, id: str) -> Job:
        """Queue a job again; it counts like a run.

        Raises:
            UnknownName, UsageError: as `Assay.retry_job`.
        """
        async with self.rates.run_token(owner):
            return await self.assay_for(owner).retry_job(id)

    async def continue_run(self, owner: str, reference: str) -> None:
        """Execute a stored run from where it is: paused, failed, answered, or executed by nobody.

        Raises:
            UnknownName: there is no such run.
            LeaseHeld: another live process executes it.
            UsageError: private documents would leave this machine.
        """
        assay = self.assay_for(owner)
        row = await assay.find(reference)
        await assay.enqueue(row.run_id)
        self.worker.check_queue()
        if row.status in ("paused", "failed"):  # no worker takes these up by itself
            await assay.resume(row.run_id)

    async def _wake_worker(self, owner: str, run_id: str) -> str:
        """Wake the worker for a run that was stored and queued in one transaction."""
        self.worker.check_queue()
        await self.auditor.record_start(owner, run_id)
        return run_id

    async def view(self, owner: str, reference: str) -> RunView:
        """A run as folded from its events; a cached view is only extended.

        Raises:
            UnknownName: there is no such run.
        """
        assay = self.assay_for(owner)
        run_id = (await assay.find(reference)).run_id
        folder = self._folders.setdefault(run_id, ViewBuilder())
        self._folders.move_to_end(run_id)
        while len(self._folders) > MAX_CACHED_VIEWS:
            self._folders.popitem(last=False)
        folder.extend(await assay.events(run_id, folder.view.last_seq))
        return folder.view

    async def groups(
        self, owner: str, run_id: str, after: int = 0, idle_seconds: float | None = None
    ) -> AsyncGenerator[Sequence[Envelope], None]:
        """Yield the events of a run after number `after`, all new ones at once, until it ends.

        The group is empty if none came for `idle_seconds` seconds. Closing the iteration ends no run.

        Raises:
            UnknownName: there is no such run, or it was deleted in the meantime.
            Cancelled: the server stops.
        """
        if self.closing.is_set():
            raise Cancelled("the server is stopping")
        async for group in self.assay_for(owner).groups(run_id, after, rest=idle_seconds):
            yield group


def _oidc(settings: Settings) -> OidcProvider | None:
    if not settings.server.oidc.issuer:
        return None
    try:
        from assay.server.oidc import provider_of  # noqa: PLC0415 - of the extra `server`
    except ImportError as error:
        raise ConfigError("login at a provider needs the extra `server`: pip install 'assay[server]'") from error
    return provider_of(settings)


@dataclass(frozen=True, slots=True)
class RouteGroup:
    """A group of routes below a prefix: the native API, or another protocol.

    `running` is entered at startup and left at shutdown; `problem_handler` turns problems outside its endpoints into
    responses. `needs` is the right that a request needs: `read` or `write` by its `method`; what each `route` says;
    or `read`, if its tools check for more.
    """

    prefix: str
    routes: Callable[[Backend], Sequence[BaseRoute]]
    running: Callable[[Backend], AbstractAsyncContextManager[None]] = lambda _: nullcontext()
    problem_handler: Callable[[Problem], Response] = problem_response
    needs: Literal["method", "route", "read"] = "method"

    def has(self, path: str) -> bool:
        """True if a path is below the prefix."""
        return path == self.prefix or path.startswith(self.prefix.rstrip("/") + "/")


def backend_of(request: HTTPConnection) -> Backend:
    """The backend of the server that received a request."""
    return cast(Backend, request.app.state.backend)


def owner_of(request: HTTPConnection) -> str:
    """The owner of a request: the user's name, "" on a server without users."""
    return str(request.scope.get("state", {}).get("owner", ""))


def assay_of(request: HTTPConnection) -> Assay:
    """The library as the caller sees it."""
    return backend_of(request).assay_for(owner_of(request))


# The questions of a library's schedules, asked when they are due.

LOOK_SECONDS = 5.0
"""Seconds between two checks of what is due: schedules may be added and removed meanwhile."""


async def ask_due_schedules(assay: Assay, limits: LimitBook) -> None:
    """Ask every question when it is due, one after another, until cancelled; other processes may do the same.

    `limits` say what each user may take.
    """
    if assay.home is None:
        return
    book = ScheduleBook(assay.home, None)
    while True:
        try:
            await limits.refresh()
            due = run_due(
                assay, book, lambda: datetime.now(UTC), lambda _schedule, run: run.view(), limits.daily_limits
            )
            async for outcome in due:
                result = outcome.error or (outcome.view.status if outcome.view else "")
                log.info("schedule %s: %s", outcome.schedule.id, result)
                run, status = (outcome.view.run_id, outcome.view.status) if outcome.view else ("", "failed")
                await assay.webhooks.schedule_finished(outcome.schedule.owner, outcome.schedule.id, run, status)
        except AssayError as error:
            log.warning("schedules: %s; trying again", error)
        await asyncio.sleep(LOOK_SECONDS)
