"""Transfers everything of one owner to a user, as when logins are introduced, or deletes it.

A transfer that is killed at any point and repeated gives the same result: uploaded files are first copied beside the
old ones, then one transaction transfers the contents of the store, then schedules follow, and the old files are
deleted.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import msgspec

from assay.core.errors import LeaseHeld, StoreError, UnknownName, UsageError, process_of
from assay.core.ports import FINAL, RunFilter, RunRow, lists
from assay.core.ports.jobs import JobFilter
from assay.core.ports.store import Adoption, OwnedCounts
from assay.services import retention, run_control
from assay.services.additions import upload_folder
from assay.services.context import Context
from assay.services.schedules import ScheduleBook


class Handover(msgspec.Struct, frozen=True, kw_only=True):
    """The things transferred, or to be transferred, from one owner (empty: the local user) to another."""

    source: str
    target: str
    belongings: OwnedCounts
    schedules: int = 0


async def plan_handover(context: Context, source: str, target: str) -> Handover:
    """The things that `adopt` would transfer."""
    store = _store(context, source, target)
    belongings = await asyncio.to_thread(store.belongings, source, target)
    schedules = 0 if context.home is None else len(ScheduleBook(context.home, source).all())
    return Handover(source=source, target=target, belongings=belongings, schedules=schedules)


async def adopt(context: Context, source: str, target: str) -> Handover:
    """Transfer everything of an owner; see `Home.adopt`."""
    store = _store(context, source, target)
    before = await plan_handover(context, source, target)
    return await asyncio.to_thread(_adopt, context, store, before)


def _store(context: Context, source: str, target: str) -> Adoption:
    if context.full_store.adoption is None:
        raise UsageError("there are no users in memory: open Assay with a home or a database")
    if source == target:
        raise UsageError("this user already owns it: name another user with --from")
    context.owned_by(target)  # who must have a name that an owner can have
    return context.full_store.adoption


def _adopt(context: Context, store: Adoption, before: Handover) -> Handover:
    source, target = before.source, before.target
    new_folders = (
        {} if before.belongings.clashes else _copy_folders(context, store.collection_names(source), source, target)
    )
    belongings = store.adopt(source, target, new_folders)
    if context.home is None:
        return msgspec.structs.replace(before, belongings=belongings)
    schedules = ScheduleBook(context.home, source).transfer_to(target)
    remaining = set(store.collection_names(source))
    for name in store.collection_names(target):  # including those of an earlier call that was killed here
        if name not in remaining:
            shutil.rmtree(upload_folder(context.owned_by(source), name), ignore_errors=True)
    return msgspec.structs.replace(before, belongings=belongings, schedules=schedules)


def _copy_folders(context: Context, names: list[str], source: str, target: str) -> dict[str, str]:
    """Map the folders of uploads to new ones with copies of their files; hard links where the disk supports them.

    Raises:
        StoreError: they cannot be created there.
    """
    new_folders: dict[str, str] = {}
    if context.home is None:
        return new_folders
    for name in names:
        old, new = (upload_folder(context.owned_by(owner), name) for owner in (source, target))
        if old.is_dir():
            try:
                _copy(old, new)
            except OSError as error:
                raise StoreError(
                    f"{new} cannot be written ({error.strerror}): check the space and the permissions of the home"
                ) from error
            new_folders[str(old.absolute())] = str(new.absolute())
    return new_folders


def _copy(old: Path, new: Path) -> None:
    new.mkdir(0o700, parents=True, exist_ok=True)
    for file in old.iterdir():
        target = new / file.name
        if file.is_file() and not file.name.startswith("."):
            draft = new / f".{file.name}.adopting"[:250]
            draft.unlink(missing_ok=True)
            try:
                os.link(file, draft)
            except OSError:
                shutil.copy2(file, draft)
            draft.replace(target)


# Deleting everything of one user.

CANCEL_SECONDS = 10.0
"""Seconds a run may take to stop before it is deleted."""
TRIES = 20
PAUSE = 0.25
_ALL = 1_000_000
FAR_FUTURE = "9999"
"""Later than any time."""


class DataErased(msgspec.Struct, frozen=True, kw_only=True):
    """How much was deleted.

    `swept` says whether the texts and bytes of documents that nobody else refers to are deleted too. If not, the next
    clean-up deletes them (`assay runs prune`); until then nobody can reach them.
    """

    runs: int
    schedules: int
    collections: int
    swept: bool


async def erase(context: Context) -> DataErased:
    """Delete everything of the owner; see `Assay.erase`."""
    if not context.owner:
        raise UsageError("name the user whose data to delete: the local user's data is deleted with the home")
    await _delete_jobs(context)  # first: an active job creates runs and documents
    schedules = await _delete_schedules(context)
    runs = await _delete_runs(context)
    collections = await _delete_collections(context)
    await asyncio.to_thread(context.store.additions.forget, FAR_FUTURE)
    swept = await retention.tidy(context)
    return DataErased(runs=runs, schedules=schedules, collections=collections, swept=swept is not None)


async def _delete_schedules(context: Context) -> int:
    if context.home is None:
        return 0
    book = ScheduleBook(context.home, context.owner)
    schedules = await asyncio.to_thread(book.all)
    for schedule in schedules:
        await asyncio.to_thread(book.remove, schedule.id)
    return len(schedules)


async def _delete_jobs(context: Context) -> None:
    """End all jobs, and delete them when no worker has them any more.

    Raises:
        UsageError: a worker does not release one.
    """
    jobs = context.store.jobs
    if jobs is None:
        return
    going = JobFilter(states=frozenset(("waiting", "running")), parent=None, limit=_ALL)
    for _ in range(int(CANCEL_SECONDS / PAUSE)):
        remaining = await jobs.list(going)
        if not remaining:
            break
        for job in remaining:
            await jobs.cancel(job.id)
        await asyncio.sleep(PAUSE)
    else:
        raise UsageError(
            f"{process_of(remaining[0].holder)} is still doing job {remaining[0].id}: stop that worker, then try again"
        )
    await jobs.forget(FAR_FUTURE, failed=True)


async def _delete_runs(context: Context) -> int:
    """Delete all runs, newest first; an active one is cancelled first."""
    count = 0
    while rows := (await context.store.journal.page(RunFilter(), lists.MAX_PAGE_ENTRIES, None)).rows:
        for row in rows:
            await _delete(context, row)
        count += len(rows)
    return count


async def _delete(context: Context, row: RunRow) -> None:
    """Delete a run.

    Raises:
        LeaseHeld: its process does not release it.
    """
    for last in (*[False] * TRIES, True):
        try:
            if row.status not in FINAL:
                await run_control.request_action(context, row.run_id, "cancel", CANCEL_SECONDS)
            await run_control.delete(context, row.run_id)
        except UnknownName:  # somebody else deleted it
            return
        except LeaseHeld:
            if last:
                raise
            await asyncio.sleep(PAUSE)
        else:
            return


async def _delete_collections(context: Context) -> int:
    """Delete all collections with their uploaded files; those of others stay."""
    rows = await asyncio.to_thread(context.store.library.collections)
    names = [row.name for row in rows if row.owner == context.owner]
    for name in names:
        await asyncio.to_thread(context.store.library.drop, name)
        if context.home is not None:
            await asyncio.to_thread(shutil.rmtree, upload_folder(context, name), ignore_errors=True)
    return len(names)
