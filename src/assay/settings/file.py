"""Changes single settings in the settings file, and leaves the rest unchanged, including comments."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tomlkit
from filelock import FileLock, Timeout
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable

from assay import settings
from assay.core.errors import ConfigError

WAIT = 5.0
"""Seconds to wait until another command has finished with the file."""


def write(name: str, value: object) -> Path:
    """Set `name` (dotted) to `value` and return the file.

    Raises:
        ConfigError: the file is not TOML, or cannot be read or written.
    """
    return change({name: value})


def remove(name: str) -> bool:
    """Remove `name` (dotted), with tables that it leaves empty, and return whether it was there.

    Raises:
        ConfigError: as for `write`, or it is a table.
    """
    path = settings.config_path()
    with _lock_file(path):
        document = _read(path)
        if removed := _remove_setting(document, name, path):
            _replace(path, tomlkit.dumps(document))
    return removed


def change(values: Mapping[str, object]) -> Path:
    """Set all of these names (dotted), or none; None removes one. Return the file.

    Raises:
        ConfigError: as for `write`.
    """
    path = settings.config_path()
    with _lock_file(path):
        document = _read(path)
        for name, value in values.items():
            if value is None:
                _remove_setting(document, name, path)
                continue
            holder, key = _holder(document, name, path)
            holder[key] = value
        _replace(path, tomlkit.dumps(document))
    return path


def contents() -> str:
    """The file's text; empty if there is none.

    Raises:
        ConfigError: it cannot be read.
    """
    return _read_text(settings.config_path())


def _read_text(path: Path) -> str:
    if path.exists() and not path.is_file():  # such as /dev/null: a file would take its place
        raise ConfigError(f"{path} is no file that settings can be written to: set ASSAY_CONFIG to another")
    try:
        return path.read_text(encoding=settings.FILE_ENCODING)
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not text in UTF-8: save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read ({error.strerror}): check its permissions, or set ASSAY_CONFIG"
        ) from error


def check_draft(draft: Path) -> settings.Settings:
    """Check that `draft` can be loaded in place of the file, and return the settings it makes.

    Raises:
        ConfigError: it cannot; the message names the line or the setting.
    """
    token = settings.read_instead.set(draft)
    try:
        return settings.load()
    finally:
        settings.read_instead.reset(token)


def replace(before: str, text: str) -> Path:
    """Replace the file's text `before` with `text` and return the file.

    Raises:
        ConfigError: the file was changed meanwhile, or cannot be written.
    """
    path = settings.config_path()
    with _lock_file(path):
        if contents() != before:
            raise ConfigError(f"{path} was changed while you edited it: edit it again")
        _replace(path, text)
    return path


def _remove_setting(document: tomlkit.TOMLDocument, name: str, path: Path) -> bool:
    """Remove `name`, and the tables that it leaves empty; return whether it was there.

    Raises:
        ConfigError: it is a table, which may hold more than is meant, or what should hold it is none.
    """
    *sections, key = name.split(".")
    holders: list[MutableMapping[str, Any]] = [document]
    for depth, section in enumerate(sections, 1):
        if section not in holders[-1]:
            return False
        holders.append(_table(holders[-1], sections[:depth], path))
    if key not in holders[-1]:
        return False
    if isinstance(holders[-1][key], MutableMapping):
        raise ConfigError(f"{name} in {path} is a table: name a setting in it, or delete it with: assay config edit")
    del holders[-1][key]
    for section, holder in zip(reversed(sections), reversed(holders[:-1]), strict=True):
        if not _is_bare(holder[section]):
            break
        del holder[section]
    return True


def _is_bare(table: object) -> bool:
    """True for a table without entries and comments."""
    return isinstance(table, AbstractTable) and not table and not table.trivia.comment and "#" not in table.as_string()


@contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    """Hold the file's lock, so that two concurrent commands lose nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock"), timeout=WAIT):
            yield
    except Timeout as error:
        raise ConfigError(f"{path} is being written by another process: try again") from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written ({error.strerror}): check its permissions and the space"
        ) from error


def _holder(document: tomlkit.TOMLDocument, name: str, path: Path) -> tuple[MutableMapping[str, Any], str]:
    """The table that holds the setting `name`, created with its parents if necessary, and the key in it."""
    *sections, key = name.split(".")
    holder: MutableMapping[str, Any] = document
    for depth, section in enumerate(sections, 1):
        if section not in holder:
            holder[section] = tomlkit.table(is_super_table=depth < len(sections))
        holder = _table(holder, sections[:depth], path)
    return holder, key


def _table(holder: MutableMapping[str, Any], sections: list[str], path: Path) -> MutableMapping[str, Any]:
    """The last of `sections`, in the table before it."""
    table = holder[sections[-1]]
    if not isinstance(table, MutableMapping):
        raise ConfigError(f"{'.'.join(sections)} in {path} is not a table: correct the file")
    return table


def _read(path: Path) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(_read_text(path))
    except (TOMLKitError, ValueError) as error:  # or a number of thousands of digits
        raise ConfigError(f"{path} is not valid TOML: {error}; correct that line") from error


def _replace(path: Path, text: str) -> None:
    """Write atomically and readable only by the owner, because the file may hold keys."""
    path = path.resolve()  # a link's target is written
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".config-", suffix=".toml")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(draft).replace(path)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
