"""`assay models`."""

from __future__ import annotations

import asyncio

import click
import msgspec

from assay import settings
from assay.app.providers import Provider, providers
from assay.cli import options
from assay.cli.tables import table
from assay.cli.terminal import write


@click.command("models")
@click.argument("names", nargs=-1, metavar="[PROVIDER]…")
@options.json_output
@options.verbosity
def command(names: tuple[str, ...], as_json: bool) -> None:
    """Which models can be used, and what is missing for the others.

    Servers on this machine are looked for at their usual ports. A provider elsewhere is asked only when it is named:
    `assay models openai`.
    """
    found = asyncio.run(providers(settings.load(), names))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    table(("provider", "", "models, or what is missing"), [row for each in found for row in _rows(each)])


def _rows(provider: Provider) -> list[tuple[str, str, str]]:
    state = "usable" if provider.usable else "not usable"
    if not provider.models:
        return [(provider.name, state, provider.why or "it offers no model")]
    return [(provider.name, state, model) for model in provider.models]
