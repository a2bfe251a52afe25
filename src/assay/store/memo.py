"""What was found out before, in memory."""

from __future__ import annotations


class MemoryMemo:
    """`Memo` in a dictionary, whose single operations no other thread can part."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def recall(self, key: str) -> bytes | None:
        """What was kept under `key`."""
        return self._kept.get(key)

    def keep(self, key: str, data: bytes) -> None:
        """Keep `data` under `key`, unless there is something already."""
        self._kept.setdefault(key, data)
