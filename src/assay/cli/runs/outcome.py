"""A run's results: `diff`, `export`, `share`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from assay import settings
from assay.app import bundles
from assay.cli import destinations, options
from assay.cli.completion import run_ids
from assay.cli.figures import format_day
from assay.cli.jobs import queue_jobs, queue_option
from assay.cli.library import open_existing, read_library
from assay.cli.terminal import Exit, TerminalOptions, clean, print_list, say, write, write_json, write_lines
from assay.core.assurance import report_state
from assay.core.difference import ChangedClaim, Difference, Ending, difference
from assay.core.markers import CitationMode
from assay.core.ports.users import ShareRow
from assay.core.report import ReportClaim, ReportSource
from assay.core.view import RunView
from assay.core.web_addresses import is_address
from assay.services.arguments import suffix_of
from assay.services.jobs.specifications import ExportJob
from assay.services.stored_runs import SHARES_PATH, comparable_report


@click.command("diff")
@click.argument("before", metavar="A", shell_complete=run_ids)
@click.argument("after", metavar="B", shell_complete=run_ids)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if they differ.")
@options.json_output
@options.common_options
@click.pass_context
def diff_runs(ctx: click.Context, before: str, after: str, exit_code: bool, as_json: bool, home: Path | None) -> None:
    """Compare the reports of two runs: claims, verdicts, cited sources, plan.

    \b
        assay runs diff k3v9 last
        assay runs diff k3v9 last --json
    """
    difference = asyncio.run(_difference(before, after, home))
    if as_json:
        write_json(difference)
    else:
        write_lines(describe_difference(difference), hang=2)
    if exit_code and not difference.is_empty:
        ctx.exit(Exit.FAILED)


async def _difference(before: str, after: str, home: Path | None) -> Difference:
    async with open_existing(home) as assay:
        return difference(*[comparable_report(await assay.view(reference)) for reference in (before, after)])


def describe_difference(difference: Difference) -> Iterator[str]:
    """A difference as lines of text: - was, + is, ~ has another verdict or other words."""
    yield f"- {_ended_run(difference.before)}"
    yield f"+ {_ended_run(difference.after)}"
    yield ""
    yield from _group(
        "plan", [*(f"- {step}" for step in difference.steps_dropped), *(f"+ {s}" for s in difference.steps_added)]
    )
    yield from _group("claims dropped", (f"- {_claim(claim)}" for claim in difference.dropped))
    yield from _group("claims added", (f"+ {_claim(claim)}" for claim in difference.added))
    yield from _group("claims changed", (line for pair in difference.changed for line in _change_lines(pair)))
    yield from _group("sources dropped", (f"- {_source(source)}" for source in difference.sources_dropped))
    yield from _group("sources added", (f"+ {_source(source)}" for source in difference.sources_added))
    claims = "1 claim is" if difference.same == 1 else f"{difference.same} claims are"
    yield f"{claims} the same{'; nothing differs' if difference.is_empty else ''}"


def _group(title: str, lines: Iterable[str]) -> Iterator[str]:
    inside = [clean(line) for line in lines]
    if inside:
        yield f"{title}:"
        yield from (f"  {line}" for line in inside)
        yield ""


def _ended_run(end: Ending) -> str:
    verified = "verified" if end.verified else "not verified"
    return clean(f"{end.run_id}  {end.status}, {end.stop_reason or 'going on'}, {verified}  {end.question}")


def _change_lines(pair: ChangedClaim) -> Iterator[str]:
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


_BUNDLE = ".zip"
_LISTS = (".bib", ".csl.json", ".ris")  # they contain what a report cites, and nothing else


@click.command("export")
@options.run_argument()
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    required=True,
    type=options.FilePath(),
    metavar="FILE",
    help="File to write (.md, .html, .pdf, .bib …); repeatable.",
)
@click.option("--sign", is_flag=True, help="Sign the bundle (-o FILE.zip) with your key: assay keys sign create.")
@options.citation_modes
@queue_option
@options.common_options
@click.pass_obj
def export_run(
    state: TerminalOptions,
    reference: str,
    outputs: tuple[Path, ...],
    sign: bool,
    citations: CitationMode | None,
    queued: bool,
    home: Path | None,
) -> None:
    """Write the report of run ID to a file. An unfinished report is written as far as it goes.

    \b
        assay runs export last -o report.html -o report.zip
        assay runs export k3v9 -o references.bib
    """
    targets = destinations.check_paths(outputs)
    if sign:
        if not any(suffix_of(path) == _BUNDLE for path in targets):
            raise click.UsageError(f"--sign signs a bundle: name a file that ends in {_BUNDLE}")
        bundles.own_key()  # fails before anything is written, if there is none
    config = settings.load()
    citation_mode = citations or config.citations
    if queued:
        if sign:
            raise click.UsageError("--queue and --sign exclude each other: the worker does not have your key")
        queue_jobs(
            [ExportJob(run=reference, file=str(path), citations=citation_mode) for path in targets],
            *(home, config, state.verbosity),
        )
        return
    asyncio.run(_export(reference, targets, citation_mode, home, sign=sign))


async def _export(
    reference: str, targets: tuple[Path, ...], citations: CitationMode, home: Path | None, *, sign: bool
) -> None:
    async with open_existing(home) as assay:
        view = await assay.view((await assay.find(reference, "report")).run_id)
        for path in targets:
            suffix = suffix_of(path)
            data = await assay.export(view.run_id, suffix, citations)
            destinations.save(path, bundles.sign_bundle(data, view.run_id) if sign and suffix == _BUNDLE else data)
            say(_file_note(view, path, suffix))


def _file_note(view: RunView, path: Path, suffix: str) -> str:
    """A note on the content of the file; for a run without a report, that it has none."""
    match report_state(view):
        case "finished":
            return f"the report of run {view.run_id} is in {path}"
        case "writing":
            return (
                f"run {view.run_id} {_how_it_ended(view)}, its report is not finished: what there is of it is in {path}"
            )
        case "none":
            return f"run {view.run_id} {_how_it_ended(view)}, there is no report: {path} holds {_content_note(suffix)}"


def _how_it_ended(view: RunView) -> str:
    return {"failed": "failed", "cancelled": "was cancelled", "completed": "ended"}.get(view.status, "has not ended")


def _content_note(suffix: str) -> str:
    """A note on the content of a format for a run without a report."""
    notes = {".zip": "the run's log and why", ".json": "the run's data and why"}
    return "no source" if suffix in _LISTS else notes.get(suffix, "no more than why")


@click.command("share")
@options.run_argument()
@click.option("--days", type=float, help="Days until the link expires; default: never.")
@click.option("--url", "address", help="Address of the server as readers reach it; default: that in the settings.")
@click.option("--list", "listed", is_flag=True, help="List the links to the run instead of creating one.")
@click.option("--revoke", metavar="LINK", help="Revoke the link with this id (--list shows ids).")
@options.json_output
@options.common_options
def share_run(
    reference: str,
    days: float | None,
    address: str | None,
    listed: bool,
    revoke: str | None,
    as_json: bool,
    home: Path | None,
) -> None:
    """Create a link with which anyone can read the report of run ID on `assay serve` without logging in.

    The link is printed once. Assay stores only a hash of its secret.

    \b
        assay runs share last
        assay runs share last --days 30
    """
    if address and not is_address(address):
        raise click.UsageError(f"--url {address[:80]!r} is no address: write one such as https://assay.example.org")
    if revoke is not None:
        read_library(home, lambda assay: assay.shares.revoke(reference, revoke))
        say(f"link {revoke} is revoked")
    elif listed:
        _list(read_library(home, lambda assay: assay.shares.of_run(reference)), as_json)
    else:
        share, secret = read_library(home, lambda assay: assay.shares.make(reference, days))
        url = (address or _address()).rstrip("/") + SHARES_PATH + secret
        if as_json:
            write_json({**_share_line(share), "url": url}, line=True)
            return
        write(url)
        say(
            f"whoever has this link may read the report; to end that: assay runs share {share.run_id} --revoke "
            f"{share.id}"
        )


def _list(shares: list[ShareRow], as_json: bool) -> None:
    lines = [_share_line(share) for share in shares]
    rows = [(share["id"], share["created"], share["expires"] or "never") for share in lines]
    print_list(lines, ("link", "made", "expires"), rows, as_json=as_json)


def _share_line(share: ShareRow) -> dict[str, str]:
    return {"id": share.id, "created": format_day(share.created), "expires": format_day(share.expires)}


def _address() -> str:
    """The address of this home's server, as far as the settings state it."""
    server = settings.load().server
    return f"https://{server.hosts[0]}" if server.hosts else f"http://{server.host}:{server.port}"
