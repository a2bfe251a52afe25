"""Runs as they are stored."""

from __future__ import annotations

import msgspec

from assay.app.context import Context
from assay.core.events import Envelope
from assay.core.ports import RunRow
from assay.core.ports.journal import Spent
from assay.core.view import RunView, fold
from assay.run.feeds import is_executed


class ListedRun(RunRow, frozen=True, kw_only=True):
    """A run in a list, whose it is, and what it has used by now: US dollars, tokens in and out together."""

    user: str = ""
    labels: dict[str, str] = {}
    usd: float = 0.0
    tokens: int = 0


class _Owned(msgspec.Struct, frozen=True):
    """What is read of a brief."""

    user: str = ""
    labels: dict[str, str] = {}


async def latest(context: Context, limit: int) -> list[RunRow]:
    """The latest runs, newest first. One whose process is known to be gone has no holder, though its lease goes on."""
    rows = await context.store.journal.runs(limit)
    gone = {row.holder for row in rows if row.holder and not is_executed(row)}
    return [msgspec.structs.replace(row, holder="") if row.holder in gone else row for row in rows]


async def listed(context: Context, limit: int) -> list[ListedRun]:
    """The latest runs, newest first, with what their briefs and accounts say."""
    rows = await latest(context, limit)
    spent = {each.run_id: each for each in await context.store.journal.spending(limit=limit)}
    return [_listed(row, spent.get(row.run_id)) for row in rows]


def _listed(row: RunRow, spent: Spent | None) -> ListedRun:
    """One that was deleted meanwhile has no accounts."""
    known = msgspec.convert(msgspec.structs.asdict(row), ListedRun)
    if spent is None:
        return known
    owned, used = msgspec.json.decode(spent.brief, type=_Owned), spent.usage
    return msgspec.structs.replace(known, user=owned.user, labels=owned.labels, usd=used.usd, tokens=used.tokens)


async def find(context: Context, reference: str) -> RunRow:
    """A run by its id, the start of its id, or `last`.

    Raises:
        UnknownName: none, or more than one, begins so.
    """
    return await context.store.journal.find(reference)


async def events(context: Context, reference: str, after: int = 0) -> list[Envelope]:
    """A run's log from `seq > after`."""
    return await context.store.journal.events((await find(context, reference)).run_id, after)


async def view(context: Context, reference: str) -> RunView:
    """A run as its events tell it."""
    return fold(await events(context, reference))
