"""The daily limits of a home: what is left of them limits the next run.

A run counts on the day (UTC) on which it was created: an ended one with what it spent, any other with its limit, which
was reserved from that day. So parallel runs never exceed the day's limits together. The transaction that stores a run
checks this again, one run after the other. What judges of texts and trials of models spend, which are no runs, counts
once they have ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import msgspec

from assay.core.allowance import OwnerLimits, Remainder, remainder_of
from assay.core.brief import Brief
from assay.core.errors import TooMany, UsageError
from assay.core.milestones import pluralize
from assay.core.ports import ACTIVE_STATUSES, FINAL, Allowance, Cache, Journal, RunFilter, RunSpending, World
from assay.core.ports.lists import MAX_PAGE_ENTRIES
from assay.core.usage import Budget, Usage
from assay.core.ways import suggest_command
from assay.run.budget import check_brief, check_budget, lowest_limit
from assay.run.process import new_id
from assay.settings.sections import Limits


class UsedToday(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of a user today (UTC): runs begun, and their usage so far; `going` are queued or executed now."""

    runs: int
    usd: float
    tokens: int
    going: int
    limits: OwnerLimits


def allowances(
    limits: Limits, owner: str | None = None, owner_limits: OwnerLimits | None = None
) -> tuple[Allowance, ...]:
    """The limits of today's runs together: those of all, and those of an owner; empty if there are no limits.

    `owner_limits` are the owner's limits, in place of those in the settings.
    """
    since = _today(datetime.now(UTC))
    candidates = [Allowance(since=since, usd=limits.usd_per_day, tokens=limits.tokens_per_day)]
    if owner is not None:
        his = owner_limits or limits_of_users(limits)
        candidates.append(
            Allowance(
                since=since,
                usd=his.usd_per_day,
                tokens=his.tokens_per_day,
                runs=his.runs_per_day,
                at_once=his.runs_at_once,
                owner=owner,
            )
        )
    nothing = (None, None, None, None)
    return tuple(
        allowance
        for allowance in candidates
        if (allowance.usd, allowance.tokens, allowance.runs, allowance.at_once) != nothing
    )


def limits_of_users(limits: Limits) -> OwnerLimits:
    """The limits of every user in the settings."""
    return OwnerLimits(
        runs_per_day=limits.user_runs_per_day,
        usd_per_day=limits.user_usd_per_day,
        tokens_per_day=limits.user_tokens_per_day,
        runs_at_once=limits.user_runs_at_once,
    )


OUTSIDE = "spending/"
"""The beginning of the keys under which a store's cache has what was spent outside runs: the day, the owner, an id."""


async def add_outside(cache: Cache, daily_limits: Sequence[Allowance]) -> tuple[Allowance, ...]:
    """The limits, with what was spent outside runs on their day."""
    return tuple(
        [
            msgspec.structs.replace(limit, outside=await _spent_outside(cache, limit.since, limit.owner))
            for limit in daily_limits
        ]
    )


async def _spent_outside(cache: Cache, day: str, owner: str | None) -> Usage:
    prefix = f"{OUTSIDE}{day}/" if owner is None else f"{OUTSIDE}{day}/{owner}/"
    entries = await asyncio.to_thread(cache.entries, prefix)
    return sum((msgspec.json.decode(data, type=Usage) for data in entries.values()), Usage())


async def count_outside(cache: Cache, owner: str, usage: Usage) -> None:
    """Count what was spent outside any run; of other days nothing is kept."""
    if not (usage.usd or usage.tokens):
        return
    today = f"{OUTSIDE}{_today(datetime.now(UTC))}/"
    outdated = [key for key in await asyncio.to_thread(cache.entries, OUTSIDE) if not key.startswith(today)]
    await asyncio.to_thread(cache.forget, outdated)
    await asyncio.to_thread(cache.keep, f"{today}{owner}/{new_id()}", msgspec.json.encode(usage))


async def cap_budget(journal: Journal, daily_limits: Sequence[Allowance], brief: Brief, world: World) -> Brief:
    """The brief with its budget cut to what the daily limits leave; `journal` sees the runs of all.

    Raises:
        TooMany: the owner has as many runs as allowed.
        UsageError: less is left than one report costs; the message names the setting.
    """
    for allowance in daily_limits:
        runs = await journal.owned_by(allowance.owner).spending(since=allowance.since)
        await _check_count(journal, allowance, len(runs))
        brief = msgspec.structs.replace(brief, budget=narrower_budget(brief.budget, remainder_of(allowance, runs)))
        with _explain_limit(allowance, runs):
            check_brief(brief, world)
    return brief


async def _check_count(journal: Journal, allowance: Allowance, today: int) -> None:
    """Refuse one run more than allowed.

    Raises:
        TooMany: the limit is reached.
    """
    if allowance.runs is not None and today >= allowance.runs:
        raise TooMany(
            f"{pluralize(today, 'run')} begun today, and {allowance.runs} a day are allowed "
            "(limits.user_runs_per_day); "
            "the next day begins at 00:00 UTC",
            _seconds_until_midnight(datetime.now(UTC)),
        )
    if allowance.at_once is None:
        return
    going = await journal.owned_by(allowance.owner).page(RunFilter(status=ACTIVE_STATUSES), allowance.at_once + 1)
    if len(going.rows) >= allowance.at_once:
        raise TooMany(
            f"{pluralize(len(going.rows), 'run')} are queued or executed, and {allowance.at_once} at once are allowed"
            " (limits.user_runs_at_once): wait for one to end, or cancel one: "
            f"{suggest_command('cancel', 'ID')}"
        )


async def used_today(journal: Journal, cache: Cache, limits: OwnerLimits, owner: str | None) -> UsedToday:
    """The usage of an owner today, and the limits."""
    today = _today(datetime.now(UTC))
    runs = await journal.owned_by(owner).spending(since=today)
    used = sum((run.usage for run in runs), await _spent_outside(cache, today, owner))
    going = await journal.owned_by(owner).page(RunFilter(status=ACTIVE_STATUSES), MAX_PAGE_ENTRIES)
    return UsedToday(runs=len(runs), usd=used.usd, tokens=used.tokens, going=len(going.rows), limits=limits)


def budget_of(limits: Limits, usd: float | None, tokens: int | None) -> Budget:
    """The budget of a run or a judge; None is the settings' limit for a run."""
    return Budget(usd=limits.usd if usd is None else usd, tokens=limits.tokens if tokens is None else tokens)


async def budget_left(journal: Journal, daily_limits: Sequence[Allowance], budget: Budget) -> Budget:
    """The budget of a judge outside any run, cut to what today's runs leave; `journal` sees the runs of all.

    Raises:
        UsageError: as `cap_budget`.
    """
    for allowance in daily_limits:
        runs = await journal.owned_by(allowance.owner).spending(since=allowance.since)
        budget = narrower_budget(budget, remainder_of(allowance, runs))
        with _explain_limit(allowance, runs):
            check_budget(budget)
    return budget


def _today(now: datetime) -> str:
    return now.astimezone(UTC).date().isoformat()


def _seconds_until_midnight(now: datetime) -> float:
    """Seconds until the next day begins."""
    return (datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC) - now).total_seconds()


def narrower_budget(budget: Budget, remainder: Budget | Remainder) -> Budget:
    """The narrower of two limits, by measure; other limits come from `budget`."""
    return msgspec.structs.replace(
        budget, usd=lowest_limit(budget.usd, remainder.usd), tokens=lowest_limit(budget.tokens, remainder.tokens)
    )


@contextmanager
def _explain_limit(allowance: Allowance, runs: Sequence[RunSpending]) -> Iterator[None]:
    """Explain, if a budget is too small, what it was cut to and by which limit."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{_allowance_message(allowance, runs)}: {error}; the next day begins at 00:00 UTC") from error


def _allowance_message(allowance: Allowance, runs: Sequence[RunSpending]) -> str:
    used = sum((run.usage for run in runs), allowance.outside)
    parts, setting = [], "limits." if allowance.owner is None else "limits.user_"
    if allowance.usd is not None:
        parts.append(f"${used.usd:.4f} of ${allowance.usd:g} ({setting}usd_per_day)")
    if allowance.tokens is not None:
        parts.append(f"{used.tokens:,} of {allowance.tokens:,} tokens ({setting}tokens_per_day)")
    going = sum(run.status not in FINAL for run in runs)
    held_text = f", and {going} of them that have not ended keep their limits (limits.usd, --max-usd)" if going else ""
    subject = "today's runs" if allowance.owner is None else "your runs of today"
    return f"{subject} have used {' and '.join(parts)}{held_text}"
