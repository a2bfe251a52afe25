"""`assay runs label`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay.cli import options
from assay.cli.library import stored
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import clean, say
from assay.core.labels import STARRED, read_label


@click.command("label")
@click.argument("reference", metavar="RUN", shell_complete=run_ids)
@click.argument("labels", nargs=-1, metavar="[NAME[=VALUE]]...")
@click.option("--remove", multiple=True, metavar="NAME", help="Take this label away; repeatable.")
@click.option("--star/--unstar", default=None, help="Star the run, or take its star away.")
@options.common
def command(
    reference: str, labels: tuple[str, ...], remove: tuple[str, ...], star: bool | None, home: Path | None
) -> None:
    """Give RUN labels, to find it again; without any, tell which it has. No model is told of them.

    \b
        assay runs label last --star
        assay runs label last to-read project=tides
        assay runs list --label project=tides
    """
    added = dict(map(read_label, labels)) | ({STARRED: ""} if star else {})
    removed = (*remove, *([STARRED] if star is False else []))
    asyncio.run(_label(reference, added, removed, home))


async def _label(reference: str, added: dict[str, str], removed: tuple[str, ...], home: Path | None) -> None:
    async with stored(home) as assay:
        row = await assay.find(reference)
        labels = await assay.label(row.run_id, added, removed) if added or removed else row.labels
    shown = ", ".join(f"{name}={value}" if value else name for name, value in sorted(labels.items()))
    say(f"{row.run_id}: {clean(shown) or 'no labels'}")
