"""Lists of runs and of threads, page by page, and what is done with a thread."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import msgspec

from assay.core import pages
from assay.core.brief import Said
from assay.core.errors import UsageError
from assay.core.later import later
from assay.core.ports import RunFilter, RunRow, RunStatus, ThreadPlace, ThreadRow
from assay.core.view import fold
from assay.run.process import is_dead
from assay.services.context import Context
from assay.services.stored_runs import ListedRun, forget, listed_run, with_accounts, without_the_dead

if TYPE_CHECKING:
    import assay.services.threads as conversation
else:
    conversation = later("assay.services.threads")


class RunsPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some runs of a list; `next` is the cursor of those after them, empty at its end."""

    runs: tuple[ListedRun, ...]
    next: str = ""


class ThreadsPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some threads of a list; `next` is the cursor of those after them, empty at its end."""

    threads: tuple[ThreadRow, ...]
    next: str = ""


class ThreadMessage(Said, frozen=True, kw_only=True):
    """What was said in a thread, in which run, and when that began."""

    run_id: str
    created_at: str


async def page(context: Context, wanted: RunFilter, cursor: str, limit: int, *, accounts: bool = True) -> RunsPage:
    """Runs of a kind, newest first; see `Assay.page`."""
    journal = context.store.journal
    found = await journal.page(wanted, pages.bounded(limit), pages.read(cursor, int))
    known = without_the_dead(found.rows)
    rows = await with_accounts(context, known) if accounts else [listed_run(row, None) for row in known]
    return RunsPage(runs=tuple(rows), next="" if found.next is None else pages.written(found.next))


def filter_of(status: Collection[RunStatus], **said: str) -> RunFilter:
    """What a list is to hold: `said` are the other fields of the filter.

    Raises:
        UsageError: there is no such status.
    """
    try:
        return msgspec.convert({"status": list(status), **said}, RunFilter)
    except msgspec.ValidationError as error:
        raise UsageError(f"{error}") from error


async def label(context: Context, reference: str, added: Mapping[str, str], removed: Collection[str]) -> dict[str, str]:
    """Change the labels of a run; see `Assay.label`."""
    journal = context.store.journal
    return await journal.label((await journal.find(reference)).run_id, added, removed)


async def threads(context: Context, text: str, cursor: str, limit: int) -> ThreadsPage:
    """Threads, those with the latest run first; see `Assay.threads`."""
    place = pages.read(cursor, ThreadPlace)
    found = await context.store.journal.threads(text, pages.bounded(limit), place)
    return ThreadsPage(threads=tuple(found.rows), next="" if found.next is None else pages.written(found.next))


async def said(context: Context, reference: str) -> list[ThreadMessage]:
    """What was said in a thread, oldest first; see `Assay.messages`."""
    journal, told = context.store.journal, []
    for row in await _runs(context, await journal.thread(reference)):
        view = fold(await journal.events(row.run_id))
        told += [
            ThreadMessage(**msgspec.structs.asdict(each), run_id=row.run_id, created_at=row.created_at)
            for each in conversation.messages(view)
        ]
    return told


async def rename(context: Context, reference: str, title: str) -> ThreadRow:
    """Call a thread by another title; see `Assay.rename_thread`."""
    title = " ".join(title.split())
    if len(title) > conversation.LONGEST_NAME or not title.isprintable():
        raise UsageError(f"a thread's title is at most {conversation.LONGEST_NAME} printable characters")
    row = await context.store.journal.thread(reference)
    await context.store.journal.rename(row.name, title)
    return await context.store.journal.thread(row.name)


async def delete_thread(context: Context, reference: str) -> tuple[str, ...]:
    """Forget a thread with all its runs; see `Assay.delete_thread`."""
    journal = context.store.journal
    row = await journal.thread(reference)
    gone = {each.holder for each in await _runs(context, row) if each.holder and is_dead(each.holder)}
    deleted = await journal.delete_thread(row.name, gone)
    await forget(context, deleted)
    return deleted


async def _runs(context: Context, thread: ThreadRow) -> list[RunRow]:
    """All runs of a thread, oldest first."""
    rows: list[RunRow] = []
    place: int | None = None
    while True:
        found = await context.store.journal.page(RunFilter(thread=thread.name), pages.MOST, place)
        rows += [each for each in found.rows if each.owner == thread.owner]
        if found.next is None:
            return rows[::-1]
        place = found.next
