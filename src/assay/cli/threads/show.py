"""`assay threads show`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from assay.cli import options
from assay.cli.library import stored
from assay.cli.terminal import harmless, write
from assay.cli.threads.thread_names import thread_names

if TYPE_CHECKING:
    from assay.app.run_lists import ThreadMessage


@click.command("show")
@click.argument("reference", metavar="THREAD", shell_complete=thread_names)
@options.json_output
@options.common
def command(reference: str, as_json: bool, home: Path | None) -> None:
    """What was said in THREAD, oldest first: questions, what was asked back, and reports without their citations.

    \b
        assay threads show tides
        assay threads show tides --json
    """
    said = asyncio.run(_said(reference, home))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(said)).decode())
        return
    run_id = ""
    for each in said:
        if each.run_id != run_id:
            run_id = each.run_id
            write(f"── {run_id}  {each.created_at[:16].replace('T', ' ')}")
        mark = ">" if each.by == "user" else " "
        write("\n".join(f"{mark} {line}" for line in harmless(each.text).splitlines()) + "\n")


async def _said(reference: str, home: Path | None) -> Sequence[ThreadMessage]:
    async with stored(home) as assay:
        return await assay.messages(reference)
