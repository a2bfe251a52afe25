"""Runs for clients of a protocol: start one (once for repeated requests), follow it, delete it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol, Unpack
from weakref import WeakKeyDictionary

import msgspec

from assay.app.assay import Assay
from assay.core.errors import UnknownName
from assay.core.events import Envelope
from assay.core.ports import FINAL
from assay.core.run_options import RunOptions
from assay.core.view import RunView
from assay.services.arguments import Sources

BOOKKEEPING = ("assay.", "openai.")
"""Begin the labels by which the protocols know a run again; the page does not show them."""
REQUEST = "assay.request"
"""The label of a run that identifies the request that started it."""
AGAIN = timedelta(minutes=10)
"""Seconds within which the same request gets the same run: impatient clients repeat their requests."""
LOOKED_AT = 200
"""How many of the latest runs are searched for one of the same request."""
CANCEL_SECONDS = 5.0
"""Seconds within which a run must stop before it is deleted."""
HEARTBEAT_SECONDS = 10.0
"""The longest silence of a stream in seconds: proxies and clients close silent connections."""


class Runs(Protocol):
    """Starts and follows runs for a protocol; no run depends on a connection."""

    async def begin(
        self, owner: str, question: str, *, sources: Sources | None = None, **wanted: Unpack[RunOptions]
    ) -> str:
        """Store a run and have it executed; return its id."""
        ...

    async def begin_ask(self, owner: str, reference: str, question: str, **wanted: Unpack[RunOptions]) -> str:
        """Store a run that answers from what another has read, and have it executed; return its id."""
        ...

    async def go_on(self, owner: str, reference: str) -> None:
        """Have a run executed that was answered or paused, or whose process died."""
        ...

    async def view(self, owner: str, reference: str) -> RunView:
        """A run as it is now."""
        ...

    def groups(
        self, owner: str, run_id: str, after: int = 0, rest: float | None = None
    ) -> AsyncIterator[Sequence[Envelope]]:
        """Yield the events of a run as they come, until it ends; an empty group after `rest` seconds without any."""
        ...


_beginning: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""Held while a request's run is looked up and started: repeated requests arrive close together."""


class Caller(msgspec.Struct, frozen=True):
    """The caller: the library as they see it, their name, and how their runs are executed."""

    assay: Assay
    runs: Runs
    owner: str = ""

    async def begin(
        self,
        question: str,
        *,
        key: str = "",
        again: bool = True,
        sources: Sources | None = None,
        **wanted: Unpack[RunOptions],
    ) -> str:
        """Start a run; return its id. With a `key`, return the run that the same key started shortly before, if there
        is one.

        Args:
            question: what is to be found out.
            key: names the request.
            again: whether the request may have come before; without, the key is only noted.
            sources: as for `Assay.create`.
            wanted: as for `Assay.create`.

        Raises:
            UsageError, UnknownName: as `Assay.create`.
        """
        if not key:
            return await self.runs.begin(self.owner, question, sources=sources, **wanted)
        async with _beginning.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            if again and (found := await self.begun_by(key)):
                return found
            wanted["labels"] = {**(wanted.get("labels") or {}), REQUEST: key}
            return await self.runs.begin(self.owner, question, sources=sources, **wanted)

    async def has_ended(self, run_id: str) -> bool:
        """Whether there is a run with this id that another run can continue."""
        try:
            row = await self.assay.find(run_id)
        except UnknownName:
            return False
        return row.run_id == run_id and row.status in FINAL

    async def begun_by(self, key: str) -> str:
        """The run that this request started shortly before and that has not failed; "" if there is none."""
        since = datetime.now(UTC) - AGAIN
        for row in await self.assay.listed(LOOKED_AT):
            if datetime.fromisoformat(row.created_at) < since:
                break
            if row.labels.get(REQUEST) == key and row.status not in ("failed", "cancelled"):
                return row.run_id
        return ""

    async def ask(self, reference: str, question: str, **wanted: Unpack[RunOptions]) -> str:
        """Start a run that answers from what another has read; return its id.

        Raises:
            UnknownName: no such run.
            UsageError: the run has not ended.
        """
        return await self.runs.begin_ask(self.owner, reference, question, **wanted)

    async def go_on(self, reference: str) -> None:
        """Have a run executed if it can continue: it has not ended, is not paused, and waits for nobody."""
        row = await self.assay.find(reference)
        answered = row.status == "waiting" and await self.assay.is_answered(row.run_id)
        if not row.queued and (answered or row.status in ("created", "running")):
            await self.runs.go_on(self.owner, row.run_id)

    async def view(self, reference: str) -> RunView:
        """A run as it is now.

        Raises:
            UnknownName: there is no such run.
        """
        return await self.runs.view(self.owner, reference)

    def groups(self, run_id: str, after: int = 0, rest: float = HEARTBEAT_SECONDS) -> AsyncIterator[Sequence[Envelope]]:
        """Yield the events of a run as they come, until it ends; an empty group after `rest` seconds without any."""
        return self.runs.groups(self.owner, run_id, after=after, rest=rest)

    async def remove(self, reference: str) -> None:
        """Delete a run; an active one is cancelled first.

        Raises:
            UnknownName: there is no such run.
            LeaseHeld: its process does not let go of it.
        """
        row = await self.assay.find(reference)
        if row.status not in FINAL:
            await self.assay.control(row.run_id, "cancel", wait=CANCEL_SECONDS)
        await self.assay.delete(row.run_id)


def request_key(*parts: object) -> str:
    """A short name for a request, equal for equal parts; the parts are plain data."""
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:24]
