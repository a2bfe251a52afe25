"""Summarizes warnings about many files: not a line for each of a hundred scanned pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST = 5
"""Files with the same reason that are named one by one."""
NAMED = 3

_SAID = re.compile(r"(?P<verb>skipped|partly read) (?P<path>.+?): (?P<reason>.+)", re.DOTALL)


class ProgressNote(str):
    """A line of progress for a user who wants details: what was left out on purpose."""

    __slots__ = ()


def summed(warnings: Sequence[str]) -> list[str]:
    """The warnings of an ingest; those about more than `MOST` files with one reason become one."""
    alike: dict[tuple[str, str], list[str]] = {}
    order: list[tuple[str, str]] = []
    for warning in warnings:
        said = _SAID.fullmatch(warning)
        kind = (said["verb"], said["reason"]) if said else ("", warning)
        if kind not in alike:
            order.append(kind)
        alike.setdefault(kind, []).append(said["path"] if said else "")
    return [line for kind in order for line in _lines(*kind, alike[kind])]


def _lines(verb: str, reason: str, paths: Sequence[str]) -> list[str]:
    if not verb:
        return [reason]
    if len(paths) <= MOST:
        return [f"{verb} {path}: {reason}" for path in paths]
    return [f"{verb} {len(paths)} files: {reason}: {', '.join(paths[:NAMED])} and {len(paths) - NAMED} more"]
