"""A run executed in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from assay.core.errors import AssayError, FenceLost, OtherRelease, StoreError
from assay.core.events import Envelope
from assay.core.plan import Plan
from assay.core.ports import FINAL
from assay.core.ports.exporters import Record
from assay.core.view import RunView
from assay.run.engine import RunTask
from assay.services.research_report import ResearchReport, research_report
from assay.services.run_control import reviewed


class RunHandle:
    """A run executed in this process: iterate over its events, wait for its report, end it early."""

    def __init__(
        self,
        execution: RunTask,
        stored: Callable[[str], Awaitable[RunView]],
        recorded: Callable[[str], Awaitable[Record]],
    ) -> None:
        self._execution, self._stored, self._recorded = execution, stored, recorded
        self.run_id = execution.run_id

    def __aiter__(self) -> AsyncIterator[Envelope]:
        """Every event from the first, until the run ends or waits."""
        return aiter(self._execution)

    @property
    def created(self) -> bool:
        """Whether the run is stored: what happens now, it can be resumed."""
        return self._execution.created

    @property
    def ended(self) -> bool:
        """Whether this process is done with the run: it ended, waits, or could not be begun."""
        return self._execution.ended

    def on_end(self, told: Callable[[], None]) -> None:
        """Have `told` called, in this event loop, when this process is done with the run, however that ended."""
        self._execution.on_end(told)

    async def view(self) -> RunView:
        """The run as it stands when this process is done with it: completed, failed, cancelled or waiting.

        Raises:
            UsageError: the run could not even be created (a path that does not exist, a budget below one report).
            Cancelled: it was cancelled before it was created.
            FenceLost: another process took it over.
            OtherRelease: another release of Assay started it, and this one cannot go on.
            StoreError: it could not be written any more (a full disk); it can be resumed.
        """
        try:
            await self._execution.wait()
        except (FenceLost, OtherRelease):
            raise
        except StoreError as error:
            if self._execution.created and (view := await self._stored(self.run_id)).status in FINAL:
                return view
            raise self._stopped(error) from error
        except AssayError:
            if not self._execution.created:
                raise
        return await self._stored(self.run_id)

    def _stopped(self, error: StoreError) -> StoreError:
        hint = f"; to go on with run {self.run_id} when this is mended: assay runs resume {self.run_id}"
        return StoreError(f"{error}{hint if self._execution.created else ''}")

    def events(self) -> AsyncIterator[Envelope]:
        """Every event from the first, until the run ends or waits: the same as iterating over the handle."""
        return aiter(self)

    async def report(self) -> ResearchReport:
        """The report, once the run has ended. It can be saved (`report.save("report.html")`), and a notebook shows it.

        Raises:
            Cancelled, Paused: the run was cancelled, or paused.
            InputNeeded: it waits for an answer.
            AssayError: it failed; what it found is kept, see `Assay.view`.
        """
        await self._execution.wait()
        return research_report(await self._recorded(self.run_id))

    async def answer(self, answers: Sequence[str]) -> None:
        """Answer the clarifying questions the run asked, in their order."""
        await self._execution.answer("answers", tuple(answers))

    async def approve(self, plan: Plan | str | None = None) -> None:
        """Approve the plan a run waits with (`review_plan`), or give it another: a `Plan`, its form, or JSON.

        Raises:
            UsageError: it is no plan.
        """
        await self._execution.answer("plan", reviewed(plan))

    def pause(self) -> None:
        """Let go of every call in flight; `Assay.resume` goes on."""
        self._execution.pause()

    def finish(self) -> None:
        """End research now; the report is written from what was found."""
        self._execution.finish()

    def cancel(self) -> None:
        """End every call in flight; findings are kept."""
        self._execution.cancel()
