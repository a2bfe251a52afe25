"""The classes `RunHistory` and `RunQueue`: stored runs and threads; runs and other long work for workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from typing import TYPE_CHECKING

from assay.app.library import DocumentLibrary
from assay.core.events import Envelope
from assay.core.lazy import lazy_module
from assay.core.ports import ModelUsage, Queue, QueuedRun, QueueLimits, RunRow, RunStatus, ThreadRow
from assay.core.ports.jobs import TOP_LEVEL_JOBS, Job, JobFilter
from assay.core.ports.lists import check_times
from assay.core.view import RunView
from assay.services import stored_runs
from assay.services.arguments import ProgressLog, checked_methods
from assay.services.stored_runs import Having, ListedRun

if TYPE_CHECKING:
    from assay.run.job_worker import JobWorker
    from assay.services import daily, jobs_desk, queue_workers, results, run_lists
    from assay.services.daily import UsedToday
    from assay.services.jobs import specifications
    from assay.services.jobs.ingestion import WorkerFigures
    from assay.services.queue_workers import Worker
    from assay.services.results import ResearchReport
    from assay.services.run_lists import FoundRuns, RunsPage, ThreadMessage, ThreadsPage
else:
    daily = lazy_module("assay.services.daily")
    results = lazy_module("assay.services.results")
    run_lists = lazy_module("assay.services.run_lists")
    jobs_desk = lazy_module("assay.services.jobs_desk")
    specifications = lazy_module("assay.services.jobs.specifications")
    queue_workers = lazy_module("assay.services.queue_workers")


LATEST = 100
"""The default length of a list of runs."""


@checked_methods
class RunHistory(DocumentLibrary):
    """A library of documents, and the stored runs over it."""

    # stored runs

    async def runs(self, limit: int = LATEST) -> list[RunRow]:
        """The latest runs, newest first."""
        return await stored_runs.latest_runs(self._context, limit)

    async def unfinished(self, question: str | None = None, limit: int = LATEST) -> list[RunRow]:
        """List the runs that have not ended and that no live process executes, the newest first.

        After a crash, `resume` continues them. A run that is `waiting` needs an answer or an approval first.

        Args:
            question: runs with this question alone.
            limit: how many of the latest are looked at.
        """
        return await stored_runs.unfinished_runs(self._context, question, limit)

    async def listed(self, limit: int = LATEST) -> list[ListedRun]:
        """The latest runs, newest first, with owner and usage."""
        return await stored_runs.list_with_usage(self._context, limit)

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
        not_label: str = "",
        cursor: str = "",
        limit: int = LATEST,
        accounts: bool = True,
    ) -> RunsPage:
        """List the runs that match, newest first, page by page. New runs do not affect later pages.

        Args:
            status: one of these statuses; empty does not restrict.
            text: must occur in the question, ignoring case and spacing. `search_runs` searches words, also in reports.
            since: created at this time or later: ISO 8601 UTC, or the beginning of it ("2026-11").
            until: created before this time.
            thread: the name of a thread.
            collection: a collection that the run was to search.
            label: a label of the run: its name, or `name=value`.
            not_label: a label that the run does not have, in the same form.
            cursor: `next` of the previous page; empty for the newest.
            limit: the most runs, up to 1,000.
            accounts: whether to include users, labels, money and tokens, which takes longer.

        Raises:
            UsageError: there is no such status or limit, or the cursor belongs to another list.
        """
        filters = {"text": text, "since": since, "until": until, "thread": thread}
        filters |= {"label": label, "not_label": not_label, "collection": collection.removeprefix("@")}
        run_filter = run_lists.make_filter(status, **filters)
        return await run_lists.page(self._context, run_filter, cursor, limit, accounts=accounts)

    async def label(
        self, reference: str, added: Mapping[str, str] | None = None, removed: Collection[str] = ()
    ) -> dict[str, str]:
        """Add labels to a run (names with values, which may be empty) and remove others; return its labels.

        Labels are for lists: models do not see them. A run is `starred` by a label with that name.

        Raises:
            UsageError: a label has no name, or there are too many or too long ones; nothing was changed.
            UnknownName: there is no such run.
        """
        return await run_lists.label(self._context, reference, added or {}, removed)

    async def usage(self, since: str = "", until: str = "") -> list[ModelUsage]:
        """Return the usage of each model by this user's runs, or with `owned_by(None)` by all, per user and model.

        Args:
            since: runs begun at this time or later: ISO 8601 UTC, or the beginning of it ("2026-11").
            until: runs begun before this time.

        Raises:
            UsageError: a time is not valid.
        """
        check_times(since, until)
        return await self._context.store.journal.usage(since, until)

    async def used_today(self) -> UsedToday:
        """Return today's usage and limits of this user."""
        limits = self._context.limits or daily.limits_of_users(self.settings.limits)
        return await daily.used_today(
            self._context.full_store.journal, self._context.store.cache, limits, self._context.owner
        )

    async def search_runs(self, text: str, *, cursor: str = "", limit: int = 20) -> FoundRuns:
        """Find runs whose question or report has these words, in any form, best first, each with its best sentence.

        Returns runs with all the words, or if there are none, runs with any. The index is updated first; it is derived
        from the runs, and rebuilt in seconds if it is missing.

        Args:
            text: words, without any syntax.
            cursor: `next` of the previous page.
            limit: the most runs, up to 1,000.

        Raises:
            UsageError: there is no such limit, or the cursor belongs to another list.
            SearchFailed: the index cannot be written.
        """
        return await run_lists.search(self._context, text, cursor, limit)

    # threads

    async def threads(self, text: str = "", *, cursor: str = "", limit: int = LATEST) -> ThreadsPage:
        """List threads, the one with the latest run first, page by page in the order when the first page was read.

        Args:
            text: must occur in the title or in a question, ignoring case and spacing.
            cursor: `next` of the previous page.
            limit: the most threads, up to 1,000.

        Raises:
            UsageError: there is no such limit, or the cursor belongs to another list.
        """
        return await run_lists.threads(self._context, text, cursor, limit)

    async def thread(self, reference: str) -> ThreadRow:
        """Find a thread by its name, its title, or the start of its name.

        Raises:
            UnknownName: no thread, or more than one, matches.
        """
        return await self._context.store.journal.thread(reference)

    async def messages(self, reference: str) -> list[ThreadMessage]:
        """The messages of a thread, oldest first: questions, clarifying questions, answers, reports without citations.

        Raises:
            UnknownName: as `thread`.
        """
        return await run_lists.list_messages(self._context, reference)

    async def rename_thread(self, reference: str, title: str) -> ThreadRow:
        """Change the title of a thread; its name, by which runs continue it, stays.

        Raises:
            UnknownName: as `thread`.
            UsageError: the title is not valid.
        """
        return await run_lists.rename_thread(self._context, reference, title)

    async def delete_thread(self, reference: str) -> tuple[str, ...]:
        """Delete a thread with all its runs, and return their ids. What they read stays in the library.

        Raises:
            UnknownName: as `thread`.
            LeaseHeld: a live process executes one of them; nothing was deleted.
        """
        return await run_lists.delete_thread(self._context, reference)

    # one stored run

    async def find(self, reference: str, having: Having = "") -> RunRow:
        """Find a run by its id, the start of its id, or `last`: the newest, or the newest `having` a report or evidence
        if the ones after it failed or were cancelled without.

        Raises:
            UnknownName: no run, or more than one, matches.
        """
        return await stored_runs.find(self._context, reference, having)

    async def events(self, reference: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """Return a run's events with `seq > after`, at most `limit` of them."""
        return await stored_runs.events(self._context, reference, after, limit)

    async def report(self, reference: str) -> ResearchReport:
        """Return the report of a run, as far as it is written.

        Raises:
            UnknownName: as `find`.
        """
        record = await results.run_record(self._context, reference)
        return await asyncio.to_thread(results.research_report, record)

    async def view(self, reference: str) -> RunView:
        """Return a run as folded from its events."""
        return await stored_runs.view(self._context, reference)


@checked_methods
class RunQueue(RunHistory):
    """A library of documents, the runs over it, and the queue from which workers take runs."""

    async def enqueue(self, run_id: str, *, priority: int = 0) -> None:
        """Queue a stored run (`create`) for workers; its user is the brief's.

        Args:
            priority: -100 to 100; the highest is taken first.

        Raises:
            UnknownName: there is no such run.
            UsageError: there is no queue, or no such priority.
        """
        await queue_workers.enqueue(self._context, run_id, priority)

    async def queued(self) -> list[QueuedRun]:
        """The runs in the queue, and the processes that execute them."""
        return await self.queue.list_runs()

    @property
    def queue(self) -> Queue:
        """The queue.

        Raises:
            UsageError: the store is in memory, where no other process could find a run.
        """
        return queue_workers.queue(self._context)

    def worker(self, slots: int, limits: QueueLimits = QueueLimits(), say: ProgressLog | None = None) -> Worker:
        """Make a worker in this process that executes `slots` runs at once.

        Args:
            limits: over all workers together; each worker applies its own.
            say: called with a line of text when it takes a run up and when that ends.
        """
        return queue_workers.make_worker(self._context, slots, limits, say)

    async def begin_job(self, work: specifications.JobWork, *, priority: int = 0, every: int = 0) -> Job:
        """Queue long work for workers: reading documents, making vectors, writing a report to a file.

        Files are read and written where the worker is, so name paths that its machine has too.

        Args:
            priority: -100 to 100; the highest is taken first.
            every: seconds from one repetition to the next. 0: once.

        Raises:
            UsageError: there is nothing to do, an equal periodic job exists, there is no such priority, or no worker
                could find the job (a store in memory).
            UnknownName: there is no such collection or run.
        """
        return await jobs_desk.begin_job(self._context, work, priority, every)

    async def jobs(self, wanted: JobFilter = TOP_LEVEL_JOBS) -> list[Job]:
        """Jobs, newest first; ended ones are listed for 30 days."""
        return await jobs_desk.jobs_of(self._context).list(wanted)

    async def job(self, id: str) -> Job:
        """Return a job.

        Raises:
            UnknownName: there is none with that id.
        """
        return await jobs_desk.jobs_of(self._context).find(id)

    async def job_figures(self, id: str) -> list[WorkerFigures]:
        """Return what each worker has read so far of a job with parts.

        Raises:
            UnknownName: there is none with that id.
        """
        return await jobs_desk.job_figures(self._context, id)

    def follow_job(self, id: str, after: int = 0) -> AsyncIterator[Job]:
        """Yield a job after each update with `seq > after`, until it has ended.

        Of updates in quick succession only the last is yielded.

        Raises:
            UnknownName: there is none with that id.
        """
        return jobs_desk.follow_job(self._context, id, after)

    async def cancel_job(self, id: str) -> Job:
        """End a job and its parts: at once if it waits, within seconds if it is in progress. Completed work stays.

        Raises:
            UnknownName: there is none with that id.
        """
        return await jobs_desk.jobs_of(self._context).cancel(id)

    async def retry_job(self, id: str) -> Job:
        """Queue a failed or cancelled job again; completed work is not repeated.

        Raises:
            UnknownName: there is none with that id.
            UsageError: it is done, waiting or in progress.
        """
        return await jobs_desk.retry_job(self._context, id)

    def job_worker(self, slots: int, say: ProgressLog | None = None) -> JobWorker:
        """Make a worker for jobs in this process, `slots` at once.

        Args:
            say: called with a line of text when it takes a job up and when that ends.
        """
        return jobs_desk.make_worker(self._context, slots, say)
