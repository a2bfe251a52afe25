"""What was found out before, in memory."""

from __future__ import annotations

from collections.abc import Collection


class MemoryCache:
    """`Cache` in a dictionary, whose single operations no other thread can part."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def recall(self, key: str) -> bytes | None:
        """What was kept under `key`."""
        return self._kept.get(key)

    def keep(self, key: str, data: bytes) -> None:
        """Keep `data` under `key`, unless there is something already."""
        self._kept.setdefault(key, data)

    def known(self, prefix: str) -> dict[str, bytes]:
        """What was kept under all keys which begin so."""
        return {key: data for key, data in self._kept.copy().items() if key.startswith(prefix)}

    def forget(self, keys: Collection[str]) -> None:
        """Keep nothing under these keys any more."""
        for key in keys:
            self._kept.pop(key, None)
