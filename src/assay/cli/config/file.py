"""The settings file, changed in one place and otherwise left as it is, comments too."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from assay import settings
from assay.core.errors import ConfigError


def write(name: str, value: object) -> Path:
    """Set `name` (dotted) to `value`; the file that holds it now.

    Raises:
        ConfigError: the file is no TOML, or cannot be read or written.
    """
    path = settings.config_path()
    document = _read(path)
    section, _, key = name.rpartition(".")
    holder = document if not section else document.setdefault(section, tomlkit.table())
    holder[key] = value
    _replace(path, tomlkit.dumps(document))
    return path


def remove(name: str) -> bool:
    """Take `name` (dotted) out; whether it was there.

    Raises:
        ConfigError: as `write`.
    """
    path = settings.config_path()
    document = _read(path)
    section, _, key = name.rpartition(".")
    holder = document if not section else document.get(section, {})
    if key not in holder:
        return False
    del holder[key]
    _replace(path, tomlkit.dumps(document))
    return True


def _read(path: Path) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return tomlkit.document()
    except TOMLKitError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
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
