"""All that one owner made, handed to a user: what was made without a login, when logins begin.

Killed at any point and called again, it ends the same: files which were uploaded are first put beside where they lie,
then one transaction hands over what the store has, then schedules follow, and the old files go.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import msgspec

from assay.core.errors import StoreError, UsageError
from assay.core.ports.store import Adoption, Belongings
from assay.services.context import Context
from assay.services.schedules.book import ScheduleBook
from assay.services.uploads import place_of


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
        raise UsageError("what is to be handed over is this user's already: name another with --from")
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
