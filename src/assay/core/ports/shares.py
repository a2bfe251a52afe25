"""Reports which whoever has a link may read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class ShareRow(msgspec.Struct, frozen=True, kw_only=True):
    """A link to the report of a run; of its secret only the SHA-256 is kept.

    `id` names it for its owner. Times are seconds since 1970; it is good until `expires`, 0 until it is revoked.
    """

    id: str
    hash: str
    run_id: str
    owner: str
    created: float
    expires: float = 0.0


class ShareStore(Protocol):
    """Links to reports."""

    async def keep(self, share: ShareRow) -> None:
        """Keep a new link."""
        ...

    async def of_hash(self, hash: str) -> ShareRow | None:
        """The link of this hash, whether it is good or not."""
        ...

    async def of_run(self, owner: str, run_id: str) -> list[ShareRow]:
        """The links to a run of this owner, in the order of making."""
        ...

    async def drop(self, owner: str, run_id: str, id: str) -> int:
        """Forget a link; how many these were."""
        ...

    async def drop_runs(self, run_ids: Sequence[str]) -> None:
        """Forget all links to runs which are no more."""
        ...

    async def drop_owner(self, owner: str) -> None:
        """Forget all links of a user."""
        ...
