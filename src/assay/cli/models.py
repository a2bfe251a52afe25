"""`assay models`."""

from __future__ import annotations

import asyncio

import click
import msgspec

from assay import settings
from assay.cli import options
from assay.cli.tables import table
from assay.cli.terminal import write
from assay.core.brief import Role
from assay.core.ports.models import BUILT_IN, family
from assay.services.providers import Provider, providers


@click.command("models")
@click.argument("names", nargs=-1, metavar="[PROVIDER]…")
@click.option("--roles", is_flag=True, help="Show which model plays which role in your settings.")
@options.json_output
@options.verbosity
def command(names: tuple[str, ...], roles: bool, as_json: bool) -> None:
    """Which models can be used, and what is missing for the others.

    Servers on this machine are looked for at their usual ports. A provider elsewhere is asked only when it is named:
    `assay models openai`. With --roles nobody is asked.

    \b
        assay models
        assay models openai ollama
    """
    if roles:
        _show_roles(settings.load(), as_json)
        return
    found = asyncio.run(providers(settings.load(), names))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    table(("provider", "", "models, or what is missing"), [row for each in found for row in _rows(each)])


def _show_roles(loaded: settings.Settings, as_json: bool) -> None:
    found = loaded.roles()
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    rows = [(role, ", ".join(models), _said(loaded, role)) for role, models in found.items()]
    table(("role", "models, first choice first", ""), rows)


def _said(loaded: settings.Settings, role: Role) -> str:
    """What there is to know of the models of a role: why this judge was chosen, where nobody named one."""
    judge, writer = loaded.roles()["judge"][0], loaded.roles()["complex"][0]
    if role != "judge" or loaded.names_judge:
        return ""
    if judge == BUILT_IN:
        return "no judge: name a model"
    return "of another family than the writer" if family(judge) != family(writer) else "of the writer's family"


def _rows(provider: Provider) -> list[tuple[str, str, str]]:
    state = "usable" if provider.usable else "not usable"
    if not provider.models:
        return [(provider.name, state, provider.why or "it offers no model")]
    return [(provider.name, state, model) for model in provider.models]
