"""The class `Assay`: settings in, a working engine out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from assay import app
from assay.app import stored
from assay.app.library import Library
from assay.app.naming import DEFAULT as DEFAULT
from assay.app.naming import Say
from assay.app.naming import Sources as Sources
from assay.app.stored import ListedRun
from assay.core.brief import Point
from assay.core.estimate import Estimate
from assay.core.events import Envelope
from assay.core.markers import CitationMode
from assay.core.plan import Plan
from assay.core.ports import Queue, QueuedRun, QueueLimits, RunRow
from assay.core.view import RunView, Steered

if TYPE_CHECKING:
    from assay.app.briefs import Wanted
    from assay.app.handle import RunHandle
    from assay.app.housekeeping import Pruned, Rules, Swept
    from assay.app.owning import Asked, Came
    from assay.app.replays import Replay
    from assay.app.revising import Revised
    from assay.app.threads import Answers
    from assay.app.verifying import Rechecked
    from assay.app.working import Worker
    from assay.evidence.cited import CitedPassage

LATEST = 100
"""Runs a list holds, where nobody says how many."""


class Assay(Library):
    """A library of documents and the runs over it; see `Library` for the documents, and for what it is made with."""

    # runs begin

    def start(
        self,
        question: str,
        *,
        sources: Sources | None = None,
        progress: Say | None = None,
        **wanted: Unpack[Wanted],
    ) -> RunHandle:
        """Start a run in this process; needs a running event loop. What is None is taken from the settings.

        Args:
            sources: files, folders, globs, pages and collections (`@NAME`): the run sees exactly these. None: the
                default collection.
            progress: told in a line how the reading of documents goes.
            wanted: how to go about it; see `Wanted`.

        Raises (from the handle):
            UsageError: a path that does not exist, no readable document, a budget below one report, a run to continue
                which has not ended, private documents which would go elsewhere.
            UnknownName: no run of the id it is to continue.
        """
        return app.starting.start(self._context, question, sources, progress, wanted)

    async def create(
        self,
        question: str,
        *,
        sources: Sources | None = None,
        progress: Say | None = None,
        **wanted: Unpack[Wanted],
    ) -> str:
        """Store a run as `start` would, and execute nothing of it; its id. `resume` does, in any process.

        Raises:
            UsageError, UnknownName: as `start`.
        """
        return await app.starting.create(self._context, question, sources, progress, wanted)

    def ask(self, reference: str, question: str, **wanted: Unpack[Wanted]) -> RunHandle:
        """Answer a question from what a run has read, and from nothing else: a run of its own, in the same thread.

        Raises (from the handle):
            UnknownName: no such run.
            UsageError: the run has not ended.
        """
        return app.starting.ask(self._context, reference, question, wanted)

    def agent(
        self, task: str, *, sources: Sources | None = None, progress: Say | None = None, **wanted: Unpack[Wanted]
    ) -> RunHandle:
        """Have one research agent work on `task`, without planner and writer: its findings are the report.

        It is a run like any other: `start` says what the options are. A depth says how many turns the agent has.
        """
        wanted["mode"] = "agent"
        return app.starting.start(self._context, task, sources, progress, wanted)

    async def fork(
        self,
        reference: str,
        point: Point,
        *,
        plan: Plan | str | Path | None = None,
        exclude: Sequence[str] = (),
        add: Sources | None = None,
        progress: Say | None = None,
        **wanted: Unpack[Revised],
    ) -> str:
        """Store a run which goes on from `point` of another, and execute nothing of it; its id. `resume` does.

        What the other did before that is taken over and costs nothing; the new run stands alone.

        Args:
            point: `plan`: triage and background are taken over; `research`: the plan too; `write`: the findings too.
            plan: to be followed in place of the planner's: a plan, its form or JSON, or the `Path` of a file.
            exclude: sources to be left out: an id (S1002), a number of the report, an address, a title or file name.
            add: files, folders, globs and pages to be searched beside those of the other run.
            progress: told in a line how the reading of documents goes.
            wanted: what is to be otherwise; see `Revised`.

        Raises:
            UnknownName: no such run, or it met no such source.
            UsageError: it has not ended or never came so far, this is no plan, or what is wanted would change nothing.
        """
        return await app.forking.fork(
            self._context, reference, point, plan=plan, exclude=exclude, add=add, progress=progress, **wanted
        )

    async def resume(self, reference: str) -> RunHandle:
        """Go on with a stored run in this process; of an ended one, its events are replayed.

        Raises:
            UnknownName: no such run.
            LeaseHeld: another live process executes it; `follow` shows how it goes.
            UsageError: it would take private documents elsewhere.
        """
        return await app.starting.resume(self._context, reference)

    # runs as they are stored

    async def runs(self, limit: int = LATEST) -> list[RunRow]:
        """The latest runs, newest first."""
        return await stored.latest(self._context, limit)

    async def listed(self, limit: int = LATEST) -> list[ListedRun]:
        """The latest runs, newest first, with whose they are and what they have used."""
        return await stored.listed(self._context, limit)

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`.

        Raises:
            UnknownName: none, or more than one, begins so.
        """
        return await stored.find(self._context, reference)

    async def events(self, reference: str, after: int = 0) -> list[Envelope]:
        """A run's log from `seq > after`."""
        return await stored.events(self._context, reference, after)

    async def view(self, reference: str) -> RunView:
        """A run as its events tell it."""
        return await stored.view(self._context, reference)

    def follow(self, reference: str, after: int = 0, *, patient: bool = False) -> AsyncIterator[Envelope]:
        """The events of a run that any process executes, as they are stored, until it ends.

        All who follow runs in this process share one reader, which asks the store once for all of them.

        Args:
            reference: the run: its id, the start of it, or `last`.
            after: the number of the last event you have.
            patient: stay while the run waits for a person's answer, or for a process to take it up. Without it, that
                ends the iteration too.

        Raises:
            UnknownName: there is no such run, or it was deleted meanwhile.
        """
        return app.following.follow(self._context, reference, after, patient=patient)

    async def unfinished(self, question: str) -> list[RunRow]:
        """Runs of the same question which ended without a last word and which no live process executes."""
        return await app.following.unfinished(self._context, question, LATEST)

    async def estimate(self, reference: str) -> Estimate:
        """What a run will take all in all, by its plan where it has one.

        Raises:
            UnknownName: no such run.
        """
        return await app.results.estimate(self._context, reference)

    async def export(self, reference: str, suffix: str, citations: CitationMode = "numbers") -> bytes:
        """The report of a run, as far as it is written, as the bytes of a file in the format of `suffix` (".html").

        Raises:
            UnknownName: no such run, or no such format.
            ConfigError: the format needs an extra which is not installed.
        """
        return await app.results.export(self._context, reference, suffix, citations)

    async def passage(self, reference: str, number: int) -> list[CitedPassage]:
        """What citation `number` of a run's report rests on: each passage cited of that source, in its context.

        Raises:
            UnknownName: no such run, or no such number in its report.
        """
        return await app.results.passage(self._context, reference, number)

    async def recheck(
        self,
        reference: str,
        *,
        model: str | None = None,
        allow_private: bool = False,
        max_usd: float | None = None,
        max_tokens: int | None = None,
    ) -> Rechecked:
        """Check the report of a run by the rules of today, against the documents as they are stored.

        Args:
            reference: the run: its id, the start of it, or `last`.
            model: `PROVIDER:NAME` judges the claims which the rules do not decide; without, what a judge said in the
                run stands until a rule objects.
            allow_private: let a model which is not on this machine see private documents.
            max_usd: US dollars the model may cost; claims which are left over are unchecked. None: the settings.
            max_tokens: tokens it may use, likewise.

        Raises:
            UnknownName: no such run; no such model.
            ConfigError: the model cannot be reached as it is set up.
            UsageError: the run has no report; a model which cannot judge, or would see private documents.
        """
        judge = app.verifying.Judge(model, None, allow_private, max_usd, max_tokens)
        return await app.verifying.rechecked(self._context, reference, judge)

    async def replay(self, reference: str) -> Replay:
        """Compute a completed run again from its stored steps: nothing is asked, fetched or changed.

        Raises:
            UnknownName: no such run.
            UsageError: it is not completed.
        """
        return await app.verifying.replayed(self._context, reference)

    # what a run's owner may do, from any process

    async def control(self, reference: str, action: Asked, *, wait: float = 0.0) -> Came:
        """Finish, cancel or pause a run, in whatever process it is. One that nobody executes is changed at once.

        Args:
            wait: seconds to wait until that is done.

        Raises:
            UnknownName: no such run.
            UsageError: it has ended, or there is nothing of it to pause.
        """
        return await app.owning.ask_for(self._context, reference, action, wait)

    async def steer(self, reference: str, text: str, *, wait: float = 0.0) -> Steered:
        """Tell a run what to heed from its next decision on; what became of that.

        Args:
            wait: seconds to wait until a decision has taken it, or none will.

        Raises:
            UnknownName: no such run.
            UsageError: it has ended, or the text is empty or too long.
        """
        return await app.owning.steer(self._context, reference, text, wait)

    async def answer(self, reference: str, answers: Answers) -> None:
        """Give a run the answers it waits for: in the order of its questions, or by question. `resume` goes on with it.

        Raises:
            UnknownName: no such run.
            UsageError: it does not wait for answers, or these do not fit its questions.
        """
        await app.owning.answer(self._context, reference, answers)

    async def is_answered(self, reference: str) -> bool:
        """Whether a run has been given what it waits for: answers to its questions, or its plan."""
        return await app.owning.is_answered(self._context, reference)

    async def approve(self, reference: str, plan: Plan | str | Path | None = None) -> None:
        """Approve the plan a run waits with, or give it another. `resume` goes on with it.

        Args:
            plan: a plan; or a plan's form or JSON, as text or as the `Path` of a file. None: as it is.

        Raises:
            UnknownName: no such run.
            UsageError: it does not wait for that, or this is no plan.
        """
        await app.owning.approve(self._context, reference, plan)

    async def delete(self, reference: str) -> None:
        """Forget a run: its events, steps and messages. What it read stays in the library.

        Raises:
            UnknownName: no such run.
            LeaseHeld: a live process executes it.
        """
        await app.owning.delete(self._context, reference)

    async def prune(self, rules: Rules | None = None, *, dry_run: bool = False) -> Pruned:
        """Delete the ended runs which `rules` do not keep (None: those of the settings), and clean up.

        Runs that others go on from, and those which the next run of a schedule is compared with, are kept.

        Raises:
            UsageError: a size is named, and runs are in memory.
            StoreError: the home cannot be read or written.
        """
        return await app.housekeeping.prune(self._context, rules, dry_run=dry_run)

    async def tidy(self) -> Swept | None:
        """Remove documents which are in no collection of the user's and which no run mentions, and their bytes.

        None where it is not done now: another process works with the library, or this one has runs going on; and
        where it never is: without a home.

        Raises:
            StoreError: the home cannot be read or written.
        """
        return await app.housekeeping.tidy(self._context)

    # the queue

    async def enqueue(self, run_id: str, *, priority: int = 0) -> None:
        """Leave a stored run (`create`) to the workers; its user is the brief's.

        Args:
            priority: -100 to 100; of the runs in the queue those with the highest are taken first.

        Raises:
            UnknownName: no such run.
            UsageError: there is no queue, or no such priority.
        """
        await app.working.enqueue(self._context, run_id, priority)

    async def queued(self) -> list[QueuedRun]:
        """What is in the queue, and who executes it."""
        return await self.queue.queued()

    @property
    def queue(self) -> Queue:
        """The queue.

        Raises:
            UsageError: the store is in memory, where no other process could find a run.
        """
        return app.working.queue(self._context)

    def worker(self, slots: int, limits: QueueLimits = QueueLimits(), say: Say | None = None) -> Worker:
        """A worker in this process, which executes `slots` runs at once.

        Args:
            limits: of all workers together; workers with other limits go by their own.
            say: told in a line what it takes up and how that ends.
        """
        return app.working.worker(self._context, slots, limits, say)
