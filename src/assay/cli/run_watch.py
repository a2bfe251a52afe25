"""Follows a run to its end: events on stdout or progress on stderr, then the report at its destination."""

from __future__ import annotations

import shlex
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from assay import Assay, RunHandle, settings
from assay.cli import destinations, options
from assay.cli.display import Display, display
from assay.cli.figures import outcome, summary
from assay.cli.options import notice_targets, send_notices
from assay.cli.signals import TerminationSignal, cancel_on_signal, on_interrupts
from assay.cli.terminal import Exit, TerminalOptions, is_screen, say, write, write_json, write_raw
from assay.core.clean import one_line
from assay.core.errors import StoreError
from assay.core.events import Envelope
from assay.core.lazy import lazy_module
from assay.core.markers import CitationMode
from assay.core.phrases import LIMIT_REASONS
from assay.core.plan import Coverage
from assay.core.view import RunView
from assay.services.arguments import suffix_of
from assay.services.notices import Target, notice_of

if TYPE_CHECKING:
    from assay.export import markdown, terminal
else:
    markdown = lazy_module("assay.export.markdown")
    terminal = lazy_module("assay.export.terminal")


# Suggested follow-ups, from gaps in a run and contradictions in its sources. They need no model.

MAX_FOLLOW_UPS = 3
_FULL_SEARCH_REASONS = ("done", "no_evidence")
"""The ends of runs that looked everywhere; after other ends, a missing part might still have been found."""
MAX_QUESTION_CHARS = 200
"""Code points of a question; longer ones are tasks that nobody would type."""


def follow_up_lines(view: RunView) -> list[str]:
    """A heading and a command per question, for a terminal; nothing without a question or a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return []
    commands = list(islice(dict.fromkeys(follow_up_commands(view)), MAX_FOLLOW_UPS))
    return ["to ask next:", *(f"  {command}" for command in commands)] if commands else []


def follow_up_commands(view: RunView) -> Iterator[str]:
    """The commands of the follow-ups, those for missing parts first."""
    if view.status != "completed" or view.brief is None:
        return
    elsewhere = "--in PATH" if view.brief.scope.web or view.brief.scope.private else "--web"
    for part in _missing_parts(view.coverage) if view.stop_reason in _FULL_SEARCH_REASONS else ():
        if question := _safe_question(part.part):
            yield f"assay research {shlex.quote(question)} {elsewhere}"
    if view.brief.language.split("-")[0] not in ("", "en"):
        return  # the words around two values are English
    for conflict in view.conflicts:
        values = list(dict.fromkeys(side.value for side in conflict.sides))
        subject = ", ".join(filter(None, (conflict.subject, conflict.measure)))
        question = _safe_question(f"{subject}: why do sources say {' and '.join(values[:2])}?")
        if question and len(values) > 1:
            yield f"assay ask {view.run_id} {shlex.quote(question)}"


def _missing_parts(coverage: tuple[Coverage, ...]) -> list[Coverage]:
    """The parts without findings; the question itself only if it has no parts."""
    parts = [part for part in coverage if part.step] or list(coverage)
    return [part for part in parts if part.status == "not"]


def _safe_question(text: str) -> str:
    """`text` on one line; empty if a shell or a reader would take it for something other than a question."""
    text = one_line(text)
    return text if text and len(text) <= MAX_QUESTION_CHARS and not text.startswith("-") else ""


# A report on a terminal: laid out for people; files and pipes get Markdown.

_TERMINAL_MODES = ("numbers", "none")
"""The citation modes that do not request Markdown."""


def uses_terminal_layout(citations: CitationMode) -> bool:
    """True if a report is laid out here: on a terminal, unless Markdown is requested."""
    context = click.get_current_context(silent=True)
    plain = context is not None and context.ensure_object(TerminalOptions).plain
    return is_screen() and not plain and citations in _TERMINAL_MODES


def terminal_report(view: RunView, citations: CitationMode) -> str:
    """The report as the terminal shows it, with its width and, unless `NO_COLOR` is set, its colours."""
    return terminal.render(
        view, citations, shutil.get_terminal_size().columns, colour=settings.terminal_environment().color
    )


Stdout = Literal["report", "json", "events"]


@dataclass(frozen=True, slots=True)
class Output:
    """Where a run's result goes: `stdout` gets the report unless files do, or JSON, or the events.

    `remaining_text` returns the part of the report that is not yet printed, if some of it already is. `notify` are
    notified when the run has ended, or waits. `in_browser` also opens the report there; `to_clipboard` copies it.
    """

    files: tuple[Path, ...] = ()
    stdout: Stdout = "report"
    citations: CitationMode = "numbers"
    strict: bool = False
    verbosity: int = 0
    remaining_text: Callable[[str], str] = str
    notify: tuple[Target, ...] = ()
    in_browser: bool = False
    to_clipboard: bool = False

    def display(self) -> Display:
        """How a run is shown while it is running."""
        return display(self.verbosity, events=self.stdout == "events")


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The values that `options.output_options`, `options.citation_options` and `options.notify_option` read from a
    command line.
    """

    outputs: tuple[Path, ...]
    as_json: bool
    as_events: bool
    strict: bool
    citations: CitationMode | None
    notify: tuple[str, ...] = ()

    def output(self, config: settings.Settings, verbosity: int) -> Output:
        """Where the result goes; the settings say what no option does.

        Raises:
            click.UsageError: two options request what goes to stdout, or a file cannot be written.
            ConfigError: a target of notices is neither a command nor an address.
        """
        return Output(
            files=destinations.check_paths(self.outputs),
            stdout=stdout_for(as_json=self.as_json, as_events=self.as_events),
            citations=self.citations or config.citations,
            strict=self.strict,
            verbosity=verbosity,
            notify=notice_targets(self.notify, config),
        )


def gather_output_options(command: Callable[..., int]) -> Callable[..., int]:
    """Gather the options of a command's output in one argument, `wanted`."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> int:
        names = [field.name for field in fields(OutputOptions) if field.name in kwargs]
        output_options = OutputOptions(**{name: kwargs.pop(name) for name in names})
        return command(*args, wanted=output_options, **kwargs)

    return run


def report_options(command: Callable[..., Any]) -> Any:
    """The options of a command that continues a run; it gets them as `state`, `wanted` and `home`."""
    inner_command = options.common_options(click.pass_obj(gather_output_options(command)))
    return options.output_options()(options.citation_options(options.notify_option(inner_command)))


def stdout_for(*, as_json: bool, as_events: bool) -> Stdout:
    """The kind of output on stdout.

    Raises:
        click.UsageError: two options request it.
    """
    if as_json and as_events:
        raise click.UsageError("--json and --events exclude each other")
    return "json" if as_json else "events" if as_events else "report"


async def execute_run(
    assay: Assay, run: RunHandle, output: Output, display: Display | None = None, *, asks: bool = False
) -> Exit:
    """Execute `run` to its end, obey Ctrl-C, and deliver its report. After SIGTERM it can be resumed.

    `display` is an existing display that shows how documents are read. `asks`: the caller puts the questions of a
    waiting run to a person, so they are not printed.

    Raises:
        StoreError: a file cannot be written (the report is on stdout then).
    """
    display = display or output.display()

    def finish() -> None:
        if not run.created:  # while documents are read there is nothing to report
            cancel()
            return
        display.say("finishing: the report is written from what was found (Ctrl-C again cancels)")
        run.finish()

    def cancel() -> None:
        display.say("cancelling")
        run.cancel()

    try:
        with cancel_on_signal(), on_interrupts(finish, cancel):
            with display:
                await show_events(aiter(run), output, display)
                view = await run.view()
            if asks and view.status == "waiting":
                return Exit.INPUT_NEEDED
            return await _deliver_and_notify(assay, view, output)
    except TerminationSignal:
        say(f"interrupted; to continue: assay runs resume {run.run_id}" if run.created else "interrupted")
        return Exit.TERMINATED


async def _deliver_and_notify(assay: Assay, view: RunView, output: Output) -> Exit:
    """Deliver the result, then send the notices, even if the result could not be written."""
    try:
        code = await deliver_result(assay, view, output)
    except StoreError:
        await send_notices(notice_of(view), output.notify)
        raise
    await send_notices(notice_of(view), output.notify)
    return code


async def show_events(events: AsyncIterator[Envelope], output: Output, display: Display) -> None:
    """Show events as they arrive."""
    async for envelope in events:
        if output.stdout == "events":
            write_json(envelope, line=True)
        display.show(envelope)


async def watch_other_process(events: AsyncIterator[Envelope], output: Output, display: Display, run_id: str) -> bool:
    """Show the events of a run that another process executes; False if Ctrl-C or SIGTERM ended that."""
    try:
        with cancel_on_signal(), cancel_on_signal(signal.SIGINT), display:
            await show_events(events, output, display)
    except TerminationSignal:
        say(f"no longer watching run {run_id}; the run itself is untouched")
        return False
    return True


async def deliver_result(assay: Assay, view: RunView, output: Output) -> Exit:
    """Deliver the result of a run that ended, or waits; the exit code says how it ended.

    Raises:
        StoreError: a file cannot be written (the report is on stdout then).
    """
    if view.status == "waiting":
        return _print_questions(view, output)
    files = await _deliver(assay, view, output)
    code = exit_code(view, strict=output.strict)
    print_summary(view, output, files)
    if output.to_clipboard and view.report.text.strip():
        destinations.copy_to_clipboard((await assay.export(view.run_id, ".md", output.citations)).decode())
    if output.in_browser and view.report.text.strip():
        destinations.open_in_browser(await destinations.write_report_page(assay, view.run_id, output.citations))
    return code


def print_summary(view: RunView, output: Output, files: Sequence[Path] = ()) -> None:
    """Print the last lines, with the files of the report; failures are reported even with `-q`."""
    if output.verbosity >= 0:
        for line in summary(view, files):
            say(line, at_words=True)
        for line in follow_up_lines(view):
            say(line)
    elif exit_code(view, strict=output.strict) in (Exit.FAILED, Exit.UNVERIFIED):
        say(f"run {view.run_id} {outcome(view)}")


def exit_code(view: RunView, *, strict: bool = False) -> Exit:
    """How a run ended, as an exit code."""
    if view.status in ("cancelled", "paused"):
        return Exit.CANCELLED if view.status == "cancelled" else Exit.PAUSED
    if view.status != "completed":
        return Exit.FAILED
    if view.stop_reason == "no_evidence":
        return Exit.NO_EVIDENCE
    if strict and not view.passed:
        return Exit.UNVERIFIED
    return Exit.LIMIT if view.stop_reason in LIMIT_REASONS else Exit.DONE


def _print_questions(view: RunView, output: Output) -> Exit:
    """Print the questions, or the plan to approve, as JSON, because nobody here can answer."""
    data: dict[str, object] = {"run": view.run_id}
    if view.waiting_for == "plan":
        data["plan"] = view.plan
    else:
        data["questions"] = view.clarification.questions
    write_json(data, line=True)
    if output.verbosity >= 0:
        subcommand = f"approve {view.run_id}" if view.waiting_for == "plan" else f"answer {view.run_id} ANSWER…"
        say(f"run {view.run_id} waits; to continue: assay runs {subcommand}")
    return Exit.INPUT_NEEDED


def _kept_note(view: RunView) -> str:
    return f"the report is kept: assay runs export {view.run_id} -o FILE"


async def _deliver(assay: Assay, view: RunView, output: Output) -> tuple[Path, ...]:
    """Deliver the report and return its files."""
    has_report = bool(view.report.text.strip()) and view.status not in ("cancelled", "paused")
    if output.stdout == "json":
        write((await assay.export(view.run_id, ".json", output.citations)).decode(), hint=_kept_note(view))
    elif output.stdout == "report" and has_report and not output.files:
        if output.remaining_text is str and uses_terminal_layout(output.citations):
            write_raw(f"{terminal_report(view, output.citations)}\n", hint=_kept_note(view))
        else:
            write(output.remaining_text(markdown.render(view, citations=output.citations)), hint=_kept_note(view))
    files = output.files if has_report else ()
    for path in files:
        await _save(assay, view, path, output)
    return files


async def _save(assay: Assay, view: RunView, path: Path, output: Output) -> None:
    data = await assay.export(view.run_id, suffix_of(path), output.citations)
    try:
        destinations.save(path, data)
    except StoreError:
        if output.stdout == "report":  # paid for: better on the screen than nowhere
            write((await assay.export(view.run_id, ".md", output.citations)).decode(), hint=_kept_note(view))
        raise
