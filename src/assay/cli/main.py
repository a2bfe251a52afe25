"""`assay`: the commands and groups of commands, each imported when it runs, and the handling of errors."""

from __future__ import annotations

import gc
import io
import os
import sys
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click

from assay.cli.group import LazyGroup, QuestionGroup, option_error
from assay.cli.signals import stops_between_transactions
from assay.cli.terminal import Exit, ReaderGone, TerminalOptions, clean, first_word
from assay.core.errors import AssayError, Cancelled, UsageError
from assay.core.lazy import lazy_module

if TYPE_CHECKING:
    from importlib import metadata

    from assay import plugins
else:
    metadata = lazy_module("importlib.metadata")
    plugins = lazy_module("assay.plugins")


docs = LazyGroup(
    "docs",
    help="""Add, list and search documents. The library stores each document once.

\b
    assay docs add notes/ "papers/*.pdf" -c thesis
    assay docs search "tidal range" -c thesis
""",
    lazy={
        "add": ("assay.cli.docs.intake:add_documents", "Add files, folders, pages, sites or repositories."),
        "list": ("assay.cli.docs.documents:list_documents", "List the documents of a collection."),
        "show": ("assay.cli.docs.documents:show_document", "Show a document's details or text."),
        "search": ("assay.cli.docs.documents:search", "Search documents; no model is asked."),
        "embed": ("assay.cli.docs.collections:embed", "Build the vectors for search by meaning."),
        "sync": ("assay.cli.docs.intake:sync", "Update a collection from the places it was added from."),
        "watch": ("assay.cli.docs.intake:watch", "Keep a collection up to date with a folder."),
        "summary": ("assay.cli.docs.collections:summary", "Summarize a collection and suggest questions."),
        "rm": ("assay.cli.docs.documents:remove_documents", "Remove documents from a collection, or the collection."),
        "collections": ("assay.cli.docs.collections:list_collections", "List collections with document counts."),
        "collection": (
            "assay.cli.docs.collections:collection_command",
            "Show where a collection comes from; mark it private.",
        ),
    },
)

runs = LazyGroup(
    "runs",
    help="""List, watch, steer and export runs. A run is named by its id, the start of it, or `last`.

\b
    assay runs list -n 10
    assay runs export last -o report.html
""",
    lazy={
        "list": ("assay.cli.runs.lists:list_runs", "List runs, newest first."),
        "show": ("assay.cli.runs.lists:show_run", "Show what happened in a run."),
        "open": ("assay.cli.runs.lists:open_report", "Open a report in the browser."),
        "watch": ("assay.cli.runs.control:watch_run", "Watch a run, live or replayed."),
        "answer": ("assay.cli.runs.continuation:answer_run", "Answer a waiting run's questions."),
        "approve": ("assay.cli.runs.continuation:approve_plan", "Approve or replace a waiting run's plan."),
        "steer": ("assay.cli.runs.control:steer_run", "Give a running run instructions."),
        "finish": ("assay.cli.runs.control:finish_run", "Stop a run's research and write its report."),
        "pause": ("assay.cli.runs.control:pause_run", "Pause a run."),
        "cancel": ("assay.cli.runs.control:cancel_run", "Cancel a run, keeping its findings."),
        "resume": ("assay.cli.runs.continuation:resume_run", "Continue an interrupted or paused run."),
        "fork": ("assay.cli.runs.continuation:fork_run", "Start a new run from a point in a finished one."),
        "diff": ("assay.cli.runs.outcome:diff_runs", "Compare the reports of two runs."),
        "replay": ("assay.cli.runs.continuation:replay_run", "Recompute a run from its stored steps, and compare."),
        "export": ("assay.cli.runs.outcome:export_run", "Write a run's report to a file."),
        "label": ("assay.cli.runs.lists:label_run", "Star and label runs."),
        "share": ("assay.cli.runs.outcome:share_run", "Create a public link to a run's report."),
        "rm": ("assay.cli.runs.removal:remove_runs", "Delete runs and the documents only they used."),
        "prune": ("assay.cli.runs.removal:prune_runs", "Delete old runs by age, number or size."),
    },
)

jobs = LazyGroup(
    "jobs",
    help="""List, watch, cancel and retry jobs: work on documents, vectors and files that you left to workers.

\b
    assay docs add archive/ -c archive --queue
    assay jobs list
    assay worker
""",
    lazy={
        "begin": ("assay.cli.jobs:begin_job", "Start a job on the workers, once or periodically."),
        "list": ("assay.cli.jobs:list_jobs", "List jobs, newest first."),
        "show": ("assay.cli.jobs:show_job", "Show a job's state, and what each worker did."),
        "watch": ("assay.cli.jobs:watch_job", "Watch a job until it ends."),
        "cancel": ("assay.cli.jobs:cancel_job", "Cancel a job; finished work is kept."),
        "retry": ("assay.cli.jobs:retry_job", "Retry a failed or cancelled job."),
    },
)

threads = LazyGroup(
    "threads",
    help="""List, show and rename conversations. THREAD is a name, the start of one, or a title.

\b
    assay threads list
    assay threads show tides
""",
    lazy={
        "list": ("assay.cli.threads:list_threads", "List threads, latest first."),
        "show": ("assay.cli.threads:show_thread", "Show the conversation in a thread."),
        "search": ("assay.cli.threads:search_threads", "Search the titles and questions of threads."),
        "rename": ("assay.cli.threads:rename_thread", "Set a thread's title."),
        "rm": ("assay.cli.threads:remove_threads", "Delete a thread with all its runs."),
    },
)

schedule = LazyGroup(
    "schedule",
    help="""Repeat questions at intervals, and show how their answers change.

\b
    assay schedule add "Which releases are new?" --every 1d --in @news
    assay schedule watch
""",
    lazy={
        "add": ("assay.cli.schedule:add_schedule", "Ask a question every day, week, 12 hours …"),
        "list": ("assay.cli.schedule:list_schedules", "List schedules, and when each is due."),
        "rm": ("assay.cli.schedule:remove_schedule", "Delete schedules; their runs stay."),
        "run-due": ("assay.cli.schedule:run_schedules", "Ask the questions that are due (for cron)."),
        "watch": ("assay.cli.schedule:watch_schedules", "Keep running, and ask questions when they are due."),
    },
)

db = LazyGroup(
    "db",
    help="""Back up, restore, check and migrate the database.

\b
    assay db backup backup.zip
    assay db check
""",
    lazy={
        "backup": ("assay.cli.installation:back_up", "Back up the database, even while it is in use."),
        "check": ("assay.cli.installation:check", "Check the database for damage."),
        "restore": ("assay.cli.installation:restore", "Restore a backup into a home or PostgreSQL."),
        "migrate": ("assay.cli.installation:migrate", "Migrate it to this release's schema; keeps a copy."),
    },
)

keys = LazyGroup(
    "keys",
    help="""Manage provider keys, stored in the settings file, which only you can read.

\b
    assay keys set openai
    assay keys list
""",
    lazy={
        "set": ("assay.cli.config:set_key", "Store a provider's key."),
        "list": ("assay.cli.config:list_keys", "List stored keys, and where they come from."),
        "sign": ("assay.cli.main:sign", "Manage your signing key and trusted signatures."),
        "rm": ("assay.cli.config:remove_key", "Delete a provider's key."),
    },
)

sign = LazyGroup(
    "sign",
    help="""Manage your signing key for bundles, and the signatures you trust.

\b
    assay keys sign create
    assay keys sign trust ana ana.pub
""",
    lazy={
        "create": ("assay.cli.config:create_signing_key", "Create a key for signing bundles."),
        "show": ("assay.cli.config:show_signing_key", "Print your public key."),
        "trust": ("assay.cli.config:trust_signer", "Trust someone's signatures."),
        "distrust": ("assay.cli.config:distrust_signer", "Stop trusting someone's signatures."),
        "list": ("assay.cli.config:list_signers", "List trusted signatures."),
    },
)

users = LazyGroup(
    "users",
    help="""Manage the users of `assay serve` and their tokens.

\b
    assay users add ana --role admin
    assay users token ana --name nightly --days 90
""",
    lazy={
        "add": ("assay.cli.users:add_user", "Add a user; the first is an admin."),
        "adopt": ("assay.cli.users:adopt", "Give a user everything created without a login."),
        "list": ("assay.cli.users:list_users", "List users and their tokens."),
        "rm": ("assay.cli.users:remove_user", "Remove users, with their sessions and tokens."),
        "passwd": ("assay.cli.users:change_password", "Change a user's password or role."),
        "audit": ("assay.cli.users:show_audit", "Show who did what, and when."),
        "token": ("assay.cli.users:token", "Create a token for a program, or revoke one."),
    },
)

config = LazyGroup(
    "config",
    help="""Show and change settings. They come from the settings file, the environment, and defaults.

\b
    assay config list
    assay config set model ollama:qwen3
""",
    lazy={
        "list": ("assay.cli.config:list_settings", "List settings: values, and where they come from."),
        "get": ("assay.cli.config:get_setting", "Print one setting."),
        "set": ("assay.cli.config:set_setting", "Set one setting in the file."),
        "unset": ("assay.cli.config:unset_setting", "Remove one setting from the file."),
        "edit": ("assay.cli.config:edit_settings", "Edit the settings file, with a check before saving."),
        "path": ("assay.cli.config:show_path", "Print the path of the settings file."),
    },
)


GARBAGE_AFTER = 50_000
"""Objects created before the garbage collector searches for cycles: a short process keeps most of what it creates."""

COMMANDS = {
    "research": ("assay.cli.research:research", "Research a question; you can leave out this word."),
    "plan": ("assay.cli.research:plan_research", "Plan research and estimate its cost; run the plan later."),
    "agent": ("assay.cli.research:agent", "Run one research agent on a task, without plan or report."),
    "ask": ("assay.cli.ask", "Ask about what a run has read, without searching again."),
    "chat": ("assay.cli.chat", "Ask questions and follow-ups interactively."),
    "batch": ("assay.cli.batch", "Research many questions, under one total budget."),
    "table": ("assay.cli.table", "Ask the same questions of every document, as a table."),
    "schedule": ("assay.cli.main:schedule", "Repeat questions at intervals, and show what changed."),
    "docs": ("assay.cli.main:docs", "Add, list and search documents."),
    "runs": ("assay.cli.main:runs", "List, watch, steer, pause, resume, export and delete runs."),
    "jobs": ("assay.cli.main:jobs", "List, watch, cancel and retry jobs on workers."),
    "threads": ("assay.cli.main:threads", "List, show, search, rename and delete conversations."),
    "cite": ("assay.cli.claims:cite", "Show a cited passage in its document."),
    "claims": ("assay.cli.claims:claims", "List a report's claims: verdict, rule, reason, sources."),
    "verify": ("assay.cli.verify", "Check a text, a report bundle, or a run's report."),
    "check": ("assay.cli.check", "Check claims against given texts (JSON lines)."),
    "fetch": ("assay.cli.texts:fetch", "Print the text a run would read from a web page."),
    "extract": ("assay.cli.texts:extract", "Print the text a run would read from files."),
    "db": ("assay.cli.main:db", "Back up, restore, check and migrate the database."),
    "models": ("assay.cli.installation:models", "List usable models, and what others need."),
    "keys": ("assay.cli.main:keys", "Set, list and remove provider keys."),
    "mcp": ("assay.cli.serve:mcp", "Serve research to other assistants (Model Context Protocol)."),
    "serve": ("assay.cli.serve:serve", "Serve a web page and an API over HTTP."),
    "users": ("assay.cli.main:users", "Manage the server's users and tokens."),
    "worker": ("assay.cli.serve:worker", "Execute queued runs and jobs, on one machine or many."),
    "config": ("assay.cli.main:config", "List, get, set and edit settings."),
    "doctor": ("assay.cli.installation:doctor", "Find what keeps Assay from working, and how to fix it."),
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
    _open_closed_streams()
    sys.excepthook = _Excepthook(state)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character is no reason to fail
    try:
        with stops_between_transactions():
            code = _run(args, state)
            sys.stdout.flush()
    except (ReaderGone, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the flush at exit fails again
        return Exit.BROKEN_PIPE
    return code


def _open_closed_streams() -> None:
    """Open what the caller closed (`assay … <&- >&-`) on nothing, before a file of ours takes its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


TYPE_WORDS = {
    "integer range": "a whole number",
    "integer": "a whole number",
    "float range": "a number",
    "float": "a number",
}
"""What click calls the kinds of numbers that it asks for, and what people do."""


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
        _show(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("cancelled", err=True)
        return Exit.CANCELLED
    except AssayError as error:
        if state.verbosity > 1:
            traceback.print_exc()
        click.echo(f"assay: {clean(str(error))}", err=True)
        return _exit_for(error)
    except UnicodeEncodeError:
        if not any("\udc80" <= char <= "\udcff" for word in args or sys.argv for char in word):
            raise
        click.echo("assay: an argument is not text in UTF-8: correct its encoding, or leave it out", err=True)
        return Exit.USAGE


def _show(error: click.ClickException) -> None:
    buffer = io.StringIO()
    (option_error(error) if isinstance(error, click.NoSuchOption) else error).show(buffer)
    text = buffer.getvalue()
    for clicks, ours in TYPE_WORDS.items():
        text = text.replace(f"is not a valid {clicks}.", f"is not {ours}.")
    click.echo(text, nl=False, err=True)


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
        package = plugins.failing_package(error)
        subject = f"error in the package {package}" if package else "internal error"
        click.echo(f"assay: {subject}: {kind.__name__}: {clean(str(error))} (-vv shows where)", err=True)
