"""Stored runs: `list`, `show`, `label`, `open`."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, get_args

import click

from assay import Assay, settings
from assay.cli import destinations, options
from assay.cli.english import english_view
from assay.cli.figures import describe_cost, describe_estimate
from assay.cli.library import HOW_TO_RUN, library_exists, open_existing, read_library
from assay.cli.terminal import clean, print_table, say, write, write_json, write_lines
from assay.core.clean import escape_csv_cell
from assay.core.markers import CitationMode
from assay.core.milestones import pluralize, shorten
from assay.core.ports import FINAL, RunStatus
from assay.core.ports.lists import CELL_OF, STARRED, read_label
from assay.core.search_record import SearchRow, search_log
from assay.core.text import words
from assay.core.view import Lane, RunView, Steered, Turn

if TYPE_CHECKING:
    from assay.services.stored_runs import ListedRun

# A run's age in people's words.

_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


class Age(click.ParamType[timedelta]):
    """`12h`, `30d` or `4w`."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        match = re.fullmatch(r"(\d{1,5})([hdw])", str(value).strip().lower())
        if match is None:
            self.fail(f"{value!r} is not an age like 12h, 30d or 4w", param, ctx)
        return timedelta(hours=int(match[1]) * _HOURS[match[2]])


class ListFilter(TypedDict):
    """Which runs are listed."""

    status: Sequence[RunStatus]
    text: str
    since: str
    until: str
    thread: str
    collection: str
    label: str


ONLY_OTHERS = (
    "none of the runs here is yours: the commands show those of this machine's user; "
    "users who log in see theirs on the server's page and in its API"
)


ONLY_CELLS = "only runs that fill cells of tables match: --cells lists them"


class ShownRuns:
    """The runs of a page, the details shown beside each, where the list continues, and whether cells of tables match
    that it leaves out.
    """

    def __init__(
        self,
        rows: Sequence[ListedRun] = (),
        next: str = "",
        details: Sequence[str] | None = None,
        empty: str = "no run matches",
        *,
        cells: bool = False,
    ) -> None:
        """`empty` says why there are no rows, if there are none."""
        self.rows, self.next, self.empty, self.cells = rows, next, ONLY_CELLS if cells else empty, cells
        self.details = [row.question for row in rows] if details is None else details


@click.command("list")
@click.option(
    "--status",
    type=click.Choice(get_args(RunStatus)),
    multiple=True,
    help="List only runs with this status; repeatable.",
)
@click.option("--asked", "text", default="", metavar="TEXT", help="List only runs with this text in their question.")
@click.option("--since", default="", metavar="DATE", help="List only runs started on this day or later (2026-11-23).")
@click.option("--before", "until", default="", metavar="DATE", help="List only runs started before this day.")
@click.option("--thread", default="", metavar="NAME", help="List only runs of this thread.")
@click.option("--collection", default="", metavar="NAME", help="List only runs that searched this collection.")
@click.option("--label", default="", metavar="NAME[=VALUE]", help="List only runs with this label.")
@click.option("--cells", "with_cells", is_flag=True, help="List the runs that fill cells of tables (assay table) too.")
@click.option("--search", metavar="WORDS", help="Search questions and reports for these words, best match first.")
@options.paging_options
@options.json_output
@options.common_options
def list_runs(
    limit: int, cursor: str, as_json: bool, home: Path | None, search: str | None, with_cells: bool, **filters: str
) -> None:
    """List runs, newest first. --json adds owner, labels and usage.

    Runs that fill cells of tables are left out, unless --cells or --label asks for them.

    \b
        assay runs list -n 10
        assay runs list --status failed --since 2026-11
        assay runs list --search "signal tower"
        assay runs list --json
    """
    if search is not None and any(filters.values()):
        raise click.UsageError("--search cannot be combined with other conditions")
    not_label = "" if with_cells or filters["label"] else CELL_OF
    page = asyncio.run(_load_runs(home, filters, not_label, search, cursor, limit, as_json=as_json))  # type: ignore[arg-type]
    if not page.rows:
        say(page.empty)
    if as_json:
        write_json(page.rows)
    else:
        cells = zip(page.rows, page.details, strict=True)
        print_table(
            ("run", "created", "status", "question" if search is None else "best sentence"),
            [(row.run_id, row.created_at[:16].replace("T", " "), _status(row), detail) for row, detail in cells],
        )
    if page.next:
        say(f"more follow: --cursor {page.next}")
    elif page.cells and page.rows:
        say("runs that fill cells of tables match too: --cells lists them")


async def _load_runs(
    home: Path | None,
    filters: ListFilter,
    not_label: str,
    search: str | None,
    cursor: str,
    limit: int,
    *,
    as_json: bool,
) -> ShownRuns:
    if not library_exists(home):
        return ShownRuns(empty=HOW_TO_RUN)
    async with open_existing(home) as assay:
        if search is not None:
            return await _search(assay, search, cursor, limit)
        # briefs and accounts take time
        page = await assay.page(**filters, not_label=not_label, cursor=cursor, limit=limit, accounts=as_json)
        is_filtered, cells = any(filters.values()), False
        if not_label and (is_filtered or not page.runs):
            of_cells: ListFilter = {**filters, "label": not_label}
            cells = bool((await assay.page(**of_cells, limit=1, accounts=False)).runs)
        if page.runs or is_filtered or cells:
            return ShownRuns(page.runs, page.next, cells=cells)
        other_runs = (await assay.owned_by(None).page(limit=1, accounts=False)).runs
        return ShownRuns(empty=ONLY_OTHERS if other_runs else HOW_TO_RUN)


async def _search(assay: Assay, text: str, cursor: str, limit: int) -> ShownRuns:
    page = await assay.search_runs(text, cursor=cursor, limit=limit)
    return ShownRuns([hit.run for hit in page.runs], page.next, [hit.snippet or hit.run.question for hit in page.runs])


def _status(row: ListedRun) -> str:
    """A run that has neither ended nor a live process was interrupted; one that waits or is paused needs no process."""
    if row.stop_reason == "no_evidence":
        return "completed: no answer found"
    if row.queued and not row.holder and row.status not in FINAL and row.status != "paused":
        return "queued"
    return row.status if row.status in FINAL or row.status in ("waiting", "paused") or row.holder else "interrupted"


@click.command("label")
@options.run_argument("RUN")
@click.argument("labels", nargs=-1, metavar="[NAME[=VALUE]]...")
@click.option("--remove", multiple=True, metavar="NAME", help="Remove this label; repeatable.")
@click.option("--star/--unstar", default=None, help="Star the run, or remove its star.")
@options.common_options
@options.run_async
async def label_run(
    reference: str, labels: tuple[str, ...], remove: tuple[str, ...], star: bool | None, home: Path | None
) -> None:
    """Label RUN, or show its labels. No model sees them.

    \b
        assay runs label last --star
        assay runs label last to-read project=tides
        assay runs list --label project=tides
    """
    added = dict(map(read_label, labels)) | ({STARRED: ""} if star else {})
    removed = (*remove, *([STARRED] if star is False else []))
    async with open_existing(home) as assay:
        row = await assay.find(reference)
        run_labels = await assay.label(row.run_id, added, removed) if added or removed else row.labels
    labels_text = ", ".join(f"{name}={value}" if value else name for name, value in sorted(run_labels.items()))
    say(f"{row.run_id}: {clean(labels_text) or 'no labels'}")


@click.command("open")
@options.run_argument(default="last")
@options.citation_modes
@options.common_options
def open_report(reference: str, citations: CitationMode | None, home: Path | None) -> None:
    """Open the report of run ID (default: the last run) in the browser, as a single HTML file.

    Prints the file's path; without a browser, it does only that.

    \b
        assay runs open last
        assay runs open k3v9 --footnotes
    """
    citation_mode = citations or settings.load().citations
    path = read_library(home, lambda assay: destinations.write_report_page(assay, reference, citation_mode))
    write(str(path))
    destinations.open_in_browser(path)


# The searches of a run as a table, for people and as CSV.

HEADS = ("query", "provider", "hits", "read", "cited", "excluded")


def write_search_log(view: RunView, *, as_csv: bool, as_json: bool) -> None:
    """Print the method of a run: its searches, their providers, and what became of the results."""
    rows = search_log(view)
    if as_json:
        write_json(rows)
    elif as_csv:
        write(format_csv(rows).rstrip("\n"))
    else:
        print_table(HEADS, [_cells(row) for row in rows])


def format_csv(rows: Iterable[SearchRow]) -> str:
    """CSV (RFC 4180, but with line feeds). A cell that a spreadsheet would read as a formula gets an apostrophe."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(HEADS)
    for row in rows:
        writer.writerow([escape_csv_cell(clean(cell)) for cell in _cells(row)])
    return buffer.getvalue()


def _cells(row: SearchRow) -> Sequence[str]:
    excluded = "; ".join(f"{result.url} ({result.reason})" for result in row.excluded)
    counts = ("", "", "") if row.failed else (str(row.hits), str(row.read), str(row.cited))
    return (row.query, row.provider, *counts, f"no answer: {row.failed}" if row.failed else excluded)


@click.command("show")
@options.run_argument()
@click.option("--thinking", is_flag=True, help="Show the models' thinking too.")
@click.option(
    "--search-log", is_flag=True, help="Show only its searches: query, provider, hits, read, cited, excluded."
)
@click.option("--csv", "as_csv", is_flag=True, help="Print the search log as CSV.")
@options.json_output
@options.common_options
def show_run(reference: str, thinking: bool, search_log: bool, as_csv: bool, as_json: bool, home: Path | None) -> None:
    """Show what happened in run ID: plan, agents, sources, claims, usage.

    \b
        assay runs show last
        assay runs show last --search-log --csv > searches.csv
    """
    if as_csv and not search_log:
        raise click.UsageError("--csv prints the search log: add --search-log")
    view = read_library(home, lambda assay: assay.view(reference))
    if search_log:
        write_search_log(view, as_csv=as_csv, as_json=as_json)
        return
    if as_json:
        write_json(view)
        return
    write_lines(run_lines(english_view(view), thinking=thinking), hang=2)


def run_lines(view: RunView, *, thinking: bool = False) -> Iterator[str]:
    """A run as lines of text."""
    yield f"{view.run_id}  {clean(view.question)}"
    yield f"  {_state(view)}"
    if where := _origin_line(view):
        yield f"  {where}"
    yield from _plan(view)
    yield from (f"  {_steering_line(steering)}" for steering in view.steering)
    for phase in view.phases:
        yield f"  {phase.name}  {phase.started_at[11:19]} to {phase.finished_at[11:19] or 'now'}"
        yield from (line for turn in phase.turns for line in _turn(turn, thinking))
        if phase.name == "research":
            yield from (line for lane in view.lanes for line in _lane(lane, thinking))
    yield from _evidence(view)
    yield from (f"  warning: {clean(warning.message)}" for warning in view.warnings)


def _state(view: RunView) -> str:
    parts = [view.status, view.stop_reason, view.mode, view.depth, view.strategy]
    parts += [f"started {view.started_at[:19]}"] if view.started_at else []
    parts += [f"finished {view.finished_at[:19]}"] if view.finished_at else []
    parts += [f"error: {clean(view.error)}"] if view.error else []
    return ", ".join(part for part in dict.fromkeys(parts) if part)


def _origin_line(view: RunView) -> str:
    """The run's conversation, and the run it continues."""
    brief = view.brief
    parts = [f"thread {clean(brief.thread)}"] if brief and brief.thread else []
    parts += [f"continues run {brief.parent}"] if brief and brief.parent else []
    parts += [f"forked from run {brief.fork.run} at {brief.fork.point}"] if brief and brief.fork else []
    return ", ".join(parts)


def _plan(view: RunView) -> Iterator[str]:
    if view.plan is None:
        return
    yield f"  plan: {clean(view.plan.title)}"
    for step in view.plan.steps:
        yield f"    {step.id}. {clean(step.title)} ({step.status})"
    for reflection in view.reflections:
        decision = f"after step {reflection.step}: {reflection.decision}"
        reasons = "; ".join(
            clean(text) for text in (reflection.reasoning, *reflection.changes, reflection.note) if text
        )
        yield f"    {shorten(f'{decision}: {reasons}' if reasons else decision)}"


def _steering_line(steering: Steered) -> str:
    """The owner's instruction, and its effect."""
    note = f" ({'followed at ' if steering.state == 'applied' else ''}{clean(steering.note)})" if steering.note else ""
    return f"told: {shorten(clean(steering.text))}: {steering.state}{note}"


def _lane(lane: Lane, thinking: bool) -> Iterator[str]:
    ending = f", {clean(lane.error)}" if lane.error else f", {lane.stop}" if lane.stop not in ("", "done") else ""
    yield f"    agent {lane.lane} ({lane.state}{ending}): {clean(lane.task)}"
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
    # The only step of a plan may be the question itself, perhaps without its question mark.
    parts = {(coverage.status, tuple(words(coverage.part))): coverage for coverage in reversed(view.coverage)}
    for coverage in reversed(parts.values()):
        yield f"  {coverage.status}: {clean(coverage.part)}" + (
            f" ({clean(coverage.reason)})" if coverage.reason else ""
        )
    yield f"  {pluralize(len(view.sources), 'source')} found, {pluralize(len(view.claims), 'claim')} made"
    for claim in view.claims:
        reason_note = f" ({clean(claim.reason)})" if claim.reason else ""
        yield f"    {claim.verdict}{reason_note}: {shorten(clean(claim.text))}"
    if view.gate is not None and not view.gate.passed:
        yield f"  the final gate failed: {clean('; '.join(view.gate.problems))}"
    total = view.usage.total
    yield (
        f"  {pluralize(total.model_calls, 'model call')}, {total.input_tokens} tokens in, {total.output_tokens} out,"
        f" {pluralize(total.searches, 'search', 'searches')}, {describe_cost(total) or '$0'}"
    )
    if view.brief and view.brief.estimate:
        yield f"  estimated at its start: {describe_estimate(view.brief.estimate)}"
