"""`assay db check`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from assay import settings
from assay.app import databases
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.progress import counted
from assay.cli.terminal import say, write


@click.command("check")
@click.option("--quick", is_flag=True, help="Check only that stored bytes exist, without reading them.")
@options.json_output
@options.common
def command(quick: bool, as_json: bool, home: Path | None) -> int:
    """Check the database's file, that every log is whole and every write was its holder's, and every stored byte
    against its hash. Nothing is changed. Exit codes: 0 all is well, 1 something is wrong.

    \b
        assay db check
        assay db check --quick --json
    """
    configured = settings.load()
    found = databases.checked(home or configured.home, configured, quick=quick)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        for problem in found.problems:
            write(problem)
        how = "looked for" if quick else "read"
        say(
            f"schema {found.schema}: {counted(found.runs, 'run')}, {counted(found.events, 'event')}, "
            f"{counted(found.documents, 'document')}, {counted(found.blobs, 'blob')} {how}, {found.unreferenced:,} of "
            f"no document; {counted(len(found.problems), 'problem')}"
        )
    return Exit.FAILED if found.problems else Exit.DONE
