"""Lists of runs and threads, page by page; search in runs; changes to threads; and what administrators see."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from assay.core.brief import Brief, ConversationMessage
from assay.core.errors import IndexDamaged, SearchError, UnknownName, UsageError
from assay.core.lazy import lazy_module
from assay.core.markers import strip_markers
from assay.core.ports import (
    ACTIVE_STATUSES,
    FINAL,
    Journal,
    ModelUsage,
    RunFilter,
    RunRow,
    RunStatus,
    ThreadPlace,
    ThreadRow,
    lists,
)
from assay.core.ports.jobs import QueueDepth
from assay.core.ports.lists import IndexedRun, RunHit, RunIndexing
from assay.core.ports.store import Store
from assay.core.view import fold_events
from assay.run.process import is_dead
from assay.run.tasks import enter_in_threads
from assay.services.context import Context
from assay.services.stored_runs import (
    ListedRun,
    add_accounts,
    add_reasons,
    clear_dead_holders,
    find,
    forget,
    listed_run,
)

if TYPE_CHECKING:
    import assay.services.threads as conversation
else:
    conversation = lazy_module("assay.services.threads")

# Search in the questions and reports of runs.

RUNS_AT_ONCE = 100
"""Runs indexed in one go: the most a killed process loses."""
IDS = 500
"""Runs looked up in one query."""
MAX_SEARCH_CHARS = 1_000


class FoundRun(msgspec.Struct, frozen=True, kw_only=True):
    """A matching run, better with a higher `score`, and the sentence of its report that matches best."""

    run: ListedRun
    score: float
    snippet: str = ""


class FoundRuns(msgspec.Struct, frozen=True, kw_only=True):
    """Runs found, best first; `next` is the cursor of the next ones, empty at the end."""

    runs: tuple[FoundRun, ...]
    next: str = ""


async def search(context: Context, text: str, cursor: str, limit: int) -> FoundRuns:
    """Find runs by words; see `History.search_runs`."""
    offset = max(lists.read_cursor(cursor, int) or 0, 0)
    limit = lists.check_page_size(limit)
    try:
        all_hits = await context.seeker.search(text[:MAX_SEARCH_CHARS], context.owner, limit + 1, offset)
    except OSError as error:
        raise SearchError(f"the index of runs: {error.strerror or error}") from error
    page_hits = all_hits[:limit]
    rows = await context.store.journal.rows([hit.run_id for hit in page_hits])
    listed_runs = await add_accounts(context, clear_dead_holders(list(rows.values())))
    runs_by_id = {row.run_id: row for row in await add_reasons(context, listed_runs)}
    hits = [
        FoundRun(run=runs_by_id[hit.run_id], score=hit.score, snippet=hit.snippet)
        for hit in page_hits
        if hit.run_id in runs_by_id
    ]
    return FoundRuns(runs=tuple(hits), next=lists.cursor_text(offset + limit) if len(all_hits) > limit else "")


class RunSearch:
    """The index of all runs, updated from the journal before each search."""

    def __init__(self, journal: Journal, index: RunIndexing) -> None:
        self._journal, self._index = journal, index
        self._is_checked = False
        self._turn = asyncio.Lock()

    async def search(self, text: str, owner: str | None, limit: int, offset: int) -> list[RunHit]:
        """The best matches among the runs of an owner.

        Raises:
            SearchError: another process locks the index too long.
            OSError: it cannot be written.
        """
        async with self._turn:
            try:
                return await self._search_index(text, owner, limit, offset)
            except IndexDamaged:  # it is started again
                async with enter_in_threads(self._index.write_lock()):
                    await asyncio.to_thread(self._index.clear)
                return await self._search_index(text, owner, limit, offset)

    async def forget(self, run_ids: Sequence[str]) -> None:
        """Remove deleted runs from the index now, since their text must not be found any more."""
        async with self._turn, enter_in_threads(self._index.write_lock()):
            try:
                await asyncio.to_thread(self._index.change, (), run_ids)
            except IndexDamaged:
                await asyncio.to_thread(self._index.clear)

    async def _search_index(self, text: str, owner: str | None, limit: int, offset: int) -> list[RunHit]:
        await self._update_index()
        return await asyncio.to_thread(self._index.search, text, owner, limit, offset)

    async def _update_index(self) -> None:
        if self._is_checked and not await self._is_behind():
            return
        async with enter_in_threads(self._index.write_lock()):
            if not self._is_checked:
                await self._remove_unknown()
            while await self._index_some():
                continue

    async def _is_behind(self) -> bool:
        last = await asyncio.to_thread(self._index.last_number)
        return bool(await self._journal.runs_after(last, 1) or await self._stale_runs())

    async def _remove_unknown(self) -> None:
        """Remove what is not in this journal: runs that others deleted, or those of another journal."""
        indexed = await asyncio.to_thread(self._index.indexed_runs)
        rows = await self._rows(list(indexed))
        unknown = [run_id for run_id in indexed if run_id not in rows]
        await asyncio.to_thread(self._index.change, (), unknown)
        newest = max(((number, run_id) for run_id, number in indexed.items() if run_id in rows), default=None)
        if newest is not None:
            first = await self._journal.runs_after(newest[0] - 1, 1)
            if [row.run_id for _, row in first] != [newest[1]]:  # another journal with some of the same runs
                await asyncio.to_thread(self._index.clear)
        owners = Counter(rows[run_id].owner for run_id in indexed if run_id in rows)
        for owner, count in owners.items():
            if await asyncio.to_thread(self._index.count, owner) != count:  # they were transferred to another user
                await asyncio.to_thread(self._index.clear)
                break
        self._is_checked = True

    async def _stale_runs(self) -> dict[str, int]:
        """Runs that have ended since, or are gone, with their numbers."""
        unfinished = await asyncio.to_thread(self._index.unfinished_runs)
        rows = await self._rows(list(unfinished))
        return {
            run_id: number
            for run_id, (number, seq) in unfinished.items()
            if run_id not in rows or (rows[run_id].status in FINAL and rows[run_id].last_seq != seq)
        }

    async def _rows(self, run_ids: Sequence[str]) -> dict[str, RunRow]:
        rows: dict[str, RunRow] = {}
        for first in range(0, len(run_ids), IDS):
            rows |= await self._journal.rows(run_ids[first : first + IDS])
        return rows

    async def _index_some(self) -> int:
        stale = dict(list((await self._stale_runs()).items())[:RUNS_AT_ONCE])
        rows = await self._journal.rows(list(stale)) if stale else {}
        candidates = [(stale[run_id], row) for run_id, row in rows.items()]
        candidates += await self._journal.runs_after(await asyncio.to_thread(self._index.last_number), RUNS_AT_ONCE)
        entries = [entry for number, row in candidates if (entry := await self._entry(number, row)) is not None]
        await asyncio.to_thread(self._index.change, entries, [run_id for run_id in stale if run_id not in rows])
        return len(entries)

    async def _entry(self, number: int, row: RunRow) -> IndexedRun | None:
        """The index entry of a run; None if it was deleted meanwhile."""
        entry = IndexedRun(
            number=number, run_id=row.run_id, owner=row.owner, seq=row.last_seq, ended=False, question=row.question
        )
        try:
            if row.status not in FINAL:
                brief = msgspec.json.decode((await self._journal.load(row.run_id)).brief, type=Brief)
                return msgspec.structs.replace(entry, language=brief.language)
            log = await self._journal.events(row.run_id)
        except UnknownName:
            return None
        view = await asyncio.to_thread(fold_events, log)
        language = view.brief.language if view.brief else ""
        has_ended = row.status != "failed"  # a failed run may be resumed
        return msgspec.structs.replace(
            entry, ended=has_ended, report=strip_markers(view.report.text), language=language
        )


# Runs and threads, page by page.


class RunsPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of runs; `next` is the cursor of the next page, empty at the end."""

    runs: tuple[ListedRun, ...]
    next: str = ""


class ThreadsPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of threads; `next` is the cursor of the next page, empty at the end."""

    threads: tuple[ThreadRow, ...]
    next: str = ""


class ThreadMessage(ConversationMessage, frozen=True, kw_only=True):
    """A message in a thread, with its run and when that began."""

    run_id: str
    created_at: str


async def page(context: Context, criteria: RunFilter, cursor: str, limit: int, *, accounts: bool = True) -> RunsPage:
    """The runs that match, newest first; see `Assay.page`."""
    journal = context.store.journal
    run_page = await journal.page(criteria, lists.check_page_size(limit), lists.read_cursor(cursor, int))
    run_rows = clear_dead_holders(run_page.rows)
    rows = await add_accounts(context, run_rows) if accounts else [listed_run(row, None) for row in run_rows]
    rows = await add_reasons(context, rows)
    return RunsPage(runs=tuple(rows), next=lists.cursor_text(run_page.next))


def make_filter(status: Collection[RunStatus], **texts: str) -> RunFilter:
    """A filter for a list; `texts` are its other fields.

    Raises:
        UsageError: there is no such status, or a time is not valid.
    """
    try:
        run_filter = msgspec.convert({"status": list(status), **texts}, RunFilter)
    except msgspec.ValidationError as error:
        raise UsageError(f"{error}") from error
    lists.check_times(run_filter.since, run_filter.until)
    return run_filter


async def label(context: Context, reference: str, added: Mapping[str, str], removed: Collection[str]) -> dict[str, str]:
    """Change the labels of a run; see `Assay.label`."""
    return await context.store.journal.label((await find(context, reference)).run_id, added, removed)


async def threads(context: Context, text: str, cursor: str, limit: int) -> ThreadsPage:
    """Threads, those with the latest run first; see `Assay.threads`."""
    position = lists.read_cursor(cursor, ThreadPlace)
    thread_page = await context.store.journal.threads(text, lists.check_page_size(limit), position)
    return ThreadsPage(threads=tuple(thread_page.rows), next=lists.cursor_text(thread_page.next))


async def list_messages(context: Context, reference: str) -> list[ThreadMessage]:
    """The messages of a thread, oldest first; see `Assay.messages`."""
    journal, messages = context.store.journal, []
    for row in await _runs(context, await journal.thread(reference)):
        view = fold_events(await journal.events(row.run_id))
        messages += [
            ThreadMessage(**msgspec.structs.asdict(message), run_id=row.run_id, created_at=row.created_at)
            for message in conversation.messages(view)
        ]
    return messages


async def rename_thread(context: Context, reference: str, title: str) -> ThreadRow:
    """Change the title of a thread; see `Assay.rename_thread`."""
    title = " ".join(title.split())
    if len(title) > conversation.MAX_NAME_CHARS or not title.isprintable():
        raise UsageError(f"a thread's title is at most {conversation.MAX_NAME_CHARS} printable characters")
    row = await context.store.journal.thread(reference)
    await context.store.journal.rename(row.name, title)
    return await context.store.journal.thread(row.name)


async def delete_thread(context: Context, reference: str) -> tuple[str, ...]:
    """Delete a thread with all its runs; see `Assay.delete_thread`."""
    journal = context.store.journal
    row = await journal.thread(reference)
    dead_holders = {run.holder for run in await _runs(context, row) if run.holder and is_dead(run.holder)}
    deleted = await journal.delete_thread(row.name, dead_holders)
    await forget(context, deleted)
    return deleted


async def _runs(context: Context, thread: ThreadRow) -> list[RunRow]:
    rows: list[RunRow] = []
    cursor: int | None = None
    while True:
        run_page = await context.store.journal.page(RunFilter(thread=thread.name), lists.MAX_PAGE_ENTRIES, cursor)
        rows += [row for row in run_page.rows if row.owner == thread.owner]
        if run_page.next is None:
            return rows[::-1]
        cursor = run_page.next


# The administrator's view of all users: numbers, names and times, and never a question or a text.

COUNTED_RUNS = 1_000
"""Runs in execution that are examined."""


class WorkerStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A process that executes runs: how many, and when the first of them began (ISO 8601 UTC)."""

    process: str
    runs: int
    since: str


class QueueStanding(msgspec.Struct, frozen=True, kw_only=True):
    """The queue, when the longest waiting run began (empty if none waits), and the processes that execute runs."""

    depth: QueueDepth
    oldest: str
    workers: tuple[WorkerStanding, ...]


class Overview:
    """A home as its administrators see it; nothing that was asked, read or written."""

    def __init__(self, full_store: Store) -> None:
        """`full_store` sees the runs of all."""
        self._store = full_store

    async def counts(self) -> tuple[dict[RunStatus, int], QueueDepth]:
        """Count runs by status, and those in the queue."""
        queue = self._store.queue
        return await self._store.journal.counts(), QueueDepth() if queue is None else await queue.depth()

    async def usage(self, since: str, until: str) -> list[ModelUsage]:
        """The usage of the runs begun in a period (ISO 8601 UTC, empty for no bound), by day, user and model.

        Raises:
            UsageError: a bound is not valid.
        """
        lists.check_times(since, until)
        return await self._store.journal.usage(since, until, daily=True)

    async def runs(
        self, user: str | None, run_filter: RunFilter, cursor: str = "", limit: int = 50
    ) -> tuple[list[RunRow], str]:
        """Runs of all users, or of one, newest first, with a cursor that continues the list, empty at the end.

        Raises:
            UsageError: there is no such page or time, or the filter has a text, which would reveal questions.
        """
        lists.check_times(run_filter.since, run_filter.until)
        if run_filter.text or run_filter.thread or run_filter.label:
            raise UsageError("the runs of all users cannot be searched by text: leave out the text")
        journal = self._store.journal.owned_by(user)
        run_page = await journal.page(run_filter, lists.check_page_size(limit), lists.read_cursor(cursor, int))
        rows = [
            msgspec.structs.replace(row, question="", thread="", labels={}, holder=_living_holder(row.holder))
            for row in run_page.rows
        ]
        return rows, lists.cursor_text(run_page.next)

    async def queue(self) -> QueueStanding:
        """How many runs wait, and what each executing process works on; for many runs only the latest count."""
        _, depth = await self.counts()
        run_page = await self._store.journal.page(RunFilter(status=ACTIVE_STATUSES), COUNTED_RUNS)
        runs_by_holder: dict[str, list[RunRow]] = defaultdict(list)
        for row in run_page.rows:
            if holder := _living_holder(row.holder):
                runs_by_holder[holder].append(row)
        workers = (
            WorkerStanding(process=holder, runs=len(rows), since=min(row.created_at for row in rows))
            for holder, rows in sorted(runs_by_holder.items())
        )
        waiting_times = [row.created_at for row in run_page.rows if row.queued and not _living_holder(row.holder)]
        return QueueStanding(depth=depth, oldest=min(waiting_times, default=""), workers=tuple(workers))


def _living_holder(holder: str) -> str:
    return "" if holder and is_dead(holder) else holder
