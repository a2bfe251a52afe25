"""`assay runs show`."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
import msgspec

from assay.cli import options
from assay.cli.figures import price, told
from assay.cli.library import stored
from assay.cli.progress import counted, shorten
from assay.cli.stored_names import run_ids
from assay.cli.tables import table
from assay.cli.terminal import clean, write
from assay.core.clean import inert
from assay.core.search_record import SearchRow, search_log
from assay.core.text import words
from assay.core.view import Lane, RunView, Steered, Turn

# The searches of a run as a table, for people and as CSV.

HEADS = ("query", "provider", "hits", "read", "cited", "excluded")


def write_search_log(view: RunView, *, as_csv: bool, as_json: bool) -> None:
    """Print the method of a run: what was asked of whom, and what became of what was found."""
    rows = search_log(view)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(rows)).decode())
    elif as_csv:
        write(as_text(rows).rstrip("\n"))
    else:
        table(HEADS, [_cells(row) for row in rows])


def as_text(rows: Iterable[SearchRow]) -> str:
    """CSV (RFC 4180, but with line feeds). A cell which a spreadsheet would take for a formula gets an apostrophe."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(HEADS)
    for row in rows:
        writer.writerow([inert(clean(cell)) for cell in _cells(row)])
    return written.getvalue()


def _cells(row: SearchRow) -> Sequence[str]:
    excluded = "; ".join(f"{each.url} ({each.reason})" for each in row.excluded)
    counts = ("", "", "") if row.failed else (str(row.hits), str(row.read), str(row.cited))
    return (row.query, row.provider, *counts, f"no answer: {row.failed}" if row.failed else excluded)


@click.command("show")
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@click.option("--thinking", is_flag=True, help="Show the models' thinking too.")
@click.option(
    "--search-log", is_flag=True, help="Show only its searches: query, provider, hits, read, cited, excluded."
)
@click.option("--csv", "as_csv", is_flag=True, help="Print the search log as CSV.")
@options.json_output
@options.common
def command(reference: str, thinking: bool, search_log: bool, as_csv: bool, as_json: bool, home: Path | None) -> None:
    """Show what happened in run ID: plan, agents, sources, claims, usage.

    \b
        assay runs show last
        assay runs show last --search-log --csv > searches.csv
    """
    if as_csv and not search_log:
        raise click.UsageError("--csv is a form of the searches: give --search-log with it")
    view = asyncio.run(_view(reference, home))
    if search_log:
        write_search_log(view, as_csv=as_csv, as_json=as_json)
        return
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(view)).decode())
        return
    for line in outline(view, thinking=thinking):
        write(line)


async def _view(reference: str, home: Path | None) -> RunView:
    async with stored(home) as assay:
        return await assay.view(reference)


def outline(view: RunView, *, thinking: bool = False) -> Iterator[str]:
    """A run as lines of text."""
    yield f"{view.run_id}  {clean(view.question)}"
    yield f"  {_state(view)}"
    if where := _where(view):
        yield f"  {where}"
    yield from _plan(view)
    yield from (f"  {_told(told)}" for told in view.steering)
    for phase in view.phases:
        yield f"  {phase.name}  {phase.started_at[11:19]} to {phase.finished_at[11:19] or 'now'}"
        yield from (line for turn in phase.turns for line in _turn(turn, thinking))
        if phase.name == "research":
            yield from (line for lane in view.lanes for line in _lane(lane, thinking))
    yield from _evidence(view)
    yield from (f"  warning: {clean(warning.message)}" for warning in view.warnings)


def _state(view: RunView) -> str:
    said = [view.status, view.stop_reason, view.mode, view.depth, view.strategy]
    said += [f"started {view.started_at[:19]}"] if view.started_at else []
    said += [f"finished {view.finished_at[:19]}"] if view.finished_at else []
    said += [f"error: {clean(view.error)}"] if view.error else []
    return ", ".join(part for part in dict.fromkeys(said) if part)


def _where(view: RunView) -> str:
    """Where the run stands: its conversation, and the run it goes on from."""
    brief = view.brief
    said = [f"thread {clean(brief.thread)}"] if brief and brief.thread else []
    said += [f"goes on from run {brief.parent}"] if brief and brief.parent else []
    said += [f"forked from run {brief.fork.run} at {brief.fork.point}"] if brief and brief.fork else []
    return ", ".join(said)


def _plan(view: RunView) -> Iterator[str]:
    if view.plan is None:
        return
    yield f"  plan: {clean(view.plan.title)}"
    for step in view.plan.steps:
        yield f"    {step.id}. {clean(step.title)} ({step.status})"
    for each in view.reflections:
        said = f"after step {each.step}: {each.decision}"
        why = "; ".join(clean(text) for text in (each.reasoning, *each.changes, each.note) if text)
        yield f"    {shorten(f'{said}: {why}' if why else said)}"


def _told(told: Steered) -> str:
    """What the owner said, and what became of it."""
    note = f" ({'heeded at ' if told.state == 'applied' else ''}{clean(told.note)})" if told.note else ""
    return f"told: {shorten(clean(told.text))}: {told.state}{note}"


def _lane(lane: Lane, thinking: bool) -> Iterator[str]:
    ended = f", {clean(lane.error)}" if lane.error else f", {lane.stop}" if lane.stop not in ("", "done") else ""
    yield f"    agent {lane.lane} ({lane.state}{ended}): {clean(lane.task)}"
    for turn in lane.turns:
        yield from (f"  {line}" for line in _turn(turn, thinking))
    if lane.finding.text:
        yield f"      found: {shorten(clean(lane.finding.text))}"


def _turn(turn: Turn, thinking: bool) -> Iterator[str]:
    if thinking:
        yield from (f"    thought: {clean(thought)}" for thought in turn.thoughts)
    for use in turn.tools:
        yield f"    {use.tool} {shorten(clean(use.arguments), 80)}: {clean(use.summary) or use.outcome}"


def _evidence(view: RunView) -> Iterator[str]:
    # The one step of a plan is the question itself, perhaps without its question mark.
    parts = {(each.status, tuple(words(each.part))): each for each in reversed(view.coverage)}
    for each in reversed(parts.values()):
        yield f"  {each.status}: {clean(each.part)}" + (f" ({clean(each.reason)})" if each.reason else "")
    yield f"  {counted(len(view.sources), 'source')} met, {counted(len(view.claims), 'claim')} made"
    for claim in view.claims:
        why = f" ({clean(claim.reason)})" if claim.reason else ""
        yield f"    {claim.verdict}{why}: {shorten(clean(claim.text))}"
    if view.gate is not None and not view.gate.passed:
        yield f"  the final gate failed: {clean('; '.join(view.gate.problems))}"
    total = view.usage.total
    yield (
        f"  {counted(total.model_calls, 'model call')}, {total.input_tokens} tokens in, {total.output_tokens} out,"
        f" {counted(total.searches, 'search', 'searches')}, {price(total) or '$0'}"
    )
    if view.brief and view.brief.estimate:
        yield f"  estimated at its start: {told(view.brief.estimate)}"
