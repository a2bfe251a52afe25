"""What is said of single users' limits, in place of what the settings say of every user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

GivenLimits = Mapping[str, int | float | None]
"""Limits by name (`UserLimits`): None is no limit; one which is not there is as the settings say."""


class LimitStore(Protocol):
    """Limits of single users."""

    async def all(self) -> dict[str, GivenLimits]:
        """All that is said, by user."""
        ...

    async def give(self, user: str, given: GivenLimits) -> None:
        """Say what holds for a user, in place of what was said; nothing given: as the settings say."""
        ...
