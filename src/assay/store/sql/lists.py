"""Lists in SQL: runs by their properties, and the threads they form. Their port says what is raised."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, exists, func, not_, or_, select, true, update

from assay.core.errors import UnknownName
from assay.core.events import ModelAttempted
from assay.core.ports.lists import (
    ModelUsage,
    RunFilter,
    RunPage,
    RunRow,
    RunStatus,
    ThreadPage,
    ThreadPlace,
    ThreadRow,
    change_labels,
)
from assay.store import common
from assay.store.common import OwnedView, label_marks, labels_text, read_labels_text
from assay.store.sql import reads, writes
from assay.store.sql.tables import events, runs, threads
from assay.store.sql.transactions import Transactions

_OFFERED = 50

_first, _last = runs.alias("first"), runs.alias("last")


class SqlListing(OwnedView):
    """`Listing` over the process's transactions, limited to what one owner may see; None sees everything."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    async def page(self, run_filter: RunFilter, limit: int, before: int | None = None) -> RunPage:
        return await self.transactions.read_at(page, run_filter, self._owner, limit, before)

    async def runs_after(self, number: int, limit: int) -> list[tuple[int, RunRow]]:
        return await self.transactions.read_at(runs_after, number, self._owner, limit)

    async def label(self, run_id: str, added: Mapping[str, str], removed: Collection[str] = ()) -> dict[str, str]:
        return await self.transactions.write(label, run_id, self._owner, added, removed)

    async def usage(self, since: str = "", until: str = "", *, daily: bool = False) -> list[ModelUsage]:
        return await self.transactions.read(usage, self._owner, since, until, daily)

    async def counts(self) -> dict[RunStatus, int]:
        statement = (
            select(runs.c.status, func.count().label("runs"))
            .where(reads.owner_condition(self._owner))
            .group_by(runs.c.status)
        )
        return {row.status: row.runs for row in await self.transactions.rows(statement)}

    async def threads(self, text: str = "", limit: int = 100, position: ThreadPlace | None = None) -> ThreadPage:
        return await self.transactions.read(thread_page, text, self._owner, limit, position)

    async def thread(self, reference: str) -> ThreadRow:
        return await self.transactions.read(thread, reference, self._owner)

    async def rename(self, thread: str, title: str) -> None:
        await self.transactions.write(rename, thread, self._owner, title)

    async def delete_thread(self, thread: str, evict: Collection[str] = ()) -> tuple[str, ...]:

        return await self.transactions.write_at(delete_thread, thread, self._owner, evict, once=True)


def page(
    connection: Connection, now: float, criteria: RunFilter, owner: str | None, limit: int, before: int | None
) -> RunPage:
    """The newest runs that match."""
    number = runs.c.number
    statement = (
        select(*reads.RUN_COLUMNS, number)
        .where(reads.owner_condition(owner), *_run_conditions(criteria))
        .order_by(number.desc())
    )
    if before is not None:
        statement = statement.where(number < before)
    records = connection.execute(statement.limit(limit + 1)).all()
    rows = [reads.run_row(record, now) for record in records[:limit]]
    return RunPage(rows, records[limit - 1].number if len(records) > limit else None)


def runs_after(
    connection: Connection, now: float, number: int, owner: str | None, limit: int
) -> list[tuple[int, RunRow]]:
    """Runs in the order in which they were created, with their numbers."""
    statement = select(*reads.RUN_COLUMNS, runs.c.number).where(reads.owner_condition(owner), runs.c.number > number)
    records = connection.execute(statement.order_by(runs.c.number).limit(limit))
    return [(record.number, reads.run_row(record, now)) for record in records]


def label(
    connection: Connection, run_id: str, owner: str | None, added: Mapping[str, str], removed: Collection[str]
) -> dict[str, str]:
    """Change the labels of a run, and return its labels."""
    mine = (runs.c.run_id == run_id, reads.owner_condition(owner))
    current = connection.execute(select(runs.c.labels).where(*mine).with_for_update()).scalar()
    if current is None:
        raise common.unknown_run(run_id)
    labels = change_labels(read_labels_text(current), added, removed)
    connection.execute(update(runs).where(*mine).values(labels=labels_text(labels)))
    return labels


def usage(connection: Connection, owner: str | None, since: str, until: str, daily: bool) -> list[ModelUsage]:
    """The usage of each model by runs, by owner and model."""
    statement = (
        select(runs.c.owner, runs.c.run_id, runs.c.created_at, events.c.data)
        .join(runs, runs.c.number == events.c.run)
        .where(
            events.c.type == ModelAttempted.kind,
            reads.owner_condition(owner),
            *_time_conditions(RunFilter(since=since, until=until)),
        )
        .order_by(events.c.run, events.c.seq)
    )
    attempts = connection.execute(statement.execution_options(yield_per=1_000))
    return common.usage_by_model(
        ((owner, run_id, created_at, data) for owner, run_id, created_at, data in attempts), daily=daily
    )


def _time_conditions(criteria: RunFilter) -> list[ColumnElement[bool]]:
    conditions = []
    if criteria.since:
        conditions.append(runs.c.created_at >= criteria.since)
    if criteria.until:
        conditions.append(runs.c.created_at < criteria.until)
    return conditions


def _run_conditions(criteria: RunFilter) -> list[ColumnElement[bool]]:
    conditions = _time_conditions(criteria)
    if criteria.status:
        conditions.append(runs.c.status.in_(criteria.status))
    if text := common.fold_text(criteria.text):
        conditions.append(runs.c.lookup.contains(text, autoescape=True))
    if criteria.thread:
        conditions.append(runs.c.thread == criteria.thread)
    if criteria.label:
        conditions.append(_has_label(criteria.label))
    if criteria.not_label:
        conditions.append(not_(_has_label(criteria.not_label)))
    if criteria.collection:
        conditions.append(runs.c.collections.contains(common.join_lines(criteria.collection), autoescape=True))
    return conditions


def _has_label(label: str) -> ColumnElement[bool]:
    """Exact, unlike LIKE, which would match other characters too."""
    return or_(*(func.replace(runs.c.labels, mark, "") != runs.c.labels for mark in label_marks(label)))


def thread_page(
    connection: Connection, text: str, owner: str | None, limit: int, position: ThreadPlace | None
) -> ThreadPage:
    """The threads with the latest runs, as they were when the first page was requested."""
    newest = position.newest if position else connection.execute(select(func.max(runs.c.number))).scalar() or 0
    statement = _threads(owner, runs.c.number <= newest).order_by(_last.c.number.desc()).limit(limit + 1)
    if position is not None:
        statement = statement.where(_last.c.number < position.before)
    if folded := common.fold_text(text):
        statement = statement.where(_text_condition(folded))
    records = connection.execute(statement).all()
    rows = [_thread(record) for record in records[:limit]]
    return ThreadPage(rows, ThreadPlace(newest, records[limit - 1].number) if len(records) > limit else None)


def _threads(owner: str | None, *conditions: ColumnElement[bool]) -> Select[Any]:
    """Threads, each with its first and its last run among those that meet the conditions."""
    number = runs.c.number
    run_ranges = (
        select(runs.c.owner, runs.c.thread, func.count().label("runs"), func.min(number), func.max(number))
        .where(reads.owner_condition(owner), runs.c.thread != "", *conditions)
        .group_by(runs.c.owner, runs.c.thread)
        .subquery()
        .alias("run_ranges")
    )
    count, first, last = list(run_ranges.c)[2:]
    return (
        select(
            threads.c.name,
            threads.c.title,
            threads.c.owner,
            count,
            _first.c.question,
            _first.c.created_at,
            _last.c.number,
            _last.c.run_id.label("last_run"),
            _last.c.created_at.label("last_at"),
            _last.c.status,
        )
        .join(run_ranges, (run_ranges.c.owner == threads.c.owner) & (run_ranges.c.thread == threads.c.name))
        .join(_first, _first.c.number == first)
        .join(_last, _last.c.number == last)
    )


def _text_condition(folded: str) -> ColumnElement[bool]:
    """The threads with a text in their title or in one of their questions."""
    in_question = exists().where(
        runs.c.owner == threads.c.owner,
        runs.c.thread == threads.c.name,
        runs.c.lookup.contains(folded, autoescape=True),
    )
    return or_(threads.c.lookup.contains(folded, autoescape=True), in_question)


def _thread(row: Row[Any]) -> ThreadRow:
    return ThreadRow(**{name: value for name, value in row._asdict().items() if name != "number"})


def thread(connection: Connection, reference: str, owner: str | None) -> ThreadRow:
    """A thread by its name, its title, or the beginning of its name."""
    name = threads.c.name
    for condition in (
        name == reference,
        threads.c.title == reference,
        func.substr(name, 1, len(reference)) == reference,
    ):
        matches = connection.execute(_threads(owner).where(condition).limit(2)).all() if reference else []
        if len(matches) == 1:
            return _thread(matches[0])
        if matches:
            break
    statement = select(name).where(_owner_condition(owner)).order_by(threads.c.number.desc()).limit(_OFFERED)
    raise UnknownName("thread", reference, connection.execute(statement).scalars().all())


def _owner_condition(owner: str | None) -> ColumnElement[bool]:
    return true() if owner is None else threads.c.owner == owner


def rename(connection: Connection, name: str, owner: str | None, title: str) -> None:
    """Give a thread another title."""
    statement = update(threads).where(threads.c.name == name, _owner_condition(owner))
    if not connection.execute(statement.values(title=title, lookup=common.fold_text(title))).rowcount:
        raise UnknownName("thread", name)


def delete_thread(
    connection: Connection, now: float, name: str, owner: str | None, evict: Collection[str]
) -> tuple[str, ...]:
    """Delete a thread with all its runs."""
    row = connection.execute(select(threads).where(threads.c.name == name, _owner_condition(owner))).first()
    if row is None:
        raise UnknownName("thread", name)
    statement = select(runs.c.run_id).where(runs.c.owner == row.owner, runs.c.thread == name).order_by(runs.c.number)
    run_ids = tuple(connection.execute(statement).scalars())
    for run_id in run_ids:
        writes.lock_free_run(connection, now, run_id, row.owner, evict)
    for run_id in run_ids:
        writes.delete(connection, now, run_id, row.owner, evict)
    connection.execute(threads.delete().where(threads.c.number == row.number))  # if it had no run
    return run_ids
