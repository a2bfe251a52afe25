"""`assay db migrate`."""

from __future__ import annotations

from pathlib import Path

import click

from assay import settings
from assay.app import databases
from assay.cli import options
from assay.cli.terminal import say


@click.command("migrate")
@options.common
def command(home: Path | None) -> None:
    """Bring the database to this release's schema; what a file was is kept beside it.

    Any other command migrates too, and keeps no copy. Of PostgreSQL no copy is made: `pg_dump` does that.

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
