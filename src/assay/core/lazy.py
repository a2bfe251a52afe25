"""What is made on first use, so that a command does not pay for what it does not need: modules, patterns, extras."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, AnyStr, cast

from assay.core.errors import ConfigError


class _LazyModule(ModuleType):
    """Stands for a module; attributes are stored, so each is looked up once."""

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(import_module(self.__name__), name)
        self.__dict__[name] = attribute
        return attribute


def lazy_module(name: str) -> Any:
    """The module `name`, imported with the first attribute that is asked for; safe from any thread.

    For what is slow to import and seldom needed. Beside it stands the true import, for who checks types:

        if TYPE_CHECKING:
            import nupunkt
        else:
            nupunkt = lazy_module("nupunkt")
    """
    return _LazyModule(name)


def require_extra(module: str, package: str, extra: str) -> None:
    """Make sure that a module of an extra can be imported, without loading it.

    Raises:
        ConfigError: it is not installed; the message says how to get it.
    """
    if find_spec(module) is None:
        raise ConfigError(f".{extra} files need {package}; install it with: pip install 'assay[{extra}]'")


# Regular expressions.

_MADE: list[_Pattern] = []
"""All that `compile_all` has not seen yet, used or not."""


class _Pattern:
    """Stands for a compiled pattern, whose methods are its attributes once one of them was asked for."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        pattern = re.compile(self.pattern, self._flags)
        self.__dict__.update(
            (attribute, getattr(pattern, attribute)) for attribute in dir(pattern) if not attribute.startswith("__")
        )
        return getattr(pattern, name)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The pattern `text`, compiled when it is first used; safe from any thread.

    For patterns of modules: several hundred are loaded before a run's first step, which needs few of them, and to
    compile them all takes a seventh of its time. A mistake in one is found at its first use, or by `compile_all`.
    """
    pattern = _Pattern(text, flags)
    _MADE.append(pattern)
    return cast("re.Pattern[AnyStr]", pattern)


def compile_all() -> None:
    """Compile the patterns of all modules that are loaded by now, so that no run has to."""
    while _MADE:
        _ = _MADE.pop().flags
