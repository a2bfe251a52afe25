"""`assay plan`: shows what a run would do and cost, before it starts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from assay import Assay, settings
from assay.cli import options, run_options
from assay.cli.arguments import ResearchCommand, paths_from, question_from
from assay.cli.completion import any_path
from assay.cli.figures import describe_estimate, price
from assay.cli.library import opened
from assay.cli.live.summary import outcome
from assay.cli.run_watch import Output, exit_code, watch
from assay.cli.terminal import Exit, TerminalOptions, harmless, say, write
from assay.core import plan
from assay.core.brief import Estimate
from assay.core.view import RunView


@click.command("plan", cls=ResearchCommand)
@click.argument("words", nargs=-1, metavar="QUESTION", shell_complete=any_path)
@run_options.places()
@run_options.run_options("plan")
@options.json_output
@options.common
@click.pass_obj
def command(
    state: TerminalOptions,
    /,
    words: Sequence[str],
    paths: Sequence[str],
    as_json: bool,
    home: Path | None,
    **wanted: Any,
) -> int:
    """Plan the research for QUESTION (- reads it from stdin) and estimate its cost: calls, tokens, money, time.

    Only the plan is made. The run then waits for you; when you approve the plan, it continues and pays for nothing
    twice.

    \b
        assay plan "How did the harbour grow?" --in docs/
        assay runs approve ID
    """
    question = question_from(words, paths)
    configured = settings.load()
    output = Output(stdout="json" if as_json else "report", citations=configured.citations, verbosity=state.verbosity)
    sources = paths_from(paths) if paths else None
    wanted |= {"review_plan": "required", "ask": "never", "mode": "deep_research"}
    return asyncio.run(_plan(question, sources, wanted, output, home, configured))


async def _plan(
    question: str,
    sources: list[str] | None,
    wanted: dict[str, Any],
    output: Output,
    home: Path | None,
    configured: settings.Settings,
) -> int:
    async with opened(home, configured) as assay:
        shown = output.display()
        run = assay.start(question, sources=sources, progress=shown.show_progress, **wanted)
        await watch(assay, run, output, shown, asks=True)
        view = await assay.view(run.run_id)
        if view.status != "waiting":
            say(outcome(view))
            return exit_code(view)
        return await show(assay, view, output)


async def show(assay: Assay, view: RunView, output: Output) -> Exit:
    """Print the plan and its estimate on stdout."""
    estimate = await assay.estimate(view.run_id)
    if output.stdout == "json":
        said = {"run": view.run_id, "plan": view.plan, "depth": view.depth, "estimate": estimate}
        write(msgspec.json.format(msgspec.json.encode(said)).decode())
        return Exit.DONE
    for line in lines(view, estimate):
        write(line)
    if output.verbosity >= 0:
        say(f"to research by it: assay runs approve {view.run_id}; to drop it: assay runs rm {view.run_id}")
    return Exit.DONE


def lines(view: RunView, estimate: Estimate) -> list[str]:
    """A plan, and the estimated cost of its run."""
    form = plan.written(view.plan).splitlines() if view.plan else []
    spent = f", of which {price(view.usage.total)} is spent" if view.usage.total.usd else ""
    said = f"estimated: {describe_estimate(estimate)}{spent}"
    return [*map(harmless, form), "", f"depth: {view.depth}, strategy: {view.strategy}", said]
