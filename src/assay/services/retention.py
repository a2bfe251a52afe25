"""Keeps a home small: deletes old runs, and what nothing refers to any more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from assay.core.errors import LeaseHeld, UnknownName, UsageError
from assay.core.ports import FINAL, RunRow
from assay.core.ports.store import SweepResult as SweepResult
from assay.run.tasks import enter_in_threads
from assay.services.context import Context
from assay.services.home_paths import pages_folder
from assay.services.run_control import delete
from assay.services.schedules import ScheduleBook
from assay.services.stored_runs import view
from assay.settings import Settings

_ALL = 1_000_000


class RetentionRules(msgspec.Struct, frozen=True, kw_only=True):
    """Which ended runs to keep: how long, how many, how much (bytes), newest first; None is no limit."""

    age: timedelta | None = None
    runs: int | None = None
    size: int | None = None

    @property
    def any(self) -> bool:
        """True if there is a limit at all."""
        return self.age is not None or self.runs is not None or self.size is not None


class PruneResult(msgspec.Struct, frozen=True, kw_only=True):
    """The runs that were deleted, or would be, oldest first; `swept` is None if nothing could be cleaned up now."""

    runs: tuple[RunRow, ...] = ()
    swept: SweepResult | None = None


async def tidy(context: Context) -> SweepResult | None:
    """Remove documents that nothing refers to, and their bytes; see `Assay.tidy`."""
    home, upkeep = context.home, context.store.upkeep
    if home is None or upkeep is None or context.busy:
        return None
    async with enter_in_threads(context.presence.exclusive()) as alone:
        swept = await asyncio.to_thread(upkeep.sweep, pages_folder(home)) if alone else None
        if swept is not None:
            await asyncio.to_thread(context.search.forget, swept.rows)
    return swept


async def prune(context: Context, rules: RetentionRules | None, *, dry_run: bool) -> PruneResult:
    """Delete the ended runs that `rules` do not keep, and clean up; see `Assay.prune`."""
    applied_rules = rules_of(context.settings) if rules is None else rules
    expired = await _runs_to_delete(context, applied_rules) if applied_rules.any else []
    if dry_run:
        return PruneResult(runs=tuple(expired))
    deleted = [row for row in expired if await _delete(context, row)]
    return PruneResult(runs=tuple(deleted), swept=await tidy(context))


async def _delete(context: Context, row: RunRow) -> bool:
    try:
        await delete(context, row.run_id)
    except (LeaseHeld, UnknownName):  # somebody resumed or deleted it
        return False
    return True


async def _runs_to_delete(context: Context, rules: RetentionRules) -> list[RunRow]:
    rows = await context.store.journal.runs(_ALL)
    needed = await _needed_runs(context, rows)
    ended_runs = [row for row in rows if row.status in FINAL and not row.holder]
    sizes = await _sizes(context) if rules.size is not None else {}
    return [
        row
        for row in reversed(runs_beyond_rules(ended_runs, rules, sizes, datetime.now(UTC)))
        if row.run_id not in needed
    ]


async def _needed_runs(context: Context, rows: Iterable[RunRow]) -> set[str]:
    """Runs that an unfinished one continues, or that a schedule compares its next run with."""
    needed: set[str] = set()
    if context.home is not None:
        schedules = await asyncio.to_thread(ScheduleBook(context.home, None).all)
        needed |= {run for schedule in schedules for run in (schedule.last, schedule.current)}
    for row in rows:
        if row.status not in FINAL:
            brief = (await view(context, row.run_id)).brief
            needed |= {brief.parent, brief.fork.run if brief.fork else ""} if brief else set()
    return needed


async def _sizes(context: Context) -> dict[str, int]:
    if context.store.upkeep is None:
        raise UsageError("the size of runs in memory is unknown: prune by days or by number, or open Assay with a home")
    return await asyncio.to_thread(context.store.upkeep.run_sizes)


def rules_of(settings: Settings) -> RetentionRules:
    """The rules in the settings."""
    retention = settings.retention
    return RetentionRules(
        age=None if retention.days is None else timedelta(days=retention.days),
        runs=retention.runs,
        size=None if retention.gb is None else int(retention.gb * 1_000_000_000),
    )


def runs_beyond_rules(
    runs: Sequence[RunRow], rules: RetentionRules, sizes: dict[str, int], now: datetime
) -> list[RunRow]:
    """Those of the runs, newest first, that the rules do not keep."""
    oldest = "" if rules.age is None else (now - rules.age).isoformat()
    excess, total_size = [], 0
    for index, row in enumerate(runs):
        total_size += sizes.get(row.run_id, 0)
        too_many = rules.runs is not None and index >= rules.runs
        too_much = rules.size is not None and total_size > rules.size
        if too_many or too_much or row.created_at < oldest:
            excess.append(row)
    return excess
