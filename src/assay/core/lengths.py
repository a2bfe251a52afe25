"""How long a report should be: a name, or a number of words."""

from __future__ import annotations

from typing import Literal

from assay.core.errors import UsageError

Named = Literal["short", "normal", "long"]
Length = Named | int
"""A named length, or about so many words."""

SHARES: dict[Named, float] = {"short": 0.5, "normal": 1.0, "long": 2.0}
"""What the names stand for, as a part of the words of a run's depth."""

LEAST, MOST = 30, 10_000


def read_length(value: str | int) -> Length:
    """A length as a person gives it: `short`, `normal`, `long`, `300`.

    Raises:
        UsageError: it is none.
    """
    text = str(value).strip().lower()
    for name in SHARES:
        if text == name:
            return name
    count = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
    if not LEAST <= count <= MOST:
        raise UsageError(
            f"{str(value)[:40]!r} is no length: write short, normal, long or a number from {LEAST} to {MOST:,}"
        )
    return count


def words_of(length: Length, usual: int) -> int:
    """The words wanted, 0 for as many as it takes; `usual` are those of the run's depth."""
    return length if isinstance(length, int) else round(usual * SHARES[length])
