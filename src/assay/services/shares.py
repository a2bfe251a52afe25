"""Links to reports: anyone with a link may read the report of one run, until it is revoked or expires.

A link contains 256 random bits, of which only the SHA-256 is stored: it cannot be guessed, nor made from the database.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.core.errors import UnknownName, UsageError
from assay.core.ports.users import ShareRow, ShareStore
from assay.services.stored_runs import find

if TYPE_CHECKING:
    from assay.services.context import Context

MOST = 100
"""Links to one run."""
LONGEST_DAYS = 36_500.0
PATH = "/s/"
"""The path under which a server shows shared reports; the secret follows."""


class Shares:
    """The links to the reports of one owner's runs."""

    def __init__(self, context: Context, store: ShareStore, wall: Callable[[], float] = time.time) -> None:
        self._context, self._store, self._wall = context, store, wall

    async def make(self, reference: str, days: float | None = None) -> tuple[ShareRow, str]:
        """Create a link to the report of a run; return it with its secret, which is never shown again.

        Raises:
            UnknownName: there is no such run.
            UsageError: it has too many links, or `days` is not valid.
        """
        run, now = await find(self._context, reference), self._wall()
        if days is not None and not 0 < days <= LONGEST_DAYS:
            raise UsageError(f"a link is valid for more than 0 and up to {LONGEST_DAYS:,.0f} days")
        if len(await self._store.of_run(run.owner, run.run_id)) >= MOST:
            raise UsageError(f"run {run.run_id} has {MOST} links: revoke one first")
        secret = secrets.token_urlsafe(32)
        made = ShareRow(
            id=secrets.token_hex(4),
            hash=hash_of(secret),
            run_id=run.run_id,
            owner=run.owner,
            created=now,
            expires=now + days * 86_400 if days is not None else 0.0,
        )
        await self._store.keep(made)
        return made, secret

    async def of(self, reference: str) -> list[ShareRow]:
        """The links to a run, without their secrets.

        Raises:
            UnknownName: there is no such run.
        """
        run = await find(self._context, reference)
        return await self._store.of_run(run.owner, run.run_id)

    async def revoke(self, reference: str, id: str) -> None:
        """Revoke a link at once.

        Raises:
            UnknownName: there is no such run, or it has no such link.
        """
        run = await find(self._context, reference)
        if not await self._store.drop(run.owner, run.run_id, id):
            raise UnknownName("link", id, (each.id for each in await self.of(run.run_id)))

    async def shown(self, secret: str) -> ShareRow | None:
        """The valid link with this secret, of any owner; None if there is none."""
        found = await self._store.of_hash(hash_of(secret))
        return None if found is None or (found.expires and found.expires <= self._wall()) else found


def hash_of(secret: str) -> str:
    """The stored hash of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
