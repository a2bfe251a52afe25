"""`assay keys sign trust`."""

from __future__ import annotations

import click

from assay.app import signatures
from assay.cli.terminal import say


@click.command("trust")
@click.argument("name")
@click.argument("key")
def command(name: str, key: str) -> None:
    """Trust bundles which are signed with KEY, a public key or a file with one, as those of NAME.

    \b
        assay keys sign trust ana ana.pub
        assay keys sign trust ana RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3
    """
    read, path = signatures.trust(name, key)
    say(f"what key {read.name} signs is trusted as {name}'s ({path})")
