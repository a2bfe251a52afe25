"""`assay config path`."""

from __future__ import annotations

import click

from assay import settings
from assay.cli.terminal import write


@click.command("path")
def command() -> None:
    """Where the settings file is, or would be."""
    write(str(settings.config_path()))
