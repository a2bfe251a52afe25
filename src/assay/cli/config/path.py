"""`assay config path`."""

from __future__ import annotations

import click

from assay import settings
from assay.cli.terminal import write


@click.command("path")
def command() -> None:
    """Where the settings file is, or would be.

    \b
        assay config path
        assay config path | xargs cat
    """
    write(str(settings.config_path()))
