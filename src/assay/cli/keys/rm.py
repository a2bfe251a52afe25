"""`assay keys rm`."""

from __future__ import annotations

import click

from assay.cli.completing import key_holders
from assay.cli.config.file import remove
from assay.cli.keys.names import setting_of
from assay.cli.terminal import say


@click.command("rm")
@click.argument("provider", shell_complete=key_holders)
def command(provider: str) -> None:
    """Forget the key of PROVIDER. One in the environment stays."""
    held = remove(setting_of(provider))
    say(f"the key of {provider} is forgotten" if held else f"there is no key of {provider} in the settings file")
