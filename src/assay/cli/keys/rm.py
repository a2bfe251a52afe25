"""`assay keys rm`."""

from __future__ import annotations

import click

from assay.app.configuration import setting_of
from assay.cli.shell_words import key_holders
from assay.cli.terminal import say
from assay.settings.file import remove


@click.command("rm")
@click.argument("provider", shell_complete=key_holders)
def command(provider: str) -> None:
    """Forget the key of PROVIDER. One in the environment stays.

    \b
        assay keys rm openai
        assay keys rm anthropic
    """
    held = remove(setting_of(provider))
    say(f"the key of {provider} is forgotten" if held else f"there is no key of {provider} in the settings file")
