"""`assay config get`."""

from __future__ import annotations

import click

from assay import settings
from assay.cli.shell_words import setting_names
from assay.cli.terminal import write
from assay.core.errors import UnknownName


@click.command("get")
@click.argument("name", shell_complete=setting_names)
def command(name: str) -> None:
    """The value of the setting NAME (a key's is never shown: `***` says that there is one).

    \b
        assay config get model
        assay config get limits.tokens
    """
    known = {setting.name: setting for setting in settings.describe(settings.load())}
    if name not in known:
        raise UnknownName("setting", name, known)
    write(known[name].value)
