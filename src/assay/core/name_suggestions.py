"""What a message about an unknown name suggests instead."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

MAX_NAMES_LISTED = 24
"""The most known names listed in the message about an unknown one."""


def suggest_names(name: str, known: Sequence[str]) -> str:
    """The end of a message about an unknown name: the nearest of `known`, or a list of them; empty without any."""
    if matches := difflib.get_close_matches(name, known, n=1):
        return f"; did you mean {matches[0]!r}?"
    choices = _closest(name, known)
    more = ", …" if len(choices) > MAX_NAMES_LISTED else ""
    return f"; use one of: {', '.join(choices[:MAX_NAMES_LISTED])}{more}" if choices else ""


def _closest(name: str, names: Sequence[str]) -> Sequence[str]:
    """Of too many names with dots to list: those of the group that is meant, else the groups (`agents.*`)."""
    if len(names) <= MAX_NAMES_LISTED:
        return names
    groups = {known_name.partition(".")[0] for known_name in names}
    matches = difflib.get_close_matches(name.partition(".")[0], groups, n=1)
    if matches and "." in name:
        return [known_name for known_name in names if known_name.partition(".")[0] == matches[0]]
    parts = (name.partition(".") for name in names)
    return sorted({f"{group}.*" if dot else group for group, dot, _ in parts})
