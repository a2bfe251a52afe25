"""`assay doctor` and `assay models`: what works here, and what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay import settings
from assay.cli import options
from assay.cli.terminal import Exit, clean, table, write, write_json
from assay.core.brief import Role
from assay.core.later import later
from assay.core.ports.models import BUILT_IN, family
from assay.services.providers import Provider, providers

if TYPE_CHECKING:
    from assay.app import doctor as examination
else:
    examination = later("assay.app.doctor")

_SIGNS = {"ok": "ok", "note": "note", "broken": "BROKEN"}


@click.command("doctor")
@options.json_output
@click.option(
    "--home", type=click.Path(path_type=Path, readable=False), help="Folder with library, index and runs [ASSAY_HOME]."
)
@click.option("--cluster", is_flag=True, help="Check all processes that share the PostgreSQL database instead.")
@options.verbosity
def doctor(as_json: bool, home: Path | None, cluster: bool) -> int:
    """Check what can keep Assay from working, and say how to fix it. Changes nothing.

    Exits with 1 if something is broken.

    \b
        assay doctor
        assay doctor --json
        assay doctor --cluster
    """
    found = asyncio.run(examination.examine_cluster() if cluster else examination.examine(home))
    if as_json:
        write_json(found)
    else:
        write("\n".join(_diagnosis_lines(found)))
    return Exit.FAILED if any(each.state == "broken" for each in found) else Exit.DONE


def _diagnosis_lines(found: Sequence[examination.Diagnosis]) -> Iterator[str]:
    for each in found:
        fix = f" -> {clean(each.fix)}" if each.fix else ""
        yield f"{_SIGNS[each.state]:<7} {each.name:<11} {clean(each.said)}{fix}"


@click.command("models")
@click.argument("names", nargs=-1, metavar="[PROVIDER]…")
@click.option("--roles", is_flag=True, help="Show the models of each role in your settings.")
@options.json_output
@options.verbosity
def models(names: tuple[str, ...], roles: bool, as_json: bool) -> None:
    """List the models you can use, and what is missing for the others.

    Assay looks for servers on this machine at their usual ports. It contacts a remote provider only if you name it:
    `assay models openai`. --roles contacts nobody.

    \b
        assay models
        assay models openai ollama
    """
    if roles:
        _show_roles(settings.load(), as_json)
        return
    found = asyncio.run(providers(settings.load(), names))
    if as_json:
        write_json(found)
        return
    table(("provider", "", "models, or what is missing"), [row for each in found for row in _rows(each)])


def _show_roles(loaded: settings.Settings, as_json: bool) -> None:
    found = loaded.roles()
    if as_json:
        write_json(found)
        return
    rows = [(role, ", ".join(models), _role_note(loaded, role)) for role, models in found.items()]
    table(("role", "models, first choice first", ""), rows)


def _role_note(loaded: settings.Settings, role: Role) -> str:
    """Notes about the models of a role, for example why this judge was chosen if nobody named one."""
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
