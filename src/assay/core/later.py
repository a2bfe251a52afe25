"""Modules that are loaded on first use, so that a command does not pay for what it does not need; and extras."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from assay.core.errors import ConfigError


class _Later(ModuleType):
    """Stands for a module; attributes are stored, so each is looked up once."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self.__name__), name)
        self.__dict__[name] = found
        return found


def later(name: str) -> Any:
    """The module `name`, imported with the first attribute that is asked for; safe from any thread.

    For what is slow to import and seldom needed. Beside it stands the true import, for who checks types:

        if TYPE_CHECKING:
            import nupunkt
        else:
            nupunkt = later("nupunkt")
    """
    return _Later(name)


def need(module: str, package: str, extra: str) -> None:
    """Make sure that a module of an extra can be imported, without loading it.

    Raises:
        ConfigError: it is not installed; the message says how to get it.
    """
    if find_spec(module) is None:
        raise ConfigError(f"this format needs {package}; install it with: pip install 'assay[{extra}]'")
