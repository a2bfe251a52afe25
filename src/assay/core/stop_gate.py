"""Transactions and the stop of the process (Ctrl-Z): one that is stopped halfway keeps other processes from writing."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class StopGate:
    """Lets a process stop between its transactions: `stop` waits until no thread is inside, and keeps others out."""

    def __init__(self) -> None:
        self._free = threading.Condition()  # reentrant: a signal may arrive while its own thread has it
        self._inside = Counter[int]()
        self._closed = False
        self._late: Callable[[], None] | None = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Within the block the process is not stopped, unless it lasts longer than `stop` waits."""
        me = threading.get_ident()
        with self._free:
            while self._closed and not self._inside[me]:
                self._free.wait()
            self._inside[me] += 1
        try:
            yield
        finally:
            self._leave(me)

    def _leave(self, me: int) -> None:
        late = None
        with self._free:
            self._inside[me] -= 1
            if not self._inside[me]:
                del self._inside[me]
                self._free.notify_all()
                if threading.current_thread() is threading.main_thread():
                    late, self._late = self._late, None
        if late is not None:
            late()

    def stop(self, act: Callable[[], None], seconds: float) -> None:
        """Call `act`, which stops the process, once no thread is inside, or after so many seconds.

        Use it on the main thread, as in the handler of a signal. If that thread itself is inside, `act` is called when
        it leaves.
        """
        with self._free:
            if self._inside[threading.get_ident()]:
                self._late = lambda: self.stop(act, seconds)
                return
            self._closed = True
            try:
                self._free.wait_for(lambda: not any(self._inside.values()), seconds)
                act()
            finally:
                self._closed = False
                self._free.notify_all()


stop_gate = StopGate()
"""That of this process: signals stop the whole of it."""
