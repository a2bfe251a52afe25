"""Adapters by name: every group is a set of entry points, ours and a user's alike.

An adapter is loaded when it is asked for, one at a time: what is installed but not used costs nothing.
"""

from __future__ import annotations

import sys
import traceback
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, get_args

from assay.core.errors import ConfigError, UnknownName

PluginGroup = Literal[
    "models",
    "embedders",
    "extractors",
    "archives",
    "connectors",
    "fetchers",
    "searches",
    "exporters",
    "tools",
    "strategies",
    "checks",
    "prompts",
]
GROUPS: tuple[PluginGroup, ...] = get_args(PluginGroup)

OURS = "assay"
"""The module in which our own adapters are."""
NOUNS: dict[PluginGroup, str] = {
    "models": "model adapter",
    "embedders": "embedder",
    "extractors": "extractor",
    "archives": "archive format",
    "connectors": "connector",
    "fetchers": "fetcher",
    "searches": "search provider",
    "exporters": "export format",
    "tools": "tool",
    "strategies": "strategy",
    "checks": "check",
    "prompts": "prompt",
}


def names(group: PluginGroup) -> tuple[str, ...]:
    """The names of the adapters installed for `group`, sorted; nothing is loaded."""
    return tuple(sorted(_installed_plugins(group)))


def load(group: PluginGroup, name: str) -> Any:
    """The object behind `name` in `group`, as its entry point names it, untyped: the caller knows the protocol.

    Raises:
        UnknownName: no adapter of that name; the message offers the nearest.
        ConfigError: the adapter is installed, and one of its own imports is not (an optional extra, mostly), or the
            module of another package cannot be imported.
    """
    point = _entry_point(group, name)
    try:
        return point.load()
    except Exception as error:
        if _is_ours(point) and not isinstance(error, ImportError):
            raise
        reason = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"{NOUNS[group]} {name!r} ({point.value}) cannot be loaded ({reason}): "
            f"update or uninstall {'its package' if _is_ours(point) else f'the package {_package(point)}'}"
        ) from error


def origin(group: PluginGroup, name: str) -> str:
    """The location of the adapter `name`: the module and attribute in its entry point.

    Raises:
        UnknownName: no adapter of that name.
    """
    return _entry_point(group, name).value


def package(group: PluginGroup, name: str) -> str:
    """The package that provides the adapter `name`, by its installed name; its module if it has no package.

    Raises:
        UnknownName: no adapter of that name.
    """
    return _package(_entry_point(group, name))


def external_names(group: PluginGroup) -> tuple[str, ...]:
    """The names in `group` that other packages provide, sorted; nothing is loaded."""
    return tuple(sorted(name for name, point in _installed_plugins(group).items() if not _is_ours(point)))


def failing_package(error: BaseException) -> str:
    """The package, other than ours, in whose adapter or what that called `error` was raised, or whose adapter lacks an
    attribute; empty if there is none.
    """
    packages = {
        _root_module(point.value): _package(point)
        for group in GROUPS
        for point in _installed_plugins(group).values()
        if not _is_ours(point)
    }
    modules = [frame.f_globals.get("__name__", "") for frame, _line in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, AttributeError):
        modules.append(type(error.obj).__module__)
    roots = (root for root in map(_root_module, reversed(modules)) if root == OURS or root in packages)
    return packages.get(next(roots, OURS), "")


def split(name: str) -> tuple[str, str]:
    """A model's name as (adapter, argument): `"scripted:replies.json"`, or `"extractive"` and nothing."""
    adapter, _, argument = name.partition(":")
    return adapter, argument


def _is_ours(point: EntryPoint) -> bool:
    return _root_module(point.value) == OURS


def _root_module(reference: str) -> str:
    """The first part of a module's name, or of an entry point's value."""
    return reference.partition(":")[0].partition(".")[0]


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else _root_module(point.value)


def _entry_point(group: PluginGroup, name: str) -> EntryPoint:
    points = _installed_plugins(group)
    if name not in points:
        raise UnknownName(NOUNS[group], name, points)
    return points[name]


def _installed_plugins(group: PluginGroup) -> dict[str, EntryPoint]:
    return _scan_entry_points(group, tuple(sys.path))


@cache
def _scan_entry_points(group: PluginGroup, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Entry points by name. If two packages use the same name, ours yields: a user may replace what we ship."""
    points: dict[str, EntryPoint] = {}
    for point in _all_entry_points(path).select(group=f"assay.{group}"):
        if point.name not in points or _is_ours(points[point.name]):
            points[point.name] = point
    return points


@cache
def _all_entry_points(path: tuple[str, ...]) -> Any:  # `EntryPoints`; a separate class in Python 3.11
    """All groups at once: each lookup reads a file of every installed package."""
    return entry_points()
