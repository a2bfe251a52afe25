"""Commands that serve until they are stopped: `assay serve`, `assay mcp`, `assay worker`."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import signal
import time
import webbrowser
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay import Assay, settings
from assay.cli import options
from assay.cli.library import open_assay
from assay.cli.signals import TerminationSignal, cancel_on_signal, on_interrupts, signal_handlers
from assay.cli.terminal import Exit, TerminalOptions, clean, say
from assay.core.errors import ConfigError, StoreAway, process_of
from assay.core.lazy import lazy_module
from assay.core.ports import QueueLimits
from assay.services.home_paths import log_file

if TYPE_CHECKING:
    from assay.cli import detached_run, run_watch
    from assay.server.app import Server
    from assay.services import heartbeats, queue_workers
else:
    detached_run = lazy_module("assay.cli.detached_run")
    run_watch = lazy_module("assay.cli.run_watch")
    heartbeats = lazy_module("assay.services.heartbeats")
    queue_workers = lazy_module("assay.services.queue_workers")


STARTING_SECONDS, PAUSE_SECONDS = 60.0, 1.0
"""How long a server or worker waits at its start for an absent database, and between two attempts."""
MISSING = "the server's libraries are not installed: pip install 'assay[server]'"


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Address to listen on [server.host: 127.0.0.1].")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="N",
    help="Port to listen on [server.port: 8484]; 0 picks a free one.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@click.option("--no-auth", is_flag=True, help="Serve everyone who can reach the address, as a single user.")
@options.common_options
@click.pass_obj
@options.run_async
async def serve(
    state: TerminalOptions, host: str | None, port: int | None, opens: bool, no_auth: bool, home: Path | None
) -> int:
    """Serve a web page for people and an API for programs: runs, documents, live events.

    \b
        assay serve
        assay serve --open
        curl http://127.0.0.1:8484/api/v1/runs -H 'Content-Type: application/json' \\
             -d '{"question": "How does it work?"}'

    Runs continue whether or not anyone watches. Ctrl-C or SIGTERM stops the server within 10 seconds; when it starts
    again, it continues the interrupted runs.
    """
    try:
        from assay.server import app  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(MISSING) from error
    config = settings.load()
    sock = app.bind_socket(host or config.server.host, config.server.port if port is None else port)
    received_signals: list[signal.Signals] = []

    def handle_signals(server: Server) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            heed(number, partial(stop, server, number))

    def listens() -> None:
        url = app.url_of(sock)
        if state.verbosity >= 0:
            say(f"Assay serves {url} (API: {url}/docs); Ctrl-C ends it")
        if opens:
            webbrowser.open(url)

    def stop(server: Server, number: signal.Signals) -> None:
        server.force_exit = bool(received_signals)  # the second signal stops it at once
        received_signals.append(number)
        server.stop()

    with signal_handlers() as heed:
        async with _open_with_retry(home, config) as assay:
            await app.serve(assay, sock, handle_signals, listens, no_auth=no_auth)
    return Exit.TERMINATED if signal.SIGTERM in received_signals else Exit.DONE


@contextlib.asynccontextmanager
async def _open_with_retry(
    home: Path | None, config: settings.Settings, tell: Callable[[str], None] = say
) -> AsyncIterator[Assay]:
    """Open Assay, and wait for its database if that is starting at the same time.

    Raises:
        StoreAway: the database is still away after `STARTING_SECONDS`.
    """
    async with contextlib.AsyncExitStack() as stack:
        end, warned = time.monotonic() + STARTING_SECONDS, False
        while True:
            try:
                assay = await stack.enter_async_context(open_assay(home, config))
                break
            except StoreAway as away:
                if time.monotonic() > end:
                    raise
                if not warned:
                    tell(clean(f"{away}; trying again for {STARTING_SECONDS:.0f} s"))
                warned = True
            await asyncio.sleep(PAUSE_SECONDS)
        yield assay


NOT_INSTALLED = "assay mcp needs an extra which is not installed: pip install 'assay[mcp]'"


@click.command("mcp")
@click.option("--allow-private", is_flag=True, help="Let the client see documents in private collections.")
@options.common_options
@click.pass_obj
@options.run_async
async def mcp(state: TerminalOptions, allow_private: bool, home: Path | None) -> int:
    """Serve research, evidence and the library to an assistant, over stdin and stdout (Model Context Protocol).

    \b
        claude mcp add assay -- assay mcp
        {"mcpServers": {"assay": {"command": "assay", "args": ["mcp"]}}}
        assay mcp
        assay mcp --home ~/research

    If the client disconnects during a run, a separate process finishes the run.
    """
    try:
        from assay.server.mcp.mcp_server import LocalRuns, serve  # noqa: PLC0415 - an optional extra
    except ModuleNotFoundError as error:
        raise ConfigError(NOT_INSTALLED) from error
    config, code = settings.load(), Exit.DONE
    async with open_assay(home, config) as assay:
        runs = LocalRuns(assay)
        try:
            with cancel_on_signal():
                await serve(assay, runs, allow_private=allow_private)
        except TerminationSignal:
            code = Exit.TERMINATED
        run_ids = runs.run_ids
    for run_id in run_ids:
        folder = home or config.home
        process = detached_run.start_process(
            detached_run.resume_command(run_id, folder, run_watch.Output()), log_file(folder, run_id)
        )
        if state.verbosity >= 0:
            say(f"run {run_id} continues in process {process.pid}")
    return code


FOR_ONE_MACHINE = "without a database (ASSAY_DATABASE) only runs of this home and this machine are in its queue"


@click.command("worker")
@click.option(
    "--slots", type=click.IntRange(1, 1000), metavar="N", help="Number of runs to execute at once [workers.slots: 4]."
)
@click.option(
    "--jobs",
    type=click.IntRange(0, 100),
    metavar="N",
    help="Number of jobs to execute at once [workers.jobs: 1]; 0: none.",
)
@click.option("--until-empty", is_flag=True, help="Stop when the queue has nothing left for this worker.")
@click.option("--check", is_flag=True, help="Only exit with 0 if the workers of this home and machine live, else 1.")
@options.common_options
@click.pass_obj
@options.run_async
async def worker(
    state: TerminalOptions, slots: int | None, jobs: int | None, until_empty: bool, check: bool, home: Path | None
) -> int:
    """Execute queued runs (`assay research … --queue`) and jobs (`assay docs add … --queue`).

    A worker serves all users of one database.

    \b
        export ASSAY_DATABASE=postgresql://assay:secret@db.corp/assay
        assay worker --slots 8
        assay worker --until-empty --jobs 2
        assay worker --check

    Ctrl-C or SIGTERM releases its runs and jobs at once, and other workers continue them.
    """
    config = settings.load()
    if check:
        return _check(home or config.home)
    slots = slots or config.workers.slots
    limits = QueueLimits(running=config.workers.running, per_user=config.workers.per_user)
    tell: Callable[[str], None] = _say_json if config.log.format == "json" else say
    progress: Callable[[str], None] = tell if state.verbosity >= 0 else lambda _line: None
    heart = heartbeats.Heartbeat(home or config.home)
    async with _open_with_retry(home, config, tell) as assay:
        of_runs = assay.worker(slots, limits, progress)
        of_runs.on_look = heart.beat
        workers: list[queue_workers.QueueWork] = [of_runs]
        if jobs := config.workers.jobs if jobs is None else jobs:
            workers.append(assay.job_worker(jobs, progress))

        def stop() -> None:
            for worker in workers:
                worker.stop()

        try:
            with cancel_on_signal(), on_interrupts(stop):
                progress(f"worker for {slots} run{'' if slots == 1 else 's'} at once; Ctrl-C ends it")
                if config.database is None:
                    progress(FOR_ONE_MACHINE)
                await assay.ready()
                gc.freeze()  # as in a server: a full collection would hold up every run of this process
                await queue_workers.work_all(workers, until_empty=until_empty)
        except TerminationSignal:
            return Exit.TERMINATED
        finally:
            heart.end()
        return Exit.DONE


def _check(home: Path) -> int:
    """Whether the workers of a home on this machine live; no database is asked."""
    beats = heartbeats.last_beats(home)
    for holder, seconds in beats:
        say(f"{process_of(holder)}: looked into the queue {seconds:.0f} s ago")
    if not beats:
        say(f"no worker of {home} is at work on this machine: start one with assay worker")
    return Exit.DONE if beats and all(seconds < heartbeats.LATE_SECONDS for _, seconds in beats) else Exit.FAILED


def _say_json(line: str) -> None:
    """Print a line as one of the log (`log.format`)."""
    timestamp = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    say(json.dumps({"at": timestamp, "level": "info", "event": "worker", "message": line}, ensure_ascii=False))
