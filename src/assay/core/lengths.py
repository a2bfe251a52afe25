"""How long a report should be: a name, or a number of words."""

from __future__ import annotations

from typing import Literal

from assay.core.errors import UsageError

Named = Literal["short", "normal", "long"]
Length = Named | int
"""A named length, or about so many words."""

WORDS: dict[Named, int] = {"short": 150, "normal": 0, "long": 1_500}
"""What the names stand for, in words; 0 is as long as the findings carry."""

LEAST, MOST = 30, 10_000


def read_length(value: str | int) -> Length:
    """A length as a person gives it: `short`, `normal`, `long`, `300`.

    Raises:
        UsageError: it is none.
    """
    text = str(value).strip().lower()
    for name in WORDS:
        if text == name:
            return name
    count = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
    if not LEAST <= count <= MOST:
        raise UsageError(
            f"{str(value)[:40]!r} is no length: short, normal, long, or a number of words from {LEAST} to {MOST:,}"
        )
    return count


def words_of(length: Length) -> int:
    """The words wanted, 0 for as many as it takes."""
    return length if isinstance(length, int) else WORDS[length]
