"""The queue in SQL, and the permits of calls: a row for each, with a lease."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, delete, func, or_, select, update

from assay.core.ports import MAX_LEASE_SECONDS, Lease, QueuePlace
from assay.core.ports.jobs import MAX_RUN_CLAIMS, QUEUE_NEWS, IsUnfit, QueueDepth, QueuedRun, QueueLimits
from assay.store.common import OwnedView
from assay.store.sql import reads, sqlite, writes
from assay.store.sql.tables import permits, queue, runs
from assay.store.sql.transactions import TransactedPort

_NUMBER = select(runs.c.number).where(runs.c.run_id == bindparam("of"))
_HELD = and_(runs.c.holder != "", runs.c.lease_until > bindparam("now"), runs.c.lease_until <= bindparam("longest"))
_GOING = ("created", "running", "waiting")
"""Statuses of runs that workers execute; a paused run is resumed by the one who paused it."""


class SqlQueue(TransactedPort, OwnedView):
    """`Queue` over a database, through the process's writer."""

    async def enqueue(self, run_id: str, user: str = "", priority: int = 0, release: str = "") -> None:
        place = QueuePlace(user=user, priority=priority, release=release)
        await self._transactions.write(
            lambda connection: writes.enqueue(connection, reads.run_number(connection, run_id, self._owner), place),
            run_id=QUEUE_NEWS,
        )

    async def claim(
        self,
        holder: str,
        ttl: float,
        limits: QueueLimits,
        but: Collection[str] = (),
        unfit: IsUnfit | None = None,
    ) -> Lease | None:
        def take(connection: Connection, now: float) -> Lease | None:
            run_id = _next_run(connection, now, limits, but, _unfit_releases(connection, unfit))
            if run_id is None:
                return None
            _update_place(connection, run_id, None, taken=queue.c.taken + 1)
            return writes.acquire(connection, run_id, None, holder, (now, now + ttl))

        return await self._transactions.claim(
            lambda connection, now: _may_claim(connection, now, limits, but, unfit), take
        )

    async def park(self, run_id: str) -> None:
        await self._transactions.write(lambda connection: _update_place(connection, run_id, self._owner, ready=0))

    async def wake(self, run_id: str) -> bool:
        return await self._transactions.write(
            lambda connection: _update_place(connection, run_id, self._owner, ready=1, taken=0), run_id=QUEUE_NEWS
        )

    async def remove(self, run_id: str) -> None:
        mine = select(runs.c.number).where(runs.c.run_id == run_id, reads.owner_condition(self._owner))
        await self._transactions.execute(delete(queue).where(queue.c.run.in_(mine)), run_id=QUEUE_NEWS)

    async def list_runs(self, limit: int = 1_000, *, running: bool = False) -> list[QueuedRun]:
        conditions = (reads.owner_condition(self._owner), _HELD) if running else (reads.owner_condition(self._owner),)
        return await self._transactions.read_at(_list_queued, conditions, limit)

    async def depth(self) -> QueueDepth:
        return await self._transactions.read_at(_count_queue, self._owner)


def _count_queue(connection: Connection, now: float, owner: str | None) -> QueueDepth:
    statement = (
        select(queue.c.ready, _HELD.label("held"), func.count().label("runs"))
        .join(runs, runs.c.number == queue.c.run)
        .where(reads.owner_condition(owner))
        .group_by(queue.c.ready, "held")
    )
    counts = Counter[str]()
    for ready, held, count in connection.execute(statement, {"now": now, "longest": now + MAX_LEASE_SECONDS}):
        counts["executed" if held else "waiting" if ready else "parked"] += count
    return QueueDepth(**counts)


def _update_place(connection: Connection, run_id: str, owner: str | None, **values: object) -> bool:
    statement = update(queue).where(queue.c.run.in_(_NUMBER.where(reads.owner_condition(owner)))).values(**values)
    return bool(connection.execute(statement, {"of": run_id}).rowcount)


def _unfit_releases(connection: Connection, unfit: IsUnfit | None) -> list[str]:
    """The releases in the queue whose runs are left to others."""
    if unfit is None:
        return []
    return [release for release in connection.execute(select(queue.c.release).distinct()).scalars() if unfit(release)]


def _may_claim(
    connection: Connection, now: float, limits: QueueLimits, but: Collection[str], unfit: IsUnfit | None
) -> bool:
    """True if there is a run to take, as long as no other process takes it first."""
    skipped: list[str] = []
    while (release := _any_release(connection, now, but, skipped)) is not None:
        if unfit is None or not unfit(release):
            return (
                limits == QueueLimits()
                or _next_run(connection, now, limits, but, _unfit_releases(connection, unfit)) is not None
            )
        skipped.append(release)
    return False


def _any_release(connection: Connection, now: float, but: Collection[str], unfit: Collection[str]) -> str | None:
    """The release of any run that can be taken; one found is enough, so this is quick however many there are."""
    statement = select(queue.c.release).join(runs, runs.c.number == queue.c.run).where(*_claimable(but, unfit)).limit(1)
    return connection.execute(statement, {"now": now, "longest": now + MAX_LEASE_SECONDS}).scalar()


def _next_run(
    connection: Connection, now: float, limits: QueueLimits, but: Collection[str], unfit: Collection[str]
) -> str | None:
    parameters = {"now": now, "longest": now + MAX_LEASE_SECONDS}
    going = Counter(dict(connection.execute(_running_per_user(), parameters).all()))
    if limits.running and going.total() >= limits.running:
        return None
    first = connection.execute(_first_of_each_user(but, unfit), parameters).all()
    free = [row for row in first if not limits.per_user or going[row.owner] < limits.per_user]
    best = min(free, key=lambda row: (-row.priority, going[row.owner], row.run), default=None)
    return None if best is None else best.run_id


def _running_per_user() -> Select[str, int]:
    """How many of each user's queued runs are being executed."""
    queued_runs = queue.join(runs, runs.c.number == queue.c.run)
    return select(queue.c.owner, func.count()).select_from(queued_runs).where(_HELD).group_by(queue.c.owner)


def _first_of_each_user(but: Collection[str], unfit: Collection[str]) -> Select[int, str, str, int]:
    """Each user's next run."""
    rank = func.row_number().over(partition_by=queue.c.owner, order_by=(queue.c.priority.desc(), queue.c.run))
    inner = (
        select(queue.c.run, runs.c.run_id, queue.c.owner, queue.c.priority, rank.label("place"))
        .join(runs, runs.c.number == queue.c.run)
        .where(*_claimable(but, unfit))
        .subquery()
    )
    return select(inner.c.run, inner.c.run_id, inner.c.owner, inner.c.priority).where(inner.c.place == 1)


def _claimable(but: Collection[str], unfit: Collection[str]) -> tuple[ColumnElement[bool], ...]:
    """The conditions for runs that a worker may take, apart from limits."""
    return (
        queue.c.ready == 1,
        queue.c.taken < MAX_RUN_CLAIMS,
        runs.c.status.in_(_GOING),
        or_(runs.c.holder == "", runs.c.lease_until <= bindparam("now"), runs.c.lease_until > bindparam("longest")),
        runs.c.run_id.not_in(sorted(but)),
        queue.c.release.not_in(unfit),
    )


def _list_queued(
    connection: Connection, now: float, conditions: tuple[ColumnElement[bool], ...], limit: int
) -> list[QueuedRun]:
    statement = (
        select(
            runs.c.run_id,
            queue.c.owner,
            queue.c.priority,
            queue.c.ready,
            queue.c.taken,
            queue.c.release,
            runs.c.holder,
            _HELD.label("held"),
        )
        .join(runs, runs.c.number == queue.c.run)
        .where(*conditions)
        .order_by(queue.c.priority.desc(), queue.c.run)
        .limit(max(limit, 0))
    )
    return [_run(row) for row in connection.execute(statement, {"now": now, "longest": now + MAX_LEASE_SECONDS})]


def _run(row: Row[str, str, int, int, int, str, str, bool]) -> QueuedRun:
    run_id, user, priority, ready, taken, release, holder, held = row
    return QueuedRun(
        run_id=run_id,
        user=user,
        priority=priority,
        ready=bool(ready),
        taken=taken,
        holder=holder if held else "",
        release=release,
    )


# Permits in SQL: a row for each call. They are given one after the other, so that limits hold exactly.

_RUN_OUT = delete(permits).where(or_(permits.c.until <= bindparam("now"), permits.c.until > bindparam("longest")))
_OTHERS = (
    select(func.count())
    .select_from(permits)
    .where(permits.c.service == bindparam("of"), permits.c.id != bindparam("own"))
)
_GIVE = sqlite.insert(permits).on_conflict_do_nothing(index_elements=["id"])
"""The permit may already exist, if the connection broke before the confirmation."""


class SqlPermits(TransactedPort):
    """`Permits` over a database, through the process's writer."""

    async def take(self, service: str, id: str, limit: int, ttl: float) -> bool:
        def take(connection: Connection) -> bool:
            self._transactions.serialize_claims(connection)  # before the time is read: it may have to wait
            now = self._transactions.time(connection)
            connection.execute(_RUN_OUT, {"now": now, "longest": now + MAX_LEASE_SECONDS})
            if int(connection.execute(_OTHERS, {"of": service, "own": id}).scalar_one()) >= limit:
                return False
            connection.execute(_GIVE, {"id": id, "service": service, "until": now + ttl})
            return True

        return await self._transactions.write(take)

    async def renew(self, id: str, ttl: float) -> None:
        statement = update(permits).where(permits.c.id == id)
        await self._transactions.write_at(
            lambda connection, now: connection.execute(statement.values(until=now + ttl)).rowcount
        )

    async def give_back(self, id: str) -> None:
        await self._transactions.execute(delete(permits).where(permits.c.id == id))
