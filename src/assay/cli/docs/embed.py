"""`assay docs embed`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import msgspec

from assay.app.embeddings import Built
from assay.cli import options
from assay.cli.docs.docs_options import embedder as embedder_option
from assay.cli.exits import Exit
from assay.cli.library import stored
from assay.cli.progress import counted
from assay.cli.terminal import TerminalOptions, say, write


@click.command("embed")
@embedder_option
@click.option("--anew", is_flag=True, help="Rebuild all vectors, not only missing ones.")
@click.option("--status", is_flag=True, help="Show how many vectors exist, and build none.")
@options.json_output
@options.common
@click.pass_obj
def command(
    state: TerminalOptions, embedder: str | None, anew: bool, status: bool, as_json: bool, home: Path | None
) -> int:
    """Make the vectors by which documents are searched by meaning: those of passages which have none yet.

    The embedder is the setting embedder.model, or --embedder. An interrupted pass goes on where it was; one which a
    limit has ended exits with 5.

    \b
        assay docs embed --embedder ollama:nomic-embed-text
        assay docs embed
    """
    if status:
        asyncio.run(_status(embedder, as_json, home))
        return Exit.DONE
    built = asyncio.run(_embed(embedder, anew, home, state.verbosity))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(built)).decode())
    elif state.verbosity >= 0:
        for line in _told(built):
            say(line)
    return Exit.LIMIT if built.stopped else Exit.DONE


async def _embed(embedder: str | None, anew: bool, home: Path | None, verbosity: int) -> Built:
    async with stored(home, embedder) as assay:
        return await assay.embed(say if verbosity >= 0 else None, anew=anew)


async def _status(embedder: str | None, as_json: bool, home: Path | None) -> None:
    async with stored(home, embedder) as assay:
        found = await assay.embedding_status()
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    withheld = f", {found.withheld:,} of them private and withheld" if found.withheld else ""
    write(f"{found.model}: {counted(found.documents, 'document')} with vectors, {found.missing:,} without{withheld}")
    write(f"{found.tokens:,} tokens, ${found.usd:.4f} so far")


def _told(built: Built) -> list[str]:
    cost = f" (${built.usd:.4f})" if built.usd else ""
    done = f"vectors of {counted(built.passages, 'passage')} of {counted(built.documents, 'document')}"
    lines = [f"{done}, {built.embedded:,} of them embedded now: {built.tokens:,} tokens{cost}"]
    if built.withheld:
        lines.append(
            f"{counted(built.withheld, 'private document')} left out: the embedder is not on this machine"
            " (embedder.allow_private lets it have them)"
        )
    return [*lines, f"stopped: {built.stopped}"] if built.stopped else lines
