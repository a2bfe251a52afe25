"""Regular expressions that are compiled when first used."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_MADE: list[_Pattern] = []
"""All that `compile_all` has not seen yet, used or not."""


class _Pattern:
    """Stands for a compiled pattern, whose methods are its attributes once one of them was asked for."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        made = re.compile(self.pattern, self._flags)
        self.__dict__.update((each, getattr(made, each)) for each in dir(made) if not each.startswith("__"))
        return getattr(made, name)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The pattern `text`, compiled when it is first used; safe from any thread.

    For patterns of modules: several hundred are loaded before a run's first step, which needs few of them, and to
    compile them all takes a seventh of its time. A mistake in one is found at its first use, or by `compile_all`.
    """
    made = _Pattern(text, flags)
    _MADE.append(made)
    return cast("re.Pattern[AnyStr]", made)


def compile_all() -> None:
    """Compile the patterns of all modules that are loaded by now, so that no run has to."""
    while _MADE:
        _ = _MADE.pop().flags
