"""`assay config set`."""

from __future__ import annotations

import click

from assay.app.configuration import checked
from assay.cli.shell_words import setting_names
from assay.cli.terminal import say
from assay.settings.file import write


@click.command("set")
@click.argument("name", shell_complete=setting_names)
@click.argument("value")
def command(name: str, value: str) -> None:
    """Write VALUE for the setting NAME to the file; the rest of the file stays as it is, comments too.

    \b
        assay config set model ollama:qwen3
        assay config set limits.tokens 200000
    """
    say(f"{name} is set in {write(name, checked(name, value))}")
