"""Keeping a home small: which runs have been kept long enough, and what nobody refers to any more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from assay.app.layout import is_made, pages_folder
from assay.app.schedules.book import Book
from assay.core.errors import LeaseHeld, UnknownName, UsageError
from assay.core.ports import FINAL, RunRow
from assay.core.view import RunView
from assay.run.engine import Engine
from assay.search.local import LocalSearch
from assay.settings import Settings
from assay.store.common import Store
from assay.store.presence import Presence
from assay.store.sql.sizes import sizes
from assay.store.sql.sweep import Swept as Swept
from assay.store.sql.sweep import sweep

_ALL = 1_000_000


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Which ended runs are kept: so long, so many, so much (bytes), the newest first; None is no limit."""

    age: timedelta | None = None
    runs: int | None = None
    size: int | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return self.age is not None or self.runs is not None or self.size is not None


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """The runs that were deleted, or would be, oldest first; `swept` is None where nothing could be cleaned up now."""

    runs: tuple[RunRow, ...] = ()
    swept: Swept | None = None


class Housekeeping:
    """The part of `Assay` which forgets."""

    settings: Settings
    _store: Store
    _engine: Engine
    _search: LocalSearch
    _presence: Presence
    _home: Path | None

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`."""
        raise NotImplementedError

    async def view(self, reference: str) -> RunView:
        """A run as its events tell it."""
        raise NotImplementedError

    async def delete(self, reference: str) -> None:
        """Forget a run."""
        raise NotImplementedError

    async def tidy(self) -> Swept | None:
        """Remove documents which are in no collection of the user's and which no run mentions, and their bytes.

        None where it is not done now: another process works with the home, or this one has runs going on; and where
        it never is: without a home, or where the settings name a database or a folder of blobs which others may share.

        Raises:
            StoreError: the home cannot be read or written.
        """
        home = self._home
        shared = self.settings.database is not None or self.settings.blobs is not None
        if home is None or shared or self._engine.busy or not is_made(home):
            return None
        with self._presence.alone() as alone:
            if not alone:
                return None
            swept = await asyncio.to_thread(sweep, home, pages_folder(home))
            await asyncio.to_thread(self._search.forget, swept.rows)
        return swept

    async def prune(self, rules: Rules | None = None, *, dry_run: bool = False) -> Pruned:
        """Delete the ended runs which `rules` do not keep (None: those of the settings), and clean up.

        Runs that others go on from, and those which the next run of a schedule is compared with, are kept.

        Raises:
            UsageError: a size is named, and the home has no database of its own.
            StoreError: the home cannot be read or written.
        """
        chosen = rules_of(self.settings) if rules is None else rules
        doomed = await self._doomed(chosen) if chosen.any else []
        if dry_run:
            return Pruned(runs=tuple(doomed))
        deleted = [row for row in doomed if await self._deleted(row)]
        return Pruned(runs=tuple(deleted), swept=await self.tidy())

    async def _deleted(self, row: RunRow) -> bool:
        try:
            await self.delete(row.run_id)
        except (LeaseHeld, UnknownName):  # somebody took it up again, or deleted it
            return False
        return True

    async def _doomed(self, rules: Rules) -> list[RunRow]:
        rows = await self._store.journal.runs(_ALL)
        needed = await self._needed(rows)
        ended = [row for row in rows if row.status in FINAL and not row.holder]
        taken = await self._sizes() if rules.size is not None else {}
        return [row for row in reversed(beyond(ended, rules, taken, datetime.now(UTC))) if row.run_id not in needed]

    async def _needed(self, rows: Iterable[RunRow]) -> set[str]:
        """Runs which an unfinished one goes on from, or which a schedule is compared with."""
        needed: set[str] = set()
        if self._home is not None:
            schedules = await asyncio.to_thread(Book(self._home).all)
            needed |= {run for each in schedules for run in (each.last, each.current)}
        for row in rows:
            if row.status not in FINAL:
                brief = (await self.view(row.run_id)).brief
                needed |= {brief.parent, brief.fork.run if brief.fork else ""} if brief else set()
        return needed

    async def _sizes(self) -> dict[str, int]:
        if self._home is None or self.settings.database is not None:
            raise UsageError("how much runs take is known of a home with a database of its own; name days or a number")
        return await asyncio.to_thread(sizes, self._home)

    async def _gone(self) -> None:
        self._presence.close()


def rules_of(settings: Settings) -> Rules:
    """What the settings say."""
    kept = settings.retention
    return Rules(
        age=None if kept.days is None else timedelta(days=kept.days),
        runs=kept.runs,
        size=None if kept.gb is None else int(kept.gb * 1_000_000_000),
    )


def beyond(ended: Sequence[RunRow], rules: Rules, sizes: dict[str, int], now: datetime) -> list[RunRow]:
    """Those of the runs, newest first, which the rules do not keep."""
    oldest = "" if rules.age is None else (now - rules.age).isoformat()
    found, taken = [], 0
    for place, row in enumerate(ended):
        taken += sizes.get(row.run_id, 0)
        too_many = rules.runs is not None and place >= rules.runs
        too_much = rules.size is not None and taken > rules.size
        if too_many or too_much or row.created_at < oldest:
            found.append(row)
    return found
