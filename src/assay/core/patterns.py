"""Regular expressions that are compiled when first used."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_MADE: list[_Uncompiled] = []
"""Those that no one has used yet, and some that were."""


class _Compiled:
    """The methods of a compiled pattern, as attributes."""


class _Uncompiled(_Compiled):
    """Stands for a pattern that nothing was matched with yet."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        made = re.compile(self.pattern, self._flags)
        self.__dict__.update((each, getattr(made, each)) for each in dir(made) if not each.startswith("__"))
        self.__class__ = _Compiled  # type: ignore[assignment]  # whose attributes are found sooner, without __getattr__
        return getattr(made, name)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The pattern `text`, compiled when it is first used; safe from any thread.

    For patterns of modules: several hundred are loaded before a run's first step, which needs few of them, and to
    compile them takes a quarter of its time. A mistake in one is found at its first use, or by `compile_all`.
    """
    made = _Uncompiled(text, flags)
    _MADE.append(made)
    return cast("re.Pattern[AnyStr]", made)


def compile_all() -> None:
    """Compile the patterns of all modules that are loaded by now, so that no run has to."""
    while _MADE:
        _ = _MADE.pop().flags
