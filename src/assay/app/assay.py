"""The class `Assay`: settings in, a working engine out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from assay.app.history import LATEST as LATEST
from assay.app.run_queue import RunQueue
from assay.core.brief import Estimate, Point
from assay.core.events import Envelope
from assay.core.later import later
from assay.core.markers import CitationMode
from assay.core.plan import Plan
from assay.core.ports import RunRow
from assay.core.ports.webhooks import Webhook
from assay.core.view import Steered
from assay.services.arguments import DEFAULT as DEFAULT
from assay.services.arguments import Say, named
from assay.services.arguments import Sources as Sources

if TYPE_CHECKING:
    from assay.app import verification
    from assay.app.verification import Rechecked
    from assay.core.run_options import Answers, ForkOptions, RunOptions
    from assay.evidence.documents import CitedPassage
    from assay.services import forks, ownership, results, retention, run_control, run_start, stored_runs
    from assay.services.handle import RunHandle
    from assay.services.ownership import DataErased
    from assay.services.retention import Pruned, RetentionRules, Swept
    from assay.services.revision import Replay
    from assay.services.run_control import Asked, Came
else:
    forks = later("assay.services.forks")
    ownership = later("assay.services.ownership")
    results = later("assay.services.results")
    retention = later("assay.services.retention")
    run_control = later("assay.services.run_control")
    run_start = later("assay.services.run_start")
    stored_runs = later("assay.services.stored_runs")
    verification = later("assay.app.verification")


class Assay(RunQueue):
    """A library of documents and the runs over it.

    See `RunHistory` for lists of runs and threads, `RunQueue` for workers, `DocumentLibrary` for the documents, and
    `Home` for what it is made with.
    """

    @named("assay.core.run_options:RunOptions")
    def start(
        self,
        question: str,
        *,
        sources: Sources | None = None,
        progress: Say | None = None,
        **wanted: Unpack[RunOptions],
    ) -> RunHandle:
        """Start a run in this process; needs a running event loop. What is None is taken from the settings.

        Args:
            sources: files, folders, globs, pages and collections (`@NAME`): the run sees exactly these. None: the
                default collection.
            progress: told in a line how the reading of documents goes.
            wanted: how to go about it; see `RunOptions`.

        Raises (from the handle):
            UsageError: a path that does not exist, no readable document, a budget below one report, a run to continue
                which has not ended, private documents which would go elsewhere.
            UnknownName: no run of the id it is to continue.
        """
        return run_start.start(self._context, question, sources, progress, wanted)

    @named("assay.core.run_options:RunOptions")
    async def create(
        self,
        question: str,
        *,
        sources: Sources | None = None,
        progress: Say | None = None,
        priority: int | None = None,
        webhook: Webhook | None = None,
        **wanted: Unpack[RunOptions],
    ) -> str:
        """Store a run as `start` would, and execute nothing of it here; its id. `resume` does, in any process.

        Args:
            question: as `start` has it, like what is not named here.
            priority: -100 to 100; the run is queued for workers as it is stored, in one transaction. None: it is not.
            webhook: told of this run alone by a server over the same store (`Webhooks.for_run`).

        Raises:
            UsageError, UnknownName: as `start`, and as `enqueue` where there is a priority.
        """
        stored = run_start.Storing(priority=priority, webhook=webhook)
        return await run_start.create(self._context, question, sources, progress, stored, wanted)

    @named("assay.core.run_options:RunOptions")
    def ask(self, reference: str, question: str, **wanted: Unpack[RunOptions]) -> RunHandle:
        """Answer a question from what a run has read, and from nothing else: a run of its own, in the same thread.

        Raises (from the handle):
            UnknownName: no such run.
            UsageError: the run has not ended.
        """
        return run_start.ask(self._context, reference, question, wanted)

    @named("assay.core.run_options:RunOptions")
    async def foresee(self, question: str, *, sources: Sources | None = None, **wanted: Unpack[RunOptions]) -> Estimate:
        """What a run would take, by the rules of its depth or by runs of its kind; nothing of it is stored.

        Raises:
            UsageError, UnknownName: as `start`.
        """
        return await run_start.foreseen(self._context, question, sources, None, wanted)

    @named("assay.core.run_options:RunOptions")
    async def create_ask(
        self, reference: str, question: str, *, priority: int | None = None, **wanted: Unpack[RunOptions]
    ) -> str:
        """Store a run as `ask` would, and execute nothing of it here; its id. `resume` does, in any process.

        With a `priority` it is queued for workers as it is stored, as in `create`.

        Raises:
            UnknownName: no such run.
            UsageError: the run has not ended.
        """
        return await run_start.create_ask(self._context, reference, question, priority, wanted)

    @named("assay.core.run_options:RunOptions")
    def agent(
        self, task: str, *, sources: Sources | None = None, progress: Say | None = None, **wanted: Unpack[RunOptions]
    ) -> RunHandle:
        """Have one research agent work on `task`, without planner and writer: its findings are the report.

        It is a run like any other: `start` says what the options are. A depth says how many turns the agent has.
        """
        wanted["mode"] = "agent"
        return run_start.start(self._context, task, sources, progress, wanted)

    @named("assay.core.run_options:ForkOptions")
    async def fork(
        self,
        reference: str,
        point: Point,
        *,
        plan: Plan | str | Path | None = None,
        exclude: Sequence[str] = (),
        add: Sources | None = None,
        progress: Say | None = None,
        priority: int | None = None,
        **wanted: Unpack[ForkOptions],
    ) -> str:
        """Store a run which goes on from `point` of another, and execute nothing of it; its id. `resume` does.

        What the other did before that is taken over and costs nothing; the new run stands alone.

        Args:
            point: `plan`: triage and background are taken over; `research`: the plan too; `write`: the findings too.
            plan: to be followed in place of the planner's: a plan, its form or JSON, or the `Path` of a file.
            exclude: sources to be left out: an id (S1002), a number of the report, an address, a title or file name.
            add: files, folders, globs and pages to be searched beside those of the other run.
            progress: told in a line how the reading of documents goes.
            priority: it is queued for workers as it is stored, as in `create`. None: it is not.
            wanted: what is to be otherwise; see `ForkOptions`.

        Raises:
            UnknownName: no such run, or it met no such source.
            UsageError: it has not ended or never came so far, this is no plan, or what is wanted would change nothing.
        """
        changes = forks.ForkChanges(plan=plan, exclude=exclude, add=add, wanted=wanted)
        return await forks.fork(self._context, reference, point, changes, progress, priority)

    async def resume(self, reference: str) -> RunHandle:
        """Go on with a stored run in this process; of an ended one, its events are replayed.

        Raises:
            UnknownName: no such run.
            LeaseHeld: another live process executes it; `follow` shows how it goes.
            UsageError: it would take private documents elsewhere.
        """
        return await run_start.resume(self._context, reference)

    # runs as they are stored; see `RunHistory` too

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
        return stored_runs.follow(self._context, reference, after, patient=patient)

    def groups(self, reference: str, after: int = 0, *, rest: float | None = None) -> AsyncIterator[Sequence[Envelope]]:
        """As a patient `follow`, each time all that is there; nothing, where nothing came for `rest` seconds.

        Raises:
            UnknownName: there is no such run, or it was deleted meanwhile.
            Cancelled: `unfollow` was called.
        """
        return stored_runs.groups(self._context, reference, after, rest)

    async def unfollow(self) -> None:
        """End what all who follow runs in this process wait for: they are told by `Cancelled`."""
        await self._context.feeds.close()

    async def unfinished(self, question: str) -> list[RunRow]:
        """Runs of the same question which ended without a last word and which no live process executes."""
        return await stored_runs.unfinished(self._context, question, LATEST)

    async def estimate(self, reference: str) -> Estimate:
        """What a run will take all in all, by its plan where it has one.

        Raises:
            UnknownName: no such run.
        """
        return await results.estimate(self._context, reference)

    async def export(self, reference: str, suffix: str, citations: CitationMode = "numbers") -> bytes:
        """The report of a run, as far as it is written, as the bytes of a file in the format of `suffix` (".html").

        Raises:
            UnknownName: no such run, or no such format.
            ConfigError: the format needs an extra which is not installed.
        """
        return await results.export(self._context, reference, suffix, citations)

    async def passage(self, reference: str, number: int) -> list[CitedPassage]:
        """What citation `number` of a run's report rests on: each passage cited of that source, in its context.

        Raises:
            UnknownName: no such run, or no such number in its report.
        """
        return await results.passage(self._context, reference, number)

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
        judge = verification.Judge(model, None, allow_private, max_usd, max_tokens)
        return await verification.rechecked(self._context, reference, judge)

    async def replay(self, reference: str) -> Replay:
        """Compute a completed run again from its stored steps: nothing is asked, fetched or changed.

        Raises:
            UnknownName: no such run.
            UsageError: it is not completed.
        """
        return await verification.replayed(self._context, reference)

    # what a run's owner may do, from any process

    async def control(self, reference: str, action: Asked, *, wait: float = 0.0) -> Came:
        """Finish, cancel or pause a run, in whatever process it is. One that nobody executes is changed at once.

        Args:
            wait: seconds to wait until that is done.

        Raises:
            UnknownName: no such run.
            UsageError: it has ended, or there is nothing of it to pause.
        """
        return await run_control.ask_for(self._context, reference, action, wait)

    async def stop_agent(self, reference: str, lane: int, *, wait: float = 0.0) -> Came:
        """Stop one agent of a run, in whatever process it is: what it found is kept, and the run goes on without it.

        Where nobody executes the run, that is done when it is taken up again.

        Args:
            lane: the agent's number (`RunView.lanes`).
            wait: seconds to wait until that is done.

        Raises:
            UnknownName: no such run, or it has no such agent.
            UsageError: the run or the agent has ended.
        """
        return await run_control.stop_agent(self._context, reference, lane, wait)

    async def steer(self, reference: str, text: str, *, wait: float = 0.0) -> Steered:
        """Tell a run what to heed from its next decision on; what became of that.

        Args:
            wait: seconds to wait until a decision has taken it, or none will.

        Raises:
            UnknownName: no such run.
            UsageError: it has ended, or the text is empty or too long.
        """
        return await run_control.steer(self._context, reference, text, wait)

    async def answer(self, reference: str, answers: Answers) -> None:
        """Give a run the answers it waits for: in the order of its questions, or by question. `resume` goes on with it.

        Raises:
            UnknownName: no such run.
            UsageError: it does not wait for answers, or these do not fit its questions.
        """
        await run_control.answer(self._context, reference, answers)

    async def is_answered(self, reference: str) -> bool:
        """Whether a run has been given what it waits for: answers to its questions, or its plan."""
        return await run_control.is_answered(self._context, reference)

    async def approve(self, reference: str, plan: Plan | str | Path | None = None) -> None:
        """Approve the plan a run waits with, or give it another. `resume` goes on with it.

        Args:
            plan: a plan; or a plan's form or JSON, as text or as the `Path` of a file. None: as it is.

        Raises:
            UnknownName: no such run.
            UsageError: it does not wait for that, or this is no plan.
        """
        await run_control.approve(self._context, reference, plan)

    async def delete(self, reference: str) -> None:
        """Forget a run: its events, steps and messages. What it read stays in the library.

        Raises:
            UnknownName: no such run.
            LeaseHeld: a live process executes it.
        """
        await run_control.delete(self._context, reference)

    async def erase(self) -> DataErased:
        """Delete all that is this user's: runs, links, schedules, collections, uploads. One which goes on is cancelled.

        Texts and bytes which others refer to stay; those nobody does go now, or with the next clean-up.

        Raises:
            UsageError: this is the local user, or the view of all users.
            LeaseHeld: the process of a run does not let go of it; call it again.
        """
        return await ownership.erase(self._context)

    async def prune(self, rules: RetentionRules | None = None, *, dry_run: bool = False) -> Pruned:
        """Delete the ended runs which `rules` do not keep (None: those of the settings), and clean up.

        Runs that others go on from, and those which the next run of a schedule is compared with, are kept.

        Raises:
            UsageError: a size is named, and runs are in memory.
            StoreError: the home cannot be read or written.
        """
        return await retention.prune(self._context, rules, dry_run=dry_run)

    async def tidy(self) -> Swept | None:
        """Remove documents which are in no collection of the user's and which no run mentions, and their bytes.

        None where it is not done now: another process works with the library, or this one has runs going on; and
        where it never is: without a home.

        Raises:
            StoreError: the home cannot be read or written.
        """
        return await retention.tidy(self._context)
