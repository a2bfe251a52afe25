"""`assay keys sign show`."""

from __future__ import annotations

import click

from assay.app import signatures
from assay.cli.terminal import write


@click.command("show")
def command() -> None:
    """Print the public half of the key bundles are signed with, as minisign reads it too.

    \b
        assay keys sign show
        assay keys sign show > assay.pub
    """
    write(str(signatures.own_key()))
