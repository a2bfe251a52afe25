"""`assay research`, or `assay` with a question; `assay plan`, which only plans; `assay agent`, one agent alone."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from assay import Assay, settings
from assay.cli import detached_run, options, run_options
from assay.cli.completion import any_path
from assay.cli.figures import describe_cost, describe_estimate, outcome
from assay.cli.library import ReadingTime, empty_collection_message, open_assay, settings_with_embedder
from assay.cli.options import embedder_option
from assay.cli.questions import AskMode, resolve_ask, run_interactively
from assay.cli.run_options import ResearchCommand, paths_from, question_from
from assay.cli.run_watch import Output, OutputOptions, execute_run, exit_code, gather_output_options
from assay.cli.runs.removal import apply_retention
from assay.cli.signals import interruptible_prompt
from assay.cli.terminal import Exit, TerminalOptions, can_ask, say, strip_controls, write, write_json
from assay.core import plan
from assay.core.brief import Estimate
from assay.core.view import RunView
from assay.services.providers import describe_local_models, local_models, set_model_command


@dataclass(frozen=True, slots=True)
class ResearchOrder:
    """A request for a run; `options` are those of `Assay.start`. With a `priority` it is left to workers."""

    question: str
    sources: list[str] | None
    options: dict[str, Any]
    may_ask: bool = False
    detach: bool = False
    priority: int | None = None

    @property
    def elsewhere(self) -> bool:
        """True if another process executes the run."""
        return self.detach or self.priority is not None


@click.command("plan", cls=ResearchCommand)
@click.argument("words", nargs=-1, metavar="QUESTION", shell_complete=any_path)
@run_options.places_option()
@run_options.run_options("plan")
@options.json_output
@options.common_options
@click.pass_obj
def plan_research(
    state: TerminalOptions,
    /,
    words: Sequence[str],
    paths: Sequence[str],
    as_json: bool,
    home: Path | None,
    **option_values: Any,
) -> int:
    """Plan the research for QUESTION (- reads it from stdin) and estimate its cost: calls, tokens, money, time.

    The run then waits. When you approve the plan, it continues, and pays for nothing twice.

    \b
        assay plan "How did the harbour grow?" --in docs/
        assay runs approve ID
    """
    question = question_from(words, paths)
    config = settings.load()
    output = Output(stdout="json" if as_json else "report", citations=config.citations, verbosity=state.verbosity)
    option_values |= {"review_plan": "required", "ask": "never", "mode": "deep_research"}
    order = ResearchOrder(question, paths_from(paths) if paths else None, option_values)
    return asyncio.run(_plan(order, output, home, config))


async def _plan(order: ResearchOrder, output: Output, home: Path | None, config: settings.Settings) -> int:
    async with open_assay(home, config) as assay:
        display = output.display()
        run = assay.start(order.question, sources=order.sources, progress=display.show_progress, **order.options)
        await execute_run(assay, run, output, display, asks=True)
        view = await assay.view(run.run_id)
        if view.status != "waiting":
            say(outcome(view))
            return exit_code(view)
        return await show_plan(assay, view, output)


async def show_plan(assay: Assay, view: RunView, output: Output) -> Exit:
    """Print the plan and its estimate on stdout."""
    estimate = await assay.estimate(view.run_id)
    if output.stdout == "json":
        fields = {"run": view.run_id, "plan": view.plan, "depth": view.depth, "estimate": estimate}
        write_json(fields)
        return Exit.DONE
    for line in plan_lines(view, estimate):
        write(line)
    if output.verbosity >= 0:
        say(f"to research by it: assay runs approve {view.run_id}; to drop it: assay runs rm {view.run_id}")
    return Exit.DONE


def plan_lines(view: RunView, estimate: Estimate) -> list[str]:
    """A plan, and the estimated cost of its run."""
    form = plan.format_plan(view.plan).splitlines() if view.plan else []
    spent_note = f", of which {describe_cost(view.usage.total)} is spent" if view.usage.total.usd else ""
    cost = f"estimated: {describe_estimate(estimate)}{spent_note}"
    return [*map(strip_controls, form), "", f"depth: {view.depth}, strategy: {view.strategy}", cost]


@click.command("research", cls=ResearchCommand)
@click.argument("words", nargs=-1, metavar="QUESTION", shell_complete=any_path)
@run_options.places_option()
@run_options.run_options("research")
@options.output_options()
@click.option("--open", "in_browser", is_flag=True, help="Open the report in the browser when the run ends.")
@click.option("--copy", "to_clipboard", is_flag=True, help="Copy the report, as Markdown, when the run ends.")
@embedder_option
@options.citation_options
@run_options.detach_option
@run_options.queue_options
@options.notify_option
@options.yes_option
@options.common_options
@click.pass_obj
@gather_output_options
def research(
    state: TerminalOptions,
    /,
    words: Sequence[str],
    paths: Sequence[str],
    wanted: OutputOptions,
    yes: bool,
    ask: AskMode | None,
    detach: bool,
    queue: bool,
    priority: int | None,
    in_browser: bool,
    to_clipboard: bool,
    embedder: str | None,
    home: Path | None,
    **option_values: Any,
) -> int:
    """Research QUESTION on the web and in your documents (- reads it from stdin).

    \b
        assay "How did the harbour grow?" --in docs/
        assay "Which prices changed?" --in @ledgers prices.csv -o report.html
        assay "What is new in Python packaging?" --since 2026 --max-usd 0.50
    """
    question = question_from(words, paths)
    config = settings_with_embedder(embedder, elsewhere=detach or queue)
    output = replace(wanted.output(config, state.verbosity), in_browser=in_browser, to_clipboard=to_clipboard)
    if (in_browser or to_clipboard) and (detach or queue):
        raise click.UsageError(
            f"{'--open' if in_browser else '--copy'} waits for the report, which --detach and --queue do not; "
            "later: assay runs open last"
        )
    detached_run.check_options(output, detach=detach, queue=queue, priority=priority)
    somebody = not (yes or detach or queue) and can_ask()
    ask = resolve_ask(ask, config.ask, somebody=somebody)
    order = ResearchOrder(
        question,
        paths_from(paths) if paths else None,
        {**option_values, "ask": ask},
        may_ask=somebody,
        detach=detach,
        priority=(priority or 0) if queue else None,
    )
    return asyncio.run(_research(order, output, home, config))


async def _research(order: ResearchOrder, output: Output, home: Path | None, config: settings.Settings) -> int:
    async with open_assay(home, config) as assay:
        if run_id := await _run_to_continue(assay, order):
            return await run_interactively(assay, await assay.resume(run_id), output, somebody=order.may_ask)
        code = await _execute(assay, order, output, home or config.home)
        if order.elsewhere:
            return code
        uses_library = order.sources is None and not order.options.get("continues") and not order.options.get("web")
        found_nothing = code in (Exit.NO_EVIDENCE, Exit.FAILED) and uses_library and output.verbosity >= 0
        if found_nothing and not await assay.documents():
            say(await empty_collection_message(assay, named_by="--in @NAME"))
        if output.verbosity >= 0 and not order.options.get("models"):
            await _suggest_local_models(assay)
        await apply_retention(assay, output.verbosity)
        return code


async def _execute(assay: Assay, order: ResearchOrder, output: Output, home: Path) -> Exit:
    """Execute a run to its end, or have another process do so."""
    display = output.display()
    if not order.elsewhere:
        reading_time = ReadingTime(display.show_progress)
        run = assay.start(order.question, sources=order.sources, progress=reading_time, **order.options)
        code = await run_interactively(assay, run, output, display, somebody=order.may_ask)
        if output.verbosity >= 0:
            reading_time.suggest_collection(order.sources or ())
        return code
    with display:
        run_id = await assay.create(
            order.question,
            sources=order.sources,
            progress=display.show_progress,
            priority=order.priority,
            **order.options,
        )
    if order.priority is not None:
        return detached_run.report_queued(run_id, output)
    return await detached_run.detach_run(assay, run_id, home, output)


async def _suggest_local_models(assay: Assay) -> None:
    """After the first run of a home, name other models on this machine that could have answered, if no model is set."""
    if sys.stderr.isatty() and len(await assay.runs(2)) == 1 and (models := await local_models(assay.settings)):
        say(f"{describe_local_models(models)}; to have it answer: {set_model_command(models)}")


async def _run_to_continue(assay: Assay, order: ResearchOrder) -> str:
    """The run to continue: one with the same question, if the user agrees."""
    unfinished_runs = await assay.unfinished(order.question)
    if not unfinished_runs:
        return ""
    run_id, since = unfinished_runs[0].run_id, unfinished_runs[0].created_at
    if order.may_ask:
        with interruptible_prompt():
            confirmed = click.confirm(f"Run {run_id} of {since} was interrupted. Go on with it?", err=True)
        return run_id if confirmed else ""
    if unfinished_runs[0].status == "waiting":
        say(f"run {run_id} of this question waits for your answer or approval: assay runs show {run_id}")
    else:
        say(f"an earlier run of this question was interrupted; to continue it: assay runs resume {run_id}")
    return ""


@click.command("agent", cls=ResearchCommand)
@click.argument("words", nargs=-1, metavar="TASK", shell_complete=any_path)
@run_options.places_option()
@run_options.run_options("agent")
@options.output_options("findings")
@embedder_option
@options.citation_options
@run_options.detach_option
@run_options.queue_options
@options.notify_option
@options.common_options
@click.pass_obj
@gather_output_options
def agent(
    state: TerminalOptions,
    /,
    words: Sequence[str],
    paths: Sequence[str],
    wanted: OutputOptions,
    detach: bool,
    queue: bool,
    priority: int | None,
    embedder: str | None,
    home: Path | None,
    **option_values: Any,
) -> int:
    """Send a single research agent to work on TASK (- reads it from stdin). It makes no plan and no report: you get
    its findings, with citations.

    This is a run like any other: its claims are checked, and you can show, export and resume it.

    \b
        assay agent "List every dam in the report, with its height" --in report.pdf
        assay agent "What do the minutes say about the bridge?" --in minutes/ --detach
    """
    task = question_from(words, paths)
    config = settings_with_embedder(embedder, elsewhere=detach or queue)
    output = wanted.output(config, state.verbosity)
    detached_run.check_options(output, detach=detach, queue=queue, priority=priority)
    order = ResearchOrder(
        task,
        paths_from(paths) if paths else None,
        {**option_values, "mode": "agent"},
        detach=detach,
        priority=(priority or 0) if queue else None,
    )
    return asyncio.run(_agent(order, output, home, config))


async def _agent(order: ResearchOrder, output: Output, home: Path | None, config: settings.Settings) -> int:
    async with open_assay(home, config) as assay:
        return await _execute(assay, order, output, home or config.home)
