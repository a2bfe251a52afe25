"""`assay agent`: one research agent alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay import settings
from assay.cli import detached_run, files, notify_options, options, run_options, worker
from assay.cli.arguments import ResearchCommand, paths_from, question_from
from assay.cli.docs.docs_options import embedder_option
from assay.cli.library import configured_for, opened
from assay.cli.run_watch import Output, stdout_for, watch
from assay.cli.shell_words import any_path
from assay.cli.terminal import TerminalOptions
from assay.core.markers import CitationMode


@click.command("agent", cls=ResearchCommand)
@click.argument("words", nargs=-1, metavar="TASK", shell_complete=any_path)
@run_options.places()
@run_options.run_options("agent")
@options.output("findings")
@embedder_option
@options.citations
@run_options.detached
@run_options.queueing
@notify_options.notify
@options.common
@click.pass_obj
def command(
    state: TerminalOptions,
    /,
    words: Sequence[str],
    paths: Sequence[str],
    outputs: Sequence[Path],
    as_json: bool,
    as_events: bool,
    citations: CitationMode | None,
    strict: bool,
    detach: bool,
    queue: bool,
    priority: int,
    notify: Sequence[str],
    embedder: str | None,
    home: Path | None,
    **limits_and_ways: Any,
) -> int:
    """Have one research agent work on TASK (- reads it from stdin): no plan, no report, only what it found, cited.

    It is a run like any other: its claims are checked, and it can be shown, exported and resumed.

    \b
        assay agent "List every dam in the report, with its height" --in report.pdf
        assay agent "What do the minutes say about the bridge?" --in minutes/ --detach
    """
    task = question_from(words, paths)
    configured = configured_for(embedder, elsewhere=detach or queue)
    output = Output(
        files=files.checked(outputs),
        stdout=stdout_for(as_json=as_json, as_events=as_events),
        citations=citations or configured.citations,
        strict=strict,
        verbosity=state.verbosity,
        notify=notify_options.targets(notify, configured),
    )
    if detach:
        detached_run.check(output)
    if queue:
        worker.check(output, detach=detach)
    sources = paths_from(paths) if paths else None
    ways = {**limits_and_ways, "mode": "agent"}
    queued = priority if queue else None
    return asyncio.run(_work(task, sources, ways, output, home, configured, detach=detach, priority=queued))


async def _work(
    task: str,
    sources: list[str] | None,
    ways: dict[str, Any],
    output: Output,
    home: Path | None,
    configured: settings.Settings,
    *,
    detach: bool,
    priority: int | None,
) -> int:
    async with opened(home, configured) as assay:
        shown = output.display()
        if detach or priority is not None:
            with shown:
                run_id = await assay.create(task, sources=sources, progress=shown.told, priority=priority, **ways)
            if priority is not None:
                return worker.left(run_id, output)
            return await detached_run.leave(assay, run_id, home or configured.home, output)
        run = assay.start(task, sources=sources, progress=shown.told, **ways)
        return await watch(assay, run, output, shown)
