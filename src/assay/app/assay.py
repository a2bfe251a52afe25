"""The class `Assay`, which turns settings into a working engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from assay.app.runs import RunQueue
from assay.core.brief import Estimate, ForkPoint
from assay.core.events import Envelope
from assay.core.lazy import lazy_module
from assay.core.markers import CitationMode
from assay.core.plan import Plan
from assay.core.ports.webhooks import Webhook
from assay.core.view import Steered
from assay.services.arguments import DEFAULT_COLLECTION as DEFAULT_COLLECTION
from assay.services.arguments import ProgressLog, Sources, checked_keywords, checked_methods

if TYPE_CHECKING:
    from assay.app import verification
    from assay.core.run_options import ForkOptions, RunOptions
    from assay.evidence.documents import CitedPassage
    from assay.services import forks, ownership, results, retention, run_control, run_start, stored_runs
    from assay.services.retention import PruneResult, SweepResult
    from assay.services.run_control import ControlOutcome
else:
    forks = lazy_module("assay.services.forks")
    ownership = lazy_module("assay.services.ownership")
    results = lazy_module("assay.services.results")
    retention = lazy_module("assay.services.retention")
    run_control = lazy_module("assay.services.run_control")
    run_start = lazy_module("assay.services.run_start")
    stored_runs = lazy_module("assay.services.stored_runs")
    verification = lazy_module("assay.app.verification")


@checked_methods
class Assay(RunQueue):
    """A library of documents and the runs over it.

    `RunHistory` lists runs and threads, `RunQueue` is for workers, `DocumentLibrary` holds the documents, and `Home`
    says what an `Assay` is made from.
    """

    @checked_keywords("assay.core.run_options:RunOptions")
    def start(
        self,
        question: str,
        *,
        sources: Sources | None = None,
        progress: ProgressLog | None = None,
        **wanted: Unpack[RunOptions],
    ) -> results.RunHandle:
        """Start a run in this process. Needs a running event loop. Options that are None come from the settings.

        Args:
            sources: files, folders, globs, pages and collections (`@NAME`); the run searches exactly these. None: the
                default collection.
            progress: called with a line of text while documents are read.
            wanted: the options of the run; see `RunOptions`.

        Raises (at once for the question and the options, else from the handle):
            UsageError: the question is empty, an option or a path is wrong, no document is readable, the budget is too
                small for a report, the run to continue has not ended, or private documents would leave this machine.
            UnknownName: there is no such model, or no run with the id to continue.
        """
        return run_start.start(self._context, question, sources, progress, wanted)

    @checked_keywords("assay.core.run_options:RunOptions")
    async def create(
        self,
        question: str,
        *,
        sources: Sources | None = None,
        progress: ProgressLog | None = None,
        priority: int | None = None,
        webhook: Webhook | None = None,
        **wanted: Unpack[RunOptions],
    ) -> str:
        """Store a run as `start` would, without executing it here, and return its id. Any process can `resume` it.

        Args:
            question: as in `start`, like the arguments not listed here.
            priority: -100 to 100; queues the run for workers when it is stored. None: the run is not queued.
            webhook: an address that a server over the same store notifies of this run; see `Webhooks.make_for_run`.

        Raises:
            UsageError, UnknownName: as `start`, and as `enqueue` if there is a priority.
        """
        queue_options = run_start.QueueOptions(priority=priority, webhook=webhook)
        return await run_start.create(self._context, question, sources, progress, queue_options, wanted)

    @checked_keywords("assay.core.run_options:RunOptions")
    def ask(self, reference: str, question: str, **wanted: Unpack[RunOptions]) -> results.RunHandle:
        """Answer a question only from what a run has read. The answer is a new run in the same thread.

        Raises (from the handle):
            UnknownName: there is no such run.
            UsageError: the run has not ended.
        """
        return run_start.ask(self._context, reference, question, wanted)

    @checked_keywords("assay.core.run_options:RunOptions")
    async def foresee(self, question: str, *, sources: Sources | None = None, **wanted: Unpack[RunOptions]) -> Estimate:
        """Estimate what a run would take, from the rules of its depth or from similar runs. Stores nothing.

        Raises:
            UsageError, UnknownName: as `start`.
        """
        return await run_start.foresee(self._context, question, sources, wanted)

    @checked_keywords("assay.core.run_options:RunOptions")
    async def create_ask(
        self, reference: str, question: str, *, priority: int | None = None, **wanted: Unpack[RunOptions]
    ) -> str:
        """Store a run as `ask` would, without executing it here, and return its id. Any process can `resume` it.

        With a `priority` the run is queued for workers in the same transaction, as in `create`.

        Raises:
            UnknownName: there is no such run.
            UsageError: the run has not ended.
        """
        return await run_start.create_ask(self._context, reference, question, priority, wanted)

    @checked_keywords("assay.core.run_options:RunOptions")
    def agent(
        self,
        task: str,
        *,
        sources: Sources | None = None,
        progress: ProgressLog | None = None,
        **wanted: Unpack[RunOptions],
    ) -> results.RunHandle:
        """Have one research agent work on `task`, without planner and writer. Its findings are the report.

        The result is a run like any other; `start` explains the options. The depth sets how many turns the agent has.
        """
        wanted["mode"] = "agent"
        return run_start.start(self._context, task, sources, progress, wanted)

    @checked_keywords("assay.core.run_options:ForkOptions")
    async def fork(
        self,
        reference: str,
        point: ForkPoint,
        *,
        plan: Plan | str | Path | None = None,
        exclude: Sequence[str] = (),
        add: Sources | None = None,
        progress: ProgressLog | None = None,
        priority: int | None = None,
        **wanted: Unpack[ForkOptions],
    ) -> str:
        """Store a run that continues from `point` of another run, without executing it, and return its id.

        Everything before `point` is taken over at no cost. The new run is independent of the old one; `resume` executes
        it.

        Args:
            point: `plan` takes over triage and background; `research` also the plan; `write` also the findings.
            plan: replaces the planner's plan: a plan, its form or JSON as text, or the `Path` of a file.
            exclude: sources to leave out: an id (S1002), a number in the report, an address, a title or a file name.
            add: files, folders, globs and pages to search in addition to those of the other run.
            progress: called with a line of text while documents are read.
            priority: queues the run for workers in the same transaction, as in `create`. None: the run is not queued.
            wanted: the options to change; see `ForkOptions`.

        Raises:
            UnknownName: there is no such run, or it has no such source.
            UsageError: the run has not ended or did not reach `point`, the plan cannot be read, or nothing would
                change.
        """
        changes = forks.ForkChanges(plan=plan, exclude=exclude, add=add, options=wanted)
        return await forks.fork(self._context, reference, point, changes, progress, priority)

    async def resume(self, reference: str) -> results.RunHandle:
        """Continue a stored run in this process. If the run has ended, its events are replayed.

        If this `Assay` executes it already, the run goes on as it is, and the handle is one more of it.

        Raises:
            UnknownName: there is no such run.
            LeaseHeld: another live process, or another Assay, executes it; `follow` shows its progress.
            UsageError: private documents would leave this machine.
        """
        return await run_start.resume(self._context, reference)

    # runs as they are stored; see `RunHistory` too

    def follow(self, reference: str, after: int = 0, *, patient: bool = False) -> AsyncIterator[Envelope]:
        """Yield the events of a run as they are stored, until it ends. Any process may execute the run.

        All followers in this process share one reader, which queries the store once for all of them.

        Args:
            reference: the run: its id, the start of its id, or `last`.
            after: the number of the last event you have.
            patient: keep waiting while the run waits for a person's answer or for a process to execute it. Without it,
                either ends the iteration.

        Raises:
            UnknownName: there is no such run, or it was deleted in the meantime.
        """
        return stored_runs.follow(self._context, reference, after, patient=patient)

    def groups(self, reference: str, after: int = 0, *, rest: float | None = None) -> AsyncIterator[Sequence[Envelope]]:
        """Follow a run as `follow` does with `patient`, and yield all new events at once.

        Args:
            rest: seconds after which an empty group is yielded if no event came. None: never.

        Raises:
            UnknownName: there is no such run, or it was deleted in the meantime.
            Cancelled: `unfollow` was called.
        """
        return stored_runs.groups(self._context, reference, after, rest)

    async def unfollow(self) -> None:
        """End the waiting of everyone who follows runs in this process: their iterations raise `Cancelled`."""
        await self._context.feeds.close()

    async def estimate(self, reference: str) -> Estimate:
        """Estimate the total time and cost of a run, from its plan if it has one.

        Raises:
            UnknownName: there is no such run.
        """
        return await results.estimate(self._context, reference)

    async def export(self, reference: str, suffix: str, citations: CitationMode = "numbers") -> bytes:
        """Export the report of a run, as far as it is written, as a file in the format of `suffix` (".html").

        Raises:
            UnknownName: there is no such run, format, or form of citations.
            ConfigError: the format needs an extra that is not installed.
        """
        return await results.export(self._context, reference, suffix, citations)

    async def passage(self, reference: str, number: int) -> list[CitedPassage]:
        """Return the passages behind citation `number` of a run's report, each with its context.

        Raises:
            UnknownName: there is no such run, or its report has no such number.
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
    ) -> verification.Rechecked:
        """Check the report of a run with today's rules, against the stored documents.

        Args:
            reference: the run: its id, the start of its id, or `last`.
            model: `PROVIDER:NAME` judges the claims that the rules do not decide. Without it, a judge's verdict from
                the run stands unless a rule objects.
            allow_private: let a model that is not on this machine see private documents.
            max_usd: the most the model may cost, in US dollars; the remaining claims are unchecked. None: from the
                settings.
            max_tokens: the most tokens it may use, likewise.

        Raises:
            UnknownName: there is no such run, or no such model.
            ConfigError: the model is not set up correctly.
            UsageError: the run has no report, or the model cannot judge or would see private documents.
        """
        judge = verification.Judge(model, None, allow_private, max_usd, max_tokens)
        return await verification.recheck_run(self._context, reference, judge)

    async def replay(self, reference: str) -> forks.Replay:
        """Compute a completed run again from its stored steps. Calls no model, fetches nothing, changes nothing.

        Raises:
            UnknownName: there is no such run.
            UsageError: the run is not completed.
        """
        return await verification.replay_run(self._context, reference)

    # what a run's owner may do, from any process

    async def control(
        self, reference: str, action: run_control.RequestedAction, *, wait: float = 0.0
    ) -> ControlOutcome:
        """Finish, cancel or pause a run, whichever process executes it. If none does, the run changes at once.

        Args:
            wait: seconds to wait for the request to take effect.

        Raises:
            UnknownName: there is no such run, or no such action.
            UsageError: the run has ended, or it has nothing to pause.
        """
        return await run_control.request_action(self._context, reference, action, wait)

    async def stop_agent(self, reference: str, lane: int, *, wait: float = 0.0) -> ControlOutcome:
        """Stop one agent of a run, whichever process executes it. Its findings are kept and the run goes on without it.

        If no process executes the run, the agent stops when the run is resumed.

        Args:
            lane: the agent's number (`RunView.lanes`).
            wait: seconds to wait for the request to take effect.

        Raises:
            UnknownName: there is no such run, or it has no such agent.
            UsageError: the run or the agent has ended.
        """
        return await run_control.stop_agent(self._context, reference, lane, wait)

    async def steer(self, reference: str, text: str, *, wait: float = 0.0) -> Steered:
        """Give a run an instruction that counts from its next decision on, and return what became of it.

        Args:
            wait: seconds to wait until a decision has taken the instruction into account or none will.

        Raises:
            UnknownName: there is no such run.
            UsageError: the run has ended, or the text is empty or too long.
        """
        return await run_control.steer(self._context, reference, text, wait)

    async def answer(self, reference: str, answers: Sequence[str] | Mapping[str, str]) -> None:
        """Give a run the answers it waits for, in the order of its questions or by question. Then `resume` it.

        Raises:
            UnknownName: there is no such run.
            UsageError: the run does not wait for answers, or these do not fit its questions.
        """
        await run_control.answer(self._context, reference, answers)

    async def is_answered(self, reference: str) -> bool:
        """Return whether a run has what it waits for: answers to its questions, or an approved plan."""
        return await run_control.is_answered(self._context, reference)

    async def approve(self, reference: str, plan: Plan | str | Path | None = None) -> None:
        """Approve the plan a run waits with, or replace it. Then `resume` the run.

        Args:
            plan: a plan, or a plan's form or JSON as text or as the `Path` of a file. None: approve the plan as it is.

        Raises:
            UnknownName: there is no such run.
            UsageError: the run does not wait for approval, or the plan cannot be read.
        """
        await run_control.approve(self._context, reference, plan)

    async def delete(self, reference: str) -> None:
        """Delete a run: its events, steps and messages. What it read stays in the library.

        Raises:
            UnknownName: there is no such run.
            LeaseHeld: a live process executes it.
        """
        await run_control.delete(self._context, reference)

    async def erase(self) -> ownership.DataErased:
        """Delete everything of this user: runs, links, schedules, collections, uploads. Active runs are cancelled
        first.

        Texts and bytes that other data refers to stay. The rest is deleted now or with the next clean-up.

        Raises:
            UsageError: this is the local user, or the view of all users.
            LeaseHeld: the process of a run does not release it; call this again.
        """
        return await ownership.erase(self._context)

    async def prune(self, rules: retention.RetentionRules | None = None, *, dry_run: bool = False) -> PruneResult:
        """Delete the ended runs that `rules` do not keep (None: the rules in the settings), and clean up.

        Runs that other runs continue, and runs that a schedule compares its next run with, are kept.

        Raises:
            UsageError: a size is given, but runs are in memory.
            StoreError: the home cannot be read or written.
        """
        return await retention.prune(self._context, rules, dry_run=dry_run)

    async def tidy(self) -> SweepResult | None:
        """Remove documents that are in none of the user's collections and that no run mentions, and their bytes.

        Returns None if nothing was done: another process works with the library, this one has active runs, or there is
        no home.

        Raises:
            StoreError: the home cannot be read or written.
        """
        return await retention.tidy(self._context)
