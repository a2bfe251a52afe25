"""Rules of a turn as a message: sentences for the model which reads it, values for code which does."""

from __future__ import annotations

from typing import Protocol

import msgspec

from assay.core.messages import Message


class Stated(Protocol):
    """Plain data that can be said in sentences."""

    def stated(self) -> str:
        """What it says, as English sentences."""
        ...


def rules(said: Stated) -> Message:
    """The `rules` message."""
    return Message(role="user", name="rules", text=said.stated(), values=msgspec.json.encode(said).decode())


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 step`, `2 steps`, `no steps`."""
    return f"{number or 'no'} {noun if number == 1 else plural or noun + 's'}"


def listed(numbers: tuple[int, ...]) -> str:
    """Numbers as in a sentence: `2`, `2 and 3`, `2, 3 and 5`."""
    *before, last = map(str, numbers)
    return f"{', '.join(before)} and {last}" if before else last
