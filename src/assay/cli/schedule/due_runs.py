"""Asking what is due, and telling what changed: on stdout, and to whom `--notify` names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay import RunHandle, settings
from assay.app.notices import Target, changes_of, notice_of
from assay.app.schedules import Schedule, ScheduleBook
from assay.app.schedules.due import DueOutcome, run_due
from assay.cli import notify_options
from assay.cli.exits import Exit
from assay.cli.library import opened
from assay.cli.live.summary import outcome
from assay.cli.notify_options import tell
from assay.cli.run_watch import Output, Stdout, follow
from assay.cli.runs.diff import told
from assay.cli.runs.retention import keep_to_rules
from assay.cli.terminal import TerminalOptions, clean, say, write
from assay.core.view import RunView


def output_for(
    state: TerminalOptions, configured: settings.Settings, notify: Sequence[str], *, as_json: bool
) -> Output:
    """How `run-due` and `watch` tell what they do.

    Raises:
        ConfigError: whom to notify cannot be told.
    """
    stdout: Stdout = "json" if as_json else "report"
    return Output(stdout=stdout, verbosity=state.verbosity, notify=notify_options.targets(notify, configured))


async def ask_due(book: ScheduleBook, home: Path, configured: settings.Settings, output: Output) -> Exit:
    """Ask every question that is due; the worst that came of one is the exit code."""
    codes: set[Exit] = set()

    async def shown(schedule: Schedule, run: RunHandle) -> RunView:
        if output.verbosity >= 0:
            say(f"schedule {schedule.id}: {clean(schedule.question)}")
        display = output.display()
        with display:
            await follow(aiter(run), output, display)
        return await run.view()

    if not any(each.current or each.next_at <= _stamp() for each in book.all()):
        return Exit.DONE
    async with opened(home, configured) as assay:
        async for asked in run_due(assay, book, lambda: datetime.now(UTC), shown):
            _say(asked, output)
            await _notify(asked, output.notify)
            codes.add(_code(asked))
        await keep_to_rules(assay, output.verbosity)
    return next((code for code in (Exit.FAILED, Exit.INPUT_NEEDED) if code in codes), Exit.DONE)


def _stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _say(asked: DueOutcome, output: Output) -> None:
    schedule, view = asked.schedule, asked.view
    if output.stdout == "json":
        said = {
            "schedule": schedule.id,
            "question": schedule.question,
            "run": view.run_id if view else "",
            "status": view.status if view else "failed",
            "changes": asked.changes,
            "error": asked.error,
        }
        write(msgspec.json.encode(said).decode())
        return
    write(f"schedule {schedule.id}: {clean(schedule.question)}")
    if asked.changes is not None:
        for line in told(asked.changes):
            write(f"  {line}" if line else "")
    elif view is None:
        write(f"  failed: {clean(asked.error)}")
    else:
        first = " (its first report)" if view.status == "completed" else ""
        write(f"  run {view.run_id} {clean(outcome(view))}{first}")


async def _notify(asked: DueOutcome, targets: tuple[Target, ...]) -> None:
    if asked.view is not None:
        changes = None if asked.changes is None else changes_of(asked.changes)
        await tell(notice_of(asked.view, schedule=asked.schedule.id, changes=changes), targets)


def _code(asked: DueOutcome) -> Exit:
    if asked.view is None or asked.view.status in ("failed", "cancelled"):
        return Exit.FAILED
    return Exit.INPUT_NEEDED if asked.view.status == "waiting" else Exit.DONE
