"""Stored runs, including those that other processes execute; and links to their reports."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Literal

import msgspec

from assay.core.assurance import report_state
from assay.core.errors import NotNow, UnknownName, UsageError
from assay.core.events import Envelope
from assay.core.ports import FINAL, Journal, RunFilter, RunRow
from assay.core.ports.journal import RunSpending
from assay.core.ports.lists import CELL_OF
from assay.core.ports.users import ShareRow, ShareStore
from assay.core.report import Report, build_report
from assay.core.sources import sha256
from assay.core.view import RunView, fold_events
from assay.core.ways import suggest_command
from assay.run.feeds import is_executed, waiting_topic
from assay.services.argument_types import check_least
from assay.services.context import Context
from assay.services.home_paths import has_run_index, log_file


class ListedRun(RunRow, frozen=True, kw_only=True):
    """A run in a list, with its owner and usage so far: US dollars, and tokens in and out together.

    `stop_reason` says why a completed run ended (`core.phrases.STOP_REASONS`); it is empty for any other.
    """

    user: str = ""
    usd: float = 0.0
    tokens: int = 0
    stop_reason: str = ""


class _OwnedBrief(msgspec.Struct, frozen=True):
    """The part of a brief that is read."""

    user: str = ""


async def latest_runs(context: Context, limit: int) -> list[RunRow]:
    """The latest runs, newest first. One whose process has ended has no holder, even if its lease goes on."""
    check_least(0, limit=limit)
    return clear_dead_holders(await context.store.journal.runs(limit))


def clear_dead_holders(rows: Sequence[RunRow]) -> list[RunRow]:
    """The runs; one whose process has ended has no holder."""
    dead_holders = {row.holder for row in rows if row.holder and not is_executed(row)}
    return [msgspec.structs.replace(row, holder="") if row.holder in dead_holders else row for row in rows]


async def list_with_usage(context: Context, limit: int) -> list[ListedRun]:
    """The latest runs, newest first, with owner and usage."""
    return await add_accounts(context, await latest_runs(context, limit))


async def add_accounts(context: Context, rows: Sequence[RunRow]) -> list[ListedRun]:
    """Runs with owner and usage."""
    accounts = await context.store.journal.spending(only=[row.run_id for row in rows])
    spending_by_run = {account.run_id: account for account in accounts}
    return [listed_run(row, spending_by_run.get(row.run_id)) for row in rows]


def listed_run(row: RunRow, spending: RunSpending | None) -> ListedRun:
    """A run with its usage; one that was deleted meanwhile has none."""
    run = msgspec.convert(msgspec.structs.asdict(row), ListedRun)
    if spending is None:
        return run
    owner_fields, used = msgspec.json.decode(spending.brief, type=_OwnedBrief), spending.usage
    return msgspec.structs.replace(run, user=owner_fields.user, usd=used.usd, tokens=used.tokens)


class _RunEnding(msgspec.Struct, frozen=True):
    """The part of a completed run's last event that is read."""

    stop_reason: str = ""


MAX_REASONS = 20_000
"""The stop reasons kept in memory, since lists are read again and again, and a completed run's never changes."""


async def add_reasons(context: Context, rows: Sequence[ListedRun]) -> list[ListedRun]:
    """Runs with why they ended, which the last event of a completed run says."""
    reasons = context.get_or_create("stop_reasons", lambda _: dict[str, str]())
    ended = {row.run_id: row.last_seq - 1 for row in rows if row.status == "completed"}
    missing = {run_id: seq for run_id, seq in ended.items() if run_id not in reasons}
    if missing:
        if len(reasons) + len(missing) > MAX_REASONS:
            reasons.clear()
        reasons |= await _reasons(context, ended if not reasons else missing)
    return [
        msgspec.structs.replace(row, stop_reason=reasons[row.run_id]) if row.run_id in reasons else row for row in rows
    ]


async def _reasons(context: Context, before: Mapping[str, int]) -> dict[str, str]:
    """The stop reasons of completed runs, given with the number of their last event but one."""
    ends = await context.store.journal.news(before, len(before))
    return {
        run_id: msgspec.json.decode(event.data, type=_RunEnding).stop_reason
        for run_id, news in ends.items()
        for event in news.events
        if event.type == "run.completed"
    }


Having = Literal["", "report", "evidence"]
"""What `last` must have: anything; a report, even a part of one; or something that a run may continue from."""
LAST = "last"
"""Names the newest run where an id is expected."""
RUNS_EXAMINED = 20
"""The latest runs among which one is looked for."""


async def find_run(journal: Journal, reference: str, having: Having) -> RunRow:
    """A run by its id, the start of its id, or `last`: the newest that is no cell of a table, without those that failed
    or were cancelled before they had what is asked for; if none is left, the newest of all.

    Raises:
        UnknownName: no run, or more than one, matches.
    """
    if reference != LAST:
        return await journal.find(reference)
    runs = (await journal.page(RunFilter(not_label=CELL_OF), RUNS_EXAMINED if having else 1)).rows
    row = runs[0] if runs else await journal.find(reference)
    for run in runs if having else ():
        if run.status not in ("failed", "cancelled"):
            return run
        view = fold_events(await journal.events(run.run_id))
        if view.report.text.strip() if having == "report" else view.sources:
            return run
    return row


async def find(context: Context, reference: str, having: Having = "") -> RunRow:
    """Find a run by its id, the start of its id, or `last`; see `find_run`.

    Raises:
        UnknownName: no run, or more than one, matches.
    """
    await context.until_stored(reference)
    return await find_run(context.store.journal, reference, having)


async def require_ended(journal: Journal, row: RunRow, consequence: str) -> None:
    """Refuse a run that has not ended; `consequence` says what cannot be done.

    Raises:
        NotNow: it has not; the message says how it comes to its end.
    """
    if row.status not in FINAL:
        way = await _how_to_end(journal, row)
        raise NotNow(f"run {row.run_id} has not ended ({row.status}), so {consequence}; {way}")


async def _how_to_end(journal: Journal, row: RunRow) -> str:
    if row.status == "waiting":
        topic = waiting_topic(await journal.events(row.run_id))
        return f"first: {suggest_command('approve' if topic == 'plan' else 'answer', row.run_id)}"
    if is_executed(row) or row.queued:
        return f"wait until it ends, or end its research: {suggest_command('finish', row.run_id)}"
    return f"first: {suggest_command('resume', row.run_id)}"


async def events(context: Context, reference: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
    """A run's events with `seq > after`."""
    check_least(0, after=after, limit=limit or 0)
    return await context.store.journal.events((await find(context, reference)).run_id, after, limit)


async def view(context: Context, reference: str, having: Having = "") -> RunView:
    """A run as folded from its events."""
    return fold_events(await events(context, (await find(context, reference, having)).run_id))


def comparable_report(view: RunView) -> Report:
    """The report of a run, to compare it with another.

    Raises:
        NotNow: it has none.
    """
    if report_state(view) == "none":
        raise NotNow(f"run {view.run_id} has no report to compare: wait until it ends, or name another")
    return build_report(view, "none")


async def forget(context: Context, run_ids: Sequence[str]) -> None:
    """Delete what is stored besides the journal about deleted runs."""
    if context.store.shares is not None:
        await context.store.shares.drop_runs(run_ids)
    if context.home is not None:
        for run_id in run_ids:
            log_file(context.home, run_id).unlink(missing_ok=True)
    if "seeker" in context.parts or (context.home is not None and has_run_index(context.home)):
        await context.seeker.forget(run_ids)


# Runs that other processes may execute: followed, and abandoned ones.


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


async def unfinished_runs(context: Context, question: str | None, limit: int) -> list[RunRow]:
    """The latest runs, of a question or of any, that did not end and that nobody executes."""
    check_least(0, limit=limit)
    wanted = None if question is None else question.strip()
    page = await context.store.journal.page(RunFilter(status=("created", "running", "waiting", "paused")), limit)
    return [row for row in page.rows if wanted in (None, row.question) and not (is_executed(row) or row.queued)]


# Links to reports: anyone with a link may read the report of one run, until it is revoked or expires. A link has 256
# random bits, of which only the SHA-256 is stored: it cannot be guessed, nor made from the database.

MAX_LINKS = 100
"""Links to one run."""
MAX_LINK_DAYS = 36_500.0
SHARES_PATH = "/s/"
"""The path under which a server shows shared reports; the secret follows."""


class Shares:
    """The links to the reports of one owner's runs."""

    def __init__(self, context: Context, store: ShareStore) -> None:
        self._context, self._store = context, store

    async def make(self, reference: str, days: float | None = None) -> tuple[ShareRow, str]:
        """Create a link to the report of a run; return it with its secret, which is never shown again.

        Raises:
            UnknownName: there is no such run.
            UsageError: it has too many links, or `days` is not valid.
        """
        run, now = await find(self._context, reference), time.time()
        if days is not None and not 0 < days <= MAX_LINK_DAYS:
            raise UsageError(f"a link is valid for more than 0 and up to {MAX_LINK_DAYS:,.0f} days")
        if len(await self._store.list_for_run(run.owner, run.run_id)) >= MAX_LINKS:
            raise UsageError(f"run {run.run_id} has {MAX_LINKS} links: revoke one first")
        secret = secrets.token_urlsafe(32)
        share = ShareRow(
            id=secrets.token_hex(4),
            hash=hash_of(secret),
            run_id=run.run_id,
            owner=run.owner,
            created=now,
            expires=now + days * 86_400 if days is not None else 0.0,
        )
        await self._store.add(share)
        return share, secret

    async def of_run(self, reference: str) -> list[ShareRow]:
        """The links to a run, without their secrets.

        Raises:
            UnknownName: there is no such run.
        """
        run = await find(self._context, reference)
        return await self._store.list_for_run(run.owner, run.run_id)

    async def revoke(self, reference: str, id: str) -> None:
        """Revoke a link at once.

        Raises:
            UnknownName: there is no such run, or it has no such link.
        """
        run = await find(self._context, reference)
        if not await self._store.drop(run.owner, run.run_id, id):
            raise UnknownName("link", id, (share.id for share in await self.of_run(run.run_id)))

    async def find_valid(self, secret: str) -> ShareRow | None:
        """The valid link with this secret, of any owner; None if there is none."""
        share = await self._store.find_by_hash(hash_of(secret))
        return None if share is None or (share.expires and share.expires <= time.time()) else share


def hash_of(secret: str) -> str:
    """The stored hash of a secret."""
    return sha256(secret.encode("utf-8", "surrogatepass"))
