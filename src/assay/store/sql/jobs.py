"""Jobs in SQL: a row for each, with a lease and a fence of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    delete,
    exists,
    func,
    not_,
    or_,
    select,
    true,
    update,
)

from assay.core.errors import FenceLost, TooMany, UnknownName, UsageError, process_of
from assay.core.ports import MAX_LEASE_SECONDS
from assay.core.ports.jobs import (
    JOB_ENDED,
    JOBS_NEWS,
    MAX_JOB_TRIES,
    TOP_LEVEL_JOBS,
    Job,
    JobClaim,
    JobFilter,
    JobState,
)
from assay.store.common import OwnedView, iso
from assay.store.sql import sqlite
from assay.store.sql.tables import jobs
from assay.store.sql.transactions import TransactedPort

_FIELDS = tuple(jobs.c[name] for name in Job.__struct_fields__)
_FIXED = ("id", "kind", "owner", "parent", "created_at", "release", "fence", "stopping", "seq", "every")
"""Fields that an update of a job never changes."""
_PUT = sqlite.insert(jobs).on_conflict_do_nothing(index_elements=["id"]).returning(jobs.c.number)
_FREE: dict[str, Any] = {"holder": "", "lease_until": 0.0}
_FOLLOWED: frozenset[JobState] = frozenset(("done", "failed"))
"""The ends of a periodic job after which there is another; a cancelled one has none."""


class SqlJobs(TransactedPort, OwnedView):
    """`Jobs` over a database, through the process's writer."""

    async def put(self, jobs: Sequence[Job], at_once: int | None = None) -> int:
        owner = self._owner
        mine = jobs if owner is None else [msgspec.structs.replace(job, owner=owner) for job in jobs]

        def insert_jobs(connection: Connection) -> int:
            self._check_room(connection, at_once)
            return _put(connection, mine)

        return await self._transactions.write(insert_jobs, run_id=JOBS_NEWS)

    def _check_room(self, connection: Connection, at_once: int | None) -> None:
        """Refuse one job more than allowed."""
        if at_once is None:
            return
        self._transactions.serialize_claims(connection)
        active = _active_jobs(connection, self._owner_condition(), self._transactions.time(connection))
        if active >= at_once:
            raise TooMany(
                f"{active} job{'' if active == 1 else 's'} wait or run, and {at_once} at once are allowed"
                " (limits.user_runs_at_once): wait for one to end, or cancel one: assay jobs cancel ID"
            )

    async def find(self, id: str) -> Job:
        return await self._transactions.read(_find_job, id, self._owner_condition())

    async def list(self, job_filter: JobFilter = TOP_LEVEL_JOBS) -> list[Job]:
        return await self._transactions.read(_list, job_filter, self._owner_condition())

    async def count(self, parent: str | None = None) -> dict[JobState, int]:
        in_parent = true() if parent is None else jobs.c.parent == parent
        statement = select(jobs.c.state, func.count()).where(in_parent, self._owner_condition()).group_by(jobs.c.state)
        return {cast("JobState", state): count for state, count in await self._transactions.rows(statement)}

    async def part_notes(self, parent: str) -> Sequence[dict[str, Any]]:
        condition = and_(jobs.c.parent == parent, jobs.c.state == "done", self._owner_condition())
        statement = select(jobs.c.notes).where(condition).order_by(jobs.c.number)
        return [notes for (notes,) in await self._transactions.rows(statement)]

    async def seconds_until_due(self) -> float | None:
        due = case((jobs.c.state == "running", jobs.c.lease_until), else_=jobs.c.due)
        first = select(func.min(due)).where(jobs.c.state.in_(("waiting", "running")), self._owner_condition())

        return await self._transactions.read_at(_seconds_until, first)

    async def seconds_until_retry(self, claim: JobClaim) -> float | None:
        def read_wait(connection: Connection, now: float) -> float | None:
            retryable = and_(jobs.c.state == "waiting", jobs.c.tries > 0, _claim_condition(connection, claim))
            return _seconds_until(connection, now, select(func.min(jobs.c.due)).where(retryable))

        return await self._transactions.read_at(read_wait)

    async def claim(self, claim: JobClaim) -> Job | None:
        def take(connection: Connection, now: float) -> Job | None:
            while (number := _next_job(connection, now, claim)) is not None:
                job = _row(connection, jobs.c.number == number)
                if job.stopping:  # its worker died or released it before it noticed
                    _cancel(connection, _job_and_parts(job.id), now)
                    continue
                done_count = _done_parts(connection, job)
                tries = 0 if done_count > job.finished else job.tries
                if tries >= MAX_JOB_TRIES:
                    why = f"{job.tries} workers took it up and died, and it made no progress"
                    _update_job(connection, number, now, state="failed", error=why, **_FREE)
                    _end_parts(connection, job, now)
                    _queue_next_period(connection, job, now)
                    continue
                _update_job(
                    connection,
                    number,
                    now,
                    state="running",
                    holder=claim.holder,
                    lease_until=now + claim.ttl,
                    fence=jobs.c.fence + 1,
                    tries=tries + 1,
                    finished=max(done_count, job.finished),
                    error="",
                )
                return _row(connection, jobs.c.number == number)
            return None

        return await self._transactions.claim(lambda connection, now: _may_claim(connection, now, claim), take)

    async def renew(self, job: Job, ttl: float) -> bool:
        def renew(connection: Connection) -> bool:
            until = self._transactions.time(connection) + ttl
            stopping = connection.execute(
                update(jobs).where(_is_held_by_claimer(job)).values(lease_until=until).returning(jobs.c.stopping)
            ).scalar()
            if stopping is None:
                raise _fence_lost(job)
            return not stopping

        return await self._transactions.write(renew, apart=True)

    async def update(self, job: Job, parts: Sequence[Job] = (), pause: float = 0.0) -> None:
        values = {name: value for name, value in msgspec.structs.asdict(job).items() if name not in _FIXED}
        if job.state != "running":
            values |= _FREE
        if job.state in JOB_ENDED:
            values["stopping"] = 0

        def keep(connection: Connection) -> None:
            due = {"due": self._transactions.time(connection) + pause} if pause else {}
            word = update(jobs).where(_is_held_by_claimer(job)).values(seq=jobs.c.seq + 1, **values | due)
            if not connection.execute(word).rowcount:
                raise _fence_lost(job)
            _put(connection, parts)
            if job.state in _FOLLOWED:
                _queue_next_period(connection, job, self._transactions.time(connection))
            if job.state in JOB_ENDED:  # it may have made parts before it noticed
                _end_parts(connection, job, self._transactions.time(connection))

        await self._transactions.write(keep, run_id=JOBS_NEWS if parts or job.state != "running" else "")

    async def cancel(self, id: str) -> Job:
        def cancel(connection: Connection, now: float) -> Job:
            _find_job(connection, id, self._owner_condition())
            _cancel(connection, and_(_job_and_parts(id), self._owner_condition()), now)
            return _find_job(connection, id, self._owner_condition())

        return await self._transactions.write_at(cancel, run_id=JOBS_NEWS)

    async def retry(self, id: str, at_once: int | None = None) -> Job:
        def retry(connection: Connection) -> Job:
            job = _find_job(connection, id, self._owner_condition())
            if job.state not in ("failed", "cancelled"):
                raise UsageError(f"job {id} is {job.state}: only a failed or cancelled job can be retried")
            self._check_room(connection, at_once)
            retryable = and_(_job_and_parts(id), jobs.c.state.in_(("failed", "cancelled")))
            fresh: dict[str, Any] = {"state": "waiting", "tries": 0, "due": 0.0, "error": "", "stopping": 0}
            _update_where(
                connection, and_(retryable, self._owner_condition()), self._transactions.time(connection), **fresh
            )
            return _find_job(connection, id, self._owner_condition())

        return await self._transactions.write(retry, run_id=JOBS_NEWS)

    async def forget(self, before: str, *, failed: bool = False) -> int:
        removable = true() if failed else or_(jobs.c.state != "failed", jobs.c.every > 0)
        ended = and_(jobs.c.parent == "", jobs.c.state.in_(sorted(JOB_ENDED)), removable)
        old = and_(ended, jobs.c.updated_at < before, self._owner_condition())
        old_ids = select(jobs.c.id).where(old)

        def forget(connection: Connection) -> int:
            parts = connection.execute(delete(jobs).where(jobs.c.parent.in_(old_ids))).rowcount
            return int(parts + connection.execute(delete(jobs).where(old)).rowcount)

        return await self._transactions.write(forget)

    def _owner_condition(self) -> ColumnElement[bool]:
        return true() if self._owner is None else jobs.c.owner == self._owner


def _seconds_until(connection: Connection, now: float, first: Select[Any]) -> float | None:
    """The seconds until the time that a statement finds; None if it finds none."""
    due = connection.execute(first).scalar()
    return None if due is None else max(float(due) - now, 0.0)


def _done_parts(connection: Connection, job: Job) -> int:
    """How many parts are done: if more than its last holder knew, the job makes progress although its holders die."""
    statement = select(func.count()).select_from(jobs).where(jobs.c.parent == job.id, jobs.c.state == "done")
    return int(connection.execute(statement).scalar_one())


def _may_claim(connection: Connection, now: float, claim: JobClaim) -> bool:
    """True if there is a job to take, apart from limits, and as long as no other process takes it first."""
    skipped: list[str] = []
    while True:
        statement = select(jobs.c.release).where(_claimable(now, claim), jobs.c.release.not_in(skipped)).limit(1)
        release = connection.execute(statement).scalar()
        if release is None:
            return False
        if claim.unfit is None or not claim.unfit(release):
            return not claim.per_user or _next_job(connection, now, claim) is not None
        skipped.append(release)


def _claimable(now: float, claim: JobClaim) -> ColumnElement[bool]:
    """The condition for jobs that a worker may take, apart from limits and releases.

    A periodic one that is due so far ahead was queued before the clock was set back.
    """
    is_due = or_(jobs.c.due <= now, and_(jobs.c.every > 0, jobs.c.due > now + 2 * jobs.c.every))
    free = or_(and_(jobs.c.state == "waiting", is_due), and_(jobs.c.state == "running", not_(_is_lease_valid(now))))
    in_parent = true() if claim.parent is None else jobs.c.parent == claim.parent
    return and_(free, in_parent, jobs.c.kind.in_(sorted(claim.kinds)), jobs.c.id.not_in(sorted(claim.but)))


def _next_job(connection: Connection, now: float, claim: JobClaim) -> int | None:
    """The number of the next job."""
    going: Counter[str] = Counter(dict(connection.execute(_active_per_owner(now)).all()))
    rank = func.row_number().over(partition_by=jobs.c.owner, order_by=(jobs.c.priority.desc(), jobs.c.number))
    inner = (
        select(jobs.c.number, jobs.c.owner, jobs.c.priority, rank.label("place"))
        .where(_claimable(now, claim), _claim_condition(connection, claim))
        .subquery()
    )
    first = connection.execute(select(inner.c.number, inner.c.owner, inner.c.priority).where(inner.c.place == 1)).all()
    fit = [row for row in first if not claim.per_user or going[row.owner] < claim.per_user]
    best = min(fit, key=lambda row: (-row.priority, going[row.owner], row.number), default=None)
    return None if best is None else int(best.number)


def _active_per_owner(now: float) -> Select[str, int]:
    """The number of jobs of each owner in execution. A job that waits for its parts is not."""
    part = jobs.alias("part")
    unfinished_parts = exists().where(part.c.parent == jobs.c.id, part.c.state.in_(("waiting", "running")))
    busy = and_(jobs.c.state == "running", _is_lease_valid(now), not_(unfinished_parts))
    return select(jobs.c.owner, func.count()).where(busy).group_by(jobs.c.owner)


def _active_jobs(connection: Connection, mine: ColumnElement[bool], now: float) -> int:
    """The number of jobs that wait or are in execution, without periodic ones that are not due, and without parts."""
    later = and_(jobs.c.state == "waiting", jobs.c.every > 0, jobs.c.due > now)
    going = and_(jobs.c.parent == "", jobs.c.state.in_(("waiting", "running")), not_(later), mine)
    return int(connection.execute(select(func.count()).select_from(jobs).where(going)).scalar_one())


def _claim_condition(connection: Connection, claim: JobClaim) -> ColumnElement[bool]:
    """The condition for jobs that this claim may take."""
    return and_(jobs.c.kind.in_(sorted(claim.kinds)), jobs.c.release.not_in(_unfit_releases(connection, claim)))


def _unfit_releases(connection: Connection, claim: JobClaim) -> list[str]:
    """The releases whose jobs are left to others."""
    if claim.unfit is None:
        return []
    statement = select(jobs.c.release).where(jobs.c.state.in_(("waiting", "running"))).distinct()
    return [release for release in connection.execute(statement).scalars() if claim.unfit(release)]


def _is_lease_valid(now: float) -> ColumnElement[bool]:
    """The condition for a valid lease; see `store.leases.is_held`."""
    return and_(jobs.c.lease_until > now, jobs.c.lease_until <= now + MAX_LEASE_SECONDS)


def _is_held_by_claimer(job: Job) -> ColumnElement[bool]:
    """The condition that the job still belongs to whoever claimed it."""
    return and_(jobs.c.id == job.id, jobs.c.state == "running", jobs.c.fence == job.fence)


def _job_and_parts(id: str) -> ColumnElement[bool]:
    return or_(jobs.c.id == id, jobs.c.parent == id)


def _cancel(connection: Connection, which: ColumnElement[bool], now: float) -> None:
    """End waiting, failed and abandoned jobs, and stop those in execution."""
    abandoned = and_(jobs.c.state == "running", not_(_is_lease_valid(now)))
    idle = and_(which, or_(jobs.c.state.in_(("waiting", "failed")), abandoned))
    _update_where(connection, idle, now, state="cancelled", stopping=0, **_FREE)
    _update_where(connection, and_(which, jobs.c.state == "running"), now, stopping=1)


def _end_parts(connection: Connection, job: Job, now: float) -> None:
    """End the unfinished parts of a job that has ended; failed parts keep their state."""
    _cancel(connection, and_(jobs.c.parent == job.id, jobs.c.state.in_(("waiting", "running"))), now)


def _update_job(connection: Connection, number: int, now: float, **values: Any) -> None:
    _update_where(connection, jobs.c.number == number, now, **values)


def _update_where(connection: Connection, which: ColumnElement[bool], now: float, **values: Any) -> None:
    connection.execute(update(jobs).where(which).values(seq=jobs.c.seq + 1, updated_at=iso(now), **values))


def _put(connection: Connection, new: Sequence[Job]) -> int:
    rows = [msgspec.structs.asdict(job) | {"lease_until": 0.0, "stopping": int(job.stopping)} for job in new]
    return sum(connection.execute(_PUT, row).first() is not None for row in rows)


def _queue_next_period(connection: Connection, job: Job, now: float) -> None:
    """Queue the next of a periodic job: in its own rhythm, without making up for missed times."""
    if not job.every:
        return
    first, _, number = job.id.partition("-")
    start = min(job.due or now, now)
    next_job = Job(
        id=f"{first}-{int(number or 1) + 1}",
        kind=job.kind,
        name=job.name,
        arguments=job.arguments,
        owner=job.owner,
        release=job.release,
        priority=job.priority,
        every=job.every,
        due=start + (max(0.0, now - start) // job.every + 1) * job.every,
        created_at=iso(now),
        updated_at=iso(now),
    )
    _put(connection, [next_job])


def _list(connection: Connection, criteria: JobFilter, mine: ColumnElement[bool]) -> list[Job]:
    in_parent = true() if criteria.parent is None else jobs.c.parent == criteria.parent
    states = true() if not criteria.states else jobs.c.state.in_(sorted(criteria.states))
    statement = (
        select(*_FIELDS).where(in_parent, states, mine).order_by(jobs.c.number.desc()).limit(max(criteria.limit, 0))
    )
    return [_job(row._asdict()) for row in connection.execute(statement)]


def _find_job(connection: Connection, id: str, mine: ColumnElement[bool]) -> Job:
    row = connection.execute(select(*_FIELDS).where(jobs.c.id == id, mine)).first()
    if row is None:
        raise UnknownName("job", id, hint="(assay jobs list shows what there is)")
    return _job(row._asdict())


def _row(connection: Connection, which: ColumnElement[bool]) -> Job:
    return _job(connection.execute(select(*_FIELDS).where(which)).one()._asdict())


def _job(row: dict[str, Any]) -> Job:
    return Job(**{**row, "warnings": tuple(row["warnings"]), "stopping": bool(row["stopping"])})


def _fence_lost(job: Job) -> FenceLost:
    place = process_of(job.holder)
    return FenceLost(f"job {job.id} was taken over from {place}: this process may not write it any more")
