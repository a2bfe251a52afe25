"""What each user may do: as the settings say, but for what an admin has said of him."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import get_type_hints

import msgspec

from assay.core.allowance import OwnerLimits
from assay.core.ports.users import GivenLimits, LimitStore
from assay.services.daily import limits_of_users
from assay.settings import Settings

FRESH_SECONDS = 5.0
"""After so long at most, what one server was told counts at all of them."""


class UserLimits(OwnerLimits, frozen=True, kw_only=True):
    """What a user may do; None is no limit."""

    requests_per_minute: int | None = None
    runs_per_hour: int | None = None


DAILY = tuple(get_type_hints(OwnerLimits))
"""Those which the library looks after."""


class LimitBook:
    """The limits of all users, read again from time to time."""

    def __init__(
        self, store: LimitStore | None, settings: Settings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._clock = store, clock
        self.usual = UserLimits(
            requests_per_minute=settings.server.requests_per_minute or None,
            runs_per_hour=settings.server.runs_per_hour or None,
            **msgspec.structs.asdict(limits_of_users(settings.limits)),
        )
        self._given: dict[str, GivenLimits] = {}
        self._stale_at = 0.0

    async def refresh(self) -> None:
        """Read what is said, where that was not done just now.

        Raises:
            StoreError: it cannot be read.
        """
        if self._store is not None and self._clock() >= self._stale_at:
            self._given = await self._store.all()
            self._stale_at = self._clock() + FRESH_SECONDS

    def of(self, user: str) -> UserLimits:
        """What a user may do, as far as was read last."""
        given = self._given.get(user)
        return msgspec.structs.replace(self.usual, **given) if given else self.usual

    def daily(self, user: str) -> OwnerLimits | None:
        """What the library is told of a user; None where nothing was said of him alone."""
        if user not in self._given:
            return None
        limits = msgspec.structs.asdict(self.of(user))
        return OwnerLimits(**{name: limits[name] for name in DAILY})

    def given(self) -> dict[str, GivenLimits]:
        """What was said of single users."""
        return dict(self._given)

    async def give(self, user: str, given: GivenLimits) -> UserLimits:
        """Say what holds for a user; here at once.

        Raises:
            StoreError: it cannot be written.
        """
        if self._store is not None:
            await self._store.give(user, given)
        self._stale_at = 0.0
        await self.refresh()
        return self.of(user)
