"""`assay db restore`."""

from __future__ import annotations

from pathlib import Path

import click

from assay import settings
from assay.app import databases
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.progress import counted
from assay.cli.terminal import say


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@options.common
def command(file: Path, home: Path | None) -> int:
    """Put a copy made by `assay db backup` in place, where nothing is yet: in a home, or in the PostgreSQL database and
    the blobs which the settings name. So a home moves to PostgreSQL, and back. Exit codes: 0 all is there, 1 not all.

    \b
        assay db restore assay-2026-05-31.zip --home ~/restored
        ASSAY_DATABASE=postgresql://… ASSAY_BLOBS=s3://bucket/assay assay db restore assay-2026-05-31.zip
        assay db restore assay-2026-05-31.zip
    """
    configured = settings.load()
    done = databases.restored(home or configured.home, configured, file)
    for name in done.damaged:
        say(f"warning: blob {name} is damaged in {file}, and was left out (assay db check says what needs it)")
    say(
        f"restored: {counted(done.runs, 'run')}, {counted(done.documents, 'document')}, {counted(done.blobs, 'blob')}; "
        "the search index is made by the next search"
    )
    return Exit.FAILED if done.damaged else Exit.DONE
