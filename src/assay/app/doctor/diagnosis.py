"""What a look gives."""

from __future__ import annotations

from typing import Literal

import msgspec

State = Literal["ok", "note", "broken"]
STATES: tuple[State, ...] = ("ok", "note", "broken")
"""From the best to the worst."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """A check: `ok`, a `note` (works, and could be better), or `broken`; what was seen, and what mends it."""

    name: str
    state: State
    said: str
    fix: str = ""


def fine(name: str, said: str) -> Diagnosis:
    """Nothing to do."""
    return Diagnosis(name=name, state="ok", said=said)


def note(name: str, said: str, fix: str = "") -> Diagnosis:
    """It works; this is good to know."""
    return Diagnosis(name=name, state="note", said=said, fix=fix)


def broken(name: str, said: str, fix: str) -> Diagnosis:
    """It does not work until this is mended."""
    return Diagnosis(name=name, state="broken", said=said, fix=fix)
