"""Values which nobody may see."""

from __future__ import annotations


class Secret:
    """A key or password: printed, formatted or logged it is `***`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value, for the one place which sends it."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__
