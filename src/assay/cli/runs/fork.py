"""`assay runs fork`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from assay import settings
from assay.cli import (
    budget_options,
    checking_options,
    detached_run,
    notify_options,
    options,
    owner_options,
    report_options,
)
from assay.cli.arguments import paths_from
from assay.cli.exits import Exit
from assay.cli.files import checked
from assay.cli.library import stored
from assay.cli.questions import converse, may_ask
from assay.cli.run_watch import Output, stdout_for
from assay.cli.runs.ids import run_ids
from assay.cli.shell_words import any_path, strategies
from assay.cli.terminal import TerminalOptions, say
from assay.core.brief import POINTS, Point
from assay.core.markers import CitationMode


@dataclass(frozen=True, slots=True)
class ForkOrder:
    """What is to be forked; `changes` are the options of `Assay.fork`."""

    reference: str
    point: Point
    changes: dict[str, Any] = field(default_factory=dict)
    may_ask: bool = False
    detach: bool = False


@click.command("fork")
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@click.option(
    "--from",
    "point",
    type=click.Choice(POINTS),
    required=True,
    help="Start again from the plan, from research with the same plan, or from the report with the same findings.",
)
@click.option(
    "--plan",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Use this plan: its text form (as --review-plan shows it), or JSON.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="SOURCE",
    help="Leave this source out, by its number in the report, id, address, title or file name; repeatable.",
)
@click.option(
    "--add",
    multiple=True,
    metavar="PATH",
    shell_complete=any_path,
    help="Also research these files, folders, globs or page addresses; repeatable.",
)
@click.option(
    "--depth",
    type=click.Choice(["auto", "light", "medium", "extended"]),
    help="Depth of the research: time, steps and agents.",
)
@click.option(
    "--strategy", metavar="NAME", shell_complete=strategies, help="Research strategy: orchestrated or reflective."
)
@options.output()
@budget_options.budget
@options.models
@options.citations
@report_options.report
@owner_options.owning
@notify_options.notify
@click.option("--allow-private", is_flag=True, help="Let remote models and web searches see private documents.")
@click.option("--no-verify", is_flag=True, help="Skip verification.")
@checking_options.checking
@click.option("-y", "--yes", is_flag=True, help="Do not ask; use the defaults.")
@options.common
@click.pass_obj
def command(
    state: TerminalOptions,
    /,
    reference: str,
    point: Point,
    add: Sequence[str],
    outputs: Sequence[Path],
    as_json: bool,
    as_events: bool,
    citations: CitationMode | None,
    strict: bool,
    no_verify: bool,
    detach: bool,
    notify: Sequence[str],
    yes: bool,
    home: Path | None,
    **changes: Any,
) -> int:
    """Make a new run out of the ended run ID: what came before a point is taken over at no cost, the rest done anew.

    The new run stands alone: the old one may be deleted. Its limits and its usage are its own.

    \b
        assay runs fork last --from write --length short --lang de
        assay runs fork last --from write --exclude 3
        assay runs fork last --from research --add more/ --model openai:gpt-5
        assay runs fork last --from plan --plan plan.txt
    """
    stdout = stdout_for(as_json=as_json, as_events=as_events)
    configured = settings.load()
    output = Output(
        files=checked(outputs),
        stdout=stdout,
        citations=citations or configured.citations,
        strict=strict,
        verbosity=state.verbosity,
        notify=notify_options.targets(notify, configured),
    )
    if detach:
        detached_run.check(output)
    changes |= {"verify": False if no_verify else None, "add": paths_from(add) if add else None}
    order = ForkOrder(reference, point, changes, may_ask=not yes and not detach and may_ask(), detach=detach)
    return asyncio.run(_fork(order, output, home, configured))


async def _fork(order: ForkOrder, output: Output, home: Path | None, configured: settings.Settings) -> Exit:
    async with stored(home) as assay:
        shown = output.display()
        with shown:
            run_id = await assay.fork(order.reference, order.point, progress=shown.told, **order.changes)
        if order.detach:
            return await detached_run.leave(assay, run_id, home or configured.home, output)
        if output.verbosity >= 0:
            say(f"run {run_id}, forked from {order.point}")
        return await converse(assay, await assay.resume(run_id), output, somebody=order.may_ask)
