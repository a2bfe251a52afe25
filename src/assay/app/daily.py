"""What all runs of a home may spend on a day: what is left of it is the next run's own limit.

A run counts on the day (UTC) on which it was created: one which has ended with all it spent, any other with its limit,
which was taken from that day. So runs side by side never pass the day's limits together. That a run takes no more than
is left is looked at again in the transaction which stores it, one run after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from assay.core import allowance as allowances
from assay.core.brief import Brief
from assay.core.errors import UsageError
from assay.core.ports import FINAL, Allowance, Journal, Spent, World
from assay.core.usage import Budget, Usage
from assay.run.affording import check, check_brief
from assay.settings.sections import Limits

N = TypeVar("N", int, float)


def allowance(limits: Limits) -> Allowance | None:
    """What today's runs may take together; None where the settings say nothing of it."""
    if limits.usd_per_day is None and limits.tokens_per_day is None:
        return None
    return Allowance(since=_today(datetime.now(UTC)), usd=limits.usd_per_day, tokens=limits.tokens_per_day)


async def allowed(journal: Journal, within: Allowance, brief: Brief, world: World) -> Brief:
    """The brief, its budget cut to what the day's limits leave.

    Raises:
        UsageError: they leave less than one report costs; the message names the setting.
    """
    runs = await journal.spending(since=within.since)
    brief = msgspec.structs.replace(brief, budget=_cut(brief.budget, within, runs))
    with _telling(within, runs):
        check_brief(brief, world)
    return brief


async def left(journal: Journal, limits: Limits, budget: Budget) -> Budget:
    """The budget of a judge, who keeps no run, cut to what today's runs leave.

    Raises:
        UsageError: as `allowed`.
    """
    within = allowance(limits)
    if within is None:
        return budget
    runs = await journal.spending(since=within.since)
    cut = _cut(budget, within, runs)
    with _telling(within, runs):
        check(cut)
    return cut


async def spent(journal: Journal, now: datetime) -> Usage:
    """What the runs created on the day of `now` (UTC) have spent, or hold for calls in flight."""
    runs = await journal.spending(since=_today(now))
    return sum((run.usage for run in runs), Usage())


def _today(now: datetime) -> str:
    return now.astimezone(UTC).date().isoformat()


def _cut(budget: Budget, within: Allowance, runs: Sequence[Spent]) -> Budget:
    rest = allowances.left(within, runs)
    return msgspec.structs.replace(budget, usd=_least(budget.usd, rest.usd), tokens=_least(budget.tokens, rest.tokens))


def _least(own: N | None, day: N | None) -> N | None:
    return min((each for each in (own, day) if each is not None), default=None)


@contextmanager
def _telling(within: Allowance, runs: Sequence[Spent]) -> Iterator[None]:
    """Say of a budget which is too small what it was cut to, and by what."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{_told(within, runs)}: {error}; the next day begins at 00:00 UTC") from error


def _told(within: Allowance, runs: Sequence[Spent]) -> str:
    used = sum((run.usage for run in runs), Usage())
    parts = []
    if within.usd is not None:
        parts.append(f"${used.usd:.4f} of ${within.usd:g} (limits.usd_per_day)")
    if within.tokens is not None:
        parts.append(f"{used.tokens:,} of {within.tokens:,} tokens (limits.tokens_per_day)")
    going = sum(run.status not in FINAL for run in runs)
    kept = f", and {going} of them which have not ended keep their limits (limits.usd, --max-usd)" if going else ""
    return f"today's runs have used {' and '.join(parts)}{kept}"
