"""Runs executed here, and results of any run: its report as a file, the passage behind a citation, its estimate."""

from __future__ import annotations

import asyncio
import html
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec

from assay import plugins
from assay.core.brief import Estimate
from assay.core.errors import AssayError, FenceLost, OtherRelease, StoreError, UnknownName, UsageError
from assay.core.events import Envelope
from assay.core.markers import CitationMode
from assay.core.milestones import pluralize
from assay.core.plan import Plan
from assay.core.ports import FINAL
from assay.core.ports.exporters import Exporter, Record
from assay.core.report import Report, build_bibliography, build_report
from assay.core.view import RunView, fold_events
from assay.evidence.documents import CitedPassage, cited_passage
from assay.run.engine import RunTask
from assay.services import estimates, run_control, worlds
from assay.services.arguments import checked_keywords, checked_methods, format_of
from assay.services.context import Context
from assay.services.stored_runs import events, view

# The report of a run in Python: data, with methods to show and save it.

FRAME = (
    '<iframe title="Report" sandbox="allow-popups" srcdoc="{page}" '
    'style="width:100%;height:42rem;border:1px solid #8888;border-radius:4px"></iframe>'
)
"""How a notebook shows the page: separate from its own styles and ids, and without scripts."""


def replace_file(target: Path, data: bytes) -> None:
    """Replace a file completely or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    if target.exists() and not target.is_file():
        raise StoreError(f"{target} is no file: name another place")
    draft = target.with_name(f".{target.name}.part")
    try:
        draft.write_bytes(data)
        os.replace(draft, target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StoreError(f"{target} cannot be written ({error.strerror}): name another place") from error


class ResearchReport(Report, frozen=True, kw_only=True, dict=True):
    """A report that can be shown and saved; it contains what its run had stored when it was created."""

    def __str__(self) -> str:
        """The text, for `print`."""
        return self.markdown

    def __repr__(self) -> str:
        """One line, for the console: the whole report is long."""
        verification = "verified" if self.verified else "not verified"
        return (
            f"<ResearchReport of run {self.run_id}: {self.status}, "
            f"{pluralize(len(self.claims), 'claim')}, {verification}>"
        )

    def __copy__(self) -> ResearchReport:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle it with the log of its run, without the documents, which only a bundle (`.zip`) needs."""
        record: Record | None = self.__dict__.get("_record")
        return super().__reduce__() if record is None else (_unpickle, (record.log,))

    @checked_keywords()
    def save(self, path: str | Path, *, citations: CitationMode = "numbers") -> Path:
        """Write the report in the format of the file name (`report.md`, `.html`, `.docx`, `.pdf`, …) and return its
        path.

        Args:
            path: the file; an existing one is replaced.
            citations: how the report shows its citations.

        Raises:
            UnknownName: no format has this suffix, or there is no such form of citations.
            ConfigError: the format needs an extra that is not installed; the message names it.
            StoreError: the file cannot be written.
        """
        target = Path(path).expanduser()
        replace_file(target, self.export(format_of(target), citations))
        return target

    @checked_keywords()
    def export(self, suffix: str, citations: CitationMode = "numbers") -> bytes:
        """Return the report as a file in the format of `suffix` (".json", ".html").

        Raises:
            UnknownName, ConfigError: as `save`.
        """
        record: Record | None = self.__dict__.get("_record")
        if record is None:
            raise UsageError("this report does not come from a run: Assay.export writes the report of a run to a file")
        exporter: Exporter = plugins.load("exporters", suffix)
        return exporter.render(record, _check(citations))

    def _repr_markdown_(self) -> str:
        """Markdown for notebooks that show no HTML."""
        return self.export(".md").decode()

    def _repr_html_(self) -> str:
        """HTML for notebooks: the page of `save("report.html")`, whose citations open their quotes."""
        return FRAME.format(page=html.escape(self.export(".html").decode(), quote=True))


def _check(citations: CitationMode) -> CitationMode:
    """A form of citations that exists: the formats would show any other as markers."""
    if citations not in (modes := get_args(CitationMode)):
        raise UnknownName("form of citations", str(citations), modes)
    return citations


def research_report(record: Record) -> ResearchReport:
    """The report of a run, from its log so far."""
    report = ResearchReport(**msgspec.structs.asdict(build_report(record.view)))
    report.__dict__["_record"] = record
    return report


def _unpickle(log: tuple[Envelope, ...]) -> ResearchReport:
    return research_report(Record(view=fold_events(log), log=log))


@checked_methods
class RunHandle:
    """A run executed in this process: iterate over its events, wait for its report, end it early."""

    def __init__(self, execution: RunTask, context: Context) -> None:
        self._execution, self._context = execution, context
        self.run_id = execution.run_id

    def __aiter__(self) -> AsyncIterator[Envelope]:
        """Yield every event from the first, until the run ends or waits."""
        return aiter(self._execution)

    @property
    def created(self) -> bool:
        """True if the run is stored; then it can be resumed, whatever happens."""
        return self._execution.created

    @property
    def ended(self) -> bool:
        """True if this process is done with the run: it ended, waits, or could not be started."""
        return self._execution.ended

    def on_end(self, listener: Callable[[], None]) -> None:
        """Call `listener`, in this event loop, when this process is done with the run, however that ended."""
        self._execution.on_end(listener)

    async def view(self) -> RunView:
        """Wait until this process is done with the run, and return it: completed, failed, cancelled or waiting.

        Raises:
            UsageError: the run could not be created (a path that does not exist, a budget too small for a report).
            Cancelled: it was cancelled before it was created.
            FenceLost: another process took it over.
            OtherRelease: another release of Assay started it, and this one cannot continue it.
            StoreError: it could not be written any more (a full disk); it can be resumed.
        """
        try:
            await self._execution.wait()
        except (FenceLost, OtherRelease):
            raise
        except StoreError as error:
            if self._execution.created and (stored_view := await view(self._context, self.run_id)).status in FINAL:
                return stored_view
            raise self._add_hint(error) from error
        except AssayError:
            if not self._execution.created:
                raise
        return await view(self._context, self.run_id)

    def _add_hint(self, error: StoreError) -> StoreError:
        hint = f"; to continue run {self.run_id} once this is fixed: assay runs resume {self.run_id}"
        return StoreError(f"{error}{hint if self._execution.created else ''}")

    def events(self) -> AsyncIterator[Envelope]:
        """Yield every event from the first, until the run ends or waits; the same as iterating over the handle."""
        return aiter(self)

    async def report(self) -> ResearchReport:
        """Wait for the run to end and return its report. Save it with `report.save("report.html")`; a notebook shows
        it.

        Raises:
            Cancelled, Paused: the run was cancelled or paused, or its library was closed.
            InputNeeded: it waits for an answer.
            AssayError: it failed; its findings are kept, see `Assay.view`.
        """
        await self._execution.wait()
        return research_report(await run_record(self._context, self.run_id))

    async def answer(self, answers: Sequence[str]) -> None:
        """Answer the clarifying questions of the run, in order. If it no longer executes here, `Assay.resume` it.

        Raises:
            UsageError: the run has ended.
        """
        if self.ended and self.created:
            await run_control.answer(self._context, self.run_id, answers)
            return
        await self._execution.answer("answers", tuple(answers))

    async def approve(self, plan: Plan | str | None = None) -> None:
        """Approve the plan that a run waits with (`review_plan`), or replace it by a `Plan`, its form, or JSON.

        If the run no longer executes here, `Assay.resume` it.

        Raises:
            UsageError: the plan cannot be read, or the run has ended.
        """
        if self.ended and self.created:
            await run_control.approve(self._context, self.run_id, plan)
            return
        await self._execution.answer("plan", run_control.as_review(plan))

    def pause(self) -> None:
        """Abandon every call in flight; `Assay.resume` continues the run."""
        self._execution.pause()

    def finish(self) -> None:
        """End research now and write the report from what was found."""
        self._execution.finish()

    def cancel(self) -> None:
        """End every call in flight; findings are kept. A run that is not stored yet is given up."""
        self._execution.cancel()


async def estimate(context: Context, reference: str) -> Estimate:
    """Estimate the total cost of a run; see `Assay.estimate`."""
    run_view = await view(context, reference)
    return await estimates.estimate_stored_run(
        context.store.journal, run_view, lambda brief: worlds.world(context, brief)
    )


async def export(context: Context, reference: str, suffix: str, citations: CitationMode) -> bytes:
    """The report of a run as the bytes of a file; see `Assay.export`."""
    exporter: Exporter = plugins.load("exporters", suffix)
    return await asyncio.to_thread(exporter.render, await run_record(context, reference), _check(citations))


async def run_record(context: Context, reference: str) -> Record:
    """A stored run, for export formats."""
    log = tuple(await events(context, reference))
    return Record(view=fold_events(log), log=log, library=context.store.library, blobs=context.store.blobs)


async def passage(context: Context, reference: str, number: int) -> list[CitedPassage]:
    """The passages behind a citation; see `Assay.passage`."""
    run_view = await view(context, reference, "report")
    books = build_bibliography(run_view)
    sources_by_number = {entry.number: entry.source for entry in books.entries if entry.number is not None}
    if number not in sources_by_number:
        hint = "" if sources_by_number else f"(the report of run {run_view.run_id} cites nothing)"
        raise UnknownName("citation", str(number), map(str, sources_by_number), hint)
    citations = [citation for citation in books.cited if books.numbers[citation.id] == number]
    library, reader, source = context.store.library, context.reader, sources_by_number[number]
    return [
        await asyncio.to_thread(cited_passage, library, reader, run_view.claims, number, source, citation)
        for citation in citations
    ]
