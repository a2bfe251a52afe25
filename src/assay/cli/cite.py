"""`assay cite`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from assay import CitedPassage
from assay.cli import options
from assay.cli.library import stored
from assay.cli.stored_names import run_ids
from assay.cli.terminal import clean, write


@click.command("cite")
@click.argument("reference", metavar="RUN", shell_complete=run_ids)
@click.argument("number", type=click.IntRange(1), metavar="N")
@options.json_output
@options.common
def command(reference: str, number: int, as_json: bool, home: Path | None) -> None:
    """Show what citation [N] of the report of RUN cites: each passage in its document, and the verdicts on it.

    \b
        assay cite last 1
        assay cite k3v9 2 --json
    """
    passages = asyncio.run(_passages(reference, number, home))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(passages)).decode())
        return
    write("\n\n".join("\n".join(told(passage)) for passage in passages))


async def _passages(reference: str, number: int, home: Path | None) -> list[CitedPassage]:
    async with stored(home) as assay:
        return await assay.passage(reference, number)


def told(cited: CitedPassage) -> Iterator[str]:
    """A cited passage in its document, a line each."""
    yield f"[{cited.number}] {clean(cited.source.title)}  {clean(cited.source.url)}"
    yield f"    {', '.join(_place(cited))}"
    yield ""
    yield f"…{cited.before}»{cited.passage.text}«{cited.after}…"
    yield ""
    for claim in cited.claims:
        why = f" ({clean(claim.reason)})" if claim.reason else ""
        yield f"    {claim.verdict}{why}: {clean(claim.text)}"


def _place(cited: CitedPassage) -> Iterator[str]:
    """Where the passage stands and what was read: the page where the format has pages, the snapshot and its date."""
    if cited.passage.above:
        yield " > ".join(clean(part) for part in cited.passage.above)
    if cited.passage.page:
        yield f"page {cited.passage.page}"
    yield f"bytes {cited.passage.start} to {cited.passage.end}"
    yield f"read {cited.source.fetched_at[:10]}"
    yield f"snapshot {cited.source.snapshot_sha256[:12]}"
