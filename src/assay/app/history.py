"""The class `RunHistory`: runs and threads as they are stored."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from assay.app.library import DocumentLibrary
from assay.core.events import Envelope
from assay.core.later import later
from assay.core.ports import ModelUsage, RunRow, RunStatus, ThreadRow
from assay.core.view import RunView
from assay.services import stored_runs
from assay.services.stored_runs import ListedRun

if TYPE_CHECKING:
    from assay.services import daily, handle, results, run_lists
    from assay.services.daily import UsedToday
    from assay.services.handle import ResearchReport
    from assay.services.run_lists import FoundRuns, RunsPage, ThreadMessage, ThreadsPage
else:
    daily = later("assay.services.daily")
    handle = later("assay.services.handle")
    results = later("assay.services.results")
    run_lists = later("assay.services.run_lists")

LATEST = 100
"""Runs a list holds, where nobody says how many."""


class RunHistory(DocumentLibrary):
    """A library of documents, and the runs over it as they are stored."""

    # runs as they are stored

    async def runs(self, limit: int = LATEST) -> list[RunRow]:
        """The latest runs, newest first."""
        return await stored_runs.latest(self._context, limit)

    async def listed(self, limit: int = LATEST) -> list[ListedRun]:
        """The latest runs, newest first, with whose they are and what they have used."""
        return await stored_runs.listed(self._context, limit)

    async def page(
        self,
        *,
        status: Collection[RunStatus] = (),
        text: str = "",
        since: str = "",
        until: str = "",
        thread: str = "",
        collection: str = "",
        label: str = "",
        cursor: str = "",
        limit: int = LATEST,
        accounts: bool = True,
    ) -> RunsPage:
        """Runs of a kind, newest first, page by page; runs which begin meanwhile change nothing of the pages to come.

        Args:
            status: one of these; none says nothing.
            text: is in the question, case and spacing aside. `search_runs` finds words, in reports too.
            since: created then or later: ISO 8601 UTC, or the beginning of it ("2026-11").
            until: created before that.
            thread: the name of a thread.
            collection: a collection which it was to search.
            label: a label it has: its name, or `name=value`.
            cursor: `next` of the page before; empty for the newest.
            limit: at most so many runs, up to 1,000.
            accounts: whether users, labels, money and tokens are told, which takes its time.

        Raises:
            UsageError: no such status, no such limit, or a cursor of another list.
        """
        said = {"text": text, "since": since, "until": until, "thread": thread, "label": label}
        wanted = run_lists.filter_of(status, **said, collection=collection.removeprefix("@"))
        return await run_lists.page(self._context, wanted, cursor, limit, accounts=accounts)

    async def label(
        self, reference: str, added: Mapping[str, str] | None = None, removed: Collection[str] = ()
    ) -> dict[str, str]:
        """Give a run labels (names with values, which may be empty), and take some from it; those it has then.

        Labels are for lists: no model is told. A run is `starred` by a label of that name.

        Raises:
            UsageError: a label without a name, too many, or too long ones; nothing was changed.
            UnknownName: there is no such run.
        """
        return await run_lists.label(self._context, reference, added or {}, removed)

    async def usage(self, since: str = "", until: str = "") -> list[ModelUsage]:
        """What runs took of each model: this user's, or of `owned_by(None)` every user's, by user and model.

        Args:
            since: of the runs begun then or later: ISO 8601 UTC, or the beginning of it ("2026-11").
            until: of those begun before that.
        """
        return await self._context.store.journal.usage(since, until)

    async def used_today(self) -> UsedToday:
        """What this user has taken today, and what he may take."""
        limits = self._context.limits or daily.limits_of_users(self.settings.limits)
        return await daily.standing(self._context.whole.journal, limits, self._context.owner)

    async def search_runs(self, text: str, *, cursor: str = "", limit: int = 20) -> FoundRuns:
        """Runs whose question or report has these words, in any form, best first, each with its best sentence.

        Those with all the words; where there are none, those with any. The index is brought level with the runs first:
        it is derived from them, and made in seconds where it is not there.

        Args:
            text: words; no syntax.
            cursor: `next` of the page before.
            limit: at most so many runs, up to 1,000.

        Raises:
            UsageError: no such limit, or a cursor of another list.
            SearchFailed: the index cannot be written.
        """
        return await run_lists.search(self._context, text, cursor, limit)

    # threads

    async def threads(self, text: str = "", *, cursor: str = "", limit: int = LATEST) -> ThreadsPage:
        """Threads, the one with the latest run first, page by page in the order of the moment the first was read.

        Args:
            text: is in the title or in a question of theirs, case and spacing aside.
            cursor: `next` of the page before.
            limit: at most so many threads, up to 1,000.

        Raises:
            UsageError: no such limit, or a cursor of another list.
        """
        return await run_lists.threads(self._context, text, cursor, limit)

    async def thread(self, reference: str) -> ThreadRow:
        """A thread by its name, its title, or the start of its name.

        Raises:
            UnknownName: none, or more than one, is called so.
        """
        return await self._context.store.journal.thread(reference)

    async def messages(self, reference: str) -> list[ThreadMessage]:
        """What was said in a thread, oldest first: questions, what was asked back, answers, reports without citations.

        Raises:
            UnknownName: as `thread`.
        """
        return await run_lists.said(self._context, reference)

    async def rename_thread(self, reference: str, title: str) -> ThreadRow:
        """Give a thread another title; its name, by which runs go on in it, stays.

        Raises:
            UnknownName: as `thread`.
            UsageError: no thread can have that title.
        """
        return await run_lists.rename(self._context, reference, title)

    async def delete_thread(self, reference: str) -> tuple[str, ...]:
        """Forget a thread with all its runs; their ids. What they read stays in the library.

        Raises:
            UnknownName: as `thread`.
            LeaseHeld: a live process executes one of them; nothing was deleted.
        """
        return await run_lists.delete_thread(self._context, reference)

    # one run as it is stored

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`.

        Raises:
            UnknownName: none, or more than one, begins so.
        """
        return await stored_runs.find(self._context, reference)

    async def events(self, reference: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """A run's log from `seq > after`; with a `limit` at most so many events of it."""
        return await stored_runs.events(self._context, reference, after, limit)

    async def report(self, reference: str) -> ResearchReport:
        """The report of a run, as far as it is written.

        Raises:
            UnknownName: as `find`.
        """
        record = await results.record(self._context, reference)
        return await asyncio.to_thread(handle.research_report, record)

    async def view(self, reference: str) -> RunView:
        """A run as its events tell it."""
        return await stored_runs.view(self._context, reference)
