"""Transfers everything of one owner to another in one transaction.

Rows of documents keep their numbers, so that no index must be rebuilt. If both have a document, the new owner's stays:
the other row is removed, and the collections that had it get the new owner's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import msgspec
from sqlalchemy import Connection, and_, bindparam, delete, exists, func, insert, literal, or_, select, update

from assay.core.errors import LeaseHeld, UsageError
from assay.core.ports.collections import ADDITION_ENDED
from assay.core.ports.store import OwnedCounts
from assay.core.sources import UNSORTED
from assay.store.leases import is_held
from assay.store.sql.database import Database, retry_while_away
from assay.store.sql.tables import (
    additions,
    collections,
    documents,
    files,
    jobs,
    members,
    origins,
    queue,
    readers,
    runs,
    shares,
    snapshots,
    threads,
    webhooks,
)

NAMED = 5
"""Of many conflicts, so many are named in an error."""
_OF_CODE = or_(collections.c.name == UNSORTED, collections.c.name.like("set-%"))
"""Collections without a user's name: two with the same name are merged."""


class SqlAdoption:
    """`Adoption` over a database; thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retry_while_away
    def belongings(self, source: str, target: str) -> OwnedCounts:
        with self._database.read() as connection:
            return _belongings(connection, source, target)

    @retry_while_away
    def collection_names(self, owner: str) -> list[str]:
        with self._database.read() as connection:
            return list(connection.execute(select(collections.c.name).where(collections.c.owner == owner)).scalars())

    @retry_while_away
    def adopt(self, source: str, target: str, moved_folders: Mapping[str, str]) -> OwnedCounts:
        with self._database.write() as connection:
            self._database.backend.serialize(connection)
            _check_idle(connection, source, self._database.backend.now(connection))
            counts = _belongings(connection, source, target)
            if counts.clashes:
                raise UsageError(
                    f"both have {', '.join(counts.clashes[:NAMED])}: nothing was handed over; remove one of the two of "
                    "each name first"
                )
            _transfer_documents(connection, source, target)
            _transfer_collections(connection, source, target)
            for table in (threads, shares, webhooks, additions):
                connection.execute(update(table).where(table.c.owner == source).values(owner=target))
            # others name files of this machine, which a user of a server may not read or write
            mine = (jobs.c.owner == source, jobs.c.kind == "sync")
            connection.execute(update(jobs).where(*mine).values(owner=target))
            _transfer_runs(connection, source, target)
            for old, new in moved_folders.items():
                _move_uploads(connection, target, old, new)
            return counts


def _belongings(connection: Connection, source: str, target: str) -> OwnedCounts:
    def count(table: Any, *extra: Any) -> int:
        return int(connection.execute(select(func.count()).where(table.c.owner == source, *extra)).scalar_one())

    clashes = []
    for table, word, conditions in ((collections, "a collection", [~_OF_CODE]), (threads, "a conversation", [])):
        other = table.alias()
        duplicates = select(table.c.name).where(
            table.c.owner == source,
            exists().where(other.c.owner == target, other.c.name == table.c.name),
            *conditions,
        )
        names = connection.execute(duplicates.order_by(table.c.name)).scalars()
        clashes += [f"{word} {name!r}" for name in names]
    return OwnedCounts(
        runs=count(runs),
        threads=count(threads),
        collections=count(collections, ~_OF_CODE),
        documents=count(documents),
        links=count(shares),
        webhooks=count(webhooks),
        clashes=tuple(clashes),
    )


def _check_idle(connection: Connection, source: str, now: float) -> None:
    """Make sure that nobody works on what is transferred, since they identify it by its owner."""
    leases = select(runs.c.run_id, runs.c.holder, runs.c.lease_until).where(runs.c.owner == source, runs.c.holder != "")
    for row in connection.execute(leases):
        if is_held(row.lease_until, now):
            raise LeaseHeld(row.run_id, row.holder)
    unfinished = select(func.count()).where(
        additions.c.owner == source, additions.c.state.not_in(sorted(ADDITION_ENDED))
    )
    if connection.execute(unfinished).scalar_one():
        raise UsageError(
            "documents are still being read: start `assay serve`, wait until they are read, and stop it again"
        )
    doing = select(jobs.c.id, jobs.c.lease_until).where(jobs.c.owner == source, jobs.c.state == "running")
    for job in connection.execute(doing):
        if is_held(job.lease_until, now):
            raise UsageError(
                f"a worker is doing job {job.id}: wait until it has ended, or cancel it (assay jobs cancel)"
            )


def _transfer_documents(connection: Connection, source: str, target: str) -> None:
    """Transfer documents with their snapshots, and the stamps of files."""
    columns = [column for column in snapshots.c if column.name != "owner"]
    has = snapshots.alias()
    new = select(*columns, literal(target)).where(
        snapshots.c.owner == source, ~exists().where(has.c.owner == target, has.c.sha256 == snapshots.c.sha256)
    )
    connection.execute(insert(snapshots).from_select([*(column.name for column in columns), "owner"], new))
    his = documents.alias()
    twins = connection.execute(
        select(documents.c.row, his.c.row.label("his"))
        .join(his, and_(his.c.sha256 == documents.c.sha256, his.c.owner == target))
        .where(documents.c.owner == source)
    ).all()
    for row, his_row in twins:
        _merge(connection, members.c.document, row, his_row)
        connection.execute(delete(documents).where(documents.c.row == row))
    connection.execute(update(documents).where(documents.c.owner == source).values(owner=target))
    connection.execute(delete(snapshots).where(snapshots.c.owner == source))
    target_files = files.alias()
    twice = exists().where(target_files.c.owner == target, target_files.c.path == files.c.path)
    connection.execute(delete(files).where(files.c.owner == source, twice))
    connection.execute(update(files).where(files.c.owner == source).values(owner=target))


def _merge(connection: Connection, column: Any, old: int, new: int) -> None:
    """Move references to `old` in a column to `new`; of two rows that become equal, one stays."""
    table = column.table
    (other_column,) = (key_column for key_column in table.primary_key.columns if key_column.name != column.name)
    existing = table.alias()
    alike = exists().where(existing.c[column.name] == new, existing.c[other_column.name] == other_column)
    connection.execute(delete(table).where(column == old, alike))
    connection.execute(update(table).where(column == old).values({column.name: new}))


def _transfer_collections(connection: Connection, source: str, target: str) -> None:
    his = collections.alias()
    twins = connection.execute(
        select(collections.c.number, his.c.number.label("his"))
        .join(his, and_(his.c.name == collections.c.name, his.c.owner == target))
        .where(collections.c.owner == source)
    ).all()
    for number, his_number in twins:
        _merge(connection, members.c.collection, number, his_number)
        _merge(connection, origins.c.collection, number, his_number)
        connection.execute(delete(readers).where(readers.c.collection == number))
        connection.execute(delete(collections).where(collections.c.number == number))
    connection.execute(update(collections).where(collections.c.owner == source).values(owner=target))
    target_collections = select(collections.c.number).where(collections.c.owner == target)
    connection.execute(delete(readers).where(readers.c.reader == target, readers.c.collection.in_(target_collections)))


def _transfer_runs(connection: Connection, source: str, target: str) -> None:
    """Transfer runs with their briefs, which say whose documents a run may read."""
    rows = connection.execute(select(runs.c.number, runs.c.brief).where(runs.c.owner == source)).all()
    statement = update(runs).where(runs.c.number == bindparam("of")).values(owner=target, brief=bindparam("rewritten"))
    for number, brief in rows:
        connection.execute(statement, {"of": number, "rewritten": _with_owner(brief, target)})
    his = select(runs.c.number).where(runs.c.owner == target)
    connection.execute(update(queue).where(queue.c.run.in_(his)).values(owner=target))


def _with_owner(brief: bytes, owner: str) -> bytes:
    """A brief as that of a run of this owner; another form by an old release stays unchanged."""
    try:
        fields = msgspec.json.decode(brief, type=dict[str, msgspec.Raw])
    except msgspec.MsgspecError:
        return brief
    name = msgspec.Raw(msgspec.json.encode(owner))
    return msgspec.json.encode({**fields, "owner": name, "user": name})


def _move_uploads(connection: Connection, owner: str, old: str, new: str) -> None:
    """Update the paths and addresses of uploaded files, which are in another folder now."""
    own_collections = select(collections.c.number).where(collections.c.owner == owner)
    for row in connection.execute(select(origins).where(origins.c.collection.in_(own_collections))).all():
        if (new_path := _moved_path(row.place, old, new)) != row.place:
            connection.execute(
                update(origins)
                .where(origins.c.collection == row.collection, origins.c.place == row.place)
                .values(place=new_path, left_out=[_moved_address(address, old, new) for address in row.left_out])
            )
    for path in connection.execute(select(files.c.path).where(files.c.owner == owner)).scalars().all():
        if (new_path := _moved_path(path, old, new)) != path:
            connection.execute(update(files).where(files.c.owner == owner, files.c.path == path).values(path=new_path))
    old_prefix, new_prefix = (f"upload://{PurePath(folder).stem}/" for folder in (old, new))
    for table, columns in ((documents, (documents.c.url, documents.c.lookup)), (snapshots, (snapshots.c.url,))):
        replacements = {column.name: func.replace(column, old_prefix, new_prefix) for column in columns}
        connection.execute(
            update(table).where(table.c.owner == owner, columns[0].like(literal(f"{old_prefix}%"))).values(replacements)
        )


def _moved_path(path: bytes, old: str, new: str) -> bytes:
    before = os.fsencode(old) + os.sep.encode()
    return os.fsencode(new) + os.sep.encode() + path[len(before) :] if path.startswith(before) else path


def _moved_address(url: str, old: str, new: str) -> str:
    before = f"upload://{PurePath(old).stem}/"
    return f"upload://{PurePath(new).stem}/{url[len(before) :]}" if url.startswith(before) else url
