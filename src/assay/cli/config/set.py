"""`assay config set`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click
import tomlkit

from assay import plugins, settings
from assay.cli.terminal import say
from assay.core.errors import ConfigError, UnknownName


@click.command("set")
@click.argument("name")
@click.argument("value")
def command(name: str, value: str) -> None:
    """Write VALUE for the setting NAME to the file; the rest of the file stays as it is, comments too."""
    checked = settings.parse(name, value)
    _check_installed(name, checked)
    path = settings.config_path()
    document = _read(path)
    section, _, key = name.rpartition(".")
    holder = document if not section else document.setdefault(section, tomlkit.table())
    holder[key] = checked
    _replace(path, tomlkit.dumps(document))
    say(f"{name} is set in {path}")


def _check_installed(name: str, value: object) -> None:
    """Refuse names of adapters there are not: found now, not by the next run.

    Raises:
        UnknownName: the strategy, or a model's adapter, is not installed.
    """
    if name == "strategy":
        _check_one("strategies", str(value))
    elif name.startswith("models.") and isinstance(value, list):
        for model in value:
            _check_one("models", plugins.split(str(model))[0])


def _check_one(group: plugins.Group, name: str) -> None:
    known = plugins.names(group)
    if name not in known:
        raise UnknownName(plugins.NOUNS[group], name, known)


def _read(path: Path) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return tomlkit.document()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    """Write whole or not at all, for the owner's eyes only: the file may hold keys."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".config-", suffix=".toml")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(draft).replace(path)
    except OSError as error:
        Path(draft).unlink(missing_ok=True)
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error
