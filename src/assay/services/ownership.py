"""All that one owner made: handed to a user, as when logins begin, or deleted.

A handover killed at any point and called again ends the same: files which were uploaded are first put beside where
they lie, then one transaction hands over what the store has, then schedules follow, and the old files go.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import msgspec

from assay.core import pages
from assay.core.errors import LeaseHeld, StoreError, UnknownName, UsageError
from assay.core.ports import FINAL, RunFilter, RunRow
from assay.core.ports.jobs import JobFilter
from assay.core.ports.store import Adoption, Belongings
from assay.services import retention, run_control
from assay.services.additions import place_of
from assay.services.context import Context
from assay.services.schedules.book import ScheduleBook


class Handover(msgspec.Struct, frozen=True, kw_only=True):
    """What is handed, or would be, from one owner (empty: the local user) to another."""

    source: str
    target: str
    belongings: Belongings
    schedules: int = 0


async def planned(context: Context, source: str, target: str) -> Handover:
    """What `adopt` would hand over."""
    store = _store(context, source, target)
    found = await asyncio.to_thread(store.belongings, source, target)
    schedules = 0 if context.home is None else len(ScheduleBook(context.home, source).all())
    return Handover(source=source, target=target, belongings=found, schedules=schedules)


async def adopt(context: Context, source: str, target: str) -> Handover:
    """Hand over all that is an owner's; see `Home.adopt`."""
    store = _store(context, source, target)
    before = await planned(context, source, target)
    return await asyncio.to_thread(_adopt, context, store, before)


def _store(context: Context, source: str, target: str) -> Adoption:
    if context.whole.adoption is None:
        raise UsageError("there are no users in memory: open Assay with a home or a database")
    if source == target:
        raise UsageError("this user already owns it: name another user with --from")
    return context.whole.adoption


def _adopt(context: Context, store: Adoption, before: Handover) -> Handover:
    source, target = before.source, before.target
    moved = {} if before.belongings.clashes else _copied(context, store.names(source), source, target)
    found = store.adopt(source, target, moved)
    if context.home is None:
        return msgspec.structs.replace(before, belongings=found)
    schedules = ScheduleBook(context.home, source).hand_to(target)
    left = set(store.names(source))
    for name in store.names(target):  # those of an earlier call too, which was killed here
        if name not in left:
            shutil.rmtree(place_of(context.owned_by(source), name), ignore_errors=True)
    return msgspec.structs.replace(before, belongings=found, schedules=schedules)


def _copied(context: Context, names: list[str], source: str, target: str) -> dict[str, str]:
    """The folders of uploads, and those where their files lie too from now on; links where the disk knows them.

    Raises:
        StoreError: they cannot be put there.
    """
    moved: dict[str, str] = {}
    if context.home is None:
        return moved
    for name in names:
        old, new = (place_of(context.owned_by(each), name) for each in (source, target))
        if old.is_dir():
            try:
                _copy(old, new)
            except OSError as error:
                raise StoreError(
                    f"{new} cannot be written ({error.strerror}): check the space and the permissions of the home"
                ) from error
            moved[str(old.absolute())] = str(new.absolute())
    return moved


def _copy(old: Path, new: Path) -> None:
    new.mkdir(0o700, parents=True, exist_ok=True)
    for file in old.iterdir():
        there = new / file.name
        if file.is_file() and not file.name.startswith("."):
            draft = new / f".{file.name}.adopting"[:250]
            draft.unlink(missing_ok=True)
            try:
                os.link(file, draft)
            except OSError:
                shutil.copy2(file, draft)
            draft.replace(there)


# All that is one user's, deleted.

CANCEL_SECONDS = 10.0
"""How long a run may take to let go before it is deleted."""
TRIES = 20
PAUSE = 0.25
_ALL = 1_000_000
LATER = "9999"
"""After every time."""


class DataErased(msgspec.Struct, frozen=True, kw_only=True):
    """How much was deleted. `swept` says whether the texts and bytes of documents nobody else refers to are gone too:
    else the next clean-up removes them (`assay runs prune`), and until then nobody can come to them.
    """

    runs: int
    schedules: int
    collections: int
    swept: bool


async def erase(context: Context) -> DataErased:
    """Delete all that is the owner's; see `Assay.erase`."""
    if not context.owner:
        raise UsageError("name the user whose data to delete: the local user's data is deleted with the home")
    await _jobs(context)  # first: one which goes on makes runs and documents anew
    schedules = await _schedules(context)
    runs = await _runs(context)
    collections = await _collections(context)
    await asyncio.to_thread(context.store.additions.forget, LATER)
    swept = await retention.tidy(context)
    return DataErased(runs=runs, schedules=schedules, collections=collections, swept=swept is not None)


async def _schedules(context: Context) -> int:
    if context.home is None:
        return 0
    book = ScheduleBook(context.home, context.owner)
    found = await asyncio.to_thread(book.all)
    for each in found:
        await asyncio.to_thread(book.remove, each.id)
    return len(found)


async def _jobs(context: Context) -> None:
    """End all jobs, and forget them when nobody does them any more.

    Raises:
        UsageError: a worker does not let go of one.
    """
    jobs = context.store.jobs
    if jobs is None:
        return
    going = JobFilter(states=frozenset(("waiting", "running")), parent=None, limit=_ALL)
    for _ in range(int(CANCEL_SECONDS / PAUSE)):
        left = await jobs.list(going)
        if not left:
            break
        for job in left:
            await jobs.cancel(job.id)
        await asyncio.sleep(PAUSE)
    else:
        raise UsageError(f"job {left[0].id} is still done by {left[0].holder}: stop that worker, then try again")
    await jobs.forget(LATER, failed=True)


async def _runs(context: Context) -> int:
    """Delete all runs, the newest first; one which goes on is cancelled before."""
    count = 0
    while rows := (await context.store.journal.page(RunFilter(), pages.MOST, None)).rows:
        for row in rows:
            await _deleted(context, row)
        count += len(rows)
    return count


async def _deleted(context: Context, row: RunRow) -> None:
    """Delete a run.

    Raises:
        LeaseHeld: its process does not let go of it.
    """
    for last in (*[False] * TRIES, True):
        try:
            if row.status not in FINAL:
                await run_control.ask_for(context, row.run_id, "cancel", CANCEL_SECONDS)
            await run_control.delete(context, row.run_id)
        except UnknownName:  # somebody else deleted it
            return
        except LeaseHeld:
            if last:
                raise
            await asyncio.sleep(PAUSE)
        else:
            return


async def _collections(context: Context) -> int:
    """Forget all collections with the files which were uploaded into them; those of others stay."""
    rows = await asyncio.to_thread(context.store.library.collections)
    own = [row.name for row in rows if row.owner == context.owner]
    for name in own:
        await asyncio.to_thread(context.store.library.drop, name)
        if context.home is not None:
            await asyncio.to_thread(shutil.rmtree, place_of(context, name), ignore_errors=True)
    return len(own)
