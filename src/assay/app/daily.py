"""What all runs of a home may spend on a day: what is left of it is the next run's own limit.

A run counts on the day (UTC) on which it was created, with all it ever spends: its limit was taken from that day. Of
a run which still goes on counts what it has spent, and what is held for its calls in flight.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from assay.core.brief import Brief
from assay.core.errors import UsageError
from assay.core.ports import Journal, World
from assay.core.usage import Budget, Usage
from assay.run.affording import check_brief
from assay.settings.sections import Limits

N = TypeVar("N", int, float)


async def allowed(journal: Journal, limits: Limits, brief: Brief, world: World) -> Brief:
    """The brief, its budget cut to what the day's limits leave.

    Raises:
        UsageError: they leave less than one report costs; the message names the setting.
    """
    if limits.usd_per_day is None and limits.tokens_per_day is None:
        return brief
    used = await spent(journal, datetime.now(UTC))
    brief = msgspec.structs.replace(brief, budget=_cut(brief.budget, limits, used))
    try:
        check_brief(brief, world)
    except UsageError as error:
        raise UsageError(f"{_told(limits, used)}: {error}; the next day begins at 00:00 UTC") from error
    return brief


async def spent(journal: Journal, now: datetime) -> Usage:
    """What the runs created on the day of `now` (UTC) have spent, or hold."""
    runs = await journal.spending(since=now.astimezone(UTC).date().isoformat())
    return sum((run.usage for run in runs), Usage())


def _cut(budget: Budget, limits: Limits, used: Usage) -> Budget:
    usd = None if limits.usd_per_day is None else max(0.0, limits.usd_per_day - used.usd)
    tokens = None if limits.tokens_per_day is None else max(0, limits.tokens_per_day - used.tokens)
    return msgspec.structs.replace(budget, usd=_least(budget.usd, usd), tokens=_least(budget.tokens, tokens))


def _least(own: N | None, day: N | None) -> N | None:
    return min((each for each in (own, day) if each is not None), default=None)


def _told(limits: Limits, used: Usage) -> str:
    parts = []
    if limits.usd_per_day is not None:
        parts.append(f"${used.usd:.4f} of ${limits.usd_per_day:g} (limits.usd_per_day)")
    if limits.tokens_per_day is not None:
        parts.append(f"{used.tokens:,} of {limits.tokens_per_day:,} tokens (limits.tokens_per_day)")
    return f"today's runs have used {' and '.join(parts)}"
