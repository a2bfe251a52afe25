"""`assay doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from assay.app.doctor import Diagnosis, examine, examine_cluster
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.terminal import clean, write

_SIGNS = {"ok": "ok", "note": "note", "broken": "BROKEN"}


@click.command("doctor")
@options.json_output
@click.option(
    "--home", type=click.Path(path_type=Path, readable=False), help="Folder with library, index and runs [ASSAY_HOME]."
)
@click.option("--cluster", is_flag=True, help="Look at all processes over the PostgreSQL database instead.")
@options.verbosity
def command(as_json: bool, home: Path | None, cluster: bool) -> int:
    """Look for what can keep Assay from working, and say what mends it; changes nothing.

    Exits with 1 when something is broken.

    \b
        assay doctor
        assay doctor --json
        assay doctor --cluster
    """
    found = asyncio.run(examine_cluster() if cluster else examine(home))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        write("\n".join(_told(found)))
    return Exit.FAILED if any(each.state == "broken" for each in found) else Exit.DONE


def _told(found: Sequence[Diagnosis]) -> Iterator[str]:
    for each in found:
        fix = f" -> {clean(each.fix)}" if each.fix else ""
        yield f"{_SIGNS[each.state]:<7} {each.name:<11} {clean(each.said)}{fix}"
