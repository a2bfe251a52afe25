"""Options by their names: what nobody knows is refused when it is said, and the nearest name is offered.

A type checker sees the same in the signatures; this is for who uses none.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from importlib import import_module
from types import UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from assay.core.errors import UnknownOption, UsageError

P = ParamSpec("P")
R = TypeVar("R")


def named(more: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the keywords of a function when it is called.

    Args:
        more: the `TypedDict` of its further keywords, as `module:name`; it is loaded at the first call.

    Raises (when it is called):
        UnknownOption: it takes no such keyword.
        UsageError: a keyword which is one of a few words is another.
    """

    def checking(function: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(function).parameters.values()
        own = tuple(each.name for each in parameters if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD))

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            check(function.__qualname__.removesuffix(".__init__"), kwargs, own, more)
            return function(*args, **kwargs)

        return checked

    return checking


def check(place: str, given: Mapping[str, object], own: Iterable[str], more: str) -> None:
    """Make sure that `place` takes the keywords `given`: its `own`, and those of the `TypedDict` named `more`.

    Raises:
        UnknownOption: it takes no such keyword.
        UsageError: a keyword which is one of a few words is another.
    """
    words = _words(more) if more else {}
    known = {name for name in own if name != "self"} | words.keys()
    for name, value in given.items():
        if name not in known:
            raise UnknownOption(place, name, known)
        allowed = words.get(name, ())
        if allowed and value is not None and value not in allowed:
            raise UsageError(f"{name} cannot be {value!r}: write {_either(allowed)}")


def _either(words: tuple[object, ...]) -> str:
    *before, last = map(repr, words)
    return f"{', '.join(before)} or {last}" if before else last


@cache
def _words(more: str) -> dict[str, tuple[object, ...]]:
    """The keys of a `TypedDict`, each with the few words which it may be; none where it may be more."""
    module, _, name = more.partition(":")
    return {key: _literals(hint) for key, hint in typing.get_type_hints(getattr(import_module(module), name)).items()}


def _literals(hint: Any) -> tuple[object, ...]:
    """The words of `Literal[…]` or `Literal[…] | None`."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) not in (Union, UnionType):  # a sequence of such words is read by whoever takes it
        return ()
    parts = [part for part in get_args(hint) if part is not type(None)]
    return _literals(parts[0]) if len(parts) == 1 else ()
