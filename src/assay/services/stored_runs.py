"""Runs as they are stored."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.events import Envelope
from assay.core.ports import RunRow
from assay.core.ports.journal import Spent
from assay.core.view import RunView, fold
from assay.run.feeds import is_executed
from assay.services.context import Context
from assay.services.home_paths import is_indexed, log_file


class ListedRun(RunRow, frozen=True, kw_only=True):
    """A run in a list, whose it is, and what it has used by now: US dollars, tokens in and out together."""

    user: str = ""
    usd: float = 0.0
    tokens: int = 0


class _Owned(msgspec.Struct, frozen=True):
    """What is read of a brief."""

    user: str = ""


async def latest(context: Context, limit: int) -> list[RunRow]:
    """The latest runs, newest first. One whose process is known to be gone has no holder, though its lease goes on."""
    return without_the_dead(await context.store.journal.runs(limit))


def without_the_dead(rows: Sequence[RunRow]) -> list[RunRow]:
    """The runs; one whose process is known to be gone has no holder."""
    gone = {row.holder for row in rows if row.holder and not is_executed(row)}
    return [msgspec.structs.replace(row, holder="") if row.holder in gone else row for row in rows]


async def listed(context: Context, limit: int) -> list[ListedRun]:
    """The latest runs, newest first, with what their briefs and accounts say."""
    return await with_accounts(context, await latest(context, limit))


async def with_accounts(context: Context, rows: Sequence[RunRow]) -> list[ListedRun]:
    """Runs with whose they are and what they have used."""
    accounts = await context.store.journal.spending(only=[row.run_id for row in rows])
    spent = {each.run_id: each for each in accounts}
    return [listed_run(row, spent.get(row.run_id)) for row in rows]


def listed_run(row: RunRow, spent: Spent | None) -> ListedRun:
    """A run with its accounts; one that was deleted meanwhile has none."""
    known = msgspec.convert(msgspec.structs.asdict(row), ListedRun)
    if spent is None:
        return known
    owned, used = msgspec.json.decode(spent.brief, type=_Owned), spent.usage
    return msgspec.structs.replace(known, user=owned.user, usd=used.usd, tokens=used.tokens)


async def find(context: Context, reference: str) -> RunRow:
    """A run by its id, the start of its id, or `last`.

    Raises:
        UnknownName: none, or more than one, begins so.
    """
    return await context.store.journal.find(reference)


async def events(context: Context, reference: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
    """A run's log from `seq > after`."""
    return await context.store.journal.events((await find(context, reference)).run_id, after, limit)


async def view(context: Context, reference: str) -> RunView:
    """A run as its events tell it."""
    return fold(await events(context, reference))


async def forget(context: Context, run_ids: Sequence[str]) -> None:
    """Let go of what is kept beside the journal of runs which were deleted."""
    if context.store.shares is not None:
        await context.store.shares.drop_runs(run_ids)
    if context.home is not None:
        for run_id in run_ids:
            log_file(context.home, run_id).unlink(missing_ok=True)
    if "seeker" in context.made or (context.home is not None and is_indexed(context.home)):
        await context.seeker.forget(run_ids)
