"""`assay mcp`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import settings
from assay.cli import detached_run, options
from assay.cli.exits import Exit
from assay.cli.interrupts import Terminated, termination
from assay.cli.library import opened
from assay.cli.run_watch import Output
from assay.cli.terminal import TerminalOptions, say
from assay.core.errors import ConfigError
from assay.services.home_paths import log_file

NOT_INSTALLED = "assay mcp needs an extra which is not installed: pip install 'assay[mcp]'"


@click.command("mcp")
@click.option("--allow-private", is_flag=True, help="Let the client see documents in private collections.")
@options.common
@click.pass_obj
def command(state: TerminalOptions, allow_private: bool, home: Path | None) -> int:
    """Serve research, evidence and the library to an assistant, over stdin and stdout (Model Context Protocol).

    \b
        claude mcp add assay -- assay mcp
        {"mcpServers": {"assay": {"command": "assay", "args": ["mcp"]}}}
        assay mcp
        assay mcp --home ~/research

    Runs which go on when the client leaves are finished by processes of their own.
    """
    return asyncio.run(_serve(home, allow_private, quiet=state.verbosity < 0))


async def _serve(home: Path | None, allow_private: bool, *, quiet: bool) -> Exit:
    try:
        from assay.server.local import LocalRuns  # noqa: PLC0415 - an optional extra
        from assay.server.mcp.stdio import serve  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        raise ConfigError(NOT_INSTALLED) from error
    configured, code = settings.load(), Exit.DONE
    async with opened(home, configured) as assay:
        runs = LocalRuns(assay)
        try:
            with termination():
                await serve(assay, runs, allow_private=allow_private)
        except Terminated:
            code = Exit.TERMINATED
        left = runs.going
    for run_id in left:
        _leave(run_id, home or configured.home, quiet=quiet)
    return code


def _leave(run_id: str, home: Path, *, quiet: bool) -> None:
    """Have a process of its own finish a run."""
    process = detached_run.start(detached_run.command(run_id, home, Output()), log_file(home, run_id))
    if not quiet:
        say(f"run {run_id} goes on in process {process.pid}")
