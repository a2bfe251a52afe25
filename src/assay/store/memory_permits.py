"""Permits in memory, for the runs of one process."""

from __future__ import annotations

from assay.core.ports import LONGEST_LEASE
from assay.store.common import Wall


class MemoryPermits:
    """`Permits` in a dictionary: id → service, and until when."""

    def __init__(self, wall: Wall) -> None:
        self._wall, self._held = wall, dict[str, tuple[str, float]]()

    async def take(self, service: str, id: str, most: int, ttl: float) -> bool:
        """See the port."""
        now = self._wall()
        self._held = {each: held for each, held in self._held.items() if now < held[1] <= now + LONGEST_LEASE}
        if sum(of == service for each, (of, _) in self._held.items() if each != id) >= most:
            return False
        self._held[id] = (service, now + ttl)
        return True

    async def renew(self, id: str, ttl: float) -> None:
        """See the port."""
        if id in self._held:
            self._held[id] = (self._held[id][0], self._wall() + ttl)

    async def give_back(self, id: str) -> None:
        """See the port."""
        self._held.pop(id, None)
