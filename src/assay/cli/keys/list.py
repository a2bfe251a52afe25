"""`assay keys list`."""

from __future__ import annotations

import click
import msgspec

from assay import settings
from assay.cli import options
from assay.cli.tables import table
from assay.cli.terminal import write


@click.command("list")
@options.json_output
@options.verbosity
def command(as_json: bool) -> None:
    """Which providers have a key, and where it comes from; no key is shown.

    \b
        assay keys list
        assay keys list --json
    """
    held = [each for each in settings.describe(settings.load()) if each.secret]
    rows = [(each.name.removeprefix("keys."), each.origin if each.value else "") for each in held]
    if as_json:
        found = [{"provider": provider, "origin": origin or None} for provider, origin in rows]
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    table(("provider", "key from"), [(provider, origin or "none") for provider, origin in rows])
