"""`assay`: the table of commands, and the handling of errors."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click

from assay.cli.group import QuestionGroup
from assay.cli.terminal import Exit, ReaderGone, TerminalOptions, clean, first_word
from assay.core.errors import AssayError, Cancelled, UsageError
from assay.core.later import later

if TYPE_CHECKING:
    from importlib import metadata
else:
    metadata = later("importlib.metadata")

GARBAGE_AFTER = 50_000
"""Objects created before the garbage collector searches for cycles: a short process keeps most of what it creates."""

COMMANDS = {
    "research": ("assay.cli.research:research", "Research a question (also without this word)."),
    "plan": ("assay.cli.plan", "Plan research and estimate its cost; run the plan later."),
    "agent": ("assay.cli.research:agent", "Run one research agent on a task, without plan or report."),
    "ask": ("assay.cli.ask", "Ask about what a run has read, without searching again."),
    "chat": ("assay.cli.chat", "Ask questions and follow-ups interactively."),
    "batch": ("assay.cli.batch", "Research many questions, under one total budget."),
    "table": ("assay.cli.table", "Ask the same questions of every document, as a table."),
    "schedule": ("assay.cli.groups:schedule", "Repeat questions at intervals, and show what changed."),
    "docs": ("assay.cli.groups:docs", "Add, list and search documents."),
    "runs": ("assay.cli.groups:runs", "List, watch, steer, pause, resume, export and delete runs."),
    "jobs": ("assay.cli.groups:jobs", "List, watch, cancel and retry jobs on workers."),
    "threads": ("assay.cli.groups:threads", "List, show, search, rename and delete conversations."),
    "cite": ("assay.cli.claims:cite", "Show a cited passage in its document."),
    "claims": ("assay.cli.claims:claims", "List a report's claims: verdict, rule, reason, sources."),
    "verify": ("assay.cli.verify", "Check a text, a report bundle, or a run's report."),
    "check": ("assay.cli.check", "Check claims against given texts (JSON lines)."),
    "fetch": ("assay.cli.texts:fetch", "Print the text a run would read from a web page."),
    "extract": ("assay.cli.texts:extract", "Print the text a run would read from files."),
    "db": ("assay.cli.groups:db", "Back up, restore, check and migrate the database."),
    "models": ("assay.cli.installation:models", "List usable models, and what others need."),
    "keys": ("assay.cli.groups:keys", "Set, list and remove provider keys."),
    "mcp": ("assay.cli.serve:mcp", "Serve research to other assistants (Model Context Protocol)."),
    "serve": ("assay.cli.serve:serve", "Serve Assay over HTTP: an API with live events."),
    "users": ("assay.cli.groups:users", "Manage the server's users and tokens."),
    "worker": ("assay.cli.serve:worker", "Execute queued runs and jobs, on one machine or many."),
    "config": ("assay.cli.groups:config", "List, get and set settings."),
    "doctor": ("assay.cli.installation:doctor", "Find what keeps Assay from working here."),
    "completion": ("assay.cli.completion", "Set up command completion for a shell."),
}

HELP = """Research a question over your documents, with citations you can check.

\b
    assay "How does it work?" --in docs/
    assay docs add notes/ papers/*.html
    assay cite last 1

A report goes to stdout, everything else to stderr. Exit codes: 0 done, 1 failed,
2 wrong usage, 3 a final check failed (with --strict), 4 paused, 5 a limit was reached or the run
was finished early (there is a report), 6 no evidence found, 7 input needed, 130 cancelled,
143 ended by SIGTERM (the run can be resumed).
"""


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"assay {metadata.version('assay')}")
        ctx.exit()


cli = QuestionGroup(
    "assay",
    lazy=COMMANDS,
    default="research",
    help=HELP,
    subcommand_metavar="QUESTION | COMMAND …",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Show the version and exit.",
        )
    ],
)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line `args` (default: the process's) and return the exit code."""
    gc.set_threshold(GARBAGE_AFTER, 20, 20)
    state = TerminalOptions()
    sys.excepthook = _Excepthook(state)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character is no reason to fail
    try:
        code = _run(args, state)
        if sys.stdout is not None:  # closed by the caller: `assay … >&-`
            sys.stdout.flush()
    except (ReaderGone, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the flush at exit fails again
        return Exit.BROKEN_PIPE
    return code


def _run(args: Sequence[str] | None, state: TerminalOptions) -> int:
    try:
        try:
            code = cli.main(args=args, prog_name="assay", standalone_mode=False, obj=state)
        finally:
            first_word.erase()
        return Exit.DONE if code is None else int(code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return Exit.USAGE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("cancelled", err=True)
        return Exit.CANCELLED
    except AssayError as error:
        if state.verbosity > 1:
            traceback.print_exc()
        click.echo(f"assay: {clean(str(error))}", err=True)
        return _exit_for(error)


def _exit_for(error: AssayError) -> Exit:
    if isinstance(error, UsageError):
        return Exit.USAGE
    return Exit.CANCELLED if isinstance(error, Cancelled) else Exit.FAILED


class _Excepthook:
    """Reports a bug: one line, and with `-vv` the traceback. The interpreter exits with 1."""

    def __init__(self, state: TerminalOptions) -> None:
        self.state = state

    def __call__(self, kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        if self.state.verbosity > 1:
            traceback.print_exception(kind, error, where)
            return
        click.echo(f"assay: internal error: {kind.__name__}: {clean(str(error))} (-vv shows where)", err=True)
