"""`assay keys sign distrust`."""

from __future__ import annotations

import click

from assay.app import signatures
from assay.cli.terminal import say


@click.command("distrust")
@click.argument("name")
def command(name: str) -> None:
    """Trust the signatures of NAME no more.

    \b
        assay keys sign distrust ana
        assay keys sign distrust "Ana's laptop"
    """
    said = "is trusted no more" if signatures.distrust(name) else "was not trusted by the settings file"
    say(f"{name} {said}")
