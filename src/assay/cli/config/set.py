"""`assay config set`."""

from __future__ import annotations

import click

from assay import plugins, settings
from assay.cli.completing import setting_names
from assay.cli.config.file import write
from assay.cli.terminal import say
from assay.core.errors import UnknownName


@click.command("set")
@click.argument("name", shell_complete=setting_names)
@click.argument("value")
def command(name: str, value: str) -> None:
    """Write VALUE for the setting NAME to the file; the rest of the file stays as it is, comments too."""
    checked = settings.parse(name, value)
    _check_installed(name, checked)
    say(f"{name} is set in {write(name, checked)}")


def _check_installed(name: str, value: object) -> None:
    """Refuse names of adapters there are not: found now, not by the next run.

    Raises:
        UnknownName: the strategy, or a model's adapter, is not installed.
    """
    if name == "strategy":
        _check_one("strategies", str(value))
    elif name == "model" or name.startswith("models."):
        for model in value if isinstance(value, list) else [value]:
            _check_one("models", plugins.split(str(model))[0], tuple(settings.load().services))


def _check_one(group: plugins.Group, name: str, more: tuple[str, ...] = ()) -> None:
    known = (*plugins.names(group), *more)
    if name not in known:
        raise UnknownName(plugins.NOUNS[group], name, known)
