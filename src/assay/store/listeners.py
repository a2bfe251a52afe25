"""Who wants to hear of runs whose log has grown."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

Told = Callable[[str], None]


class Listeners:
    """A set of callbacks; they may be added, removed and called from several threads."""

    def __init__(self) -> None:
        self._told: tuple[Told, ...] = ()
        self._lock = threading.Lock()

    def add(self, told: Told) -> Callable[[], None]:
        """Call `told` from now on; call the result to stop that."""
        with self._lock:
            self._told = (*self._told, told)
        return lambda: self._remove(told)

    def tell(self, run_ids: Iterable[str]) -> None:
        """The logs of these runs have grown."""
        told = self._told
        for run_id in run_ids:
            for each in told:
                each(run_id)

    @property
    def any(self) -> bool:
        """Whether anybody listens."""
        return bool(self._told)

    def _remove(self, told: Told) -> None:
        with self._lock:
            self._told = tuple(each for each in self._told if each is not told)
