"""Keeps the leases of the runs that execute in this process, and does what their owners want of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from assay.core.errors import FenceLost, StoreError
from assay.core.ports import FRESH, Action, Journal, Renewal
from assay.run import control
from assay.run.execution import Execution

POLL = 0.25
"""Seconds between two looks at the leases."""


class _Kept:
    """A run whose lease is kept: the action that was applied, the messages heeded, and how long it lasted at first."""

    def __init__(self, execution: Execution, applied: Action, until: float) -> None:
        self.execution, self.applied, self.until = execution, applied, until
        self.heeded = 0


class LeaseKeeper:
    """Keeps leases with one request to the store for all runs, so that those that only wait cost next to nothing."""

    def __init__(self, journal: Journal, ttl: float) -> None:
        self.ttl = ttl
        self._journal = journal
        self._kept: dict[str, _Kept] = {}
        self._until = 0.0  # until then, all that were looked at last are kept
        self._task: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def keep(self, execution: Execution, applied: Action) -> Iterator[None]:
        """Keep a run's lease, just taken, in this context. A lost fence ends the execution."""
        kept = _Kept(execution, applied, execution.world.clock.monotonic() + self.ttl)
        self._kept[execution.run_id] = kept
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._beat(), name="leases")
            self._task.add_done_callback(self._ended)
        try:
            yield
        finally:
            self._drop(kept)

    def _drop(self, kept: _Kept) -> None:
        if self._kept.get(kept.execution.run_id) is kept:
            del self._kept[kept.execution.run_id]
        if not self._kept and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _beat(self) -> None:
        while True:
            await self._look()
            await asyncio.sleep(POLL)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """End what executes without its leases, if a bug has ended the task."""
        if not task.cancelled() and (bug := task.exception()) is not None:
            self._task = None
            for kept in list(self._kept.values()):
                self._end(kept, bug)

    async def _look(self) -> None:
        """Renew the leases that need it, and heed what is new. Of most runs that wait, nobody wants anything."""
        every = list(self._kept.values())
        try:
            news = await self._journal.renew_all([kept.execution.lease for kept in every], self.ttl)
        except StoreError as error:
            for kept in every:
                if kept.execution.world.clock.monotonic() > max(kept.until, self._until):
                    self._end(kept, error)
            return
        if every:
            self._until = every[0].execution.world.clock.monotonic() + FRESH * self.ttl
        for lease, renewal in news.items():
            found = self._kept.get(lease.run_id)
            if found is not None and found.execution.lease == lease:  # it may have ended meanwhile
                await self._heed(found, renewal)

    async def _heed(self, kept: _Kept, renewal: Renewal | FenceLost) -> None:
        execution = kept.execution
        if isinstance(renewal, FenceLost):
            self._end(kept, renewal)
            return
        execution.note_messages(renewal.messages)
        if renewal.action != kept.applied:
            kept.applied = renewal.action
            control.apply(execution, renewal.action)
        if execution.opened and execution.messages != kept.heeded:
            left = execution.messages
            with contextlib.suppress(StoreError):  # the next look tries again and checks the lease
                await control.heed_stops(execution)
                kept.heeded = left

    def _end(self, kept: _Kept, error: BaseException) -> None:
        kept.execution.broken = error
        kept.execution.stop_everything()
        self._drop(kept)
