"""`assay config list`."""

from __future__ import annotations

from dataclasses import asdict

import click
import msgspec

from assay import settings
from assay.cli.options import json_output
from assay.cli.tables import table
from assay.cli.terminal import write


@click.command("list")
@json_output
def command(as_json: bool) -> None:
    """Every setting with its value, where that comes from, its default and its meaning.

    \b
        assay config list
        assay config list --json
    """
    known = settings.describe(settings.load())
    if as_json:
        write(msgspec.json.format(msgspec.json.encode([asdict(setting) for setting in known])).decode())
        return
    table(
        ("setting", "value", "from", "default", "meaning"),
        [(each.name, each.value, each.origin, each.default, each.description) for each in known],
    )
