"""`assay db backup`."""

from __future__ import annotations

from pathlib import Path

import click

from assay import settings
from assay.app import databases
from assay.cli import options
from assay.cli.progress import counted
from assay.cli.terminal import TerminalOptions, say, write


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@options.common
@click.pass_obj
def command(state: TerminalOptions, file: Path, home: Path | None) -> None:
    """Copy runs and documents to FILE, also while runs go on: with .zip what was read too, else the database alone.

    The file is the same from a home and from PostgreSQL with blobs anywhere: `assay db restore` puts it into either,
    and a .zip unpacked into an empty folder is a home. What is derived (the search index, pages kept for the next
    time, logs) is left out.

    \b
        assay db backup assay-2026-05-31.zip
        assay db backup /backup/runs.db
    """
    configured = settings.load()
    done = databases.backup(home or configured.home, configured, file)
    write(done.file)
    if done.missing:
        say(f"warning: {counted(len(done.missing), 'blob')} of documents cannot be read (assay db check says which)")
    if state.verbosity >= 0:
        held = f"{counted(done.blobs, 'blob')} in it" if done.blobs or not done.needed else _apart(done.needed)
        say(f"{done.size / 1e6:,.1f} MB; {held}")


def _apart(needed: int) -> str:
    return f"{counted(needed, 'blob')} of its documents are where they were, and not in it (a .zip has them)"
