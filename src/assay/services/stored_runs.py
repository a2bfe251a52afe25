"""Stored runs, including those that other processes execute."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec

from assay.core.events import Envelope
from assay.core.ports import RunRow
from assay.core.ports.journal import Spent
from assay.core.view import RunView, fold
from assay.run.feeds import Feeds, is_executed
from assay.services.context import Context
from assay.services.home_paths import is_indexed, log_file


class ListedRun(RunRow, frozen=True, kw_only=True):
    """A run in a list, with its owner and usage so far: US dollars, and tokens in and out together."""

    user: str = ""
    usd: float = 0.0
    tokens: int = 0


class _Owned(msgspec.Struct, frozen=True):
    """The part of a brief that is read."""

    user: str = ""


async def latest(context: Context, limit: int) -> list[RunRow]:
    """The latest runs, newest first. One whose process has ended has no holder, even if its lease goes on."""
    return without_the_dead(await context.store.journal.runs(limit))


def without_the_dead(rows: Sequence[RunRow]) -> list[RunRow]:
    """The runs; one whose process has ended has no holder."""
    gone = {row.holder for row in rows if row.holder and not is_executed(row)}
    return [msgspec.structs.replace(row, holder="") if row.holder in gone else row for row in rows]


async def listed(context: Context, limit: int) -> list[ListedRun]:
    """The latest runs, newest first, with owner and usage."""
    return await with_accounts(context, await latest(context, limit))


async def with_accounts(context: Context, rows: Sequence[RunRow]) -> list[ListedRun]:
    """Runs with owner and usage."""
    accounts = await context.store.journal.spending(only=[row.run_id for row in rows])
    spent = {each.run_id: each for each in accounts}
    return [listed_run(row, spent.get(row.run_id)) for row in rows]


def listed_run(row: RunRow, spent: Spent | None) -> ListedRun:
    """A run with its usage; one that was deleted meanwhile has none."""
    known = msgspec.convert(msgspec.structs.asdict(row), ListedRun)
    if spent is None:
        return known
    owned, used = msgspec.json.decode(spent.brief, type=_Owned), spent.usage
    return msgspec.structs.replace(known, user=owned.user, usd=used.usd, tokens=used.tokens)


async def find(context: Context, reference: str) -> RunRow:
    """Find a run by its id, the start of its id, or `last`.

    Raises:
        UnknownName: no run, or more than one, matches.
    """
    return await context.store.journal.find(reference)


async def events(context: Context, reference: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
    """A run's events with `seq > after`."""
    return await context.store.journal.events((await find(context, reference)).run_id, after, limit)


async def view(context: Context, reference: str) -> RunView:
    """A run as folded from its events."""
    return fold(await events(context, reference))


async def forget(context: Context, run_ids: Sequence[str]) -> None:
    """Delete what is stored besides the journal about deleted runs."""
    if context.store.shares is not None:
        await context.store.shares.drop_runs(run_ids)
    if context.home is not None:
        for run_id in run_ids:
            log_file(context.home, run_id).unlink(missing_ok=True)
    if "seeker" in context.made or (context.home is not None and is_indexed(context.home)):
        await context.seeker.forget(run_ids)


# Runs that other processes may execute: followed, and abandoned ones.


def feeds(context: Context) -> Feeds:
    """The new events of runs, for all followers in this process."""
    return Feeds(context.whole.journal)


async def follow(context: Context, reference: str, after: int, *, patient: bool) -> AsyncIterator[Envelope]:
    """The events of a run, until it ends or nobody executes it any more; see `Assay.follow`."""
    row = await find(context, reference)
    async for envelope in context.feeds.follow(row.run_id, after, patient=patient):
        yield envelope


async def groups(context: Context, reference: str, after: int, rest: float | None) -> AsyncIterator[Sequence[Envelope]]:
    """The events of a run in groups, until it ends; see `Assay.groups`."""
    row = await find(context, reference)
    async for group in context.feeds.groups(row.run_id, after, patient=True, rest=rest):
        yield group


async def unfinished(context: Context, question: str, limit: int) -> list[RunRow]:
    """Runs of a question, among the latest, that did not end and that nobody executes."""
    return [
        row
        for row in await context.store.journal.runs(limit)
        if row.question == question.strip()
        and row.status in ("created", "running", "waiting", "paused")
        and not (is_executed(row) or row.queued)
    ]
