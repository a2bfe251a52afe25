"""What a look gives."""

from __future__ import annotations

from typing import Literal

import msgspec


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A check: `ok`, a `note` (works, and could be better), or `broken`; what was seen, and what mends it."""

    name: str
    state: Literal["ok", "note", "broken"]
    said: str
    fix: str = ""


def fine(name: str, said: str) -> Finding:
    """Nothing to do."""
    return Finding(name=name, state="ok", said=said)


def note(name: str, said: str, fix: str = "") -> Finding:
    """It works; this is good to know."""
    return Finding(name=name, state="note", said=said, fix=fix)


def broken(name: str, said: str, fix: str) -> Finding:
    """It does not work until this is mended."""
    return Finding(name=name, state="broken", said=said, fix=fix)
