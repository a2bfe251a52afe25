"""`assay runs diff`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.library import stored
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import clean, write
from assay.core.difference import ChangedClaim, Difference, Ending, difference
from assay.core.errors import UsageError
from assay.core.report import Report, ReportClaim, ReportSource, build_report, written


@click.command("diff")
@click.argument("before", metavar="A", shell_complete=run_ids)
@click.argument("after", metavar="B", shell_complete=run_ids)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if they differ.")
@options.json_output
@options.common
@click.pass_context
def command(ctx: click.Context, before: str, after: str, exit_code: bool, as_json: bool, home: Path | None) -> None:
    """How the report of run B differs from that of run A: claims, verdicts, cited sources, plan.

    \b
        assay runs diff k3v9 last
        assay runs diff k3v9 last --json
    """
    found = asyncio.run(_difference(before, after, home))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        for line in told(found):
            write(line)
    if exit_code and not found.is_empty:
        ctx.exit(Exit.FAILED)


async def _difference(before: str, after: str, home: Path | None) -> Difference:
    async with stored(home) as assay:
        reports: list[Report] = []
        for reference in (before, after):
            view = await assay.view(reference)
            if written(view) == "none":
                raise UsageError(f"run {view.run_id} has no report to compare: wait for its end, or name another")
            reports.append(build_report(view, "none"))
    return difference(*reports)


def told(found: Difference) -> Iterator[str]:
    """A difference as lines of text: - was, + is, ~ has another verdict or other words."""
    yield f"- {_ended(found.before)}"
    yield f"+ {_ended(found.after)}"
    yield ""
    yield from _group("plan", [*(f"- {step}" for step in found.steps_dropped), *(f"+ {s}" for s in found.steps_added)])
    yield from _group("claims dropped", (f"- {_claim(claim)}" for claim in found.dropped))
    yield from _group("claims added", (f"+ {_claim(claim)}" for claim in found.added))
    yield from _group("claims changed", (line for pair in found.changed for line in _changed(pair)))
    yield from _group("sources dropped", (f"- {_source(source)}" for source in found.sources_dropped))
    yield from _group("sources added", (f"+ {_source(source)}" for source in found.sources_added))
    claims = "1 claim is" if found.same == 1 else f"{found.same} claims are"
    yield f"{claims} the same{'; nothing differs' if found.is_empty else ''}"


def _group(title: str, lines: Iterable[str]) -> Iterator[str]:
    inside = [clean(line) for line in lines]
    if inside:
        yield f"{title}:"
        yield from (f"  {line}" for line in inside)
        yield ""


def _ended(end: Ending) -> str:
    verified = "verified" if end.verified else "not verified"
    return clean(f"{end.run_id}  {end.status}, {end.stop_reason or 'going on'}, {verified}  {end.question}")


def _changed(pair: ChangedClaim) -> Iterator[str]:
    if pair.before.text == pair.after.text:
        yield f"~ {pair.before.verdict} → {pair.after.verdict}: {_line(pair.after.text)}"
    else:
        yield f"- {_claim(pair.before)}"
        yield f"+ {_claim(pair.after)}"


def _claim(claim: ReportClaim) -> str:
    return f"{claim.verdict}: {_line(claim.text)}"


def _source(source: ReportSource) -> str:
    return "  ".join(part for part in (source.title, source.url) if part)


def _line(text: str) -> str:
    return " ".join(text.split())
