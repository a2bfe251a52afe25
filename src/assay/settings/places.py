"""What the environment and the file say of settings, as tables which are merged before they are checked."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_origin

from pydantic import BaseModel

from assay.core.errors import ConfigError

PREFIX = "ASSAY_"


def of_file(path: Path) -> dict[str, Any]:
    """What the settings file says; nothing where there is none.

    Raises:
        ValueError: it is no TOML.
        OSError: it cannot be read.
    """
    return tomllib.loads(path.read_bytes().decode()) if path.is_file() else {}


def of_environment(model: type[BaseModel], environment: Mapping[str, str]) -> dict[str, Any]:
    """What variables say of the fields of `model`: `ASSAY_DEPTH`, `ASSAY_LIMITS_TOKENS`; an empty one says nothing.

    A whole table may be given as JSON; what is said of one of its entries wins.

    Raises:
        ConfigError: a variable of a table is no JSON.
    """
    variables = {name.lower(): value for name, value in environment.items() if value}
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        variable = f"{PREFIX}{name}".lower()
        if not _is_table(field.annotation):
            value: Any = variables.get(variable)
        else:
            value = _table(field.annotation, variable, variables)
        if value is not None:
            found[name] = value
    return found


def merged(*tables: Mapping[str, Any]) -> dict[str, Any]:
    """All tables as one; of what several say the last holds, entry by entry."""
    whole: dict[str, Any] = {}
    for table in tables:
        for name, value in table.items():
            below = whole.get(name)
            whole[name] = merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return whole


def _is_table(annotation: Any) -> bool:
    return get_origin(annotation) is dict or (isinstance(annotation, type) and issubclass(annotation, BaseModel))


def _table(annotation: Any, variable: str, variables: Mapping[str, str]) -> Any:
    """A table out of the variable of its name, and those of its entries; None where nothing is said."""
    whole = _decoded(variable, variables[variable]) if variable in variables else None
    start = f"{variable}_"
    entries = {
        name.removeprefix(start): _entry(annotation, name.removeprefix(start), name, value)
        for name, value in variables.items()
        if name.startswith(start)
    }
    if not entries or not isinstance(whole, dict | None):
        return whole
    return merged(whole or {}, entries)


def _entry(annotation: Any, name: str, variable: str, value: str) -> Any:
    if get_origin(annotation) is dict:  # of tables; what is none is refused when it is checked
        try:
            return json.loads(value)
        except ValueError:
            return value
    field = annotation.model_fields.get(name)
    return _decoded(variable, value) if field is not None and _is_table(field.annotation) else value


def _decoded(variable: str, value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError as error:  # the value is not repeated, since it may be a key
        raise ConfigError(f"{variable.upper()} is a table and holds no JSON: correct it, or unset it") from error
