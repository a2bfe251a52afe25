"""Additions in the process."""

from __future__ import annotations

import copy
import threading
from typing import Self

import msgspec

from assay.core.errors import UnknownName
from assay.core.ports.additions import ENDED, Addition


class MemoryAdditions:
    """`Additions` in the process; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._additions: dict[str, Addition] = {}
        self._owner: str | None = None

    def owned_by(self, owner: str | None) -> Self:
        """See the port."""
        view = copy.copy(self)
        view._owner = owner
        return view

    def put(self, addition: Addition) -> None:
        """See the port."""
        mine = addition if self._owner is None else msgspec.structs.replace(addition, owner=self._owner)
        with self._lock:
            if self._additions.get(mine.id, mine).owner == mine.owner:
                self._additions[mine.id] = mine

    def find(self, id: str) -> Addition:
        """See the port."""
        with self._lock:
            found = self._additions.get(id)
        if found is None or not self._knows(found):
            raise UnknownName("addition", id)
        return found

    def all(self, limit: int = 100) -> list[Addition]:
        """See the port."""
        with self._lock:
            return [each for each in reversed(self._additions.values()) if self._knows(each)][:limit]

    def forget(self, before: str) -> None:
        """See the port."""
        with self._lock:
            old = [each for each in self._additions.values() if each.state in ENDED and each.updated_at < before]
            for each in filter(self._knows, old):
                del self._additions[each.id]

    def _knows(self, addition: Addition) -> bool:
        return self._owner is None or addition.owner == self._owner
