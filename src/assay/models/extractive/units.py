"""What a report of the built-in model is made of."""

from __future__ import annotations

import msgspec


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """Something a report can say: its text, the passages it stands in, and how well it fits (higher is better).

    `near` are the keys of the words in it, in the heading above it, in the document's title and address.
    """

    text: str
    passages: tuple[str, ...]
    source: str
    score: float = 1.0
    ordinal: int = 0
    frame: bool = False
    near: frozenset[str] = frozenset()

    def line(self) -> str:
        """The text with its marker."""
        return f"{self.text} [{', '.join(self.passages)}]"
