"""`assay db`."""

from __future__ import annotations

from pathlib import Path

import click

from assay import settings
from assay.app import databases
from assay.cli import options
from assay.cli.figures import size
from assay.cli.terminal import Exit, TerminalOptions, say, write, write_json
from assay.core.milestones import counted


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@options.common
@click.pass_obj
def back_up(state: TerminalOptions, file: Path, home: Path | None) -> None:
    """Copy runs and documents to FILE, even while runs are in progress. A .zip includes the stored pages and files;
    any other FILE is a copy of the database alone.

    A home and PostgreSQL with any blob store give the same file, and `assay db restore` can restore it to either. A
    .zip unpacked into an empty folder is a home. Derived data (search index, page cache, logs) is left out.

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
        say(f"{size(done.size)}; {held}")


def _apart(needed: int) -> str:
    return f"{counted(needed, 'blob')} of its documents are where they were, and not in it (a .zip has them)"


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@options.common
def restore(file: Path, home: Path | None) -> int:
    """Restore a copy made by `assay db backup` into an empty home, or into the empty PostgreSQL database and blob
    store named in the settings. This also moves a home to PostgreSQL, and back. Exit codes: 0 everything was
    restored, 1 something is missing.

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


@click.command("check")
@click.option("--quick", is_flag=True, help="Check only that stored bytes exist, without reading them.")
@options.json_output
@options.common
def check(quick: bool, as_json: bool, home: Path | None) -> int:
    """Check the database file, the completeness and ownership of every log, and every stored byte against its hash.
    Changes nothing. Exit codes: 0 all is well, 1 something is wrong.

    \b
        assay db check
        assay db check --quick --json
    """
    configured = settings.load()
    found = databases.checked(home or configured.home, configured, quick=quick)
    if as_json:
        write_json(found)
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


@click.command("migrate")
@options.common
def migrate(home: Path | None) -> None:
    """Migrate the database to this release's schema, and keep a copy of the old file beside it.

    Any other command migrates too, without a copy. For PostgreSQL, make a copy yourself with `pg_dump`.

    \b
        assay db migrate
        assay db migrate --home ~/research
    """
    configured = settings.load()
    done = databases.migrate(home or configured.home, configured)
    if done.before != done.now and not done.copy:
        say(f"schema {done.before} is schema {done.now} now")
    elif done.copy:
        say(f"schema {done.before} is schema {done.now} now; as it was: {done.copy}")
    else:
        say(f"schema {done.now} is this release's: nothing to do")
